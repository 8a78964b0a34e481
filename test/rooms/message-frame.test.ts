import { Protocol } from '@colyseus/core'
import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { expect, it } from 'vitest'
import { endOfValue, readable } from '../../rooms/match/message-frame.ts'

/** As the SDK writes, and as other programs do. */
const packrs = [new Packr(), new Packr({ useRecords: false })]
const SUBSCRIBE = Buffer.concat([Buffer.of(0xa9), Buffer.from('subscribe')])
const data = (name: Buffer, ...value: readonly number[]): Buffer => Buffer.from([Protocol.ROOM_DATA, ...name, ...value])
const UNREADABLE = [0xd9, 0xff]

/** Each level names the one below twice: as many values as there are paths through it. */
const bomb = (levels: number): readonly number[] =>
  Array.from({ length: levels }, (_, n) => {
    const below = [0xd6, 0x70, 0, 0, 0, n - 1]
    return [0xd6, 0x69, 0, 0, 0, n, ...(n === 0 ? [0x90] : [0x92, ...below, ...below])]
  }).reduce((all, level) => [...all, ...level], [0xdc, levels >> 8, levels & 255])

it('whatever an SDK sends is read as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: 'medium' }), fc.constantFrom(...packrs), fc.nat(), (value, packr, id) => {
      const packed = Buffer.from(packr.pack(value))
      expect(endOfValue(packed, 0)).toBe(packed.length)
      for (const head of [
        [Protocol.ROOM_DATA, ...SUBSCRIBE],
        [Protocol.ROOM_DATA, 7],
        [Protocol.ROOM_REQUEST, id % 128, ...SUBSCRIBE],
        [Protocol.ROOM_REQUEST, 0xce, 1, 2, 3, 4, 0xd9, 2, 0x61, 0x62],
      ]) {
        const frame = Buffer.from([...head, ...packed])
        expect(readable(frame)).toBe(frame)
      }
    }),
  )
  const wide = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`name ${n}`, n]))
  for (const packr of packrs) expect(endOfValue(Buffer.from(packr.pack([wide, wide])), 0)).not.toBeNull()
  const bare = data(SUBSCRIBE)
  expect(readable(bare)).toBe(bare)
})

it.each([
  ['values that are named and referred to', bomb(30)],
  ['a byte too many', [0x90, 0]],
  ['a value that is cut off', [0x92, 1]],
  ['more than there is', [0xdf, 0xff, 0xff, 0xff, 0xff]],
  ['a record whose names are values', [0xd4, 0x72, 0x40, 0x91, 0x91, 0xa1, 0x61, 1]],
  ['a record that is cut off', [0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61]],
  [
    'a record that is defined again',
    [0x92, 0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 1, 0xd4, 0x72, 0x40, 0x91, 0xa1, 0x62, 1],
  ],
  ['a record of two bytes', [0xd5, 0x72, 0x40, 0, 0x91, 0xa1, 0x61, 1]],
  ['strings in a bundle', [0xd6, 0x62, 0, 0, 0, 9, 0xa1, 0x61]],
  ['an expression', [0xd4, 0x78, 0, 0x92, 0xa1, 0x61, 0xa0]],
  ['a token that is not used', [0xc1]],
])('of %s only the type is read', (_what, value) => {
  expect(readable(data(SUBSCRIBE, ...value))).toEqual(data(SUBSCRIBE, ...UNREADABLE))
  const head = Buffer.from([Protocol.ROOM_REQUEST | 0x20, 9, ...SUBSCRIBE])
  expect(readable(Buffer.from([...head, ...value]))).toEqual(Buffer.from([...head, ...UNREADABLE]))
})

it('a type is a number or a short string, without letters that no type has', () => {
  for (const name of [[0x91, 1], [0xc4, 1, 0], [0xda, 1, 0, 0x61], [0xd9, 200, 0x61], [0xc0], [0xa0]]) {
    expect(readable(data(Buffer.from(name), 1))).toEqual(Buffer.of(Protocol.ROOM_DATA, 0x3f, ...UNREADABLE))
  }
  expect(readable(data(Buffer.of(0xa2, 0xff, 0x61), 1))).toEqual(data(Buffer.of(0xa2, 0x3f, 0x61), 1))
  const long = Buffer.from([0xd9, 200, ...Array.from({ length: 200 }, () => 0x80)])
  expect(readable(data(long, 1))).toEqual(data(Buffer.from([0xd9, 200, ...Array.from({ length: 200 }, () => 0x3f)]), 1))
})
