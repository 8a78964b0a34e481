/** The simulated users: the next command of a user with a given habit, sensible or not. */
import { positionId, type InstrumentId, type UserId } from '../../actors/kernel/ids.ts'
import { type Lots, lots, type Price, price } from '../../actors/kernel/micros.ts'
import type { ChangeLevels, ClosePart, ClosePosition, OpenPosition } from '../../actors/match/messages.ts'
import type { Direction, Position } from '../../actors/position/position.ts'
import { SIM_LEAGUE } from './book.ts'
import type { Chance } from '../../actors/replay/chance.ts'

export const HABITS = ['eager', 'hedger', 'panicker', 'double_clicker', 'level_mover', 'whale', 'idle'] as const
export type Habit = (typeof HABITS)[number]

export interface SimulatedUser {
  readonly userId: UserId
  readonly habit: Habit
}

/** What a user sees when it is their turn. */
export interface Sight {
  readonly instruments: readonly { readonly id: InstrumentId; readonly published: number; readonly base: number }[]
  readonly own: readonly Position[]
  /** Positions of others, or closed ones. */
  readonly others: readonly Position[]
  readonly balance: number
  /** How likely the user goes long. */
  readonly bullish: number
}

/** A command without its key, which the client adds. */
export type Wish =
  | ChangeLevels
  | Omit<OpenPosition, 'idempotency'>
  | Omit<ClosePosition, 'idempotency'>
  | Omit<ClosePart, 'idempotency'>

const CHANCE_TO_ACT: Readonly<Record<Habit, number>> = {
  eager: 1,
  hedger: 0.6,
  panicker: 0.8,
  double_clicker: 0.7,
  level_mover: 0.9,
  whale: 0.7,
  idle: 0.05,
}

/** The user's next command; null when they wait. */
export function wish(user: SimulatedUser, sight: Sight, chance: Chance): Wish | null {
  if (!chance.happens(CHANCE_TO_ACT[user.habit])) return null
  if (chance.happens(0.05)) return nonsense(user, sight, chance)
  const own = sight.own[chance.below(Math.max(1, sight.own.length))]
  const eagerToClose = user.habit === 'panicker' ? 0.6 : 0.4
  const movesLevels = user.habit === 'level_mover' ? 0.5 : 0.05
  if (own !== undefined && chance.happens(movesLevels)) return changing(user, own, chance)
  if (own !== undefined && chance.happens(eagerToClose)) {
    const which = { userId: user.userId, positionId: own.id }
    // Mostly whole lot steps, and sometimes more than there is.
    const part = lots((1 + chance.below(Math.ceil(own.lots / 10_000) + 1)) * 10_000 + (chance.happens(0.05) ? 1 : 0))
    return chance.happens(0.4) ? { kind: 'close_part', ...which, lots: part } : { kind: 'close_position', ...which }
  }
  return opening(user, sight, chance)
}

function opening(user: SimulatedUser, sight: Sight, chance: Chance): Wish | null {
  const seen = sight.instruments[chance.below(Math.max(1, sight.instruments.length))]
  if (seen === undefined) return null
  const last = sight.own.at(-1)
  // A hedger takes the other side of their last position; the others guess.
  const hedges = user.habit === 'hedger' && last !== undefined && chance.happens(0.7)
  const direction: Direction = hedges ? other(last.direction) : chance.happens(sight.bullish) ? 'long' : 'short'
  const player = hedges ? (sight.instruments.find((i) => i.id === last.instrumentId) ?? seen) : seen
  const isLeague = chance.happens(0.2)
  const { id } = player
  const published = isLeague ? Math.max(10_000, player.base) : player.published
  const off = chance.happens(0.85) ? 0 : chance.below(70_000) - 35_000
  const clientPrice = price(Math.max(1, published + Math.round((published * off) / 1_000_000)))
  const size = hedges && last.instrumentId === id ? last.lots : sizeFor(user, published, sight, chance)
  const levels = chance.happens(user.habit === 'eager' ? 0.2 : 0.7)
  return {
    kind: 'open_position',
    userId: user.userId,
    ...(isLeague ? { league: SIM_LEAGUE } : {}),
    instrumentId: id,
    direction,
    lots: size,
    clientPrice,
    stopLoss: levels ? level(published, other(direction), chance) : null,
    takeProfit: levels ? level(published, direction, chance) : null,
  }
}

const other = (direction: Direction): Direction => (direction === 'long' ? 'short' : 'long')

/** A price a little up for a long, down for a short; sometimes on the wrong side, or none. */
function level(at: number, direction: Direction, chance: Chance): Price | null {
  if (chance.happens(0.2)) return null
  const ppm = chance.below(chance.happens(0.35) ? 120 : chance.happens(0.4) ? 1_000 : 80_000)
  const up = (direction === 'long') !== chance.happens(0.04)
  const offset = Math.round((at * ppm) / 1_000_000)
  return price(Math.max(1, up ? at + offset : at - offset))
}

function sizeFor(user: SimulatedUser, at: number, { balance, bullish }: Sight, chance: Chance): Lots {
  const affordable = Math.floor((balance * 2) / Math.max(1, at)) // in lots, since margin is half the price
  const whole = user.habit === 'whale' || bullish > 0.5 ? Math.min(97, affordable) + chance.below(3) : chance.below(3)
  const odd = chance.happens(0.02) ? 1 + chance.below(9_999) : 0
  return lots(whole * 1_000_000 + (1 + chance.below(100)) * 10_000 + odd)
}

function changing({ userId }: SimulatedUser, p: Position, chance: Chance): Wish {
  const change = (direction: Direction): Price | null | undefined =>
    chance.happens(0.4) ? undefined : level(p.openPrice, direction, chance)
  return {
    kind: 'change_levels',
    userId,
    positionId: p.id,
    stopLoss: change(other(p.direction)),
    takeProfit: change(p.direction),
  }
}

/** A command for a position that is another user's, closed, or unknown. */
function nonsense({ userId }: SimulatedUser, sight: Sight, chance: Chance): Wish {
  const found = sight.others[chance.below(Math.max(1, sight.others.length))]
  const id = found?.id ?? positionId('00000000-0000-7000-8000-ffffffffffff')
  return chance.happens(0.5)
    ? { kind: 'close_position', userId, positionId: id }
    : { kind: 'change_levels', userId, positionId: id, stopLoss: null, takeProfit: undefined }
}
