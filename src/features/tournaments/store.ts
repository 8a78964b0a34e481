/**
 * Tournaments: matches that are made from a secret seed, and played once. All users start with the same balance. The
 * seed is told when the table is final and the match is over; until then a hash commits the house to it.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { type FixtureId, fixtureId, type LeagueId, leagueId, type UserId, userId } from '../../../actors/kernel/ids.ts'
import { ENTRANTS_MAX, TOURNAMENTS_MAX } from '../../../actors/kernel/limits.ts'
import { decimal, type Money, money } from '../../../actors/kernel/micros.ts'
import { type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import { insertNotices } from '../../../db/announcements.ts'
import type { AuditLog } from '../../../db/audit-log.ts'
import { lockUser } from '../../../db/lock-user.ts'
import { admit } from '../leagues/members.ts'
import type { LeagueKind } from '../leagues/results.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import type { ReplayRuns } from '../../../db/replays.ts'

const CODE_BYTES = 16
/** 256 bits, all of which matter: too many seeds to try. */
const SEED_BYTES = 32

export interface NewTournament {
  readonly name: string
  readonly startsAt: Instant
  /** When it ends at the latest; it ends with its match. */
  readonly endsAt: Instant
  /** Times real time. */
  readonly speed: number
  readonly startingBalance: Money
}

export interface Tournament extends NewTournament {
  readonly id: LeagueId
  /** What its match is made from: 64 hexadecimal digits. */
  readonly seed: string
  /** Whether the seed may be told: the table is final, and no match is under way that it would foretell. */
  readonly isSeedPublic: boolean
  /** The match it is played in; null before it begins. */
  readonly match: FixtureId | null
  /** Whether that has had its first update: until then nothing else knows it. */
  readonly isMatchKnown: boolean
  readonly entrants: number
  readonly decidedAt: Instant | null
}

/** What an operator makes of a tournament that has not begun. */
export type TournamentChange =
  | { readonly kind: 'cancel' }
  | {
      readonly kind: 'set'
      /** What is left out stays. */
      readonly terms: { readonly [Name in 'name' | 'startsAt' | 'speed']?: NewTournament[Name] | undefined }
      readonly endOf: (startsAt: Instant, speed: number) => Instant
    }

export type Changed = 'changed' | 'unknown' | 'begun'

export type Entry = { readonly kind: 'entered' | 'unknown' | 'full' | 'over' }

interface TournamentsOptions {
  readonly world: Pick<World, 'now' | 'newId' | 'secret'>
  readonly audit: AuditLog
  readonly runs: Pick<ReplayRuns, 'begin'>
}

export class Tournaments {
  readonly #db: Kysely<Database>
  readonly #options: TournamentsOptions

  constructor(db: Kysely<Database>, options: TournamentsOptions) {
    this.#db = db
    this.#options = options
  }

