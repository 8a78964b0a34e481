/**
 * Fills that news has moved (actors/match/protection). The prices of a position are those after all moves, and its
 * realised PnL follows from them as that of any other.
 */
import { type Price, price } from '../kernel/micros.ts'
import { PRICE_MIN } from '../kernel/limits.ts'
import { as, fieldsOf, integer, listOf, oneOf, type Reader } from '../kernel/read.ts'
import { type Instant, instant } from '../kernel/world.ts'
import { type Close, type ClosedBy, type FillMove, type Position, realisedPnl, withinMargin } from './position.ts'

/** The fills of a position to move, and how far. */
export interface Move {
  readonly at: Instant
  readonly by: number
  readonly reason: FillMove['reason']
  readonly open: boolean
  readonly close: boolean
}

/** The position with its fills moved. A close never costs more than the margin. */ // N2
export function moved<P extends Position>(position: P, { at, by, reason, open, close }: Move): P {
  const moves = [...(position.moved ?? [])]
  let now: P = position
  if (open) {
    moves.push({ fill: 'open', at, by, reason, from: position.openPrice })
    now = { ...now, openPrice: shifted(position.openPrice, by), openBase: shifted(position.openBase, by) }
  }
  const closing = position.close
  if (closing === null) return { ...now, moved: moves }
  const last = moves.findLast(({ fill }) => fill === 'close')
  const from = last === undefined ? closing.price : shifted(last.from, last.by)
  if (close) moves.push({ fill: 'close', at, by, reason, from })
  // The moves tell the price that the margin was paid for.
  now = { ...now, moved: moves }
  const fill = withinMargin(now, close ? shifted(from, by) : from)
  const base = close ? shifted(closing.base, by) : closing.base
  const booked: Close = { ...closing, price: fill, base, pnl: realisedPnl(now, fill) }
  return { ...now, close: booked }
}

const shifted = (from: Price, by: number): Price => price(Math.max(PRICE_MIN, from + by))

/** The position as its first moves left it. */
export function afterMoves(position: Position, count: number): Position {
  const { moved: moves = [], ...bare } = position
  if (count >= moves.length) return position
  const [kept, later] = [moves.slice(0, count), moves.slice(count)]
  const before = (fill: FillMove['fill']) => later.find((one) => one.fill === fill)?.from
  const openPrice = before('open') ?? position.openPrice
  const then: Position = { ...bare, openPrice, ...(kept.length === 0 ? {} : { moved: kept }) }
  if (then.close === null) return then
  const fill = before('close') ?? then.close.price
  return { ...then, close: { ...then.close, price: fill, pnl: realisedPnl(then, fill) } }
}

/** How many moves came before the close. One of the close may move the opening as well, just before it in the list. */
export function movesBefore({ at }: Close, moves: readonly FillMove[] = []): number {
  const isLater = (move: FillMove, n: number): boolean =>
    move.at > at || [move, moves[n + 1]].some((one) => one?.fill === 'close' && one.at === move.at)
  const first = moves.findIndex(isLater)
  return first < 0 ? moves.length : first
}

const readMove: Reader<FillMove> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    fill: field('fill', oneOf(['open', 'close'])),
    at: field('at', as(integer, instant)),
    by: field('by', integer),
    reason: field('reason', oneOf(['event', 'statistics'])),
    from: field('from', as(integer, price)),
  }
}

export const readMoves = listOf(readMove)

const CHOSEN: ReadonlySet<ClosedBy> = new Set(['user', 'stop_loss', 'take_profit'])

/** Whether closes of this kind are moved: those that their owner, or a level of theirs, has chosen. */
export const isChosen = (by: ClosedBy): boolean => CHOSEN.has(by)
