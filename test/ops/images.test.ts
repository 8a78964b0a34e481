/** Images pinned to digests, from a registry of our own. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { digestOf, imagesIn, pinned } from '../../ops/tools/images.ts'
import { checkImages, isDeploymentFile } from '../../ops/tools/preflight/images.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const ROOT = join(import.meta.dirname, '../..')
const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
const D = `sha256:${'a'.repeat(64)}`
const MANIFESTS: Readonly<Record<string, string>> = {
  '/v2/library/postgres/manifests/17': '{"schemaVersion":2,"manifests":["postgres 17"]}',
  '/v2/library/redis/manifests/8': '{"schemaVersion":2,"manifests":["redis 8"]}',
  '/v2/library/liar/manifests/1': '{"schemaVersion":2}',
}

describe('images', () => {
  let registry: Server
  let url = ''
  const asked: string[] = []
  beforeAll(async () => {
    registry = createServer((request, response) => {
      const path = new URL(request.url ?? '', url).pathname
      if (path === '/token') return void response.end(JSON.stringify({ token: 'for everybody' }))
      if (request.headers.authorization !== 'Bearer for everybody') {
        const scope = 'repository:library/x:pull'
        response.setHeader('www-authenticate', `Bearer realm="${url}/token",service="here",scope="${scope}"`)
        return void response.writeHead(401).end()
      }
      asked.push(`${path} ${String(request.headers.accept).split(',')[0] ?? ''}`)
      const body = MANIFESTS[path]
      if (body === undefined) return void response.writeHead(404).end()
      response.setHeader('docker-content-digest', path.includes('liar') ? D : sha256(body))
      response.end(body)
    })
    url = `http://127.0.0.1:${await listen(registry, 0)}`
  })
  afterAll(() => new Promise((resolve) => registry.close(resolve)))

  it('of others are found in every kind of file, ours and earlier stages are not', () => {
    const compose = `services:\n  a:\n    image: touchline\n  b:\n    image: postgres:17\n  c:\n    image: "r.example:5000/x/y:1@${D}" # why\n`
    expect(imagesIn(compose)).toEqual([
      { text: 'postgres:17', name: 'postgres', tag: '17', digest: null },
      { text: `r.example:5000/x/y:1@${D}`, name: 'r.example:5000/x/y', tag: '1', digest: D },
    ])
    const dockerfile = 'FROM --platform=linux/amd64 node:24-slim AS packages\nFROM packages\nFROM node:24-slim\n'
    expect(imagesIn(dockerfile).map(({ text }) => text)).toEqual(['node:24-slim', 'node:24-slim'])
    expect(() => imagesIn('image: redis\n')).toThrow('redis has no tag')
    expect(() => imagesIn('image: redis:8@sha256:abc\n')).toThrow('digest')
  })

  it('of this repository all have a tag', () => {
    for (const file of ['compose.yaml', 'Dockerfile'])
      expect(imagesIn(readFileSync(join(ROOT, 'ops/deploy', file), 'utf8')).length).toBeGreaterThan(1)
  })

  it('get the digest that the registry sent, not one that it claims', async () => {
    const postgres = { name: 'postgres', tag: '17' }
    expect(await digestOf(postgres, url)).toBe(sha256(MANIFESTS['/v2/library/postgres/manifests/17'] ?? ''))
    expect(asked.at(-1)).toBe('/v2/library/postgres/manifests/17 application/vnd.oci.image.index.v1+json')
    await expect(digestOf({ name: 'liar', tag: '1' }, url)).rejects.toThrow(/claims .* and sent/)
    await expect(digestOf({ name: 'postgres', tag: '9' }, url)).rejects.toThrow('404')
  })

  it('are replaced where they stand, and again when the tag moves on', () => {
    const text = 'image: redis:8\n# image: redis:8 is fine\nFROM redis:8 AS x\n'
    const once = pinned(text, new Map([['redis:8', D]]))
    expect(once).toBe(`image: redis:8@${D}\n# image: redis:8 is fine\nFROM redis:8@${D} AS x\n`)
    const other = `sha256:${'b'.repeat(64)}`
    expect(pinned(once, new Map([[`redis:8@${D}`, other]]))).toBe(once.replaceAll(D, other))
  })

  it('are pinned by the tool, which a check and preflight then accept', async () => {
    const file = join(scratchFolder(), 'compose.yaml')
    writeFileSync(file, 'services:\n  a: { x: 1 }\n  b:\n    image: postgres:17\n  c:\n    image: redis:8\n')
    const tool = (...args: string[]) =>
      new Promise<{ code: unknown; said: string }>((resolve) => {
        execFile(process.execPath, [join(ROOT, 'ops/tools/pin-images.ts'), ...args], (error, said) =>
          resolve({ code: error?.code ?? 0, said }),
        )
      })
    expect(isDeploymentFile(file)).toBe(true)
    expect((await checkImages(file, { production: true }))[0]).toMatchObject({ verdict: 'failed' })
    expect((await checkImages(file, { production: false }))[0]).toMatchObject({ verdict: 'warned' })
    expect(await tool('--check', file)).toMatchObject({ code: 1, said: expect.stringContaining('NOT PINNED') })
    expect(await tool('--registry', `${url}/`, file)).toMatchObject({ code: 0 })
    expect(readFileSync(file, 'utf8')).toContain(
      `postgres:17@${sha256(MANIFESTS['/v2/library/postgres/manifests/17'] ?? '')}`,
    )
    expect(await tool('--registry', url, file)).toMatchObject({ said: expect.stringContaining('(as before)') })
    expect(await tool('--check', file)).toMatchObject({ code: 0 })
    expect((await checkImages(file, { production: true }))[0]).toMatchObject({ verdict: 'ok' })
  })
})
