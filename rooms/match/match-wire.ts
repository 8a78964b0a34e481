/** The synced state of a match room, in integers only, and the names of its messages. */
import { schema, type SchemaType, t } from '@colyseus/schema'

// int64, never t.number(): that one sends a float32 whenever it is close enough. Quantities are micros.

export const InstrumentWire = schema(
  {
    price: t.int64(),
    base: t.int64(),
    imbalance: t.int64(),
    /** OPEN, SUSPENDED or CLOSED. */
    trading: t.string(),
  },
  'Instrument',
)
export type InstrumentWire = SchemaType<typeof InstrumentWire>

export const MatchWire = schema(
  {
    matchId: t.uint32(),
    name: t.string(),
    /** True if the match replays a recording. */
    replay: t.boolean(),
    /** The provider's name for the state of play; empty if it gave none. */
    state: t.string(),
    phase: t.string(),
    /** −1 before kick-off. */
    minute: t.int16(),
    homeName: t.string(),
    awayName: t.string(),
    /** −1 while there is no score. */
    homeGoals: t.int16(),
    awayGoals: t.int16(),
    /** OPEN, SUSPENDED or CLOSED, and the reason. */
    trading: t.string(),
    tradingReason: t.string(),
    /** By instrument id; each client sees those that it follows. */
    instruments: t.map(InstrumentWire).view(),
    /** Goals in the shoot-out; −1 while there is none. */
    homeShootout: t.int16(),
    awayShootout: t.int16(),
  },
  'Match',
)
export type MatchWire = SchemaType<typeof MatchWire>

/** Out: the 93 bytes of a price frame. */
export const PRICE_MESSAGE = 'price'
/** Out: `{ code, message }`, the answer to an invalid message. */
export const ERROR_MESSAGE = 'error'
/** Out: the events of the client's positions, as in `GET /api/account/changes`. */
export const ACCOUNT_MESSAGE = 'account'
/** Out: `{ reconnectInMs }` before a restart of the server. */
export const SHUTDOWN_MESSAGE = 'shutdown'
