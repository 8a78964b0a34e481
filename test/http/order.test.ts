/**
 * The one order in which every route spends something on a request: the limit of its address, the size of its body, who
 * asks, the limit of the user, the body. It is tried on every operation of the description.
 */
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { z } from '@hono/zod-openapi'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import { Rates } from '../../db/rates.ts'
import { HttpServer } from '../../src/http-server.ts'
import { TestWorld } from '../support/test-world.ts'
import { alice, ALICE, type HttpRigOptions, NOW, openHttpRig, SESSION } from './http-rig.ts'
import { declared, type Operation, operations } from './operations.ts'

const KIB = 1_024
/** What is more than any route but the one for uploads accepts, and more than that one does. */
const [LARGE, LARGEST] = [64 * KIB + 1, 8 * KIB * KIB + 1]
const larger = (operation: Operation): boolean => operation.name === 'POST /api/admin/uploads'

const openLimited = (perMinute: number, options: HttpRigOptions = {}, siteFactor = 0) => {
  const world = new TestWorld({ now: NOW })
  const rates = new Rates(fastOrElse(new FastMemory(world), world), world)
  return openHttpRig({ ...options, deps: { limits: { perMinute, siteFactor, trustedProxies: 1, rates } } })
}

/** A body that is never there, and says whether it was asked for. */
function silentBody() {
  const pulled = { count: 0 }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: () => {
        pulled.count++
        return new Promise(() => undefined)
      },
    },
    { highWaterMark: 0 },
  )
  return { pulled, init: { body, duplex: 'half' } as RequestInit }
}

const CODE = z.object({ code: z.string() })
type Rig = Awaited<ReturnType<typeof openHttpRig>>
async function asked({ app }: Rig, { method, path }: Operation, headers: Record<string, string>) {
  const { pulled, init } = silentBody()
  const response = await app.request(path, {
    ...init,
    method,
    headers: { 'x-forwarded-for': '203.0.113.7', ...headers },
  })
  const { code } = CODE.parse(await response.json())
  return { code, read: pulled.count > 0, cached: response.headers.get('cache-control') }
}

const isProtected = (operation: Operation): boolean =>
  declared(operation) !== undefined && operation.ways?.every((way) => 'refreshCookie' in way) !== true
const unsafe = operations.filter(({ method }) => method !== 'GET')
const sized = (bytes: number) => ({ 'content-length': String(bytes), 'content-type': 'application/json' })
const refusedUnread = (code: string) => ({ code, read: false, cached: 'no-store' })

it('[H31] an address that asks too often is refused before the size of its body, and before a look at who it is', async () => {
  const rig = await openLimited(1)
  await rig.app.request('/api/flags', { headers: { 'x-forwarded-for': '203.0.113.7' } })
  for (const operation of unsafe) {
    const found = await asked(rig, operation, sized(LARGEST))
    expect([operation.name, found]).toEqual([operation.name, refusedUnread('RATE_LIMITED')])
  }
})

it('[H31] a page of another origin is refused, and counts against its address', async () => {
  const rig = await openLimited(1)
  const foreign = { origin: 'https://elsewhere.example', 'content-type': 'application/json' }
  const codes = []
  for (const operation of unsafe.slice(0, 2)) codes.push((await asked(rig, operation, foreign)).code)
  expect(codes).toEqual(['ORIGIN_NOT_ALLOWED', 'RATE_LIMITED'])
})

it('[H31] a body that is too large, or of unknown size where more is accepted, is refused before who sends it', async () => {
  const rig = await openLimited(0)
  for (const operation of unsafe) {
    const found = await asked(rig, operation, sized(larger(operation) ? LARGEST : LARGE))
    expect([operation.name, found]).toEqual([operation.name, refusedUnread('PAYLOAD_TOO_LARGE')])
    if (!larger(operation)) continue
    expect(await asked(rig, operation, { 'content-type': 'application/json' })).toEqual(
      refusedUnread('LENGTH_REQUIRED'),
    )
  }
})

it('[H31] a body of unknown size is refused when it turns out to be too large', async () => {
  const rig = await openLimited(0, { role: 'admin' })
  const cookie = `game_access=${await rig.tokens.issueAccess({ ...alice, role: 'admin' }, SESSION)}`
  const headers = { cookie, 'content-type': 'application/json' }
  let read = 0
  for (const { method, path, name } of unsafe.filter(({ refusals }) => refusals.includes('MALFORMED_JSON'))) {
    const streamed = { method, headers, body: new Blob([' '.repeat(LARGE)]).stream(), duplex: 'half' } as const
    const response = await rig.app.request(path, streamed)
    const { code } = CODE.parse(await response.json())
    const found = [response.status, code, response.headers.get('cache-control')]
    expect([name, ...found]).toEqual([name, 413, 'PAYLOAD_TOO_LARGE', 'no-store'])
    read++
  }
  expect(read).toBeGreaterThan(20)
})

