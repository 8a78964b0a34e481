/** Section 4.4: leaderboards, social, misc, all with the access cookie. */
import assert from 'node:assert/strict'
import { type Check, into, near, refuses, retryAfter, says } from './check.ts'
import {
  Achievements,
  Activity,
  Board,
  Notifications,
  Ranked,
  RankedContext,
  Referral,
  Referrals,
  SpinnerHistory,
  SpinnerWeek,
  Standings,
  UnreadCount,
} from './shapes.ts'
import type { CheckContext, User } from './context.ts'
import { ranked } from './scenes.ts'
import { read } from './visitor.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = into(checks)

const GETS = [
  '/api/leaderboard/global',
  '/api/leaderboard/district/1',
  '/api/leaderboard/roi/global',
  '/api/leaderboard/roi/district/1',
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
] as const
const POSTS = [
  ['/api/spinner/run', undefined],
  ['/api/notifications/1/read', undefined],
  ['/api/notifications/read-all', undefined],
  ['/api/referral/validate', { code: 'X' }],
  ['/api/referrals/invites', { name: 'X' }],
] as const

check(
  '4.4.1',
  '4.4 Leaderboards, social, misc (all JWT)',
  'Every route of 4.4 is 401 without a valid access cookie.',
  async (t) => {
    for (const path of GETS) refuses(await t.visitor().ask('GET', path), 401)
    for (const [path, body] of POSTS) refuses(await t.visitor().post(path, body), 401)
  },
)

/** A long that closes with a profit which another user's order has made. */
async function closesAhead(t: CheckContext, user: User, lotSize: number): Promise<void> {
  const player = await t.player()
  const { position } = await user.opens(player, { lotSize })
  await (await t.user()).opens(player, { lotSize: 15 })
  await user.closes(position.id)
}

