/** Users of the identity provider: finds them, and creates them with wallet and referral in one transaction. */
import type { Kysely, Transaction } from 'kysely'
import { type DistrictId, type UserId, userId } from '../actors/kernel/ids.ts'
import type { World } from '../actors/kernel/world.ts'
import { Referrals } from './referrals.ts'
import type { Database } from './postgres/schema.ts'
import { grantStartingBalance } from './starting-balance.ts'
import { type User, userFrom } from './users.ts'

/** An account as the identity provider describes it. */
export interface ProviderAccount {
  readonly sub: string
  readonly email: string
  readonly name: string
  readonly picture: string | null
}

export interface Registration {
  readonly identity: ProviderAccount
  readonly username: string
  readonly firstName: string
  readonly lastName: string | null
  readonly districtId: DistrictId
  /** A user's own code or that of an invite; null for none. */
  readonly referralCode: string | null
}

export type Registered =
  /** False when the account had already registered, perhaps at the same moment. */
  | { readonly kind: 'registered'; readonly user: User; readonly isNew: boolean }
  | { readonly kind: 'username_taken' }
  | { readonly kind: 'unknown_district' }
  | { readonly kind: 'unknown_referral' }

const REFERRAL_CODE_BYTES = 5

export class Registrations {
  readonly #db: Kysely<Database>
  readonly #world: World
  readonly #adminEmails: readonly string[]

  /** A user with one of `adminEmails` (lower case) is an admin from the next sign-in on. */
  constructor(db: Kysely<Database>, world: World, adminEmails: readonly string[]) {
    this.#db = db
    this.#world = world
    this.#adminEmails = adminEmails
  }

  /** The user who registered with this account, updated with what the provider says now; null when there is none. */
  async signIn(account: ProviderAccount): Promise<User | null> {
    const { sub, email, name, picture } = account
    const row = await this.#db
      .updateTable('users')
      .set({ email, name, picture, ...(this.#isAdmin(email) ? { role: 'admin' } : {}) })
      .where('google_sub', '=', sub)
      .returningAll()
      .executeTakeFirst()
    return row === undefined ? null : userFrom(row)
  }

  /** Creates user, wallet and referral, or none of them. Of several calls for one account, one creates the user. */
  async register(registration: Registration): Promise<Registered> {
    return this.#db.transaction().execute(async (tx): Promise<Registered> => {
      const { identity, username, districtId, referralCode } = registration
      const district = await tx.selectFrom('districts').select('id').where('id', '=', districtId).executeTakeFirst()
      if (district === undefined) return { kind: 'unknown_district' }
      const referrer = referralCode === null ? null : await new Referrals(tx, this.#world).find(referralCode)
      if (referralCode !== null && referrer === null) return { kind: 'unknown_referral' }

      const made = await tx
        .insertInto('users')
        .values(this.#rowOf(registration))
        .onConflict((conflict) => conflict.doNothing())
        .returningAll()
        .executeTakeFirst()
      if (made === undefined) {
        const earlier = await tx
          .selectFrom('users')
          .selectAll()
          .where((eb) => eb.or([eb('google_sub', '=', identity.sub), eb('username', '=', username)]))
          .execute()
        const same = earlier.find((row) => row.google_sub === identity.sub)
        if (same !== undefined) return { kind: 'registered', user: userFrom(same), isNew: false }
        if (earlier.length > 0) return { kind: 'username_taken' }
        throw new Error('a new referral code was not new') // one in 10¹²: the caller may retry
      }
      await grantStartingBalance(tx, this.#world, [userId(made.id)])
      if (referralCode !== null && referrer !== null) {
        await this.#refer(tx, { code: referralCode, referrer: referrer.referrerId, referee: userId(made.id) })
      }
      return { kind: 'registered', user: userFrom(made), isNew: true }
    })
  }

  async isUsernameTaken(username: string): Promise<boolean> {
    const row = await this.#db.selectFrom('users').select('id').where('username', '=', username).executeTakeFirst()
    return row !== undefined
  }

  /** The username of the user who invites with this code, or null. */
  async inviterOf(code: string): Promise<string | null> {
    return (await new Referrals(this.#db, this.#world).find(code))?.referrerName ?? null
  }

  #isAdmin(email: string): boolean {
    return this.#adminEmails.includes(email.toLowerCase())
  }

  #rowOf({ identity, username, firstName, lastName, districtId }: Registration) {
    return {
      id: this.#world.newId(),
      google_sub: identity.sub,
      email: identity.email,
      name: identity.name,
      picture: identity.picture,
      username,
      first_name: firstName,
      last_name: lastName,
      district_id: districtId,
      role: this.#isAdmin(identity.email) ? 'admin' : 'user',
      referral_code: this.#world.secret(REFERRAL_CODE_BYTES),
      created_at: new Date(this.#world.now()),
    }
  }

  /**
   * Fills the open invite, or adds an anonymous referral: an invite that is passed on counts for every user who comes.
   */
  async #refer(
    tx: Transaction<Database>,
    { code, referrer, referee }: { readonly code: string; readonly referrer: UserId; readonly referee: UserId },
  ): Promise<void> {
    const now = new Date(this.#world.now())
    const filled = await tx
      .updateTable('referrals')
      .set({ referee_id: referee, registered_at: now })
      .where('code', '=', code)
      .where('referee_id', 'is', null)
      .returning('id')
      .executeTakeFirst()
    if (filled !== undefined) return
    await tx
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
}
