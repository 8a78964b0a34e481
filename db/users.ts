/** Accounts: finds them, and creates synthetic users with a wallet that the ledger accounts for. */
import { createHash } from 'node:crypto'
import type { Kysely, Selectable, Transaction } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type DistrictId, districtId, type UserId, userId } from '../actors/kernel/ids.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import { AdminRoles } from './admin-roles.ts'
import type { Deletions } from './deletions.ts'
import { type Carried, carriedColumns, type Departed } from './departed.ts'
import type { Database } from './postgres/schema.ts'
import type { UserStatus, UsersTable } from './postgres/schema/users.ts'
import { Referrals } from './referrals.ts'
import { grantStartingBalance } from './starting-balance.ts'

export interface User {
  readonly id: UserId
  readonly username: string
  /** The whole name, as the identity provider last gave it. */
  readonly name: string
  readonly firstName: string
  readonly lastName: string | null
  readonly email: string
  readonly picture: string | null
  readonly role: string
  readonly status: UserStatus
  readonly districtId: DistrictId
  readonly xp: number
  readonly referralCode: string
  readonly hiddenFromBoards: boolean
  /** When the account is erased unless its user signs in before; null for never. */
  readonly deletionDue: Instant | null
  readonly createdAt: Instant
}

export interface District {
  readonly id: DistrictId
  readonly name: string
}

export interface SyntheticSignIn {
  readonly displayName: string
  /** Null: any district. */
  readonly districtId: DistrictId | null
  /** Of the user who invited them; an unknown code is ignored. */
  readonly referralCode?: string | null
}

export interface SignedIn {
  readonly user: User
  readonly isNew: boolean
  /** The user had deleted the account, and it stays because they have signed in. */
  readonly kept?: true
}

interface UsersOptions {
  readonly departed: Departed
  readonly deletions: Pick<Deletions, 'cancel'>
}

/** Ids in one query. */
const ASKED_TOGETHER = 1_000
const USERNAME_MIN = 3
const USERNAME_MAX = 20

export class Users {
  readonly #db: Kysely<Database>
  readonly #world: World
  readonly #roles: AdminRoles
  readonly #options: Partial<UsersOptions>

  /** Users with one of `adminEmails` are admins: from their next sign-in on, or after `applyAdminEmails`. */
  constructor(
    db: Kysely<Database>,
    world: World,
    adminEmails: readonly string[] = [],
    options: Partial<UsersOptions> = {},
  ) {
    this.#options = options
    this.#db = db
    this.#world = world
    this.#roles = new AdminRoles(world, adminEmails)
  }

  /**
   * Promotes users whose address is listed, and demotes users who were admins because of an address that no longer is.
   */
  applyAdminEmails(): Promise<void> {
    return this.#roles.apply(this.#db)
  }

  async find(id: UserId): Promise<User | null> {
    const row = await this.#db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
    return row === undefined ? null : userFrom(row)
  }

  /** Those of these users who are admins now. */
  async adminsAmong(ids: readonly UserId[]): Promise<ReadonlySet<UserId>> {
    const admins = new Set<UserId>()
    for (let from = 0; from < ids.length; from += ASKED_TOGETHER) {
      const rows = await this.#db
        .selectFrom('users')
        .select('id')
        .where('id', 'in', ids.slice(from, from + ASKED_TOGETHER))
        .where('role', '=', 'admin')
        .execute()
      for (const { id } of rows) admins.add(userId(id))
    }
    return admins
  }

  async districts(): Promise<readonly District[]> {
    const rows = await this.#db.selectFrom('districts').selectAll().orderBy('id').execute()
    return rows.map((row) => ({ id: districtId(row.id), name: row.name }))
  }

