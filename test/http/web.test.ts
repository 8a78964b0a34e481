import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { answerWith } from '../../src/http/answers.ts'
import type { RateLimits } from '../../src/http/rate-limits.ts'
import { webPage } from '../../src/http/routes/web.ts'
import { FIXTURE, type HttpRig, openHttpRig } from './http-rig.ts'

/** What a first visit may weigh on the wire. */
const BUDGET_BYTES = 200_000
const REQUESTS_MAX = 20

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
  expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /)
  expect(policy).toContain("connect-src 'self' ws://localhost:3001;")
  expect(policy).not.toContain('unsafe')

  const html = await page.text()
  expect(html).not.toContain('{{')
  const named = [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, url]) => url ?? '')
  expect(named).toContain('/app.webmanifest')
  for (const url of named.filter((one) => !one.startsWith('https:'))) {
    expect(url).toMatch(/^\/(web\/[\w-]+-[A-Z0-9]{8}\.\w+|app\.webmanifest)$/)
    expect((await get(url)).status, url).toBe(200)
  }
})

it('an unknown address shows a browser a page with a way back, and tells a program in JSON', async () => {
  const page = await get('/nowhere', { accept: 'text/html,*/*' })
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  const html = await page.text()
  expect(html).toContain('href="/"')
  expect(html).not.toContain('{{')
  for (const [path, accept] of [
    ['/nowhere', 'application/json'],
    ['/api/nowhere', 'text/html'],
  ] as const) {
    expect(await (await get(path, { accept })).json()).toMatchObject({ code: 'NOT_FOUND' })
  }
})

it('a shared link has a title, a text and a picture for other apps, and nothing in it is markup', async () => {
  const shown = async (path: string) => {
    const html = await (await get(path)).text()
    return Object.fromEntries(
      [...html.matchAll(/<meta (?:name|property)="([\w:]+)" content="([^"]*)"/g)].map(([, name = '', text = '']) => [
        name,
        text,
      ]),
    )
  }
  const picture = `https://play.touchline.example${rig.deps.web.address('preview.png')}`
  expect(await shown('/')).toMatchObject({ 'og:title': 'Touchline', 'og:image': picture })
  expect(await shown('/join?ref=5d0f9a3c71')).toMatchObject({
    'og:title': 'You are invited to Touchline',
    'og:image': picture,
  })
  const { description, 'og:title': title } = await shown(`/watch/${FIXTURE}`)
  expect([title, description]).toEqual(['Harbour 1–0 Mill', expect.stringContaining('Minute 30')])
  expect(await shown('/watch/1')).toMatchObject({ 'og:title': 'Touchline' })
  expect((await get('/watch/none')).status).toBe(404)
  expect(rig.deps.web.shared({ title: '"><script>', text: "$& '" })).toContain('content="&quot;&gt;&lt;script&gt;"')
})