it('[H31] nothing of a body is read before it is known who sends it, and that they may', async () => {
  const admin = await openLimited(0, { role: 'admin' })
  const reading = `Bearer ${await admin.keyRig.keyOf({ id: ALICE, role: 'admin' }, ['read'])}`
  let counted = 0
  for (const operation of unsafe.filter(isProtected)) {
    for (const headers of [sized(9), { 'content-type': 'application/json', ...(larger(operation) ? sized(9) : {}) }]) {
      expect([operation.name, await asked(admin, operation, headers)]).toEqual([
        operation.name,
        refusedUnread('UNAUTHORIZED'),
      ])
      if (declared(operation) === 'read') continue
      const scoped = await asked(admin, operation, { ...headers, authorization: reading })
      expect([operation.name, scoped]).toEqual([operation.name, refusedUnread('SCOPE_MISSING')])
      counted++
    }
  }
  expect(counted).toBeGreaterThan(60)
})

it('[H1] a client that goes before its body has arrived is no fault of the server', async () => {
  const rig = await openLimited(0, { role: 'admin' })
  const server = new HttpServer({ isBehindProxy: false })
  await server.listen(rig.app, { port: 0, host: '127.0.0.1' })
  const cookie = `game_access=${await rig.tokens.issueAccess({ ...alice, role: 'admin' }, SESSION)}`
  const withBody = unsafe.filter((each) => each.refusals.includes('UNSUPPORTED_MEDIA_TYPE') || larger(each))
  for (const { method, path } of withBody) {
    const head = Object.entries({ host: 'here', cookie, ...sized(9) }).map(([name, value]) => `${name}: ${value}\r\n`)
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n{`)
    setTimeout(() => socket.destroy(), 20)
    await new Promise((resolve) => socket.once('close', resolve))
  }
  const answers = () => rig.log.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request_completed')
  await expect.poll(() => answers().length).toBe(withBody.length)
  await server.close(0)
  const answered = answers()
  expect(rig.log.filter((line) => line.includes('request_failed'))).toEqual([])
  expect(answered.filter(({ status }) => status !== 400)).toEqual([])
})

it('[H31] a user who orders too often is refused before the body', async () => {
  const rig = await openLimited(100_000, { role: 'admin' })
  const cookie = `game_access=${await rig.tokens.issueAccess({ ...alice, role: 'admin' }, SESSION)}`
  const orders = unsafe.filter(({ name }) => /positions\/(open|\{id\}\/close|\{id\})$/.test(name))
  expect(orders).toHaveLength(3)
  for (const operation of orders) {
    for (let n = 0; n < 60; n++)
      await rig.app.request(operation.path, { method: operation.method, headers: { cookie } })
    expect([operation.name, await asked(rig, operation, { ...sized(9), cookie })]).toEqual([
      operation.name,
      refusedUnread('RATE_LIMITED'),
    ])
  }
})

it('[H31] a client that sends its body slowly does not keep others from signing in', async () => {
  const rig = await openLimited(0)
  const slow = Array.from({ length: 20 }, () =>
    ['/api/auth/google', '/api/auth/google/complete', '/api/auth/dev'].map((path) => {
      const { init } = silentBody()
      return rig.app.request(path, { ...init, method: 'POST', headers: sized(500) })
    }),
  )
  expect(slow).toHaveLength(20)
  expect((await rig.send('POST', '/api/auth/google', { idToken: 'token', nonce: 'nonce' })).status).toBe(200)
  expect((await rig.send('POST', '/api/auth/dev', { displayName: 'Alice' })).status).toBe(200)
})

it.each([
  [0, 40],
  [2, 20],
])(
  '[H5] with a factor of %d, of 40 requests from the networks of one IPv6 site %d pass',
  async (siteFactor, passing) => {
    const rig = await openLimited(10, {}, siteFactor)
    const statuses: number[] = []
    for (let n = 0; n < 40; n++) {
      const headers = { 'x-forwarded-for': `2001:db8:7:${n.toString(16)}::1` }
      statuses.push((await rig.app.request('/api/flags', { headers })).status)
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(passing)
    expect((await rig.app.request('/api/flags', { headers: { 'x-forwarded-for': '2001:db8:8::1' } })).status).toBe(200)
  },
)
