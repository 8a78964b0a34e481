/**
 * The audit log: who did what, with the values before and after. Rows are never changed or removed; `audit-chain.ts`
 * seals them. What an operator writes about a person is beside it, and erased with the person: the entry keeps a
 * salted digest, so that other words in its place are found.
 */
import { type Kysely, sql, type SqlBool } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import { type UserId, userId } from '../actors/kernel/ids.ts'
import { type Instant, instant, type World } from '../actors/kernel/world.ts'
import { texts } from './postgres/arrays.ts'
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
  /** Why an operator acted, where that is not about a person. It is kept in `after`, for ever. */
  readonly reason?: string | undefined
  /** What is written about a person; `after` has it in this field. */
  readonly words?: { readonly field: 'reason' | 'text'; readonly about: UserId; readonly words: string }
}

export interface AuditEntry extends Omit<ControlAction, 'words' | 'reason'> {
  readonly id: number
  readonly at: Instant
  /** The actor's username; null when the account no longer exists. */
  readonly actorName: string | null
  /** The name of the user, league, match or player that the subject is the id of; null for any other. */
  readonly subjectName: string | null
  readonly reason: string | null
  readonly outcome: string
}

/** Which entries are listed: those that fit everything that is given. */
export interface AuditFilter {
  /** The actor's username. */
  readonly actor?: string | undefined
  /** Actions such as `setting.set`, or all of a noun: `setting`. Several are separated by commas. */
  readonly action?: string | undefined
  readonly subject?: string | undefined
  readonly since?: Instant | undefined
  readonly until?: Instant | undefined
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
    if (!db.isTransaction && actions.some(({ words }) => words !== undefined)) {
      return db.transaction().execute((tx) => this.recordAll(actions, tx))
    }
    const at = new Date(this.#world.now())
    const rows = []
    for (const { actor, action, subject, before, after: plain, outcome = 'ok', reason, words } of actions) {
      const said = words === undefined ? reason : await keptBeside(words, db)
      const after = said === undefined ? plain : { ...fieldsOf(plain), [words?.field ?? 'reason']: said }
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
  async list(limit: number, before: number | null, filter: AuditFilter = {}): Promise<readonly AuditEntry[]> {
    const { actor, action, subject, since, until } = filter
    const reader = await this.#readerOf(before)
    const rows = await reader
      .selectFrom('audit_log')
      .leftJoin('users', 'users.id', 'audit_log.actor_id')
      .leftJoin('audit_words', (join) => join.on('audit_words.digest', '=', digestIn('audit_log')))
      .selectAll('audit_log')
      .select(['users.username', 'audit_words.words'])
      .$if(before !== null, (query) => query.where('audit_log.id', '<', before))
      .$if(actor !== undefined, (query) => query.where('users.username', '=', String(actor)))
      .$if(action !== undefined, (query) =>
        query.where(sql<SqlBool>`exists (select from unnest(string_to_array(${action}::text, ',')) wanted
                                         where action = wanted or starts_with(action, wanted || '.'))`),
      )
      .$if(subject !== undefined, (query) => query.where('subject', '=', String(subject)))
      .$if(since !== undefined, (query) => query.where('at', '>=', new Date(Number(since))))
      .$if(until !== undefined, (query) => query.where('at', '<', new Date(Number(until))))
      .orderBy('audit_log.id', 'desc')
      .limit(limit)
      .execute()
    const names = await namesOf(
      rows.map((row) => row.subject),
      reader,
    )
    return rows.map((row) => ({
      id: row.id,
      at: instant(row.at.getTime()),
      actor: row.actor_id === null ? null : userId(row.actor_id),
      actorName: row.username,
      action: row.action,
      subject: row.subject,
      subjectName: names.get(idIn(row.subject)) ?? null,
      before: row.before,
      ...withoutReason(withWords(row.after, row.words)),
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

/** Keeps the words, and returns the digest that stands for them. Words about an erased user are not kept. */
async function keptBeside({ about, words }: { about: UserId; words: string }, db: Kysely<Database>): Promise<string> {
  // An erasure that is under way waits for this, or is waited for.
  const { rows: people } = await sql<{ erased: boolean }>`
    select erased_at is not null as erased from users where id = ${about}::uuid for share`.execute(db)
  if (people[0]?.erased === true) return ''
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

/** A new value that has no fields becomes the field `value` beside a reason. */
const fieldsOf = (plain: unknown): object =>
  typeof plain === 'object' && plain !== null && !Array.isArray(plain) ? plain : { value: plain }

/** A new value as it was before a reason joined it, and the reason. A value with fields keeps its `reason` as well. */
function withoutReason(after: unknown): { readonly after: unknown; readonly reason: string | null } {
  if (typeof after !== 'object' || after === null || !('reason' in after)) return { after, reason: null }
  const reason = typeof after.reason === 'string' ? after.reason : null
  const isPlain = 'value' in after && Object.keys(after).length === 2
  return { after: isPlain ? after.value : after, reason }
}

/** The id in a subject such as `trading.mode.match.19155071`; otherwise the subject. */
const idIn = (subject: string): string => /^trading\.mode\.(?:match|instrument)\.(.*)$/.exec(subject)?.[1] ?? subject

const UUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/
const NUMBER = /^\d{1,10}$/

/** The names of users, leagues, players and matches, by id. */
async function namesOf(subjects: readonly string[], db: Kysely<Database>): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(subjects.map(idIn))]
  const own = texts(ids.filter((id) => UUID.test(id)))
  const { rows } = await sql<{ id: string; name: string }>`
    select id::text, username as name from users where id = any(${own}::uuid[])
    union all select id::text, name from leagues where id = any(${own}::uuid[])
    union all select id::text, name from instruments where id = any(${own}::uuid[])
    union all select id::text, info ->> 'name' from matches
     where id = any(${texts(ids.filter((id) => NUMBER.test(id)))}::bigint[]) and info ->> 'name' is not null`.execute(
    db,
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
