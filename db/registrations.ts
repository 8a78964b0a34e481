/** Users of the identity provider: finds them, and creates them with wallet and referral in one transaction. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { type DistrictId, userId } from '../actors/kernel/ids.ts'
import { DAY_MS, type Instant, SECOND_MS, type World } from '../actors/kernel/world.ts'
import { AdminRoles } from './admin-roles.ts'
import type { Deletions } from './deletions.ts'
import { carriedColumns, type Departed } from './departed.ts'
import { claimOnce } from './one-time.ts'
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

/** The same as one sign-in tells it: what is undefined stays as it was. */
export interface ClaimedAccount extends Pick<ProviderAccount, 'sub' | 'email'> {
  readonly name: string | undefined
  readonly picture: string | null | undefined
}

export interface Registration {
  readonly identity: ProviderAccount
  readonly username: string
  readonly firstName: string
  readonly lastName: string | null
  readonly districtId: DistrictId
  /** A user's own code or that of an invite; null for none. */
  readonly referralCode: string | null
  /** The registration ticket: it registers once. */
  readonly ticket: { readonly id: string; readonly expiresAt: Instant }
  /** Where the request came from, such as `203.0.113.0/24`. */
  readonly network: string
}

export type SignedInAs =
  /** `kept`: the user had deleted the account, and it stays because they have signed in. */
  { readonly kind: 'user'; readonly user: User; readonly kept?: true } | { readonly kind: 'unknown' }

export type Registered =
  /** False when the account had already registered, perhaps at the same moment. */
  | { readonly kind: 'registered'; readonly user: User; readonly isNew: boolean }
  | { readonly kind: 'username_taken' }
  | { readonly kind: 'ticket_used' }
  /** Too many have registered from this network today. */
  | { readonly kind: 'network_full'; readonly retryAfterSecs: number }
  | { readonly kind: 'unknown_district' }
  | { readonly kind: 'unknown_referral' }

const REFERRAL_CODE_BYTES = 5
/** Two classes of a school may register on a day before anyone is told of it. */
const CROWD = 50

interface RegistrationsOptions {
  readonly departed: Departed
  readonly deletions: Pick<Deletions, 'cancel'>
  /**
   * How many may register from one network on a UTC day; 0 for any number. Read each time, so that a change takes
   * effect at once.
   */
  readonly perNetworkDay: () => number
  /** Called for every CROWD users who have registered from one network on a UTC day. */
  readonly onCrowd: (network: string) => void
}

export class Registrations {
  readonly #db: Kysely<Database>
  readonly #world: World
  readonly #roles: AdminRoles
  readonly #options: RegistrationsOptions

  /**
   * A user with one of `adminEmails` is an admin from the next sign-in on, and no longer than the address is listed.
   */
  constructor(db: Kysely<Database>, world: World, adminEmails: readonly string[], options: RegistrationsOptions) {
    this.#options = options
    this.#db = db
    this.#world = world
    this.#roles = new AdminRoles(world, adminEmails)
  }

  /** The user who registered with this account, updated with what the provider says now. */
  async signIn(account: ClaimedAccount): Promise<SignedInAs> {
    const { isLeaving, ...signedIn } = await this.#db.transaction().execute((tx) => this.#signIn(account, tx))
    if (signedIn.kind !== 'user' || !isLeaving) return signedIn
    // Not in the same transaction: careers are locked before users.
    const isKept = await this.#options.deletions.cancel(signedIn.user.id)
    return isKept ? { ...signedIn, kept: true } : this.signIn(account)
  }

