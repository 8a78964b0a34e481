/** MatchStore on PostgreSQL: loads a match, and commits a batch in one statement. */
import { type Selectable, sql, type Transaction } from 'kysely'
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
import { lots, MICROS_MAX, type Money, money, mulDivNearest, price, slope } from '../actors/kernel/micros.ts'
import type { Instrument } from '../actors/market/instrument.ts'
import { exposureOf, type Position } from '../actors/position/position.ts'
import { readNewsHold } from '../actors/market/read-news-hold.ts'
import { readPricing } from '../actors/market/read-pricing.ts'
import { listOf, nullable } from '../actors/kernel/read.ts'
import { type OwnBounds, readBounds } from '../actors/kernel/own-limits.ts'
import type { WalletKey } from '../actors/kernel/purse.ts'
import type { IdempotencyKey, WalletAfter } from '../actors/match/messages.ts'
import type { World } from '../actors/kernel/world.ts'
import { readMatchInfo } from '../actors/match/read-match-info.ts'
import type {
  Batch,
  CommitFailure,
  InstrumentHistory,
  MatchRecord,
  MatchStore,
  StoredResult,
  Verdict,
  WalletFound,
} from '../actors/match/store.ts'
import { findResult, restoreResults, type StoredRow } from './command-results.ts'
import { commitArguments } from './commit-arguments.ts'
import { JournalWriter } from './journal-codec.ts'
import { endOfTape } from './public-tape.ts'
import { TapeWriter } from './tape-writer.ts'
import { type WalletChange, walletChanges } from './wallet-changes.ts'
import { recentClosesOf } from './recent-closes.ts'
import { isImpossible, POSITION_COLUMNS, positionFrom } from './positions.ts'
import { bigintsFrom, uuids } from './postgres/arrays.ts'
import { COMMIT_BATCH } from './postgres/commit-batch.ts'
import type { Connection } from './postgres/connect.ts'
import type { Database } from './postgres/schema.ts'
import type { InstrumentsTable } from './postgres/schema/matches.ts'
import type { VersionedBalance, WalletCache } from './wallet-cache.ts'

/** More are not a few bad rows but another fault, and the match does not start. */
const CORRUPT_MAX = 1_000

export class SqlMatchStore implements MatchStore {
  readonly #connection: Pick<Connection, 'db' | 'call' | 'arrays'>
  readonly #cache: WalletCache
  readonly #journal = new JournalWriter()
  readonly #tape: TapeWriter

  constructor(
    connection: Pick<Connection, 'db' | 'call' | 'arrays'>,
    cache: WalletCache,
    world: Pick<World, 'secret'>,
  ) {
    this.#connection = connection
    this.#cache = cache
    this.#tape = new TapeWriter((matchId) => endOfTape(connection.db, matchId), world)
  }

