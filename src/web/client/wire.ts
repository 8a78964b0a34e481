/** The shapes of the REST contract, taken from the very schemas that the server answers with; erased when this runs. */
import type { z } from 'zod'
import type * as schemas from '../../http/schemas.ts'

export type Match = z.output<typeof schemas.MatchBody>
export type TradeWindow = z.output<typeof schemas.WindowBody>
export type Instrument = z.output<typeof schemas.InstrumentBody>
export type PriceHistory = z.output<typeof schemas.PriceHistoryBody>
export type Period = (typeof schemas.PERIODS)[number]
export type Movers = z.output<typeof schemas.MoversBody>
export type MatchEvents = z.output<typeof schemas.MatchEventsBody>
export type MatchEvent = MatchEvents['events'][number]
export type Squad = z.output<typeof schemas.SquadBody>
export type Position = z.output<typeof schemas.PositionBody>
export type Wallet = z.output<typeof schemas.WalletBody>
export type Trade = z.output<typeof schemas.TradeBody>
export type AccountChanges = z.output<typeof schemas.AccountChangesBody>
export type User = z.output<typeof schemas.UserBody>
export type Me = { readonly loggedIn: false } | ({ readonly loggedIn: true } & User)

export type Direction = Position['direction']

export interface Order {
  readonly instrumentId: string
  readonly direction: Direction
  readonly lotSize: number
  readonly stopLoss?: number | null
  readonly takeProfit?: number | null
}

export interface OpenOrder extends Order {
  /** The price that was on the screen. */
  readonly clientPrice: number
}

/** A level left out stays as it is, null removes it. */
export interface Levels {
  readonly stopLoss?: number | null
  readonly takeProfit?: number | null
}

export interface Quote {
  readonly fillPrice: number
  readonly impact: number
  readonly currentPrice: number
  readonly margin: number
  readonly washoutPrice: number | null
  readonly pnlAtStopLoss: number | null
  readonly pnlAtTakeProfit: number | null
  readonly maxLotSize: number
  readonly refusal: ErrorBody | null
}

/** Every error has this form, and facts besides. */
export interface ErrorBody {
  readonly error: string
  readonly code: string
  readonly [fact: string]: unknown
}
