/** MatchStore on PostgreSQL: loads a match, and commits a batch in one statement. */
import type { Selectable } from 'kysely'
import { assert, present } from '../actors/kernel/assert.ts'
import {
  type FixtureId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  playerId,
  type UserId,
  userId,
} from '../actors/kernel/ids.ts'
import { lots, type Money, money, price, slope } from '../actors/kernel/micros.ts'
import type { Instrument } from '../actors/market/instrument.ts'
import { readNewsHold } from '../actors/market/read-news-hold.ts'
import { readPricing } from '../actors/market/read-pricing.ts'
import type { IdempotencyKey, WalletAfter } from '../actors/match/messages.ts'
import { readMatchInfo } from '../actors/match/read-match-info.ts'
import type {
  Batch,
  CommitFailure,
  InstrumentHistory,
  MatchRecord,
  MatchStore,
  StoredResult,
  Verdict,
} from '../actors/match/store.ts'
import { findResult, restoreResults, type StoredRow } from './command-results.ts'
import { commitArguments, type WalletChange, walletChanges } from './commit-arguments.ts'
import { POSITION_COLUMNS, positionFrom } from './positions.ts'
import { bigintsFrom } from './postgres/arrays.ts'
import { COMMIT_BATCH } from './postgres/commit-batch.ts'
import type { Connection } from './postgres/connect.ts'
import type { InstrumentsTable } from './postgres/schema/matches.ts'
import type { VersionedBalance, WalletCache } from './wallet-cache.ts'

export class SqlMatchStore implements MatchStore {
  readonly #connection: Pick<Connection, 'db' | 'call' | 'arrays'>
  readonly #cache: WalletCache

  constructor(connection: Pick<Connection, 'db' | 'call' | 'arrays'>, cache: WalletCache) {
    this.#connection = connection
    this.#cache = cache
  }

  async load(matchId: FixtureId): Promise<MatchRecord | null> {
    // One snapshot for the three reads, so that no commit of a former owner falls between them.
    return this.#connection.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const match = await tx.selectFrom('matches').selectAll().where('id', '=', matchId).executeTakeFirst()
        if (match === undefined) return null
        const instruments = await tx.selectFrom('instruments').selectAll().where('match_id', '=', matchId).execute()
        const positions = await tx
          .selectFrom('positions')
          .select(POSITION_COLUMNS)
          .where('match_id', '=', matchId)
          .where('closed_at', 'is', null)
          .orderBy('id')
          .execute()
        return {
          info: readMatchInfo(match.info, `match ${matchId}: info`),
          pricing: readPricing(match.pricing, `match ${matchId}: pricing`),
          instruments: instruments.map(instrumentFrom),
          openPositions: positions.map(positionFrom),
        }
      })
  }

  async histories(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, InstrumentHistory>> {
    const { db } = this.#connection
    const [lasts, anchors] = await Promise.all([
      db
        .selectFrom('instruments')
        .innerJoin('matches', 'matches.id', 'instruments.match_id')
        .select(['instruments.id', 'price_micros', 'match_id', 'settled_at'])
        .where('instruments.id', 'in', [...ids])
        .execute(),
      db
        .selectFrom('anchors')
        .selectAll()
        .where('instrument_id', 'in', [...ids])
        .execute(),
    ])
    const known = new Map<InstrumentId, InstrumentHistory>()
    for (const row of anchors) {
      known.set(instrumentId(row.instrument_id), { last: null, anchor: price(row.price_micros), heldBy: null })
    }
    for (const row of lasts) {
      const id = instrumentId(row.id)
      const heldBy = row.settled_at === null ? fixtureId(row.match_id) : null
      known.set(id, { last: price(row.price_micros), anchor: known.get(id)?.anchor ?? null, heldBy })
    }
    return known
  }

  async recall(user: UserId, idempotency: IdempotencyKey): Promise<StoredResult | null> {
    return findResult(this.#connection.db, user, idempotency)
  }

  async commit(batch: Batch): Promise<Verdict> {
    const wallets = walletChanges(batch)
    const moved = wallets.filter((change) => change.balance !== 0).map((change) => change.userId)
    const cached = await this.#cache.claim(moved, (users) => this.#versionsOf(users))
    const rows = await this.#connection.call<CommitRow>(
      COMMIT_BATCH.installedAs,
      commitArguments(this.#connection.arrays, batch, wallets, cached),
    )
    const [first] = rows
    if (first?.verdict === 'fenced') return { kind: 'fenced' }
    if (first?.verdict !== 'committed') return this.#rejection(rows)
    const after = walletsAfter(wallets, first)
    // The batch is committed. If the cache cannot be written now it is a version behind, which readers notice.
    this.#cache.write(after)
    const seen = after.filter((wallet): wallet is typeof wallet & WalletAfter => wallet.unrealizedPnl !== null)
    return { kind: 'committed', wallets: new Map(seen.map((wallet) => [wallet.userId, wallet])) }
  }

  async #rejection(rows: readonly CommitRow[]): Promise<Verdict> {
    const failures = new Map<UserId, CommitFailure>()
    const used: Extract<CommitRow, { verdict: 'key_used' }>[] = []
    for (const row of rows) {
      assert(row.verdict !== 'committed' && row.verdict !== 'fenced', 'a batch was turned down and was not')
      const user = userId(row.user_id)
      if (row.verdict === 'key_used') {
        used.push(row)
      } else if (row.verdict === 'insufficient_margin') {
        failures.set(user, { kind: row.verdict, userId: user, available: money(row.balance) })
      } else if (!failures.has(user)) {
        failures.set(user, { kind: row.verdict, userId: user })
      }
    }
    assert(rows.length > 0, 'a commit came back without a verdict')
    // A used key answers for the whole command, so the wallet's state today does not matter.
    const stored = await restoreResults(this.#connection.db, used)
    for (const [n, result] of stored.entries()) {
      const user = userId(present(used[n], 'used key').user_id)
      failures.set(user, { kind: 'key_used', userId: user, stored: result })
    }
    return { kind: 'rejected', failures: [...failures.values()] }
  }

  async #versionsOf(users: readonly UserId[]): Promise<Map<UserId, number>> {
    const rows = await this.#connection.db
      .selectFrom('wallets')
      .select(['user_id', 'version'])
      .where('user_id', 'in', [...users])
      .execute()
    return new Map(rows.map((row) => [userId(row.user_id), row.version]))
  }
}

