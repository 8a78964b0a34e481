/** Users for operators: search by any part of a name, paging, and roles. */
import type { Kysely, Selectable, Transaction } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type UserId, userId } from '../actors/kernel/ids.ts'
import { type Money, money } from '../actors/kernel/micros.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import { AdminRoles } from './admin-roles.ts'
import { markBoardsChanged, type Reranker } from './board-changes.ts'
import type { AuditLog } from './audit-log.ts'
import type { Database } from './postgres/schema.ts'
import { inSnapshot } from './postgres/snapshot.ts'
import { endSessionsOf } from './sessions.ts'
import type { UserStatus, UsersTable } from './postgres/schema/users.ts'
import type { CachedBalance, WalletCache } from './wallet-cache.ts'

export interface ListedUser {
  readonly id: UserId
  readonly username: string
  readonly email: string
  readonly name: string
  readonly firstName: string
  readonly lastName: string | null
  readonly role: string
  readonly districtId: number
  readonly xp: number
  /** Null when the user has no wallet. */
  readonly balance: Money | null
  readonly referralCode: string
  readonly synthetic: boolean
  readonly status: UserStatus
  readonly createdAt: Instant
}

export interface UserQuery {
  /** A part of the username, e-mail or name, in any case, or a whole user id; empty for all users. */
  readonly search: string
  /** Users who are older than this one. */
  readonly before?: UserId | undefined
  readonly limit: number
  readonly offset: number
}

export interface UserPage {
  readonly users: readonly ListedUser[]
  /** The total number. */
  readonly total: number
}

export interface RoleChange {
  readonly id: UserId
  readonly role: 'admin' | 'user'
  readonly by: UserId
  /** For the audit log, until the user is erased. */
  readonly reason?: string | undefined
}

export type RoleOutcome =
  | { readonly kind: 'changed'; readonly user: ListedUser }
  | { readonly kind: 'unknown' }
  /** Admins cannot remove their own role: the last one could. */
  | { readonly kind: 'own_role' }
  /** Who asks for it is no admin any more. */
  | { readonly kind: 'forbidden' }

export interface StatusChange {
  readonly id: UserId
  readonly status: UserStatus
  /** In plain words, for the audit log and the user. */
  readonly reason: string
  /** Null for the server itself. */
  readonly by: UserId | null
}

export type StatusOutcome =
  | { readonly kind: 'changed'; readonly user: ListedUser }
  | { readonly kind: 'unknown' }
  /** Admins cannot change their own status: a frozen one could thaw itself. */
  | { readonly kind: 'own_status' }

/** Users per read: about 300 KB of rows. */
const PAGE = 1_000
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface UserListOptions {
  /** May be seconds old. */
  readonly reads?: Kysely<Database>
  /** Balances that were changed from outside take precedence, as for their users. */
  readonly cache?: WalletCache
  readonly rerankers?: readonly Reranker[]
  /** Whose users are admins while they are listed, also those that another admin promotes. */
  readonly adminEmails?: readonly string[]
}

export class UserList {
  readonly #db: Kysely<Database>
  readonly #reads: Kysely<Database>
  readonly #cache: WalletCache | null
  readonly #rerankers: readonly Reranker[]
  readonly #audit: AuditLog
  readonly #roles: AdminRoles
  readonly #world: Pick<World, 'now'>

  constructor(
    db: Kysely<Database>,
    audit: AuditLog,
    world: Pick<World, 'now'>,
    { reads = db, cache, rerankers = [], adminEmails = [] }: UserListOptions = {},
  ) {
    this.#db = db
    this.#reads = reads
    this.#cache = cache ?? null
    this.#rerankers = rerankers
    this.#audit = audit
    this.#roles = new AdminRoles(world, adminEmails)
    this.#world = world
  }

  async find(id: UserId): Promise<ListedUser | null> {
    const [user] = await this.#shown(await this.#listed().where('users.id', '=', id).execute())
    return user ?? null
  }

