/** Matches whose stored state cannot be read: noting them, and what operators see of them. */
import { type Kysely, sql } from 'kysely'
import { type FixtureId, fixtureId, type PositionId, type UserId, userId } from '../actors/kernel/ids.ts'
import { type Money, money } from '../actors/kernel/micros.ts'
import { type Instant, instant } from '../actors/kernel/world.ts'
import type { Notice } from '../actors/community/notices.ts'
import type { MatchInfo } from '../actors/match/messages.ts'
import { insertNotices } from './announcements.ts'
import { rescuedInfoFrom } from './match-record.ts'
import { type HeldPosition, heldFrom, POSITION_COLUMNS, PRICE_COLUMNS } from './positions.ts'
import type { Database } from './postgres/schema.ts'

/** An unsettled match whose stored state cannot be read. */
export interface QuarantinedMatch {
  readonly matchId: FixtureId
  readonly name: string
  readonly reason: string
  readonly since: Instant
  /** Open positions, and the sum of their margins. */
  readonly positions: number
  readonly margin: Money
}

/** An open position of a match, with the names of its player and owner. */
export interface OpenPosition {
  readonly held: HeldPosition
  readonly playerName: string
  readonly username: string | null
}

const LISTED_MAX = 100

/** Notes why the state of a match cannot be read, and tells the holders of its positions, each once. */
export async function noteQuarantine(
  db: Kysely<Database>,
  { info, reason, at }: { readonly info: MatchInfo; readonly reason: string; readonly at: Instant },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('matches')
      .set((row) => ({
        quarantine: reason,
        quarantined_at: row.fn.coalesce('quarantined_at', row.val(new Date(at))),
      }))
      .where('id', '=', info.matchId)
      .where('settled_at', 'is', null)
      .where('quarantine', 'is distinct from', reason)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return
    const holders = await tx
      .selectFrom('positions')
      .select('user_id')
      .distinct()
      .where('match_id', '=', info.matchId)
      .where('closed_at', 'is', null)
      .orderBy('user_id')
      .execute()
    await insertNotices(
      tx,
      holders.map((row) => noticeTo(userId(row.user_id), info, at)),
    )
  })
}

function noticeTo(holder: UserId, { matchId, name }: MatchInfo, at: Instant): Notice {
  return {
    userId: holder,
    type: 'settlement',
    title: 'A match is suspended',
    body:
      `${name} cannot go on because of a fault of the server. Your positions in it keep their margins until an ` +
      'operator settles them at their last prices or voids them.',
    data: { matchId },
    source: `quarantine:${matchId}:${holder}`,
    at,
  }
}

/** The state of a match can be read again: an operator has repaired it. */
export async function release(db: Kysely<Database>, matchId: FixtureId): Promise<void> {
  await db
    .updateTable('matches')
    .set({ quarantine: null, quarantined_at: null })
    .where('id', '=', matchId)
    .where('settled_at', 'is', null)
    .execute()
}

export class Quarantine {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** The quarantined matches that are not settled, oldest first: 100 at most. */
  async matches(): Promise<readonly QuarantinedMatch[]> {
    const rows = await this.#db
      .selectFrom('matches')
      .select(['id', 'replay', 'starts_at', 'settled_at', 'phase', 'info', 'quarantine', 'quarantined_at'])
      .select((match) => [
        match
          .selectFrom('positions')
          .select(sql<number>`count(*)`.as('positions'))
          .whereRef('match_id', '=', 'matches.id')
          .where('closed_at', 'is', null)
          .as('positions'),
        match
          .selectFrom('positions')
          .select(sql<number>`coalesce(sum(margin_micros), 0)::bigint`.as('margin'))
          .whereRef('match_id', '=', 'matches.id')
          .where('closed_at', 'is', null)
          .as('margin'),
      ])
      .where('quarantine', 'is not', null)
      .where('settled_at', 'is', null)
      .orderBy('quarantined_at')
      .orderBy('id')
      .limit(LISTED_MAX)
      .execute()
    return rows.map((row) => {
      const reason = row.quarantine ?? ''
      return {
        matchId: fixtureId(row.id),
        name: rescuedInfoFrom(row, reason).name,
        reason,
        since: instant((row.quarantined_at ?? row.starts_at).getTime()),
        positions: Number(row.positions),
        margin: money(Number(row.margin)),
      }
    })
  }

  /** Open positions of a match by id, those after this one. */
  async openPositions(
    matchId: FixtureId,
    { limit, after }: { readonly limit: number; readonly after: PositionId | null },
  ): Promise<readonly OpenPosition[]> {
    const rows = await this.#db
      .selectFrom('positions')
      .innerJoin('instruments', 'instruments.id', 'positions.instrument_id')
      .innerJoin('users', 'users.id', 'positions.user_id')
      .select(POSITION_COLUMNS)
      .select(PRICE_COLUMNS)
      .select(['instruments.name as player', 'users.username'])
      .where('positions.match_id', '=', matchId)
      .where('closed_at', 'is', null)
      .$if(after !== null, (open) => open.where('positions.id', '>', String(after)))
      .orderBy('positions.id')
      .limit(limit)
      .execute()
    return rows.map((row) => ({ held: heldFrom(row), playerName: row.player, username: row.username }))
  }
}
