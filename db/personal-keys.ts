/**
 * Personal keys of programs. A key is a session without refresh tokens: whatever ends the sessions of a user, such as a
 * demotion, ends their keys in every process within a second, and the sockets that were opened with them.
 */
import { type Kysely, sql } from 'kysely'
import { type SessionId, sessionId, type UserId, userId } from '../actors/kernel/ids.ts'
import { type Instant, instant, MINUTE_MS, type World } from '../actors/kernel/world.ts'
import type { AuditLog, ControlAction } from './audit-log.ts'
import { markBoardsChanged, type Reranker } from './board-changes.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { texts } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import { keptUntil } from './sessions.ts'

/** The most keys that a user has at a time. */
export const KEYS_MAX = 10
/** The last use is noted this coarsely, so that a busy key does not write a row for every request. */
const USE_NOTED_MS = 10 * MINUTE_MS

export interface KeyRow {
  readonly id: SessionId
  readonly name: string
  /** As in `src/auth/scopes.ts`. */
  readonly scopes: readonly string[]
  readonly createdAt: Instant
  readonly expiresAt: Instant
  /** To about ten minutes; null if the key was never used. */
  readonly lastUsedAt: Instant | null
}

/** Who a request with a key comes from. */
export interface FoundKey extends KeyRow {
  readonly userId: UserId
  readonly role: string
}

/** A key and its user, as operators list them. */
export interface OwnedKey extends KeyRow {
  readonly userId: UserId
  readonly username: string
}

export interface NewKey {
  readonly user: UserId
  /** The session that asks for it. */
  readonly by: SessionId
  readonly name: string
  readonly scopes: readonly string[]
  readonly expiresAt: Instant
  /** The digest of its secret. */
  readonly digest: string
  /** The network that asked for it. */
  readonly addressPrefix: string
}

export interface KeyRevocation {
  readonly id: SessionId
  readonly by: UserId
  /** For the audit log, until the key's user is erased. */
  readonly reason?: string | undefined
}

interface PersonalKeysOptions {
  readonly db: Kysely<Database>
  readonly ended: Pick<EndedSessions, 'add'>
  readonly audit: AuditLog
  readonly world: Pick<World, 'now' | 'newId'>
  readonly rerankers: readonly Reranker[]
}

export class PersonalKeys {
  readonly #options: PersonalKeysOptions

  constructor(options: PersonalKeysOptions) {
    this.#options = options
  }

  /**
   * Creates a key and audits it. Null if the user has as many keys as they may have. `signed_out` if the session that
   * asks has ended meanwhile: the key would outlive a sign-out everywhere, or the wish to delete the account.
   */
  async create(wanted: NewKey): Promise<KeyRow | 'signed_out' | null> {
    const { user, by, name, scopes, expiresAt, digest, addressPrefix } = wanted
    const { db, audit, world } = this.#options
    const now = world.now()
    const id = sessionId(world.newId())
    return db.transaction().execute(async (tx) => {
      // One at a time for each user, so that two requests cannot exceed the limit together. Whatever ends all sessions
      // of a user locks the same row.
      await tx.selectFrom('users').select('id').where('id', '=', user).forUpdate().executeTakeFirstOrThrow()
      const asking = await tx
        .selectFrom('sessions')
        .select('id')
        .where('id', '=', by)
        .where('ended_at', 'is', null)
        .executeTakeFirst()
      if (asking === undefined) return 'signed_out'
      const { count } = await living(tx, now, user)
        .clearSelect()
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      if (count >= KEYS_MAX) return null
      const session = {
        id,
        user_id: user,
        rotation_key: null,
        created_at: new Date(now),
        rotated_at: new Date(now),
        expires_at: new Date(expiresAt),
        ended_at: null,
        authenticated_at: null,
        user_agent: null,
        address_prefix: addressPrefix,
      }
      await tx.insertInto('sessions').values(session).execute()
      const key = { id, digest, name, scopes: [...scopes], last_used_at: null }
      await tx.insertInto('personal_keys').values(key).execute()
      // Without its name: the log keeps nothing that a user has written.
      const after = { scopes, expiresAt: new Date(expiresAt).toISOString() }
      await audit.record({ actor: user, action: 'key.create', subject: id, before: null, after }, tx)
      return { id, name, scopes, createdAt: now, expiresAt, lastUsedAt: null }
    })
  }

  /** The user's keys that count, newest first. */
  async list(user: UserId): Promise<readonly KeyRow[]> {
    const { db, world } = this.#options
    const rows = await living(db, world.now(), user).orderBy('personal_keys.id', 'desc').execute()
    return rows.map(keyFrom)
  }

