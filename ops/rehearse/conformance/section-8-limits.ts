/** Section 8: limits. Limits of single resources are in their sections; these are the others, mainly rates. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { type Check, into, near, refuses, retryAfter, says } from './check.ts'
import { PriceHistory } from './shapes.ts'
import type { CheckContext, User } from './context.ts'
import { FeedSocket } from './feed.ts'
import { fromOneAddress } from './scenes.ts'
import { newAddress, type Reply, type Visitor } from './visitor.ts'

export const checks: Check[] = []
const check = into(checks)

/** Connections that a replica takes, and that it takes of one user. */
const [CONNECTIONS_MAX, CONNECTIONS_PER_USER_MAX] = [20_000, 10]
/** Files that a process has open beside its connections. */
const OTHER_FILES = 500
const REGISTERED_AT_ONCE = 16
/** More answers than fit into the buffers on the way to a socket. */
const STALLED_REQUESTS = 200

const NOBODY = '00000000-0000-4000-8000-000000000000'

const forwarded = (): Readonly<Record<string, string>> => ({ 'x-forwarded-for': newAddress() })

/** How many files a process of this machine may have open. */
async function openFilesMax(): Promise<number> {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n'])
  return stdout.trim() === 'unlimited' ? Infinity : Number(stdout)
}

/** Of `limit + 3` requests from one address in a minute the first `limit` pass, and another address still passes. */
async function limited(
  t: CheckContext,
  limit: number,
  ask: (visitor: Visitor) => Promise<Reply>,
  visitor = t.visitor(),
): Promise<void> {
  fromOneAddress(t, visitor)
  const replies: Reply[] = []
  for (let n = 0; n < limit + 3; n++) replies.push(await ask(visitor))
  const passed = replies.filter(({ status }) => status !== 429).length
  assert.equal(passed, limit, `${passed} requests passed`)
  for (const reply of replies.slice(limit)) {
    refuses(reply, 429)
    retryAfter(reply, 60)
    assert.match(reply.headers.get('ratelimit-policy') ?? '', new RegExp(`;q=${limit};w=60`))
    assert.match(reply.headers.get('ratelimit') ?? '', /;r=0;t=\d+/)
  }
  visitor.address = newAddress()
  assert.notEqual((await ask(visitor)).status, 429, 'another address is also limited')
}

check(
  '8.1',
  'Global rate | 200 requests/min per IP',
  'All routes together, trading included, over all processes: the 201st request of a minute from one address is 429.',
  { takes: 30 },
  async (t) => {
    const player = await t.player()
    const address = newAddress()
    const users: User[] = []
    for (let n = 0; n < 4; n++) users.push(Object.assign(fromOneAddress(t, await t.user()), { address }))
    const order = { instrumentId: player.id, direction: 'long', lotSize: 0.01 }
    const routes: readonly ((user: User) => Promise<Reply>)[] = [
      (user) => user.ask('GET', '/api/flags'),
      (user) => user.post('/api/positions/open', { ...order, clientPrice: player.currentPrice }),
      (user) => user.ask('GET', '/api/positions'),
      (user) => user.ask('PATCH', `/api/positions/${NOBODY}`, { body: { stopLoss: null } }),
      (user) => user.ask('GET', '/api/me'),
      (user) => user.post(`/api/positions/${NOBODY}/close`, {}),
      (user) => user.ask('GET', `/api/instruments/${player.id}`),
      (user) => user.post('/api/positions/quote', order),
      (user) => user.ask('GET', '/api/leaderboard/me'),
      (user) => user.ask('GET', '/api/wallet'),
    ]
    const ask = async (n: number): Promise<Reply> => {
      const [user, route] = [users[n % users.length], routes[n % routes.length]]
      assert(user !== undefined && route !== undefined)
      return route(user)
    }
    // Side by side, so that all fall into one minute.
    for (let from = 0; from < 200; from += routes.length) {
      for (const reply of await Promise.all(routes.map((_, n) => ask(from + n))))
        assert.notEqual(reply.status, 429, `${reply.asked} was refused among the first 200`)
    }
    for (let n = 200; n < 200 + routes.length; n++) {
      const reply = await ask(n)
      refuses(reply, 429)
      retryAfter(reply, 60)
    }
  },
)

check('8.2', '`POST /api/auth/google` | 20/min', '`POST /api/auth/google`: 20 a minute.', (t) =>
  limited(t, 20, (visitor) => visitor.post('/api/auth/google', { idToken: 'x', nonce: 'x' })),
)

check('8.3', '`POST /api/auth/google/complete` | 10/min', '`POST /api/auth/google/complete`: 10 a minute.', (t) =>
  limited(t, 10, (visitor) => visitor.post('/api/auth/google/complete', {})),
)

check('8.4', '`POST /api/auth/verify-otp` | 10/min', '`POST /api/auth/verify-otp`: 10 a minute.', (t) =>
  limited(t, 10, (visitor) => visitor.post('/api/auth/verify-otp', { registrationTicket: 'x', otp: '000000' })),
)

check('8.5', '`POST /api/auth/resend-otp` | 5/min', '`POST /api/auth/resend-otp`: 5 a minute.', (t) =>
  limited(t, 5, (visitor) => visitor.post('/api/auth/resend-otp', { registrationTicket: 'x' })),
)

check('8.6', '`POST /api/users/check-username` | 60/min', '`POST /api/users/check-username`: 60 a minute.', (t) =>
  limited(t, 60, (visitor) => visitor.post('/api/users/check-username', { username: 'ada' })),
)

