/** Section 4.5: admin routes, for the role `admin`. */
import assert from 'node:assert/strict'
import { z } from 'zod'
import { type Check, into, refuses, says } from './check.ts'
import {
  Audit,
  Board,
  BotFixtures,
  Flag,
  FlagList,
  Flags,
  Instrument,
  Matches,
  Replays,
  Setting,
  Settings,
  Users,
} from './shapes.ts'
import { read } from './visitor.ts'

export const checks: Check[] = []
const check = into(checks)

const ROUTES = [
  ['GET', '/api/admin/flags'],
  ['PUT', '/api/admin/flags/coming_soon', { enabled: false }],
  ['GET', '/api/admin/settings'],
  ['PUT', '/api/admin/settings/trading.hold_secs', { value: 180 }],
  ['GET', '/api/admin/settings/scoring/multiplier-keys'],
  ['GET', '/api/admin/users'],
  ['GET', '/api/admin/users/export.csv'],
  ['GET', '/api/admin/users/0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f'],
  ['GET', '/api/admin/risk'],
  ['GET', '/api/admin/runbook'],
  ['PUT', '/api/admin/users/0197f2a0-1c2d-7d3e-8f40-5a6b7c8d9e0f/status', { status: 'frozen', reason: 'a check' }],
  ['POST', '/api/admin/positions/0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968/void', { reason: 'a check' }],
  ['GET', '/api/admin/gameplay-bot/fixtures'],
  ['GET', '/api/admin/gameplay-bot/status'],
  ['POST', '/api/admin/gameplay-bot/start', { fixtureId: 'goal-feast' }],
  ['POST', '/api/admin/gameplay-bot/stop', {}],
  ['POST', '/api/admin/leaderboard/rebuild-roi', undefined],
  ['GET', '/api/admin/events'],
  ['GET', '/api/admin/webhooks'],
  ['POST', '/api/admin/webhooks', { url: 'https://hooks.example/events' }],
  ['PATCH', '/api/admin/webhooks/0197f2a0-7f80-7b92-8d3e-4f5a6b7c8d9e', { state: 'paused' }],
  ['POST', '/api/admin/webhooks/0197f2a0-7f80-7b92-8d3e-4f5a6b7c8d9e/test', undefined],
  ['DELETE', '/api/admin/webhooks/0197f2a0-7f80-7b92-8d3e-4f5a6b7c8d9e', undefined],
  ['GET', '/api/admin/recordings'],
  ['GET', '/api/admin/recordings/19155071'],
  ['GET', '/api/admin/ledger/audit'],
  ['GET', '/api/admin/audit'],
] as const

check('4.5.1', 'Every admin route is 401 without an access cookie, and 403 for everyone but admins.', async (t) => {
  const user = await t.observer()
  for (const [method, path, body] of ROUTES) {
    const ask = body === undefined ? {} : { body }
    refuses(await t.visitor().ask(method, path, ask), 401)
    refuses(await user.ask(method, path, ask), 403)
  }
})

check('4.5.2', '`GET /api/admin/flags` lists flags, with who set them last.', async (t) => {
  const { flags } = await (await t.admin()).get('/api/admin/flags', FlagList)
  assert(flags.some(({ key }) => key === 'coming_soon'))
})

check(
  '4.5.3',
  '`PUT /api/admin/flags/:key` sets a flag; an unknown one is 404, no boolean 400.',
  { alone: true },
  async (t) => {
    const admin = await t.admin()
    const set = (key: string, body: object) => admin.put(`/api/admin/flags/${key}`, body)
    t.later(() => set('coming_soon', { enabled: false }))
    const flag = read(await set('coming_soon', { enabled: true }), Flag)
    assert.partialDeepStrictEqual(flag, { key: 'coming_soon', enabled: true, updatedBy: admin.profile.username })
    for (const url of t.target.urls) {
      await t.eventually(
        `the flag at ${url}`,
        async () => {
          const flags = Flags.parse(await (await fetch(`${url}/api/flags`)).json())
          return flags['coming_soon'] === true ? true : undefined
        },
        2,
      )
    }
    refuses(await set('never_heard_of', { enabled: true }), 404)
    refuses(await set('coming_soon', { enabled: 'yes' }), 400)
  },
)

check('4.5.4', '`GET /api/admin/settings` lists settings with value, type, default and description.', async (t) => {
  const { settings } = await (await t.admin()).get('/api/admin/settings', Settings)
  const defaults = Object.fromEntries(settings.map((one) => [one.key, one.default]))
  assert.partialDeepStrictEqual(defaults, {
    'trading.hold_secs': 180,
    'trading.price_guard_pct': 2.5,
    'trading.lot_min': 0.01,
    'trading.lot_max': 100,
    'trading.lot_step': 0.01,
    'trading.open_positions_max': 100,
    'trading.impact_cap_pct': 0.5,
    'trading.level_distance_pct': 1.5,
    'trading.news_hold_secs': 90,
    'trading.late_void_secs': 45,
    'trading.late_move_pct': 0.6,
    'feed.stale_secs': 25,
    'settlement.confirm_secs': 60,
  })
})

check(
  '4.5.5',
  '`PUT /api/admin/settings/:key` takes effect live, in every process; a wrong value is 400, an unknown key 404.',
  { alone: true },
  async (t) => {
    const [admin, player] = [await t.admin(), await t.player()]
    const set = (key: string, value: unknown) => admin.put(`/api/admin/settings/${key}`, { value })
    t.later(() => set('trading.lot_max', 100))
    const setting = read(await set('trading.lot_max', 3), Setting)
    assert.partialDeepStrictEqual(setting, { key: 'trading.lot_max', value: 3, default: 100 })
    await t.wait(1.2)
    for (let n = 0; n < t.target.urls.length; n++) {
      const user = await t.user()
      assert.equal((await user.get(`/api/instruments/${player.id}`, Instrument)).maxLot, 3)
      refuses(await user.order(player, { lotSize: 4 }), 422, { error: 'lot size invalid', maxLot: 3 })
    }
    for (const value of ['3', 0, -1, 1e9, null]) refuses(await set('trading.lot_max', value), 400)
    refuses(await set('trading.never_heard_of', 1), 404)
  },
)

