/**
 * Cursors: where the next page of a list begins. A cursor names the last row of a page by what the list is sorted by.
 * Rows that are added meanwhile neither repeat nor hide others.
 */
import { crc32 } from 'node:zlib'
import { z } from '@hono/zod-openapi'
import { INSTANT_MAX, INSTANT_MIN, unfitIn } from './unfit-values.ts'

const LENGTH_MAX = 400

/** The `nextCursor` of a page. */
export const nextCursor = z.string().nullable().openapi({
  description: 'Opaque. Send it as `cursor` for the next page; null on the last.',
  example: null,
})

export interface Cursor<Key> {
  /** The query parameter `cursor`: the key of the last row of the page before. */
  readonly input: z.ZodOptional<z.ZodType<Key, string>>
  /** The cursor that begins after this key. */
  write(key: Readonly<Key>): string
  /** A page of `found`, which holds one row more than `limit` if there is a next page. */
  page<Row>(found: readonly Row[], limit: number, keyOf: (row: Row) => Readonly<Key>): Page<Row>
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly nextCursor: string | null
}

/** The cursors of one list. Damaged ones, and those of other lists, are refused. `example` is a key of the list. */
export function cursorsOf<Key extends readonly [unknown, ...unknown[]]>(
  list: string,
  key: z.ZodType<Key>,
  example: NoInfer<Key>,
): Cursor<Key> {
  const write = (of: Readonly<Key>): string => {
    const text = JSON.stringify(of)
    return Buffer.from(`${checksum(list, text)}${text}`).toString('base64url')
  }
  const read = (cursor: string): Key | null => {
    const whole = Buffer.from(cursor, 'base64url').toString()
    const text = whole.slice(CHECKSUM_LENGTH)
    if (!whole.startsWith(checksum(list, text))) return null
    const found = key.safeParse(parsed(text))
    const isFit = found.success && unfitIn(found.data) === null
    return isFit && write(found.data) === cursor ? found.data : null
  }
  const input = z
    .string()
    .max(LENGTH_MAX)
    .openapi({ description: 'The `nextCursor` of the page before.', example: write(example) })
    .transform((text, ctx): Key => {
      const found = read(text)
      if (found !== null) return found
      ctx.addIssue({ code: 'custom', message: 'must be a `nextCursor` of this list' })
      return z.NEVER
    })
  return {
    input: input.optional(),
    write,
    page: (found, limit, keyOf) => {
      const rows = found.slice(0, limit)
      const last = rows.at(-1)
      return { rows, nextCursor: found.length > rows.length && last !== undefined ? write(keyOf(last)) : null }
    },
  }
}

/** An instant in a key, by its number of these in a second. */
export const instantKey = (perSecond: 1 | 1_000 | 1_000_000) => {
  const [from, to] = [INSTANT_MIN, INSTANT_MAX].map((ms) => Math.floor(ms / 1_000) * perSecond)
  return z.int().min(Number(from)).max(Number(to))
}

const CHECKSUM_LENGTH = 8

/** Tells damage and other lists. It protects nothing: a key only says where to go on among the caller's own rows. */
const checksum = (list: string, text: string): string =>
  crc32(`${list} ${text}`).toString(16).padStart(CHECKSUM_LENGTH, '0')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
