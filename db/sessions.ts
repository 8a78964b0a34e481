/** Sessions: one row per sign-in, which lasts while its refresh tokens are rotated, until it is ended. */
import { type Kysely, type Selectable, sql } from 'kysely'
import { FRESH_MS } from '../actors/kernel/limits.ts'
import { type SessionId, sessionId, type UserId, userId } from '../actors/kernel/ids.ts'
import { DAY_MS, type Instant, instant, isPending, SECOND_MS, type World } from '../actors/kernel/world.ts'
import type { EndedSessions } from './ended-sessions.ts'
import type { Database } from './postgres/schema.ts'
import type { SessionsTable } from './postgres/schema/users.ts'

/** A rotation repeated under its key within this time gets the same tokens: its answer was lost. */
const REPEAT_MS = 60 * SECOND_MS
/** The previous refresh token without the key is refused within this time; used later, it was copied. */
const RACE_MS = 10 * SECOND_MS
/** The most sessions that a list shows. */
const LISTED_MAX = 100

/** Ids in one query. */
const ASKED_TOGETHER = 1_000

export interface Session {
  readonly id: SessionId
  readonly userId: UserId
  /** The generation of the next refresh token, from 1. */
  readonly generation: number
  /** When that token was issued. */
  readonly issuedAt: Instant
  /** When the session ends unless it is rotated before. */
  readonly expiresAt: Instant
}

/** Where a session was begun. */
export interface Device {
  /** What the client calls itself; null when it does not say. */
  readonly userAgent: string | null
  /** The network of its address, such as `203.0.113.0/24`. */
  readonly addressPrefix: string
}

export interface ListedSession extends Device {
  readonly id: SessionId
  readonly createdAt: Instant
  /** Its sign-in or its last rotation. */
  readonly lastSeenAt: Instant
}

export interface Presented {
  readonly id: SessionId
  readonly generation: number
  /** A digest of the request's `Idempotency-Key`; null without one. */
  readonly key: string | null
}

export type Rotation =
  /** Also for a repetition under the same key, with the session as it was then. */
  | { readonly kind: 'rotated'; readonly session: Session }
  /** Ended or unknown. */
  | { readonly kind: 'ended' }
  /** The token was rotated a moment ago, perhaps by another tab. The session continues. */
  | { readonly kind: 'superseded' }
  /** A rotated token was used again, so it was copied. The session has been ended. */
  | { readonly kind: 'reused' }

interface SessionsOptions {
  readonly db: Kysely<Database>
  readonly ended: EndedSessions
  readonly world: Pick<World, 'now' | 'newId'>
  /** How long a session lasts from its start or its last rotation. */
  readonly sessionLifeMs: number
  /**
   * How many days a session lasts at most, whatever it rotates. Read each time, so that a change takes effect at once.
   */
  readonly maxDays: () => number
  /**
   * Keeps an account that is due to be erased, because its user has signed in by this session. False if there is
   * nothing to keep: it is erased, another sign-in has kept it, or the session has ended.
   */
  readonly keep: (user: UserId, session: SessionId) => Promise<boolean>
}

export class Sessions {
  readonly #options: SessionsOptions

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /**
   * Creates a session for each of these users, in their order. They have proved who they are at `authenticatedAt`, or
   * now. Removes up to twice as many expired ones.
   */
  async start(
    users: readonly UserId[],
    { userAgent, addressPrefix }: Device,
    authenticatedAt: Instant | null = null,
  ): Promise<readonly Session[]> {
    if (users.length === 0) return []
    const { db, world } = this.#options
    const now = world.now()
    const rows = users.map((user) => ({
      id: world.newId(),
      user_id: user,
      generation: 1,
      rotation_key: null,
      created_at: new Date(now),
      rotated_at: new Date(now),
      expires_at: this.#expiry(now, now),
      ended_at: null,
      authenticated_at: new Date(Math.min(now, authenticatedAt ?? now)),
      user_agent: userAgent,
      address_prefix: addressPrefix,
    }))
    await db.insertInto('sessions').values(rows).execute()
    await this.#keepLeaving(rows.map(({ id }) => id))
    const expired = db.selectFrom('sessions').select('id').where('expires_at', '<', new Date(now))
    await db
      .deleteFrom('sessions')
      .where(
        'id',
        'in',
        expired
          .limit(2 * users.length)
          .forUpdate()
          .skipLocked(),
      )
      .execute()
    return rows.map(sessionFrom)
  }

