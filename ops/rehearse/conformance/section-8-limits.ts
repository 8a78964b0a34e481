/** Section 8: limits. Limits of single resources are in their sections; these are the others, mainly rates. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { promisify } from 'node:util'
import { type Check, into, near, refuses, retryAfter, says } from './check.ts'
import { Positions, PriceHistory } from './shapes.ts'
import type { CheckContext, User } from './context.ts'
import { FeedSocket } from './feed.ts'
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

const forwarded = (): Readonly<Record<string, string>> => ({ 'x-forwarded-for': newAddress() })

/** How many files a process of this machine may have open. */
async function openFilesMax(): Promise<number> {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n'])
  return stdout.trim() === 'unlimited' ? Infinity : Number(stdout)
}

/** A visitor whose requests all come from one address that no other visitor has. */
function at(t: CheckContext, visitor: Visitor): Visitor {
  if (t.target.trust === null) t.skip('needs a deployment that believes forwarded addresses (--trust)')
  visitor.address = newAddress()
  return visitor
}

/** Of `limit + 3` requests from one address in a minute the first `limit` pass, and another address still passes. */
async function limited(
  t: CheckContext,
  limit: number,
  ask: (visitor: Visitor) => Promise<Reply>,
  visitor = t.visitor(),
): Promise<void> {
  at(t, visitor)
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

check('8.1', 'All routes together: 200 requests a minute from one address, over all processes.', async (t) => {
  if (t.target.trust === null) t.skip('needs a deployment that believes forwarded addresses (--trust)')
  const address = newAddress()
  const visitors = t.target.urls.map(() => Object.assign(t.visitor(), { address }))
  let passed = 0
  for (let n = 0; n < 203; n++) {
    const reply = await (visitors[n % visitors.length] ?? t.visitor()).ask(
      'GET',
      n % 2 === 0 ? '/api/flags' : '/api/me',
    )
    if (reply.status === 200) passed++
    else {
      refuses(reply, 429)
      retryAfter(reply, 60)
    }
  }
  assert.equal(passed, 200)
})

check('8.2', '`POST /api/auth/google`: 20 a minute.', (t) =>
  limited(t, 20, (visitor) => visitor.post('/api/auth/google', { idToken: 'x', nonce: 'x' })),
)

check('8.3', '`POST /api/auth/google/complete`: 10 a minute.', (t) =>
  limited(t, 10, (visitor) => visitor.post('/api/auth/google/complete', {})),
)

check('8.4', '`POST /api/auth/verify-otp`: 10 a minute.', (t) =>
  limited(t, 10, (visitor) => visitor.post('/api/auth/verify-otp', { registrationTicket: 'x', otp: '000000' })),
)

check('8.5', '`POST /api/auth/resend-otp`: 5 a minute.', (t) =>
  limited(t, 5, (visitor) => visitor.post('/api/auth/resend-otp', { registrationTicket: 'x' })),
)

check('8.6', '`POST /api/users/check-username`: 60 a minute.', (t) =>
  limited(t, 60, (visitor) => visitor.post('/api/users/check-username', { username: 'ada' })),
)

check('8.7', '`GET /api/public/referral/validate`: 10 a minute.', (t) =>
  limited(t, 10, (visitor) => visitor.ask('GET', '/api/public/referral/validate?code=X')),
)

check('8.8', '`POST /api/referral/validate`: 30 a minute.', async (t) =>
  limited(t, 30, (visitor) => visitor.post('/api/referral/validate', { code: 'X' }), await t.user()),
)

check('8.9', '`POST /api/referrals/invites`: 30 a minute.', async (t) =>
  limited(t, 30, (visitor) => visitor.post('/api/referrals/invites', { name: 'X' }), await t.user()),
)

check(
  '8.10',
  'What changes positions counts by user, ten at once of each kind, and not by address (contract 2).',
  async (t) => {
    const [one, other, player] = [at(t, await t.user()), at(t, await t.user()), await t.player()]
    other.address = one.address
    const order = { instrumentId: player.id, direction: 'long', lotSize: 0, clientPrice: player.currentPrice }
    const replies = await Promise.all(Array.from({ length: 15 }, () => one.post('/api/positions/open', order)))
    const refused = replies.filter(({ status }) => status === 429)
    assert(refused.length >= 1 && refused.length <= 5, `${refused.length} of 15 were too many`)
    for (const reply of refused) retryAfter(reply, 60)
    assert.notEqual((await other.post('/api/positions/open', order)).status, 429)
  },
)

check('8.11', 'Answers say how much of a limit is left, in the `RateLimit` headers (contract 2).', async (t) => {
  const visitor = at(t, t.visitor())
  const left = async () =>
    Number(/"global";r=(\d+);t=\d+/.exec((await visitor.ask('GET', '/api/flags')).headers.get('ratelimit') ?? '')?.[1])
  assert.deepEqual([await left(), await left()], [199, 198])
})

check('8.12', 'The price-move guard is 2.5 % exactly: at it an open passes, beyond it is refused.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const published = player.last_published_price
  const [at25, beyond] = [Math.floor(published * 1.025 * 1e6) / 1e6, Math.ceil(published * 1.025 * 1e6 + 1) / 1e6]
  refuses(await user.order(player, { clientPrice: beyond }), 409, { error: 'PRICE_MOVED' })
  says(await user.order(player, { clientPrice: at25 }), 201)
})

