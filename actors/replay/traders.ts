/** Habits of simulated traders: the next action of a trader with a habit, given what it sees of the market. */
import type { InstrumentId, UserId } from '../kernel/ids.ts'
import {
  type Lots,
  lots,
  MICROS_PER_UNIT,
  type Money,
  mulDivNearest,
  PPM,
  type Price,
  price,
} from '../kernel/micros.ts'
import type { Instant } from '../kernel/world.ts'
import type { ChangeLevels, ClosePosition, OpenPosition } from '../match/messages.ts'
import { type Direction, type Levels, marginFor, type Position, signOf } from '../position/position.ts'

export type Habit = 'eager' | 'trend_follower' | 'contrarian' | 'panicker' | 'careful' | 'idle'
export const HABITS: readonly Habit[] = ['eager', 'trend_follower', 'contrarian', 'panicker', 'careful', 'idle']

export interface Trader {
  readonly userId: UserId
  readonly habit: Habit
}

export interface SeenInstrument {
  readonly instrumentId: InstrumentId
  readonly price: Price
  readonly base: Price
  readonly start: Price
  readonly suspended: boolean
}

/** What a trader sees. */
export interface TraderView {
  readonly now: Instant
  /** The wallet's balance, from which margins are already deducted. */
  readonly balance: Money
  readonly instruments: readonly SeenInstrument[]
  /** The trader's own open positions. */
  readonly positions: readonly Position[]
}

/** A uniform integer in [0, below). */
export type RandomInt = (below: number) => number

export type TraderAction = OpenPosition | ClosePosition | ChangeLevels

interface Temperament {
  /** Chances in a thousand, at each turn. */
  readonly opens: number
  readonly closes: number
  readonly positionsMax: number
  /** The largest position, in hundredths of a lot, and the largest share of the balance it may cost, in per cent. */
  readonly hundredthsMax: number
  readonly spendPercent: number
  /** How far a player must have moved from the start price, in ppm; null if moves do not matter. */
  readonly moveMin: number | null
  /** Whether the trader follows a move or bets against it. */
  readonly follows: boolean
  /**
   * The loss and the gain at which the trader closes, in ppm of the open price; null if it never does.
   */
  readonly lossLimit: number | null
  readonly profitTarget: number | null
  /** Distance of stop-loss and take-profit from the price, in ppm. */
  readonly stops: { readonly loss: number; readonly profit: number } | null
}

const EAGER: Temperament = {
  opens: 350,
  closes: 150,
  positionsMax: 8,
  hundredthsMax: 150,
  spendPercent: 10,
  moveMin: null,
  follows: true,
  lossLimit: null,
  profitTarget: null,
  stops: null,
}

const TEMPERAMENTS: Readonly<Record<Habit, Temperament>> = {
  eager: EAGER,
  trend_follower: {
    ...EAGER,
    opens: 120,
    closes: 20,
    positionsMax: 5,
    hundredthsMax: 300,
    moveMin: 5_000,
    lossLimit: -12_000,
    profitTarget: 40_000,
  },
  contrarian: {
    ...EAGER,
    opens: 100,
    closes: 20,
    positionsMax: 5,
    hundredthsMax: 200,
    moveMin: 15_000,
    follows: false,
    lossLimit: -30_000,
    profitTarget: 12_000,
  },
  panicker: {
    ...EAGER,
    opens: 180,
    closes: 40,
    positionsMax: 3,
    hundredthsMax: 100,
    lossLimit: -2_000,
    profitTarget: 8_000,
  },
  careful: {
    ...EAGER,
    opens: 60,
    closes: 5,
    positionsMax: 3,
    hundredthsMax: 50,
    spendPercent: 4,
    moveMin: 3_000,
    stops: { loss: 15_000, profit: 35_000 },
  },
  idle: { ...EAGER, opens: 4, closes: 4, positionsMax: 1, hundredthsMax: 30, spendPercent: 3 },
}

const HUNDREDTH_MICROS = MICROS_PER_UNIT / 100
const HUNDREDTHS_MIN = 5
/** How many players a trader compares before it picks one. */
const LOOKS_AT = 4

/**
 * The trader's next action, or null. Pure except for `random`. The action is affordable and valid at the prices the
 * trader sees; the match may still refuse it.
 */
export function nextAction(trader: Trader, view: TraderView, random: RandomInt): TraderAction | null {
  const temperament = TEMPERAMENTS[trader.habit]
  return (
    closing(trader, temperament, view, random) ??
    trailing(trader, temperament, view) ??
    opening(trader, temperament, view, random)
  )
}

const chance = (permille: number, random: RandomInt): boolean => random(1_000) < permille

