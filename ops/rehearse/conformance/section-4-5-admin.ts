/** Section 4.5: admin routes, for the role `admin`. */
import assert from 'node:assert/strict'
import { z } from 'zod'
import { type Check, into, near, refuses, says } from './check.ts'
import type { CheckContext } from './context.ts'
import {
  Board,
  BotFixtures,
  Flag,
  FlagList,
  Flags,
  Instruments,
  Matches,
  Me,
  Positions,
  Replays,
  Setting,
  Settings,
  Users,
  Wallet,
} from './shapes.ts'
import { read, Visitor } from './visitor.ts'
import { NO_HOLD } from './waits.ts'

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
  ['GET', '/api/admin/keys'],
  ['DELETE', '/api/admin/keys/0197f2a0-6e7f-7a81-9c2d-3e4f5a6b7c8d', undefined],
  ['GET', '/api/admin/feed'],
  ['GET', '/api/admin/matches/1/positions'],
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

check(
  '4.5.1',
  '4.5 Admin (role `admin` required) … `role` | string; `admin` grants admin routes, any other value is a normal user',
  'Every admin route is 401 without an access cookie, and 403 for everyone but admins.',
  async (t) => {
    const user = await t.observer()
    for (const [method, path, body] of ROUTES) {
      const ask = body === undefined ? {} : { body }
      refuses(await t.visitor().ask(method, path, ask), 401)
      refuses(await user.ask(method, path, ask), 403)
    }
  },
)

check(
  '4.5.2',
  'GET | `/api/admin/flags` | list flags',
  '`GET /api/admin/flags` lists flags, with who set them last.',
  async (t) => {
    const { flags } = await (await t.admin()).get('/api/admin/flags', FlagList)
    assert(flags.some(({ key }) => key === 'coming_soon'))
  },
)

check(
  '4.5.3',
  'PUT | `/api/admin/flags/:key` | set a flag',
  '`PUT /api/admin/flags/:key` sets `coming_soon` in every process within two seconds; no boolean is 400.',
  { alone: true },
  async (t) => {
    const admin = await t.admin()
    const set = (key: string, body: object) => admin.put(`/api/admin/flags/${key}`, body)
    t.later(async () => {
      await set('coming_soon', { enabled: false })
      await toldEverywhere(t, 'coming_soon', false)
    })
    const flag = read(await set('coming_soon', { enabled: true }), Flag)
    assert.partialDeepStrictEqual(flag, { key: 'coming_soon', enabled: true, updatedBy: admin.profile.username })
    await toldEverywhere(t, 'coming_soon', true)
    refuses(await set('coming_soon', { enabled: 'yes' }), 400)
  },
)

check(
  '4.5.4',
  'Feature flag | key to boolean … PUT | `/api/admin/flags/:key` | set a flag … GET | `/api/flags` | None | global | map flag key to boolean',
  'Any flag is set: a new key is listed for admins, and told to everybody with its value, on and off.',
  async (t) => {
    const admin = await t.admin()
    const key = `conformance_${t.newName()}`
    t.later(() => admin.ask('DELETE', `/api/admin/flags/${key}`))
    for (const enabled of [true, false]) {
      says(await admin.put(`/api/admin/flags/${key}`, { enabled }), 200, { key, enabled })
      const { flags } = await admin.get('/api/admin/flags', FlagList)
      assert.partialDeepStrictEqual(
        flags.find((one) => one.key === key),
        { key, enabled, updatedBy: admin.profile.username },
      )
      await toldEverywhere(t, key, enabled)
    }
  },
)

/** Every process tells everybody this value within two seconds. */
async function toldEverywhere(t: CheckContext, key: string, enabled: boolean): Promise<void> {
  for (const url of t.target.urls) {
    const told = async () => (await new Visitor(url).get('/api/flags', Flags))[key]
    await t.eventually(`the flag at ${url}`, async () => ((await told()) === enabled ? true : undefined), 2)
  }
}

check(
  '4.5.5',
  'GET | `/api/admin/settings` | list settings … Admin setting | key to value',
  '`GET /api/admin/settings` lists settings with value, type, default and description: the deployment has the defaults.',
  async (t) => {
    const { settings } = await (await t.admin()).get('/api/admin/settings', Settings)
    const changed = settings.filter((one) => one.value !== one.default).map(({ key }) => key)
    assert.deepEqual(changed, [], 'these settings are not as the program ships')
    const defaults = Object.fromEntries(settings.map((one) => [one.key, one.default]))
    assert.partialDeepStrictEqual(defaults, { 'trading.hold_secs': 180, 'trading.price_guard_pct': 2.5 })
  },
)

check(
  '4.5.6',
  'PUT | `/api/admin/settings/:key` | set a setting; update callbacks take effect live',
  'A set setting takes effect live, in every process; a wrong value is 400, an unknown key 404.',
  { sets: ['trading.hold_secs'], alone: true },
  async (t) => {
    const [admin, player] = [await t.admin(), await t.player()]
    const set = (value: unknown) => admin.put('/api/admin/settings/trading.hold_secs', { value })
    t.later(() => set(180))
    const setting = read(await set(7), Setting)
    assert.partialDeepStrictEqual(setting, { key: 'trading.hold_secs', value: 7, default: 180 })
    await t.wait(1.2)
    for (let n = 0; n < t.target.urls.length; n++) {
      const { position } = await (await t.user()).opens(player)
      assert.equal(Date.parse(position.closableAt) - Date.parse(position.openedAt), 7_000)
    }
    for (const value of ['7', -1, 1e9, null]) refuses(await set(value), 400)
    refuses(await admin.put('/api/admin/settings/trading.never_heard_of', { value: 1 }), 404)
  },
)

