/** Freezes users whose wallets balances from outside have raised by more than they may on a day. */
import { type Kysely, sql } from 'kysely'
import { type UserId, userId } from '../actors/kernel/ids.ts'
import { ADOPTION_MAX } from '../actors/kernel/limits.ts'
import type { Money } from '../actors/kernel/micros.ts'
import type { World } from '../actors/kernel/world.ts'
import type { SealedEntry } from './audit-chain.ts'
import type { AuditLog } from './audit-log.ts'
import type { Database } from './postgres/schema.ts'
import type { UserList } from './user-list.ts'

export interface AdoptionGuardOptions {
  readonly db: Kysely<Database>
  readonly world: Pick<World, 'now'>
  readonly audit: AuditLog
  readonly users: Pick<UserList, 'setStatus'>
  /** The most that may be adopted for a user on a day, in UTC; ADOPTION_MAX is no bound. */
  readonly dayMax: () => Money
}

/** How long after a day its adoptions are still looked at, if a look was late or failed. */
const LATE = '1 hour'

export class AdoptionGuard {
  readonly #options: AdoptionGuardOptions
  /** Whom to look at, until that has succeeded. Null: all, since a process that died may have missed some. */
  #due: Set<string> | null = null

  constructor(options: AdoptionGuardOptions) {
    this.#options = options
  }

  /**
   * Looks at the users whom these entries of the audit log concern, and returns those that it has frozen. The first
   * look of a process is at all who have adopted since they were last frozen for it.
   */ // D5
  async freeze(entries: readonly SealedEntry[]): Promise<readonly UserId[]> {
    const most = this.#options.dayMax()
    // What comes in on a day adds up to more than a wallet can hold, so by default there must be no bound at all.
    if (most >= ADOPTION_MAX) {
      this.#due = null // it may be set later on the same day
      return []
    }
    for (const { action, outcome, subject } of entries) {
      if (action === 'wallet.adopt' && outcome === 'ok') this.#due?.add(subject)
    }
    if (this.#due?.size === 0) return []
    const frozen = await this.#freeze(this.#due && [...this.#due], most)
    this.#due = new Set()
    return frozen
  }

  async #freeze(subjects: readonly string[] | null, most: Money): Promise<readonly UserId[]> {
    const { db, world, audit, users } = this.#options
    // The day before counts for a while, on its own: what was adopted at its end is seen after midnight.
    const { rows } = await sql<{ id: string; micros: number }>`
      select distinct on (u.id) u.id, sum((a.after ->> 'byMicros')::bigint)::bigint as micros
        from users u join audit_log a on a.subject = u.id::text
       where (${subjects}::uuid[] is null or u.id = any(${subjects}::uuid[])) and u.status = 'active'
         and a.action = 'wallet.adopt' and a.outcome = 'ok' and (a.after ->> 'byMicros')::bigint > 0
         and a.at >= date_trunc('day', (${new Date(world.now())}::timestamptz - ${LATE}::interval) at time zone 'UTC')
                     at time zone 'UTC'
       group by u.id, date_trunc('day', a.at at time zone 'UTC')
      having sum((a.after ->> 'byMicros')::bigint) > ${most}::bigint
         and max(a.id) > coalesce((select max(f.id) from audit_log f
                                    where f.subject = u.id::text and f.action = 'wallet.adopt_freeze'), 0)`.execute(db)
    const reason = 'the balance was changed from outside by more than trading.adoption_day_max'
    for (const { id, micros } of rows) {
      await users.setStatus({ id: userId(id), status: 'frozen', reason, by: null })
      const after = { byMicros: micros }
      await audit.record({ actor: null, action: 'wallet.adopt_freeze', subject: id, before: null, after })
    }
    return rows.map(({ id }) => userId(id))
  }
}
