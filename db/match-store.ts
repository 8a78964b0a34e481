/** MatchStore on PostgreSQL: loads a match, and commits its batches. */
import { assert, present } from '../actors/kernel/assert.ts'
import {
  type FixtureId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  type UserId,
  userId,
} from '../actors/kernel/ids.ts'
import { type Money, money, mulDivNearest, price } from '../actors/kernel/micros.ts'
import { listOf, nullable } from '../actors/kernel/read.ts'
import { type OwnBounds, readBounds } from '../actors/kernel/own-limits.ts'
import type { WalletKey } from '../actors/kernel/purse.ts'
import type { IdempotencyKey, WalletAfter } from '../actors/match/messages.ts'
import type { World } from '../actors/kernel/world.ts'
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
import { findResult, restoreResults } from './command-results.ts'
import type { WalletOf } from './commit-arguments.ts'
import {
  type CommitConnection,
  CommitGroups,
  type CommitRow,
  type CommittedRow,
  type FoundRow,
} from './commit-groups.ts'
import { JournalWriter } from './journal-codec.ts'
import { readMatchRows, recordFrom, rescuedRecordFrom } from './match-record.ts'
import { endOfTape } from './public-tape.ts'
import { noteQuarantine, release } from './quarantine.ts'
import { TapeWriter } from './tape-writer.ts'
import { type WalletChange, walletChanges } from './wallet-changes.ts'
import { bigintsFrom } from './postgres/arrays.ts'
import type { Connection } from './postgres/connection.ts'
import type { VersionedBalance, WalletCache } from './wallet-cache.ts'

export class SqlMatchStore implements MatchStore {
  readonly #connection: Pick<Connection, 'db'>
  readonly #groups: CommitGroups
  readonly #cache: WalletCache
  readonly #journal = new JournalWriter()
  readonly #tape: TapeWriter
  readonly #world: Pick<World, 'now'>

  constructor(
    connection: Pick<Connection, 'db'> & CommitConnection,
    cache: WalletCache,
    world: Pick<World, 'secret' | 'now'>,
  ) {
    this.#world = world
    this.#connection = connection
    this.#groups = new CommitGroups(connection)
    this.#cache = cache
    this.#tape = new TapeWriter((matchId) => endOfTape(connection.db, matchId), world)
  }

  async load(matchId: FixtureId): Promise<MatchRecord | null> {
    const rows = await readMatchRows(this.#connection.db, matchId, this.#world.now())
    if (rows === null) return null
    const record = recordFrom(rows)
    // An operator has repaired it.
    if (rows.match.quarantine !== null) await release(this.#connection.db, matchId)
    return record
  }

  /** The match as far as it can be read. Notes why it cannot, and tells the holders of its positions, each once. */
  async quarantine(matchId: FixtureId, reason: string): Promise<MatchRecord | null> {
    const rows = await readMatchRows(this.#connection.db, matchId, this.#world.now())
    if (rows === null) return null
    const record = rescuedRecordFrom(rows, reason)
    await noteQuarantine(this.#connection.db, { info: record.info, reason, at: this.#world.now() })
    return record
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
    const { rows, wallets: all, of } = await this.#groups.commit({ batch, wallets, cached, journal, tape })
    const [first] = rows
    if (first?.verdict === 'fenced') return { kind: 'fenced' }
    if (first?.verdict !== 'committed') return this.#rejection(rows, wallets)
    journal?.keep()
    tape?.keep()
    const after = walletsAfter(all, of, first)
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
      assert(
        row.verdict !== 'committed' && row.verdict !== 'fenced' && row.verdict !== 'split',
        'a batch was turned down and was not',
      )
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

function walletsFound(changes: readonly WalletChange[], row: FoundRow): WalletFound[] {
  const [balances, open, frozen] = [row.balances, row.opens, row.frozens].map(bigintsFrom)
  const lockeds = bigintsFrom(row.lockeds ?? null)
  const bounds = listOf(nullable(readBounds))(JSON.parse(row.result ?? '[]'), 'bounds')
  return changes.map(({ userId: user, purse }, n) => ({
    userId: user,
    purse,
    ...boundsOf(bounds[n]),
    available: money(present(balances?.[n], 'balance') - (lockeds[n] ?? 0)),
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

/** Those of one batch of a group. Unrealised PnL is null for wallets that it does not watch. */
function walletsAfter(all: readonly WalletOf[], batch: number, row: CommittedRow): WalletWritten[] {
  const [balances, margins, worths, versions] = [
    bigintsFrom(row.balances),
    bigintsFrom(row.margins),
    bigintsFrom(row.worths),
    bigintsFrom(row.versions),
  ]
  const lockeds = bigintsFrom(row.lockeds ?? null)
  return all.flatMap(({ change: { userId: user, purse }, of }, n) => {
    if (of !== batch) return []
    const [worth, locked] = [worths[n] ?? null, lockeds[n] ?? 0]
    return {
      userId: user,
      purse,
      balance: money(present(balances[n], 'balance')),
      marginUsed: money(present(margins[n], 'margin')),
      ...(locked === 0 ? {} : { locked: money(locked) }),
      unrealizedPnl: worth === null ? null : money(worth),
      version: present(versions[n], 'version'),
    }
  })
}
