/**
 * Cached balances in the fast store (`wallet:<userId>`). A hash changed from outside at the current version counts,
 * within a bound; one with an older version is late. The version only grows, so late writers cannot win. A database
 * that failed over or was restored may count the same versions again, so each hash also names the history that it
 * belongs to, and counts in no other.
 */
import { type Kysely, sql } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import type { UserId } from '../actors/kernel/ids.ts'
import { decimalText, microsFromDecimal, type Money, money } from '../actors/kernel/micros.ts'
import { ADOPTION_MAX } from '../actors/kernel/limits.ts'
import { HOUR_MS } from '../actors/kernel/world.ts'
import { type FastStore, type Fields, keys, type Put } from './fast/fast-store.ts'
import type { Database } from './postgres/schema.ts'

/** How long an unused wallet stays cached. */
const TTL_MS = 7 * 24 * HOUR_MS

export interface CachedBalance {
  readonly userId: UserId
  readonly balance: Money
  /** Null when a balance was written from outside without a version: it then counts for any version. */
  readonly version: number | null
}

export interface VersionedBalance extends CachedBalance {
  readonly version: number
}

export class WalletCache {
  readonly #fast: FastStore | null
  readonly #onFailure: (error: unknown) => void
  #timeline: string | null = null
  #adoptMax: () => Money = () => ADOPTION_MAX

  /**
   * Without a store nothing is cached: a cache in this process could only repeat the database. Writes are not awaited:
   * `onFailure` is called once per failed batch, and the next write repairs it.
   */
  constructor(fast: FastStore | null, onFailure: (error: unknown) => void) {
    this.#fast = fast
    this.#onFailure = onFailure
  }

  /** The history of the database, as `store_timeline()` names it. Until it is known nothing is read or written. */
  get timeline(): string | null {
    return this.#timeline
  }

  set timeline(timeline: string) {
    this.#timeline = timeline
  }

  /** The most that a balance from outside may add to a wallet at once. */
  get adoptMax(): Money {
    return this.#adoptMax()
  }

  /** From now on asked whenever it matters, so that a changed setting counts. */
  boundBy(adoptMax: () => Money): void {
    this.#adoptMax = adoptMax
  }

  /**
   * The cached balances of these users. Unreadable hashes count as absent, as do those of another timeline, and
   * everything while the store is unavailable.
   */
  async read(users: readonly UserId[]): Promise<CachedBalance[]> {
    const timeline = this.#timeline
    if (this.#fast === null || timeline === null || users.length === 0) return []
    const hashes = await this.#fast.hashGetMany(users.map(keys.wallet)).catch((error: unknown) => {
      this.#onFailure(error)
      return users.map(() => null)
    })
    return users.flatMap((userId, i) => {
      const cached = parse(hashes[i] ?? null, timeline)
      return cached === null ? [] : [{ userId, ...cached }]
    })
  }

  /** The cached balance of a main wallet if a commit would adopt it, else the stored one (specification 2.3). */
  inForce(cached: CachedBalance | undefined, wallet: { balance_micros: number; version: number }): Money {
    const stored = money(wallet.balance_micros)
    if (cached === undefined || (cached.version ?? wallet.version) !== wallet.version) return stored
    return cached.balance - stored > this.adoptMax ? stored : cached.balance
  }

  /**
   * The balances that a commit may rely on. A balance without a version first gets the wallet's, in the store itself,
   * so that it counts once, even if the store refuses writes or two matches find it together.
   */
  async claim(
    users: readonly UserId[],
    versionsOf: (users: readonly UserId[]) => Promise<ReadonlyMap<UserId, number>>,
  ): Promise<VersionedBalance[]> {
    const timeline = this.#timeline
    if (timeline === null) return []
    const found = await this.read(users)
    const loose = found.filter((cached) => cached.version === null)
    const versions = loose.length === 0 ? new Map<UserId, number>() : await versionsOf(loose.map((c) => c.userId))
    const claimed = await Promise.all(
      found.map(async (cached) => {
        const version = cached.version ?? versions.get(cached.userId)
        if (version === undefined) return []
        return cached.version !== null || (await this.#stamp({ ...cached, version }, timeline))
          ? [{ ...cached, version }]
          : []
      }),
    )
    return claimed.flat()
  }

  write(balances: readonly VersionedBalance[]): void {
    const timeline = this.#timeline
    if (timeline === null) return
    this.#fast?.putManyIfNewer(balances.map(asPut(timeline)), TTL_MS).catch(this.#onFailure)
  }

  /** False when it was not written: a newer one is there, or the store is unavailable. */
  async #stamp(balance: VersionedBalance, timeline: string): Promise<boolean> {
    try {
      const { key, fields, version } = asPut(timeline)(balance)
      return (await this.#fast?.putIfNewer(key, fields, version, TTL_MS)) ?? false
    } catch (error) {
      this.#onFailure(error)
      return false
    }
  }
}

const asPut =
  (timeline: string) =>
  ({ userId, balance, version }: VersionedBalance): Put => ({
    key: keys.wallet(userId),
    fields: { balance: decimalText(balance), timeline },
    version,
  })

/**
 * A hash written from outside has neither version nor timeline. Every other hash must be of this timeline. Another
 * program may compute finer amounts than ours: the nearest millionth counts, unless it is off by a millionth part.
 */
function parse(hash: Fields | null, timeline: string): { balance: Money; version: number | null } | null {
  if (hash === null) return null
  if ((hash['version'] !== undefined || hash['timeline'] !== undefined) && hash['timeline'] !== timeline) return null
  const version = hash['version'] === undefined ? null : numberIn(hash['version'])
  const amount = numberIn(hash['balance'] ?? '')
  const nearest = Number(amount.toFixed(6))
  const balance = Math.abs(nearest - amount) <= amount / 1e6 ? microsFromDecimal(nearest) : null
  if (balance === null || (version !== null && !Number.isSafeInteger(version))) return null
  return { balance: money(balance), version }
}

/** NaN for a missing or blank text, which `Number` alone would read as zero. */
const numberIn = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text))

/** What this history of the database is called; see `store_timeline()`. */
export async function timelineOf(db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ timeline: string }>`select store_timeline() as timeline`.execute(db)
  return present(rows[0], 'timeline').timeline
}
