import { describe, expect, it } from 'vitest'
import { fixtureId, instrumentId } from '../../actors/kernel/ids.ts'
import { lots, MICROS_MAX, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { CAUSES } from '../../actors/market/instrument.ts'
import { type Phase, PHASE_CODE } from '../../actors/market/phase.ts'
import { present } from '../../actors/kernel/assert.ts'
import { FIELD_BYTES, type FieldType, placed } from '../../rooms/feed/price-frame-description.ts'
import {
  asMessage,
  decodePriceFrame,
  encodePriceFrame,
  FLAG,
  flagged,
  PRICE_FRAME_BYTES,
  type PriceFrame,
} from '../../rooms/feed/price-frame.ts'

const FRAME: PriceFrame = {
  flags: FLAG.conflated | FLAG.suspended,
  epoch: 3,
  seq: 1041,
  instrumentId: instrumentId('0198f3a2-7c1d-7e00-8f00-0123456789ab'),
  at: instant(1_787_410_800_123),
  price: price(200_005_000),
  base: price(200_000_000),
  imbalance: lots(-500_000),
  previous: price(199_000_001),
  providerEventId: 112_233_445_566,
  fixtureId: fixtureId(19_155_061),
  phase: 'live',
  cause: 'trade',
  minute: 67,
  status: 'SUSPENDED',
}

const PHASES: readonly Phase[] = ['scheduled', 'live', 'break', 'ended', 'final', 'off', 'frozen']

// Written out by hand from the contract's layout, not by the encoder.
const GOLDEN = [
  '01', // type
  '01', // version
  '0014', // flags: CONFLATED, SUSPENDED
  '00000003', // epoch
  '0000000000000411', // seq
  '0198f3a27c1d7e008f000123456789ab', // instrument
  '000659a401cf1c78', // microseconds
  '000000000bebd588', // price
  '000000000bebc200', // live base
  'fffffffffff85ee0', // imbalance
  '000000000bdc7fc1', // previous price
  '0000001a21a278be', // provider event
  '01244875', // fixture
  '01', // match state: live
  '03', // cause: trade
  '0043', // minute
  '02', // trading status: suspended
].join('')

/** What the documents show: frames that differ in all that a decoder may get wrong. */
const VECTORS: Readonly<Record<string, Partial<PriceFrame>>> = {
  'a trade in a suspended market, the crowd short': {},
  'a snapshot before kick-off': {
    flags: FLAG.snapshot,
    seq: 0,
    imbalance: lots(0),
    previous: FRAME.price,
    providerEventId: 0,
    phase: 'scheduled',
    cause: 'listing',
    minute: null,
    status: 'CLOSED',
  },
  'a goal, late, with the largest numbers': {
    flags: FLAG.stale,
    epoch: 0xffff_ffff,
    seq: Number.MAX_SAFE_INTEGER,
    imbalance: lots(MICROS_MAX),
    price: price(MICROS_MAX),
    previous: price(10_000),
    fixtureId: fixtureId(0xffff_ffff),
    cause: 'event',
    minute: 120,
    status: 'OPEN',
  },
  'the settlement price, missed and repeated': {
    flags: FLAG.replay | FLAG.final,
    phase: 'final',
    cause: 'settlement',
    minute: 95,
    status: 'CLOSED',
  },
}

describe('price frame', () => {
  it('[W1] a price frame is these 93 bytes, big-endian, and ends in the checksum of the bytes before', () => {
    const bytes = encodePriceFrame(FRAME)
    expect(bytes.length).toBe(PRICE_FRAME_BYTES)
    expect(bytes.toString('hex', 0, 89)).toBe(GOLDEN)
    expect(bytes.readUInt32BE(89)).toBe(crc32(bytes.subarray(0, 89)))
    expect(asMessage(bytes).toString('hex', 0, 4)).toBe('825d0101')
    expect(asMessage(bytes).length).toBe(95)
  })

  it('[W1] every frame decodes to what was encoded, at the ends of every range', () => {
    const edges: Partial<PriceFrame>[] = [
      {},
      { price: price(MICROS_MAX), base: price(1), previous: price(10_000), imbalance: lots(MICROS_MAX) },
      { imbalance: lots(-MICROS_MAX), seq: Number.MAX_SAFE_INTEGER, epoch: 0xffffffff },
      { imbalance: lots(-1), minute: null, fixtureId: fixtureId(0xffffffff), providerEventId: 0 },
      ...CAUSES.map((cause) => ({ cause })),
      ...PHASES.map((phase) => ({ phase })),
      ...(['OPEN', 'SUSPENDED', 'CLOSED'] as const).map((status) => ({ status })),
    ]
    expect(PHASES).toHaveLength(Object.keys(PHASE_CODE).length)
    for (const edge of edges) {
      const frame = { ...FRAME, ...edge }
      expect(decodePriceFrame(encodePriceFrame(frame))).toEqual(frame)
    }
  })

  it('[W1] a damaged, foreign or shortened frame decodes to nothing', () => {
    const bytes = encodePriceFrame(FRAME)
    for (let offset = 0; offset < bytes.length; offset++) {
      const damaged = Buffer.from(bytes)
      damaged.writeUInt8(present(damaged[offset], 'byte') ^ 1, offset)
      expect(decodePriceFrame(damaged), `byte ${offset}`).toBeNull()
    }
    expect(decodePriceFrame(bytes.subarray(0, 92))).toBeNull()
  })

  it('flagging a frame does not change the original', () => {
    const bytes = encodePriceFrame(FRAME)
    const before = bytes.toString('hex')
    expect(decodePriceFrame(flagged(bytes, FLAG.replay))).toEqual({ ...FRAME, flags: FRAME.flags | FLAG.replay })
    expect(bytes.toString('hex')).toBe(before)
  })
})

describe('the documented layout', () => {
  const readers: Readonly<Record<FieldType, (bytes: Buffer, at: number) => bigint | string>> = {
    u8: (bytes, at) => BigInt(bytes.readUInt8(at)),
    u16: (bytes, at) => BigInt(bytes.readUInt16BE(at)),
    u32: (bytes, at) => BigInt(bytes.readUInt32BE(at)),
    u64: (bytes, at) => bytes.readBigUInt64BE(at),
    i64: (bytes, at) => bytes.readBigInt64BE(at),
    uuid: (bytes, at) =>
      bytes.toString('hex', at, at + 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
  }
  /** Decodes a frame from the table alone. */
  const decoded = (bytes: Buffer) =>
    Object.fromEntries(placed().map(({ name, type, offset }) => [name, readers[type](bytes, offset).toString()]))

  it('has no gap, ends at 93 bytes, and reads what the codec has written', () => {
    const last = present(placed().at(-1), 'a last field')
    expect(last.offset + FIELD_BYTES[last.type]).toBe(PRICE_FRAME_BYTES)
    const fields = decoded(encodePriceFrame(FRAME))
    expect(fields).toMatchObject({
      flags: '20',
      epoch: '3',
      seq: '1041',
      instrumentId: FRAME.instrumentId,
      time: String(FRAME.at * 1_000),
      price: String(FRAME.price),
      liveBase: String(FRAME.base),
      imbalance: String(FRAME.imbalance),
      previousPrice: String(FRAME.previous),
      providerEventId: String(FRAME.providerEventId),
      fixtureId: String(FRAME.fixtureId),
      minute: '67',
    })
    const codeOf = (name: string) => present(placed().find((field) => field.name === name)?.values, name)
    expect(codeOf('matchState')[Number(fields['matchState'])]).toBe(FRAME.phase)
    expect(codeOf('cause')[Number(fields['cause'])]).toBe(FRAME.cause)
    expect(codeOf('tradingStatus')[Number(fields['tradingStatus'])]).toBe(FRAME.status)
  })

  it('the test vectors are what the encoder makes', async () => {
    const vectors = Object.entries(VECTORS).map(([name, different]) => {
      const bytes = encodePriceFrame({ ...FRAME, ...different })
      expect(decodePriceFrame(bytes)).toEqual({ ...FRAME, ...different })
      return { name, hex: bytes.toString('hex'), fields: decoded(bytes) }
    })
    await expect(`${JSON.stringify(vectors, null, 2)}\n`).toMatchFileSnapshot(
      '../../rooms/feed/price-frame-vectors.json',
    )
  })
})

/** CRC-32 (IEEE 802.3), bit by bit: the definition, to check the library's use. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}
