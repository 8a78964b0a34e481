/**
 * Who is an admin because of their e-mail address. A user with a listed address is promoted at the start and at every
 * sign-in. One who is an admin for that reason alone stops being one when the address is no longer listed. Both are
 * audited. Admins whom another admin has promoted while they were not listed are left alone.
 */
import { type Kysely, type Selectable, sql } from 'kysely'
import { emailKey } from '../actors/community/registration.ts'
import { userId } from '../actors/kernel/ids.ts'
import type { World } from '../actors/kernel/world.ts'
import { AuditLog, type ControlAction } from './audit-log.ts'
import type { Database } from './postgres/schema.ts'
import type { UsersTable } from './postgres/schema/users.ts'
import { endSessionsOf } from './sessions.ts'

type Roles = Pick<Selectable<UsersTable>, 'id' | 'role' | 'admin_by_email'>

/** The address in its compared form, as the index has it. Several users may have one address. */
const emailColumn = sql<string>`lower(users.email collate "C")`

export class AdminRoles {
  readonly #world: Pick<World, 'now'>
  readonly #emails: ReadonlySet<string>

  constructor(world: Pick<World, 'now'>, emails: readonly string[]) {
    this.#world = world
    this.#emails = new Set(emails.map(emailKey))
  }

  /** The role of a new user with this address. */
  roleOf(email: string): Pick<Roles, 'role' | 'admin_by_email'> {
    const isListed = this.#emails.has(emailKey(email))
    return { role: isListed ? 'admin' : 'user', admin_by_email: isListed }
  }

  /** Audits the new users among these who are admins from the start. */
  async auditNew(users: readonly Pick<Roles, 'id' | 'role'>[], tx: Kysely<Database>): Promise<void> {
    const admins = users.filter(({ role }) => role === 'admin')
    await new AuditLog(tx, this.#world).recordAll(admins.map(({ id, role }) => roleChange(id, null, role)))
  }

  /** Promotes and demotes existing users by the list. */
  async apply(db: Kysely<Database>): Promise<void> {
    const listed = [...this.#emails]
    await db.transaction().execute(async (tx) => {
      const rows = await tx
        .selectFrom('users')
        .select(['id', 'email', 'role', 'admin_by_email'])
        .where((eb) =>
          eb.or([eb('admin_by_email', '=', true), ...(listed.length > 0 ? [eb(emailColumn, 'in', listed)] : [])]),
        )
        .orderBy('id')
        .forUpdate()
        .execute()
      for (const row of rows) await this.applyTo(row, row.email, tx)
    })
  }

  /** Whether the list promotes or demotes a user who has this address. */
  changes(user: Roles, email: string): boolean {
    return this.roleOf(email).role === 'admin' ? user.role !== 'admin' : user.admin_by_email
  }

  /** Promotes or demotes the user of a locked row, who has this address now; returns their role. */
  async applyTo(user: Roles, email: string, tx: Kysely<Database>): Promise<string> {
    if (!this.changes(user, email)) return user.role
    const next = this.roleOf(email)
    await tx.updateTable('users').set(next).where('id', '=', user.id).execute()
    await new AuditLog(tx, this.#world).record(roleChange(user.id, user.role, next.role))
    if (next.role !== 'admin') await endSessionsOf(userId(user.id), tx, this.#world)
    return next.role
  }
}

const roleChange = (subject: string, before: string | null, after: string): ControlAction => ({
  actor: null,
  action: 'user.role',
  subject,
  before,
  after,
})
