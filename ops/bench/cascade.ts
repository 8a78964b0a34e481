/**
 * `npm run ops -- bench-cascade [--levels 1000,10000,100000]`: one order of 0.01 lots sets off this many
 * stop-losses, all on one level or each reached by the removal of the one before. Measures processor time per level and
 * the longest turn of the event loop, encoding of the commits included. The store keeps nothing: what a commit costs
 * PostgreSQL is measured by `bench:trade`.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, positionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { ADOPTION_MAX, BATCH_MAX, DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { lots, type Price, price } from '../../actors/kernel/micros.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { type Instrument, quoteOf } from '../../actors/market/instrument.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import { newMatch } from '../../actors/match/state.ts'
import type { MatchRecord, MatchStore } from '../../actors/match/store.ts'
import { marginFor, type Position } from '../../actors/position/position.ts'
import { commitArguments } from '../../db/commit-arguments.ts'
import { LITERALS } from '../../db/postgres/arrays.ts'
import { walletChanges } from '../../db/wallet-changes.ts'
import { systemWorld } from '../../src/system-world.ts'
import { snapshotAt } from './matches.ts'
import { figure, table } from './report.ts'

/** Positions of one user. */
const SHARE = 100
const SIZE = DEFAULT_RULES.lotMin
/** Far from the cap: the price has to fall with every removal. */
const RULES = { ...DEFAULT_RULES, holdMs: 0, feedStaleMs: HOUR_MS, impactCapPpm: 90_000, levelDistancePpm: 0 }
const MATCH = fixtureId(9_001)
const world = systemWorld()

const numbered = (prefix: string, n: number): string => `${prefix}-0000-7000-8000-${n.toString().padStart(12, '0')}`
const holder = (n: number): UserId => userId(numbered('bbbbbbbb', Math.floor(n / SHARE)))

/** The longest turn of the event loop in processor time: unlike the delay, no other process can lengthen it. */
class Turns {
  longestMs = 0
  #from = process.threadCpuUsage()

  /** Ends a turn, and begins the next one when everything else has had its turn. */
  async end(): Promise<void> {
    const { user, system } = process.threadCpuUsage(this.#from)
    this.longestMs = Math.max(this.longestMs, (user + system) / 1_000)
    await new Promise(setImmediate)
    this.#from = process.threadCpuUsage()
  }
}

/** A store that encodes every commit and keeps none. */
function countingStore(turns: Turns) {
  const found = { commits: 0, closed: 0, largest: 0 }
  const store: MatchStore = {
    load: async () => null,
    histories: async () => new Map(),
    recall: async () => null,
    commit: async (batch) => {
      const closed = batch.events.filter(({ kind }) => kind === 'position_closed').length
      const cached = { balances: [], timeline: null, adoptMax: ADOPTION_MAX }
      commitArguments(LITERALS, batch, walletChanges(batch), { cached, journal: null, tape: null })
      found.commits += 1
      found.closed += closed
      found.largest = Math.max(found.largest, closed)
      await turns.end()
      const nothing = { balance: 0, locked: 0, marginUsed: 0, unrealizedPnl: 0 } as never
      return { kind: 'committed', wallets: new Map(batch.watch.map((one) => [one.userId, nothing])) }
    },
  }
  return { store, found }
}

function actorWith(record: MatchRecord, store: MatchStore, turns: Turns): MatchActor {
  return new MatchActor({
    record,
    epoch: 1,
    store,
    world,
    rules: () => RULES,
    model: () => DEFAULT_MODEL,
    pause: () => turns.end(),
    onCommitted: () => undefined,
    onStopped: (_reason, error) => {
      throw error
    },
  })
}

/** A match in play whose first player is held by this many longs. */
async function crowded(count: number, isLadder: boolean): Promise<MatchRecord> {
  const turns = new Turns()
  const empty = actorWith(newMatch(snapshotAt(MATCH, 0), { replay: false }), countingStore(turns).store, turns)
  await empty.feed({ kind: 'feed_update', seq: 1, snapshot: snapshotAt(MATCH, 10) })
  const [first, ...others] = [...empty.view.instruments()]
  const held: Instrument = { ...present(first, 'instrument'), imbalance: lots(count * SIZE) }
  const { price: top } = quoteOf(held)
  const step = Math.floor((held.slope * SIZE) / 1_000_000)
  const levelOf = (n: number): Price => price(top - step - (isLadder ? n * step : 0))
  const openPositions = Array.from({ length: count }, (_, n): Position => ({
    id: positionId(numbered('cccccccc', n)),
    userId: holder(n),
    purse: 'main',
    instrumentId: held.id,
    fixtureId: MATCH,
    direction: 'long',
    lots: SIZE,
    openPrice: held.base,
    openBase: held.base,
    margin: marginFor(held.base, SIZE),
    stopLoss: levelOf(n),
    takeProfit: null,
    openedAt: instant(1),
    closableAt: instant(1),
    warned: 0,
    close: null,
  }))
  const { info, pricing } = empty.view
  return { info, pricing, instruments: [{ ...held, published: top }, ...others], openPositions, recentCloses: [] }
}

async function fire(count: number, isLadder: boolean): Promise<string[]> {
  const record = await crowded(count, isLadder)
  const turns = new Turns()
  const { store, found } = countingStore(turns)
  const actor = actorWith(record, store, turns)
  const [held] = record.instruments
  const { id, published } = present(held, 'instrument')
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await turns.end()
  turns.longestMs = 0
  const [cpu, from] = [process.cpuUsage(), performance.now()]
  const order = { userId: userId(numbered('aaaaaaaa', 1)), instrumentId: id, clientPrice: published }
  const levels = { stopLoss: null, takeProfit: null, idempotency: null }
  await actor.submit({ kind: 'open_position', direction: 'short', lots: SIZE, ...order, ...levels })
  await actor.stop()
  const [{ user, system }, ms] = [process.cpuUsage(cpu), performance.now() - from]
  delay.disable()
  if (found.closed !== count || found.largest > BATCH_MAX) {
    throw new Error(`${found.closed} of ${count} levels fired, at most ${found.largest} in a commit`)
  }
  return [
    `${count.toLocaleString('en')} ${isLadder ? 'on a ladder' : 'on one level'}`,
    figure((user + system) / count),
    String(found.commits),
    figure(ms),
    figure(turns.longestMs),
    figure(delay.percentile(99) / 1e6),
    figure(delay.max / 1e6),
  ]
}

const { values } = parseArgs({ options: { levels: { type: 'string', default: '1000,10000,100000' } } })
await fire(5_000, true) // until the code is compiled
const rows: string[][] = []
for (const isLadder of [false, true]) {
  for (const count of values.levels.split(',').map(Number)) rows.push(await fire(count, isLadder))
}
console.log('Stop-losses that one order of 0.01 lots sets off')
console.log(table(['', 'µs each', 'commits', 'ms in all', 'longest turn, CPU ms', 'loop delay p99 ms', 'max'], rows))
