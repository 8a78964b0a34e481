/** Reads the rows of a match, and makes of them its record, or what can be rescued of it. */
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import {
  type FixtureId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  playerId,
  type PositionId,
} from '../actors/kernel/ids.ts'
import { lots, MICROS_MAX, price, slope } from '../actors/kernel/micros.ts'
import { keyOf } from '../actors/kernel/read.ts'
import { type Instant, instant, MINUTE_MS } from '../actors/kernel/world.ts'
import type { FixtureTeam, Side } from '../actors/market/fixture.ts'
import type { Instrument } from '../actors/market/instrument.ts'
import { readNewsMemory } from '../actors/market/news-memory.ts'
import { PHASE_CODE } from '../actors/market/phase.ts'
import { readPricing } from '../actors/market/read-pricing.ts'
import type { MatchInfo } from '../actors/match/messages.ts'
import type { MovableClose } from '../actors/match/protection/closes.ts'
import { quarantined, rescuedInfo } from '../actors/match/quarantine.ts'
import { readMatchInfo, readTeam } from '../actors/match/read-match-info.ts'
import type { MatchRecord } from '../actors/match/store.ts'
import { exposureOf, type Parted, type Position } from '../actors/position/position.ts'
import { partedOf, withParts } from './parts.ts'
import { isImpossible, POSITION_COLUMNS, positionFrom, type PositionRow, rescuedPosition } from './positions.ts'
import { uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import type { InstrumentsTable, MatchesTable } from './postgres/schema/matches.ts'

/** All rows of a match, as of one moment. */
export interface MatchRows {
  readonly match: Selectable<MatchesTable>
  readonly instruments: readonly Selectable<InstrumentsTable>[]
  readonly positions: readonly PositionRow[]
  readonly parts: ReadonlyMap<PositionId, Parted>
  readonly movable: readonly (PositionRow & { readonly movable_until: Date | null })[]
  /** Whether positions were set aside, whose lots are still in the imbalances. */
  readonly hasCorrupt: boolean
}

/** More are not a few bad rows but another fault, and the match does not start. */
const CORRUPT_MAX = 1_000

/** Null for an unknown match. `now` by the clock of those who run matches: closes that stand by then are left out. */
export function readMatchRows(db: Kysely<Database>, matchId: FixtureId, now: Instant): Promise<MatchRows | null> {
  // One snapshot for all reads, so that no commit of a former owner falls between them.
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const match = await tx.selectFrom('matches').selectAll().where('id', '=', matchId).executeTakeFirst()
      if (match === undefined) return null
      const instruments = await tx
        .selectFrom('instruments')
        .selectAll()
        .where('match_id', '=', matchId)
        .orderBy('id')
        .execute()
      const corrupt = await setCorruptAside(tx, matchId)
      const positions = await tx
        .selectFrom('positions')
        .select(POSITION_COLUMNS)
        .where('match_id', '=', matchId)
        .where('closed_at', 'is', null)
        .$if(corrupt.length > 0, (open) => open.where('id', 'not in', [...corrupt]))
        .orderBy('opened_at')
        .orderBy('id')
        .execute()
      const parts = await partedOf(tx, matchId, 'all')
      const movable = await movableRowsOf(tx, matchId, now)
      return { match, instruments, positions, parts, movable, hasCorrupt: corrupt.length > 0 }
    })
}

/** Throws Unreadable or InvariantBroken when the rows cannot be read. */
export function recordFrom({ match, instruments, positions, parts, movable, hasCorrupt }: MatchRows): MatchRecord {
  const openPositions = positions.map((row) => withParts(positionFrom(row), parts))
  const listed = instruments.map(instrumentFrom)
  return {
    info: readMatchInfo(match.info, `match ${match.id}: info`),
    pricing: readPricing(match.pricing, `match ${match.id}: pricing`),
    instruments: hasCorrupt ? withoutCorrupt(listed, openPositions) : listed,
    openPositions,
    movableCloses: movable.flatMap((row) => movableCloseFrom(row, parts)),
  }
}

/** What can be read of the rows. Closes that news might still move stand. */
export function rescuedRecordFrom({ match, instruments, positions, parts }: MatchRows, reason: string): MatchRecord {
  return quarantined(
    rescuedInfoFrom(match, reason),
    instruments.map(rescuedInstrument),
    positions.map((row) => withParts(rescuedPosition(row), parts)),
  )
}

/** What the description of a match is read from, and what is known of it where that fails. */
export const MATCH_COLUMNS = ['id', 'starts_at', 'phase', 'replay', 'settled_at', 'quarantine', 'info'] as const
export type MatchRow = Pick<Selectable<MatchesTable>, (typeof MATCH_COLUMNS)[number]>

/** A match that cannot be read is shown as suspended, or over: it must not keep the others from being shown. */
export function infoFrom(row: MatchRow): MatchInfo {
  if (row.quarantine !== null && row.settled_at === null) return rescuedInfoFrom(row, row.quarantine)
  try {
    return readMatchInfo(row.info, `match ${row.id}: info`)
  } catch (error) {
    return rescuedInfoFrom(row, error instanceof Error ? error.message : String(error))
  }
}

