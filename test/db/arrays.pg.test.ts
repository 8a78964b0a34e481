import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { InvariantBroken } from '../../actors/kernel/assert.ts'
import { LITERALS } from '../../db/postgres/arrays.ts'
import { BINARY } from '../../db/postgres/binary-arrays.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { eachDatabase } from '../support/databases.ts'

interface Arrays {
  readonly bigints: readonly (number | null)[]
  readonly integers: readonly (number | null)[]
  readonly smallints: readonly number[]
  readonly uuids: readonly (string | null)[]
  readonly instants: readonly (number | null)[]
  readonly texts: readonly (string | null)[]
  /** In hexadecimal. */
  readonly bytes: readonly (string | null)[]
}

const NOTHING: Arrays = { bigints: [], integers: [], smallints: [], uuids: [], instants: [], texts: [], bytes: [] }
const EXTREMES: Arrays = {
  bigints: [0, -1, 1, 2 ** 32, -(2 ** 32), 2 ** 32 - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null],
  integers: [0, -1, 2 ** 31 - 1, -(2 ** 31), null],
  smallints: [0, -1, 1, 32_767, -32_768],
  uuids: [null, '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  instants: [0, Date.UTC(2000, 0, 1), Date.UTC(1999, 11, 31, 23, 59, 59, 999), Date.UTC(2026, 10, 21) + 1, null],
  texts: ['', 'NULL', null, '"', '\\', '{,}', 'a b', 'ü €'],
  bytes: ['', '00', null, '5c22', 'ff'.repeat(20_000)],
}

const drawn = fc.record({
  bigints: fc.array(fc.option(fc.maxSafeInteger())),
  integers: fc.array(fc.option(fc.integer())),
  smallints: fc.array(fc.integer({ min: -32_768, max: 32_767 })),
  uuids: fc.array(fc.option(fc.uuid())),
  instants: fc.array(fc.option(fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) }))),
  texts: fc.array(fc.option(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')))),
  bytes: fc.array(fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes).toString('hex')))),
})

async function echoed(connection: Connection, format: Connection['arrays'], sent: Arrays): Promise<unknown> {
  const args = {
    // Deliberately not in the order of the declaration.
    texts: format.texts(sent.texts),
    bytes: format.bytes(sent.bytes.map((hex) => (hex === null ? null : Buffer.from(hex, 'hex')))),
    bigints: format.bigints(sent.bigints),
    integers: format.integers(sent.integers),
    smallints: format.smallints(sent.smallints),
    uuids: format.uuids(sent.uuids),
    instants: format.instants(sent.instants),
  }
  const [row] = await connection.call<{ echo: string }>(() => ({ name: 'echo_arrays', args }))
  return row === undefined ? null : JSON.parse(row.echo)
}

describe('the binary format', () => {
  it('refuses a value that would arrive as a different one', () => {
    for (const bad of [Number.NaN, Infinity, 1.5, 2 ** 53, -(2 ** 53) - 2]) {
      expect(() => BINARY.bigints([1, bad]), String(bad)).toThrow(InvariantBroken)
    }
    for (const bad of [2 ** 31, -(2 ** 31) - 1]) expect(() => BINARY.integers([bad])).toThrow(InvariantBroken)
    for (const bad of [2 ** 15, -(2 ** 15) - 1]) expect(() => BINARY.smallints([bad])).toThrow(InvariantBroken)
    for (const bad of [Number.NaN, 1e16]) expect(() => BINARY.instants([bad])).toThrow(InvariantBroken)
    const id = '00000000-0000-4000-8000-000000000001'
    for (const bad of ['', id.slice(1), `${id}0`]) {
      expect(() => BINARY.uuids([id, null, bad]), bad).toThrow(InvariantBroken)
    }
  })
})

eachDatabase((open) => {
  beforeAll(() =>
    sql`
      create function echo_arrays(bigints bigint[], integers integer[], smallints smallint[], uuids uuid[],
                                  instants timestamptz[], texts text[], bytes bytea[])
      returns table (echo text) language sql as $$
        select json_build_object(
          'bigints', bigints, 'integers', integers, 'smallints', smallints, 'uuids', uuids,
          'instants', array(select (extract(epoch from i) * 1000)::bigint from unnest(instants) i), 'texts', texts,
          'bytes', array(select encode(b, 'hex') from unnest(bytes) b))::text
      $$`.execute(open().db),
  )

  it('arrays arrive unchanged, as literals and in the preferred format of the connection', async () => {
    for (const format of [open().arrays, LITERALS]) {
      for (const sent of [NOTHING, EXTREMES]) expect(await echoed(open(), format, sent)).toEqual(sent)
      await fc.assert(
        fc.asyncProperty(drawn, async (sent) => {
          expect(await echoed(open(), format, sent)).toEqual(sent)
        }),
        { numRuns: 100 },
      )
    }
  })
})
