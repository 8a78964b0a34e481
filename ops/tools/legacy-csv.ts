/** Reads a dump of legacy trades: RFC 4180, a header, and a line per trade. */
import { z } from 'zod'
import { lots, type Lots, microsFromDecimal, price, type Price } from '../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'

/** A trade of the dump; its user is still a name. */
export interface DumpedTrade {
  readonly id: string
  readonly username: string
  readonly player: string
  readonly side: 'buy' | 'sell'
  readonly quantity: Lots
  readonly price: Price
  readonly at: Instant
}

const COLUMNS = ['id', 'username', 'player', 'side', 'quantity', 'price', 'at'] as const

const amount = z.string().transform((text, ctx) => {
  const micros = text.trim() === '' ? null : microsFromDecimal(Number(text))
  if (micros !== null && micros >= 0) return micros
  ctx.addIssue({ code: 'custom', message: `not an amount: ${text}` })
  return z.NEVER
})

const Row = z.object({
  id: z.string().min(1).max(100),
  username: z.string().min(1).toLowerCase(),
  player: z.string().trim().min(1).max(200),
  side: z.enum(['buy', 'sell']),
  quantity: amount.refine((micros) => micros > 0, 'must be above 0').transform(lots),
  price: amount.transform(price),
  at: z.iso.datetime({ offset: true }).transform((text) => instant(Date.parse(text))),
})

/** Throws with the line and the error. A dump with any error is refused as a whole. */
export function readDump(csv: string): readonly DumpedTrade[] {
  const [header = [], ...rows] = recordsOf(csv.replace(/^\uFEFF/, ''))
  const places = COLUMNS.map((column) => header.indexOf(column))
  const missing = COLUMNS.filter((_, n) => places[n] === -1)
  if (missing.length > 0) throw new Error(`the header lacks ${missing.join(', ')}; it must name ${COLUMNS.join(', ')}`)
  const ids = new Set<string>()
  return rows.map((row, n) => {
    const parsed = Row.safeParse(Object.fromEntries(COLUMNS.map((column, i) => [column, row[places[i] ?? -1]])))
    if (parsed.success && ids.size < ids.add(parsed.data.id).size) return parsed.data
    const issues = parsed.success
      ? ['id: an earlier record has it too']
      : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new Error(`record ${n + 2}: ${issues.join('; ')}`)
  })
}

/** Fields may be quoted, and then hold commas, line breaks and doubled quotes. */
function recordsOf(csv: string): string[][] {
  const records: string[][] = []
  let record: string[] = []
  // Sticky: what is no field ends the loop.
  for (const [, quoted, plain = '', end = ''] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy)) {
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    if (record.length > 1 || record[0] !== '') records.push(record)
    record = []
    if (end === '') return records
  }
  throw new Error(`record ${records.length + 1}: a quote or a carriage return stands where none may`)
}
