/**
 * Webhooks: where operators are told what happens, and how far each of them has got. Of all processes one at a time
 * works a webhook, under a lease; the database's clock decides. What is sent is noted before it is sent, so that a
 * repetition, by whichever process, has the same id and the same events.
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import type { UserId } from '../../../actors/kernel/ids.ts'
import { type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import type { AuditLog } from '../../../db/audit-log.ts'
import type { StreamPlace } from '../../../db/event-stream.ts'
import { texts } from '../../../db/postgres/arrays.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { type WebhooksTable, withWebhooks } from './tables.ts'

/** The most webhooks of an installation. */
export const WEBHOOKS_MAX = 10
const ERROR_LENGTH_MAX = 300
/** Longer than the longest delivery; the webhooks of a process that dies wait for the end of it. */
const LEASE_MS = 30_000

export interface Webhook {
  readonly id: string
  readonly url: string
  /** The types of events that it is told of; none: all. */
  readonly types: readonly string[]
  /** `disabled`: by the server, since it failed for too long. */
  readonly state: 'active' | 'paused' | 'disabled'
  readonly createdAt: Instant
  readonly lastSuccessAt: Instant | null
  /** Since when every attempt has failed. */
  readonly failingSince: Instant | null
  readonly lastError: string | null
  /** Commits that it has not been told of. */
  readonly waiting: number
}

export interface NewWebhook {
  readonly id: string
  readonly by: UserId
  readonly url: string
  readonly types: readonly string[]
  /** Where it begins. */
  readonly place: StreamPlace
  /** A digest of its secret, which shows when the secret has changed. */
  readonly secretDigest: string
}

/** What was noted to be sent: everything up to a place. */
export interface Planned {
  readonly id: string
  readonly until: StreamPlace
}

/** A webhook that this process may work on until the lease ends. */
export interface Claimed {
  readonly id: string
  readonly lease: string
  readonly url: string
  readonly types: readonly string[]
  readonly secretDigest: string
  readonly place: StreamPlace
  readonly planned: Planned | null
  /** Attempts at it that have failed. */
  readonly attempts: number
}

export interface Failure {
  readonly error: string
  readonly retryMs: number
  /** It is disabled when it has failed for longer. */
  readonly disableMs: number
}

interface WebhooksOptions {
  readonly db: Kysely<Database>
  readonly audit: AuditLog
  readonly world: Pick<World, 'now' | 'newId'>
  readonly leaseMs?: number
}

export class Webhooks {
  readonly #options: WebhooksOptions

  constructor(options: WebhooksOptions) {
    this.#options = options
  }

  /** Creates a webhook and audits it; null when there are as many as there may be. */
  async create({ id, by, url, types, place, secretDigest }: NewWebhook): Promise<Webhook | null> {
    const { db, audit, world } = this.#options
    return db.transaction().execute(async (tx) => {
      // One at a time, so that two requests cannot exceed the limit together.
      await sql`lock table webhooks in share row exclusive mode`.execute(tx)
      const { count } = await withWebhooks(tx)
        .selectFrom('webhooks')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      if (count >= WEBHOOKS_MAX) return null
      await sql`
        insert into webhooks (id, url, types, secret_digest, created_at, position, seq, read)
          values (${id}::uuid, ${url}::text, ${texts(types)}::text[], ${secretDigest}::text,
                  ${new Date(world.now())}::timestamptz, ${place[0]}::bigint, ${place[1]}::bigint, ${place[2]}::integer)
      `.execute(tx)
      const after = { origin: originOf(url), types }
      await audit.record({ actor: by, action: 'webhook.create', subject: id, before: null, after }, tx)
      return (await list(tx, id))[0] ?? null
    })
  }

