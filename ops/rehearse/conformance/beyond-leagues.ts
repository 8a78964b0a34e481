/** Beyond the specification: leagues, seasons, recaps, tables of matches and followed players. */
import assert from 'node:assert/strict'
import { beyondInto, type Check, near, refuses, says } from './check.ts'
import type { User } from './context.ts'
import {
  Follows,
  Instrument,
  League,
  LeagueTable,
  MatchTable,
  Matches,
  Notifications,
  PlayerProfile,
  PriceAlert,
  Recap,
  Season,
  TradingRecord,
  Wallet,
} from './shapes.ts'
import { read } from './visitor.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = beyondInto(checks)

const DAY_MS = 86_400_000

async function foundLeague(user: User, over: object = {}) {
  const wanted = { name: 'Conformance', endsAt: new Date(Date.now() + DAY_MS).toISOString(), matches: 'all', ...over }
  return read(await user.post('/api/leagues', wanted), League)
}

check('10.7.1', '`POST /api/leagues` founds a league with a code; `POST /api/leagues/join` joins it.', async (t) => {
  const [founder, friend, stranger] = [await t.user(), await t.user(), await t.observer()]
  const league = await foundLeague(founder, { startingBalance: 2_500 })
  const joined = read(await friend.post('/api/leagues/join', { code: league.code }), League)
  assert.equal(joined.id, league.id)
  for (const one of [founder, friend]) {
    near((await one.get(`/api/wallet?purse=${league.id}`, Wallet)).balance, 2_500, 'the wallet of the league')
    near((await one.get('/api/wallet', Wallet)).balance, 10_000, 'the main wallet')
  }
  refuses(await stranger.ask('GET', `/api/leagues/${league.id}`), 404)
  refuses(await stranger.ask('GET', `/api/wallet?purse=${league.id}`), 404)
  refuses(await friend.post('/api/leagues/join', { code: 'no such code' }), 404)
})

check('10.7.2', 'One purse per user and league, for ever: joining again grants nothing.', async (t) => {
  const [founder, friend, player] = [await t.user(), await t.user(), await t.player()]
  const league = await foundLeague(founder)
  const join = () => friend.post('/api/leagues/join', { code: league.code })
  await Promise.all([join(), join(), join()])
  const { live_base_price: clientPrice } = await friend.get(`/api/instruments/${player.id}`, Instrument)
  const { position } = await friend.opens(player, { purse: league.id, clientPrice })
  says(await friend.post(`/api/leagues/${league.id}/leave`, {}), 200)
  says(await join(), 200)
  near(
    (await friend.get(`/api/wallet?purse=${league.id}`, Wallet)).balance,
    10_000 - position.margin,
    'the wallet of the league',
  )
})

check(
  '10.7.3',
  'In a league one trades at `live_base_price` and moves nothing; no other purse notices.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const league = await foundLeague(user)
    // What others hold moves the price away from the base.
    await (await t.user()).opens(player, { lotSize: 20 })
    const before = await user.get(`/api/instruments/${player.id}`, Instrument)
    assert.notEqual(before.currentPrice, before.live_base_price)
    const order = { purse: league.id, lotSize: 10, clientPrice: before.live_base_price }
    const { position } = await user.opens(player, order)
    near(position.openPrice, before.live_base_price, 'the fill')
    const after = await user.get(`/api/instruments/${player.id}`, Instrument)
    near(after.net_position_imbalance, before.net_position_imbalance, 'the imbalance')
    near(after.currentPrice, before.currentPrice, 'the price')
    const closed = await user.closes(position.id)
    near(closed.position.closePrice ?? 0, before.live_base_price, 'the close')
    near((await user.get(`/api/wallet?purse=${league.id}`, Wallet)).balance, 10_000, 'the wallet of the league')
    near((await user.get('/api/wallet', Wallet)).balance, 10_000, 'the main wallet')
    says(await user.ask('GET', '/api/leaderboard/me/context'), 200, { ranked: false })
  },
)

