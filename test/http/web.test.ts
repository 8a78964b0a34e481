import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { type HttpRig, openHttpRig } from './http-rig.ts'

/** What a first visit may weigh on the wire. */
const BUDGET_BYTES = 200_000

let rig: HttpRig
beforeAll(async () => {
  rig = await openHttpRig()
})

const get = (path: string, headers: Record<string, string> = {}) => rig.app.request(path, { headers })
const bytesOf = async (path: string, encoding: string) =>
  new Uint8Array(await (await get(path, { 'accept-encoding': encoding })).arrayBuffer())

it('the page is public, revalidated each time, and loads nothing from other hosts', async () => {
  const page = await get('/')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('cache-control')).toBe('no-cache')
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[\w+/=]{44}'; style-src 'self'; /)
  expect(policy).toContain("connect-src 'self' ws://localhost:3001;")
  expect(policy).not.toContain('unsafe')

  const html = await page.text()
  expect(html).not.toContain('{{')
  const named = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url]) => url ?? '')
  expect(named.length).toBeGreaterThan(10)
  for (const url of named) {
    expect(url).toMatch(/^\/web\//)
    expect((await get(url)).status, url).toBe(200)
  }
})

it("the page's files are cached permanently under a path with their hash, and found nowhere else", async () => {
  const { web } = rig.deps
  for (const { name, type } of web.list()) {
    const answer = await get(`${web.base}/${name}`)
    expect(answer.status, name).toBe(200)
    expect(answer.headers.get('content-type')).toBe(type)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  }
  for (const path of [`${web.base}/tsconfig.json`, `${web.base}/../http/app.ts`, `${web.base}/`, '/web/old/main.ts']) {
    expect(await get(path), path).toMatchObject({ status: 404 })
  }
})

it('each file is compressed as the browser accepts, with the same content', async () => {
  const { web } = rig.deps
  const path = `${web.base}/style.css`
  const plain = await bytesOf(path, 'identity')
  expect(new Uint8Array(brotliDecompressSync(await bytesOf(path, 'gzip, deflate, br')))).toEqual(plain)
  expect(new Uint8Array(gunzipSync(await bytesOf(path, 'gzip;q=0.8, br;q=0')))).toEqual(plain)
  const font = `${web.base}/vendor/barlow-condensed-600.woff2`
  expect((await get(font, { 'accept-encoding': 'br' })).headers.get('content-encoding')).toBeNull()
})

it('no module keeps its types, and every import is served', async () => {
  const { web } = rig.deps
  const modules = web.list().filter(({ name }) => /\.(ts|mjs)$/.test(name))
  for (const { name, body } of modules) {
    const source = new TextDecoder().decode(body)
    expect(source, name).not.toMatch(/^(import type|export (type|interface)) /m)
    for (const [, specifier = ''] of source.matchAll(/^import[^'"]*['"](\.[^'"]+)['"]/gm)) {
      expect(
        web.find(new URL(specifier, `http://x/${name}`).pathname.slice(1)),
        `${specifier} in ${name}`,
      ).not.toBeNull()
    }
  }
})

/** Loaded by those who open them: the control room, the docs and the verifier with the rules of the game. */
const LATER = /^(control\/|docs\.|verify\.|root\/|vendor\/zod\/)/

it('a first visit weighs less than 200 kB on the wire', async () => {
  const { web } = rig.deps
  const files = [web.page, ...web.list().filter(({ name }) => !LATER.test(name))]
  const sizes = await Promise.all(
    files.map(async (file) => (file.type.startsWith('font/') ? file.body : await web.compressed(file, 'br')).length),
  )
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BUDGET_BYTES)
})
