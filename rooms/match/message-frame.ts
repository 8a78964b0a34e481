/**
 * What Colyseus may read of a client's frame: plain MessagePack, and the records in which its SDK writes objects. Its
 * reader knows more, such as values that are named and referred to: a frame of 1 kB can then be a value of any size to
 * whatever walks it.
 */
import { getMessageBytes, Protocol } from '@colyseus/core'
import { asMessage } from '../feed/price-frame.ts'
import { PRICE_MESSAGE } from './match-wire.ts'

/** Bytes of the number behind a token: a length, a count or the value itself. */
const WIDTHS: Readonly<Record<number, number>> = {
  0xc4: 1,
  0xc5: 2,
  0xc6: 4,
  0xca: 4,
  0xcb: 8,
  0xcc: 1,
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
  0xd0: 1,
  0xd1: 2,
  0xd2: 4,
  0xd3: 8,
  0xd9: 1,
  0xda: 2,
  0xdb: 4,
  0xdc: 2,
  0xdd: 4,
  0xde: 2,
  0xdf: 4,
}
const [BIN, STRING, ARRAY, MAP] = [0xc4, 0xd9, 0xdc, 0xde]
/** An extension of one byte: `undefined`, or a record. */
const [EXTENSION, UNDEFINED, RECORD] = [0xd4, 0, 0x72]
/** A record is repeated by a token from 0x40 to 0x7f. */
const RECORDS = 0x3f
/** A string without its bytes: the reader refuses it. */
const UNREADABLE = [0xd9, 0xff] as const
const QUESTION_MARK = 0x3f
/** The other bits of the first byte say how a message was sent. */
const CODES = 0x1f

/** Where the value ends that begins at `at`; null for one that is cut off or not plain. */
export function endOfValue(bytes: Buffer, at: number): number | null {
  /** The names of each record that has been defined, counted. */
  const records = new Map<number, number>()
  let values = 1
  while (values > 0) {
    const token = bytes[at]
    if (token === undefined) return null
    values--
    at++
    if (token < 0x80) values += token > RECORDS ? (records.get(token & RECORDS) ?? 0) : 0
    else if (token >= 0xe0 || token === 0xc0 || token === 0xc2 || token === 0xc3) continue
    else if (token < 0x90) values += 2 * (token - 0x80)
    else if (token < 0xa0) values += token - 0x90
    else if (token < 0xc0) at += token - 0xa0
    else if (token === EXTENSION && bytes[at] === UNDEFINED) at += 2
    else if (token === EXTENSION && bytes[at] === RECORD) {
      const record = (bytes[at + 1] ?? 0) & RECORDS
      const names = countedNames(bytes, at + 2)
      // For each that is read four times a reader is compiled: there must not be one for every few bytes.
      if (names === null || records.has(record)) return null
      records.set(record, names.count)
      values += names.count
      at = names.end
    } else {
      const width = WIDTHS[token]
      if (width === undefined || at + width > bytes.length) return null
      const number = width === 8 ? 0 : bytes.readUIntBE(at, width)
      at += width
      if (token >= MAP) values += 2 * number
      else if (token >= ARRAY) values += number
      else if (token >= STRING || token < BIN + 3) at += number
    }
    if (at > bytes.length) return null
  }
  return at
}

/** The names of a record: a list of strings. Null for anything else. */
function countedNames(bytes: Buffer, at: number): { readonly count: number; readonly end: number } | null {
  const token = bytes[at] ?? 0
  const isLong = token === ARRAY && at + 3 <= bytes.length
  const count = isLong ? bytes.readUInt16BE(at + 1) : token - 0x90
  if (count < 0 || (!isLong && count > 0xf)) return null
  let end = at + (isLong ? 3 : 1)
  for (let n = 0; n < count; n++) {
    const name = bytes[end] ?? 0
    const isString = (name >= 0xa0 && name < 0xc0) || (name >= STRING && name < ARRAY)
    const next = isString ? endOfValue(bytes, end) : null
    if (next === null) return null
    end = next
  }
  return { count, end }
}

/** The same for what stands before the value: Colyseus reads its longer strings in another order of bytes. */
function endOfName(frame: Buffer, at: number): number | null {
  const token = frame[at] ?? 0
  const length = token > 0xa0 && token < 0xc0 ? token - 0xa0 : token === STRING ? (frame[at + 1] ?? 0) + 1 : null
  const end = length === null ? endOfNumber(frame, at) : at + 1 + length
  return end !== null && end <= frame.length ? end : null
}

function endOfNumber(frame: Buffer, at: number): number | null {
  const token = frame[at]
  if (token === undefined) return null
  if (token < 0x80 || token >= 0xe0) return at + 1
  return token >= 0xca && token <= 0xd3 ? at + 1 + (WIDTHS[token] ?? 0) : null
}

/**
 * The frame as Colyseus may read it: one with a payload that is not plain gets one that cannot be read, and a type of
 * other letters than ASCII, which no message has, is one of question marks.
 */
export function readable(frame: Buffer): Buffer {
  const code = (frame[0] ?? 0) & CODES
  if (code !== Protocol.ROOM_REQUEST && code !== Protocol.ROOM_DATA && code !== Protocol.ROOM_DATA_BYTES) return frame
  const nameAt = code === Protocol.ROOM_REQUEST ? endOfNumber(frame, 1) : 1
  const valueAt = nameAt === null ? null : endOfName(frame, nameAt)
  if (nameAt === null || valueAt === null) return Buffer.of(Protocol.ROOM_DATA, QUESTION_MARK, ...UNREADABLE)
  const isPlain =
    code === Protocol.ROOM_DATA_BYTES || valueAt === frame.length || endOfValue(frame, valueAt) === frame.length
  const isString = (frame[nameAt] ?? 0) > 0xa0 && endOfNumber(frame, nameAt) === null
  const lettersAt = nameAt + (frame[nameAt] === STRING ? 2 : 1)
  const name = frame.subarray(lettersAt, valueAt)
  if (isPlain && !(isString && name.some(isForeign))) return frame
  return Buffer.concat([
    frame.subarray(0, lettersAt),
    isString ? name.map((byte) => (isForeign(byte) ? QUESTION_MARK : byte)) : name,
    isPlain ? frame.subarray(valueAt) : Buffer.from(UNREADABLE),
  ])
}

const isForeign = (byte: number): boolean => byte >= 0x80

/** A frame of prices in the form in which Colyseus sends bytes, made once for all subscribers. */
export const priceMessage = (frame: Buffer): Buffer =>
  asMessage(Buffer.from(getMessageBytes.raw(Protocol.ROOM_DATA_BYTES, PRICE_MESSAGE, undefined, frame)))
