/**
 * Single-use and short-lived items of a sign-in: nonces, identity tokens, registration tickets, one-time codes, and
 * proof of an e-mail address. They are in the database: a fast store that loses them would let each be used again.
 */
import { createHash } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { CODE_PAUSE_MS, CODE_TTL_MS, NONCE_TTL_MS } from '../actors/kernel/limits.ts'
import { type Instant, instant, MINUTE_MS, type World } from '../actors/kernel/world.ts'
import type { Database } from './postgres/schema.ts'

/** A code as stored: a digest, from which it cannot be read. */
export interface KeptCode {
  readonly id: string
  readonly digest: string
}

/** What can be used once. */
type SingleUse = 'nonce' | 'identity token' | 'ticket' | 'code mail'

/** How long the code that proved an address may be sent again, by a client that lost the answer. */
const REPEAT_MS = MINUTE_MS

/** Codes are small, so that expired ones may stay a while. */
const REMOVED_PER_CODE = 2

interface Claim {
  readonly what: SingleUse
  readonly text: string
  readonly until: Instant
  /** Given where a clock that was put back must not prolong the claim. */
  readonly windowMs?: number
}

/** True for exactly one of several claimants, until this instant. In a transaction: unless it is rolled back. */
export async function claimOnce(
  db: Kysely<Database>,
  world: Pick<World, 'now'>,
  { what, text, until, windowMs }: Claim,
): Promise<boolean> {
  const expires_at = new Date(until)
  const claimed = await db
    .insertInto('single_use')
    .values({ digest: digestOf(what, text), expires_at })
    .onConflict((conflict) =>
      conflict
        .column('digest')
        .doUpdateSet({ expires_at })
        .where(sql<boolean>`not ${isPendingAt(world.now(), sql.ref('single_use.expires_at'), windowMs)}`),
    )
    .returning('digest')
    .executeTakeFirst()
  return claimed !== undefined
}

/** `isPending` of a column; without a window a claim lasts until its instant, wherever the clock has been. */
function isPendingAt(now: Instant, column: RawBuilder<unknown>, windowMs?: number) {
  const latest = windowMs === undefined ? 'infinity' : new Date(now + 2 * windowMs)
  return sql<boolean>`(${column} > ${new Date(now)}::timestamptz and ${column} <= ${latest}::timestamptz)`
}

const digestOf = (what: SingleUse, text: string): string =>
  createHash('sha256')
    .update(JSON.stringify([what, text]))
    .digest('base64url')

export class OneTime {
  readonly #db: Kysely<Database>
  readonly #world: Pick<World, 'now'>
  readonly #verifiedMs: number

  /** How long the proof of an e-mail address is valid. */
  constructor(db: Kysely<Database>, world: Pick<World, 'now'>, verifiedMs: number) {
    this.#db = db
    this.#world = world
    this.#verifiedMs = verifiedMs
  }

  /** True for exactly one of several claimants of a nonce. */
  claimNonce(nonce: string): Promise<boolean> {
    return this.#claim('nonce', nonce, this.#in(NONCE_TTL_MS))
  }

  /** True for the first use of an identity token, which no longer counts after `until`. */
  claimIdToken(token: string, until: Instant): Promise<boolean> {
    // What is signed. The signature itself can be spelt in several ways.
    return this.#claim('identity token', token.split('.').slice(0, 2).join('.'), until)
  }

