/** Rows of careers, boards, leagues, notifications and legacy trades. */
import type { ColumnType, Generated } from 'kysely'
import type { Json, Timestamp } from './columns.ts'

export interface CommunityTables {
  careers: CareersTable
  trade_days: TradeDaysTable
  user_badges: UserBadgesTable
  board_changes: BoardChangesTable
  week_scores: WeekScoresTable
  notifications: NotificationsTable
  push_subscriptions: PushSubscriptionsTable
  push_outbox: PushOutboxTable
  activity: ActivityTable
  legacy_trades: LegacyTradesTable
  leagues: LeaguesTable
  league_matches: LeagueMatchesTable
  league_members: LeagueMembersTable
  tournaments: TournamentsTable
}

/** A `Career`. */
export interface CareersTable {
  user_id: string
  version: Generated<number>
  opened: Generated<number>
  closed: Generated<number>
  wins: Generated<number>
  pnl_micros: Generated<number>
  base_moves_micros: Generated<number>
  margin_micros: Generated<number>
  first_trade_at: Timestamp | null
  practice_closed: Generated<number>
  practice_wins: Generated<number>
  practice_pnl_micros: Generated<number>
  practice_base_moves_micros: Generated<number>
  practice_margin_micros: Generated<number>
  practice_first_trade_at: Timestamp | null
  won_micros: Generated<number>
  best_win_micros: Generated<number>
  largest_lots_micros: Generated<number>
  short_wins: Generated<number>
  take_profits: Generated<number>
  stop_losses: Generated<number>
  washouts: Generated<number>
  settled: Generated<number>
  days: Generated<number>
  close_days: Generated<number>
  referrals: Generated<number>
  xp: Generated<number>
}

/** A day on which a user opened or closed a position. */
export interface TradeDaysTable {
  user_id: string
  /** Counted from 1970, in UTC. */
  day: number
  what: 'open' | 'close'
}

export interface UserBadgesTable {
  user_id: string
  badge: string
  earned_at: Timestamp
}

/** A user whose changed standing may not be on the boards yet. */
export interface BoardChangesTable {
  user_id: string
  version: number
}

/** What a user closed of the positions of the main purse opened in one week. */
export interface WeekScoresTable {
  week: string
  user_id: string
  closed: number
  wins: number
  pnl_micros: number
  base_moves_micros: number
  margin_micros: number
  /** Different players among them, up to DRAW_PLAYERS_MAX. */
  players: string[]
}

export interface NotificationsTable {
  id: Generated<number>
  user_id: string
  type: string
  title: string
  body: string
  data: Json
  /** What the notification is about: each source is notified once. */
  source: string
  created_at: Timestamp
  read_at: Timestamp | null
}

export interface ActivityTable {
  id: Generated<number>
  user_id: string
  district_id: number
  type: string
  text: string
  data: Json
  source: string
  at: Timestamp
}

/** A share bought or sold in the model before positions. Read-only. */
export interface LegacyTradesTable {
  id: string
  user_id: string
  player: string
  side: 'buy' | 'sell'
  quantity_micros: number
  price_micros: number
  at: Timestamp
}

/** A browser that is told of notifications. */
export interface PushSubscriptionsTable {
  id: string
  user_id: string
  endpoint: string
  p256dh: string
  auth: string
  kinds: string[]
  /** `QuietHours` of src/features/push. */
  quiet: ColumnType<unknown, string | null | undefined, string | null>
  created_at: Timestamp
  /** Null where it is not known, or was not used for a week. */
  session_id: Generated<string | null>
}

/** A notification that a browser has not been told of. */
export interface PushOutboxTable {
  notification_id: number
  subscription_id: string
  claimed_until: Timestamp | null
}

export type LeagueScope = 'all' | 'practice' | 'tournaments' | 'chosen'

export interface LeaguesTable {
  id: string
  kind: Generated<'private' | 'season' | 'tournament'>
  /** What members join with. */
  code: string
  name: string
  /** Null for those of the house. */
  founder_id: string | null
  scope: LeagueScope
  starting_micros: number
  created_at: Timestamp
  starts_at: Timestamp
  ends_at: Timestamp
  /** All who ever joined. */
  members: Generated<number>
  decided_at: Timestamp | null
  /** A month, `2026-11`. These three are null unless it is a group of a season. */
  season: Generated<string | null>
  division: Generated<number | null>
  season_group: Generated<number | null>
}

export interface TournamentsTable {
  league_id: string
  seed: string
  speed: number
  replay_id: string | null
}

/** A match of a league whose scope is `chosen`. */
export interface LeagueMatchesTable {
  league_id: string
  match_id: number
}

export interface LeagueMembersTable {
  league_id: string
  user_id: string
  joined_at: Timestamp
  left_at: Timestamp | null
  /** The final table. */
  rank: number | null
  result_micros: number | null
}
