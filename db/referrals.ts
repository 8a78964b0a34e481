/** Referrals: invites, codes, and the network that the friends boards rank. Registering and paying are elsewhere. */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type UserId, userId } from '../actors/kernel/ids.ts'
import { type Money, money } from '../actors/kernel/micros.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

export interface Referral {
  readonly id: string
  /** The invited person's name, as the referrer wrote it; null for a registration with the referrer's own code. */
  readonly name: string | null
  readonly code: string
  readonly createdAt: Instant
  readonly registeredAt: Instant | null
  readonly creditedAt: Instant | null
  readonly reward: Money
}

/** All referrals of a user, not only the listed ones. */
export interface ReferralSums {
  readonly invited: number
  readonly registered: number
  readonly credited: number
  readonly rewards: Money
}

/** What a code refers to. */
export interface KnownCode {
  readonly referrerId: UserId
  readonly referrerName: string
}

/** Most friends ranked: with more, the earliest are ranked. The list shows as many of the latest. */
const NETWORK_MAX = 1_000
/** Open invites of one user. */
const WAITING_MAX = 200
const CODE_BYTES = 5

/** Codes are written in lower case, and read in any. */
const spelt = (code: string): string => code.toLowerCase()

export class Referrals {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'newId' | 'secret'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'newId' | 'secret'>) {
    this.#db = db
    this.#world = world
  }

  /** A new invite with its own code; null when the user has too many open ones. */
  async invite(referrer: UserId, name: string): Promise<Referral | null> {
    const code = this.#world.secret(CODE_BYTES)
    const createdAt = this.#world.now()
    const id = this.#world.newId()
    const { rows } = await sql`
      insert into referrals (id, referrer_id, name, code, created_at)
        select ${id}::uuid, ${referrer}::uuid, ${name}::text, ${code}::text, ${new Date(createdAt)}::timestamptz
         where (select count(*) from referrals where referrer_id = ${referrer}::uuid and referee_id is null)
               < ${WAITING_MAX}::integer
        returning id`.execute(this.#db)
    if (rows.length === 0) return null
    return { id, name, code, createdAt, registeredAt: null, creditedAt: null, reward: money(0) }
  }

  /** The user's latest referrals, newest first, with the totals of all, and the user's own code. */
  async list(
    referrer: UserId,
  ): Promise<{ readonly ownCode: string; readonly referrals: readonly Referral[]; readonly sums: ReferralSums }> {
    const [own, rows, { rows: summed }] = await Promise.all([
      this.#db.selectFrom('users').select('referral_code').where('id', '=', referrer).executeTakeFirst(),
      this.#db
        .selectFrom('referrals')
        .selectAll()
        .where('referrer_id', '=', referrer)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(NETWORK_MAX)
        .execute(),
      sql<{ invited: number; registered: number; credited: number; rewards: number }>`
        select count(*) as invited, count(registered_at) as registered, count(credited_at) as credited,
               coalesce(sum(reward_micros), 0)::bigint as rewards
          from referrals where referrer_id = ${referrer}::uuid`.execute(this.#db),
    ])
    const sums = present(summed[0], 'the sums of referrals')
    const ownCode = own?.referral_code ?? ''
    const time = (at: Date | null): Instant | null => (at === null ? null : instant(at.getTime()))
    const referrals = rows.map((row) => ({
      id: row.id,
      name: row.name,
      code: row.code ?? ownCode,
      createdAt: instant(row.created_at.getTime()),
      registeredAt: time(row.registered_at),
      creditedAt: time(row.credited_at),
      reward: money(row.reward_micros),
    }))
    return { ownCode, referrals, sums: { ...sums, rewards: money(sums.rewards) } }
  }

  /** What a user's or an invite's code refers to; null for an unknown code, and while its user's account is due. */
  async find(code: string): Promise<KnownCode | null> {
    const known = spelt(code)
    const { rows } = await sql<{ id: string; username: string }>`
      select id, username from users where referral_code = ${known}::text and deletion_due is null
      union all
      select u.id, u.username from referrals r join users u on u.id = r.referrer_id
       where r.code = ${known}::text and u.deletion_due is null and u.erased_at is null`.execute(this.#db)
    const [row] = rows
    return row === undefined ? null : { referrerId: userId(row.id), referrerName: row.username }
  }

  /**
   * Fills the open invite, or adds an anonymous referral: an invite that is passed on counts for every user who comes.
   */
  async refer(code: string, referrer: UserId, referee: UserId): Promise<void> {
    const now = new Date(this.#world.now())
    const filled = await this.#db
      .updateTable('referrals')
      .set({ referee_id: referee, registered_at: now })
      .where('code', '=', spelt(code))
      .where('referee_id', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (filled !== undefined) return
    await this.#db
      .insertInto('referrals')
      .values({
        id: this.#world.newId(),
        referrer_id: referrer,
        name: null,
        code: null,
        referee_id: referee,
        created_at: now,
        registered_at: now,
        credited_at: null,
      })
      .execute()
  }

  /** Whether this user was referred. */
  async isReferred(user: UserId): Promise<boolean> {
    const row = await this.#db.selectFrom('referrals').select('id').where('referee_id', '=', user).executeTakeFirst()
    return row !== undefined
  }

  /** The user, those they referred, and their referrer. */
  async network(user: UserId): Promise<readonly UserId[]> {
    const { rows } = await sql<{ id: string }>`
      select ${user}::uuid as id
      union
      select referrer_id from referrals where referee_id = ${user}::uuid
      union
      (select referee_id from referrals where referrer_id = ${user}::uuid and referee_id is not null
        order by registered_at limit ${NETWORK_MAX}::integer)`.execute(this.#db)
    return rows.map((row) => userId(row.id))
  }
}
