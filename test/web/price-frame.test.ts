/** The client's decoder against the server's encoder. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fixtureId, instrumentId } from '../../actors/kernel/ids.ts'
import { decimal, lots, MICROS_MAX, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { CAUSES } from '../../actors/market/instrument.ts'
import { encodePriceFrame, FLAG as SERVER_FLAG, type PriceFrame } from '../../rooms/feed/price-frame.ts'
import { decodePriceFrame, FLAG, PRICE_FRAME_BYTES } from '../../src/web/client/price-frame.ts'

const uint32 = fc.nat(0xffff_ffff)
const anyPrice = fc.integer({ min: 1, max: MICROS_MAX }).map(price)
const frames: fc.Arbitrary<PriceFrame> = fc.record({
  flags: fc.nat(63),
  epoch: uint32,
  seq: fc.nat(Number.MAX_SAFE_INTEGER),
  instrumentId: fc.uuid().map(instrumentId),
  at: fc.nat(4_102_444_800_000).map(instant),
  price: anyPrice,
  base: anyPrice,
  imbalance: fc.integer({ min: -MICROS_MAX, max: MICROS_MAX }).map(lots),
  previous: anyPrice,
  providerEventId: fc.nat(Number.MAX_SAFE_INTEGER),
  fixtureId: uint32.map(fixtureId),
  phase: fc.constantFrom('scheduled', 'live', 'break', 'ended', 'final', 'off', 'frozen'),
  cause: fc.constantFrom(...CAUSES),
  minute: fc.option(fc.nat(200)),
  status: fc.constantFrom('CLOSED', 'OPEN', 'SUSPENDED'),
})

const bytesOf = (frame: PriceFrame): ArrayBuffer => new Uint8Array(encodePriceFrame(frame)).buffer

it('[W1] the client decodes every frame to the values the server encoded', () => {
  expect(FLAG).toEqual(SERVER_FLAG)
  fc.assert(
    fc.property(frames, (frame) => {
      expect(decodePriceFrame(bytesOf(frame))).toEqual({
        flags: frame.flags,
        epoch: frame.epoch,
        seq: frame.seq,
        instrumentId: frame.instrumentId,
        at: frame.at,
        price: decimal(frame.price),
        liveBase: decimal(frame.base),
        imbalance: decimal(frame.imbalance),
        previousPrice: decimal(frame.previous),
        eventId: frame.providerEventId,
        fixtureId: frame.fixtureId,
        cause: frame.cause,
        minute: frame.minute,
        tradingStatus: frame.status,
      })
    }),
  )
})

it('[W1] decodes a damaged frame to null', () => {
  fc.assert(
    fc.property(frames, fc.nat(PRICE_FRAME_BYTES - 1), fc.integer({ min: 1, max: 255 }), (frame, at, change) => {
      const bytes = new Uint8Array(bytesOf(frame))
      bytes[at] = (bytes[at] ?? 0) ^ change
      expect(decodePriceFrame(bytes.buffer)).toBeNull()
      expect(decodePriceFrame(bytes.buffer.slice(1))).toBeNull()
    }),
  )
})
