/** Beyond the specification: what boards, limits, administration and the API description leave open. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beyondInto, type Check, refuses, retryAfter, says } from './check.ts'
import { fromOneAddress, ranked } from './scenes.ts'
import { Audit, Board, Flags, Instrument, Positions } from './shapes.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = beyondInto(checks)

/** Of one kind, in any minute. */
const ORDERS_MAX = 60

check('10.6.1', '`GET /api/openapi.json` describes every route of section 4.', async (t) => {
  const reply = await t.visitor().ask('GET', '/api/openapi.json')
  says(reply, 200)
  const { paths } = reply.body as { paths: Record<string, Record<string, unknown>> }
  const missing = ROUTES.filter(([method, path]) => paths[path]?.[method] === undefined)
  assert.deepEqual(
    missing.map((route) => route.join(' ')),
    [],
  )
})

check('10.6.2', 'Only closing a position ranks a user; opening one does not.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  await user.opens(player)
  await t.wait(1)
  says(await user.ask('GET', '/api/leaderboard/me'), 200, { ranked: false })
})

check('10.6.3', 'Equal scores share a rank, and the next one is skipped: 1-2-2-4.', { waits: NO_HOLD }, async (t) => {
  const referrer = await t.user()
  const flat = async (profile: object) => {
    const [user, player] = [await t.user(profile), await t.player()]
    await user.closes((await user.opens(player, { lotSize: 1 })).position.id) // only a round trip: ROI 0
    return user
  }
  const { referralCode } = referrer.profile
  const users = [await flat({ referralCode }), await flat({ referralCode })]
  const loser = await ranked(t, 'loses', { referralCode })
  const { entries } = await t.eventually('three ranks', async () => {
    const board = await referrer.get('/api/leaderboard/roi/friends', Board)
    return board.total === 3 ? board : undefined
  })
  const scores = entries.map(({ score }) => score)
  assert.deepEqual(scores.slice(0, 2), [0, 0])
  assert.deepEqual(new Set(entries.slice(0, 2).map(({ userId }) => userId)), new Set(users.map(({ id }) => id)))
  assert.equal(entries[2]?.userId, loser.id)
})

check(
  '10.6.4',
  'The gameplay bot refuses an unknown fixture (404) and a speed or traders out of range (400).',
  async (t) => {
    const admin = await t.admin()
    const start = (order: object) => admin.post('/api/admin/gameplay-bot/start', order)
    refuses(await start({ fixtureId: 'never-played' }), 404)
    for (const wrong of [{ speed: 0 }, { speed: 121 }, { traders: 501 }, { traders: -1 }]) {
      refuses(await start({ fixtureId: 'goal-feast', ...wrong }), 400)
    }
    refuses(await admin.post('/api/admin/gameplay-bot/stop', { id: '00000000-0000-4000-8000-000000000000' }), 404)
  },
)

check(
  '10.6.5',
  "Every admin write leaves an audit row with who did what; a flag of one's own can be deleted.",
  async (t) => {
    const admin = await t.admin()
    const key = `conformance_${t.newName()}`
    says(await admin.put(`/api/admin/flags/${key}`, { enabled: true }), 200)
    const { entries } = await admin.get('/api/admin/audit', Audit)
    assert.equal(entries.find(({ subject }) => subject.endsWith(key))?.actor?.userId, admin.id)
    const gone = await admin.ask('DELETE', `/api/admin/flags/${key}`)
    assert(gone.status === 200 || gone.status === 204, `${gone.asked} was answered ${gone.status}`)
    const isGone = async () => (key in (await t.visitor().get('/api/flags', Flags)) ? undefined : true)
    await t.eventually('the flag to be gone in every process', isGone, 2)
  },
)

check(
  '10.6.6',
  'The books balance: every balance equals its entries, and all accounts sum to zero.',
  { alone: true },
  async (t) => {
    says(await (await t.admin()).ask('GET', '/api/admin/ledger/audit'), 200, { balanced: true })
  },
)

check('10.6.7', 'Answers say how much of a limit is left, in the `RateLimit` headers.', async (t) => {
  const visitor = fromOneAddress(t, t.visitor())
  const left = async () =>
    Number(/"global";r=(\d+);t=\d+/.exec((await visitor.ask('GET', '/api/flags')).headers.get('ratelimit') ?? '')?.[1])
  assert.deepEqual([await left(), await left()], [199, 198])
})

