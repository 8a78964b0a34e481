/**
 * What those who were erased must not shed by coming back: a freeze, and limits of their own. Their new wallet is that
 * of any new user; a ruined one is refilled each week for the asking. They are found again by a keyed digest of their
 * identity, which without the key names no one and leads to no user. Digests of their usernames keep those names from
 * impostors. Rows are kept for a year.
 */
import { createHmac } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { emailKey } from '../actors/community/registration.ts'
import { type OwnLimits, readLimits } from '../actors/kernel/own-limits.ts'
import { boolean, fieldsOf, nullable, text } from '../actors/kernel/read.ts'
import type { Database } from './postgres/schema.ts'

/** What a returning user begins with. */
export interface Carried {
  readonly frozen: boolean
  /** Null for none. */
  readonly limits: OwnLimits | null
}

/** Who is leaving, or may be coming back. */
export interface Person {
  /** At the identity provider; null for synthetic users, who are known by their address. */
  readonly sub: string | null
  readonly email: string
}

type Found = Carried & { readonly digest: string; readonly username: string }

export class Departed {
  readonly #secret: string

  /** With another secret nothing is found again. */
  constructor(secret: string) {
    this.#secret = secret
  }

  /** Remembers someone in the transaction that erases them. */
  async remember(
    tx: Transaction<Database>,
    left: Person & Carried & { readonly username: string; readonly at: Date },
  ): Promise<void> {
    const username = this.#digest('username', left.username)
    const carried = JSON.stringify({ frozen: left.frozen, limits: left.limits, username })
    const rows = [
      { digest: username, left_at: left.at, carried: null },
      { digest: this.#identity(left), left_at: left.at, carried },
    ]
    await tx
      .insertInto('departed')
      .values(rows)
      .onConflict((on) =>
        on.column('digest').doUpdateSet((eb) => ({
          left_at: eb.ref('excluded.left_at'),
          carried: eb.ref('excluded.carried'),
        })),
      )
      .execute()
  }

  /** What someone left with; null for someone new. Their row is locked. */
  async find(tx: Transaction<Database>, person: Person): Promise<Found | null> {
    const row = await tx
      .selectFrom('departed')
      .selectAll()
      .where('digest', '=', this.#identity(person))
      .where('carried', 'is not', null)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) return null
    const field = fieldsOf(row.carried, 'departed.carried')
    return {
      digest: row.digest,
      username: field('username', text),
      frozen: field('frozen', boolean),
      limits: field('limits', nullable(readLimits)),
    }
  }

  /** Forgets them once they are back. Their former name stays with them if they have taken it again. */
  async forget(tx: Transaction<Database>, { digest, username }: Found, now: string): Promise<void> {
    const taken = username === this.#digest('username', now) ? [username] : []
    await tx
      .deleteFrom('departed')
      .where('digest', 'in', [digest, ...taken])
      .execute()
  }

  /** Whether anyone is remembered at all. */
  async isAnyone(db: Kysely<Database>): Promise<boolean> {
    return (await db.selectFrom('departed').select('digest').limit(1).executeTakeFirst()) !== undefined
  }

  /** Whether a username was an erased user's, other than the one who asks. */
  async keepsName(db: Kysely<Database>, username: string, asker: Found | null = null): Promise<boolean> {
    const digest = this.#digest('username', username)
    if (asker?.username === digest) return false
    const row = await db.selectFrom('departed').select('digest').where('digest', '=', digest).executeTakeFirst()
    return row !== undefined
  }

  #identity({ sub, email }: Person): string {
    return sub === null ? this.#digest('email', emailKey(email)) : this.#digest('subject', sub)
  }

  #digest(what: 'subject' | 'email' | 'username', value: string): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify(['departed', what, value]))
      .digest('base64url')
  }
}

/** The columns of a new user who is back. */
export const carriedColumns = ({ frozen, limits }: Carried) => ({
  status: frozen ? ('frozen' as const) : ('active' as const),
  limits: limits === null ? null : JSON.stringify(limits),
})
