/**
 * The preview of an order between two quotes. Only the order's own edits need the server: while the price moves, all
 * that the server said moves with it.
 */
import { signOf } from '../account.ts'
import type { Direction, Purse, Quote } from '../client/wire.ts'

export interface Asked {
  readonly quote: Quote
  readonly instrumentId: string
  readonly purse: Purse
  /** The price on the screen when the quote came. */
  readonly at: number
  readonly direction: Direction
  readonly lots: number
  readonly contractSize: number
}

/** Further than this from the quoted price the server is asked again: the curve's steepness is that of the quote. */
const FAR = 0.02

export const isFar = ({ at }: Asked, price: number): boolean => Math.abs(price - at) > at * FAR

/** The quote as it is at another price. */
export function previewAt({ quote, at, direction, lots, contractSize }: Asked, price: number): Quote {
  const moved = price - at
  const fillPrice = quote.fillPrice + moved
  const margin = (quote.margin * fillPrice) / quote.fillPrice
  const change = signOf(direction) * moved * lots * contractSize
  const pnlAtLevel = (pnl: number | null): number | null => (pnl === null ? null : Math.max(-margin, pnl - change))
  return {
    ...quote,
    fillPrice,
    margin,
    washoutPrice: quote.washoutPrice === null ? null : (quote.washoutPrice * fillPrice) / quote.fillPrice,
    pnlAtStopLoss: pnlAtLevel(quote.pnlAtStopLoss),
    pnlAtTakeProfit: pnlAtLevel(quote.pnlAtTakeProfit),
  }
}