check(
  '4.5.7',
  'GET | `/api/admin/settings/scoring/multiplier-keys` | scoring position multiplier keys',
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

check(
  '4.5.8',
  'GET | `/api/admin/users` | list users',
  '`GET /api/admin/users` lists users; `search`, `limit` and `offset` narrow it.',
  async (t) => {
    const [admin, user] = [await t.admin(), await t.user()]
    const found = await admin.get(`/api/admin/users?search=${user.profile.username}`, Users)
    assert.deepEqual([found.total, found.users.map(({ userId }) => userId)], [1, [user.id]])
    assert.equal((await admin.get('/api/admin/users?limit=1&offset=1', Users)).users.length, 1)
    refuses(await admin.ask('GET', '/api/admin/users?limit=1000'), 400)
  },
)

check(
  '4.5.9',
  'GET | `/api/admin/users/export.csv` | all users as CSV',
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

check(
  '4.5.10',
  'GET | `/api/admin/gameplay-bot/fixtures` | bundled replay fixtures',
  '`GET /api/admin/gameplay-bot/fixtures` lists the bundled replay fixtures.',
  async (t) => {
    const { fixtures } = await (await t.admin()).get('/api/admin/gameplay-bot/fixtures', BotFixtures)
    assert(fixtures.length > 0)
  },
)

/** Starts a replay, and returns it once its match is open. It is stopped when the check is over. */
async function replay(t: CheckContext, over: object = {}) {
  const admin = await t.admin()
  const { fixtures } = await admin.get('/api/admin/gameplay-bot/fixtures', BotFixtures)
  const fixtureId = fixtures[0]?.id
  const started = await admin.post('/api/admin/gameplay-bot/start', { fixtureId, ...over })
  const { started: id } = read(started, z.looseObject({ started: z.string() }))
  const status = async () =>
    (await admin.get('/api/admin/gameplay-bot/status', Replays)).replays.find((one) => one.id === id)
  const stop = () => admin.post('/api/admin/gameplay-bot/stop', { id })
  t.later(stop)
  const shown = await status()
  assert.partialDeepStrictEqual(shown, { fixtureId, ...over })
  const look = async () =>
    (await admin.get('/api/matches', Matches)).matches.find(({ id: match }) => match === shown?.matchId)
  const match = await t.eventually(
    'the replay to be in play',
    async () => {
      const found = await look()
      return found?.tradeWindow.open === true ? found : undefined
    },
    30,
  )
  return { match, status, stop }
}

check(
  '4.5.11',
  'POST | `/api/admin/gameplay-bot/start` | start a replay … GET | `/api/admin/gameplay-bot/status` | replay state … POST | `/api/admin/gameplay-bot/stop` | stop a replay … feature flags, settings, user listing/export and a replay bot',
  'A replay starts, is shown with its speed and traders, is in play, and ends when it is stopped.',
  async (t) => {
    const { status, stop } = await replay(t, { speed: 10, traders: 5 })
    says(await stop(), 200)
    await t.eventually('the replay to end', async () => ((await status()) === undefined ? true : undefined), 30)
  },
)

check(
  '4.5.12',
  "POST | `/api/admin/gameplay-bot/start` | start a replay … margin debited … caller's open positions … opening a position awards XP … `{ranked:false}` before first trade",
  'A replay is the game: its positions are paid from the wallet and listed, bring XP, and rank their owner once closed.',
  { waits: NO_HOLD },
  async (t) => {
    const { match } = await replay(t)
    const user = await t.user()
    const { instruments } = await user.get('/api/instruments', Instruments)
    const player = instruments.find((one) => one.fixtureId === match.id && one.tradingStatus === 'OPEN')
    assert(player !== undefined, 'the match has no instrument that is open')
    const { position } = await user.opens(player, { lotSize: 1 })
    near((await user.get('/api/wallet', Wallet)).balance, 10_000 - position.margin, 'the balance')
    for (const query of ['', '?status=open']) {
      const { positions } = await user.get(`/api/positions${query}`, Positions)
      assert.deepEqual(
        positions.map(({ id }) => id),
        [position.id],
      )
    }
    await t.eventually('XP', async () => ((await user.get('/api/me', Me)).xp > 0 ? true : undefined))
    const closed = await user.closes(position.id)
    near(closed.wallet.balance, 10_000 + (closed.position.realizedPnl ?? NaN), 'the balance after the close')
    await t.eventually('the rank', async () => {
      const { body } = await user.ask('GET', '/api/leaderboard/me')
      return (body as { ranked?: boolean }).ranked === true ? true : undefined
    })
  },
)

check(
  '4.5.13',
  'POST | `/api/admin/leaderboard/rebuild-roi` | rebuild ROI ranking; returns `{rebuilt:N}` (about the active user count)',
  '`POST /api/admin/leaderboard/rebuild-roi` returns `{rebuilt:N}`, and the board is as before.',
  { alone: true, waits: NO_HOLD },
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