check('10.7.4', 'A league ranks by what leaving everything now would leave; equals share a rank.', async (t) => {
  const [founder, friend, player] = [await t.user(), await t.user(), await t.player()]
  const league = await foundLeague(founder)
  says(await friend.post('/api/leagues/join', { code: league.code }), 200)
  const { live_base_price: clientPrice } = await friend.get(`/api/instruments/${player.id}`, Instrument)
  await friend.opens(player, { purse: league.id, clientPrice })
  const { entries, me } = await friend.get(`/api/leagues/${league.id}`, LeagueTable)
  assert.deepEqual(
    entries.map(({ rank }) => rank),
    [1, 1],
    'a position just opened has neither won nor lost',
  )
  assert.equal(me.userId, friend.id)
  assert.equal(me.openPositions, 1)
})

check('10.7.5', 'A league takes orders from its members, in its matches, until it ends.', async (t) => {
  const [founder, stranger, player] = [await t.user(), await t.user(), await t.player()]
  const elsewhere = await foundLeague(founder, { matches: 'practice' })
  const later = await foundLeague(founder, { startsAt: new Date(Date.now() + DAY_MS / 2).toISOString() })
  const chosen = await foundLeague(founder, { matches: [player.fixtureId] })
  assert.deepEqual(chosen.matchIds, [player.fixtureId])
  const { live_base_price: clientPrice } = await founder.get(`/api/instruments/${player.id}`, Instrument)
  await founder.opens(player, { purse: chosen.id, clientPrice })
  refuses(await founder.order(player, { purse: elsewhere.id, clientPrice }), 409, { code: 'PURSE_MISMATCH' })
  refuses(await founder.order(player, { purse: later.id, clientPrice }), 409, { code: 'LEAGUE_NOT_RUNNING' })
  refuses(await stranger.order(player, { purse: later.id, clientPrice }), 404)
})

check('10.7.6', 'Everybody may enter the season of the month, once; it is a league of the house.', async (t) => {
  const user = await t.user()
  const { id, mine } = await user.get('/api/seasons/current', Season)
  assert.equal(id, new Date().toISOString().slice(0, 7))
  assert.equal(mine, null)
  const entered = read(await user.post('/api/seasons/enter', {}), League)
  assert.equal(read(await user.post('/api/seasons/enter', {}), League).id, entered.id)
  assert.equal(entered.kind, 'season')
  near((await user.get(`/api/wallet?purse=${entered.id}`, Wallet)).balance, 10_000, 'the wallet of the season')
  refuses(await user.post(`/api/leagues/${entered.id}/leave`, {}), 409)
})

check('10.7.7', 'A recap of a match is what its closes have booked.', { waits: NO_HOLD }, async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const before = (await user.get('/api/wallet', Wallet)).balance
  const { position } = await user.opens(player, { lotSize: 5 })
  await user.closes(position.id)
  const made = (await user.get('/api/wallet', Wallet)).balance - before
  const recap = await user.get(`/api/recaps/matches/${player.fixtureId}`, Recap)
  near(recap.result, made, 'the result')
  near(recap.start, before, 'the start')
  assert.equal(recap.trades, 1)
  assert.equal(recap.best?.positionId, position.id)
  const card = await user.ask('GET', `/api/recaps/matches/${player.fixtureId}/card?type=svg`)
  assert.equal(card.status, 200)
  assert(card.text.startsWith('<svg'), 'the card is no SVG')
})

check('10.7.8', 'The record of trading is what closes have booked, also as CSV.', { waits: NO_HOLD }, async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const before = (await user.get('/api/wallet', Wallet)).balance
  for (const direction of ['long', 'short']) {
    const { position } = await user.opens(player, { direction, lotSize: 2 })
    await user.closes(position.id)
  }
  const made = (await user.get('/api/wallet', Wallet)).balance - before
  const record = await user.get('/api/recaps/record', TradingRecord)
  near(record.total.pnl, made, 'the whole')
  assert.equal(record.total.trades, 2)
  assert.deepEqual(record.byDirection.map(({ direction }) => direction).toSorted(), ['long', 'short'])
  const csv = await user.ask('GET', '/api/recaps/record?type=csv')
  assert.equal(csv.status, 200)
  const lines = csv.text.split('\r\n')
  assert.equal(lines.length, 4, csv.text)
  near(Number(lines[1]?.split(',').at(-1)) + Number(lines[2]?.split(',').at(-1)), made, 'the lines')
})

