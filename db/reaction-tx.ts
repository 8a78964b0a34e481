/**
 * What reactions read and write, within the transaction that moves the cursor of the outbox: the reactions to a commit
 * have happened exactly once, or not yet. Every row also has a name of its own, so a rebuild from the history writes
 * nothing twice.
 */
import { type Insertable, type Selectable, sql, type Transaction } from 'kysely'
import { present } from '../actors/kernel/assert.ts'
import {
  type DistrictId,
  districtId,
  type InstrumentId,
  instrumentId,
  type UserId,
  userId,
} from '../actors/kernel/ids.ts'
import { DRAW_PLAYERS_MAX, REFERRAL_REWARD } from '../actors/kernel/limits.ts'
import { money, type Money } from '../actors/kernel/micros.ts'
import type { Instant, World } from '../actors/kernel/world.ts'
import type { Badge } from '../actors/community/badges.ts'
import type { Career } from '../actors/community/career.ts'
import type { Credit, Headline, Notice } from '../actors/community/notices.ts'
import type { Week } from '../actors/community/spinner.ts'
import { bigints, booleans, integers, texts, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import { careerFrom } from './career-rows.ts'
import type { CareersTable } from './postgres/schema/community.ts'
import type { VersionedBalance, WalletCache } from './wallet-cache.ts'

/** A stored notification. */
export interface Notification extends Omit<Notice, 'source' | 'at'> {
  readonly id: number
  readonly createdAt: Instant
  readonly read: boolean
}

export interface KnownUser {
  readonly districtId: DistrictId
  readonly career: Career
}

/** What a user closed of the positions opened in a week, in all matches or in real ones alone. */
export interface WeekShare {
  readonly week: string
  readonly live: boolean
  readonly userId: UserId
  readonly closed: number
  readonly wins: number
  readonly pnl: Money
  readonly baseMoves: Money
  readonly margin: Money
  readonly players: readonly InstrumentId[]
}

export class ReactionTx {
  readonly #tx: Transaction<Database>
  readonly #cache: WalletCache
  readonly #world: Pick<World, 'newId'>
  /** Changed balances, to be cached after the commit. */
  readonly balances: VersionedBalance[] = []
  /** Written notifications, to be published after the commit. */
  readonly notifications: Notification[] = []

  constructor(tx: Transaction<Database>, cache: WalletCache, world: Pick<World, 'newId'>) {
    this.#tx = tx
    this.#cache = cache
    this.#world = world
  }

  /** The referrers of those users for whom they have not been credited yet. */
  async uncredited(users: readonly UserId[]): Promise<readonly Credit[]> {
    const rows = await this.#tx
      .selectFrom('referrals')
      .innerJoin('users', 'users.id', 'referrals.referee_id')
      .select(['referrer_id', 'referee_id', 'username'])
      .where('referee_id', 'in', [...users])
      .where('credited_at', 'is', null)
      .execute()
    return rows.map((row) => ({
      referrerId: userId(row.referrer_id),
      refereeId: userId(present(row.referee_id, 'referee')),
      refereeName: row.username,
      reward: REFERRAL_REWARD,
    }))
  }

  /**
   * The careers of these users, locked in the order of ids: reactions to matches that share users wait and never
   * deadlock.
   */
  async lockUsers(users: readonly UserId[]): Promise<ReadonlyMap<UserId, KnownUser>> {
    const ids = uuids(users.toSorted())
    await sql`insert into careers (user_id) select unnest(${ids}::uuid[]) on conflict do nothing`.execute(this.#tx)
    const { rows } = await sql<Selectable<CareersTable> & { district_id: number }>`
      select c.*, u.district_id from careers c join users u on u.id = c.user_id
       where c.user_id = any(${ids}::uuid[]) order by c.user_id for update of c`.execute(this.#tx)
    return new Map(
      rows.map((row) => [userId(row.user_id), { districtId: districtId(row.district_id), career: careerFrom(row) }]),
    )
  }

  /** How many credits each of these referrers has had in a week. Their careers must be locked. */
  async creditsIn(week: Week, referrers: readonly UserId[]): Promise<ReadonlyMap<UserId, number>> {
    const { rows } = await sql<{ referrer_id: string; credits: number }>`
      select referrer_id, count(*) as credits from referrals
       where referrer_id = any(${uuids(referrers)}::uuid[])
         and credited_at >= ${new Date(week.startsAt)}::timestamptz and credited_at < ${new Date(week.endsAt)}::timestamptz
       group by referrer_id`.execute(this.#tx)
    return new Map(rows.map((row) => [userId(row.referrer_id), row.credits]))
  }

  /** Records the days on which these users opened or closed positions, and returns the users of those that are new. */
  async addDays(
    what: 'open' | 'close',
    days: readonly { readonly userId: UserId; readonly day: number }[],
  ): Promise<readonly UserId[]> {
    if (days.length === 0) return []
    const { rows } = await sql<{ user_id: string }>`
      insert into trade_days (user_id, day, what)
        select t.*, ${what}::text
          from unnest(${uuids(days.map((d) => d.userId))}::uuid[], ${integers(days.map((d) => d.day))}::integer[]) t
        on conflict do nothing returning user_id`.execute(this.#tx)
    return rows.map((row) => userId(row.user_id))
  }

  async instrumentNames(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, string>> {
    if (ids.length === 0) return new Map()
    const rows = await this.#tx
      .selectFrom('instruments')
      .select(['id', 'name'])
      .where('id', 'in', [...ids])
      .execute()
    return new Map(rows.map((row) => [instrumentId(row.id), row.name]))
  }

  /** Writes the careers. Places on the boards are updated later. */
  async saveCareers(careers: ReadonlyMap<UserId, Career>): Promise<void> {
    const users = [...careers.keys()]
    const all = [...careers.values()]
    const column = (of: (career: Career) => number) => bigints(all.map(of))
    const time = (of: (career: Career) => Instant | null) => bigints(all.map(of))
    await sql`
      with given as (
        select * from unnest(
          ${uuids(users)}::uuid[], ${column((c) => c.opened)}::integer[],
          ${column((c) => c.all.closed)}::integer[], ${column((c) => c.all.wins)}::integer[],
          ${column((c) => c.all.pnl)}::bigint[], ${column((c) => c.all.baseMoves)}::bigint[],
          ${column((c) => c.all.margin)}::bigint[], ${time((c) => c.all.firstTradeAt)}::bigint[],
          ${column((c) => c.live.closed)}::integer[], ${column((c) => c.live.wins)}::integer[],
          ${column((c) => c.live.pnl)}::bigint[], ${column((c) => c.live.baseMoves)}::bigint[],
          ${column((c) => c.live.margin)}::bigint[], ${time((c) => c.live.firstTradeAt)}::bigint[],
          ${column((c) => c.won)}::bigint[], ${column((c) => c.bestWin)}::bigint[],
          ${column((c) => c.largestLots)}::bigint[], ${column((c) => c.shortWins)}::integer[],
          ${column((c) => c.takeProfits)}::integer[], ${column((c) => c.stopLosses)}::integer[],
          ${column((c) => c.washouts)}::integer[], ${column((c) => c.settled)}::integer[],
          ${column((c) => c.days)}::integer[], ${column((c) => c.closeDays)}::integer[],
          ${column((c) => c.referrals)}::integer[], ${column((c) => c.xp)}::integer[])
        t (user_id, opened, closed, wins, pnl, base_moves, margin, first_at, live_closed, live_wins, live_pnl,
           live_base_moves, live_margin, live_first_at, won, best_win, largest_lots, short_wins, take_profits,
           stop_losses, washouts, settled, days, close_days, referrals, xp)
      ), saved as (
        update careers c
           set version = c.version + 1, opened = t.opened, closed = t.closed, wins = t.wins, pnl_micros = t.pnl,
               base_moves_micros = t.base_moves, margin_micros = t.margin, first_trade_at = to_timestamp(t.first_at / 1000.0),
               live_closed = t.live_closed, live_wins = t.live_wins, live_pnl_micros = t.live_pnl,
               live_base_moves_micros = t.live_base_moves, live_margin_micros = t.live_margin,
               live_first_trade_at = to_timestamp(t.live_first_at / 1000.0),
               won_micros = t.won, best_win_micros = t.best_win, largest_lots_micros = t.largest_lots,
               short_wins = t.short_wins, take_profits = t.take_profits, stop_losses = t.stop_losses,
               washouts = t.washouts, settled = t.settled, days = t.days, close_days = t.close_days,
               referrals = t.referrals, xp = t.xp
          from given t where c.user_id = t.user_id
        returning c.user_id, c.version, c.closed, c.xp
      ), grown as (
        update users u set xp = s.xp from saved s where u.id = s.user_id and u.xp <> s.xp
      )
      insert into board_changes (user_id, version) select user_id, version from saved where closed > 0
        on conflict (user_id) do update set version = excluded.version`.execute(this.#tx)
  }

  /** Adds to what users closed of a week. Their careers must be locked. */
  async addWeeks(shares: readonly WeekShare[]): Promise<void> {
    if (shares.length === 0) return
    const before = await this.#weeks(shares)
    const now = shares.map((share) => {
      const old = before.get(weekKey(share))
      return old === undefined
        ? share
        : {
            ...share,
            closed: old.closed + share.closed,
            wins: old.wins + share.wins,
            pnl: money(old.pnl_micros + share.pnl),
            baseMoves: money(old.base_moves_micros + share.baseMoves),
            margin: money(old.margin_micros + share.margin),
            players: [...old.players.map(instrumentId), ...share.players],
          }
    })
    await sql`
      insert into week_scores (week, live, user_id, closed, wins, pnl_micros, base_moves_micros, margin_micros, players)
        select t.week, t.live, t.id, t.closed, t.wins, t.pnl, t.base_moves, t.margin, string_to_array(t.players, ',')::uuid[]
          from unnest(
          ${texts(now.map((s) => s.week))}::text[], ${booleans(now.map((s) => s.live))}::boolean[],
          ${uuids(now.map((s) => s.userId))}::uuid[], ${integers(now.map((s) => s.closed))}::integer[],
          ${integers(now.map((s) => s.wins))}::integer[], ${bigints(now.map((s) => s.pnl))}::bigint[],
          ${bigints(now.map((s) => s.baseMoves))}::bigint[], ${bigints(now.map((s) => s.margin))}::bigint[],
          ${texts(now.map((s) => firstPlayers(s.players).join()))}::text[])
          t (week, live, id, closed, wins, pnl, base_moves, margin, players)
        on conflict (week, live, user_id) do update
           set closed = excluded.closed, wins = excluded.wins, pnl_micros = excluded.pnl_micros,
               base_moves_micros = excluded.base_moves_micros, margin_micros = excluded.margin_micros,
               players = excluded.players`.execute(this.#tx)
  }

  async #weeks(shares: readonly WeekShare[]) {
    const rows = await this.#tx
      .selectFrom('week_scores')
      .selectAll()
      .where('week', 'in', [...new Set(shares.map((share) => share.week))])
      .where('user_id', 'in', [...new Set(shares.map((share) => share.userId))])
      .execute()
    return new Map(rows.map((row) => [weekKey({ ...row, userId: userId(row.user_id) }), row]))
  }

  /** Awards badges and returns those that are new. */
  async addBadges(badges: readonly { userId: UserId; badge: Badge; at: Instant }[]): Promise<ReadonlySet<string>> {
    if (badges.length === 0) return new Set()
    const rows = await this.#tx
      .insertInto('user_badges')
      .values(
        badges.map(({ userId: user, badge, at }) => ({ user_id: user, badge: badge.id, earned_at: new Date(at) })),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning(['user_id', 'badge'])
      .execute()
    return new Set(rows.map((row) => `${row.user_id}:${row.badge}`))
  }

  /** Writes the notices whose sources are new. */
  async notify(notices: readonly Notice[]): Promise<void> {
    this.notifications.push(...(await insertNotices(this.#tx, notices)))
  }

  /** Writes the headlines whose sources are new, in the district of their user. */
  async publish(headlines: readonly Headline[], districtOf: (user: UserId) => DistrictId): Promise<void> {
    await insertHeadlines(
      this.#tx,
      headlines.map((headline) => ({ ...headline, districtId: districtOf(headline.userId) })),
    )
  }

  /**
   * Pays referrers, each for one referee, in ledger transactions that sum to zero. A balance changed from outside in
   * the fast store is adopted first, as in a match's commit. Wallets stay locked until the transaction ends, so call it
   * last.
   */
  async credit(credits: readonly Credit[], at: Instant): Promise<void> {
    if (credits.length === 0) return
    const referrers = [...new Set(credits.map((credit) => credit.referrerId))].toSorted()
    const wallets = await this.#tx
      .selectFrom('wallets')
      .select(['user_id', 'balance_micros', 'version'])
      .where('user_id', 'in', referrers)
      .orderBy('user_id')
      .forNoKeyUpdate()
      .execute()
    const versions = new Map(wallets.map((row) => [userId(row.user_id), row.version]))
    const cached = await this.#cache.claim(referrers, async () => versions)
    const entries: LedgerRow[] = []
    for (const wallet of wallets) {
      const user = userId(wallet.user_id)
      const shown = cached.find((one) => one.userId === user && one.version === wallet.version)
      const adopted = shown === undefined ? 0 : shown.balance - wallet.balance_micros
      if (adopted !== 0) {
        entries.push(...this.#booking({ user, amount: adopted, kind: 'external_adjustment', at }))
      }
      const own = credits.filter((credit) => credit.referrerId === user)
      for (const { refereeId, reward } of own) {
        entries.push(...this.#booking({ user, amount: reward, kind: 'referral', reference: refereeId, at }))
      }
      const balance = money(wallet.balance_micros + adopted + own.reduce((sum, { reward }) => sum + reward, 0))
      const version = wallet.version + 1
      await this.#tx
        .updateTable('wallets')
        .set({ balance_micros: balance, version })
        .where('user_id', '=', user)
        .execute()
      this.balances.push({ userId: user, balance, version })
    }
    await this.#tx.insertInto('ledger_entries').values(entries).execute()
    for (const { refereeId, reward } of credits) {
      await this.#tx
        .updateTable('referrals')
        .set({ credited_at: new Date(at), reward_micros: reward })
        .where('referee_id', '=', refereeId)
        .execute()
    }
  }

  #booking(of: {
    user: UserId
    amount: number
    kind: LedgerRow['kind']
    reference?: string
    at: Instant
  }): LedgerRow[] {
    const tx = this.#world.newId()
    const both = { tx, kind: of.kind, reference: of.reference ?? tx, at: new Date(of.at) }
    return [
      { ...both, account: 'user', user_id: of.user, amount_micros: of.amount },
      { ...both, account: 'house', amount_micros: -of.amount },
    ]
  }
}

type LedgerRow = Insertable<Database['ledger_entries']>

const weekKey = (of: Pick<WeekShare, 'week' | 'live' | 'userId'>): string => `${of.week}:${of.live}:${of.userId}`

/** Different ones, in an order that does not depend on which came first. */
const firstPlayers = (players: readonly InstrumentId[]): readonly InstrumentId[] =>
  [...new Set(players)].toSorted().slice(0, DRAW_PLAYERS_MAX)

/** Writes the notices whose sources are new, and returns them as stored. */
export async function insertNotices(tx: Transaction<Database>, notices: readonly Notice[]): Promise<Notification[]> {
  if (notices.length === 0) return []
  const rows = await tx
    .insertInto('notifications')
    .values(
      notices.map((notice) => ({
        user_id: notice.userId,
        type: notice.type,
        title: notice.title,
        body: notice.body,
        data: JSON.stringify(notice.data),
        source: notice.source,
        created_at: new Date(notice.at),
      })),
    )
    .onConflict((conflict) => conflict.column('source').doNothing())
    .returning(['id', 'source'])
    .execute()
  const ids = new Map(rows.map((row) => [row.source, row.id]))
  return notices.flatMap(({ source, at, ...notice }) => {
    const id = ids.get(source)
    ids.delete(source)
    return id === undefined ? [] : [{ ...notice, id, createdAt: at, read: false }]
  })
}

/** Writes the headlines whose sources are new. */
export async function insertHeadlines(
  tx: Transaction<Database>,
  headlines: readonly (Headline & { readonly districtId: DistrictId })[],
): Promise<void> {
  if (headlines.length === 0) return
  await tx
    .insertInto('activity')
    .values(
      headlines.map((headline) => ({
        user_id: headline.userId,
        district_id: headline.districtId,
        type: headline.type,
        text: headline.text,
        data: JSON.stringify(headline.data),
        source: headline.source,
        at: new Date(headline.at),
      })),
    )
    .onConflict((conflict) => conflict.column('source').doNothing())
    .execute()
}