/** A team in the description of a match, without a name of its own where it cannot be read. */
export function teamFrom(team: unknown, side: Side): FixtureTeam {
  try {
    return readTeam(team, side)
  } catch {
    return { id: 0, name: side === 'home' ? 'Home' : 'Away', goals: null }
  }
}

/** The description of a match, as far as it can be read. */
export function rescuedInfoFrom(row: MatchRow, reason: string): MatchInfo {
  const known = {
    matchId: fixtureId(row.id),
    replay: row.replay,
    startsAt: instant(row.starts_at.getTime()),
    settledAt: row.settled_at === null ? null : instant(row.settled_at.getTime()),
    phase: phaseFrom(row.phase),
  }
  return rescuedInfo(row.info, known, reason)
}

const readPhase = keyOf(PHASE_CODE)

/** A count in the description of a match, null if it is none: no row may stop a query that reads all. */
export const countIn = (field: 'feedSeq' | 'minute'): RawBuilder<number | null> =>
  sql<
    number | null
  >`case when matches.info ->> ${sql.lit(field)} ~ '^[0-9]{1,9}$' then (matches.info ->> ${sql.lit(field)})::bigint end`

/** An unknown phase is that of a match whose state is unknown. */
export function phaseFrom(text: string): MatchInfo['phase'] {
  try {
    return readPhase(text, 'phase')
  } catch {
    return 'frozen'
  }
}

function instrumentFrom(row: Selectable<InstrumentsTable>): Instrument {
  return {
    id: instrumentId(row.id),
    playerId: playerId(row.player_id),
    name: row.name,
    role: row.role,
    side: row.side,
    jersey: row.jersey,
    starter: row.starter,
    start: price(row.start_micros),
    slope: slope(row.slope_micros),
    impactCapPpm: row.impact_cap_ppm,
    base: price(row.base_micros),
    imbalance: lots(row.imbalance_micros),
    published: price(row.published_micros),
    news: row.news === null ? null : readNewsMemory(row.news, `news of ${row.id}`),
    endedImbalance: row.ended_imbalance_micros === null ? null : lots(row.ended_imbalance_micros),
    leavingFrom: row.leaving_from_micros === null ? null : lots(row.leaving_from_micros),
    settlement: row.settlement_micros === null ? null : price(row.settlement_micros),
  }
}

/** The instrument without its news, which protection alone needs, if they cannot be read. */
export function rescuedInstrument(row: Selectable<InstrumentsTable>): Instrument {
  try {
    return instrumentFrom(row)
  } catch {
    return instrumentFrom({ ...row, news: null })
  }
}

/** More than the clocks of two processes are apart. */
const CLOCKS_APART_MS = MINUTE_MS

/** Protection: the closes that news may still move. The few that there are have an index; without it there are none. */
function movableRowsOf(tx: Transaction<Database>, matchId: FixtureId, now: Instant) {
  return tx
    .selectFrom('positions')
    .select([...POSITION_COLUMNS, 'movable_until'])
    .where('movable_until', '>', new Date(now - CLOCKS_APART_MS))
    .where('match_id', '=', matchId)
    .where('closed_by', '<>', 'void')
    .orderBy('closed_at')
    .orderBy('id')
    .execute()
}

function movableCloseFrom(row: MatchRows['movable'][number], parts: MatchRows['parts']): MovableClose[] {
  const position = withParts(positionFrom(row), parts)
  const { close } = position
  const until = present(row.movable_until, 'end of a movable close').getTime()
  return close === null ? [] : [{ position: { ...position, close }, until: instant(until) }]
}

/**
 * Positions of an unknown player, or with quantities that no trade can have. They stay open and unpaid until an
 * operator has corrected them, so that the match can go on without them. Returns their ids.
 */
async function setCorruptAside(tx: Transaction<Database>, matchId: FixtureId): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.id from positions p
     where p.match_id = ${matchId}::bigint and p.closed_at is null
       and (${isImpossible} or not exists (select from instruments i where i.id = p.instrument_id and i.match_id = p.match_id))
     limit ${CORRUPT_MAX}::integer`.execute(tx)
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  await sql`
    insert into unpaid_closes (position_id, user_id, purse, amount_micros, at)
      select id, user_id, purse, greatest(1, least(margin_micros, ${MICROS_MAX}::bigint)), now()
        from positions where id = any(${uuids(ids)}::uuid[])
      on conflict do nothing`.execute(tx)
  return ids
}

/** The imbalance is that of the positions which are left, and so is the one that others are leaving from. */
function withoutCorrupt(instruments: readonly Instrument[], positions: readonly Position[]): readonly Instrument[] {
  const exposures = new Map<InstrumentId, number>()
  for (const one of positions) {
    exposures.set(one.instrumentId, (exposures.get(one.instrumentId) ?? 0) + exposureOf(one))
  }
  return instruments.map((one) => {
    const imbalance = lots(exposures.get(one.id) ?? 0)
    const from = one.leavingFrom
    return { ...one, imbalance, leavingFrom: from === null ? null : lots(from + imbalance - one.imbalance) }
  })
}
