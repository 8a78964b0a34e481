/** Section 4.2: instruments and matches, all with the access cookie. */
import assert from 'node:assert/strict'
import { type Check, into, near, refuses } from './check.ts'
import { Instrument, Instruments, MatchEvents, Matches, Movers, PriceHistory, RecentTrades, Squad } from './shapes.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = into(checks)

const NOBODY = '00000000-0000-4000-8000-000000000000'
const PATHS = [
  '/api/instruments',
  '/api/instruments/movers',
  `/api/instruments/${NOBODY}`,
  `/api/instruments/${NOBODY}/price-history`,
  `/api/instruments/${NOBODY}/recent-trades`,
  '/api/matches',
  '/api/matches/1/events',
  '/api/matches/1/squad?team=home',
  '/api/matches/1/trade-window',
]

check(
  '4.2.1',
  '4.2 Instruments and matches (all JWT) … Auth column: None, JWT (access cookie), Optional.',
  'Every route of 4.2 is 401 without a valid access cookie.',
  async (t) => {
    for (const path of PATHS) {
      refuses(await t.visitor().ask('GET', path), 401)
      const visitor = t.visitor()
      visitor.cookies.set('game_access', 'x.y.z')
      refuses(await visitor.ask('GET', path), 401)
    }
  },
)

check(
  '4.2.2',
  'GET | `/api/instruments` | all active instruments',
  '`GET /api/instruments` lists the players on the pitch of a match in play, and all that it lists can be opened.',
  async (t) => {
    const player = await t.player()
    const { instruments } = await (await t.observer()).get('/api/instruments', Instruments)
    const shown = instruments.filter(({ fixtureId }) => fixtureId === player.fixtureId)
    assert.equal(shown.length, 22)
    assert(shown.every(({ tradingStatus }) => tradingStatus === 'OPEN'))
  },
)

check(
  '4.2.3',
  'GET | `/api/instruments/movers` | top 5 gainers, losers, most-traded … Movers | top 5, 24 h window, 60 s cache',
  '`GET /api/instruments/movers` is three lists of at most 5, in order.',
  async (t) => {
    const { gainers, losers, mostTraded } = await (await t.observer()).get('/api/instruments/movers', Movers)
    for (const list of [
      gainers.map(({ changePct }) => changePct),
      losers.map(({ changePct }) => -changePct),
      mostTraded.map(({ volume }) => volume),
    ]) {
      assert.deepEqual(
        list,
        list.toSorted((a, b) => b - a),
      )
    }
  },
)

check(
  '4.2.4',
  'GET | `/api/instruments/:id` | one instrument by UUID',
  '`GET /api/instruments/:id` is one instrument by UUID; an unknown one is 404, no UUID 400.',
  async (t) => {
    const [user, player] = [await t.observer(), await t.player()]
    assert.equal((await user.get(`/api/instruments/${player.id}`, Instrument)).id, player.id)
    refuses(await user.ask('GET', `/api/instruments/${NOBODY}`), 404)
    refuses(await user.ask('GET', '/api/instruments/17'), 400)
  },
)

check(
  '4.2.5',
  'GET | `/api/instruments/:id/price-history` | query `period` (`5m`,`1h`,`6h`,`1d`,`all`); max 500 ticks; `stats` object',
  '`GET /api/instruments/:id/price-history` takes every period; an unknown instrument is 404.',
  async (t) => {
    const [user, player] = [await t.observer(), await t.player()]
    const { instrumentId } = await user.get(`/api/instruments/${player.id}/price-history?period=5m`, PriceHistory)
    assert.equal(instrumentId, player.id)
    refuses(await user.ask('GET', `/api/instruments/${NOBODY}/price-history?period=all`), 404)
  },
)

check(
  '4.2.6',
  '`volume`, `changePct` | as named',
  '`changePct` of a price history goes from its first to its last tick.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    await user.opens(player, { lotSize: 20 })
    const { ticks, stats } = await t.eventually('two ticks', async () => {
      const history = await user.get(`/api/instruments/${player.id}/price-history?period=all`, PriceHistory)
      return history.ticks.length > 1 ? history : undefined
    })
    const [first, last] = [ticks.at(0)?.price ?? NaN, ticks.at(-1)?.price ?? NaN]
    near(stats.changePct ?? NaN, ((last - first) / first) * 100, 'changePct', 0.000_1)
  },
)

check(
  '4.2.7',
  'GET | `/api/instruments/:id/recent-trades` | recent trades without user ids',
  '`GET /api/instruments/:id/recent-trades` lists opens and closes, the newest first.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.opens(player, { direction: 'short' })
    await user.closes(position.id)
    const { trades } = await user.get(`/api/instruments/${player.id}/recent-trades`, RecentTrades)
    assert.deepEqual(
      trades.map(({ action, direction }) => `${action} ${direction}`),
      ['close short', 'open short'],
    )
    refuses(await user.ask('GET', `/api/instruments/${NOBODY}/recent-trades`), 404)
  },
)

check(
  '4.2.8',
  'GET | `/api/matches` | all fixtures',
  '`GET /api/matches` lists all fixtures, those to come, too.',
  async (t) => {
    const fixture = t.trust.football.fixture()
    const user = await t.observer()
    const found = await t.eventually('the fixture', async () => {
      const { matches } = await user.get('/api/matches', Matches)
      return matches.find(({ id }) => id === fixture.id)
    })
    assert.partialDeepStrictEqual(found, {
      name: fixture.name,
      state: 'NS',
      minute: null,
      tradeWindow: { status: 'CLOSED' },
    })
  },
)

check(
  '4.2.9',
  'GET | `/api/matches/:id/events` | in-game events plus `teamStats` … includes `teamStats` keyed `home` / `away`',
  '`GET /api/matches/:id/events` lists goals and cards, and carries `teamStats`.',
  async (t) => {
    const match = await t.match('INPLAY_1ST_HALF')
    const [scorer, sinner] = [match.player('FWD'), match.player('DEF')]
    match.fixture.goal(scorer)
    match.fixture.red(sinner)
    const user = await t.observer()
    const { events, teamStats } = await t.eventually('the events', async () => {
      const found = await user.get(`/api/matches/${match.id}/events`, MatchEvents)
      return found.events.length === 2 ? found : undefined
    })
    assert.partialDeepStrictEqual(
      events.find(({ type }) => type === 'goal'),
      { playerId: scorer.id, playerName: scorer.name, team: 'home', result: '1-0', retracted: false },
    )
    assert.partialDeepStrictEqual(
      events.find(({ type }) => type === 'red'),
      { playerId: sinner.id, team: 'home' },
    )
    assert('home' in teamStats && 'away' in teamStats)
    assert.equal((await t.sees(match, ({ home }) => home.score === 1)).away.score, 0)
  },
)

check(
  '4.2.10',
  'GET | `/api/matches/:id/squad` | query `team` = `home` or `away`',
  '`GET /api/matches/:id/squad` takes `team` = `home` or `away`; anything else is 400.',
  async (t) => {
    const [user, player] = [await t.observer(), await t.player()]
    const squad = await user.get(`/api/matches/${player.fixtureId}/squad?team=${player.team.side}`, Squad)
    assert(squad.players.some(({ instrumentId }) => instrumentId === player.id))
    refuses(await user.ask('GET', `/api/matches/${player.fixtureId}/squad?team=both`), 400)
    refuses(await user.ask('GET', '/api/matches/4294967295/squad?team=home'), 404)
  },
)
