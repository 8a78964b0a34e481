/** A user's notifications: reading them, and marking them as read. */
import { NOTICE_TYPES } from '../../../actors/community/notices.ts'
import type { Kysely } from 'kysely'
import { type UserId, userId } from '../../../actors/kernel/ids.ts'
import { oneOf } from '../../../actors/kernel/read.ts'
import { type Instant, instant } from '../../../actors/kernel/world.ts'
import type { Notification } from '../../../db/announcements.ts'
import { readFacts } from '../../../db/facts.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { inSnapshot } from '../../../db/postgres/snapshot.ts'

export interface InboxQuery {
  readonly limit: number
  readonly unreadOnly: boolean
  /** Only notifications older than the one with this id. */
  readonly before: number | null
}

const readType = oneOf(NOTICE_TYPES)

export class Inbox {
  readonly #db: Kysely<Database>

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Newest first, and how many are unread on all pages. */
  list(user: UserId, query: InboxQuery): Promise<{ notifications: readonly Notification[]; unread: number }> {
    return inSnapshot(this.#db, async (snapshot) => ({
      notifications: await pageOf(snapshot, user, query),
      unread: await unreadOf(snapshot, user),
    }))
  }

  unreadCount(user: UserId): Promise<number> {
    return unreadOf(this.#db, user)
  }

  /** False when the notification does not exist or belongs to another user. Reading it again changes nothing. */
  async read(user: UserId, id: number, at: Instant): Promise<boolean> {
    const rows = await this.#db
      .updateTable('notifications')
      .set((row) => ({ read_at: row.fn.coalesce('read_at', row.val(new Date(at))) }))
      .where('id', '=', id)
      .where('user_id', '=', user)
      .returning('id')
      .execute()
    return rows.length > 0
  }

  /** The number of notifications that were unread. */
  async readAll(user: UserId, at: Instant): Promise<number> {
    const { numUpdatedRows } = await this.#db
      .updateTable('notifications')
      .set({ read_at: new Date(at) })
      .where('user_id', '=', user)
      .where('read_at', 'is', null)
      .executeTakeFirstOrThrow()
    return Number(numUpdatedRows)
  }
}

async function pageOf(db: Kysely<Database>, user: UserId, { limit, unreadOnly, before }: InboxQuery) {
  const rows = await db
    .selectFrom('notifications')
    .selectAll()
    .where('user_id', '=', user)
    .$if(unreadOnly, (query) => query.where('read_at', 'is', null))
    .$if(before !== null, (query) => query.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    id: row.id,
    userId: userId(row.user_id),
    type: readType(row.type, `notification ${row.id}: type`),
    title: row.title,
    body: row.body,
    data: readFacts(row.data, `notification ${row.id}: data`),
    createdAt: instant(row.created_at.getTime()),
    read: row.read_at !== null,
  }))
}

async function unreadOf(db: Kysely<Database>, user: UserId): Promise<number> {
  const { count } = await db
    .selectFrom('notifications')
    .select((row) => row.fn.countAll<number>().as('count'))
    .where('user_id', '=', user)
    .where('read_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
