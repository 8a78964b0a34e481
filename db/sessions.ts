/** Sessions: one row per sign-in, which lasts while its refresh tokens are rotated, until it is ended. */
import type { Kysely } from 'kysely'
import { type SessionId, sessionId, type UserId, userId } from '../actors/kernel/ids.ts'
import { SECOND_MS, type World } from '../actors/kernel/world.ts'
import type { FastOrElse } from './fast/fast-or-else.ts'
import { type FastStore, keys } from './fast/fast-store.ts'
import type { Database } from './postgres/schema.ts'

/**
 * How long the previous refresh token remains valid: two tabs that refresh at once, or a client whose answer was lost,
 * get the current generation. A later use of an old token means that it was copied.
 */
const ROTATION_GRACE_MS = 10 * SECOND_MS

export interface Session {
  readonly id: SessionId
  readonly userId: UserId
  /** The generation of the next refresh token, from 1. */
  readonly generation: number
}

export type Rotation =
  | { readonly kind: 'rotated'; readonly session: Session }
  /** Ended or unknown. */
  | { readonly kind: 'ended' }
  /** A rotated token was used again, so it was copied. The session has been ended. */
  | { readonly kind: 'reused' }

interface SessionsOptions {
  readonly db: Kysely<Database>
  readonly ask: FastOrElse
  readonly world: Pick<World, 'now' | 'newId'>
  /** The longest life of an access or WebSocket token: how long an ended session is remembered in the fast store. */
  readonly tokenLifeMs: number
  /** How long a session lasts from its start or its last rotation. */
  readonly sessionLifeMs: number
}

export class Sessions {
  readonly #options: SessionsOptions
  /** Ended while the fast store was unavailable, and not yet recorded there. */
  readonly #untold = new Set<SessionId>()

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** Creates a session for each of these users, in their order. Removes up to twice as many expired ones. */
  async start(users: readonly UserId[]): Promise<readonly Session[]> {
    if (users.length === 0) return []
    const { db, world, sessionLifeMs } = this.#options
    const now = world.now()
    const sessions = users.map((user) => ({ id: sessionId(world.newId()), userId: user, generation: 1 }))
    const [rotated_at, expires_at] = [new Date(now), new Date(now + sessionLifeMs)]
    await db
      .insertInto('sessions')
      .values(sessions.map((made) => ({ id: made.id, user_id: made.userId, rotated_at, expires_at, ended_at: null })))
      .execute()
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
    return sessions
  }

  /**
   * Replaces the presented generation by the next. Of several concurrent callers one rotates, and all get the same new
   * generation.
   */
  async rotate(presented: Pick<Session, 'id' | 'generation'>): Promise<Rotation> {
    const { db, world, sessionLifeMs } = this.#options
    const { id, generation } = presented
    const now = world.now()
    const rotated = await db
      .updateTable('sessions')
      .set({ generation: generation + 1, rotated_at: new Date(now), expires_at: new Date(now + sessionLifeMs) })
      .where('id', '=', id)
      .where('generation', '=', generation)
      .where('ended_at', 'is', null)
      .where('expires_at', '>', new Date(now))
      .returning('user_id')
      .executeTakeFirst()
    if (rotated !== undefined) {
      return { kind: 'rotated', session: { id, userId: userIdOf(rotated), generation: generation + 1 } }
    }

    const row = await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst()
    if (row === undefined || row.ended_at !== null || row.expires_at.getTime() <= now) return { kind: 'ended' }
    const justBefore = generation === row.generation - 1 && now - row.rotated_at.getTime() <= ROTATION_GRACE_MS
    if (justBefore) return { kind: 'rotated', session: { id, userId: userIdOf(row), generation: row.generation } }
    await this.end(id)
    return { kind: 'reused' }
  }

  /** Ends a session, unless it has ended: from now on its tokens are invalid in every process. */
  async end(id: SessionId): Promise<void> {
    const { db, ask, world } = this.#options
    await db
      .updateTable('sessions')
      .set({ ended_at: new Date(world.now()) })
      .where('id', '=', id)
      .where('ended_at', 'is', null)
      .execute()
    this.#untold.add(id)
    await ask(
      (fast) => this.#tell(fast),
      async () => undefined, // the next caller records it first
    )
  }

  /**
   * Records recent ends in the fast store again. Call it at the start, when the store may be empty or a different one.
   */
  async recall(): Promise<void> {
    const { db, ask, world, tokenLifeMs } = this.#options
    const since = new Date(world.now() - tokenLifeMs)
    const rows = await db.selectFrom('sessions').select('id').where('ended_at', '>', since).execute()
    for (const row of rows) this.#untold.add(sessionId(row.id))
    await ask(
      (fast) => this.#tell(fast),
      async () => undefined,
    )
  }

  /** Whether a session has ended. Asks the fast store, which knows all recent ends, or else the database. */
  isEnded(id: SessionId): Promise<boolean> {
    return this.#options.ask(
      async (fast) => {
        if (this.#untold.size > 0) await this.#tell(fast)
        return (await fast.get(keys.ended(id))) !== null
      },
      async () => {
        const { db } = this.#options
        const row = await db.selectFrom('sessions').select('ended_at').where('id', '=', id).executeTakeFirst()
        return row === undefined || row.ended_at !== null
      },
    )
  }

  async #tell(fast: FastStore): Promise<void> {
    const { tokenLifeMs } = this.#options
    await Promise.all(
      [...this.#untold].map(async (id) => {
        await fast.set(keys.ended(id), '1', tokenLifeMs)
        this.#untold.delete(id)
      }),
    )
  }
}

const userIdOf = (row: { readonly user_id: string }): UserId => userId(row.user_id)
