/** The price frame: 93 bytes, big-endian, encoded once and shared by all receivers. */
import { crc32 } from 'node:zlib'
import { type FixtureId, fixtureId, type InstrumentId, instrumentId } from '../../actors/kernel/ids.ts'
import { type Lots, lots, type Price, price } from '../../actors/kernel/micros.ts'
import type { TradeWindow } from '../../actors/kernel/outcome.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { type Cause, CAUSES } from '../../actors/market/instrument.ts'
import { type Phase, PHASE_CODE } from '../../actors/market/phase.ts'

/** One published price: encoded once, shared by all receivers, never changed. */
export interface PublishedPrice {
  readonly matchId: FixtureId
  readonly instrumentId: InstrumentId
  readonly epoch: number
  readonly seq: number
  readonly frame: Buffer
}

/** A frame as one endpoint puts it on the wire; the result is shared by all its receivers. */
export type Pack = (frame: Buffer) => Buffer

/** The newest frame of a returning client. */
export interface Since {
  readonly epoch: number
  readonly seq: number
}

export const PRICE_FRAME_BYTES = 93
const TYPE_PRICE = 1
const VERSION = 1

/** Combined with `|`. */
export const FLAG = {
  /** The current price when a client subscribes, not a move. */
  snapshot: 1,
  /** A missed move, resent. */
  replay: 2,
  /** This move replaced older ones of the instrument. */
  conflated: 4,
  /** The live feed behind it is late. */
  stale: 8,
  suspended: 16,
  /** The settlement price, the last one in this match. */
  final: 32,
} as const

export interface PriceFrame {
  readonly flags: number
  /** The incarnation of the match. A change makes earlier sequence numbers void. */
  readonly epoch: number
  /** Counts the frames of the match within the epoch, from 1. A snapshot repeats the number of the move it shows. */
  readonly seq: number
  readonly instrumentId: InstrumentId
  /** Milliseconds here, microseconds on the wire. */
  readonly at: Instant
  readonly price: Price
  readonly base: Price
  readonly imbalance: Lots
  readonly previous: Price
  /** The provider's event that caused the move, 0 when none did. */
  readonly providerEventId: number
  readonly fixtureId: FixtureId
  readonly phase: Phase
  readonly cause: Cause
  /** The match clock, or null before kick-off (65535 on the wire). */
  readonly minute: number | null
  readonly status: TradeWindow['status']
}

/** Byte offsets of the fields. */
export const OFFSET = {
  type: 0,
  version: 1,
  flags: 2,
  epoch: 4,
  seq: 8,
  instrument: 16,
  time: 32,
  price: 40,
  base: 48,
  imbalance: 56,
  previous: 64,
  providerEvent: 72,
  fixture: 80,
  phase: 84,
  cause: 85,
  minute: 86,
  status: 88,
  checksum: 89,
} as const

/** By their codes in PHASE_CODE. */
const PHASES: readonly Phase[] = ['scheduled', 'live', 'break', 'ended', 'final', 'off', 'frozen']
const STATUSES: readonly TradeWindow['status'][] = ['CLOSED', 'OPEN', 'SUSPENDED']
const NO_MINUTE = 0xffff
const TWO_32 = 2 ** 32

/** The bytes may be queued in any number of sockets, and must not be changed. */
export function encodePriceFrame(frame: PriceFrame): Buffer {
  // Not from the pool: a frame that waits in a socket's queue would keep a whole slab in memory.
  const bytes = Buffer.allocUnsafeSlow(PRICE_FRAME_BYTES)
  bytes[OFFSET.type] = TYPE_PRICE
  bytes[OFFSET.version] = VERSION
  bytes.writeUInt16BE(frame.flags, OFFSET.flags)
  bytes.writeUInt32BE(frame.epoch, OFFSET.epoch)
  writeInteger(bytes, frame.seq, OFFSET.seq)
  bytes.write(frame.instrumentId.replaceAll('-', ''), OFFSET.instrument, 16, 'hex')
  writeInteger(bytes, frame.at * 1_000, OFFSET.time)
  writeInteger(bytes, frame.price, OFFSET.price)
  writeInteger(bytes, frame.base, OFFSET.base)
  writeInteger(bytes, frame.imbalance, OFFSET.imbalance)
  writeInteger(bytes, frame.previous, OFFSET.previous)
  writeInteger(bytes, frame.providerEventId, OFFSET.providerEvent)
  bytes.writeUInt32BE(frame.fixtureId, OFFSET.fixture)
  bytes[OFFSET.phase] = PHASE_CODE[frame.phase]
  bytes[OFFSET.cause] = CAUSES.indexOf(frame.cause)
  bytes.writeUInt16BE(frame.minute ?? NO_MINUTE, OFFSET.minute)
  bytes[OFFSET.status] = STATUSES.indexOf(frame.status)
  return sealed(bytes)
}