  /**
   * Starts the pause before another code to this subject, for exactly one of several callers. The others get the
   * milliseconds left.
   */
  async startPause(subject: string): Promise<{ readonly started: boolean; readonly leftMs: number }> {
    const pause = { what: 'code mail', text: subject, until: this.#in(CODE_PAUSE_MS), windowMs: CODE_PAUSE_MS } as const
    if (await claimOnce(this.#db, this.#world, pause)) return { started: true, leftMs: CODE_PAUSE_MS }
    const row = await this.#db
      .selectFrom('single_use')
      .select('expires_at')
      .where('digest', '=', digestOf('code mail', subject))
      .executeTakeFirst()
    const leftMs = (row?.expires_at.getTime() ?? 0) - this.#world.now()
    return { started: false, leftMs: Math.min(Math.max(leftMs, 0), CODE_PAUSE_MS) }
  }

  /** Sets the subject's code. An earlier one is no longer valid. */
  async putCode(subject: string, { id, digest }: KeptCode): Promise<void> {
    const code = { code_id: id, digest, guesses: 0, expires_at: new Date(this.#in(CODE_TTL_MS)) }
    await this.#db
      .insertInto('email_codes')
      .values({ subject, ...code, verified_email: null, verified_until: null })
      .onConflict((conflict) => conflict.column('subject').doUpdateSet(code))
      .execute()
    await this.#removeExpired()
  }

  async code(subject: string): Promise<KeptCode | null> {
    const row = await this.#db
      .selectFrom('email_codes')
      .select(['code_id as id', 'digest'])
      .where('subject', '=', subject)
      .where(this.#isPending('expires_at', CODE_TTL_MS))
      .executeTakeFirst()
    return row ?? null
  }

  /** The code with which the subject proved this e-mail address less than a minute ago. */
  async usedCode(subject: string, email: string): Promise<KeptCode | null> {
    const usedSince = this.#in(Math.max(this.#verifiedMs - REPEAT_MS, 0))
    const row = await this.#db
      .selectFrom('email_codes')
      .select(['code_id as id', 'digest'])
      .where('subject', '=', subject)
      .where('verified_email', '=', email)
      .where('verified_until', '>', new Date(usedSince))
      .where('expires_at', '<=', this.#now())
      .executeTakeFirst()
    return row ?? null
  }

  /**
   * Counts a guess at a code and returns its number, from 1. A code that was used or replaced meanwhile has no guesses
   * left.
   */
  async guess(subject: string, { id }: KeptCode): Promise<number> {
    const row = await this.#db
      .updateTable('email_codes')
      .set((eb) => ({ guesses: eb('guesses', '+', 1) }))
      .where('subject', '=', subject)
      .where('code_id', '=', id)
      .where(this.#isPending('expires_at', CODE_TTL_MS))
      .returning('guesses')
      .executeTakeFirst()
    return row?.guesses ?? Infinity
  }

  /** Records that the subject has proved this e-mail address; the code is used up, so it expires. */
  async verify(subject: string, email: string): Promise<void> {
    const verified_until = new Date(this.#in(this.#verifiedMs))
    await this.#db
      .updateTable('email_codes')
      .set({ expires_at: this.#now(), verified_email: email, verified_until })
      .where('subject', '=', subject)
      .execute()
  }

  /** The e-mail address that the subject has proved, or null. */
  async verifiedEmail(subject: string): Promise<string | null> {
    const row = await this.#db
      .selectFrom('email_codes')
      .select('verified_email')
      .where('subject', '=', subject)
      .where(this.#isPending('verified_until', this.#verifiedMs))
      .executeTakeFirst()
    return row?.verified_email ?? null
  }

  async #claim(what: SingleUse, text: string, until: Instant): Promise<boolean> {
    return claimOnce(this.#db, this.#world, { what, text, until })
  }

  async #removeExpired(): Promise<void> {
    const expired = this.#db.selectFrom('email_codes').select('subject').where('expires_at', '<', this.#now())
    const nothingProved = expired.where((eb) =>
      eb.or([eb('verified_until', 'is', null), eb('verified_until', '<', this.#now())]),
    )
    await this.#db
      .deleteFrom('email_codes')
      .where('subject', 'in', nothingProved.limit(REMOVED_PER_CODE).forUpdate().skipLocked())
      .execute()
  }

  #isPending(column: 'expires_at' | 'verified_until', windowMs: number) {
    return isPendingAt(this.#world.now(), sql.ref(column), windowMs)
  }

  #in(ms: number): Instant {
    return instant(this.#world.now() + ms)
  }

  #now(): Date {
    return new Date(this.#world.now())
  }
}