check('8.7', '`GET /api/public/referral/validate` | 10/min', '`GET /api/public/referral/validate`: 10 a minute.', (t) =>
  limited(t, 10, (visitor) => visitor.ask('GET', '/api/public/referral/validate?code=X')),
)

check(
  '8.8',
  '`POST /api/referral/validate`, `POST /api/referrals/invites` | 30/min each',
  '`POST /api/referral/validate`: 30 a minute.',
  async (t) => limited(t, 30, (visitor) => visitor.post('/api/referral/validate', { code: 'X' }), await t.user()),
)

check(
  '8.9',
  '`POST /api/referral/validate`, `POST /api/referrals/invites` | 30/min each',
  '`POST /api/referrals/invites`: 30 a minute.',
  async (t) => limited(t, 30, (visitor) => visitor.post('/api/referrals/invites', { name: 'X' }), await t.user()),
)

check(
  '8.10',
  'Price-move guard on open | 2.5 %',
  'The price-move guard is 2.5 % exactly: at it an open passes, beyond it is refused.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const published = player.last_published_price
    const [at25, beyond] = [Math.floor(published * 1.025 * 1e6) / 1e6, Math.ceil(published * 1.025 * 1e6 + 1) / 1e6]
    refuses(await user.order(player, { clientPrice: beyond }), 409, { error: 'PRICE_MOVED' })
    says(await user.order(player, { clientPrice: at25 }), 201)
  },
)

check(
  '8.11',
  'Price-history ticks | at most 500',
  'A price history never has more than 500 ticks, whatever its period.',
  async (t) => {
    const [user, player] = [await t.observer(), await t.player()]
    for (const period of ['5m', '1h', '6h', '1d', 'all']) {
      assert(
        (await user.get(`/api/instruments/${player.id}/price-history?period=${period}`, PriceHistory)).ticks.length <=
          500,
      )
    }
  },
)

check(
  '8.12',
  'Up to 20,000 connections per server replica. … WebSocket connections | 20,000 per server replica; 100 ms write deadline',
  'Up to 20,000 connections a replica; the next one is closed with 1013.',
  { alone: true, takes: 600 },
  async (t) => {
    const [replica] = t.target.wsUrls
    if (replica === undefined) return t.skip('the WebSocket address is not known (--ws)')
    // The replica and this process have the same limit of open files.
    const count = Math.min(CONNECTIONS_MAX, (await openFilesMax()) - OTHER_FILES)
    const sockets: FeedSocket[] = []
    t.later(() => sockets.forEach((socket) => socket.close()))
    const open = async (user: User): Promise<void> =>
      void sockets.push(await FeedSocket.open(replica, await t.wsToken(user), ['feed.v1'], forwarded()))
    let left = count
    const openSome = async (): Promise<void> => {
      while (left > 0) {
        const some = Math.min(left, CONNECTIONS_PER_USER_MAX)
        left -= some
        const user = await t.user()
        await Promise.all(Array.from({ length: some }, () => open(user)))
      }
    }
    await Promise.all(Array.from({ length: REGISTERED_AT_ONCE }, openSome))
    assert.equal(sockets.filter(({ closeCode }) => closeCode === null).length, count)
    if (count < CONNECTIONS_MAX) return
    assert.equal(await FeedSocket.refusal(replica, await t.wsToken(await t.user()), forwarded()), 1013)
  },
)

check(
  '8.13',
  'Per-connection write deadline 100 ms.',
  'A write deadline of 100 ms: a socket that does not read is closed, and delays no other.',
  { takes: 31 },
  async (t) => {
    const [stalled, reader] = [await t.feed(await t.user()), await t.feed(await t.user())]
    stalled.ws.pause()
    const instrumentIds = Array.from({ length: 390 }, () => randomUUID())
    for (let id = 0; id < STALLED_REQUESTS; id++) {
      // Each answer has 25 kB. They fill the buffers of both kernels, and then those of the server.
      stalled.say({ type: 'subscribe', id, instrumentIds })
      await t.wait(0.125)
      await reader.ask({ type: 'ping', id })
    }
    stalled.ws.resume()
    // The code stands behind what waits: only who reads on within a second is told it.
    const code = await stalled.closed()
    assert(code === 4008 || code === 1006, `closed with ${code}`)
    assert.equal(reader.closeCode, null)
  },
)

check(
  '8.14',
  'Contract size | 5 … Margin required = price * lots * 5 / 10',
  'The margin follows from the contract size 5: price × lots × 5 / 10.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player('DEF')]
    const { position } = await user.opens(player, { lotSize: 1 })
    assert.equal(position.contractSize, 5)
    near(position.margin, position.openPrice / 2, 'the margin')
  },
)

check(
  '8.15',
  '`POST /api/auth/google/complete` | 10/min',
  'No other limit on registering: 21 users of one network, each at an address of their own, are all taken.',
  { takes: 60 },
  async (t) => {
    const network = fromOneAddress(t, t.visitor()).address?.split('.').slice(0, 3).join('.')
    // At once: one after the other each would wait behind the users of all other checks.
    const users = await Promise.all(Array.from({ length: 21 }, (_, n) => t.userFrom(`${network}.${n + 1}`)))
    for (const user of users) says(await user.ask('GET', '/api/wallet'), 200, { balance: 10_000 })
  },
)