check(
  '10.6.8',
  'A user opens 60 positions a minute, and holds at most 100; a quote says so, too.',
  { takes: 75 },
  async (t) => {
    const [user, player] = [await t.user(), await t.player('GK')]
    const newOrder = async () => {
      const { currentPrice } = await user.get(`/api/instruments/${player.id}`, Instrument)
      const body = { instrumentId: player.id, direction: 'long', lotSize: 0.01, clientPrice: currentPrice }
      return { body, headers: { 'idempotency-key': randomUUID() } }
    }
    type Order = Awaited<ReturnType<typeof newOrder>>
    const send = ({ body, headers }: Order) => user.post('/api/positions/open', body, headers)
    const refused: Order[] = []
    // Ten at a time: one after another, on a slow machine, they would not fit into one minute.
    for (let n = 0; n < ORDERS_MAX; n += 10) {
      const sendOne = async () => {
        const order = await newOrder()
        const reply = await send(order)
        if (reply.status === 429) refused.push(order)
        else says(reply, 201)
      }
      await Promise.all(Array.from({ length: 10 }, sendOne))
    }
    const sentAgain = user.repeated
    assert(refused.length <= sentAgain, `of 60 orders ${refused.length} were refused, and ${sentAgain} were sent again`)
    const over = await user.order(player, { lotSize: 0.01 })
    refuses(over, 429)
    await t.wait(retryAfter(over, 60))
    const opensInTime = async (order: Order) => {
      let reply = await send(order)
      if (reply.status === 429) {
        await t.wait(retryAfter(reply, 60))
        reply = await send(order)
      }
      // It was not carried out before, and its price is of a minute ago.
      if (reply.status === 409) reply = await send(await newOrder())
      says(reply, 201)
    }
    // One that was sent again may have been carried out, and then met the limit: its key tells, and opens no second.
    for (const order of refused) await opensInTime(order)
    for (let n = ORDERS_MAX; n < 100; n++) await opensInTime(await newOrder())
    await t.wait(1)
    const asked = { instrumentId: player.id, direction: 'long', lotSize: 0.01 }
    says(await user.post('/api/positions/quote', asked), 200, { refusal: { error: 'position limit reached' } })
    refuses(await user.order(player, { lotSize: 0.01 }), 422, { error: 'position limit reached' })
    assert.equal((await user.get('/api/positions?limit=100', Positions)).positions.length, 100)
  },
)

const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ...[
    '/api/auth/google',
    '/api/auth/google/complete',
    '/api/auth/verify-otp',
    '/api/auth/resend-otp',
    '/api/auth/refresh',
    '/api/auth/logout',
    '/api/users/check-username',
    '/api/ws/token',
    '/api/positions/open',
    '/api/positions/{id}/close',
    '/api/spinner/run',
    '/api/notifications/{id}/read',
    '/api/notifications/read-all',
    '/api/referral/validate',
    '/api/referrals/invites',
    '/api/admin/gameplay-bot/start',
    '/api/admin/gameplay-bot/stop',
    '/api/admin/leaderboard/rebuild-roi',
  ].map((path) => ['post', path] as const),
  ...[
    '/api/flags',
    '/api/public/referral/validate',
    '/api/me',
    '/health',
    '/api/instruments',
    '/api/instruments/movers',
    '/api/instruments/{id}',
    '/api/instruments/{id}/price-history',
    '/api/instruments/{id}/recent-trades',
    '/api/matches',
    '/api/matches/{id}/events',
    '/api/matches/{id}/squad',
    '/api/positions',
    '/api/trades',
    '/api/portfolio',
    '/api/wallet',
    '/api/leaderboard/global',
    '/api/leaderboard/district/{districtId}',
    '/api/leaderboard/roi/global',
    '/api/leaderboard/roi/district/{districtId}',
    '/api/leaderboard/roi/friends',
    '/api/leaderboard/friends',
    '/api/leaderboard/me',
    '/api/leaderboard/me/context',
    '/api/districts/standings',
    '/api/spinner/current',
    '/api/spinner/history',
    '/api/notifications',
    '/api/notifications/unread-count',
    '/api/activity',
    '/api/referrals',
    '/api/achievements',
    '/api/admin/flags',
    '/api/admin/settings',
    '/api/admin/settings/scoring/multiplier-keys',
    '/api/admin/users',
    '/api/admin/users/export.csv',
    '/api/admin/gameplay-bot/fixtures',
    '/api/admin/gameplay-bot/status',
  ].map((path) => ['get', path] as const),
  ['patch', '/api/positions/{id}'],
  ['put', '/api/admin/flags/{key}'],
  ['put', '/api/admin/settings/{key}'],
]
