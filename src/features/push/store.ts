/**
 * Browsers that want to be told, and what each of them is still to be told. It is noted in the transaction of the
 * notification; a process claims some of it for a while, sends it and forgets it. What a process had claimed when it
 * died is sent by another.
 */
import { type Kysely, sql } from 'kysely'
import { type SessionId, type UserId, userId } from '../../../actors/kernel/ids.ts'
import { type Instant, MINUTE_MS, SECOND_MS, type World } from '../../../actors/kernel/world.ts'
import { lockUser } from '../../../db/lock-user.ts'
import { readFacts } from '../../../db/facts.ts'
import { PUSH_KINDS, type PushKind } from '../../../db/push-outbox.ts'
import { bigints, uuids } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { WAIT_MAX_MS } from './breaker.ts'
import { isQuiet, type QuietHours, readQuietHours } from './quiet.ts'

export interface PushTarget {
  /** Of the browser's push service. It is secret: with the keys it is all that sending to the browser takes. */
  readonly endpoint: string
  readonly p256dh: string
  readonly auth: string
}

export interface PushSubscription {
  readonly id: string
  readonly endpoint: string
  readonly kinds: readonly PushKind[]
  readonly quiet: QuietHours | null
}

/** One message for one browser. */
export interface Push {
  readonly notification: number
  readonly subscription: string
  readonly userId: UserId
  readonly target: PushTarget
  readonly title: string
  readonly body: string
  readonly data: Readonly<Record<string, unknown>>
  /** When its browser is left alone. */
  readonly quiet: QuietHours | null
  /** Too old to be of interest: it is not sent. */
  readonly isLate: boolean
}

/** Browsers of one user; beyond it the oldest goes. */
const SUBSCRIPTIONS_MAX = 10
/** Older messages are not sent: they are of no interest. */
const FRESH_MS = 15 * MINUTE_MS
/** Longer than any delivery. */
const CLAIM_MS = 30 * SECOND_MS
/**
 * Messages that a claim looks at, the oldest first: hundreds of thousands wait after full time, and each claim would
 * read and sort them all. Those of busy browsers are not among them, so a user who is told much delays others little.
 */
const LOOK_MAX = 20_000

