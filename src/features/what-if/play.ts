/**
 * What a match would have been under other settings: a recording, played twice in this thread by the real match actor
 * with the same simulated traders. Each trader's chance depends on the trader and the update alone, so that both runs
 * differ by the settings and by what follows from them.
 */
import { present } from '../../../actors/kernel/assert.ts'
import { type InstrumentId, userId } from '../../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../../actors/kernel/limits.ts'
import { PPM, type Price } from '../../../actors/kernel/micros.ts'
import { instant } from '../../../actors/kernel/world.ts'
import { quoteOf } from '../../../actors/market/instrument.ts'
import type { PriceRules } from '../../../actors/match/rule-change.ts'
import { chanceFrom } from '../../../actors/replay/chance.ts'
import { FRAME_MS } from '../../../actors/replay/recording.ts'
import { HABITS, nextAction, type Trader } from '../../../actors/replay/traders.ts'
import { MatchRun } from '../../match-run/match-run.ts'
import { type RecordedMatch, RUN_STARTS_AT } from '../../match-run/recorded-match.ts'

/** What the traders and the house made of a match. Amounts are in micros. */
export interface Outcome {
  readonly opened: number
  readonly washouts: number
  /** Stop-losses and take-profits. */
  readonly levels: number
  readonly voided: number
  /** What the house has won from all traders. */
  readonly house: number
}

/** One player, whose price went another way. */
export interface MovedPrice {
  readonly name: string
  /** The base at the end of the match. */
  readonly was: Price
  readonly would: Price
  /** The largest distance of the two bases, in parts per million of the first. */
  readonly farthestPpm: number
}

export interface Comparison {
  readonly was: Outcome
  readonly would: Outcome
  /** The farthest apart first, at most `MOVED_MAX`. */
  readonly moved: readonly MovedPrice[]
  /** How many players' prices differ at all. */
  readonly movedCount: number
}

/** Traders of one run: as many as the largest demo. */
const TRADERS = 60
const MOVED_MAX = 20
/** Updates after the last one, so that full time is confirmed and settles. */
const AFTER_FULL_TIME = 12
/** More than a match has, so that seeds share no chance. */
const FRAMES_MAX = 10_000

interface Run extends Outcome {
  readonly bases: ReadonlyMap<InstrumentId, { readonly name: string; readonly path: readonly Price[] }>
}

interface Compared {
  readonly was: PriceRules
  readonly would: PriceRules
  /** Of the chance of the traders. */
  readonly seed: number
}

export async function compare(match: RecordedMatch, { was, would, seed }: Compared): Promise<Comparison> {
  const [before, after] = [await play(match, was, seed), await play(match, would, seed)]
  const moved = [...before.bases].flatMap(([id, { name, path }]): MovedPrice[] => {
    const other = after.bases.get(id)?.path ?? []
    const farthestPpm = path.reduce((most, base, n) => {
      const apart = Math.round((Math.abs((other[n] ?? base) - base) / base) * PPM)
      return Math.max(most, apart)
    }, 0)
    const [last, otherLast] = [present(path.at(-1), 'a base'), present(other.at(-1) ?? path.at(-1), 'a base')]
    return farthestPpm === 0 ? [] : [{ name, was: last, would: otherLast, farthestPpm }]
  })
  return {
    was: outcomeOf(before),
    would: outcomeOf(after),
    moved: moved.toSorted((a, b) => b.farthestPpm - a.farthestPpm).slice(0, MOVED_MAX),
    movedCount: moved.length,
  }
}

const outcomeOf = ({ opened, washouts, levels, voided, house }: Run): Outcome => ({
  opened,
  washouts,
  levels,
  voided,
  house,
})

async function play({ snapshots, histories }: RecordedMatch, { rules, model }: PriceRules, seed: number): Promise<Run> {
  const first = present(snapshots[0], 'readable update')
  const run = new MatchRun({
    first: { ...first, sourceAt: RUN_STARTS_AT },
    histories,
    rules: () => rules,
    model: () => model,
    balance: STARTING_BALANCE,
  })
  const traders = Array.from({ length: TRADERS }, (_, n): Trader => {
    return { userId: userId(`trader/${n}`), habit: present(HABITS[n % HABITS.length], 'habit') }
  })
  const bases = new Map<InstrumentId, { name: string; path: Price[] }>()
  const last = snapshots.length - 1
  for (let index = 0; index <= last + AFTER_FULL_TIME; index++) {
    run.passTo(instant(RUN_STARTS_AT + index * FRAME_MS))
    await run.update(present(snapshots[Math.min(index, last)], 'update'), index + 1)
    for (const { id, name, base } of run.view.instruments()) {
      const known = bases.get(id) ?? { name, path: [] }
      // A player who is listed late stood at the first price until then.
      while (known.path.length < index) known.path.push(base)
      known.path.push(base)
      bases.set(id, known)
    }
    if (index > last || run.view.info.settling !== null) continue
    await Promise.all(actionsOf(run, traders, index + seed * FRAMES_MAX).map((action) => run.submit(action)))
  }
  await run.conclude()
  await run.end()
  const by = (...rule: readonly string[]): number => run.trades.filter(({ closedBy }) => rule.includes(closedBy)).length
  return {
    opened: run.trades.length,
    washouts: by('washout'),
    levels: by('stop_loss', 'take_profit'),
    voided: by('void'),
    house: -run.trades.reduce((sum, { pnl }) => sum + pnl, 0),
    bases,
  }
}

/** What the traders do now. All of them see the same prices. */
function actionsOf(run: MatchRun, traders: readonly Trader[], turn: number) {
  const instruments = Array.from(run.view.instruments(), (one) => ({
    instrumentId: one.id,
    price: quoteOf(one).price,
    base: one.base,
    start: one.start,
    suspended: run.window(one.id).status !== 'OPEN',
  }))
  return traders.flatMap((trader, n) => {
    const chance = chanceFrom(turn * TRADERS + n)
    const [balance, positions] = [run.funds(trader.userId).free, run.view.positionsOf(trader.userId)]
    const view = { now: run.now, balance, instruments, positions: [...positions] }
    const action = nextAction(trader, view, (limit) => chance.below(limit))
    return action === null ? [] : [action]
  })
}
