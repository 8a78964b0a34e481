/** Invites, and a user's list of those who came with them. Registering and paying are elsewhere. */
import { type Kysely, sql } from 'kysely'
import { present } from '../../../actors/kernel/assert.ts'
import type { UserId } from '../../../actors/kernel/ids.ts'
import { type Money, money } from '../../../actors/kernel/micros.ts'
import { type Instant, instant, type World } from '../../../actors/kernel/world.ts'
import { lockUser } from '../../../db/lock-user.ts'
import type { Database } from '../../../db/postgres/schema.ts'
import { inSnapshot } from '../../../db/postgres/snapshot.ts'

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

/** Referrals in a list. */
const LIST_MAX = 1_000
/** Open invites of one user. */
const WAITING_MAX = 200
const CODE_BYTES = 5

export class Invites {
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
    const { rows } = await this.#db.transaction().execute(async (tx) => {
      // One after the other, or each would count without the rest.
      await lockUser(tx, referrer)
      return sql`
        insert into referrals (id, referrer_id, name, code, created_at)
          select ${id}::uuid, ${referrer}::uuid, ${name}::text, ${code}::text, ${new Date(createdAt)}::timestamptz
           where (select count(*) from referrals where referrer_id = ${referrer}::uuid and referee_id is null)
                 < ${WAITING_MAX}::integer
          returning id`.execute(tx)
    })
    if (rows.length === 0) return null
    return { id, name, code, createdAt, registeredAt: null, creditedAt: null, reward: money(0) }
  }

  /** The user's latest referrals, newest first, with the totals of all, and the user's own code. */
  list(
    referrer: UserId,
  ): Promise<{ readonly ownCode: string; readonly referrals: readonly Referral[]; readonly sums: ReferralSums }> {
    return inSnapshot(this.#db, async (snapshot) => {
      const own = await snapshot
        .selectFrom('users')
        .select('referral_code')
        .where('id', '=', referrer)
        .executeTakeFirst()
      const rows = await snapshot
        .selectFrom('referrals')
        .selectAll()
        .where('referrer_id', '=', referrer)
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(LIST_MAX)
        .execute()
      const { rows: summed } = await sql<{ invited: number; registered: number; credited: number; rewards: number }>`
        select count(*) as invited, count(registered_at) as registered, count(credited_at) as credited,
               coalesce(sum(reward_micros), 0)::bigint as rewards
          from referrals where referrer_id = ${referrer}::uuid`.execute(snapshot)
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
    })
  }

  /** Whether this user was referred. */
  async isReferred(user: UserId): Promise<boolean> {
    const row = await this.#db.selectFrom('referrals').select('id').where('referee_id', '=', user).executeTakeFirst()
    return row !== undefined
  }
}
