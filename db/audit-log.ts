/**
 * The audit log: who did what, with the values before and after. Rows are never changed or removed; `audit-chain.ts`
 * seals them. What an operator writes about a person is beside it, and erased with the person: the entry keeps a
 * salted digest, so that other words in its place are found.
 */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type UserId, userId } from '../actors/kernel/ids.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

/** An action of an operator, or of a process on its own. `before` and `after` are plain JSON. */
export interface ControlAction {
  /** Null for what a process did on its own. */
  readonly actor: UserId | null
  /** As `noun.verb`: `setting.set`, `user.role`, `replay.start`. */
  readonly action: string
  readonly subject: string
  readonly before: unknown
  readonly after: unknown
  /** `ok`, or the code of the refusal. Left out: `ok`. */
  readonly outcome?: string
  /** What is written about a person; `after` has it in this field. */
  readonly words?: { readonly field: 'reason' | 'text'; readonly about: UserId; readonly words: string }
}

export interface AuditEntry extends Omit<ControlAction, 'words'> {
  readonly id: number
  readonly at: Instant
  /** The actor's username; null when the account no longer exists. */
  readonly actorName: string | null
  readonly outcome: string
}

export class AuditLog {
  readonly #db: Kysely<Database>
  readonly #reads: Kysely<Database>
  readonly #world: Pick<World, 'now'>

  /** `reads` may be seconds old. */
  constructor(db: Kysely<Database>, world: Pick<World, 'now'>, reads = db) {
    this.#db = db
    this.#reads = reads
    this.#world = world
  }

  /** Records an action, in the transaction that performs it if there is one. */
  record(action: ControlAction, db: Kysely<Database> = this.#db): Promise<void> {
    return this.recordAll([action], db)
  }

  /** Records them all or none. */
  async recordAll(actions: readonly ControlAction[], db: Kysely<Database> = this.#db): Promise<void> {
    if (actions.length === 0) return
    const at = new Date(this.#world.now())
    const rows = []
    for (const { actor, action, subject, before, after: plain, outcome = 'ok', words } of actions) {
      const after = words === undefined ? plain : { ...Object(plain), [words.field]: await keptBeside(words, db) }
      rows.push({
        at,
        actor_id: actor,
        action,
        subject,
        before: before === null ? null : JSON.stringify(before),
        after: after === null ? null : JSON.stringify(after),
        outcome,
      })
    }
    await db.insertInto('audit_log').values(rows).execute()
  }

  /** Newest first. `before` continues from an entry's id. */
  async list(limit: number, before: number | null): Promise<readonly AuditEntry[]> {
    const rows = await (
      await this.#readerOf(before)
    )
      .selectFrom('audit_log')
      .leftJoin('users', 'users.id', 'audit_log.actor_id')
      .leftJoin('audit_words', (join) => join.on('audit_words.digest', '=', digestIn('audit_log')))
      .selectAll('audit_log')
      .select(['users.username', 'audit_words.words'])
      .$if(before !== null, (query) => query.where('audit_log.id', '<', before))
      .orderBy('audit_log.id', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      id: row.id,
      at: instant(row.at.getTime()),
      actor: row.actor_id === null ? null : userId(row.actor_id),
      actorName: row.username,
      action: row.action,
      subject: row.subject,
      before: row.before,
      after: withWords(row.after, row.words),
      outcome: row.outcome,
    }))
  }

  /** The first page has all entries by now. The others may be read wherever the entry is that they continue from. */
  async #readerOf(before: number | null): Promise<Kysely<Database>> {
    if (before === null || this.#reads === this.#db) return this.#db
    const known = await this.#reads.selectFrom('audit_log').select('id').where('id', '=', before).executeTakeFirst()
    return known === undefined ? this.#db : this.#reads
  }
}

/** The digest in an entry, which finds its words. */
export const digestIn = (entry: string) =>
  sql<string>`coalesce(${sql.ref(`${entry}.after`)} ->> 'text', ${sql.ref(`${entry}.after`)} ->> 'reason')`

/** Keeps the words, and returns the digest that stands for them. */
async function keptBeside({ about, words }: { about: UserId; words: string }, db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ digest: string }>`
    insert into audit_words (digest, about, salt, words)
      select encode(sha256(convert_to(salt || ${words}::text, 'UTF8')), 'hex'), ${about}::uuid, salt, ${words}::text
        from (select gen_random_uuid()::text as salt) s
      returning digest`.execute(db)
  return present(rows[0], 'digest').digest
}

/** An entry's new value with its words, if there are any left. */
function withWords(after: unknown, words: string | null): unknown {
  if (words === null || typeof after !== 'object' || after === null || Array.isArray(after)) return after
  return { ...after, ['text' in after ? 'text' : 'reason']: words }
}
