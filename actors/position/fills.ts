/**
 * The prices at which a purse trades. The purses that all users have move prices and pay for it. A league trades at the
 * base and moves nothing: otherwise its money would push the price of every other purse (contests are free to join, so
 * that money costs nothing), and theirs would decide the league.
 */ // T37
import { isCommon } from '../kernel/purse.ts'
import { PRICE_MIN } from '../kernel/limits.ts'
import { type Price, price } from '../kernel/micros.ts'
import { exitPrice, fillPrice, type Instrument, type PriceParts, quoteOf } from '../market/instrument.ts'
import { exposureOf, type Position } from './position.ts'

/** What a league trades at: the base, and never less than the lowest price there is. */
export const leaguePrice = ({ base }: Pick<Instrument, 'base'>): Price => price(Math.max(PRICE_MIN, base))

type Order = Pick<Position, 'purse' | 'direction' | 'lots'>

/** The price that a purse sees now. */
export const standingPrice = (instrument: Instrument, purse: Position['purse']): Price =>
  isCommon(purse) ? quoteOf(instrument).price : leaguePrice(instrument)

/** The fill of an opening. */
export const openingFill = (instrument: Instrument, order: Order): Price =>
  isCommon(order.purse) ? fillPrice(instrument, exposureOf(order)) : leaguePrice(instrument)

/** The fill of closing a position alone. */
export const closingFill = (instrument: PriceParts, position: Order): Price =>
  isCommon(position.purse) ? exitPrice(instrument, exposureOf(position)) : leaguePrice(instrument)