  /** The keys of all users that have any of these scopes and count, newest first. */
  async listScoped(scopes: readonly string[]): Promise<readonly OwnedKey[]> {
    const { db, world } = this.#options
    const rows = await living(db, world.now())
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(['users.id as owner', 'users.username'])
      .where('scopes', '&&', sql<string[]>`${texts(scopes)}::text[]`)
      .orderBy('personal_keys.id', 'desc')
      .execute()
    return rows.map((row) => ({ ...keyFrom(row), userId: userId(row.owner), username: row.username }))
  }

  /** The key with this digest and its user; null if it is unknown, has ended or has expired. Notes the use. */
  async find(digest: string): Promise<FoundKey | null> {
    const { db, world } = this.#options
    const now = world.now()
    const row = await living(db, now)
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(['users.id as owner', 'users.role'])
      .where('digest', '=', digest)
      .executeTakeFirst()
    if (row === undefined) return null
    if (row.last_used_at === null || now - row.last_used_at.getTime() >= USE_NOTED_MS) {
      await db
        .updateTable('personal_keys')
        .set({ last_used_at: new Date(now) })
        .where('id', '=', row.id)
        .execute()
    }
    return { ...keyFrom(row), userId: userId(row.owner), role: row.role }
  }

  /** Notes that a user trades by a key: from the first time on they are a bot, and the boards treat them as one. */
  async markBot(user: UserId): Promise<void> {
    const { db, world, rerankers } = this.#options
    const { bot_since: since } = await db
      .selectFrom('users')
      .select('bot_since')
      .where('id', '=', user)
      .executeTakeFirstOrThrow()
    if (since !== null) return
    await db.transaction().execute(async (tx) => {
      await markBoardsChanged(tx, user) // first, as reactions lock the career before the user
      await tx
        .updateTable('users')
        .set({ bot_since: new Date(world.now()) })
        .where('id', '=', user)
        .where('bot_since', 'is', null)
        .execute()
      for (const rerank of rerankers) await rerank(tx, user)
    })
  }

  /** Ends one of the user's keys and audits it; false if they have no such key. */
  delete(user: UserId, id: SessionId): Promise<boolean> {
    return this.#end(id, user, { actor: user, action: 'key.delete' })
  }

  /** Ends a key of any user for an admin and audits it; false if there is no such key. */
  revoke({ id, by, reason }: KeyRevocation): Promise<boolean> {
    return this.#end(id, undefined, { actor: by, action: 'key.revoke' }, reason)
  }

  async #end(
    id: SessionId,
    owner: UserId | undefined,
    act: Pick<ControlAction, 'actor' | 'action'>,
    reason?: string,
  ): Promise<boolean> {
    const { db, ended, audit, world } = this.#options
    const now = world.now()
    const isEnded = await db.transaction().execute(async (tx) => {
      const row = await living(tx, now, owner).where('personal_keys.id', '=', id).executeTakeFirst()
      if (row === undefined) return false
      // The words are kept beside the user, who is locked before their sessions wherever these end.
      if (reason !== undefined) await sql`select 1 from users where id = ${row.user_id}::uuid for share`.execute(tx)
      const { numUpdatedRows } = await tx
        .updateTable('sessions')
        .set({ ended_at: sql<Date>`clock_timestamp()`, expires_at: keptUntil(now) })
        .where('id', '=', id)
        .where('ended_at', 'is', null)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows === 0n) return false
      const before = { scopes: row.scopes }
      const said =
        reason === undefined ? {} : { words: { field: 'reason', about: userId(row.user_id), words: reason } as const }
      await audit.record({ ...act, subject: id, before, after: null, ...said }, tx)
      return true
    })
    if (isEnded) await ended.add([id])
    return isEnded
  }
}

function living(db: Kysely<Database>, now: Instant, user?: UserId) {
  return db
    .selectFrom('personal_keys')
    .innerJoin('sessions', 'sessions.id', 'personal_keys.id')
    .select(['personal_keys.id', 'personal_keys.name', 'scopes', 'last_used_at'])
    .select(['sessions.user_id', 'sessions.created_at', 'sessions.expires_at'])
    .where('ended_at', 'is', null)
    .where('expires_at', '>', new Date(now))
    .$if(user !== undefined, (query) => query.where('user_id', '=', user ?? ''))
}

const keyFrom = (row: {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly created_at: Date
  readonly expires_at: Date
  readonly last_used_at: Date | null
}): KeyRow => ({
  id: sessionId(row.id),
  name: row.name,
  scopes: row.scopes,
  createdAt: instant(row.created_at.getTime()),
  expiresAt: instant(row.expires_at.getTime()),
  lastUsedAt: row.last_used_at === null ? null : instant(row.last_used_at.getTime()),
})