it('a shared page may have a picture of its own, drawn no oftener for an address than links are looked at', async () => {
  let excess: Awaited<ReturnType<RateLimits['countShare']>> = null
  const countShare: RateLimits['countShare'] = async (c) => {
    c.header('RateLimit', '"shares";r=59;t=60', { append: true })
    c.header('RateLimit-Policy', '"shares";q=60;w=60', { append: true })
    return excess
  }
  const page = webPage({ ...rig.deps, limits: { countShare } }, [
    {
      path: '/card/:parameter{[a-z]+}',
      of: async (id) => ({ title: id, text: 'x', ...(id === 'some' ? { picture: `/card/${id}/picture` } : {}) }),
      picture: async (id) => (id === 'some' ? new Uint8Array([1, 2, 3]) : null),
    },
  ])
  const shown = async (id: string) =>
    /og:image" content="([^"]+)"/.exec(await (await page.request(`/card/${id}`)).text())?.[1]
  expect(await shown('some')).toBe('https://play.touchline.example/card/some/picture')
  expect(await shown('other')).toMatch(/^https:\/\/play\.touchline\.example\/web\/preview-/)
  const picture = await page.request('/card/some/picture')
  expect([picture.status, picture.headers.get('content-type'), picture.headers.get('cache-control')]).toEqual([
    200,
    'image/png',
    'public, max-age=300',
  ])
  // Others may get it from a cache.
  expect([picture.headers.get('ratelimit'), picture.headers.get('ratelimit-policy')]).toEqual([null, null])
  expect((await page.request('/card/other/picture')).status).toBe(404)
  excess = answerWith('RATE_LIMITED', { facts: { limit: 'shares' }, retryAfterSecs: 60 })
  expect((await page.request('/card/some/picture')).status).toBe(429)
})

it("the page's files are cached permanently under a name with their hash, and found nowhere else", async () => {
  const { web } = rig.deps
  expect(web.list()).not.toEqual([])
  for (const { name, type } of web.list()) {
    const answer = await get(`/web/${name}`)
    expect(answer.status, name).toBe(200)
    expect(answer.headers.get('content-type')).toBe(type)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  }
  for (const path of ['/web/tsconfig.json', '/web/main.ts', '/web/../http/app.ts', '/web/', '/web/main-OLDER123.js']) {
    expect(await get(path), path).toMatchObject({ status: 404 })
  }
})

it('each file is compressed as the browser accepts, with the same content', async () => {
  const { web } = rig.deps
  const path = web.address('style.css')
  const plain = await bytesOf(path, 'identity')
  expect(new Uint8Array(brotliDecompressSync(await bytesOf(path, 'gzip, deflate, br')))).toEqual(plain)
  expect(new Uint8Array(gunzipSync(await bytesOf(path, 'gzip;q=0.8, br;q=0')))).toEqual(plain)
  const [font = ''] = web.list().flatMap(({ name }) => (name.endsWith('.woff2') ? [`/web/${name}`] : []))
  expect((await get(font, { 'accept-encoding': 'br' })).headers.get('content-encoding')).toBeNull()
})

it('Safari selects no text where other browsers select none', async () => {
  const styles = await (await get(rig.deps.web.address('style.css'))).text()
  const rules = styles.match(/[^{}]*\{[^{}]*user-select:[^{}]*/g) ?? []
  expect(rules.length).toBeGreaterThan(0)
  expect(rules.filter((rule) => !rule.includes('-webkit-user-select:'))).toEqual([])
})

it('every module that a module imports is served', async () => {
  const { web } = rig.deps
  const modules = web.list().filter(({ name }) => name.endsWith('.js'))
  const imported = modules.flatMap(({ name, body }) =>
    [...new TextDecoder().decode(body).matchAll(/(?:from|import\(?)\s*"(\.[^"]+)"/g)].map(([, specifier = '']) => ({
      in: name,
      name: new URL(specifier, 'http://x/').pathname.slice(1),
    })),
  )
  expect(imported.length).toBeGreaterThan(5)
  expect(imported.filter(({ name }) => web.find(name) === null)).toEqual([])
})

it('a first visit asks for at most twenty files, and weighs less than 200 kB on the wire', async () => {
  const html = await (await get('/')).text()
  const styles = await (await get(rig.deps.web.address('style.css'))).text()
  const named = [...html.matchAll(/(?:src|href)="([^"#]+)"/g), ...styles.matchAll(/url\("?\.?([^")]+)"?\)/g)]
  const urls = ['/', '/worker.js', ...named.map(([, url = '']) => (url.startsWith('/') ? url : `/web/${url}`))].map(
    (url) => (url.endsWith('.woff2') ? `/web/${url.slice(url.lastIndexOf('/') + 1)}` : url),
  )
  const sizes = await Promise.all([...new Set(urls)].map(async (url) => (await bytesOf(url, 'br')).length))
  expect(sizes.length).toBeGreaterThan(8)
  expect(sizes.length).toBeLessThanOrEqual(REQUESTS_MAX)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(BUDGET_BYTES)
})

it('the page can be installed, and starts without a network', async () => {
  const manifest = Manifest.parse(await (await get('/app.webmanifest')).json())
  for (const { src, sizes, type } of manifest.icons) {
    const icon = await get(src)
    expect(icon.headers.get('content-type'), src).toBe(type)
    if (type === 'image/png') expect(pngSize(new Uint8Array(await icon.arrayBuffer()))).toBe(sizes)
  }
  expect(manifest.icons.map(({ purpose = 'any' }) => purpose)).toContain('maskable')

  const worker = await get('/worker.js')
  expect(worker.headers.get('cache-control')).toBe('no-cache')
  expect(worker.headers.get('content-security-policy')).toBe("default-src 'none'; connect-src 'self'")
  const [, shell = '[]'] = /"shell":(\[[^\]]*\])/.exec(await worker.text()) ?? []
  const kept = z.array(z.string()).parse(JSON.parse(shell))
  for (const name of ['main.ts', 'game.ts', 'words/es.ts']) expect(kept).toContain(rig.deps.web.address(name))
  for (const url of kept) expect((await get(url)).status, url).toBe(200)
})

const Manifest = z.looseObject({
  start_url: z.literal('/'),
  icons: z.array(z.object({ src: z.string(), sizes: z.string(), type: z.string(), purpose: z.string().optional() })),
})

/** From the header of the picture. */
function pngSize(body: Uint8Array): string {
  const view = new DataView(body.buffer)
  return `${view.getUint32(16)}x${view.getUint32(20)}`
}
