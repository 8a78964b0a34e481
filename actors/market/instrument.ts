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
import type { Instant } from '../kernel/world.ts'
import type { PlayerRole, Side } from './fixture.ts'
import { bookPrice, crowdAt, curveOf, leavingPrice, openingPrice, type PriceCurve } from './price-curve.ts'

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
  /** News holds trading until list and statistics agree about the player; null when there is none. */
  readonly news: NewsHold | null
  /** Full time is shown and not yet confirmed: no trades, and the price is what the whole book would settle at. */
  readonly awaitsSettlement: boolean
  /**
   * The imbalance before a step of positions whose levels fired together, while closing them takes several commits;
   * null when there is no such step. The base stands still until all are closed, and all are paid the mean of the whole
   * step.
   */
  readonly leavingFrom: Lots | null
  /** Set once, when the match is over. */
  readonly settlement: Price | null
}

/** From the update that shows something new about a player until all of it is in the price. */
export interface NewsHold {
  /** When that update came. */
  readonly since: Instant
  /** What was opened or closed from this instant on may have been with knowledge of the news. */
  readonly windowFrom: Instant
  /** Earlier news that named no player and turned out to be about this one. It had a window of its own. */
  readonly unnamed: { readonly from: Instant; readonly to: Instant } | null
  /** False for a review or a goal without a name: it may concern any player, until one is named. */
  readonly names: boolean
  /** The base before that update. */
  readonly baseBefore: Price
  /** The last update that showed something new. */
  readonly changedSeq: number
  /** After the hold of closes has run out: the update with which list and statistics agreed at last. */
  readonly agreedSeq: number | null
  /** The ids under which the events behind it were first listed. */
  readonly eventIds: readonly number[]
  /** Owners may close from this instant on, whether or not list and statistics agree. */
  readonly closesFrom: Instant
  /** The same for opens. */
  readonly opensFrom: Instant
  /** When it let go of trading without having named anybody. It is kept for a while, in case that someone is. */
  readonly ended: Instant | null
}

export interface Quote {
  readonly price: Price
  readonly base: Price
  readonly imbalance: Lots
  /** `k_mod`: below `k0` where the cap is reached; while full time waits, the slope of the whole book's mean. */
  readonly slope: Slope
}

/** Whether a quote shows the price and base of another. */
export const isSameQuote = (a: Quote, b: Quote): boolean => a.price === b.price && a.base === b.base

/** The quote in force. A settled instrument stands still at its settlement price, whatever has been paid out. */
export const quoteOf = (instrument: Instrument): Quote => quoteAfter(instrument, lots(0))

/** The quote that an opening of `exposure` (signed lots) would leave behind. It fills at the mean on the way there. */
export function quoteAfter(instrument: Instrument, exposure: Lots): Quote {
  const { base, settlement, awaitsSettlement } = instrument
  const imbalance = lots(instrument.imbalance + exposure)
  const curve = curveFor(instrument)
  const crowd = awaitsSettlement ? bookPrice(curve, imbalance) - curve.base : crowdAt(curve, imbalance)
  const standing = price(curve.base + crowd)
  return { price: settlement ?? standing, base, imbalance, slope: slopeInForce(instrument, imbalance, crowd) }
}

/** The fill of an opening of `exposure`: the mean of the price over its own step. */
export const fillPrice = (instrument: Instrument, exposure: Lots): Price =>
  instrument.settlement ?? openingPrice(curveFor(instrument), instrument.imbalance, exposure)

/** What a price is made of. */
export type PriceParts = Pick<
  Instrument,
  'base' | 'slope' | 'impactCapPpm' | 'imbalance' | 'awaitsSettlement' | 'settlement'
>

/** The price at which positions with this total exposure would leave together now. */
export function exitPrice(instrument: PriceParts, exposure: Lots): Price {
  if (instrument.settlement !== null) return instrument.settlement
  if (instrument.awaitsSettlement) return settlesAt(instrument)
  return leavingPrice(curveFor(instrument), instrument.imbalance, exposure)
}

/** The price at which full time would close all positions now, or after an opening of `exposure`. */
export const settlesAt = (instrument: PriceParts, exposure: Lots = lots(0)): Price =>
  instrument.settlement ?? bookPrice(curveFor(instrument), lots(instrument.imbalance + exposure))

const curveFor = ({ base, slope: k0, impactCapPpm }: PriceParts): PriceCurve => curveOf(base, k0, impactCapPpm)

function slopeInForce(instrument: Instrument, imbalance: Lots, crowd: number): Slope {
  const { slope: k0, awaitsSettlement } = instrument
  if (imbalance === 0) return awaitsSettlement ? slope(mulDivNearest(k0, 1, 2)) : k0
  if (!awaitsSettlement && crowd === mulDivNearest(imbalance, k0, MICROS_PER_UNIT)) return k0
  return slope(mulDivNearest(Math.abs(crowd), MICROS_PER_UNIT, Math.abs(imbalance)))
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