  /** The oldest first. */
  list(): Promise<readonly Webhook[]> {
    return list(this.#options.db)
  }

  async find(id: string): Promise<Webhook | null> {
    return (await list(this.#options.db, id))[0] ?? null
  }

  /** Pauses a webhook, or lets it go on where it was, at once; audits it. Null if there is none. */
  async setState(id: string, state: 'active' | 'paused', by: UserId): Promise<Webhook | null> {
    const { db, audit } = this.#options
    return db.transaction().execute(async (tx) => {
      const before = await withWebhooks(tx)
        .selectFrom('webhooks')
        .select('state')
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirst()
      if (before === undefined) return null
      await sql`
        update webhooks set state = ${state}::text, attempts = 0, failing_since = null, next_at = '-infinity'
         where id = ${id}::uuid`.execute(tx)
      const action = state === 'active' ? 'webhook.resume' : 'webhook.pause'
      await audit.record({ actor: by, action, subject: id, before, after: { state } }, tx)
      return (await list(tx, id))[0] ?? null
    })
  }

  /** Deletes a webhook and audits it; false if there is none. What is under way may still arrive. */
  async delete(id: string, by: UserId, reason?: string): Promise<boolean> {
    const { db, audit } = this.#options
    return db.transaction().execute(async (tx) => {
      const [gone] = await withWebhooks(tx)
        .deleteFrom('webhooks')
        .where('id', '=', id)
        .returning(['url', 'types'])
        .execute()
      if (gone === undefined) return false
      const before = { origin: originOf(gone.url), types: gone.types }
      await audit.record({ actor: by, action: 'webhook.delete', subject: id, before, after: null, reason }, tx)
      return true
    })
  }

  /** Whether any webhook wants to be told. */
  async areActive(): Promise<boolean> {
    const { db } = this.#options
    const active = await withWebhooks(db)
      .selectFrom('webhooks')
      .select('id')
      .where('state', '=', 'active')
      .limit(1)
      .executeTakeFirst()
    return active !== undefined
  }

  /** Takes a webhook that is due, has something to be told and is worked by no process; null if there is none. */
  async claim(): Promise<Claimed | null> {
    const { db, world, leaseMs = LEASE_MS } = this.#options
    const { rows } = await sql<Selectable<WebhooksTable>>`
      update webhooks
         set lease = ${world.newId()}::uuid, leased_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000}::float8)
       where id = (
         select id from webhooks w
          where state = 'active' and next_at <= clock_timestamp() and leased_until <= clock_timestamp()
            and exists (select from event_ranges r
                         where r.position > w.position or (r.position = w.position and r.to_seq >= w.seq))
          order by next_at limit 1 for update skip locked)
      returning *`.execute(db)
    const [row] = rows
    return row === undefined ? null : claimedFrom(row)
  }

  /** Notes what is sent next. False when the lease has been lost. */
  plan({ id, lease }: Claimed, planned: Planned): Promise<boolean> {
    const [position, seq, read] = planned.until
    return this.#under(sql`
      update webhooks
         set plan = ${planned.id}::uuid, until_position = ${position}::bigint, until_seq = ${seq}::bigint,
             until_read = ${read}::integer
       where id = ${id}::uuid and lease = ${lease}::uuid returning id`)
  }

  /** Goes on after a place up to which everything was delivered, or nothing was to be told. Ends the lease. */
  passed({ id, lease }: Claimed, [position, seq, read]: StreamPlace, isDelivered: boolean): Promise<boolean> {
    return this.#under(sql`
      update webhooks
         set position = ${position}::bigint, seq = ${seq}::bigint, read = ${read}::integer, plan = null, lease = null,
             leased_until = '-infinity', attempts = 0, failing_since = null, next_at = clock_timestamp(),
             last_success_at = case when ${isDelivered}::boolean then clock_timestamp() else last_success_at end
       where id = ${id}::uuid and lease = ${lease}::uuid returning id`)
  }

  /** Notes a failed attempt and ends the lease. True when that has disabled the webhook, which is audited. */
  async failed({ id, lease }: Claimed, { error, retryMs, disableMs }: Failure): Promise<boolean> {
    const { db, audit } = this.#options
    return db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ state: string }>`
        update webhooks
           set attempts = attempts + 1, last_error = ${error.replaceAll('\0', '').slice(0, ERROR_LENGTH_MAX)}::text,
               failing_since = coalesce(failing_since, clock_timestamp()), lease = null, leased_until = '-infinity',
               next_at = clock_timestamp() + make_interval(secs => ${retryMs / 1000}::float8),
               state = case when failing_since < clock_timestamp() - make_interval(secs => ${disableMs / 1000}::float8)
                            then 'disabled' else state end
         where id = ${id}::uuid and lease = ${lease}::uuid and state = 'active'
        returning state`.execute(tx)
      if (rows[0]?.state !== 'disabled') return false
      const before = { state: 'active' }
      const after = { state: 'disabled' }
      await audit.record({ actor: null, action: 'webhook.disable', subject: id, before, after }, tx)
      return true
    })
  }

  async #under(update: ReturnType<typeof sql>): Promise<boolean> {
    return (await update.execute(this.#options.db)).rows.length > 0
  }
}

/** A path often holds a token: the log of actions has only where it leads. */
const originOf = (url: string): string => new URL(url).origin

async function list(db: Kysely<Database>, id: string | null = null): Promise<readonly Webhook[]> {
  const { rows } = await sql<Selectable<WebhooksTable> & { waiting: number }>`
    select w.*, coalesce((
             select sum(r.to_seq + 1 - case when r.position = w.position then greatest(r.from_seq, w.seq) else r.from_seq end)
               from event_ranges r where r.position >= w.position), 0)::bigint as waiting
      from webhooks w where ${id}::uuid is null or w.id = ${id}::uuid
     order by w.id`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    url: row.url,
    types: row.types,
    state: row.state,
    createdAt: instant(row.created_at.getTime()),
    lastSuccessAt: row.last_success_at === null ? null : instant(row.last_success_at.getTime()),
    failingSince: row.failing_since === null ? null : instant(row.failing_since.getTime()),
    lastError: row.last_error,
    waiting: row.waiting,
  }))
}

const claimedFrom = (row: Selectable<WebhooksTable>): Claimed => ({
  id: row.id,
  lease: row.lease ?? '',
  url: row.url,
  types: row.types,
  secretDigest: row.secret_digest,
  place: [row.position, row.seq, row.read],
  planned:
    row.plan === null
      ? null
      : { id: row.plan, until: [row.until_position ?? 0, row.until_seq ?? 0, row.until_read ?? 0] },
  attempts: row.attempts,
})