check(
  '4.4.2',
  'GET | `/api/leaderboard/global` | PnL board, `limit` up to 500',
  '`GET /api/leaderboard/global` is the PnL board.',
  { waits: NO_HOLD },
  async (t) => {
    const user = await ranked(t, 'wins')
    const { entries, total } = await user.get('/api/leaderboard/global?limit=500', Board)
    assert.equal(total >= entries.length, true)
    const mine = entries.find(({ userId }) => userId === user.id)
    assert.partialDeepStrictEqual(mine, { isMe: true, trades: 1, winRate: 1, username: user.profile.username })
    assert.equal(mine?.score, mine?.pnl)
    const scores = entries.map(({ score }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
  },
)

check(
  '4.4.3',
  'GET | `/api/leaderboard/district/:districtId` | district PnL board',
  '`GET /api/leaderboard/district/:districtId` is the PnL board of a district; an unknown one is 404.',
  { waits: NO_HOLD },
  async (t) => {
    const user = await ranked(t, 'wins')
    const { districtId } = user.profile
    const { entries } = await user.get(`/api/leaderboard/district/${districtId}?limit=500`, Board)
    assert(entries.every((entry) => entry.districtId === districtId))
    assert(entries.some(({ isMe }) => isMe))
    refuses(await user.ask('GET', '/api/leaderboard/district/99999999'), 404)
    refuses(await user.ask('GET', '/api/leaderboard/district/x'), 400)
  },
)

check(
  '4.4.4',
  'GET | `/api/leaderboard/roi/global` | global ROI board (primary) … ROI boards score in raw percent',
  '`GET /api/leaderboard/roi/global` is the global ROI board, in raw per cent.',
  { waits: NO_HOLD },
  async (t) => {
    const user = await ranked(t, 'wins')
    const { entries } = await user.get('/api/leaderboard/roi/global?limit=500', Board)
    const scores = entries.map(({ score }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    const mine = entries.find(({ isMe }) => isMe)
    assert(mine !== undefined && mine.score === mine.roiPct && mine.pnl > 0, JSON.stringify(mine))
  },
)

check(
  '4.4.5',
  'GET | `/api/leaderboard/roi/district/:districtId` | district ROI board (district ranked by average member ROI)',
  '`GET /api/leaderboard/roi/district/:districtId` ranks a district by ROI, with its average.',
  { waits: NO_HOLD },
  async (t) => {
    const user = await ranked(t, 'wins')
    const reply = await user.ask('GET', `/api/leaderboard/roi/district/${user.profile.districtId}?limit=500`)
    assert(read(reply, Board).entries.some(({ isMe }) => isMe))
    refuses(await user.ask('GET', '/api/leaderboard/roi/district/99999999'), 404)
  },
)

check(
  '4.4.6',
  'GET | `/api/leaderboard/roi/friends` | referral-network ROI board … GET | `/api/leaderboard/friends` | referral-network PnL board (legacy)',
  'The friends boards, ROI and PnL, are of the referral network.',
  { waits: NO_HOLD },
  async (t) => {
    const referrer = await ranked(t, 'wins')
    const referee = await ranked(t, 'loses', { referralCode: referrer.profile.referralCode })
    for (const [path, user] of [
      ['roi/friends', referrer],
      ['friends', referrer],
      ['friends', referee],
    ] as const) {
      const { entries } = await user.get(`/api/leaderboard/${path}`, Board)
      assert.deepEqual(
        entries.map(({ userId, rank }) => [userId, rank]),
        [
          [referrer.id, 1],
          [referee.id, 2],
        ],
      )
    }
  },
)

check(
  '4.4.7',
  "GET | `/api/leaderboard/me` | caller's rank; score is ROI percent; `{ranked:false}` before first trade",
  '`GET /api/leaderboard/me` is the rank of the caller, its score the ROI in per cent.',
  { waits: NO_HOLD },
  async (t) => {
    const user = await ranked(t, 'loses')
    const me = await user.get('/api/leaderboard/me', Ranked)
    assert.deepEqual([me.userId, me.score], [user.id, me.roiPct])
    assert(me.pnl < 0 && me.winRate === 0, JSON.stringify(me))
  },
)

check(
  '4.4.8',
  'GET | `/api/leaderboard/me/context` | rank plus gap to next rank',
  '`GET /api/leaderboard/me/context` adds the gap to the next rank; `{ranked:false}` before the first trade.',
  { waits: NO_HOLD },
  async (t) => {
    assert.deepEqual((await (await t.user()).ask('GET', '/api/leaderboard/me/context')).body, { ranked: false })
    await ranked(t, 'wins')
    const user = await ranked(t, 'loses')
    const { next, score } = await user.get('/api/leaderboard/me/context', RankedContext)
    assert(next !== null)
    near(next.gap, next.score - score, 'the gap', 0.000_1)
  },
)

check(
  '4.4.9',
  'Tie-break on equal ROI percent: higher win rate (wins divided by sells) ranks above higher absolute PnL.',
  'On equal ROI the higher win rate ranks above the higher absolute PnL.',
  { waits: NO_HOLD },
  async (t) => {
    // What others' orders make of a close counts as profit and as a win, but not in the ROI.
    await t.eventually('equal ROI', async () => {
      const referrer = await t.user()
      const { referralCode } = referrer.profile
      const [small, large] = [await t.user({ referralCode }), await t.user({ referralCode })]
      await closesAhead(t, small, 0.1)
      await closesAhead(t, large, 3)
      await large.closes((await large.opens(await t.player(), { lotSize: 0.1 })).position.id) // a round trip is no win
      const { entries } = await t.eventually('two ranks', async () => {
        const board = await referrer.get('/api/leaderboard/roi/friends', Board)
        return board.entries.find(({ userId }) => userId === large.id)?.trades === 2 && board.total === 2
          ? board
          : undefined
      })
      const [first, second] = entries
      assert(first !== undefined && second !== undefined)
      // The match has moved a price meanwhile.
      if (first.score !== second.score) return undefined
      assert.equal(first.userId, small.id)
      assert(first.winRate > second.winRate && first.pnl < second.pnl, JSON.stringify(entries))
      return true
    })
  },
)

check(
  '4.4.10',
  'Leaderboard `limit` | up to 500',
  '`limit` of a board goes up to 500; 501 and 0 are 400; `offset` begins further down.',
  async (t) => {
    const user = await t.observer()
    for (const path of ['global', 'roi/global', 'friends', 'roi/friends']) {
      says(await user.ask('GET', `/api/leaderboard/${path}?limit=500`), 200)
      for (const limit of [501, 0, 'x']) refuses(await user.ask('GET', `/api/leaderboard/${path}?limit=${limit}`), 400)
    }
    const { entries } = await user.get('/api/leaderboard/roi/global?limit=1', Board)
    assert(entries.length <= 1)
    // Users may move up meanwhile, but a page beyond the last is empty.
    const { total, entries: beyond } = await user.get('/api/leaderboard/roi/global?offset=1000000', Board)
    assert(total >= entries.length && beyond.length === 0)
  },
)

check(
  '4.4.11',
  'GET | `/api/districts/standings` | cross-district standings … Ranks users (and districts) on PnL and ROI leaderboards',
  '`GET /api/districts/standings` ranks all districts by the average ROI of their members.',
  async (t) => {
    const { districts } = await (await t.observer()).get('/api/districts/standings', Standings)
    const scores = districts.flatMap(({ score }) => score ?? [])
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
  },
)

check(
  '4.4.12',
  "GET | `/api/spinner/current` | current week's winner or tied candidates",
  '`GET /api/spinner/current` is the current week, with its winner or tied candidates.',
  async (t) => {
    const week = await (await t.observer()).get('/api/spinner/current', SpinnerWeek)
    assert.notEqual(week.status, 'decided')
  },
)

check(
  '4.4.13',
  'GET | `/api/spinner/history` | recent winners; `limit` default 12 … Spinner history `limit` default | 12',
  '`GET /api/spinner/history` has recent winners; `limit` is 12 by default.',
  async (t) => {
    const user = await t.observer()
    assert((await user.get('/api/spinner/history', SpinnerHistory)).weeks.length <= 12)
    says(await user.ask('GET', '/api/spinner/history?limit=1'), 200)
    refuses(await user.ask('GET', '/api/spinner/history?limit=0'), 400)
  },
)

check(
  '4.4.14',
  'POST | `/api/spinner/run` | trigger the spin; idempotent',
  '`POST /api/spinner/run` is idempotent: the second call returns the same week.',
  async (t) => {
    const user = await t.observer()
    const first = await user.post('/api/spinner/run')
    if (first.status === 409) return void retryAfter(first, 600) // the last closes are still being processed
    const week = read(first, SpinnerWeek)
    assert.equal(week.status, 'decided')
    assert.deepEqual((await user.post('/api/spinner/run')).body, first.body)
  },
)

/** A user who has a notification. */
async function notified(t: CheckContext): Promise<User> {
  const [user, player] = [await t.user(), await t.player()]
  await user.opens(player)
  await t.eventually('a notification', async () => {
    const { unreadCount } = await user.get('/api/notifications/unread-count', UnreadCount)
    return unreadCount > 0 ? true : undefined
  })
  return user
}

check(
  '4.4.15',
  'GET | `/api/notifications` | query `limit`, `unreadOnly=true`',
  '`GET /api/notifications` takes `limit` and `unreadOnly=true`.',
  async (t) => {
    const user = await notified(t)
    const all = await user.get('/api/notifications?limit=1', Notifications)
    assert.equal(all.notifications.length, 1)
    const { id } = all.notifications[0] ?? { id: '' }
    says(await user.post(`/api/notifications/${id}/read`), 200)
    const unread = await user.get('/api/notifications?unreadOnly=true', Notifications)
    assert.equal(
      unread.notifications.some((one) => one.id === id),
      false,
    )
    for (const query of ['limit=0', 'limit=101', 'unreadOnly=perhaps'])
      refuses(await user.ask('GET', `/api/notifications?${query}`), 400)
  },
)

check(
  '4.4.16',
  'POST | `/api/notifications/:id/read` | mark one read',
  '`POST /api/notifications/:id/read` marks one and is idempotent; one of another user is 404.',
  async (t) => {
    const user = await notified(t)
    const { notifications, unreadCount } = await user.get('/api/notifications', Notifications)
    const { id } = notifications[0] ?? { id: '' }
    for (let n = 0; n < 2; n++)
      says(await user.post(`/api/notifications/${id}/read`), 200, { unreadCount: unreadCount - 1 })
    refuses(await (await t.user()).post(`/api/notifications/${id}/read`), 404)
  },
)

check(
  '4.4.17',
  'POST | `/api/notifications/read-all` | mark all read … GET | `/api/notifications/unread-count` | unread count',
  '`POST /api/notifications/read-all` marks all read; the unread count is 0.',
  async (t) => {
    const user = await notified(t)
    says(await user.post('/api/notifications/read-all'), 200)
    assert.equal((await user.get('/api/notifications/unread-count', UnreadCount)).unreadCount, 0)
  },
)

check(
  '4.4.18',
  'GET | `/api/activity` | query `scope` = `global` or `district`, `districtId`, `limit`',
  '`GET /api/activity` takes `scope`, `districtId` and `limit`.',
  async (t) => {
    const user = await t.observer()
    for (const query of [
      '',
      '?scope=global',
      '?scope=district',
      `?scope=district&districtId=${user.profile.districtId}`,
      '?limit=5',
    ]) {
      const { count, events } = await user.get(`/api/activity${query}`, Activity)
      assert.equal(count, events.length)
    }
    refuses(await user.ask('GET', '/api/activity?scope=street'), 400)
    refuses(await user.ask('GET', '/api/activity?scope=district&districtId=99999999'), 404)
  },
)

check(
  '4.4.19',
  'POST | `/api/referral/validate` | validate a code (30/min)',
  '`POST /api/referral/validate` validates a code for the caller.',
  async (t) => {
    const [user, other] = [await t.user(), await t.observer()]
    const validate = (code: string) => user.post('/api/referral/validate', { code })
    says(await validate(other.profile.referralCode), 200, { valid: true })
    says(await validate('NOBODY99'), 200, { valid: false })
    says(await validate(user.profile.referralCode), 200, { valid: false })
    refuses(await validate(''), 400)
  },
)

check(
  '4.4.20',
  'POST | `/api/referrals/invites` | create a named per-invite share link (30/min)',
  '`POST /api/referrals/invites` makes a named share link; registrations with its code appear under that name.',
  async (t) => {
    const user = await t.user()
    const invite = read(await user.post('/api/referrals/invites', { name: 'Grace' }), Referral)
    assert.partialDeepStrictEqual(invite, { name: 'Grace', status: 'unclaimed', registered: false })
    assert(invite.url.includes(invite.code), 'the link does not carry the code')
    await t.user({ referralCode: invite.code })
    const { referrals } = await user.get('/api/referrals', Referrals)
    assert.partialDeepStrictEqual(referrals, [
      { name: 'Grace', code: invite.code, status: 'pending', registered: true },
    ])
    refuses(await user.post('/api/referrals/invites', { name: '' }), 400)
  },
)

check(
  '4.4.21',
  "GET | `/api/referrals` | list caller's referrals",
  '`GET /api/referrals` lists the referrals of the caller only.',
  async (t) => {
    const [user, other] = [await t.user(), await t.user()]
    await other.post('/api/referrals/invites', { name: 'Not mine' })
    assert.deepEqual((await user.get('/api/referrals', Referrals)).referrals, [])
  },
)

check(
  '4.4.22',
  'GET | `/api/achievements` | earned and locked badges',
  '`GET /api/achievements` moves a badge from locked to earned when it is earned.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const before = await user.get('/api/achievements', Achievements)
    await user.opens(player)
    const after = await t.eventually('a badge', async () => {
      const found = await user.get('/api/achievements', Achievements)
      return found.earned.length > 0 ? found : undefined
    })
    assert.equal(after.earned.length + after.locked.length, before.locked.length)
  },
)