/** Either one row, or one for each failure. */
type CommitRow =
  | CommittedRow
  | { readonly verdict: 'fenced' }
  | ({ readonly verdict: 'key_used'; readonly user_id: string } & StoredRow)
  | { readonly verdict: 'insufficient_margin'; readonly user_id: string; readonly balance: number }
  | { readonly verdict: 'position_limit'; readonly user_id: string }

/** Array literals with one value per wallet, in the order of the arguments. */
interface CommittedRow {
  readonly verdict: 'committed'
  readonly balances: string | null
  readonly margins: string | null
  readonly worths: string | null
  readonly versions: string | null
}

type WalletWritten = VersionedBalance & Pick<WalletAfter, 'marginUsed'> & { readonly unrealizedPnl: Money | null }

/** Unrealised PnL is null for wallets that the batch does not watch. */
function walletsAfter(wallets: readonly WalletChange[], row: CommittedRow): WalletWritten[] {
  const [balances, margins, worths, versions] = [
    bigintsFrom(row.balances),
    bigintsFrom(row.margins),
    bigintsFrom(row.worths),
    bigintsFrom(row.versions),
  ]
  return wallets.map(({ userId: user }, n) => {
    const worth = worths[n] ?? null
    return {
      userId: user,
      balance: money(present(balances[n], 'balance')),
      marginUsed: money(present(margins[n], 'margin')),
      unrealizedPnl: worth === null ? null : money(worth),
      version: present(versions[n], 'version'),
    }
  })
}

export function instrumentFrom(row: Selectable<InstrumentsTable>): Instrument {
  return {
    id: instrumentId(row.id),
    playerId: playerId(row.player_id),
    name: row.name,
    role: row.role,
    side: row.side,
    jersey: row.jersey,
    starter: row.starter,
    start: price(row.start_micros),
    slope: slope(row.slope_micros),
    impactCapPpm: row.impact_cap_ppm,
    base: price(row.base_micros),
    imbalance: lots(row.imbalance_micros),
    published: price(row.published_micros),
    news: row.news === null ? null : readNewsHold(row.news, `news of ${row.id}`),
    awaitsSettlement: row.awaits_settlement,
    settlement: row.settlement_micros === null ? null : price(row.settlement_micros),
  }
}
