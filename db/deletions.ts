/**
 * Deleting an account: at the user's wish it is signed out and due to be erased; signing in before then cancels that.
 * Erasing replaces all that is a person's. The trades, the ledger and the audit log keep the user's id, which from then
 * on is a pseudonym.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { type PositionId, positionId, type SessionId, type UserId, userId } from '../actors/kernel/ids.ts'
import { readLimits } from '../actors/kernel/own-limits.ts'
import { DAY_MS, type Instant, instant, type World } from '../actors/kernel/world.ts'
import { insertNotices } from './announcements.ts'
import type { AuditLog } from './audit-log.ts'
import { markBoardsChanged, type Reranker } from './board-changes.ts'
import type { Departed } from './departed.ts'
import type { Database } from './postgres/schema.ts'
import type { EndedSessions } from './ended-sessions.ts'
import { endSessionsOf } from './sessions.ts'

/** Accounts of each kind in one look. */
const LOOK_MAX = 100
/** Positions closed in one look, of one account. */
const POSITIONS_MAX = 200
/** Twelve hex digits make a username of 20 characters. */
const NAME_BYTES = 6

interface DeletionsOptions {
  readonly db: Kysely<Database>
  readonly world: Pick<World, 'now' | 'secret'>
  readonly audit: AuditLog
  readonly departed: Departed
  readonly ended: Pick<EndedSessions, 'add'>
  /** Days between the wish and the erasing. */
  readonly graceDays: () => number
  /** What features hold of a person. */
  readonly erasers: readonly Eraser[]
  readonly rerankers: readonly Reranker[]
}

/** Erases what some tables hold of a person, in the transaction that erases the account. */
export type Eraser = (tx: Transaction<Database>, user: UserId) => Promise<void>

export class Deletions {
  readonly #options: DeletionsOptions

  constructor(options: DeletionsOptions) {
    this.#options = options
  }

  /**
   * Makes a user's account due, and ends their sessions. Returns when it will be erased: a repetition does not put it
   * off. Null for an unknown user.
   */ // Y2
  async request(user: UserId): Promise<Instant | null> {
    const { db, world, audit, ended, graceDays } = this.#options
    const asked = await db.transaction().execute(async (tx) => {
      await markBoardsChanged(tx, user)
      const row = await this.#lock(tx, user)
      if (row === undefined || row.erased_at !== null) return null
      const due = row.deletion_due ?? new Date(world.now() + graceDays() * DAY_MS)
      await tx.updateTable('users').set({ deletion_due: due }).where('id', '=', user).execute()
      await this.#rerank(tx, user)
      const sessions = await endSessionsOf(user, tx, world)
      await audit.record({ actor: user, action: 'user.delete', subject: user, before: null, after: { due } }, tx)
      return { due, sessions }
    })
    if (asked === null) return null
    await ended.add(asked.sessions)
    return instant(asked.due.getTime())
  }

