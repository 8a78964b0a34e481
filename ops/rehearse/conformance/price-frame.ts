/** Reads a price message as the API describes it: 93 bytes, big-endian, a checksum at the end. */
import assert from 'node:assert/strict'
import { crc32 } from 'node:zlib'

export const FLAG = { snapshot: 1, replay: 2, conflated: 4, stale: 8, suspended: 16, final: 32 } as const

export interface PriceFrame {
  readonly flags: number
  readonly epoch: number
  readonly seq: number
  readonly instrumentId: string
  /** Microseconds since 1970. */
  readonly at: number
  readonly price: number
  readonly liveBase: number
  readonly imbalance: number
  readonly previousPrice: number
  readonly providerEventId: number
  readonly fixtureId: number
  readonly matchState: number
  readonly cause: number
  readonly minute: number
  readonly tradingStatus: number
}

const BYTES = 93
const CHECKSUM_AT = 89

/** Prices and lots in units, not millionths. Throws if these bytes are not a price message. */
export function readPriceFrame(bytes: Uint8Array): PriceFrame {
  const b = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  assert.equal(b.length, BYTES, `a price message of ${b.length} bytes`)
  assert.equal(b.readUInt8(0), 1, 'another type of message')
  assert.equal(b.readUInt8(1), 1, 'another version of the layout')
  assert.equal(b.readUInt32BE(CHECKSUM_AT), crc32(b.subarray(0, CHECKSUM_AT)), 'the checksum is wrong')
  const micros = (at: number): number => Number(b.readBigInt64BE(at)) / 1e6
  const hex = b.toString('hex', 16, 32)
  return {
    flags: b.readUInt16BE(2),
    epoch: b.readUInt32BE(4),
    seq: Number(b.readBigUInt64BE(8)),
    instrumentId: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    at: Number(b.readBigInt64BE(32)),
    price: micros(40),
    liveBase: micros(48),
    imbalance: micros(56),
    previousPrice: micros(64),
    providerEventId: Number(b.readBigUInt64BE(72)),
    fixtureId: b.readUInt32BE(80),
    matchState: b.readUInt8(84),
    cause: b.readUInt8(85),
    minute: b.readUInt16BE(86),
    tradingStatus: b.readUInt8(88),
  }
}