  async load(matchId: FixtureId): Promise<MatchRecord | null> {
    // One snapshot for all reads, so that no commit of a former owner falls between them.
    return this.#connection.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (tx) => {
        const match = await tx.selectFrom('matches').selectAll().where('id', '=', matchId).executeTakeFirst()
        if (match === undefined) return null
        const instruments = await tx
          .selectFrom('instruments')
          .selectAll()
          .where('match_id', '=', matchId)
          .orderBy('id')
          .execute()
        const corrupt = await setCorruptAside(tx, matchId)
        const positions = await tx
          .selectFrom('positions')
          .select(POSITION_COLUMNS)
          .where('match_id', '=', matchId)
          .where('closed_at', 'is', null)
          .$if(corrupt.length > 0, (open) => open.where('id', 'not in', [...corrupt]))
          .orderBy('opened_at')
          .orderBy('id')
          .execute()
        const openPositions = positions.map(positionFrom)
        const listed = instruments.map(instrumentFrom)
        return {
          info: readMatchInfo(match.info, `match ${matchId}: info`),
          pricing: readPricing(match.pricing, `match ${matchId}: pricing`),
          instruments: corrupt.length === 0 ? listed : withoutCorrupt(listed, openPositions),
          openPositions,
          recentCloses: await recentClosesOf(tx, matchId),
        }
      })
  }

  async histories(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, InstrumentHistory>> {
    const { db } = this.#connection
    const [lasts, anchors] = await Promise.all([
      db
        .selectFrom('instruments')
        .innerJoin('matches', 'matches.id', 'instruments.match_id')
        .select([
          'instruments.id',
          'price_micros',
          'match_id',
          'settled_at',
          'instruments.matches',
          'settled_total_micros',
        ])
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
      known.set(instrumentId(row.instrument_id), {
        last: null,
        anchor: price(row.price_micros),
        past: null,
        heldBy: null,
      })
    }
    for (const row of lasts) {
      const id = instrumentId(row.id)
      const heldBy = row.settled_at === null ? fixtureId(row.match_id) : null
      const { matches, settled_total_micros: total } = row
      const past = matches === 0 ? null : { matches, mean: price(mulDivNearest(total, 1, matches)) }
      known.set(id, { last: price(row.price_micros), anchor: known.get(id)?.anchor ?? null, past, heldBy })
    }
    return known
  }

  async recall(user: UserId, idempotency: IdempotencyKey): Promise<StoredResult | null> {
    return findResult(this.#connection.db, user, idempotency)
  }

  async commit(batch: Batch): Promise<Verdict> {
    const wallets = walletChanges(batch)
    const moved = wallets.filter((change) => change.balance !== 0 && isCached(change)).map((change) => change.userId)
    const { timeline, adoptMax } = this.#cache
    const balances = await this.#cache.claim(moved, (users) => this.#versionsOf(users))
    const cached = { balances, timeline, adoptMax }
    const journal = this.#journal.row(batch.matchId, batch.epoch, batch.heard ?? [])
    const tape = await this.#tape.row(batch, journal?.lines ?? [])
    const rows = await this.#connection.call<CommitRow>(
      COMMIT_BATCH.installedAs,
      commitArguments(this.#connection.arrays, batch, wallets, { cached, journal, tape }),
    )
    const [first] = rows
    if (first?.verdict === 'fenced') return { kind: 'fenced' }
    if (first?.verdict !== 'committed') return this.#rejection(rows, wallets)
    journal?.keep()
    tape?.keep()
    const after = walletsAfter(wallets, first)
    // The batch is committed. If the cache cannot be written now it is a version behind, which readers notice.
    this.#cache.write(after.filter(isCached))
    const seen = after.filter((wallet): wallet is typeof wallet & WalletAfter => wallet.unrealizedPnl !== null)
    return { kind: 'committed', wallets: new Map(seen.map((wallet) => [wallet.userId, wallet])) }
  }

  async #rejection(rows: readonly CommitRow[], changes: readonly WalletChange[]): Promise<Verdict> {
    let wallets: readonly WalletFound[] = []
    const failures = new Map<UserId, CommitFailure>()
    const used: Extract<CommitRow, { verdict: 'key_used' }>[] = []
    for (const row of rows) {
      assert(row.verdict !== 'committed' && row.verdict !== 'fenced', 'a batch was turned down and was not')
      if (row.verdict === 'found') {
        wallets = walletsFound(changes, row)
        continue
      }
      const user = userId(row.user_id)
      if (row.verdict === 'key_used') {
        used.push(row)
      } else if (row.verdict === 'insufficient_margin') {
        failures.set(user, { kind: row.verdict, userId: user, available: money(row.balance) })
      } else if (!failures.has(user)) {
        failures.set(user, { kind: row.verdict, userId: user })
      }
    }
    assert(failures.size + used.length > 0, 'a commit came back without a verdict')
    // A used key answers for the whole command, so the wallet's state today does not matter.
    const stored = await restoreResults(this.#connection.db, used)
    for (const [n, result] of stored.entries()) {
      const user = userId(present(used[n], 'used key').user_id)
      failures.set(user, { kind: 'key_used', userId: user, stored: result })
    }
    return { kind: 'rejected', failures: [...failures.values()], wallets }
  }

  async #versionsOf(users: readonly UserId[]): Promise<Map<UserId, number>> {
    const rows = await this.#connection.db
      .selectFrom('wallets')
      .select(['user_id', 'version'])
      .where('purse', '=', 'main')
      .where('user_id', 'in', [...users])
      .execute()
    return new Map(rows.map((row) => [userId(row.user_id), row.version]))
  }
}

/**
 * Positions of an unknown player, or with quantities that no trade can have. They stay open and unpaid until an
 * operator has corrected them, so that the match can go on without them. Returns their ids.
 */
async function setCorruptAside(tx: Transaction<Database>, matchId: FixtureId): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select p.id from positions p
     where p.match_id = ${matchId}::bigint and p.closed_at is null
       and (${isImpossible} or not exists (select from instruments i where i.id = p.instrument_id and i.match_id = p.match_id))
     limit ${CORRUPT_MAX}::integer`.execute(tx)
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  await sql`
    insert into unpaid_closes (position_id, user_id, purse, amount_micros, at)
      select id, user_id, purse, greatest(1, least(margin_micros, ${MICROS_MAX}::bigint)), now()
        from positions where id = any(${uuids(ids)}::uuid[])
      on conflict do nothing`.execute(tx)
  return ids
}

/** The imbalance is that of the positions which are left, and so is the one that others are leaving from. */
function withoutCorrupt(instruments: readonly Instrument[], positions: readonly Position[]): readonly Instrument[] {
  const exposures = new Map<InstrumentId, number>()
  for (const one of positions) {
    exposures.set(one.instrumentId, (exposures.get(one.instrumentId) ?? 0) + exposureOf(one))
  }
  return instruments.map((one) => {
    const imbalance = lots(exposures.get(one.id) ?? 0)
    const from = one.leavingFrom
    return { ...one, imbalance, leavingFrom: from === null ? null : lots(from + imbalance - one.imbalance) }
  })
}

/** Either one row, or one for each failure and `found` at the end. */
type CommitRow =
  | CommittedRow
  | { readonly verdict: 'fenced' }
  | ({ readonly verdict: 'key_used'; readonly user_id: string } & StoredRow)
  | { readonly verdict: 'insufficient_margin'; readonly user_id: string; readonly balance: number }
  | { readonly verdict: 'position_limit' | 'account_frozen' | 'own_limit'; readonly user_id: string }
  | FoundRow

/** Array literals with one value per wallet, in the order of the arguments. */
interface CommittedRow {
  readonly verdict: 'committed'
  readonly balances: string | null
  readonly margins: string | null
  readonly worths: string | null
  readonly versions: string | null
  readonly lockeds: string | null
}

/**
 * Array literals with one value per wallet: balances, what is locked, in `margins` the numbers of open positions, and
 * in `worths` 1 for the frozen.
 */
interface FoundRow {
  readonly verdict: 'found'
  readonly balances: string | null
  readonly lockeds: string | null
  readonly margins: string | null
  readonly worths: string | null
  /** The owners' own bounds, as a JSON array. */
  readonly result: string | null
}

function walletsFound(changes: readonly WalletChange[], row: FoundRow): WalletFound[] {
  const [balances, lockeds, open, frozen] = [row.balances, row.lockeds, row.margins, row.worths].map(bigintsFrom)
  const bounds = listOf(nullable(readBounds))(JSON.parse(row.result ?? '[]'), 'bounds')
  return changes.map(({ userId: user, purse }, n) => ({
    userId: user,
    purse,
    ...boundsOf(bounds[n]),
    available: money(present(balances?.[n], 'balance') - present(lockeds?.[n], 'locked')),
    openPositions: present(open?.[n], 'open positions'),
    ...(frozen?.[n] === 1 ? { frozen: true } : {}),
  }))
}

const boundsOf = (bounds: OwnBounds | null | undefined) => (bounds === null || bounds === undefined ? {} : { bounds })

type WalletWritten = VersionedBalance &
  WalletKey<UserId> &
  Pick<WalletAfter, 'marginUsed' | 'locked'> & { readonly unrealizedPnl: Money | null }

/** The fast store holds the balances of main wallets only: no other program reads or writes the others. */
const isCached = ({ purse }: WalletKey<UserId>): boolean => purse === 'main'

/** Unrealised PnL is null for wallets that the batch does not watch. */
function walletsAfter(wallets: readonly WalletChange[], row: CommittedRow): WalletWritten[] {
  const [balances, margins, worths, versions, lockeds] = [
    bigintsFrom(row.balances),
    bigintsFrom(row.margins),
    bigintsFrom(row.worths),
    bigintsFrom(row.versions),
    bigintsFrom(row.lockeds),
  ]
  return wallets.map(({ userId: user, purse }, n) => {
    const worth = worths[n] ?? null
    return {
      userId: user,
      purse,
      balance: money(present(balances[n], 'balance')),
      marginUsed: money(present(margins[n], 'margin')),
      locked: money(present(lockeds[n], 'locked')),
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
    leavingFrom: row.leaving_from_micros === null ? null : lots(row.leaving_from_micros),
    settlement: row.settlement_micros === null ? null : price(row.settlement_micros),
  }
}