check(
  '4.5.6',
  '`GET /api/admin/settings/scoring/multiplier-keys` lists the scoring multiplier keys by position.',
  async (t) => {
    const Keys = z.looseObject({ keys: z.array(z.string()) })
    const { keys } = await (await t.admin()).get('/api/admin/settings/scoring/multiplier-keys', Keys)
    for (const position of ['GK', 'DEF', 'MID', 'FWD'])
      assert(
        keys.some((key) => key.includes(`.${position}.`)),
        position,
      )
  },
)

check('4.5.7', '`GET /api/admin/users` lists users; `search`, `limit` and `offset` narrow it.', async (t) => {
  const [admin, user] = [await t.admin(), await t.user()]
  const found = await admin.get(`/api/admin/users?search=${user.profile.username}`, Users)
  assert.deepEqual([found.total, found.users.map(({ userId }) => userId)], [1, [user.id]])
  assert.equal((await admin.get('/api/admin/users?limit=1&offset=1', Users)).users.length, 1)
  refuses(await admin.ask('GET', '/api/admin/users?limit=1000'), 400)
})

check(
  '4.5.8',
  '`GET /api/admin/users/export.csv` is all users as CSV (RFC 4180), safe in a spreadsheet.',
  async (t) => {
    const admin = await t.admin()
    const user = await t.user({ firstName: '=1+1 "quoted", and so on' })
    const reply = await admin.ask('GET', '/api/admin/users/export.csv')
    assert.equal(reply.status, 200)
    assert.match(reply.headers.get('content-type') ?? '', /^text\/csv/)
    const lines = reply.text.split('\r\n')
    const { total } = await admin.get('/api/admin/users', Users)
    assert(lines.length - 2 <= total && lines.length > 2, `${lines.length} lines for ${total} users`)
    assert(
      lines.find((one) => one.includes(user.id))?.includes(`"'=1+1 ""quoted"", and so on"`),
      'the name is a formula or badly quoted',
    )
  },
)

check('4.5.9', '`GET /api/admin/gameplay-bot/fixtures` lists the bundled replay fixtures.', async (t) => {
  const { fixtures } = await (await t.admin()).get('/api/admin/gameplay-bot/fixtures', BotFixtures)
  assert(fixtures.length > 0)
})

check('4.5.10', 'The gameplay bot starts a replay, shows it, and stops it; its match trades meanwhile.', async (t) => {
  const [admin, user] = [await t.admin(), await t.user()]
  const { fixtures } = await admin.get('/api/admin/gameplay-bot/fixtures', BotFixtures)
  const fixtureId = fixtures[0]?.id
  const started = await admin.post('/api/admin/gameplay-bot/start', { fixtureId, speed: 10, traders: 5 })
  const { started: id } = read(started, z.looseObject({ started: z.string() }))
  const status = async () =>
    (await admin.get('/api/admin/gameplay-bot/status', Replays)).replays.find((one) => one.id === id)
  const replay = await status()
  assert.partialDeepStrictEqual(replay, { fixtureId, speed: 10, traders: 5 })
  await t.eventually(
    'the replay to be in play',
    async () => {
      const { matches } = await user.get('/api/matches', Matches)
      return matches.find((match) => match.id === replay?.matchId && match.tradeWindow.open)
    },
    30,
  )
  says(await admin.post('/api/admin/gameplay-bot/stop', { id }), 200)
  await t.eventually('the replay to end', async () => ((await status()) === undefined ? true : undefined), 30)
})

check(
  '4.5.11',
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
  '4.5.12',
  '`POST /api/admin/leaderboard/rebuild-roi` returns `{rebuilt:N}`, and the board is as before.',
  { alone: true, settings: { 'trading.hold_secs': 0, 'trading.late_void_secs': 0 } },
  async (t) => {
    const [admin, user, player] = [await t.admin(), await t.user(), await t.player()]
    await user.closes((await user.opens(player)).position.id)
    const board = async () => {
      const { entries } = await admin.get('/api/leaderboard/roi/global?limit=500', Board)
      return entries.map(({ userId, score }) => `${userId} ${score}`)
    }
    await t.eventually('the rank', async () =>
      (await board()).some((line) => line.startsWith(user.id)) ? true : undefined,
    )
    const before = await board()
    const { rebuilt } = read(
      await admin.post('/api/admin/leaderboard/rebuild-roi'),
      z.looseObject({ rebuilt: z.int() }),
    )
    assert(rebuilt >= before.length, `${rebuilt} were rebuilt, ${before.length} are shown`)
    assert.deepEqual((await board()).toSorted(), before.toSorted())
  },
)

check('4.5.13', 'Every admin write leaves an audit row with who did what (contract 5).', async (t) => {
  const admin = await t.admin()
  says(await admin.put('/api/admin/settings/replays.practice', { value: false }), 200)
  const { entries } = await admin.get('/api/admin/audit', Audit)
  const row = entries.find(({ subject }) => subject === 'replays.practice')
  assert.equal(row?.actor?.userId, admin.id)
})

check(
  '4.5.14',
  'The books balance: every balance equals its entries, and all accounts sum to zero (contract 3).',
  { alone: true },
  async (t) => {
    says(await (await t.admin()).ask('GET', '/api/admin/ledger/audit'), 200, { balanced: true })
  },
)
