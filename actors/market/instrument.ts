/** A tradeable player and their price: base from the match, plus the crowd's part. */
import type { InstrumentId, PlayerId } from '../kernel/ids.ts'
import { ANCHOR_BY_ROLE } from '../kernel/limits.ts'
import {
  decimal,
  type Lots,
  lots,
  microsNearest,
  MICROS_PER_UNIT,
  mulDivNearest,
  type Price,
  price,
  type Slope,
  slope,
} from '../kernel/micros.ts'
import type { PlayerRole, Side } from './fixture.ts'
import type { NewsMemory } from './news-memory.ts'
import { crowdAt, curveOf, leavingPrice, openingPrice, type PriceCurve } from './price-curve.ts'

/** What moved a price. Its byte in a price frame is its index in CAUSES. */
export const CAUSES = ['listing', 'match', 'event', 'trade', 'settlement', 'rules'] as const
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
  /** The most that the crowd moves the price from its base, in parts per million. */
  readonly impactCapPpm: number
  /** `live_base_price`. */
  readonly base: Price
  /** `net_position_imbalance`: open long lots − open short lots. */
  readonly imbalance: Lots
  /** `last_published_price`: the price subscribers last received. */
  readonly published: Price
  /** What the optional protection remembers; null without it. */
  readonly news: NewsMemory | null
  /** The imbalance when the match ended. From then on the quote stands still and is what everyone leaves at. */
  readonly endedImbalance: Lots | null
  /**
   * The imbalance before a step of positions whose levels fired together, while closing them takes several commits;
   * null when there is no such step. The base stands still until all are closed, and all are paid the mean of the whole
   * step.
   */
  readonly leavingFrom: Lots | null
  /** Set once, when the match is over. */
  readonly settlement: Price | null
}

export interface Quote {
  readonly price: Price
  readonly base: Price
  readonly imbalance: Lots
}

/** Whether a quote shows the price and base of another. */
export const isSameQuote = (a: Quote, b: Quote): boolean => a.price === b.price && a.base === b.base

/** The quote in force. */
export const quoteOf = (instrument: PriceParts): Quote => quoteAfter(instrument, lots(0))

/** The quote that an opening of `exposure` (signed lots) would leave behind. It fills at the mean on the way there. */
export function quoteAfter(instrument: PriceParts, exposure: Lots): Quote {
  const { base, settlement, endedImbalance } = instrument
  const imbalance = endedImbalance ?? lots(instrument.imbalance + exposure)
  const curve = curveFor(instrument)
  return { price: settlement ?? price(curve.base + crowdAt(curve, imbalance)), base, imbalance }
}

/** The fill of an opening of `exposure`: the mean of the price over its own step. */
export const fillPrice = (instrument: Instrument, exposure: Lots): Price =>
  hasEnded(instrument) ? quoteOf(instrument).price : openingPrice(curveFor(instrument), instrument.imbalance, exposure)

/** Whether the match has ended for this instrument, so that its quote stands still. */
const hasEnded = ({ settlement, endedImbalance }: PriceParts): boolean => settlement !== null || endedImbalance !== null

/** What a price is made of. */
export type PriceParts = Pick<
  Instrument,
  'base' | 'slope' | 'impactCapPpm' | 'imbalance' | 'endedImbalance' | 'settlement'
>

/**
 * The price at which positions with this total exposure would leave together now. Once the match has ended it is the
 * published price, the same for everyone (specification 2.5).
 */
export function exitPrice(instrument: PriceParts, exposure: Lots): Price {
  if (hasEnded(instrument)) return quoteOf(instrument).price
  return leavingPrice(curveFor(instrument), instrument.imbalance, exposure)
}

const curveFor = ({ base, slope: k0, impactCapPpm }: PriceParts): PriceCurve => curveOf(base, k0, impactCapPpm)

/**
 * `k_mod`, in units a lot: `k0`, and less where the cap is reached, with as many digits as it takes for the price to be
 * base + k_mod × imbalance.
 */
export function slopeInForce(instrument: PriceParts): number {
  const { price: standing, base, imbalance } = quoteOf(instrument)
  const crowd = standing - base
  const isWhole = imbalance === 0 || crowd === mulDivNearest(imbalance, instrument.slope, MICROS_PER_UNIT)
  return isWhole ? decimal(instrument.slope) : crowd / imbalance
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

/** What a player's live matches have shown of their worth. */
export interface PastMatches {
  readonly matches: number
  /** The mean of the bases at which they settled. */
  readonly mean: Price
}

/** The number of matches that weigh as much as the prior anchor of a player. */
const MATCHES_OF_PRIOR = 10

/**
 * What a player is worth over a season: what was known before, and with n matches the mean of their settlement bases
 * with weight n ÷ (n + 10). Known before is what an operator has set, or the usual value of the role.
 */
export function anchorOf(role: PlayerRole, set: Price | null, past: PastMatches | null): Price {
  const prior = set ?? ANCHOR_BY_ROLE[role]
  if (past === null) return prior
  const weight = past.matches + MATCHES_OF_PRIOR
  return price(mulDivNearest(prior, MATCHES_OF_PRIOR, weight) + mulDivNearest(past.mean, past.matches, weight))
}

/** The start price: 0.6 × last price + 0.4 × anchor; the anchor alone without a last price. */
export const startPrice = (last: Price | null, anchor: Price): Price =>
  last === null ? anchor : price(mulDivNearest(last, 6, 10) + mulDivNearest(anchor, 4, 10))

/** The last price in a start price, to two micros; null without one, or where it was the anchor. */
export const lastIn = (start: Price, anchor: Price): Price | null =>
  start === anchor ? null : price(mulDivNearest(start - mulDivNearest(anchor, 4, 10), 10, 6))
