/**
 * Which sessions have ended. The database is the truth. The fast store is asked first, and counts only while it holds
 * the mark COMPLETE, which is written together with every recent end: a store that was emptied, replaced or restarted
 * has lost the mark too. Each process also reads the recent ends from the database all the time, so that one which the
 * fast store never received is known everywhere within a second.
 */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type SessionId, sessionId, type UserId, userId } from '../actors/kernel/ids.ts'
import { type Instant, instant, SECOND_MS, type World } from '../actors/kernel/world.ts'
import type { FastOrElse } from './fast/fast-or-else.ts'
import { type FastStore, keys } from './fast/fast-store.ts'
import type { Database } from './postgres/schema.ts'

export interface EndedSession {
  readonly id: SessionId
  readonly userId: UserId
}

interface EndedSessionsOptions {
  readonly db: Kysely<Database>
  readonly ask: FastOrElse
  /** Tells this database's sessions from those of others that share the fast store. */
  readonly installation: string
  readonly world: Pick<World, 'steady' | 'newId'>
  /** The longest life of an access or WebSocket token: how long an ended session is remembered. */
  readonly tokenLifeMs: number
}

/** The fast store holds every recent end. */
const COMPLETE = 'complete'
/** An end may be committed this long after it was written: ends this much older than the last look are read again. */
const OVERLAP_MS = 30 * SECOND_MS
/** Many may end while the store is away, and it serves no other client while it takes these. */
const MARKED_AT_ONCE_MAX = 1_000
/** How long a store keeps the mark of the process that fills it. */
const FILLING_MS = 60 * SECOND_MS

interface Known {
  /** The steady instant from which no token of the session can count. */
  readonly until: Instant
  /** By a look. */
  readonly isReturned: boolean
}

export class EndedSessions {
  readonly #options: EndedSessionsOptions
  readonly #key: string
  /** The ends that this process knows of. */
  readonly #known = new Map<SessionId, Known>()
  /** Not yet written to the fast store, which was unavailable. */
  readonly #unwritten = new Set<SessionId>()
  /** By the database's clock, as are the ends: those of processes may differ. */
  #lookedAt: Date | null = null
  #filling: Promise<void> | null = null

  constructor(options: EndedSessionsOptions) {
    this.#options = options
    this.#key = keys.ended(options.installation)
  }

  /** Makes known that these sessions have ended. The database must have them already. */
  async add(ids: readonly SessionId[]): Promise<void> {
    if (ids.length === 0) return
    for (const id of ids) {
      this.#know(id)
      this.#unwritten.add(id)
    }
    await this.#options.ask(
      (fast) => this.#flush(fast),
      async () => undefined, // the next question writes it first
    )
  }

  /** Whether a session has ended. One that the database does not know has not: its row outlives its tokens. */
  async has(id: SessionId): Promise<boolean> {
    if (this.#known.has(id)) return true
    return this.#options.ask(
      async (fast) => {
        if (this.#unwritten.size > 0) await this.#flush(fast)
        const [isComplete = false, isEnded = false] = await fast.marked(this.#key, [COMPLETE, id])
        if (isEnded) return true
        if (isComplete) return false
        this.#filling ??= this.#fill(fast).finally(() => (this.#filling = null))
        const [ended] = await Promise.all([this.#hasInDatabase(id), this.#filling])
        return ended
      },
      () => this.#hasInDatabase(id),
    )
  }

  /**
   * Reads the recent ends from the database, and returns those that it has not returned before, also of sessions that
   * this process ended. To be called about twice a second, and once before anything is asked.
   */
  async look(): Promise<readonly EndedSession[]> {
    const now = this.#options.world.steady.now()
    const { at, ended } = await this.#endedSince(this.#lookedAt)
    this.#lookedAt = at
    for (const [id, { until }] of this.#known) {
      if (until > now) continue
      this.#known.delete(id)
      this.#unwritten.delete(id)
    }
    const found = ended.filter(({ id }) => this.#known.get(id)?.isReturned !== true)
    for (const { id } of found) this.#know(id, true)
    return found
  }

  /** Writes every recent end to a store without the mark, unless the store loses something meanwhile. */
  async #fill(fast: FastStore): Promise<void> {
    const { world, tokenLifeMs } = this.#options
    // The store lost everything at some instant before this mark. An end that it lost is in the database by now.
    const witness = `filling:${world.newId()}`
    await fast.mark(this.#key, [witness], FILLING_MS)
    const { ended } = await this.#endedSince(null)
    await fast.mark(this.#key, [COMPLETE, ...ended.map(({ id }) => id)], tokenLifeMs, witness)
  }

  async #flush(fast: FastStore): Promise<void> {
    for (;;) {
      const ids = Iterator.from(this.#unwritten).take(MARKED_AT_ONCE_MAX).toArray()
      if (ids.length === 0) return
      await fast.mark(this.#key, ids, this.#options.tokenLifeMs)
      for (const id of ids) this.#unwritten.delete(id)
    }
  }

  /** Those that ended since a look, or all whose tokens may still count. */
  async #endedSince(look: Date | null): Promise<{ readonly at: Date; readonly ended: readonly EndedSession[] }> {
    const { rows } = await sql<{ id: string | null; user_id: string; at: Date }>`
      select s.id, s.user_id, now.at from (select clock_timestamp() as at) now left join sessions s on s.ended_at >
             greatest(least(coalesce(${look}::timestamptz, '-infinity'), now.at) - ${interval(OVERLAP_MS)},
                      now.at - ${interval(this.#options.tokenLifeMs)})`.execute(this.#options.db)
    const ended = rows.flatMap(({ id, user_id: user }) =>
      id === null ? [] : [{ id: sessionId(id), userId: userId(user) }],
    )
    return { at: present(rows[0], 'an instant').at, ended }
  }

  async #hasInDatabase(id: SessionId): Promise<boolean> {
    const row = await this.#options.db.selectFrom('sessions').select('ended_at').where('id', '=', id).executeTakeFirst()
    return row !== undefined && row.ended_at !== null
  }

  #know(id: SessionId, isReturned = false): void {
    const until = instant(this.#options.world.steady.now() + this.#options.tokenLifeMs + OVERLAP_MS)
    this.#known.set(id, { until, isReturned })
  }
}

const interval = (ms: number) => sql`make_interval(secs => ${ms / SECOND_MS}::float8)`