/** How far a price has moved in a position's favour, in ppm of the open price. */
const gain = (p: Position, now: Price): number => (signOf(p.direction) * (now - p.openPrice) * PPM) / p.openPrice

function closing(
  { userId }: Trader,
  temperament: Temperament,
  view: TraderView,
  random: RandomInt,
): ClosePosition | null {
  const free = view.positions.filter((p) => p.closableAt <= view.now && tradeable(view, p.instrumentId) !== null)
  const pressed = free.find((p) => {
    const now = tradeable(view, p.instrumentId)
    if (now === null) return false
    const ppm = gain(p, now.price)
    return (
      (temperament.lossLimit !== null && ppm <= temperament.lossLimit) ||
      (temperament.profitTarget !== null && ppm >= temperament.profitTarget)
    )
  })
  const bored = free.length > 0 && chance(temperament.closes, random) ? free[random(free.length)] : undefined
  const position = pressed ?? bored
  return position === undefined ? null : { kind: 'close_position', userId, positionId: position.id, idempotency: null }
}

/** Moves a stop-loss behind a price that went the trader's way; never back. */
function trailing({ userId }: Trader, { stops }: Temperament, view: TraderView): ChangeLevels | null {
  if (stops === null) return null
  for (const { id, direction, instrumentId, stopLoss } of view.positions) {
    const now = tradeable(view, instrumentId)
    if (now === null || stopLoss === null) continue
    const pulled = levelsAt(now.price, direction, stops).stopLoss
    const worth = signOf(direction) * (pulled - stopLoss) > (now.price * stops.loss) / PPM / 3
    if (worth) return { kind: 'change_levels', userId, positionId: id, stopLoss: pulled, takeProfit: undefined }
  }
  return null
}

function opening(
  { userId }: Trader,
  temperament: Temperament,
  view: TraderView,
  random: RandomInt,
): OpenPosition | null {
  if (view.positions.length >= temperament.positionsMax || !chance(temperament.opens, random)) return null
  const choices = view.instruments.filter((i) => !i.suspended)
  if (choices.length === 0) return null
  const looked = Array.from({ length: LOOKS_AT }, () => choices[random(choices.length)]).filter((i) => i !== undefined)
  const chosen = looked.toSorted((a, b) => Math.abs(moved(b)) - Math.abs(moved(a)))[0]
  const direction = chosen === undefined ? null : directionFor(chosen, temperament, random)
  if (chosen === undefined || direction === null) return null
  const size = sizeFor(chosen.price, temperament, view.balance, random)
  if (size === null) return null
  const levels = temperament.stops === null ? NO_LEVELS : levelsAt(chosen.price, direction, temperament.stops)
  const { instrumentId, price: clientPrice } = chosen
  return {
    kind: 'open_position',
    userId,
    instrumentId,
    direction,
    lots: size,
    clientPrice,
    ...levels,
    idempotency: null,
  }
}

const NO_LEVELS: Levels = { stopLoss: null, takeProfit: null }

/** How far the match has moved a player from the start price, in ppm. The effect of trades is ignored. */
const moved = (i: SeenInstrument): number => ((i.base - i.start) * PPM) / i.start

function directionFor(
  instrument: SeenInstrument,
  { moveMin, follows }: Temperament,
  random: RandomInt,
): Direction | null {
  if (moveMin === null) return random(2) === 0 ? 'long' : 'short'
  const move = moved(instrument)
  if (Math.abs(move) < moveMin) return null
  return move > 0 === follows ? 'long' : 'short'
}

/** An affordable whole number of hundredths of a lot; null when even the smallest is too expensive. */
function sizeFor(at: Price, temperament: Temperament, balance: Money, random: RandomInt): Lots | null {
  const budget = (balance * temperament.spendPercent) / 100
  const affordable = Math.floor(budget / marginFor(at, lots(HUNDREDTH_MICROS)))
  const most = Math.min(temperament.hundredthsMax, affordable)
  if (most < HUNDREDTHS_MIN) return null
  return lots((HUNDREDTHS_MIN + random(most - HUNDREDTHS_MIN + 1)) * HUNDREDTH_MICROS)
}

function levelsAt(
  at: Price,
  direction: Direction,
  stops: { readonly loss: number; readonly profit: number },
): { readonly stopLoss: Price; readonly takeProfit: Price } {
  const away = (ppm: number): Price => price(mulDivNearest(at, PPM + signOf(direction) * ppm, PPM))
  return { stopLoss: away(-stops.loss), takeProfit: away(stops.profit) }
}

function tradeable(view: TraderView, id: InstrumentId): SeenInstrument | null {
  return view.instruments.find((i) => i.instrumentId === id && !i.suspended) ?? null
}