/** Null if the length, type, version, a code or the checksum is wrong. */
export function decodePriceFrame(bytes: Uint8Array): PriceFrame | null {
  const b = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (b.length !== PRICE_FRAME_BYTES || b[OFFSET.type] !== TYPE_PRICE || b[OFFSET.version] !== VERSION) return null
  if (b.readUInt32BE(OFFSET.checksum) !== crc32(b.subarray(0, OFFSET.checksum))) return null
  const phase = PHASES[b.readUInt8(OFFSET.phase)]
  const cause = CAUSES[b.readUInt8(OFFSET.cause)]
  const status = STATUSES[b.readUInt8(OFFSET.status)]
  if (phase === undefined || cause === undefined || status === undefined) return null
  const minute = b.readUInt16BE(OFFSET.minute)
  return {
    flags: b.readUInt16BE(OFFSET.flags),
    epoch: b.readUInt32BE(OFFSET.epoch),
    seq: readInteger(b, OFFSET.seq),
    instrumentId: instrumentId(dashed(b.toString('hex', OFFSET.instrument, OFFSET.time))),
    at: instant(readInteger(b, OFFSET.time) / 1_000),
    price: price(readInteger(b, OFFSET.price)),
    base: price(readInteger(b, OFFSET.base)),
    imbalance: lots(readInteger(b, OFFSET.imbalance)),
    previous: price(readInteger(b, OFFSET.previous)),
    providerEventId: readInteger(b, OFFSET.providerEvent),
    fixtureId: fixtureId(b.readUInt32BE(OFFSET.fixture)),
    phase,
    cause,
    minute: minute === NO_MINUTE ? null : minute,
    status,
  }
}

const CONDITION = FLAG.stale | FLAG.suspended | FLAG.final

/** Whether a frame tells nothing new after another of its instrument: the same quote, in the same condition. */
export const repeats = (frame: Buffer, before: Buffer): boolean =>
  frame.subarray(OFFSET.price, OFFSET.previous).equals(before.subarray(OFFSET.price, OFFSET.previous)) &&
  frame[OFFSET.status] === before[OFFSET.status] &&
  frame[OFFSET.phase] === before[OFFSET.phase] &&
  ((frame.readUInt16BE(OFFSET.flags) ^ before.readUInt16BE(OFFSET.flags)) & CONDITION) === 0

/** A copy of a frame with more flags; the original may still be in socket queues. */
export const flagged = (frame: Buffer, flags: number): Buffer =>
  withFlags(frame, frame.readUInt16BE(OFFSET.flags) | flags)

/** A copy that shows the current price, not a move, and therefore is not conflated. */
export const asSnapshot = (frame: Buffer): Buffer =>
  withFlags(frame, (frame.readUInt16BE(OFFSET.flags) & ~FLAG.conflated) | FLAG.snapshot)

/**
 * A short payload as a complete RFC 6455 binary message, unmasked as servers send it, so identical for every receiver.
 * Only for sockets without permessage-deflate.
 */
export function asMessage(payload: Buffer): Buffer {
  const message = Buffer.allocUnsafeSlow(2 + payload.length)
  message[0] = 0x82 // FIN, binary
  message[1] = payload.length // the one-byte form, up to 125
  payload.copy(message, 2)
  return message
}

function withFlags(frame: Buffer, flags: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(PRICE_FRAME_BYTES)
  frame.copy(bytes)
  bytes.writeUInt16BE(flags, OFFSET.flags)
  return sealed(bytes)
}

function sealed(bytes: Buffer): Buffer {
  bytes.writeUInt32BE(crc32(bytes.subarray(0, OFFSET.checksum)), OFFSET.checksum)
  return bytes
}

// Two halves rather than a BigInt: exact for every safe integer, negative ones too, and without an allocation.
function writeInteger(bytes: Buffer, value: number, offset: number): void {
  const high = Math.floor(value / TWO_32)
  bytes.writeInt32BE(high, offset)
  bytes.writeUInt32BE(value - high * TWO_32, offset + 4)
}

const readInteger = (bytes: Buffer, offset: number): number =>
  bytes.readInt32BE(offset) * TWO_32 + bytes.readUInt32BE(offset + 4)

const dashed = (hex: string): string =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
