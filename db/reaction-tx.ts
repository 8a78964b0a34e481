/**
 * What reactions read and write, within the transaction that moves the cursor of the outbox: the reactions to a commit
 * have happened exactly once, or not yet. Every row also has a name of its own, so a rebuild from the history writes
 * nothing twice.
 */
import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely'
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
import { MICROS_MAX, money, type Money } from '../actors/kernel/micros.ts'
import type { Instant, World } from '../actors/kernel/world.ts'
import type { Badge } from '../actors/community/badges.ts'
import type { Career } from '../actors/community/career.ts'
import type { Credit, Headline, Notice } from '../actors/community/notices.ts'
import type { ReferralTerms } from '../actors/community/referral.ts'
import type { Week } from '../actors/kernel/calendar.ts'
import { adopted } from './adoption.ts'
import { insertHeadlines, insertNotices, type Notification } from './announcements.ts'
import { bigints, instants, integers, texts, uuids } from './postgres/arrays.ts'
import type { Database } from './postgres/schema.ts'
import { NOTICES_MS } from './retention.ts'
import { VoidReactions } from './void-reactions.ts'
import { careerFrom } from './career-rows.ts'
import type { CareersTable, WeekScoresTable } from './postgres/schema/community.ts'
import type { VersionedBalance, WalletCache } from './wallet-cache.ts'

/** How many more trades of a kind a user made on a day; fewer when some were void. */
export interface UserDay {
  readonly userId: UserId
  readonly day: number
  readonly times: number
}

export interface KnownUser {
  readonly districtId: DistrictId
  /** On no board and in no activity. */
  readonly offBoards: boolean
  readonly career: Career
}

/** What a user closed of the positions of the main purse opened in a week. */
export interface WeekShare {
  readonly week: string
  readonly userId: UserId
  readonly closed: number
  readonly wins: number
  readonly pnl: Money
  readonly baseMoves: Money
  readonly margin: Money
  readonly players: readonly InstrumentId[]
}

/** Referrals in one transaction. */
const CREDITS_MAX = 500

export class ReactionTx {
  readonly voids: VoidReactions
  readonly #tx: Transaction<Database>
  readonly #cache: WalletCache
  readonly #world: Pick<World, 'newId' | 'now'>
  /** Changed balances, to be cached after the commit. */
  readonly balances: VersionedBalance[] = []
  /** Written notifications, to be published after the commit. */
  readonly notifications: Notification[] = []

  constructor(tx: Transaction<Database>, cache: WalletCache, world: Pick<World, 'newId' | 'now'>) {
    this.#tx = tx
    this.voids = new VoidReactions(tx)
    this.#cache = cache
    this.#world = world
  }

  /**
   * The referrers of those users for whom they have not been credited yet. A referrer whose wallet is missing, or too
   * full for the reward, is left out, and so are the frozen on both sides: the credit waits.
   */
  uncredited(users: readonly UserId[]): Promise<readonly Credit[]> {
    return this.#uncredited(sql<boolean>`r.referee_id = any(${uuids(users)}::uuid[])`)
  }

