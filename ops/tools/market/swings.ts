/** How lively prices are: what a user of the game feels of the scale of the price model. */
import type { InstrumentId } from '../../../actors/kernel/ids.ts'
import { LEVERAGE } from '../../../actors/kernel/limits.ts'
import type { Price } from '../../../actors/kernel/micros.ts'
import type { Played } from './play.ts'

/** Of one starter over one match. */
export interface Swing {
  /** Highest less lowest price, in per cent of the start. */
  readonly swingPct: number
  /** Whether a position held from kick-off was washed out: a move of a tenth against it. */
  readonly washedOut: { readonly long: boolean; readonly short: boolean }
  /** Minutes of real time until a position from kick-off was 5 % of its margin up or down; null when it never was. */
  readonly firstMoveMinutes: number | null
}

const MARGIN_PART = 0.05
const UPDATES_PER_MINUTE = 6

/** The starters of a match, each from kick-off on. */
export function swingsOf({ bases, instruments }: Pick<Played, 'bases' | 'instruments'>): readonly Swing[] {
  return instruments.filter((i) => i.starter).map(({ id, start }) => swingOf(pathOf(bases, id, start)))
}

function pathOf(bases: Played['bases'], id: InstrumentId, start: Price): readonly number[] {
  const path = bases.map((now) => (now.get(id) ?? start) / start - 1)
  const first = path.findIndex((move) => move !== 0)
  return first === -1 ? [0] : path.slice(Math.max(0, first - 1))
}

function swingOf(path: readonly number[]): Swing {
  const [low, high] = [Math.min(...path), Math.max(...path)]
  const first = path.findIndex((move) => Math.abs(move) >= MARGIN_PART / LEVERAGE)
  return {
    swingPct: 100 * (high - low),
    washedOut: { long: low <= -1 / LEVERAGE, short: high >= 1 / LEVERAGE },
    firstMoveMinutes: first === -1 ? null : first / UPDATES_PER_MINUTE,
  }
}

export function describeSwings(swings: readonly Swing[]): string {
  const share = (is: (swing: Swing) => boolean): string =>
    `${((100 * swings.filter(is).length) / Math.max(1, swings.length)).toFixed(1)} %`
  const median = (values: readonly number[]): string =>
    values.toSorted((a, b) => a - b)[values.length >>> 1]?.toFixed(1) ?? '–'
  return [
    `${swings.length} starters: median swing ${median(swings.map((s) => s.swingPct))} % of the start price,`,
    `washed out from kick-off ${share((s) => s.washedOut.long)} long and ${share((s) => s.washedOut.short)} short,`,
    `the first ±5 % of margin after ${median(swings.flatMap((s) => s.firstMoveMinutes ?? []))} minutes`,
    `(never: ${share((s) => s.firstMoveMinutes === null)}).`,
  ].join(' ')
}