  /** Schedules a tournament, and audits that. Null when TOURNAMENTS_MAX are under way or to come. */
  async schedule(tournament: NewTournament, by: UserId): Promise<LeagueId | null> {
    const { world, audit } = this.#options
    const { name, startsAt, endsAt, speed, startingBalance } = tournament
    const id = leagueId(world.newId())
    return this.#db.transaction().execute(async (tx) => {
      await sql`lock table tournaments in share row exclusive mode`.execute(tx) // one at a time
      const { count } = await tx
        .selectFrom('leagues')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('kind', '=', 'tournament')
        .where('decided_at', 'is', null)
        .executeTakeFirstOrThrow()
      if (count >= TOURNAMENTS_MAX) return null
      await tx
        .insertInto('leagues')
        .values({
          id,
          kind: 'tournament',
          code: world.secret(CODE_BYTES),
          name,
          founder_id: null,
          scope: 'chosen',
          starting_micros: startingBalance,
          created_at: new Date(world.now()),
          starts_at: new Date(startsAt),
          ends_at: new Date(endsAt),
          decided_at: null,
        })
        .execute()
      await tx
        .insertInto('tournaments')
        .values({ league_id: id, seed: world.secret(SEED_BYTES), speed, replay_id: null })
        .execute()
      const after = { name, startsAt, speed, startingBalance: decimal(startingBalance) }
      await audit.record({ actor: by, action: 'tournament.schedule', subject: id, before: null, after }, tx)
      return id
    })
  }

  /**
   * Cancels a tournament that has not begun, or gives it other terms, and audits that. Those who have entered are told.
   * They keep its purse, which is worth nothing elsewhere: an entry costs nothing, so nothing is paid back.
   */ // G6
  async change(
    id: LeagueId,
    change: TournamentChange,
    { by, reason }: { readonly by: UserId; readonly reason?: string | undefined },
  ): Promise<Changed> {
    const { world, audit } = this.#options
    return this.#db.transaction().execute(async (tx): Promise<Changed> => {
      const now = world.now()
      const old = await tx
        .selectFrom('tournaments as t')
        .innerJoin('leagues as l', 'l.id', 't.league_id')
        .select(['l.name', 'l.starts_at', 'l.decided_at', 't.speed', 't.replay_id'])
        .where('l.id', '=', id)
        .forUpdate()
        .executeTakeFirst()
      if (old === undefined) return 'unknown'
      if (old.replay_id !== null || old.decided_at !== null) return 'begun'
      const before = { name: old.name, startsAt: old.starts_at.getTime(), speed: old.speed }
      const action = { actor: by, subject: id, before, reason }
      if (change.kind === 'cancel') {
        await tx
          .updateTable('leagues')
          .set({ decided_at: new Date(now) })
          .where('id', '=', id)
          .execute()
        await audit.record({ ...action, action: 'tournament.cancel', after: null }, tx)
        const body = 'It is not played. Your other purses are as they were.'
        await this.#tell(tx, id, { title: `${old.name} is cancelled`, body, what: 'cancelled' })
        return 'changed'
      }
      // From the locked row: another operator may have changed the rest meanwhile.
      const { name = old.name, startsAt = instant(before.startsAt), speed = old.speed } = change.terms
      const terms = { name, starts_at: new Date(startsAt), ends_at: new Date(change.endOf(startsAt, speed)) }
      await tx.updateTable('leagues').set(terms).where('id', '=', id).execute()
      await tx.updateTable('tournaments').set({ speed }).where('league_id', '=', id).execute()
      await audit.record({ ...action, action: 'tournament.change', after: { name, startsAt, speed } }, tx)
      const when = terms.starts_at.toISOString().slice(0, 16).replace('T', ' ')
      const told = { title: `${name} begins at another time`, body: `It begins at ${when} UTC.` }
      if (startsAt !== before.startsAt) await this.#tell(tx, id, { ...told, what: `${startsAt} at ${now}` })
      return 'changed'
    })
  }

  /** Tells all who have entered. */
  async #tell(tx: Transaction<Database>, id: LeagueId, news: { title: string; body: string; what: string }) {
    const { title, body, what } = news
    const members = await tx.selectFrom('league_members').select('user_id').where('league_id', '=', id).execute()
    const notice = { type: 'league', title, body, data: { league: id }, at: this.#options.world.now() } as const
    await insertNotices(
      tx,
      members.map(({ user_id: member }) => {
        return { ...notice, userId: userId(member), source: `tournament:${id}:${what}:${member}` }
      }),
    )
  }

  /** The tournaments to come and under way, and the latest that have ended: the next first. At most `limit`. */
  async list(limit: number): Promise<readonly Tournament[]> {
    const rows = await this.#rows()
      .orderBy('l.decided_at', (order) => order.desc().nullsFirst())
      .orderBy('l.starts_at')
      .limit(limit)
      .execute()
    return rows.map(tournamentFrom)
  }

  async find(id: LeagueId): Promise<Tournament | null> {
    const row = await this.#rows().where('l.id', '=', id).executeTakeFirst()
    return row === undefined ? null : tournamentFrom(row)
  }

  /** Those of these tournaments that a user has entered. */
  async entered(user: UserId, ids: readonly LeagueId[]): Promise<ReadonlySet<LeagueId>> {
    if (ids.length === 0) return new Set()
    const rows = await this.#db
      .selectFrom('league_members')
      .select('league_id')
      .where('user_id', '=', user)
      .where('league_id', 'in', ids)
      .execute()
    return new Set(rows.map((row) => leagueId(row.league_id)))
  }

  /** Enters a tournament, which gives the user its purse. A repetition changes nothing. */ // G6
  async enter(user: UserId, id: LeagueId): Promise<Entry> {
    return this.#db.transaction().execute(async (tx): Promise<Entry> => {
      await lockUser(tx, user)
      const league = await tx
        .selectFrom('leagues')
        .select(['members', 'ends_at', 'decided_at', 'starting_micros'])
        .where('id', '=', id)
        .where('kind', '=', 'tournament')
        .forUpdate()
        .executeTakeFirst()
      if (league === undefined) return { kind: 'unknown' }
      const member = await tx
        .selectFrom('league_members')
        .select('user_id')
        .where('league_id', '=', id)
        .where('user_id', '=', user)
        .executeTakeFirst()
      if (member !== undefined) return { kind: 'entered' }
      if (league.decided_at !== null || league.ends_at.getTime() <= this.#options.world.now()) return { kind: 'over' }
      if (league.members >= ENTRANTS_MAX) return { kind: 'full' }
      await admit(tx, this.#options.world, user, { id, starting: money(league.starting_micros) })
      return { kind: 'entered' }
    })
  }

  /**
   * Starts the matches of tournaments whose time has come. Of several processes one starts each. One that finds too
   * many replays running begins as soon as one of those has ended.
   */ // G6
  async begin(): Promise<readonly LeagueId[]> {
    const begun: LeagueId[] = []
    for (let n = 0; n < TOURNAMENTS_MAX; n++) {
      const id = await this.#beginNext()
      if (id === null) break
      begun.push(id)
    }
    return begun
  }

  async #beginNext(): Promise<LeagueId | null> {
    const now = new Date(this.#options.world.now())
    return this.#db.transaction().execute(async (tx) => {
      const due = await tx
        .selectFrom('tournaments as t')
        .innerJoin('leagues as l', 'l.id', 't.league_id')
        .select(['t.league_id', 't.speed'])
        .where('t.replay_id', 'is', null)
        .where('l.starts_at', '<=', now)
        .where('l.ends_at', '>', now)
        .where('l.decided_at', 'is', null)
        .orderBy('l.starts_at')
        .limit(1)
        .forUpdate('t')
        .skipLocked()
        .executeTakeFirst()
      if (due === undefined) return null
      // Its league was read before the lock was had: an operator may have cancelled or postponed it meanwhile.
      const league = await tx
        .selectFrom('leagues')
        .select(['starts_at', 'decided_at'])
        .where('id', '=', due.league_id)
        .executeTakeFirstOrThrow()
      if (league.decided_at !== null || league.starts_at > now) return null
      const plan = {
        recording: 'tournament',
        speed: due.speed,
        traders: 0,
        lossless: true,
        practice: true,
        demo: false,
        by: null,
      }
      const run = await this.#options.runs.begin(plan, tx)
      if (run === null) return null
      await tx.updateTable('tournaments').set({ replay_id: run.id }).where('league_id', '=', due.league_id).execute()
      await tx.insertInto('league_matches').values({ league_id: due.league_id, match_id: run.matchId }).execute()
      return leagueId(due.league_id)
    })
  }

  #rows() {
    return this.#db
      .selectFrom('tournaments as t')
      .innerJoin('leagues as l', 'l.id', 't.league_id')
      .leftJoin('replays as r', 'r.id', 't.replay_id')
      .leftJoin('matches as m', 'm.id', 'r.match_id')
      .select(['l.id', 'l.name', 't.seed', 't.speed', 'l.starting_micros', 'l.starts_at', 'l.ends_at'])
      .select(['l.members', 'l.decided_at', 'r.match_id', 'r.state', 'm.settled_at', 'm.id as known_id'])
  }
}