  /**
   * A sign-in that looked before a deletion was committed, and began its session after it: the deletion has not ended
   * that session. One that the deletion has ended keeps nothing.
   */ // Y2
  async #keepLeaving(sessions: readonly string[]): Promise<void> {
    const leaving = await this.#options.db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(['users.id', 'sessions.id as session'])
      .where('sessions.id', '=', sql<string>`any(${sessions}::uuid[])`)
      .where('sessions.ended_at', 'is', null)
      .where((eb) => eb.or([eb('deletion_due', 'is not', null), eb('erased_at', 'is not', null)]))
      .execute()
    for (const { id, session } of leaving) {
      const user = userId(id)
      if (await this.#options.keep(user, sessionId(session))) continue
      const { erased_at: erased } = await this.#options.db
        .selectFrom('users')
        .select('erased_at')
        .where('id', '=', user)
        .executeTakeFirstOrThrow()
      if (erased !== null) await this.endAll(user)
    }
  }

  /**
   * Replaces the presented generation by the next. Of several concurrent callers one rotates. Those that repeat its key
   * get the same session; the others are told that they were late.
   */
  async rotate({ id, generation, key }: Presented): Promise<Rotation> {
    const { db, world } = this.#options
    const now = world.now()
    const before = await this.#find(id)
    if (before === undefined || !isLiving(before, now)) return { kind: 'ended' }
    const expiry = this.#expiry(before.created_at.getTime(), now)
    if (expiry.getTime() <= now) return { kind: 'ended' }
    const rotated = await db
      .updateTable('sessions')
      .set({ generation: generation + 1, rotation_key: key, rotated_at: new Date(now), expires_at: expiry })
      .where('id', '=', id)
      .where('generation', '=', generation)
      .where('ended_at', 'is', null)
      .where('expires_at', '>', new Date(now))
      .returningAll()
      .executeTakeFirst()
    if (rotated !== undefined) return { kind: 'rotated', session: sessionFrom(rotated) }

    const row = await this.#find(id)
    if (row === undefined || !isLiving(row, now)) return { kind: 'ended' }
    if (generation === row.generation - 1) {
      const agoMs = now - row.rotated_at.getTime()
      // A clock that was put back makes no repetition of an old one, and ends no session.
      if (key !== null && key === row.rotation_key && Math.abs(agoMs) <= REPEAT_MS) {
        return { kind: 'rotated', session: sessionFrom(row) }
      }
      if (agoMs <= RACE_MS) return { kind: 'superseded' }
    }
    await this.end(id)
    return { kind: 'reused' }
  }

