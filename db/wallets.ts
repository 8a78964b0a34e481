/** Reads wallets and audits the ledger. Nothing here changes a balance. */
import { type Kysely, sql } from 'kysely'
import { assert, present } from '../actors/kernel/assert.ts'
import { type FixtureId, type InstrumentId, type PositionId, positionId, type UserId } from '../actors/kernel/ids.ts'
import { lots, type Money, money, price } from '../actors/kernel/micros.ts'
import { type Instant, instant, MINUTE_MS } from '../actors/kernel/world.ts'
import { readBounds } from '../actors/kernel/own-limits.ts'
import { type CommonPurse, type Purse, PURSES } from '../actors/kernel/purse.ts'
import type { WalletAfter } from '../actors/match/messages.ts'
import type { QuoteQuery } from '../actors/match/quotes.ts'
import { realisedPnl } from '../actors/position/position.ts'
import { exitPriceFrom, type PositionRow, PRICE_COLUMNS, type PriceRow } from './positions.ts'
import { texts } from './postgres/arrays.ts'
import { rule } from './postgres/rules.ts'
import { IS_DETACHED } from './months.ts'
import type { Database } from './postgres/schema.ts'
import type { LedgerKind } from './postgres/schema/money.ts'
import type { WalletCache } from './wallet-cache.ts'

/** Longer than a replica that is read can be behind another. */
const REPLICAS_APART_MS = 5 * MINUTE_MS

/** The books of one purse, or of all leagues. */
export interface PurseAudit {
  readonly purse: CommonPurse | 'leagues'
  readonly wallets: number
  /**
   * Σ of all entries of the purse, in micros. Anything but 0 means that money has appeared, vanished or changed purses.
   */
  readonly imbalanceMicros: number
}

export interface LedgerAudit {
  readonly wallets: number
  /** Σ of all entries of all accounts, in micros. Anything but 0 means that money has appeared or vanished. */
  readonly imbalanceMicros: number
  /** Per purse. */
  readonly purses: readonly PurseAudit[]
  /** Transactions whose own entries do not sum to zero in each purse. */
  readonly unbalancedTransactions: number
  /** Wallets whose balance is not the sum of their entries. */
  readonly mismatchedWallets: number
}

/** One change of a user's balance. */
export interface LedgerEntry {
  readonly kind: LedgerKind
  /** Signed: negative when it left the wallet. */
  readonly amount: Money
  /** The position whose margin left, or came back with its PnL; null for other entries. */
  readonly positionId: PositionId | null
  readonly at: Instant
  readonly key: LedgerKey
}

/** The place of an entry in its list: its time in µs, its marker or 0, its reference, its kind. All descend. */
export type LedgerKey = readonly [atMicros: number, marker: number, reference: string, kind: string]

/** Entries of a statement that are read at a time. Each time all entries of the user are sorted. */
const PAGE_MAX = 10_000

export interface LedgerQuery {
  readonly purse: Purse
  /** Of positions in this match, and in this player. */
  readonly matchId?: FixtureId | undefined
  readonly instrumentId?: InstrumentId | undefined
  /** Booked at this time or later. */
  readonly from?: Instant | undefined
  /** Booked before this time. */
  readonly to?: Instant | undefined
  /** The entries after this one. */
  readonly after?: LedgerKey | undefined
  readonly limit: number
  /** How many of the newest to skip. */
  readonly offset: number
}

/** The current state of a wallet. */
export interface WalletNow extends WalletAfter {
  readonly purse: Purse
  /** The open positions of the purse, in all matches. */
  readonly openPositions: number
}

const ZERO = sql<number>`0::bigint`

/** Kinds of entries whose reference is a position. */
const OF_POSITIONS: ReadonlySet<LedgerKind> = new Set(['margin', 'release', 'moved', 'void', 'void_shortfall'])

export class Wallets {
  readonly #db: Kysely<Database>
  readonly #reads: Kysely<Database>
  readonly #cache: WalletCache
  readonly #isProtected: () => boolean