check('10.7.9', 'The table of a match ranks what was closed in it, seconds later.', { waits: NO_HOLD }, async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const path = `/api/matches/${player.fixtureId}/table`
  assert.equal((await user.get(path, MatchTable)).me, null)
  const { position } = await user.opens(player, { lotSize: 2 })
  await user.closes(position.id)
  const table = await t.eventually('a place in the table', async () => {
    const found = await user.get(`${path}?limit=100`, MatchTable)
    return found.me === null ? undefined : found
  })
  assert(table.around.some(({ isMe, userId }) => isMe && userId === user.id))
  assert(table.total >= 1)
  for (const group of ['friends', 'leagues']) {
    assert.equal((await user.get(`${path}?group=${group}`, MatchTable)).total, 1)
  }
  refuses(await user.ask('GET', `${path}?group=others`), 400)
  refuses(await user.ask('GET', '/api/matches/4000000000/table'), 404)
})

check('10.7.10', 'A followed player is listed; a price alert notifies once, when it is reached.', async (t) => {
  const [user, crowd, player] = [await t.user(), await t.user(), await t.player()]
  says(await user.put(`/api/me/follows/${player.id}`, {}), 200, { followed: true })
  const { currentPrice } = await user.get(`/api/instruments/${player.id}`, Instrument)
  const order = { instrumentId: player.id, level: currentPrice + 0.01 }
  const alert = read(await user.post('/api/me/alerts', order), PriceAlert)
  const { players, alerts } = await user.get('/api/me/follows', Follows)
  assert.deepEqual([players.map(({ instrumentId }) => instrumentId), alerts], [[player.id], [alert]])
  await crowd.opens(player, { lotSize: 20 })
  await t.eventually('the notification', async () => {
    const { notifications } = await user.get('/api/notifications', Notifications)
    return notifications.find(({ type, data }) => type === 'price_reached' && data['instrumentId'] === player.id)
  })
  assert.deepEqual((await user.get('/api/me/follows', Follows)).alerts, [])
  says(await user.ask('DELETE', `/api/me/follows/${player.id}`), 200, { followed: false })
  refuses(await user.ask('DELETE', `/api/me/alerts/${alert.id}`), 404)
  refuses(await user.post('/api/me/alerts', { ...order, instrumentId: crowd.id }), 404)
})

check('10.7.11', 'Matches are listed by stage and kick-off; one that has begun cannot be reminded of.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const idsOf = async (query: string) => (await user.get(`/api/matches?${query}`, Matches)).matches.map(({ id }) => id)
  assert((await idsOf('state=live')).includes(player.fixtureId))
  assert(!(await idsOf('state=upcoming')).includes(player.fixtureId))
  assert.deepEqual(await idsOf('to=2001-01-01T00:00:00Z'), [])
  refuses(await user.ask('GET', '/api/matches?state=soon'), 400)
  refuses(await user.put(`/api/me/reminders/${player.fixtureId}`, {}), 409, { code: 'MATCH_BEGUN' })
  refuses(await user.put('/api/me/reminders/4000000000', {}), 404)
})

check(
  '10.7.12',
  "A player's page says what the start price was made of, and who of one's leagues holds them.",
  async (t) => {
    const [user, friend, player] = [await t.user(), await t.user(), await t.player()]
    const path = `/api/instruments/${player.id}/profile`
    const { start, currentPrice, matches, holders } = await user.get(path, PlayerProfile)
    near(start.last === null ? start.anchor : 0.6 * start.last + 0.4 * start.anchor, start.price, 'the start price')
    near(currentPrice, (await user.get(`/api/instruments/${player.id}`, Instrument)).currentPrice, 'the price')
    assert.deepEqual([matches, holders], [[], []], 'of a player in their first match')
    const { code } = await foundLeague(user)
    says(await friend.post('/api/leagues/join', { code }), 200)
    await friend.opens(player)
    const held = await user.get(path, PlayerProfile)
    assert.deepEqual(
      held.holders.map(({ username }) => username),
      [friend.profile.username],
    )
    refuses(await user.ask('GET', '/api/instruments/01900000-0000-7000-8000-000000000000/profile'), 404)
  },
)
