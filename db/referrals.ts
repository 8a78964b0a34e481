/** Who came with whose code, and the network that the friends boards rank. Paying is elsewhere. */
import { type Kysely, sql } from 'kysely'
import { type UserId, userId } from '../actors/kernel/ids.ts'
import type { World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

/** What a code refers to. */
export interface KnownCode {
  readonly referrerId: UserId
  readonly referrerName: string
}

/** Most friends ranked: with more, the earliest are ranked. */
const NETWORK_MAX = 1_000

/** Codes are written in lower case, and read in any. */
const spelt = (code: string): string => code.toLowerCase()

export class Referrals {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now' | 'newId'>

  constructor(db: Kysely<Database>, world: Pick<World, 'now' | 'newId'>) {
    this.#db = db
    this.#world = world
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
