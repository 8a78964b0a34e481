import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { CACHED } from '../../src/http/caching.ts'
import { ALLOWED_ORIGIN, openHttpRig, order, PLAYER } from './http-rig.ts'

const concrete = (path: string) =>
  path
    .replace('instruments/:id', `instruments/${PLAYER}`)
    .replace('/:id', '/19155071')
    .replace('squad', 'squad?team=home')

const unpack = { br: brotliDecompressSync, gzip: gunzipSync } as const

describe('answers that may be kept', () => {
  it('[H26] have an ETag, and a client that sends it gets 304 without a body', async () => {
    const { asAlice } = await openHttpRig()
    for (const path of [...Object.keys(CACHED), '/api/openapi.json', '/api/asyncapi.json', '/api/docs', '/']) {
      const first = await asAlice(concrete(path))
      const etag = first.headers.get('etag') ?? ''
      expect([path, first.status, etag]).toEqual([path, 200, expect.stringMatching(/^W\/"[\w-]{27}"$/)])
      expect(first.headers.get('cache-control')).not.toBe('no-store')
      for (const held of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
        const again = await asAlice(concrete(path), { headers: { 'if-none-match': held } })
        expect([path, again.status, await again.text()]).toEqual([path, 304, ''])
        expect(again.headers.get('etag')).toBe(etag)
        expect(again.headers.get('x-request-id')).not.toBeNull()
      }
      const other = await asAlice(concrete(path), { headers: { 'if-none-match': '"other"' } })
      expect([other.status, (await other.text()).length > 0]).toEqual([200, true])
    }
  })

  it('[H26] change their ETag with their body', async () => {
    const before = await (await openHttpRig()).app.request('/api/flags')
    const after = await (
      await openHttpRig({ comingSoon: true })
    ).app.request('/api/flags', {
      headers: { 'if-none-match': before.headers.get('etag') ?? '' },
    })
    expect([after.status, await after.json()]).toEqual([200, { coming_soon: true }])
  })

  it('[H26] are public only if open to all; every other answer, errors included, is stored nowhere', async () => {
    const { app, asAlice } = await openHttpRig()
    const policy = async (path: string) => (await asAlice(path)).headers.get('cache-control')
    for (const [path, expected] of Object.entries(CACHED)) {
      expect([path, await policy(concrete(path))]).toEqual([path, expected])
      const { status, headers } = await app.request(concrete(path))
      expect([path, expected.startsWith('public')]).toEqual([path, status === 200])
      if (status !== 200) expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null])
      // What one address has left must not be told to others.
      if (expected.startsWith('public, max-age')) expect([path, headers.get('ratelimit')]).toEqual([path, null])
    }
    for (const path of ['/api/me', '/api/wallet', '/api/positions', '/api/notifications', '/api/matches', '/nowhere']) {
      expect([path, await policy(path)]).toEqual([path, 'no-store'])
    }
  })

  it('[H26] vary by origin, because the answer names it', async () => {
    const { app } = await openHttpRig()
    for (const path of ['/api/flags', '/api/openapi.json']) {
      const { headers } = await app.request(path, { headers: { origin: ALLOWED_ORIGIN } })
      expect(headers.get('vary')).toMatch(/Origin/)
      expect(headers.get('access-control-expose-headers')).toMatch(/^Content-Disposition, .*ETag, .*Link, /)
    }
  })
})

describe('compression', () => {
  const wide = (asked: Awaited<ReturnType<typeof openHttpRig>>, encoding?: string) =>
    asked.asAlice('/api/admin/settings', encoding === undefined ? {} : { headers: { 'accept-encoding': encoding } })

  it('[H27] JSON of 1 kB and more is compressed as the client asks, and is the same', async () => {
    const rig = await openHttpRig({ role: 'admin' })
    const plain = await wide(rig)
    const text = await plain.text()
    expect([plain.headers.get('content-encoding'), text.length > 1_024]).toEqual([null, true])
    for (const [asked, encoding] of [
      ['gzip', 'gzip'],
      ['gzip, deflate, br', 'br'],
      ['br;q=0, gzip', 'gzip'],
    ] as const) {
      const packed = await wide(rig, asked)
      expect([packed.headers.get('content-encoding'), packed.headers.get('vary')]).toEqual([
        encoding,
        'Origin, Accept-Encoding',
      ])
      const bytes = Buffer.from(await packed.arrayBuffer())
      expect(bytes.length).toBeLessThan(text.length / 2)
      expect(JSON.parse(unpack[encoding](bytes).toString())).toEqual(JSON.parse(text))
    }
    for (const asked of ['identity', 'gzip;q=0', '']) {
      expect((await wide(rig, asked)).headers.get('content-encoding')).toBeNull()
    }
  })

  it('[H27] short answers, answers with secrets and downloads pass as they are', async () => {
    const { send, asAlice, app } = await openHttpRig({ role: 'admin' })
    const headers = { 'accept-encoding': 'br, gzip' }
    for (const path of ['/api/flags', '/api/admin/users/export.csv', '/api/me/export', '/api/keys']) {
      expect([path, (await asAlice(path, { headers })).headers.get('content-encoding')]).toEqual([path, null])
    }
    const many = { count: 20, prefix: 'load' }
    const made = await app.request('/api/auth/dev/batch', {
      method: 'POST',
      body: JSON.stringify(many),
      headers: { ...headers, 'content-type': 'application/json' },
    })
    expect([made.status, made.headers.get('content-encoding')]).toEqual([200, null])
    expect((await made.text()).length).toBeGreaterThan(1_024)
    const opened = await send('POST', '/api/positions/open', order)
    expect([opened.status, opened.headers.get('content-encoding')]).toEqual([201, null])
  })

  it('[H27] a crowd gets every answer, compressed or not', async () => {
    const rig = await openHttpRig({ role: 'admin' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => wide(rig, 'gzip')))
    const encodings = answers.map(({ headers }) => headers.get('content-encoding'))
    expect(encodings.filter((each) => each === 'gzip').length).toBeGreaterThan(0)
    expect(encodings.filter((each) => each === null).length).toBeGreaterThan(0)
    const texts = await Promise.all(
      answers.map(async (answer) => {
        const bytes = Buffer.from(await answer.arrayBuffer())
        return (answer.headers.has('content-encoding') ? gunzipSync(bytes) : bytes).toString()
      }),
    )
    expect(new Set(texts).size).toBe(1)
  })

  it('[H27] the API description is a tenth of its size', async () => {
    const { app } = await openHttpRig()
    const whole = (await (await app.request('/api/openapi.json')).arrayBuffer()).byteLength
    for (const [encoding, share] of [
      ['gzip', 0.12],
      ['br', 0.1],
    ] as const) {
      const packed = await app.request('/api/openapi.json', { headers: { 'accept-encoding': encoding } })
      expect((await packed.arrayBuffer()).byteLength).toBeLessThan(whole * share)
    }
  })
})