  async #signIn(
    { sub, email, name, picture }: ClaimedAccount,
    tx: Kysely<Database>,
  ): Promise<SignedInAs & { isLeaving: boolean }> {
    const row = await tx
      .updateTable('users')
      .set({ email, name, picture })
      .where('google_sub', '=', sub)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) return { kind: 'unknown', isLeaving: false }
    const role = await this.#roles.applyTo(row, email, tx)
    return { kind: 'user', user: userFrom({ ...row, role }), isLeaving: row.deletion_due !== null }
  }

  /** Creates user, wallet and referral, or none of them. Of several calls for one account, one creates the user. */
  async register(registration: Registration): Promise<Registered> {
    try {
      const { place = 0, ...registered } = await this.#db
        .transaction()
        .execute((tx) => this.#register(registration, tx))
      if (place > 0 && place % CROWD === 0) this.#options.onCrowd(registration.network)
      return registered
    } catch (error) {
      if (error instanceof TicketUsed) return { kind: 'ticket_used' }
      if (error instanceof NetworkFull) return { kind: 'network_full', retryAfterSecs: this.#secsToday() }
      throw error
    }
  }

  /** `place`: of a new user, among those of their network on this day. */
  async #register(
    registration: Registration,
    tx: Transaction<Database>,
  ): Promise<Registered & { readonly place?: number }> {
    const { identity, username, districtId, referralCode } = registration
    const district = await tx.selectFrom('districts').select('id').where('id', '=', districtId).executeTakeFirst()
    if (district === undefined) return { kind: 'unknown_district' }
    const referrer = referralCode === null ? null : await new Referrals(tx, this.#world).find(referralCode)
    if (referralCode !== null && referrer === null) return { kind: 'unknown_referral' }

    const { departed } = this.#options
    const back = await departed.find(tx, identity)
    if (await departed.keepsName(tx, username, back)) return { kind: 'username_taken' }
    const made = await tx
      .insertInto('users')
      .values({ ...this.#rowOf(registration), ...(back === null ? {} : carriedColumns(back)) })
      .onConflict((conflict) => conflict.doNothing())
      .returningAll()
      .executeTakeFirst()
    if (made === undefined) {
      const of = tx.selectFrom('users').selectAll()
      const same = await of.where('google_sub', '=', identity.sub).forUpdate().executeTakeFirst()
      if (same !== undefined) {
        await this.#useUp(registration, tx)
        const role = await this.#roles.applyTo(same, same.email, tx)
        return { kind: 'registered', user: userFrom({ ...same, role }), isNew: false }
      }
      const other = await of.where('username', '=', username).executeTakeFirst()
      if (other !== undefined) return { kind: 'username_taken' }
      throw new Error('a new referral code was not new') // one in 10¹²: the caller may retry
    }
    await this.#useUp(registration, tx)
    const place = await this.#takePlace(registration, tx)
    await this.#roles.auditNew([made], tx)
    await grantStartingBalance(
      tx,
      this.#world,
      [userId(made.id)],
      new Map(back === null ? [] : [[userId(made.id), back]]),
    )
    if (back !== null) await departed.forget(tx, back, username)
    if (referralCode !== null && referrer !== null) {
      await new Referrals(tx, this.#world).refer(referralCode, referrer.referrerId, userId(made.id))
    }
    return { kind: 'registered', user: userFrom(made), isNew: true, place }
  }

  /** Undoes the registration if its ticket has already registered. */
  async #useUp({ ticket }: Registration, tx: Transaction<Database>): Promise<void> {
    const claim = { what: 'ticket', text: ticket.id, until: ticket.expiresAt } as const
    if (!(await claimOnce(tx, this.#world, claim))) throw new TicketUsed('a registration ticket was used again')
  }

  /** Undoes the registration if its network has had all of the day's. */ // Y7
  async #takePlace({ network }: Registration, tx: Transaction<Database>): Promise<number> {
    const most = this.#options.perNetworkDay()
    const { rows } = await sql<{ registered: number }>`
      insert into registration_networks as n (network, day, registered)
        values (${network}::text, ${new Date(this.#world.now())}::timestamptz at time zone 'UTC', 1)
        on conflict (day, network) do update set registered = n.registered + 1
         where ${most}::integer = 0 or n.registered < ${most}::integer
        returning registered`.execute(tx)
    const [row] = rows
    if (row === undefined) throw new NetworkFull('too many registrations from a network')
    return row.registered
  }

  /** Seconds left of the UTC day. */
  #secsToday(): number {
    return Math.ceil((DAY_MS - (this.#world.now() % DAY_MS)) / SECOND_MS)
  }

  async isUsernameTaken(username: string): Promise<boolean> {
    const row = await this.#db.selectFrom('users').select('id').where('username', '=', username).executeTakeFirst()
    return row !== undefined || this.#options.departed.keepsName(this.#db, username)
  }

  /** The username of the user who invites with this code, or null. */
  async inviterOf(code: string): Promise<string | null> {
    return (await new Referrals(this.#db, this.#world).find(code))?.referrerName ?? null
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
      ...this.#roles.roleOf(identity.email),
      referral_code: this.#world.secret(REFERRAL_CODE_BYTES),
      created_at: new Date(this.#world.now()),
    }
  }
}

/** Rolls the registration back. */
class NetworkFull extends Error {
  override name = 'NetworkFull'
}

/** Rolls the registration back. */
class TicketUsed extends Error {
  override name = 'TicketUsed'
}
