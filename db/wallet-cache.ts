/**
 * Cached balances in the fast store (`wallet:<userId>`). A hash changed from outside at the current version counts; one
 * with an older version is late. The version only grows, so late writers cannot win.
 */
import type { UserId } from '../actors/kernel/ids.ts'
import { decimalText, microsFromDecimal, type Money, money } from '../actors/kernel/micros.ts'
import { HOUR_MS } from '../actors/kernel/world.ts'
import { type FastStore, keys, type Put } from './fast/fast-store.ts'

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

  /**
   * Without a store nothing is cached: a cache in this process could only repeat the database. Writes are not awaited:
   * `onFailure` is called once per failed batch, and the next write repairs it.
   */
  constructor(fast: FastStore | null, onFailure: (error: unknown) => void) {
    this.#fast = fast
    this.#onFailure = onFailure
  }

  /**
   * The cached balances of these users. Unreadable hashes count as absent, as does everything while the store is
   * unavailable.
   */
  async read(users: readonly UserId[]): Promise<CachedBalance[]> {
    if (this.#fast === null || users.length === 0) return []
    const hashes = await this.#fast.hashGetMany(users.map(keys.wallet)).catch((error: unknown) => {
      this.#onFailure(error)
      return users.map(() => null)
    })
    return users.flatMap((userId, i) => {
      const cached = parse(hashes[i] ?? null)
      return cached === null ? [] : [{ userId, ...cached }]
    })
  }

  /**
   * The balances that a commit may rely on. A balance without a version first gets the wallet's, in the store itself,
   * so that it counts once, even if the store refuses writes or two matches find it together.
   */
  async claim(
    users: readonly UserId[],
    versionsOf: (users: readonly UserId[]) => Promise<ReadonlyMap<UserId, number>>,
  ): Promise<VersionedBalance[]> {
    const found = await this.read(users)
    const loose = found.filter((cached) => cached.version === null)
    const versions = loose.length === 0 ? new Map<UserId, number>() : await versionsOf(loose.map((c) => c.userId))
    const claimed = await Promise.all(
      found.map(async (cached) => {
        const version = cached.version ?? versions.get(cached.userId)
        if (version === undefined) return []
        return cached.version !== null || (await this.#stamp({ ...cached, version })) ? [{ ...cached, version }] : []
      }),
    )
    return claimed.flat()
  }

  write(balances: readonly VersionedBalance[]): void {
    this.#fast?.putManyIfNewer(balances.map(asPut), TTL_MS).catch(this.#onFailure)
  }

  /** False when it was not written: a newer one is there, or the store is unavailable. */
  async #stamp(balance: VersionedBalance): Promise<boolean> {
    try {
      const { key, fields, version } = asPut(balance)
      return (await this.#fast?.putIfNewer(key, fields, version, TTL_MS)) ?? false
    } catch (error) {
      this.#onFailure(error)
      return false
    }
  }
}

const asPut = ({ userId, balance, version }: VersionedBalance): Put => ({
  key: keys.wallet(userId),
  fields: { balance: decimalText(balance) },
  version,
})

function parse(hash: Readonly<Record<string, string>> | null): { balance: Money; version: number | null } | null {
  if (hash === null) return null
  const version = hash['version'] === undefined ? null : numberIn(hash['version'])
  const balance = microsFromDecimal(numberIn(hash['balance'] ?? ''))
  if (balance === null || balance < 0 || (version !== null && !Number.isSafeInteger(version))) return null
  return { balance: money(balance), version }
}

/** NaN for a missing or blank text, which `Number` alone would read as zero. */
const numberIn = (text: string): number => (text.trim() === '' ? Number.NaN : Number(text))