  /** `reads` may be seconds old. `isProtected`: whether closes that news may still move hold back what they paid. */
  constructor(db: Kysely<Database>, cache: WalletCache, reads = db, isProtected = () => false) {
    this.#db = db
    this.#reads = reads
    this.#cache = cache
    this.#isProtected = isProtected
  }

  /**
   * A user's wallet as of one snapshot, or null. Unrealised PnL is what closing everything now would pay: each position
   * rounded down and never below its margin. A balance of the main purse that was changed from outside in the fast
   * store at the current version takes precedence (specification 2.3).
   */
  async find(user: UserId, purse: Purse = 'main'): Promise<WalletNow | null> {
    // The cache first: the database is then as new or newer, never older.
    const [cached] = purse === 'main' ? await this.#cache.read([user]) : []
    const rows = await this.#db
      .selectFrom('wallets')
      .leftJoin('positions', (on) =>
        on
          .onRef('positions.user_id', '=', 'wallets.user_id')
          .onRef('positions.purse', '=', 'wallets.purse')
          .on('positions.closed_at', 'is', null),
      )
      .leftJoin('instruments', 'instruments.id', 'positions.instrument_id')
      .select(['balance_micros', 'wallets.margin_micros as margin_used', 'open_positions', 'version'])
      .select(['sign', 'lots_micros', 'open_micros', 'positions.margin_micros'])
      .select(PRICE_COLUMNS)
      .select(this.#heldBack())
      .where('wallets.user_id', '=', user)
      .where('wallets.purse', '=', purse)
      .execute()
    const [wallet] = rows
    if (wallet === undefined) return null
    // A position whose instrument has no row cannot be priced. Its owner must still see the wallet.
    const priced = rows.filter(isPriced)
    return {
      purse,
      balance: this.#cache.inForce(cached, wallet),
      ...(wallet.locked > 0 ? { locked: money(wallet.locked) } : {}),
      marginUsed: money(wallet.margin_used),
      unrealizedPnl: money(priced.reduce((sum, row) => sum + unrealizedPnl(row, purse), 0)),
      openPositions: wallet.open_positions,
    }
  }

  /** What a user has to open positions with, in each purse. A balance changed from outside counts as in `find`. */
  async means(user: UserId): Promise<QuoteQuery['means']> {
    const [cached] = await this.#cache.read([user])
    const rows = await this.#db
      .selectFrom('wallets')
      .select(['purse', 'balance_micros', 'open_positions', 'version', 'frozen', BOUNDS, this.#heldBack()])
      .where('user_id', '=', user)
      .execute()
    return Object.fromEntries(
      rows.map(({ purse, balance_micros, open_positions: openPositions, version, frozen, bounds, locked }) => {
        const balance = purse === 'main' ? this.#cache.inForce(cached, { balance_micros, version }) : balance_micros
        const available = money(Math.max(0, balance - locked))
        return [purse, { available, openPositions, ...(frozen ? { frozen } : {}), ...boundsOf(bounds) }]
      }),
    )
  }

  /** What of a wallet opens nothing yet. */
  #heldBack() {
    const held = this.#isProtected()
      ? sql<number>`${rule('unsettled_proceeds')}(wallets.user_id, wallets.purse, now())`
      : ZERO
    return held.as('locked')
  }

  /** The entries of a user's account in a purse, newest first. */
  async ledger(user: UserId, query: LedgerQuery): Promise<readonly LedgerEntry[]> {
    const { purse, matchId, instrumentId, from, to, after, limit, offset } = query
    const atMicros = sql<number>`(extract(epoch from at) * 1000000)::bigint`
    // Entries without a marker were booked before the trades of their transaction.
    const marker = sql<number>`coalesce(marker, 0)`
    const ofPosition = sql<boolean>`exists (select from all_positions p where p.id = reference
      and (${matchId ?? null}::bigint is null or p.match_id = ${matchId ?? null}::bigint)
      and (${instrumentId ?? null}::uuid is null or p.instrument_id = ${instrumentId ?? null}::uuid))`
    const rows = await (
      await this.#ledgerOf(user, after)
    )
      .selectFrom('ledger_entries')
      .select(['kind', 'amount_micros', 'reference', 'at', atMicros.as('at_micros'), marker.as('place')])
      .where('user_id', '=', user)
      .where('purse', '=', purse)
      .$if(matchId !== undefined || instrumentId !== undefined, (entries) => entries.where(ofPosition))
      .$if(from !== undefined, (entries) => entries.where('at', '>=', new Date(Number(from))))
      .$if(to !== undefined, (entries) => entries.where('at', '<', new Date(Number(to))))
      .$if(after !== undefined, (entries) =>
        entries.where(
          sql<boolean>`(${atMicros}, ${marker}, reference, kind collate "C")
            < (${after?.[0]}::bigint, ${after?.[1]}::bigint, ${after?.[2]}::uuid, ${after?.[3]}::text collate "C")`,
        ),
      )
      .orderBy('at', 'desc')
      .orderBy(marker, 'desc')
      .orderBy('reference', 'desc')
      .orderBy(sql`kind collate "C"`, 'desc')
      .limit(limit)
      .offset(offset)
      .execute()
    return rows.map(({ kind, amount_micros, reference, at, at_micros, place }) => {
      assert(kind !== 'batch', `${user} has an entry that only the house can have`)
      return {
        kind,
        amount: money(amount_micros),
        positionId: OF_POSITIONS.has(kind) ? positionId(reference) : null,
        at: instant(at.getTime()),
        key: [at_micros, place, reference, kind],
      }
    })
  }

  /** All entries of a user's account in a purse, newest first, some thousand at a time. */
  async *ledgerPages(
    user: UserId,
    stretch: Pick<LedgerQuery, 'purse' | 'from' | 'to'>,
  ): AsyncGenerator<readonly LedgerEntry[]> {
    for (let after: LedgerKey | undefined, isMore = true; isMore;) {
      const entries = await this.ledger(user, { ...stretch, after, limit: PAGE_MAX, offset: 0 })
      yield entries
      after = entries.at(-1)?.key
      isMore = entries.length === PAGE_MAX
    }
  }

  /**
   * Entries are never changed. The first page has all of them by now; the others may be read wherever the entry is that
   * they continue from, since what was booked before it is there as well.
   */
  async #ledgerOf(user: UserId, after: LedgerQuery['after']): Promise<Kysely<Database>> {
    if (after === undefined || this.#reads === this.#db) return this.#db
    const [, , reference, kind] = after
    const known = await this.#reads
      .selectFrom('ledger_entries')
      .select('tx')
      .where('user_id', '=', user)
      .where('reference', '=', reference)
      .where(sql<boolean>`kind = ${kind}::text`)
      .limit(1)
      .executeTakeFirst()
    return known === undefined ? this.#db : this.#reads
  }

  /**
   * Compares every wallet with the sum of its entries: those of closed stretches by their sums, those since one by one.
   * With `whole`, every entry is added up, and the sums of closed stretches are checked besides: that takes minutes for
   * a large ledger, longer than the statements of a server may take.
   */
  async auditLedger({ whole = false }: { readonly whole?: boolean } = {}): Promise<LedgerAudit> {
    const since = whole ? sql`'-infinity'::timestamptz` : sql`(select until from ledger_closed)`
    // Implied. It tells the planner how little is open: else it reads the whole ledger.
    const from = sql<string>`${whole ? '-infinity' : await this.#beforeClosed()}::timestamptz`
    // What is closed counts unless all of it is added up again.
    const share = whole ? 0 : 1
    const [{ rows: purses }, { rows }] = await Promise.all([
      sql<PurseAudit>`
        with sums as (
          select purse_group(purse) as purse, sum(amount_micros) as total from ledger_entries
           where at >= ${since} and at >= ${from} group by 1
        ), counts as (
          select purse_group(purse) as purse, count(*) as wallets from wallets group by 1
        )
        select p.purse, coalesce(wallets, 0)::bigint as wallets,
               (coalesce(total, 0) + ${share}::integer
                 * case p.purse when 'main' then main_micros when 'practice' then practice_micros
                                else leagues_micros end
               + coalesce((select sum(case p.purse when 'main' then main_micros when 'practice' then practice_micros
                                                   else leagues_micros end)
                             from detached_months d where ${share}::integer = 0 and ${IS_DETACHED}), 0))::bigint
               as "imbalanceMicros"
          from ledger_closed cross join unnest(${texts([...PURSES, 'leagues'])}::text[]) with ordinality p (purse, n)
          left join counts on counts.purse = p.purse left join sums on sums.purse = p.purse order by n`.execute(
        this.#reads,
      ),
      sql<Pick<LedgerAudit, 'unbalancedTransactions' | 'mismatchedWallets'>>`
        with since as materialized (
          select tx, user_id, purse, amount_micros, at from ledger_entries
           where at >= ${since} and at >= ${from}
        ), detached as (
          select user_id, purse, amount_micros from detached_balances d where ${share}::integer = 0 and ${IS_DETACHED}
        ), by_wallet as (
          select user_id, purse, sum(amount_micros) as total from (
            select user_id, purse, amount_micros from since where user_id is not null
            union all
            select user_id, purse, amount_micros from closed_balances where ${share}::integer = 1
            union all
            select user_id, purse, amount_micros from detached
          ) e group by user_id, purse
        ), by_tx as (
          select tx from since group by tx, purse having sum(amount_micros) <> 0
        ), closed as (
          select user_id, purse, sum(amount_micros) as total from (
            select user_id, purse, amount_micros from since
             where ${share}::integer = 0 and user_id is not null and at < (select until from ledger_closed)
            union all
            select user_id, purse, amount_micros from detached
          ) e group by user_id, purse
        )
        select
          (select count(distinct tx) from by_tx) + (select ${share}::integer * unbalanced from ledger_closed)
            + coalesce((select sum(d.unbalanced)::bigint from detached_months d where ${share}::integer = 0 and ${IS_DETACHED}), 0)
            as "unbalancedTransactions",
          (select count(*) from wallets full join by_wallet using (user_id, purse)
            where balance_micros is distinct from coalesce(total, 0))
          + (select count(*) from closed full join closed_balances using (user_id, purse)
              where ${share}::integer = 0 and amount_micros is distinct from total) as "mismatchedWallets"`.execute(
        this.#reads,
      ),
    ])
    const total = (of: (purse: PurseAudit) => number): number => purses.reduce((sum, purse) => sum + of(purse), 0)
    return {
      wallets: total(({ wallets }) => wallets),
      imbalanceMicros: total(({ imbalanceMicros }) => imbalanceMicros),
      purses,
      ...present(rows[0], 'audit'),
    }
  }

  /** Some time before the end of what is closed, which only grows: another replica may be a little behind. */
  async #beforeClosed(): Promise<string> {
    const { rows } = await sql<{ at: string }>`
      select (until - ${REPLICAS_APART_MS}::integer * interval '1 millisecond')::text as at
        from ledger_closed`.execute(this.#reads)
    return present(rows[0], 'row of ledger_closed').at
  }
}

/** What its user allows themselves, by the clock of the database; null without limits. */
const BOUNDS = sql`${rule('own_bounds')}(limits, day, day_result_micros, margin_micros,
  (extract(epoch from now()) * 1000)::bigint)`.as('bounds')

const boundsOf = (bounds: unknown) => (bounds === null ? {} : { bounds: readBounds(bounds, 'bounds') })

type OpenPositionRow = PriceRow & Pick<PositionRow, 'sign' | 'lots_micros' | 'open_micros' | 'margin_micros'>

/** Whether the left joins have found a position and its instrument. */
const isPriced = <Row extends { readonly [Key in keyof OpenPositionRow]: OpenPositionRow[Key] | null }>(
  row: Row,
): row is Row & OpenPositionRow => row.sign !== null && row.price_micros !== null

function unrealizedPnl(row: OpenPositionRow, purse: Purse): number {
  const position = {
    purse,
    direction: row.sign === 1 ? 'long' : 'short',
    lots: lots(row.lots_micros),
    openPrice: price(row.open_micros),
    margin: money(row.margin_micros),
  } as const
  return realisedPnl(position, exitPriceFrom(row, position))
}
