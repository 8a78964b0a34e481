/**
 * Who may write a match: one lease per match, with an epoch that grows at every take-over. The database's clock
 * decides.
 */
import { type Kysely, sql } from 'kysely'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import type { Leases } from '../actors/match/store.ts'
import { bigints } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'

export interface LeaseOptions {
  /** Unique per process incarnation. */
  readonly owner: string
  readonly ttlMs: number
  /** True when only this process can reach the database: a running lease is then its own from before, and is taken. */
  readonly alone: boolean
}

export class SqlLeases implements Leases {
  readonly #db: Kysely<Database>
  readonly #options: LeaseOptions

  constructor(db: Kysely<Database>, options: LeaseOptions) {
    this.#db = db
    this.#options = options
  }

  async acquire(matchId: FixtureId): Promise<number | null> {
    const { owner, ttlMs, alone } = this.#options
    const { rows } = await sql<{ epoch: number }>`
      insert into match_leases (match_id, owner, epoch, expires_at)
        values (${matchId}::bigint, ${owner}::text, 1, clock_timestamp() + make_interval(secs => ${ttlMs / 1000}::float8))
        on conflict (match_id) do update
           set owner = excluded.owner, epoch = match_leases.epoch + 1, expires_at = excluded.expires_at
         where not ${this.#runs('match_leases')} or match_leases.owner = excluded.owner or ${alone}::boolean
        returning epoch`.execute(this.#db)
    return rows[0]?.epoch ?? null
  }

  async renew(matchId: FixtureId, epoch: number): Promise<boolean> {
    const { rows } = await sql`
      update match_leases set expires_at = clock_timestamp() + make_interval(secs => ${this.#options.ttlMs / 1000}::float8)
       where ${this.#isOwn(matchId, epoch)}
      returning epoch`.execute(this.#db)
    return rows.length > 0
  }

  async release(matchId: FixtureId, epoch: number): Promise<void> {
    await sql`
      update match_leases set expires_at = '-infinity' where ${this.#isOwn(matchId, epoch)}`.execute(this.#db)
  }

  /** The owner of a match's running lease, or null. */
  async ownerOf(matchId: FixtureId): Promise<string | null> {
    const { rows } = await sql<{ owner: string }>`
      select l.owner from match_leases l where match_id = ${matchId}::bigint and ${this.#runs('l')}`.execute(this.#db)
    return rows[0]?.owner ?? null
  }

  /**
   * Unsettled matches that do not run here and have no running lease, or one of this process; for a process that is
   * alone also those of its dead predecessor.
   */
  async orphans(running: readonly FixtureId[]): Promise<readonly FixtureId[]> {
    const { owner, alone } = this.#options
    const { rows } = await sql<{ id: number }>`
      select m.id from matches m left join match_leases l on l.match_id = m.id
       where m.settled_at is null and m.id <> all (${bigints(running)}::bigint[])
         and (l.match_id is null or not ${this.#runs('l')} or l.owner = ${owner}::text or ${alone}::boolean)
       order by m.id limit ${ORPHANS_MAX}`.execute(this.#db)
    return rows.map((row) => fixtureId(row.id))
  }

  /** Unsettled matches that other processes run. */
  async elsewhere(): Promise<readonly FixtureId[]> {
    const { owner, alone } = this.#options
    if (alone) return []
    const { rows } = await sql<{ id: number }>`
      select m.id from matches m join match_leases l on l.match_id = m.id
       where m.settled_at is null and ${this.#runs('l')} and l.owner <> ${owner}::text
       order by m.id`.execute(this.#db)
    return rows.map((row) => fixtureId(row.id))
  }

  /** The epoch alone may be another's: a database that lost an acquisition when it failed over gives it twice. */
  #isOwn(matchId: FixtureId, epoch: number) {
    const { owner } = this.#options
    return sql`match_id = ${matchId}::bigint and epoch = ${epoch}::bigint and owner = ${owner}::text`
  }

  /**
   * Whether a lease runs. One that ends later than any renewal could make it was written before the database's clock
   * was put back; its owner renews it within a second, if there still is one.
   */
  #runs(lease: 'match_leases' | 'l') {
    const end = sql.ref(`${lease}.expires_at`)
    const latest = sql`clock_timestamp() + make_interval(secs => ${(2 * this.#options.ttlMs) / 1000}::float8)`
    return sql<boolean>`(${end} > clock_timestamp() and ${end} <= ${latest})`
  }
}

/** At most this many at once; the rest is found a second later. */
const ORPHANS_MAX = 100