  /**
   * The longest waiting of those that are earned, and whose referrers have room this week. The day of a first trade
   * stays when the trade is void.
   */
  waiting({ closesMin, daysMin, weeklyMax }: ReferralTerms, week: Week): Promise<readonly Credit[]> {
    return this.#uncredited(sql<boolean>`
      exists (select from careers c
               where c.user_id = r.referee_id and c.closed >= ${closesMin}::integer
                 and c.close_days >= ${daysMin}::integer)
      and exists (select from trade_days d where d.user_id = r.referee_id and d.what = 'open')
      and ${weeklyMax}::integer > (select count(*) from referrals p
                                    where p.referrer_id = r.referrer_id
                                      and p.credited_at >= ${new Date(week.startsAt)}::timestamptz)`)
  }

  async #uncredited(among: RawBuilder<boolean>): Promise<readonly Credit[]> {
    const { rows } = await sql<{ referrer_id: string; referee_id: string; username: string }>`
      select r.referrer_id, r.referee_id, u.username
        from referrals r join users u on u.id = r.referee_id and u.status = 'active'
        join users f on f.id = r.referrer_id and f.status = 'active' and f.erased_at is null
        join wallets w on w.user_id = r.referrer_id and w.purse = 'main'
       where r.referee_id is not null and r.credited_at is null and ${among}
         and w.balance_micros <= ${MICROS_MAX - REFERRAL_REWARD}::bigint
       order by r.registered_at, r.id limit ${CREDITS_MAX}::integer`.execute(this.#tx)
    return rows.map((row) => ({
      referrerId: userId(row.referrer_id),
      refereeId: userId(row.referee_id),
      refereeName: row.username,
      reward: REFERRAL_REWARD,
    }))
  }

  /**
   * The careers of these users, locked in the order of ids: reactions to matches that share users wait and never
   * deadlock. Users who no longer exist are left out.
   */
  async lockUsers(users: readonly UserId[]): Promise<ReadonlyMap<UserId, KnownUser>> {
    const ids = uuids(users.toSorted())
    await sql`
      insert into careers (user_id) select id from users where id = any(${ids}::uuid[]) order by id
        on conflict do nothing`.execute(this.#tx)
    const { rows } = await sql<Selectable<CareersTable> & { district_id: number; off_boards: boolean }>`
      select c.*, u.district_id, u.off_boards from careers c join users u on u.id = c.user_id
       where c.user_id = any(${ids}::uuid[]) order by c.user_id for update of c`.execute(this.#tx)
    return new Map(
      rows.map((row) => [
        userId(row.user_id),
        { districtId: districtId(row.district_id), offBoards: row.off_boards, career: careerFrom(row) },
      ]),
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

  /**
   * Counts on which days these users opened or closed positions, and returns by how many days each has gained or lost.
   * One entry per user and day; the users' careers must be locked.
   */
  async addDays(
    what: 'open' | 'close',
    days: readonly UserDay[],
  ): Promise<readonly { readonly userId: UserId; readonly days: number }[]> {
    if (days.length === 0) return []
    const { rows } = await sql<{ user_id: string; day: number; times: number }>`
      insert into trade_days as k (user_id, day, what, times)
        select user_id, day, ${what}::text, times
          from unnest(${uuids(days.map((d) => d.userId))}::uuid[], ${integers(days.map((d) => d.day))}::integer[],
                      ${integers(days.map((d) => d.times))}::integer[]) t (user_id, day, times)
        on conflict (user_id, day, what) do update set times = k.times + excluded.times
        returning user_id, day, times`.execute(this.#tx)
    // Compared here: joined with what was given, a thousand rows cost a million comparisons.
    const added = new Map(days.map((one) => [`${one.userId}:${one.day}`, one.times]))
    const gained = new Map<UserId, number>()
    for (const { user_id: user, day, times } of rows) {
      const before = times - present(added.get(`${user}:${day}`), 'a day')
      const change = Number(times > 0) - Number(before > 0)
      gained.set(userId(user), (gained.get(userId(user)) ?? 0) + change)
    }
    return [...gained].flatMap(([user, change]) => (change === 0 ? [] : [{ userId: user, days: change }]))
  }

  async instrumentNames(ids: readonly InstrumentId[]): Promise<ReadonlyMap<InstrumentId, string>> {
    if (ids.length === 0) return new Map()
    const { rows } = await sql<{ id: string; name: string }>`
      select id, name from instruments where id = any(${uuids(ids)}::uuid[])`.execute(this.#tx)
    return new Map(rows.map((row) => [instrumentId(row.id), row.name]))
  }

  /**
   * Writes the careers, which must be locked. Places on the boards are updated later: those of users who have closed
   * something, and of the `voided`, who may have nothing left there. One statement lists both, in the order in which
   * the boards lock them; with two, a reaction and the boards could wait for each other in a circle.
   */
  async saveCareers(careers: ReadonlyMap<UserId, Career>, voided: readonly UserId[] = []): Promise<void> {
    const users = [...careers.keys()]
    const all = [...careers.values()]
    const column = (of: (career: Career) => number) => bigints(all.map(of))
    const time = (of: (career: Career) => Instant | null) => bigints(all.map(of))
    await sql`
      with given as (
        select * from unnest(
          ${uuids(users)}::uuid[], ${column((c) => c.opened)}::integer[],
          ${column((c) => c.main.closed)}::integer[], ${column((c) => c.main.wins)}::integer[],
          ${column((c) => c.main.pnl)}::bigint[], ${column((c) => c.main.baseMoves)}::bigint[],
          ${column((c) => c.main.margin)}::bigint[], ${time((c) => c.main.firstTradeAt)}::bigint[],
          ${column((c) => c.practice.closed)}::integer[], ${column((c) => c.practice.wins)}::integer[],
          ${column((c) => c.practice.pnl)}::bigint[], ${column((c) => c.practice.baseMoves)}::bigint[],
          ${column((c) => c.practice.margin)}::bigint[], ${time((c) => c.practice.firstTradeAt)}::bigint[],
          ${column((c) => c.won)}::bigint[], ${column((c) => c.bestWin)}::bigint[],
          ${column((c) => c.largestLots)}::bigint[], ${column((c) => c.shortWins)}::integer[],
          ${column((c) => c.takeProfits)}::integer[], ${column((c) => c.stopLosses)}::integer[],
          ${column((c) => c.washouts)}::integer[], ${column((c) => c.settled)}::integer[],
          ${column((c) => c.days)}::integer[], ${column((c) => c.closeDays)}::integer[],
          ${column((c) => c.referrals)}::integer[], ${column((c) => c.xp)}::integer[])
        t (user_id, opened, closed, wins, pnl, base_moves, margin, first_at, practice_closed, practice_wins, practice_pnl,
           practice_base_moves, practice_margin, practice_first_at, won, best_win, largest_lots, short_wins, take_profits,
           stop_losses, washouts, settled, days, close_days, referrals, xp)
      ), saved as (
        update careers c
           set version = c.version + 1, opened = t.opened, closed = t.closed, wins = t.wins, pnl_micros = t.pnl,
               base_moves_micros = t.base_moves, margin_micros = t.margin, first_trade_at = to_timestamp(t.first_at / 1000.0),
               practice_closed = t.practice_closed, practice_wins = t.practice_wins, practice_pnl_micros = t.practice_pnl,
               practice_base_moves_micros = t.practice_base_moves, practice_margin_micros = t.practice_margin,
               practice_first_trade_at = to_timestamp(t.practice_first_at / 1000.0),
               won_micros = t.won, best_win_micros = t.best_win, largest_lots_micros = t.largest_lots,
               short_wins = t.short_wins, take_profits = t.take_profits, stop_losses = t.stop_losses,
               washouts = t.washouts, settled = t.settled, days = t.days, close_days = t.close_days,
               referrals = t.referrals, xp = t.xp
          from given t where c.user_id = t.user_id
        returning c.user_id, c.version, c.closed, c.practice_closed, c.xp
      ), grown as (
        update users u set xp = s.xp from saved s where u.id = s.user_id and u.xp <> s.xp
      )
      insert into board_changes (user_id, version)
        select user_id, version from saved
         where closed + practice_closed > 0 or user_id = any(${uuids([...new Set(voided)])}::uuid[]) order by user_id
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
      insert into week_scores (week, user_id, closed, wins, pnl_micros, base_moves_micros, margin_micros, players)
        select t.week, t.id, t.closed, t.wins, t.pnl, t.base_moves, t.margin, string_to_array(t.players, ',')::uuid[]
          from unnest(
          ${texts(now.map((s) => s.week))}::text[], ${uuids(now.map((s) => s.userId))}::uuid[],
          ${integers(now.map((s) => s.closed))}::integer[],
          ${integers(now.map((s) => s.wins))}::integer[], ${bigints(now.map((s) => s.pnl))}::bigint[],
          ${bigints(now.map((s) => s.baseMoves))}::bigint[], ${bigints(now.map((s) => s.margin))}::bigint[],
          ${texts(now.map((s) => firstPlayers(s.players).join()))}::text[])
          t (week, id, closed, wins, pnl, base_moves, margin, players)
        on conflict (week, user_id) do update
           set closed = excluded.closed, wins = excluded.wins, pnl_micros = excluded.pnl_micros,
               base_moves_micros = excluded.base_moves_micros, margin_micros = excluded.margin_micros,
               players = excluded.players`.execute(this.#tx)
  }

  async #weeks(shares: readonly WeekShare[]) {
    const { rows } = await sql<Selectable<WeekScoresTable>>`
      select w.* from week_scores w
        join unnest(${texts(shares.map((s) => s.week))}::text[], ${uuids(shares.map((s) => s.userId))}::uuid[])
             s (week, user_id) using (week, user_id)`.execute(this.#tx)
    return new Map(rows.map((row) => [weekKey({ ...row, userId: userId(row.user_id) }), row]))
  }

  /** Awards badges and returns those that are new. */
  async addBadges(badges: readonly { userId: UserId; badge: Badge; at: Instant }[]): Promise<ReadonlySet<string>> {
    if (badges.length === 0) return new Set()
    const { rows } = await sql<{ user_id: string; badge: string }>`
      insert into user_badges (user_id, badge, earned_at)
        select * from unnest(${uuids(badges.map((b) => b.userId))}::uuid[],
                             ${texts(badges.map((b) => b.badge.id))}::text[],
                             ${instants(badges.map((b) => b.at))}::timestamptz[])
        on conflict do nothing returning user_id, badge`.execute(this.#tx)
    return new Set(rows.map((row) => `${row.user_id}:${row.badge}`))
  }

  /** Takes badges back. */
  async removeBadges(badges: readonly { readonly userId: UserId; readonly badge: Badge }[]): Promise<void> {
    if (badges.length === 0) return
    await sql`
      delete from user_badges b
       using unnest(${uuids(badges.map((b) => b.userId))}::uuid[], ${texts(badges.map((b) => b.badge.id))}::text[])
             t (user_id, badge)
       where b.user_id = t.user_id and b.badge = t.badge`.execute(this.#tx)
  }

  /** Writes the notices whose sources are new. */
  async notify(notices: readonly Notice[]): Promise<void> {
    this.notifications.push(...(await insertNotices(this.#tx, this.#kept(notices))))
  }

  /** A rebuild reacts to all there ever was: retention has removed what is older, and what tells that it is not new. */
  #kept<Of extends { readonly at: Instant }>(all: readonly Of[]): readonly Of[] {
    const since = this.#world.now() - NOTICES_MS
    return all.filter(({ at }) => at >= since)
  }

  /** Writes the headlines whose sources are new, in the district of their user. */
  async publish(headlines: readonly Headline[], districtOf: (user: UserId) => DistrictId): Promise<void> {
    await insertHeadlines(
      this.#tx,
      this.#kept(headlines).map((headline) => ({ ...headline, districtId: districtOf(headline.userId) })),
    )
  }

  /**
   * Pays referrers, each for one referee, in ledger transactions that sum to zero. A balance changed from outside in
   * the fast store is adopted first, as in a match's commit. They count for the week of `at`, but are booked now: a
   * reaction may be late, and the ledger is closed behind the present. Wallets stay locked until the transaction ends,
   * so call it last.
   */
  async credit(credits: readonly Credit[], at: Instant): Promise<void> {
    if (credits.length === 0) return
    const byReferrer = Map.groupBy(credits, (credit) => credit.referrerId)
    const referrers = [...byReferrer.keys()].toSorted()
    const { rows: wallets } = await sql<{ user_id: string; balance_micros: number; version: number }>`
      select user_id, balance_micros, version from wallets
       where user_id = any(${uuids(referrers)}::uuid[]) and purse = 'main' order by user_id for no key update`.execute(
      this.#tx,
    )
    const entries: Entry[] = []
    const paid: VersionedBalance[] = []
    for (const wallet of wallets) {
      const user = userId(wallet.user_id)
      const own = byReferrer.get(user) ?? []
      const rewards = own.reduce((sum, { reward }) => sum + reward, 0)
      const found = await adopted(this.#tx, { cache: this.#cache, world: this.#world, userId: user }, wallet)
      await found.audit()
      const outside = Math.min(found.micros, MICROS_MAX - wallet.balance_micros - rewards)
      if (outside !== 0) entries.push(...this.#booking({ user, amount: outside, kind: 'external_adjustment' }))
      for (const { refereeId, reward } of own) {
        entries.push(...this.#booking({ user, amount: reward, kind: 'referral', reference: refereeId }))
      }
      const balance = money(wallet.balance_micros + outside + rewards)
      paid.push({ userId: user, balance, version: wallet.version + 1 })
    }
    await this.#pay(paid, entries)
    await sql`
      update referrals r set credited_at = ${new Date(at)}::timestamptz, reward_micros = c.reward
        from unnest(${uuids(credits.map((c) => c.refereeId))}::uuid[], ${bigints(credits.map((c) => c.reward))}::bigint[])
             c (referee_id, reward)
       where r.referee_id = c.referee_id`.execute(this.#tx)
    this.balances.push(...paid)
  }

  async #pay(paid: readonly VersionedBalance[], entries: readonly Entry[]): Promise<void> {
    await sql`
      update wallets w set balance_micros = p.balance, version = p.version
        from unnest(${uuids(paid.map((p) => p.userId))}::uuid[], ${bigints(paid.map((p) => p.balance))}::bigint[],
                    ${bigints(paid.map((p) => p.version))}::bigint[]) p (user_id, balance, version)
       where w.user_id = p.user_id and w.purse = 'main'`.execute(this.#tx)
    await sql`
      insert into ledger_entries (tx, account, user_id, purse, amount_micros, kind, reference, at)
        select e.tx, case when e.user_id is null then 'house' else 'user' end, e.user_id, 'main', e.amount, e.kind,
               e.reference, ${new Date(this.#world.now())}::timestamptz
          from unnest(${uuids(entries.map((e) => e.tx))}::uuid[], ${uuids(entries.map((e) => e.user))}::uuid[],
                      ${bigints(entries.map((e) => e.amount))}::bigint[], ${texts(entries.map((e) => e.kind))}::text[],
                      ${uuids(entries.map((e) => e.reference))}::uuid[])
               e (tx, user_id, amount, kind, reference)`.execute(this.#tx)
  }

  #booking(of: { user: UserId; amount: number; kind: Entry['kind']; reference?: string }): Entry[] {
    const tx = this.#world.newId()
    const both = { tx, kind: of.kind, reference: of.reference ?? tx }
    return [
      { ...both, user: of.user, amount: of.amount },
      { ...both, user: null, amount: -of.amount },
    ]
  }
}

/** A ledger entry of a user, or of the house. */
interface Entry {
  readonly tx: string
  readonly user: UserId | null
  readonly amount: number
  readonly kind: 'external_adjustment' | 'referral'
  readonly reference: string
}

const weekKey = (of: Pick<WeekShare, 'week' | 'userId'>): string => `${of.week}:${of.userId}`

/** Different ones, in an order that does not depend on which came first. */
const firstPlayers = (players: readonly InstrumentId[]): readonly InstrumentId[] =>
  [...new Set(players)].toSorted().slice(0, DRAW_PLAYERS_MAX)
