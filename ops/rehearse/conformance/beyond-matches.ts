/** Beyond the specification: states of a match that it does not name, and what a feed may do. */
import assert from 'node:assert/strict'
import { beyondInto, type Check, near, refuses } from './check.ts'
import { FLAG } from './price-frame.ts'
import { closedOne } from './scenes.ts'
import { Instrument, Positions, TradeWindow, Wallet } from './shapes.ts'
import { NO_HOLD, NO_WAIT } from './waits.ts'

export const checks: Check[] = []
const check = beyondInto(checks)

/** Long enough to be sure that a state was processed without effect. */
const LOOK_SECS = 2
/** A match in play whose clock stands still is suspended after this. */
const STALE_SECS = 180

for (const [n, state] of (['INPLAY_2ND_HALF', 'INPLAY_ET', 'HT'] as const).entries()) {
  check(`10.3.${n + 1}`, `In \`${state}\` trading is open.`, async (t) => {
    const match = await t.match(state)
    const { tradeWindow } = await t.sees(match, (shown) => shown.state === state)
    assert.partialDeepStrictEqual(tradeWindow, { fixtureId: match.id, status: 'OPEN', open: true, state })
    await (await t.user()).opens(match.instrument(match.player('MID')))
  })
}

for (const [n, state] of (['FT', 'AET'] as const).entries()) {
  check(
    `10.3.${n + 4}`,
    `In \`${state}\` opens are refused and closes are not; play that goes on is traded again.`,
    { waits: NO_HOLD },
    async (t) => {
      const match = await t.match('INPLAY_2ND_HALF')
      const user = await t.user()
      const player = match.instrument(match.player('MID'))
      const [first] = [await user.opens(player), await user.opens(player)]
      match.fixture.enters(state)
      await t.sees(match, (shown) => shown.state === state)
      refuses(await user.order(player), 409, { error: 'market closed' })
      await user.closes(first.position.id)
      await t.wait(LOOK_SECS)
      const { positions } = await user.get('/api/positions', Positions)
      assert.equal(positions.length, 1, 'it was settled without confirmation')
      match.fixture.enters('INPLAY_ET')
      await t.sees(match, ({ tradeWindow }) => tradeWindow.open)
      await user.opens(player)
    },
  )
}

check('10.3.6', '`FT` that has held for `settlement.confirm_secs` settles.', { waits: NO_WAIT }, async (t) => {
  const match = await t.match('INPLAY_2ND_HALF')
  const user = await t.user()
  await user.opens(match.instrument(match.player('MID')))
  match.fixture.enters('FT')
  assert.equal((await closedOne(t, user, 'the settlement')).closedBy, 'full_time')
})

for (const [n, state] of (['POSTPONED', 'CANCELLED', 'ABANDONED'] as const).entries()) {
  check(`10.3.${n + 7}`, `\`${state}\` closes trading and voids: PnL 0, every margin back.`, async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const user = await t.user()
    const player = match.instrument(match.player('MID'))
    await user.opens(player)
    match.fixture.enters(state)
    const closed = await closedOne(t, user, 'the void')
    assert.deepEqual([closed.closedBy, closed.realizedPnl, closed.closePrice], ['void', 0, closed.openPrice])
    assert.equal((await user.get('/api/wallet', Wallet)).balance, 10_000)
    const seen = await user.get(`/api/instruments/${player.id}`, Instrument)
    near(seen.currentPrice, seen.live_base_price + seen.k_mod * seen.net_position_imbalance, 'the price')
  })
}

check('10.3.10', 'Before kick-off trading is closed.', async (t) => {
  const fixture = t.trust.football.fixture() // its state is NS
  const user = await t.observer()
  const window = () => user.ask('GET', `/api/matches/${fixture.id}/trade-window`)
  await t.eventually('the fixture', async () => ((await window()).status === 200 ? true : undefined))
  const { status, open } = await user.get(`/api/matches/${fixture.id}/trade-window`, TradeWindow)
  assert.deepEqual([status, open], ['CLOSED', false])
})

check(
  '10.3.11',
  'A match in play whose clock stands still is suspended, its prices flagged STALE, until the feed goes on.',
  { takes: STALE_SECS + 40 },
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const feed = await t.feed(await t.user())
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [match.instrument(match.player('MID')).id] })
    match.fixture.stopClock(true)
    const patienceMs = (STALE_SECS + 20) * 1_000
    const frame = await feed.frame('a stale price', ({ flags }) => (flags & FLAG.stale) !== 0, patienceMs)
    assert.equal(frame.flags & FLAG.suspended, FLAG.suspended)
    await t.sees(match, (shown) => shown.tradeWindow.status === 'SUSPENDED')
    match.fixture.stopClock(false)
    await t.sees(match, (shown) => shown.tradeWindow.open)
  },
)

check(
  '10.3.12',
  'A match in an unknown state is suspended: no opens, no closes by users, no settlement.',
  { waits: NO_HOLD },
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const user = await t.user()
    const player = match.instrument(match.player('MID'))
    const { position } = await user.opens(player)
    match.fixture.enters('INTERRUPTED')
    const { tradeWindow } = await t.sees(match, (shown) => shown.state === 'INTERRUPTED')
    assert.deepEqual([tradeWindow.status, tradeWindow.open], ['SUSPENDED', false])
    const suspended = { error: 'market suspended', tradeWindow: { status: 'SUSPENDED' } }
    refuses(await user.order(player), 409, suspended)
    refuses(await user.close(position.id), 409, suspended)
  },
)

check('10.3.13', 'A goal that a review takes back takes its price effect back.', async (t) => {
  const match = await t.match('INPLAY_2ND_HALF')
  const scorer = match.player('FWD')
  const user = await t.observer()
  const price = async () =>
    (await user.get(`/api/instruments/${match.instrument(scorer).id}`, Instrument)).live_base_price
  const before = await price()
  const goal = match.fixture.goal(scorer)
  const raised = await t.eventually('the rise', async () => ((await price()) > before * 1.02 ? price() : undefined))
  match.fixture.takeBack(goal)
  await t.eventually('the fall', async () => ((await price()) < before + (raised - before) * 0.2 ? true : undefined))
})

check('10.3.14', '`GET /api/matches/:id/trade-window` says whether a match takes trades, and why not.', async (t) => {
  const [user, player] = [await t.observer(), await t.player()]
  const window = await user.get(`/api/matches/${player.fixtureId}/trade-window`, TradeWindow)
  assert.partialDeepStrictEqual(window, { fixtureId: player.fixtureId, status: 'OPEN', open: true, reason: null })
  const apart = Math.abs(Date.parse(window.serverTime) - Date.now())
  assert(apart < 60_000, `the server's clock is ${apart} ms off`)
  for (const path of ['events', 'trade-window']) refuses(await user.ask('GET', `/api/matches/4294967295/${path}`), 404)
  refuses(await user.ask('GET', '/api/matches/x/events'), 400)
})