  /**
   * Cancels a deletion because its user has signed in, and tells them. False when there is none, the account has just
   * been erased, or the wish, repeated, has ended the session that they signed in by.
   */ // Y2
  async cancel(user: UserId, session?: SessionId): Promise<boolean> {
    const { db, world, audit } = this.#options
    return db.transaction().execute(async (tx) => {
      await markBoardsChanged(tx, user)
      const row = await this.#lock(tx, user)
      if (row === undefined || row.deletion_due === null) return false
      if (session !== undefined && (await this.#hasEnded(tx, session))) return false
      await tx.updateTable('users').set({ deletion_due: null }).where('id', '=', user).execute()
      await this.#rerank(tx, user)
      await audit.record({ actor: user, action: 'user.keep', subject: user, before: null, after: null }, tx)
      await insertNotices(tx, [
        {
          userId: user,
          type: 'account',
          title: 'Your account stays',
          body: 'You had asked us to delete it. You have signed in again, so nothing is deleted.',
          data: {},
          source: `kept:${user}:${row.deletion_due.getTime()}`,
          at: world.now(),
        },
      ])
      return true
    })
  }

  /** Accounts that are due: those that hold nothing, and those whose positions are still open. Some of each. */
  async due(): Promise<{ readonly ready: readonly UserId[]; readonly holding: readonly UserId[] }> {
    const look = async (isHolding: boolean): Promise<UserId[]> => {
      const { rows } = await sql<{ id: string }>`
        select u.id from users u
         where u.deletion_due <= ${new Date(this.#options.world.now())}::timestamptz and u.erased_at is null
           and exists (select from positions p where p.user_id = u.id and p.closed_at is null) = ${isHolding}::boolean
         order by random() limit ${LOOK_MAX}::integer`.execute(this.#options.db)
      return rows.map(({ id }) => userId(id))
    }
    return { ready: await look(false), holding: await look(true) }
  }

  /** Open positions of a user; the next look finds the rest. */
  async openPositions(user: UserId): Promise<readonly PositionId[]> {
    const rows = await this.#options.db
      .selectFrom('positions')
      .select('id')
      .where('user_id', '=', user)
      .where('closed_at', 'is', null)
      .limit(POSITIONS_MAX)
      .execute()
    return rows.map(({ id }) => positionId(id))
  }

  /**
   * Erases an account that is due and holds nothing, all at once; false for any other. Of several processes one does.
   * A commit locks the wallets, so nothing can be opened meanwhile, or later.
   */ // Y3
  async erase(user: UserId): Promise<boolean> {
    const { db, world, audit, departed } = this.#options
    const now = new Date(world.now())
    return db.transaction().execute(async (tx) => {
      await markBoardsChanged(tx, user)
      const row = await this.#lock(tx, user)
      if (row === undefined || row.erased_at !== null) return false
      if (row.deletion_due === null || row.deletion_due > now) return false
      await tx
        .selectFrom('wallets')
        .select('purse')
        .where('user_id', '=', user)
        .orderBy('purse')
        .forNoKeyUpdate()
        .execute()
      const open = await tx
        .selectFrom('positions')
        .select('id')
        .where('user_id', '=', user)
        .where('closed_at', 'is', null)
        .limit(1)
        .execute()
      if (open.length > 0) return false
      await departed.remember(tx, {
        sub: row.google_sub,
        email: row.email,
        username: row.username,
        frozen: row.status === 'frozen',
        limits: row.limits === null ? null : readLimits(row.limits, 'limits'),
        at: now,
      })
      await this.#eraseRows(tx, { ...row, id: user })
      await tx.updateTable('users').set(this.#nobody(user, now)).where('id', '=', user).execute()
      await tx.updateTable('wallets').set({ frozen: true, limits: null }).where('user_id', '=', user).execute()
      await endSessionsOf(user, tx, world)
      await audit.record({ actor: null, action: 'user.erase', subject: user, before: null, after: null }, tx)
      return true
    })
  }

  async #hasEnded(tx: Transaction<Database>, session: SessionId): Promise<boolean> {
    const living = await tx
      .selectFrom('sessions')
      .select('id')
      .where('id', '=', session)
      .where('ended_at', 'is', null)
      .executeTakeFirst()
    return living === undefined
  }

  async #rerank(tx: Transaction<Database>, user: UserId): Promise<void> {
    for (const rerank of this.#options.rerankers) await rerank(tx, user)
  }

  #lock(tx: Transaction<Database>, user: UserId) {
    return tx.selectFrom('users').selectAll().where('id', '=', user).forUpdate().executeTakeFirst()
  }

  /** The columns of an erased user. The name is random: it must not lead from the former one to the pseudonym. */
  #nobody(user: UserId, now: Date) {
    return {
      google_sub: null,
      email: `${user}@deleted.invalid`,
      name: 'Deleted user',
      picture: null,
      username: `deleted_${this.#options.world.secret(NAME_BYTES)}`,
      first_name: 'Deleted user',
      last_name: null,
      role: 'user',
      admin_by_email: false,
      referral_code: this.#options.world.secret(NAME_BYTES),
      limits: null,
      deletion_due: null,
      erased_at: now,
    } as const
  }

  /** What other tables hold of a person. The sessions' rows stay until they expire, so that their tokens stay ended. */
  async #eraseRows(
    tx: Transaction<Database>,
    { id, google_sub: sub }: { id: UserId; google_sub: string | null },
  ): Promise<void> {
    await tx
      .deleteFrom('personal_keys')
      .where('id', 'in', tx.selectFrom('sessions').select('id').where('user_id', '=', id))
      .execute()
    await tx.updateTable('sessions').set({ user_agent: null, address_prefix: '' }).where('user_id', '=', id).execute()
    await tx
      .deleteFrom('email_codes')
      .where('subject', '=', sub ?? '') // another account may have the same address
      .execute()
    await tx.deleteFrom('notifications').where('user_id', '=', id).execute()
    await tx.deleteFrom('activity').where('user_id', '=', id).execute()
    // Invites that this user wrote, and the one by which they came, have names in them. A reward that was not paid yet
    // will not be.
    await tx
      .deleteFrom('referrals')
      .where((eb) => eb.or([eb('referrer_id', '=', id), eb('referee_id', '=', id)]))
      .where('credited_at', 'is', null)
      .execute()
    await tx
      .updateTable('referrals')
      .set({ name: null, code: null })
      .where((eb) => eb.or([eb('referrer_id', '=', id), eb('referee_id', '=', id)]))
      .execute()
    await tx.deleteFrom('audit_words').where('about', '=', id).execute()
    // Told to the user who had invited this one. A username has no blanks.
    await sql`
      update notifications set body = regexp_replace(body, '^\\S+', 'A friend'), data = data - 'refereeName'
       where source = ${`referral:${id}`}::text`.execute(tx)
    for (const erase of this.#options.erasers) await erase(tx, id)
  }
}
