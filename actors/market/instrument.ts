/** A tradeable player and their price: base from the match, plus slope times imbalance. */
import type { InstrumentId, PlayerId } from '../kernel/ids.ts'
import { ANCHOR_BY_ROLE, PRICE_MIN } from '../kernel/limits.ts'
import {
  decimal,
  type Lots,
  lots,
  microsNearest,
  MICROS_PER_UNIT,
  mulDivFloor,
  mulDivNearest,
  type Price,
  price,
  type Slope,
  slope,
} from '../kernel/micros.ts'
import type { Instant } from '../kernel/world.ts'
import type { PlayerRole, Side } from './fixture.ts'

/** What moved a price. Its byte in a price frame is its index in CAUSES. */
export const CAUSES = ['listing', 'match', 'event', 'trade', 'settlement'] as const
export type Cause = (typeof CAUSES)[number]

export interface Instrument {
  readonly id: InstrumentId
  readonly playerId: PlayerId
  readonly name: string
  /** `position` on the wire. */
  readonly role: PlayerRole
  readonly side: Side
  readonly jersey: number | null
  readonly starter: boolean
  /** The base at the start of the match. The price model moves around it. */
  readonly start: Price
  /** `k0`: the slope while the impact is below its cap. Constant for the whole match. */
  readonly slope: Slope
  /** `live_base_price`. */
  readonly base: Price
  /** `net_position_imbalance`: open long lots − open short lots. */
  readonly imbalance: Lots
  /** `last_published_price`: the price subscribers last received. */
  readonly published: Price
  /** An in-game event suspends trading until the next base price, at the latest until this instant. */
  readonly suspendedUntil: Instant | null
  /** The settlement price, set once when the match is over. */
  readonly settlement: Price | null
}

export interface Quote {
  readonly price: Price
  readonly base: Price
  readonly imbalance: Lots
  /** `k_mod` in force: below `k0` once the impact has reached its cap. */
  readonly slope: Slope
}

/**
 * The price depends on base and imbalance alone, so no sequence of trades can profit from the slope:
 * price = base + sign(I) × min(|I| × k0, cap), cap = `capPpm` of base, never below PRICE_MIN.
 */
export function quoteAt(base: Price, imbalance: Lots, k0: Slope, capPpm: number): Quote {
  const linear = mulDivNearest(imbalance, k0, MICROS_PER_UNIT)
  const cap = mulDivFloor(base, capPpm, MICROS_PER_UNIT)
  const impact = Math.max(-cap, Math.min(cap, linear))
  const inForce = impact === linear ? k0 : slope(mulDivNearest(Math.abs(impact), MICROS_PER_UNIT, Math.abs(imbalance)))
  return { price: price(Math.max(PRICE_MIN, base + impact)), base, imbalance, slope: inForce }
}

/** The current quote. Once settlement has begun it stays at the settlement price. */
export function quoteOf(instrument: Instrument, capPpm: number): Quote {
  return quoteAfter(instrument, lots(0), capPpm)
}

/** The quote after opening `exposure` (signed lots), at which that opening fills. */
export function quoteAfter(instrument: Instrument, exposure: Lots, capPpm: number): Quote {
  const quote = quoteAt(instrument.base, lots(instrument.imbalance + exposure), instrument.slope, capPpm)
  return instrument.settlement === null ? quote : { ...quote, price: instrument.settlement }
}

/** The number of fully invested new wallets that move the price of a player by 1 %. */
const WALLETS_PER_PERCENT = { starter: 20, bench: 10 } as const

/**
 * `k0` for a start price P: 5·10⁻⁷ × P² ÷ n, so that n new wallets (10,000 units, 20,000 ÷ P lots each) move it 1 %,
 * clamped to the values for 40 and 2 wallets.
 */
export function slopeFor(start: Price, starter: boolean): Slope {
  const units = decimal(start)
  const wallets = starter ? WALLETS_PER_PERCENT.starter : WALLETS_PER_PERCENT.bench
  const clamped = Math.min(2.5e-7, Math.max(1.25e-8, 5e-7 / wallets)) * units * units
  return slope(Math.max(1, microsNearest(clamped)))
}

/**
 * The start price: 0.6 × last price + 0.4 × anchor. Without an anchor the role's; without a last price the anchor
 * alone.
 */
export function startPrice(role: PlayerRole, last: Price | null, anchor: Price | null): Price {
  const home = anchor ?? ANCHOR_BY_ROLE[role]
  return last === null ? home : price(mulDivNearest(last, 6, 10) + mulDivNearest(home, 4, 10))
}