  /** Whether the user of a session has proved who they are less than 15 minutes ago. */ // S23
  async isFresh(id: SessionId): Promise<boolean> {
    const at = (await this.#find(id))?.authenticated_at
    return at !== undefined && at !== null && isPending(at.getTime() + FRESH_MS, this.#options.world.now(), FRESH_MS)
  }

  /** The user's sessions that last, without keys, the one used last first; at most 100. */
  async list(user: UserId): Promise<readonly ListedSession[]> {
    const rows = await this.#options.db
      .selectFrom('sessions')
      .selectAll()
      .where('user_id', '=', user)
      .where('ended_at', 'is', null)
      .where('expires_at', '>', new Date(this.#options.world.now()))
      .where('created_at', '>', this.#oldest())
      .where(isNoKey)
      .orderBy('rotated_at', 'desc')
      .orderBy('id', 'desc')
      .limit(LISTED_MAX)
      .execute()
    return rows.map((row) => ({
      id: sessionId(row.id),
      createdAt: instant(row.created_at.getTime()),
      lastSeenAt: instant(row.rotated_at.getTime()),
      userAgent: row.user_agent,
      addressPrefix: row.address_prefix,
    }))
  }

  /** The devices of the user's sessions, those of ended sessions included until their rows expire. */
  async devices(user: UserId): Promise<readonly Device[]> {
    const rows = await this.#options.db
      .selectFrom('sessions')
      .select(['user_agent', 'address_prefix'])
      .distinct()
      .where('user_id', '=', user)
      .where(isNoKey)
      .limit(LISTED_MAX)
      .execute()
    return rows.map((row) => ({ userAgent: row.user_agent, addressPrefix: row.address_prefix }))
  }

  /** Ends a session: from now on its tokens are invalid in every process. False if it had ended. */
  async end(id: SessionId): Promise<boolean> {
    const ended = await this.#end((rows) => rows.where('id', '=', id))
    await this.#options.ended.add(ended)
    return ended.length > 0
  }

  /** Ends one of the user's sessions; false if it has ended, or is not theirs. */
  async endOne(user: UserId, id: SessionId): Promise<boolean> {
    const ended = await this.#end((rows) => rows.where('id', '=', id).where('user_id', '=', user).where(isNoKey))
    await this.#options.ended.add(ended)
    return ended.length > 0
  }

  /** Ends all sessions and keys of a user, and returns how many there were. */
  async endAll(user: UserId): Promise<number> {
    const { db, world } = this.#options
    const ended = await db.transaction().execute(async (tx) => {
      // A key that is being created waits for this, or is ended by it.
      await tx.selectFrom('users').select('id').where('id', '=', user).forNoKeyUpdate().executeTakeFirst()
      return endSessionsOf(user, tx, world)
    })
    await this.#options.ended.add(ended)
    return ended.length
  }

  /** Those of these sessions that have neither ended nor expired, by the database and the setting in force. */
  async livingAmong(ids: readonly SessionId[]): Promise<ReadonlySet<SessionId>> {
    const living = new Set<SessionId>()
    const oldest = this.#oldest()
    const { db, world } = this.#options
    for (let from = 0; from < ids.length; from += ASKED_TOGETHER) {
      const rows = await db
        .selectFrom('sessions')
        .select('id')
        .where('id', 'in', ids.slice(from, from + ASKED_TOGETHER))
        .where('ended_at', 'is', null)
        .where('expires_at', '>', new Date(world.now()))
        .where(sql<boolean>`(sessions.created_at > ${oldest} or not ${isNoKey})`)
        .execute()
      for (const { id } of rows) living.add(sessionId(id))
    }
    return living
  }

  async #end(of: (rows: EndingRows) => EndingRows): Promise<readonly SessionId[]> {
    const { db, world } = this.#options
    const rows = await of(ending(db, world)).returning('id').execute()
    return rows.map((row) => sessionId(row.id))
  }

  #find(id: SessionId): Promise<Row | undefined> {
    return this.#options.db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst()
  }

  /** Sessions begun before are over, though their rows expire by the setting that they were last rotated under. */
  #oldest(): Date {
    return new Date(this.#options.world.now() - this.#options.maxDays() * DAY_MS)
  }

  #expiry(createdAt: number, now: number): Date {
    const { sessionLifeMs, maxDays } = this.#options
    return new Date(Math.min(now + sessionLifeMs, createdAt + maxDays() * DAY_MS))
  }
}

/**
 * Ends all sessions of a user in the transaction that takes something away from them, such as their role. Every process
 * finds the ended sessions within a second. None of their browsers is told anything more, those included whose session
 * is no longer known.
 */ // R22
export async function endSessionsOf(
  user: UserId,
  tx: Kysely<Database>,
  world: Pick<World, 'now'>,
): Promise<readonly SessionId[]> {
  const rows = await ending(tx, world).where('user_id', '=', user).returning('id').execute()
  await tx.deleteFrom('push_subscriptions').where('user_id', '=', user).execute()
  return rows.map((row) => sessionId(row.id))
}

const isNoKey = sql<boolean>`not exists (select from personal_keys k where k.id = sessions.id)`

type Row = Selectable<SessionsTable>
type EndingRows = ReturnType<typeof ending>

/** The row of an ended session is kept a week at most, though a key might have lasted a year. */
export const keptUntil = (now: Instant) =>
  sql<Date>`least(expires_at, ${new Date(now + 7 * DAY_MS).toISOString()}::timestamptz)`

const ending = (db: Kysely<Database>, world: Pick<World, 'now'>) =>
  db
    .updateTable('sessions')
    .set({ ended_at: sql<Date>`clock_timestamp()`, expires_at: keptUntil(world.now()) })
    .where('ended_at', 'is', null)

const isLiving = (row: Row, now: number): boolean => row.ended_at === null && row.expires_at.getTime() > now

const sessionFrom = (row: Pick<Row, 'id' | 'user_id' | 'generation' | 'rotated_at' | 'expires_at'>): Session => ({
  id: sessionId(row.id),
  userId: userId(row.user_id),
  generation: row.generation,
  issuedAt: instant(row.rotated_at.getTime()),
  expiresAt: instant(row.expires_at.getTime()),
})