  /** Newest first. */
  async search({ search, before, limit, offset }: UserQuery): Promise<UserPage> {
    const text = search.trim().normalize()
    const part = `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
    const id = text.toLowerCase()
    const page = await inSnapshot(this.#db, async (snapshot) => {
      const found = this.#listed(snapshot).$if(text !== '', (query) =>
        query.where((eb) =>
          eb.or([
            // The database makes both sides small: it and JavaScript differ in letters such as İ and Σ.
            ...(['username', 'email', 'name'] as const).map((column) =>
              eb(eb.fn<string>('lower', [column]), 'like', eb.fn<string>('lower', [eb.val(part)])),
            ),
            ...(UUID.test(id) ? [eb('users.id', '=', id)] : []),
          ]),
        ),
      )
      const rows = await found
        .$if(before !== undefined, (query) => query.where('users.id', '<', String(before)))
        .orderBy('users.id', 'desc')
        .limit(limit)
        .offset(offset)
        .execute()
      const { total } = await found
        .clearSelect()
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow()
      return { rows, total }
    })
    return { users: await this.#shown(page.rows), total: page.total }
  }

  /** All users, seconds ago, in the order of their ids. */
  async *pages(): AsyncGenerator<readonly ListedUser[]> {
    let after: string | null = null
    for (;;) {
      const rows: ListedRow[] = await this.#listed(this.#reads)
        .$if(after !== null, (query) => query.where('users.id', '>', after))
        .orderBy('users.id')
        .limit(PAGE)
        .execute()
      const last = rows.at(-1)
      if (last === undefined) return
      after = last.id
      yield await this.#shown(rows)
    }
  }

  async setRole({ id, role, by, reason }: RoleChange): Promise<RoleOutcome> {
    const outcome = await this.#db.transaction().execute(async (tx) => {
      // Both, in one order: two admins who demote each other at once would leave none.
      const rows = await tx
        .selectFrom('users')
        .select(['id', 'role', 'email'])
        .where('id', 'in', [id, by])
        .where('erased_at', 'is', null)
        .orderBy('id')
        .forNoKeyUpdate()
        .execute()
      const roles = new Map<string, string>(rows.map((row) => [row.id, row.role]))
      const before = roles.get(id)
      const change = { actor: by, action: 'user.role', subject: id, before: before ?? null, after: role }
      const refuse = async <Kind extends string>(kind: Kind, code: string) => {
        await this.#audit.record({ ...change, outcome: code }, tx)
        return { kind } as const
      }
      if (id === by && role !== 'admin') return refuse('own_role', 'OWN_ROLE')
      if (before === undefined) return refuse('unknown', 'NOT_FOUND')
      if (roles.get(by) !== 'admin') return refuse('forbidden', 'FORBIDDEN')
      if (before !== role) {
        // A listed user is an admin by address again: a demotion that is taken back is no promotion for good.
        const email = present(rows.find((row) => row.id === id)?.email, 'email')
        const admin_by_email = role === 'admin' && this.#roles.roleOf(email).admin_by_email
        await tx.updateTable('users').set({ role, admin_by_email }).where('id', '=', id).execute()
        if (role !== 'admin') await endSessionsOf(id, tx, this.#world)
      }
      const words = { field: 'reason', about: id, words: reason ?? '' } as const
      await this.#audit.record({ ...change, ...(reason === undefined ? {} : { words }) }, tx)
      return { kind: 'changed', row: await this.#row(tx, id) } as const
    })
    return outcome.kind === 'changed' ? this.#changed(outcome.row) : outcome
  }

  /**
   * Freezes a user, or makes them active again. It binds every opening that is not committed yet: a commit locks the
   * wallets that this marks. Freezing ends the user's sessions, so that their sockets close; they may sign in again.
   */ // C1
  async setStatus({ id, status, reason, by }: StatusChange): Promise<StatusOutcome> {
    const changed = await this.#db.transaction().execute(async (tx) => {
      const outcome = await this.#changeStatus(tx, { id, status, by })
      const done = outcome.kind === 'changed'
      await this.#audit.record(
        {
          actor: by,
          action: 'user.status',
          subject: id,
          before: outcome.kind === 'changed' ? { status: outcome.before } : null,
          after: { status },
          ...(outcome.kind === 'unknown' ? {} : { words: { field: 'reason', about: id, words: reason } }),
          outcome: done ? 'ok' : outcome.kind === 'unknown' ? 'NOT_FOUND' : 'OWN_STATUS',
        },
        tx,
      )
      return outcome.kind === 'changed' ? { kind: outcome.kind, row: await this.#row(tx, id) } : outcome
    })
    return changed.kind === 'changed' ? this.#changed(changed.row) : changed
  }

  /** Locks what reactions and commits lock, in their order: the career, the place on the boards, the wallets. */
  async #changeStatus(tx: Transaction<Database>, { id, status, by }: Omit<StatusChange, 'reason'>) {
    if (id === by) return { kind: 'own_status' } as const
    await markBoardsChanged(tx, id)
    const before = await tx
      .selectFrom('users')
      .select('status')
      .where('id', '=', id)
      .where('erased_at', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (before === undefined) return { kind: 'unknown' } as const
    await tx.updateTable('users').set({ status }).where('id', '=', id).execute()
    for (const rerank of this.#rerankers) await rerank(tx, id)
    await tx.selectFrom('wallets').select('purse').where('user_id', '=', id).orderBy('purse').forNoKeyUpdate().execute()
    await tx
      .updateTable('wallets')
      .set({ frozen: status === 'frozen' })
      .where('user_id', '=', id)
      .execute()
    if (status === 'frozen') await endSessionsOf(id, tx, this.#world)
    return { kind: 'changed', before: before.status } as const
  }

  #listed(db: Kysely<Database> = this.#db) {
    return db
      .selectFrom('users')
      .selectAll('users')
      .select((user) => {
        // Not a join: for a page in the middle that would also read all wallets before it.
        const main = user
          .selectFrom('wallets')
          .whereRef('wallets.user_id', '=', 'users.id')
          .where('wallets.purse', '=', 'main')
        return [main.select('balance_micros').as('balance_micros'), main.select('version').as('wallet_version')]
      })
  }

  #row(tx: Transaction<Database>, id: UserId): Promise<ListedRow> {
    return this.#listed(tx).where('users.id', '=', id).executeTakeFirstOrThrow()
  }

  async #changed(row: ListedRow) {
    const [user] = await this.#shown([row])
    return { kind: 'changed', user: present(user, 'user') } as const
  }

  async #shown(rows: readonly ListedRow[]): Promise<readonly ListedUser[]> {
    const cached = (await this.#cache?.read(rows.map(({ id }) => userId(id)))) ?? []
    const changed = new Map<string, CachedBalance>(cached.map((one) => [one.userId, one]))
    return rows.map((row) => {
      const { balance_micros: stored, wallet_version: version } = row
      if (stored === null || version === null) return userFrom(row, null)
      const wallet = { balance_micros: stored, version }
      return userFrom(row, this.#cache?.inForce(changed.get(row.id), wallet) ?? money(stored))
    })
  }
}

type ListedRow = Selectable<UsersTable> & {
  readonly balance_micros: number | null
  readonly wallet_version: number | null
}

const userFrom = (row: ListedRow, balance: Money | null): ListedUser => ({
  id: userId(row.id),
  username: row.username,
  email: row.email,
  name: row.name,
  firstName: row.first_name,
  lastName: row.last_name,
  role: row.role,
  districtId: row.district_id,
  xp: row.xp,
  balance,
  referralCode: row.referral_code,
  synthetic: row.synthetic,
  status: row.status,
  createdAt: instant(row.created_at.getTime()),
})
