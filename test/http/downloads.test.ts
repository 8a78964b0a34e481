/**
 * Every route that streams, over a server with sockets: what clients do to their answers gives no place away for ever.
 */
import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { positionId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { HttpServer } from '../../src/http-server.ts'
import { alice, FIXTURE, type HttpRig, openHttpRig, SESSION } from './http-rig.ts'

const cleanUp: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const clean of cleanUp.splice(0).toReversed()) await clean()
})

/** The default of one second is a time that a busy machine exceeds. */
const LONG = { timeout: 60_000 }

/** Packed or not far more than sockets hold for a client that does not read. */
const LINES = 200
const line = (): string => `${randomBytes(48 * 1_024).toString('base64')}\n`

/** A server whose downloads are long, and what has begun and ended of them. */
async function serve() {
  const counted = { begun: 0, ended: 0, audited: 0 }
  async function* long(): AsyncGenerator<string> {
    counted.begun++
    try {
      for (let n = 0; n < LINES; n++) yield line()
    } finally {
      counted.ended++
    }
  }
  const plain = await openHttpRig({ role: 'admin' })
  const { deps, ports } = plain
  const recordings = { ...deps.recordings, lines: long }
  const extra = { recordings }
  const rig: HttpRig = await openHttpRig({
    role: 'admin',
    deps: {
      personal: {
        ...deps.personal,
        async *pages() {
          for await (const text of long()) yield { section: 'profile', rows: [{ text }] }
        },
      },
      userList: {
        ...deps.userList,
        async *pages() {
          const { users } = await deps.userList.search({ search: '', limit: 1, offset: 0, before: undefined })
          for await (const name of long()) yield users.map((user) => ({ ...user, name }))
        },
      },
      wallets: {
        ...deps.wallets,
        async *ledgerPages() {
          for await (const text of long()) {
            yield [
              { kind: 'grant', amount: money(0), positionId: positionId(text), at: instant(0), key: [0, 0, '', ''] },
            ]
          }
        },
      },
      recordings,
      events: { isAhead: async () => false, lines: long },
      audit: { ...deps.audit, record: async () => void counted.audited++ },
    },
    ports: { ...ports, ...extra, tapes: { ...ports.tapes, lines: long } },
  })
  const server = new HttpServer({ isBehindProxy: false, takesWithinMs: 60_000 })
  const sockets: Socket[] = []
  server.node.on('connection', (socket) => sockets.push(socket))
  /** The time of those who do not read is up. */
  const cutOff = (): void => sockets.forEach((socket) => void socket.setTimeout(50))
  await server.listen({ fetch: (request, env) => rig.app.fetch(request, env) }, { port: 0, host: '127.0.0.1' })
  cleanUp.push(() => server.close(0))
  const cookie = `game_access=${await rig.tokens.issueAccess({ ...alice, role: 'admin' }, SESSION)}`
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { ...init, headers: { cookie } })
  return { port: server.port, cookie, ask, counted, cutOff }
}

/** A match with a recording. */
const RECORDED = 3

const STREAMS = [
  `/api/public/tape/${FIXTURE}`,
  `/api/public/tape/${RECORDED}/recording`,
  '/api/me/export',
  '/api/wallet/ledger.csv',
  '/api/admin/users/export.csv',
  `/api/admin/recordings/${RECORDED}`,
  '/api/admin/events',
]
/** More than any of them gives to one owner. */
const MANY = 6

describe.each(STREAMS)('[H32] %s', (path) => {
  it('answers HEAD as GET, and begins, counts and writes nothing for it', async () => {
    const { ask, counted } = await serve()
    const heads = []
    for (let n = 0; n < MANY; n++) heads.push(await ask(path, { method: 'HEAD' }))
    expect(counted).toEqual({ begun: 0, ended: 0, audited: 0 })
    const got = await ask(path)
    const fields = ({ status, headers }: Response) => [
      status,
      ...['content-type', 'content-disposition', 'cache-control', 'etag', 'vary'].map((name) => headers.get(name)),
    ]
    for (const head of heads) expect(fields(head)).toEqual(fields(got))
    await got.body?.cancel()
  })

  it('gives places back when clients hang up', async () => {
    const { ask, counted } = await serve()
    for (let n = 0; n < MANY; n++) {
      await vi.waitUntil(async () => {
        const answer = await ask(path)
        await answer.body?.cancel()
        return answer.status === 200
      }, LONG)
    }
    await vi.waitUntil(() => counted.ended === counted.begun, LONG)
    expect(counted.begun).toBeGreaterThanOrEqual(MANY)
  })

  it('gives places back when clients do not read, and keeps others from none but their own', async () => {
    const { port, cookie, ask, counted, cutOff } = await serve()
    const statuses = Array.from({ length: MANY }, async () => {
      const socket = connect(port, '127.0.0.1')
      cleanUp.push(() => void socket.destroy())
      socket.on('error', () => undefined)
      socket.write(`GET ${path} HTTP/1.1\r\nhost: here\r\ncookie: ${cookie}\r\n\r\n`)
      const head = await new Promise<string>((resolve) => {
        socket.once('data', (data) => resolve(String(data)))
        socket.once('close', () => resolve('cut'))
      })
      socket.pause()
      if (!head.includes(' 200 ')) expect(head).toMatch(/cache-control: no-store\r\n/i)
      if (!head.includes(' 200 ')) expect(head).not.toMatch(/\r\netag:/i)
      return head.slice('HTTP/1.1 '.length, 12)
    })
    expect(new Set(await Promise.all(statuses))).toEqual(new Set(['200', path.endsWith('/events') ? '429' : '503']))
    cutOff()
    await vi.waitUntil(() => counted.ended === counted.begun, LONG)
    const again = await ask(path)
    expect(again.status).toBe(200)
    await again.body?.cancel()
  })
})
