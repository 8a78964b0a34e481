/**
 * Decodes a price frame: 93 bytes, big-endian. It has no dependencies, so that a game, a bot or a page can copy it.
 * Quantities become numbers of units; the bytes hold whole millionths.
 */

export const PRICE_FRAME_BYTES = 93

/** Flags of a frame, combined by `|`. */
export const FLAG = {
  /** The current price on subscribing, not a move. */
  snapshot: 1,
  /** A missed move, resent. */
  replay: 2,
  /** Older moves of this instrument were folded into this one. */
  conflated: 4,
  /** The live feed behind it is late: the price may be out of date. */
  stale: 8,
  suspended: 16,
  /** The settlement price: nothing follows it in this match. */
  final: 32,
} as const

/** What moved the price, by its byte. */
const CAUSES = ['listing', 'match', 'event', 'trade', 'settlement', 'rules'] as const
const STATUSES = ['CLOSED', 'OPEN', 'SUSPENDED'] as const

export interface PriceFrame {
  readonly flags: number
  /** The incarnation of the match; each new one restarts `seq`. */
  readonly epoch: number
  /** Counts the moves of the match. A snapshot repeats the number of the move it shows. */
  readonly seq: number
  readonly instrumentId: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly price: number
  readonly liveBase: number
  readonly imbalance: number
  readonly previousPrice: number
  /** The provider's event behind the move, or 0. */
  readonly eventId: number
  readonly fixtureId: number
  readonly cause: (typeof CAUSES)[number]
  /** The match clock, null before kick-off. */
  readonly minute: number | null
  readonly tradingStatus: (typeof STATUSES)[number]
}

const MICROS = 1_000_000
const NO_MINUTE = 0xffff
const TWO_32 = 2 ** 32
const CHECKED_BYTES = 89

/** The frame in these bytes; null when they are not one, or were damaged on the way. */
export function decodePriceFrame(bytes: ArrayBuffer): PriceFrame | null {
  if (bytes.byteLength !== PRICE_FRAME_BYTES) return null
  const view = new DataView(bytes)
  if (view.getUint8(0) !== 1 || view.getUint8(1) !== 1) return null
  if (view.getUint32(CHECKED_BYTES) !== crc32(new Uint8Array(bytes, 0, CHECKED_BYTES))) return null
  const cause = CAUSES[view.getUint8(85)]
  const tradingStatus = STATUSES[view.getUint8(88)]
  if (cause === undefined || tradingStatus === undefined) return null
  const minute = view.getUint16(86)
  return {
    flags: view.getUint16(2),
    epoch: view.getUint32(4),
    seq: integer(view, 8),
    instrumentId: uuid(new Uint8Array(bytes, 16, 16)),
    at: integer(view, 32) / 1_000,
    price: integer(view, 40) / MICROS,
    liveBase: integer(view, 48) / MICROS,
    imbalance: integer(view, 56) / MICROS,
    previousPrice: integer(view, 64) / MICROS,
    eventId: integer(view, 72),
    fixtureId: view.getUint32(80),
    cause,
    minute: minute === NO_MINUTE ? null : minute,
    tradingStatus,
  }
}

/** A 64-bit integer as a number: exact up to 2^53, and nothing on the wire is larger. */
const integer = (view: DataView, offset: number): number => view.getInt32(offset) * TWO_32 + view.getUint32(offset + 4)

function uuid(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** The remainders of the common polynomial (IEEE 802.3), by byte. */
const REMAINDERS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1
  return remainder
})

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (const byte of bytes) sum = (REMAINDERS[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8)
  return (sum ^ 0xffffffff) >>> 0
}
