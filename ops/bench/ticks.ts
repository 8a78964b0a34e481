/** The cost of one feed update while N positions are open: it must depend on what fires, not on what is open. */
import { performance } from 'node:perf_hooks'
import { present } from '../../actors/kernel/assert.ts'
import { lots, type Price, price } from '../../actors/kernel/micros.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { type Instrument, quoteOf } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL, EMPTY_PRICING, type PricedPlayer, priceMatch } from '../../actors/market/pricing.ts'
import { audit, type BenchDatabase, reset } from './bench-database.ts'
import { BenchMatch, snapshotAt } from './matches.ts'
import { figure, type Pace, type Section, spreadOf, table } from './report.ts'
import { stock, type Stocked } from './stock.ts'

/** Every second one of these updates fires. */
const UPDATES = 40
const FIRED = 10
const SHOT_ON_TARGET = 86
const LOTS = 10_000
const MARGIN = 1_000_000

export async function benchTicks(database: BenchDatabase, pace: Pace): Promise<Section> {
  const stocks = pace.quick ? [1, 1_000] : [1, 1_000, 100_000]
  const results: { readonly open: number; readonly quietMs: number; readonly firingMs: number }[] = []
  for (const open of stocks) results.push({ open, ...(await updatesWith(database, open)) })
  const rows = results.map((r) => [figure(r.open), figure(r.quietMs), figure(r.firingMs)])
  const title = `A feed update that moves all 44 prices, until it is durable: median ms of ${UPDATES / 2}`
  return { text: `${title}\n${table(['open positions', '0 fire', `${FIRED} fire`], rows)}`, data: { results } }
}

async function updatesWith(database: BenchDatabase, open: number) {
  await reset(database)
  const [made] = await BenchMatch.start(database.connection, 1)
  const { actor } = present(made, 'match')
  await made?.stop()
  const instruments = [...actor.view.instruments()]
  const updates = Array.from({ length: UPDATES }, (_, n) => updateAt(actor.matchId, n))
  const standing = Array.from({ length: open }, (_, n) => long(present(instruments[n % instruments.length], 'one')))
  await stock(database, actor.matchId, [...standing, ...targets(instruments, standing.length, updates)])

  const match = await BenchMatch.load(database.connection, actor.matchId)
  const tookMs: number[] = []
  for (const [n, snapshot] of updates.entries()) {
    const from = performance.now()
    await match.actor.feed({ kind: 'feed_update', seq: n + 2, snapshot })
    tookMs.push(performance.now() - from)
  }
  await match.stop()
  const closed = (UPDATES / 2) * FIRED
  await audit(database, { opened: open + closed, closed, keyed: 0 })
  const median = (wanted: 0 | 1): number => spreadOf(tookMs.filter((_, n) => n % 2 === wanted)).median
  return { quietMs: median(0), firingMs: median(1) }
}

/** Every player has a shot on target per update, so every price rises. */
const updateAt = (id: FixtureSnapshot['fixtureId'], n: number): FixtureSnapshot =>
  snapshotAt(id, 10 * (n + 2), { details: () => ({ [SHOT_ON_TARGET]: n + 1 }) })

const long = (instrument: Instrument, takeProfit: Price | null = null): Stocked => ({
  instrumentId: instrument.id,
  sign: 1,
  lots: LOTS,
  open: instrument.base,
  margin: MARGIN,
  takeProfit,
})

/** Take-profits on the first instrument for every second update: ten between its price and the next. */
function targets(instruments: readonly Instrument[], open: number, updates: readonly FixtureSnapshot[]): Stocked[] {
  const first = present(instruments[0], 'instrument')
  const waiting = (updates.length / 2) * FIRED
  const imbalance = LOTS * (Math.ceil(open / instruments.length) + waiting)
  const prices = basesOf(instruments, updates).map(
    (base) => quoteOf({ ...first, base, imbalance: lots(imbalance) }).price,
  )
  return prices.flatMap((at, n) => {
    if (n % 2 === 0) return []
    const between = price(Math.floor((present(prices[n - 1], 'price before') + at) / 2))
    return Array.from({ length: FIRED }, () => long(first, between))
  })
}

/** The bases of the first instrument after each update, as the match will compute them. */
function basesOf(instruments: readonly Instrument[], updates: readonly FixtureSnapshot[]): Price[] {
  let memory = EMPTY_PRICING
  let players: readonly PricedPlayer[] = instruments
  return updates.map((update) => {
    const priced = priceMatch(update, players, memory, DEFAULT_MODEL)
    memory = priced.memory
    players = players.map((p) => ({ ...p, base: priced.bases.get(p.playerId) ?? p.base }))
    return present(players[0], 'player').base
  })
}