  /**
   * The synthetic user of this name, created with a wallet of STARTING_BALANCE if new; null when the district does not
   * exist. Different names are different users.
   */
  async signInSynthetic(request: SyntheticSignIn): Promise<SignedIn | null> {
    const districts = (await this.districts()).map((district) => district.id)
    const wanted = request.districtId === null ? districts : districts.filter((id) => id === request.districtId)
    if (wanted.length === 0) return null
    const [signedIn] = await this.#signInAll([request.displayName], wanted)
    const { user, isNew } = present(signedIn, 'user')
    if (isNew && typeof request.referralCode === 'string') await this.#refer(request.referralCode, user.id)
    const isKept = user.deletionDue !== null && (await this.#options.deletions?.cancel(user.id)) === true
    return isKept ? { user: { ...user, deletionDue: null }, isNew, kept: true } : { user, isNew }
  }

  async #refer(code: string, referee: UserId): Promise<void> {
    const referrals = new Referrals(this.#db, this.#world)
    const referrer = await referrals.find(code)
    if (referrer !== null) await referrals.refer(code, referrer.referrerId, referee)
  }

  /** The same for many names, in one transaction, in the order of the names. Districts are assigned in turn. */
  async createSyntheticMany(displayNames: readonly string[]): Promise<readonly SignedIn[]> {
    if (displayNames.length === 0) return []
    const districts = (await this.districts()).map((district) => district.id)
    return this.#signInAll(displayNames, districts)
  }

  async #signInAll(displayNames: readonly string[], districts: readonly DistrictId[]): Promise<SignedIn[]> {
    const known = await this.#withRoles(displayNames)
    const fresh = new Set<string>()
    // Where another has the plain username, one with a digest of the name is left.
    for (const usernameOf of [usernameFor, distinctUsernameFor]) {
      const drafts = new Map<string, Draft>()
      for (const [i, name] of displayNames.entries()) {
        const username = usernameOf(name)
        if (known.has(name) || drafts.has(username)) continue
        drafts.set(username, this.#draft(name, username, present(districts[i % districts.length], 'district')))
      }
      if (drafts.size === 0) break
      // Sorted, so that two calls with the same names lock in one order.
      const missing = [...drafts.values()].toSorted((a, b) => (a.username < b.username ? -1 : 1))
      const made = await this.#db.transaction().execute((tx) => this.#create(tx, missing))
      for (const row of made) fresh.add(row.name)
      const lost = made.length < missing.length ? await this.#byDisplayName(this.#db, displayNames) : []
      for (const [name, row] of [...lost, ...made.map((each) => [each.name, each] as const)]) known.set(name, row)
    }
    return displayNames.map((name) => ({ user: userFrom(present(known.get(name), name)), isNew: fresh.delete(name) }))
  }

  /** The users of these names who exist, with the roles that the list gives them now. */ // S9
  async #withRoles(displayNames: readonly string[]): Promise<Map<string, UserRow>> {
    const known = await this.#byDisplayName(this.#db, displayNames)
    if (![...known.values()].some((row) => this.#roles.changes(row, row.email))) return known
    await this.applyAdminEmails()
    return this.#byDisplayName(this.#db, displayNames)
  }

  #draft(displayName: string, username: string, district: DistrictId): Draft {
    const email = `${username}@synthetic.invalid`
    return {
      id: this.#world.newId(),
      email,
      ...this.#roles.roleOf(email),
      name: displayName,
      username,
      first_name: displayName,
      district_id: district,
      referral_code: this.#world.secret(5),
      synthetic: true,
      created_at: new Date(this.#world.now()),
    }
  }

  /** The drafts whose username was free; the others were created by a concurrent call. */
  async #create(tx: Transaction<Database>, drafts: readonly Draft[]): Promise<readonly UserRow[]> {
    const made = await tx
      .insertInto('users')
      .values([...drafts])
      .onConflict((conflict) => conflict.column('username').doNothing())
      .returningAll()
      .execute()
    await this.#roles.auditNew(made, tx)
    const fresh = made.map((row) => userId(row.id))
    await grantStartingBalance(tx, this.#world, fresh, await this.#takeBack(tx, made))
    return made
  }

  /** What those of these new users carry who were erased before. */ // Y5
  async #takeBack(tx: Transaction<Database>, made: readonly UserRow[]): Promise<Map<UserId, Carried>> {
    const carried = new Map<UserId, Carried>()
    const { departed } = this.#options
    if (departed === undefined || !(await departed.isAnyone(tx))) return carried
    for (const { id, email, username } of made) {
      const back = await departed.find(tx, { sub: null, email })
      if (back === null) continue
      await departed.forget(tx, back, username)
      await tx.updateTable('users').set(carriedColumns(back)).where('id', '=', id).execute()
      carried.set(userId(id), back)
    }
    return carried
  }

  /** The synthetic users of these names, each by its name. Only usernames have an index. */
  async #byDisplayName(db: Kysely<Database>, names: readonly string[]): Promise<Map<string, UserRow>> {
    const usernames = names.flatMap((name) => [usernameFor(name), distinctUsernameFor(name)])
    const rows = await db
      .selectFrom('users')
      .selectAll()
      .where('username', 'in', [...new Set(usernames)])
      .where('synthetic', '=', true)
      .execute()
    return new Map(rows.map((row) => [row.name, row]))
  }
}

type UserRow = Selectable<UsersTable>

type Draft = Pick<UserRow, 'id' | 'email' | 'name' | 'username' | 'first_name' | 'district_id' | 'referral_code'> &
  Pick<UserRow, 'role' | 'admin_by_email' | 'synthetic' | 'created_at'>

/** The same with a digest of the whole name, for the second of two names that look alike. */
function distinctUsernameFor(displayName: string): string {
  const digest = createHash('sha256').update(displayName).digest('hex')
  return `${usernameFor(displayName).slice(0, USERNAME_MAX - 9)}_${digest.slice(0, 8)}`
}

/**
 * A display name as a username: 3 to 20 of a–z, 0–9 and _, beginning with a letter. Long names, and those without a
 * Latin letter, get a digest.
 */
export function usernameFor(displayName: string): string {
  const digest = createHash('sha256').update(displayName.normalize('NFKC').toLowerCase()).digest('hex')
  const plain = displayName
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
  const slug = plain === '' ? `p_${digest.slice(0, 8)}` : /^[a-z]/.test(plain) ? plain : `p_${plain}`
  if (slug.length < USERNAME_MIN) return `p_${slug}`
  return slug.length <= USERNAME_MAX ? slug : `${slug.slice(0, USERNAME_MAX - 7)}_${digest.slice(0, 6)}`
}

export function userFrom(row: UserRow): User {
  return {
    id: userId(row.id),
    username: row.username,
    name: row.name,
    firstName: row.first_name,
    lastName: row.last_name,
    email: row.email,
    picture: row.picture,
    role: row.role,
    status: row.status,
    districtId: districtId(row.district_id),
    xp: row.xp,
    referralCode: row.referral_code,
    hiddenFromBoards: row.hidden_from_boards,
    deletionDue: row.deletion_due === null ? null : instant(row.deletion_due.getTime()),
    createdAt: instant(row.created_at.getTime()),
  }
}