export class Pushes {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'newId'>
  #hasForgottenEnded = false

  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'newId'>) {
    this.#db = db
    this.#world = world
  }

  /** The browsers of a user, newest first. */
  async list(user: UserId): Promise<readonly PushSubscription[]> {
    const rows = await this.#db
      .selectFrom('push_subscriptions')
      .select(['id', 'endpoint', 'kinds', 'quiet'])
      .where('user_id', '=', user)
      .orderBy('created_at', 'desc')
      .orderBy('id')
      .execute()
    return rows.map(({ id, endpoint, kinds, quiet }) => ({
      id,
      endpoint,
      kinds: readKinds(kinds),
      quiet: quietFrom(quiet, id),
    }))
  }

  /**
   * Tells this browser of these kinds from now on, but not in its quiet hours, until the session in which it asks is
   * ended. One that another user had registered is theirs no more.
   */
  async subscribe(
    user: UserId,
    target: PushTarget,
    kinds: readonly PushKind[],
    quiet: QuietHours | null = null,
    session: SessionId | null = null,
  ): Promise<PushSubscription> {
    return this.#db.transaction().execute(async (tx) => {
      // One after the other, or each would count without the rest.
      await lockUser(tx, user)
      const known = await tx
        .selectFrom('push_subscriptions')
        .select(['id', 'user_id'])
        .where('endpoint', '=', target.endpoint)
        .forUpdate()
        .executeTakeFirst()
      if (known !== undefined && known.user_id !== user) {
        await tx.deleteFrom('push_subscriptions').where('id', '=', known.id).execute()
      }
      const stored = quiet === null ? null : JSON.stringify(quiet)
      const values = { ...target, user_id: user, kinds: [...kinds], quiet: stored, session_id: session }
      const { id } = await tx
        .insertInto('push_subscriptions')
        .values({ ...values, id: this.#world.newId(), created_at: new Date(this.#world.now()) })
        .onConflict((conflict) => conflict.column('endpoint').doUpdateSet(values))
        .returning('id')
        .executeTakeFirstOrThrow()
      await sql`
        delete from push_subscriptions where user_id = ${user}::uuid and id in (
          select id from push_subscriptions where user_id = ${user}::uuid
           order by created_at desc, id offset ${SUBSCRIPTIONS_MAX}::integer)`.execute(tx)
      return { id, endpoint: target.endpoint, kinds, quiet }
    })
  }

  /** False if the user has no such browser. */
  async unsubscribe(user: UserId, id: string): Promise<boolean> {
    const gone = await this.#db
      .deleteFrom('push_subscriptions')
      .where('id', '=', id)
      .where('user_id', '=', user)
      .returning('id')
      .executeTakeFirst()
    return gone !== undefined
  }

  /**
   * Claims messages to send now for half a minute: one for a browser, its oldest, and none for those in `busy`. First
   * the oldest of each user, so that no user waits for all that another is to be told. Those of browsers in their quiet
   * hours are forgotten. A browser is told nothing once its session has been ended.
   */ // R22
  async claim(limit: number, busy: readonly string[]): Promise<readonly Push[]> {
    for (;;) {
      const now = this.#world.now()
      const claimed = await this.#claim(now, limit, busy)
      const heard = claimed.filter(({ quiet }) => quiet === null || !isQuiet(quiet, now))
      await this.forget(claimed.filter((push) => !heard.includes(push)))
      if (heard.length > 0 || claimed.length === 0) return heard
    }
  }

  async #claim(now: Instant, limit: number, busy: readonly string[]): Promise<readonly Push[]> {
    const { rows } = await sql<Claimed>`
      with free as (
        select o.notification_id, o.subscription_id from push_outbox o
         where ${this.#isFree(now)} and o.subscription_id <> all (${uuids(busy)}::uuid[])
         order by o.notification_id, o.subscription_id limit ${LOOK_MAX}::integer),
      next as (
        select distinct on (o.subscription_id) o.notification_id, o.subscription_id, s.user_id
          from free o join push_subscriptions s on s.id = o.subscription_id
               left join sessions e on e.id = s.session_id
         where e.ended_at is null
         order by o.subscription_id, o.notification_id),
      turns as (
        select notification_id, subscription_id,
               row_number() over (partition by user_id order by notification_id, subscription_id) as turn
          from next order by turn, notification_id limit ${limit}::integer),
      mine as (
        select o.notification_id, o.subscription_id
          from push_outbox o join turns t using (notification_id, subscription_id)
         where ${this.#isFree(now)}
           for update of o skip locked)
      update push_outbox o set claimed_until = ${new Date(now + CLAIM_MS)}::timestamptz
        from mine m
        join notifications n on n.id = m.notification_id
        join push_subscriptions s on s.id = m.subscription_id
       where o.notification_id = m.notification_id and o.subscription_id = m.subscription_id
      returning o.notification_id, o.subscription_id, s.user_id, s.endpoint, s.p256dh, s.auth, s.quiet, n.title, n.body, n.data, n.created_at`.execute(
      this.#db,
    )
    return rows.map(
      ({
        notification_id: notification,
        subscription_id: subscription,
        user_id,
        title,
        body,
        data,
        quiet,
        created_at,
        ...target
      }) => ({
        notification,
        subscription,
        userId: userId(user_id),
        target,
        title,
        body,
        data: readFacts(data, `notification ${notification}: data`),
        quiet: quietFrom(quiet, subscription),
        isLate: created_at.getTime() < now - FRESH_MS,
      }),
    )
  }

  /** What is claimed for longer than anything ever is was claimed before the clock was put back. */
  #isFree(now: number) {
    const latest = new Date(now + 2 * WAIT_MAX_MS)
    return sql<boolean>`(o.claimed_until is null or o.claimed_until < ${new Date(now)}::timestamptz
      or o.claimed_until > ${latest}::timestamptz)`
  }

  /** Pauses the messages to a browser for this long, in ms. */
  async putOff(subscription: string, ms: number): Promise<void> {
    await this.#db
      .updateTable('push_outbox')
      .set({ claimed_until: new Date(this.#world.now() + ms) })
      .where('subscription_id', '=', subscription)
      .execute()
  }

  /** Forgets messages that have arrived, or never will. */
  async forget(pushes: readonly Pick<Push, 'notification' | 'subscription'>[]): Promise<void> {
    if (pushes.length === 0) return
    await sql`
      delete from push_outbox o
       using unnest(${bigints(pushes.map((one) => one.notification))}::bigint[],
                    ${uuids(pushes.map((one) => one.subscription))}::uuid[]) d (notification_id, subscription_id)
       where o.notification_id = d.notification_id and o.subscription_id = d.subscription_id`.execute(this.#db)
  }

  /** Forgets messages that are too old to be sent, and returns how many: all are read, so not for each claim. */
  async forgetLate(): Promise<number> {
    const { numAffectedRows } = await sql`
      delete from push_outbox o using notifications n
       where n.id = o.notification_id
         and n.created_at < ${new Date(this.#world.now() - FRESH_MS)}::timestamptz`.execute(this.#db)
    return Number(numAffectedRows ?? 0)
  }

  /**
   * Forgets the browsers of sessions that have been ended: in the last hour, but at the first call of a process ever.
   * Later the row of the session goes, and with it what tells that it was ended.
   */ // R22
  async forgetEnded(): Promise<void> {
    const since = this.#hasForgottenEnded ? sql`clock_timestamp() - interval '1 hour'` : sql`'-infinity'::timestamptz`
    await sql`
      delete from push_subscriptions p using sessions s
       where s.id = p.session_id and s.ended_at > ${since}`.execute(this.#db)
    this.#hasForgottenEnded = true
  }

  /** Forgets browsers that no longer want messages. */
  async forgetBrowsers(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await this.#db
      .deleteFrom('push_subscriptions')
      .where('id', 'in', [...ids])
      .execute()
  }
}

interface Claimed extends PushTarget {
  readonly notification_id: number
  readonly subscription_id: string
  readonly user_id: string
  readonly title: string
  readonly body: string
  readonly data: unknown
  readonly quiet: unknown
  readonly created_at: Date
}

const quietFrom = (stored: unknown, id: string): QuietHours | null =>
  stored === null ? null : readQuietHours(stored, `subscription ${id}: quiet`)

const readKinds = (kinds: readonly string[]): readonly PushKind[] => PUSH_KINDS.filter((kind) => kinds.includes(kind))