interface TournamentRow {
  readonly id: string
  readonly name: string
  readonly seed: string
  readonly speed: number
  readonly starting_micros: number
  readonly starts_at: Date
  readonly ends_at: Date
  readonly members: number
  readonly decided_at: Date | null
  readonly match_id: number | null
  readonly known_id: number | null
  readonly state: 'running' | 'finished' | null
  readonly settled_at: Date | null
}

const tournamentFrom = (row: TournamentRow): Tournament => ({
  id: leagueId(row.id),
  name: row.name,
  seed: row.seed,
  isSeedPublic: row.decided_at !== null && (row.state !== 'running' || row.settled_at !== null),
  speed: row.speed,
  startingBalance: money(row.starting_micros),
  startsAt: instant(row.starts_at.getTime()),
  endsAt: instant(row.ends_at.getTime()),
  entrants: row.members,
  decidedAt: row.decided_at === null ? null : instant(row.decided_at.getTime()),
  match: row.match_id === null ? null : fixtureId(row.match_id),
  isMatchKnown: row.known_id !== null,
})

/** Over when its match is. */
export const tournamentKind: LeagueKind = {
  name: 'tournament',
  // Where no process ran, too many replays did, or its own was stopped before its first update, it has not begun.
  isPlayed: sql<boolean>`exists (
    select from tournaments t join replays r on r.id = t.replay_id join matches on matches.id = r.match_id
     where t.league_id = l.id)`,
  isOverEarly: sql<boolean>`exists (
    select from tournaments t join replays r on r.id = t.replay_id left join matches on matches.id = r.match_id
     where t.league_id = l.id
       and (matches.settled_at is not null or (r.state = 'finished' and matches.id is null)))`,
}
