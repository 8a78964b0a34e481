/**
 * Arrays in PostgreSQL's binary format, for `commit_batch`, whose arguments are arrays of hundreds of values. Numbers
 * and UUIDs as text would cost a twentieth of a trade (measured by `npm run bench:trade`). The format is in array_recv,
 * PostgreSQL's arrayfuncs.c.
 */
import { InvariantBroken, present } from '../../actors/kernel/assert.ts'
import { type ArrayFormat, texts } from './arrays.ts'

/** Element types by their numbers in pg_type.dat. */
const OID = { bytea: 17, int8: 20, int2: 21, int4: 23, uuid: 2950, timestamptz: 1184 } as const

/** PostgreSQL counts microseconds from 2000-01-01. */
const EPOCH_MS = Date.UTC(2000, 0, 1)

const HEADER_BYTES = 20
const TWO_TO_32 = 0x1_0000_0000

interface Integers {
  readonly oid: number
  readonly size: number
  /** The largest value; the smallest is its complement. */
  readonly max: number
  readonly write: (view: DataView, at: number, value: number) => void
}

/** Throws InvariantBroken for a value out of range: as bytes it would be a different one. */
function integersOf({ oid, size, max, write }: Integers, values: readonly (number | null)[]): Buffer {
  if (values.length === 0) return emptyOf(oid)
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.length * (4 + size))
  const view = viewOf(buffer)
  let at = HEADER_BYTES
  for (const value of values) {
    view.setInt32(at, value === null ? NULL : size)
    at += 4
    if (value === null) continue
    if (!Number.isInteger(value) || value > max || value < -max - 1) {
      throw new InvariantBroken(`${value} is not an integer of ${size} bytes`)
    }
    write(view, at, value)
    at += size
  }
  return headed(buffer.subarray(0, at), oid, values)
}

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView => new DataView(buffer, byteOffset, byteLength)

/** In place of a length. */
const NULL = -1

/** Fills in the header; the elements are already behind it. */
function headed(array: Buffer, oid: number, values: readonly unknown[]): Buffer {
  const view = viewOf(array)
  view.setInt32(0, 1) // dimensions
  view.setInt32(4, values.includes(null) ? 1 : 0)
  view.setInt32(8, oid)
  view.setInt32(12, values.length)
  view.setInt32(16, 1) // the first index
  return array
}

/** Created once: most arrays of a small batch are empty. */
const EMPTY = new Map<number, Buffer>(
  Object.values(OID).map((oid) => [oid, Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, oid >> 8, oid & 255])]),
)
const emptyOf = (oid: number): Buffer => present(EMPTY.get(oid), `an empty array of ${oid}`)

const INT8: Integers = {
  oid: OID.int8,
  size: 8,
  max: Number.MAX_SAFE_INTEGER,
  write: (view, at, value) => {
    view.setInt32(at, Math.floor(value / TWO_TO_32))
    view.setUint32(at + 4, value >>> 0)
  },
}
const INT4: Integers = {
  oid: OID.int4,
  size: 4,
  max: 2 ** 31 - 1,
  write: (view, at, value) => view.setInt32(at, value),
}
const INT2: Integers = {
  oid: OID.int2,
  size: 2,
  max: 2 ** 15 - 1,
  write: (view, at, value) => view.setInt16(at, value),
}
const TIMESTAMPTZ: Integers = {
  oid: OID.timestamptz,
  size: 8,
  max: 100_000_000 * 24 * 3_600_000, // the range of Date, in milliseconds
  write: (view, at, ms) => INT8.write(view, at, (ms - EPOCH_MS) * 1_000),
}

/** All texts become bytes at once, without a function call for each: that takes half the time. */
function uuids(values: readonly (string | null)[]): Buffer {
  if (values.length === 0) return emptyOf(OID.uuid)
  const text = Buffer.from(values.join(''), 'latin1') // null joins as the empty text
  const given = values.reduce((sum, value) => (value === null ? sum : sum + 1), 0)
  if (text.length !== given * UUID_LENGTH) throw new InvariantBroken('one of these is not a UUID: ' + values.join(', '))
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.length * (4 + UUID_BYTES))
  let [at, from] = [HEADER_BYTES, 0]
  for (const value of values) {
    buffer.writeInt32BE(value === null ? NULL : UUID_BYTES, at)
    at += 4
    if (value === null) continue
    for (let n = 0; n < UUID_BYTES; n++) {
      const digit = from + (FIRST_DIGITS[n] ?? 0)
      buffer[at + n] = ((DIGITS[text[digit] ?? 0] ?? 0) << 4) | (DIGITS[text[digit + 1] ?? 0] ?? 0)
    }
    at += UUID_BYTES
    from += UUID_LENGTH
  }
  return headed(buffer.subarray(0, at), OID.uuid, values)
}

const UUID_BYTES = 16
const UUID_LENGTH = 36
/** Where each byte of a UUID begins in its text. */
const FIRST_DIGITS = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34)

/** By character, `0` to `9`, `a` to `f` and `A` to `F`: a letter's lower four bits count from 1. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => (code < 0x40 ? code & 15 : (code & 15) + 9))

function bytes(values: readonly (Uint8Array | null)[]): Buffer {
  if (values.length === 0) return emptyOf(OID.bytea)
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 0))
  let at = HEADER_BYTES
  for (const value of values) {
    buffer.writeInt32BE(value === null ? NULL : value.length, at)
    at += 4
    if (value === null) continue
    buffer.set(value, at)
    at += value.length
  }
  return headed(buffer, OID.bytea, values)
}

export const BINARY: ArrayFormat = {
  bigints: (values) => integersOf(INT8, values),
  integers: (values) => integersOf(INT4, values),
  smallints: (values) => integersOf(INT2, values),
  uuids,
  instants: (values) => integersOf(TIMESTAMPTZ, values),
  bytes,
  texts, // binary is no shorter
}
