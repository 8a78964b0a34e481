/**
 * A match at a moment of its past, from what is stored: everything else comes out of the journal again, the imbalance
 * out of the positions that were open then, and a settlement price out of the ticks.
 */
import { type Kysely, sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import { decimal, lots, type Price, price } from '../../actors/kernel/micros.ts'
import type { TradeWindow } from '../../actors/kernel/outcome.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { type Instrument, quoteOf } from '../../actors/market/instrument.ts'
import { tradeWindow } from '../../actors/match/suspension.ts'
import { Journal } from '../../db/journal.ts'
import type { Database } from '../../db/postgres/schema.ts'
import { Rederivation } from './rederive.ts'

/** The state after the commit with this number, or after the last commit up to an instant. */
export type Until = { readonly n: number } | { readonly at: Instant }

export interface Moment {
  /** The number of the journal's last row up to the moment, its owner, and the last update that was heard. */
  readonly n: number
  readonly epoch: number
  readonly update: number
  readonly at: Instant
  readonly name: string
  readonly phase: string
  readonly state: string | null
  readonly minute: number | null
  readonly home: { readonly name: string; readonly goals: number | null }
  readonly away: { readonly name: string; readonly goals: number | null }
  readonly settled: boolean
  readonly window: TradeWindow
  readonly instruments: readonly InstrumentThen[]
}

/** Prices in units, the imbalance in lots. */
export interface InstrumentThen {
  readonly id: string
  readonly playerId: number
  readonly name: string
  readonly side: string
  readonly role: string
  readonly base: number
  readonly imbalance: number
  readonly price: number
  readonly window: TradeWindow
}

/** Null before the first update of the match. Throws when the journal has a gap, or ends before the moment. */
export async function momentOf(db: Kysely<Database>, matchId: FixtureId, until: Until): Promise<Moment | null> {
  const again = new Rederivation(matchId)
  let [n, epoch, heardAt] = [0, 0, 0]
  let isReached = false
  for await (const commit of new Journal(db).read(matchId)) {
    const at = commit.lines[0]?.at ?? heardAt
    isReached = 'n' in until ? commit.n > until.n : at > until.at
    if (isReached) break
    for (const line of commit.lines) again.hear(line, commit.epoch)
    ;[n, epoch, heardAt] = [commit.n, commit.epoch, at]
  }
  if (n === 0) return null
  if ('n' in until && !isReached && n < until.n) throw new Error(`the journal of match ${matchId} ends with row ${n}`)
  const { state } = again
  if (state === null) return null
  const at = 'n' in until ? instant(heardAt) : until.at
  const listed = [...state.instruments()]
  const exposures = await exposuresAt(db, matchId, at)
  const settlements = await settlementsAt(db, listed, at)
  const settled = settlements.size > 0
  const rules = again.rules
  const window = tradeWindow(settled ? { ...state.info, settling: 'full_time' } : state.info, null, at, rules)
  const thenOf = (one: Instrument): InstrumentThen => {
    const imbalance = lots(exposures.get(one.id) ?? 0)
    const instrument = { ...one, imbalance, settlement: settlements.get(one.id) ?? null }
    const quote = quoteOf(instrument)
    return {
      id: one.id,
      playerId: one.playerId,
      name: one.name,
      side: one.side,
      role: one.role,
      base: decimal(quote.base),
      imbalance: decimal(imbalance),
      price: decimal(quote.price),
      window: window.status === 'CLOSED' ? window : tradeWindow(state.info, instrument, at, rules),
    }
  }
  const { name, phase, state: reported, minute, home, away, feedSeq } = state.info
  return {
    n,
    epoch,
    update: feedSeq,
    at,
    name,
    phase,
    state: reported,
    minute,
    home: { name: home.name, goals: home.goals },
    away: { name: away.name, goals: away.goals },
    settled,
    window,
    instruments: listed.map(thenOf),
  }
}

/** By instrument: the sum of what was open after every commit up to this instant. No league moves a price. */ // T37
async function exposuresAt(
  db: Kysely<Database>,
  matchId: FixtureId,
  at: Instant,
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; exposure: string }>`
    select instrument_id as id, sum(sign * lots_micros)::text as exposure
      from all_positions
     where match_id = ${matchId}::bigint and purse in ('main', 'practice') and opened_at <= ${timeOf(at)}::timestamptz
       and (closed_at is null or closed_at > ${timeOf(at)}::timestamptz)
     group by instrument_id`.execute(db)
  return new Map(rows.map(({ id, exposure }) => [id, Number(exposure)]))
}

/** By instrument, for those that had been settled by then. A lasting instrument has settled in earlier matches too. */
async function settlementsAt(
  db: Kysely<Database>,
  instruments: readonly Instrument[],
  at: Instant,
): Promise<ReadonlyMap<string, Price>> {
  if (instruments.length === 0) return new Map()
  const ids = instruments.map(({ id }) => id)
  const { rows } = await sql<{ id: string; price: string }>`
    select s.instrument_id as id, s.price_micros::text as price
      from unnest(${`{${ids.join(',')}}`}::uuid[]) as wanted (id)
     cross join lateral (
       select t.instrument_id, t.price_micros, t.cause from ticks t
        where t.instrument_id = wanted.id and t.at <= ${timeOf(at)}::timestamptz
          and t.cause in ('listing', 'settlement')
        order by t.at desc limit 1) s
     where s.cause = 'settlement'`.execute(db)
  return new Map(rows.map((row) => [row.id, price(Number(row.price))]))
}

const timeOf = (at: Instant): string => new Date(at).toISOString()

/** The state of a match as a table for the terminal. */
export function drawn(moment: Moment): string {
  const { home, away, window } = moment
  const score = `${home.name} ${home.goals ?? '–'}:${away.goals ?? '–'} ${away.name}`
  const minute = moment.minute === null ? '' : `, minute ${moment.minute}`
  const head = [
    `${score}, ${moment.phase}${minute}, ${present(WORDS[window.status], 'status')}${because(window)}`,
    `row ${moment.n} of the journal, update ${moment.update}, owner ${moment.epoch}, ${timeOf(moment.at)}`,
  ]
  const columns = ['player', 'side', 'role', 'base', 'imbalance', 'price', 'status']
  const rows = moment.instruments.map((one) => [
    one.name,
    one.side,
    one.role,
    one.base.toFixed(4),
    one.imbalance.toFixed(2),
    one.price.toFixed(4),
    one.window.status,
  ])
  const isNumber = (column: number): boolean => column >= 3 && column <= 5
  const widths = columns.map((name, n) => Math.max(name.length, ...rows.map((row) => (row[n] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, n) => (isNumber(n) ? cell.padStart(widths[n] ?? 0) : cell.padEnd(widths[n] ?? 0)))
      .join('  ')
      .trimEnd()
  return [...head, '', line(columns), ...rows.map(line)].join('\n')
}

const WORDS: Readonly<Record<string, string>> = { OPEN: 'open', SUSPENDED: 'suspended', CLOSED: 'closed' }
const because = ({ reason }: TradeWindow): string => (reason === null ? '' : ` (${reason})`)