check('8.13', 'The smallest lot is 0.01, the largest 100, in steps of 0.01 (contract 3).', async (t) => {
  const [user, player] = [await t.user(), await t.player('GK')]
  says(await user.order(player, { lotSize: 0.01 }), 201, { position: { lotSize: 0.01 } })
  says(await user.order(player, { lotSize: 1.23 }), 201, { position: { lotSize: 1.23 } })
  says(await (await t.user()).order(player, { lotSize: 100 }), 201, { position: { lotSize: 100 } })
})

check('8.14', 'A user holds at most 100 open positions (contract 3).', { takes: 110, alone: true }, async (t) => {
  const [user, player] = [await t.user(), await t.player('GK')]
  const from = Date.now()
  for (let n = 1; n <= 100; n++) {
    // As fast as the limit of 60 a minute allows, however long each takes.
    await t.wait(Math.max(0, from + n * 1_000 - Date.now()) / 1_000)
    await user.opens(player, { lotSize: 0.01 })
  }
  await t.wait(1)
  refuses(await user.order(player, { lotSize: 0.01 }), 422, { error: 'position limit reached' })
  assert.equal((await user.get('/api/positions?limit=100', Positions)).positions.length, 100)
})

check('8.15', 'A price history never has more than 500 ticks, whatever its period.', async (t) => {
  const [user, player] = [await t.observer(), await t.player()]
  for (const period of ['5m', '1h', '6h', '1d', 'all']) {
    assert(
      (await user.get(`/api/instruments/${player.id}/price-history?period=${period}`, PriceHistory)).ticks.length <=
        500,
    )
  }
})

check('8.16', 'A socket that says more than ten messages a second is closed with 4029 (contract 6).', async (t) => {
  const feed = await t.feed(await t.user())
  for (let n = 0; n < 25; n++) feed.say({ type: 'ping', id: n })
  assert.equal(await feed.closed(), 4029)
})

check('8.17', 'A message over 16 KiB closes a socket with 1009 (contract 6).', async (t) => {
  const feed = await t.feed(await t.user())
  feed.say({ type: 'ping', id: 1, filler: 'x'.repeat(17 * 1_024) })
  assert.equal(await feed.closed(), 1009)
})

check('8.18', 'A socket follows at most 500 instruments (contract 6).', { alone: true }, async (t) => {
  const own: string[] = []
  while (own.length <= 500) own.push(...(await t.match('HT')).instrumentIds)
  const feed = await t.feed(await t.observer())
  const follow = async (id: number, instrumentIds: readonly string[]) => {
    const { instrumentIds: followed, rejected } = await feed.ask({ type: 'subscribe', id, instrumentIds })
    assert(Array.isArray(followed) && Array.isArray(rejected))
    return { followed: followed.length, refusals: [...new Set(rejected.map(({ code }) => code))] }
  }
  assert.deepEqual(await follow(1, own.slice(0, 300)), { followed: 300, refusals: [] })
  assert.deepEqual(await follow(2, own.slice(300, 520)), { followed: 200, refusals: ['limit'] })
})

check(
  '8.19',
  'Up to 20,000 connections a replica; the next one is closed with 1013.',
  { alone: true, takes: 300 },
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
  '8.20',
  'A write deadline of 100 ms: a socket that does not read is closed, and delays nobody (contract 6).',
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

check('8.21', 'The margin follows from the contract size 5: price × lots × 5 / 10.', async (t) => {
  const [user, player] = [await t.user(), await t.player('DEF')]
  const { position } = await user.opens(player, { lotSize: 1 })
  assert.equal(position.contractSize, 5)
  near(position.margin, position.openPrice / 2, 'the margin')
})
