/** Every table as a type. Money, prices and lots are integer millionths; the int8 parser of `connect.ts` yields numbers. */
import type { ColumnType, Generated } from 'kysely'

/** Written as a Date or as text, read back as a Date. */
type Timestamp = ColumnType<Date, Date | string, Date | string>
/** The same with a default. */
type DefaultTimestamp = ColumnType<Date, Date | string | undefined, Date | string>
type Json<T> = ColumnType<T, string, string>

export interface Database {
  districts: DistrictsTable
  users: UsersTable
  sessions: SessionsTable
  referrals: ReferralsTable
  wallets: WalletsTable
  ledger_entries: LedgerEntriesTable
  matches: MatchesTable
  match_leases: MatchLeasesTable
  instruments: InstrumentsTable
  anchors: AnchorsTable
  ticks: TicksTable
  positions: PositionsTable
  account_events: AccountEventsTable
  command_results: CommandResultsTable
  replays: ReplaysTable
  installation: InstallationTable
  outbox: OutboxTable
  outbox_cursors: OutboxCursorsTable
  outbox_failures: OutboxFailuresTable
  careers: CareersTable
  trade_days: TradeDaysTable
  user_badges: UserBadgesTable
  board_changes: BoardChangesTable
  week_scores: WeekScoresTable
  spinner_weeks: SpinnerWeeksTable
  notifications: NotificationsTable
  activity: ActivityTable
  legacy_trades: LegacyTradesTable
  settings: SettingsTable
  settings_version: SettingsVersionTable
  audit_log: AuditLogTable
  tape: TapeTable
  fixtures: FixturesTable
  upkeep: UpkeepTable
}

export interface DistrictsTable {
  id: number
  name: string
}

export interface UsersTable {
  id: string
  /** The identity provider's subject; null for synthetic users. */
  google_sub: string | null
  email: string
  name: string
  picture: string | null
  /** Lower case, unique. */
  username: string
  first_name: string
  last_name: string | null
  district_id: number
  role: Generated<string>
  xp: Generated<number>
  referral_code: string
  /** Made by the dev routes or a replay, not by a person. */
  synthetic: Generated<boolean>
  created_at: Timestamp
}

/** A sign-in, to which its access, refresh and WebSocket tokens belong. */
export interface SessionsTable {
  id: string
  user_id: string
  /** Of the refresh token that may be used next; counts rotations from 1. */
  generation: Generated<number>
  /** When that token was made. */
  rotated_at: Timestamp
  expires_at: Timestamp
  /** Null while it lasts. */
  ended_at: Timestamp | null
}

/** A named invite, or an anonymous referral made by the referrer's own code. */
export interface ReferralsTable {
  id: string
  referrer_id: string
  /** Null when anonymous, like `code`. */
  name: string | null
  code: string | null
  /** Whoever registered; null while an invite waits. */
  referee_id: string | null
  created_at: Timestamp
  registered_at: Timestamp | null
  credited_at: Timestamp | null
  reward_micros: Generated<number>
}

export interface WalletsTable {
  user_id: string
  balance_micros: number
  /** Σ margin of the open positions. */
  margin_micros: Generated<number>
  open_positions: Generated<number>
  /** Grows with every change; the cached balance carries it so that a late writer cannot win. */
  version: Generated<number>
  /** The marker of his latest account event. */
  events: Generated<number>
}

export interface LedgerEntriesTable {
  /** The transaction whose entries sum to zero: one batch of trades, one grant. */
  tx: string
  account: 'user' | 'house'
  user_id: string | null
  amount_micros: number
  kind: 'grant' | 'margin' | 'release' | 'external_adjustment' | 'batch' | 'referral'
  /**
   * What it is for: a position, a new user, a referee, or else the transaction. One entry per user, reference and kind, or
   * user and marker: the same thing cannot be booked twice.
   */
  reference: string
  /** Of the account event that it was booked with: an opening or a close. Null for everything else. */
  marker: number | null
  at: Timestamp
}

export interface MatchesTable {
  id: number
  phase: string
  replay: boolean
  starts_at: Timestamp
  settled_at: Timestamp | null
  /** The whole MatchInfo. */
  info: Json<unknown>
  /** The price model's memory, so that a restart prices on as if nothing had happened. */
  pricing: Json<unknown>
}

export interface MatchLeasesTable {
  match_id: number
  owner: string
  epoch: number
  expires_at: Timestamp
}

export interface InstrumentsTable {
  id: string
  player_id: number
  name: string
  role: 'GK' | 'DEF' | 'MID' | 'FWD'
  side: 'home' | 'away'
  jersey: number | null
  starter: boolean
  /** The match that owns it: the last one his team played. */
  match_id: number
  start_micros: number
  slope_micros: number
  base_micros: number
  imbalance_micros: number
  price_micros: number
  published_micros: number
  suspended_until: Timestamp | null
  settlement_micros: number | null
}

export interface AnchorsTable {
  instrument_id: string
  price_micros: number
}

export interface TicksTable {
  instrument_id: string
  at: Timestamp
  price_micros: number
  base_micros: number
  imbalance_micros: number
  cause: string
  provider_event_id: number
}

export interface PositionsTable {
  id: string
  user_id: string
  match_id: number
  instrument_id: string
  /** +1 long, −1 short. */
  sign: number
  lots_micros: number
  open_micros: number
  margin_micros: number
  stop_loss_micros: number | null
  take_profit_micros: number | null
  opened_at: Timestamp
  closable_at: Timestamp
  /** Per cent of the margin lost at the last warning. */
  warned: Generated<0 | 50 | 80>
  close_micros: number | null
  pnl_micros: number | null
  closed_at: Timestamp | null
  closed_by: 'user' | 'stop_loss' | 'take_profit' | 'washout' | 'full_time' | 'void' | 'admin' | null
  /** The markers of its opening and its close in its owner's account log. */
  opened_marker: number
  closed_marker: number | null
  /** The levels it was opened with. */
  opened_stop_micros: number | null
  opened_take_micros: number | null
  /**
   * What a retry of its opening is answered with, beside the position as it was: the digest of the request, the price and the
   * wallet after it. Null when it was opened without a key, or before these were kept here.
   */
  answer_fingerprint: string | null
  answer_price_micros: number | null
  answer_balance_micros: number | null
  answer_margin_micros: number | null
  answer_unrealized_micros: number | null
}

/** What happened to a user's open positions besides opening and closing them, which the ledger tells. */
export interface AccountEventsTable {
  user_id: string
  /** Counts all of the user's events from 1; those of the ledger fill the gaps. */
  marker: number
  kind: 'changed' | 'margin_warning'
  position_id: string
  /** Levels and warning as the event left them. */
  stop_loss_micros: number | null
  take_profit_micros: number | null
  warned: 0 | 50 | 80
  at: Timestamp
}

/**
 * Of keyed commands that opened nothing; and of older openings, which did not have the ids of their commands. An opening's
 * stands in the row of its position.
 */
export interface CommandResultsTable {
  /** src/http/command-ids.ts */
  id: string
  user_id: string
  fingerprint: string
  /** What of the result stands nowhere else, as JSON (command-results.ts). */
  result: string
  balance_micros: number
  margin_micros: number
  unrealized_micros: number
  at: Timestamp
}

export interface ReplaysTable {
  id: string
  /** Name of the bundled recording. */
  recording: string
  match_id: number
  speed: number
  traders: number
  state: 'running' | 'finished'
  started_at: Timestamp
  /** Which of the recording's casts plays, so that it can play several times at once. */
  slot: Generated<number>
  /** The match that is always on, rather than one that an operator started. */
  demo: Generated<boolean>
  /** Set when an operator has stopped it: how its match is to end. */
  ending: 'full_time' | 'void' | null
}

/** One row. */
export interface InstallationTable {
  id: Generated<string>
}

/** What a commit did that something may follow from. */
export interface OutboxTable {
  match_id: number
  /** Counts the match's rows from 1, without gaps. */
  seq: number
  at: Timestamp
  replay: boolean
  /** `CommittedEvent`s, in order. */
  events: Json<unknown>
}

/** How far the reactions to a match have come. */
export interface OutboxCursorsTable {
  match_id: number
  seq: Generated<number>
  /** How often the row after `seq` has failed. */
  attempts: Generated<number>
  retry_at: DefaultTimestamp
  /** Whoever has waited longest is next. */
  taken_at: DefaultTimestamp
  /** The match has settled, and everything that follows from it has happened. */
  finished: Generated<boolean>
}

/** Rows of the outbox that no reaction could deal with. */
export interface OutboxFailuresTable {
  match_id: number
  seq: number
  error: string
  attempts: number
  at: Timestamp
}

/** A `Career`. */
export interface CareersTable {
  user_id: string
  version: Generated<number>
  opened: Generated<number>
  closed: Generated<number>
  wins: Generated<number>
  pnl_micros: Generated<number>
  margin_micros: Generated<number>
  first_trade_at: Timestamp | null
  live_closed: Generated<number>
  live_wins: Generated<number>
  live_pnl_micros: Generated<number>
  live_margin_micros: Generated<number>
  live_first_trade_at: Timestamp | null
  won_micros: Generated<number>
  best_win_micros: Generated<number>
  largest_lots_micros: Generated<number>
  short_wins: Generated<number>
  take_profits: Generated<number>
  stop_losses: Generated<number>
  washouts: Generated<number>
  settled: Generated<number>
  days: Generated<number>
  referrals: Generated<number>
  xp: Generated<number>
}

/** A day on which a user has opened something. */
export interface TradeDaysTable {
  user_id: string
  /** Counted from 1970, in UTC. */
  day: number
}

export interface UserBadgesTable {
  user_id: string
  badge: string
  earned_at: Timestamp
}

/** A user whose standing changed and may not be on the boards yet. */
export interface BoardChangesTable {
  user_id: string
  version: number
}

/** What a user closed in one week. */
export interface WeekScoresTable {
  week: string
  /** Of real matches alone, or of all. */
  live: boolean
  user_id: string
  closed: number
  wins: number
  pnl_micros: number
  margin_micros: number
  roi_hundredths: number
  win_ppm: number
}

export interface SpinnerWeeksTable {
  /** `2026-W21`. */
  week: string
  starts_at: Timestamp
  seed: string
  /** SHA-256 of the seed, shown from `published_at` on. */
  seed_hash: string
  published_at: Timestamp
  /** Set when it is decided: those among whom was drawn, the winner if there was only one, nobody if nobody traded. */
  candidates: Json<unknown> | null
  winner_id: string | null
  decided_at: Timestamp | null
}

export interface NotificationsTable {
  id: Generated<number>
  user_id: string
  type: string
  title: string
  body: string
  data: Json<unknown>
  /** What it is about, so that the same thing is told once. */
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
  data: Json<unknown>
  source: string
  at: Timestamp
}

/** A share bought or sold in the model before positions. Read only. */
export interface LegacyTradesTable {
  id: string
  user_id: string
  player: string
  side: 'buy' | 'sell'
  quantity_micros: number
  price_micros: number
  at: Timestamp
}

export interface SettingsTable {
  /** A key of the catalogue; a flag's begins with `flags.`. */
  key: string
  value: Json<unknown>
  updated_at: Timestamp
  updated_by: string | null
}

/** One row: who changes a setting locks it, and who has seen its number has seen every change. */
export interface SettingsVersionTable {
  id: Generated<boolean>
  version: number
}

export interface AuditLogTable {
  id: Generated<number>
  at: Timestamp
  /** The admin who did it; null for what the house did by itself. */
  actor_id: string | null
  action: string
  /** What it was done to. */
  subject: string
  before: Json<unknown> | null
  after: Json<unknown> | null
}

/** What one commit traded in one player. */
export interface TapeTable {
  instrument_id: string
  at: Timestamp
  /** Lots traded in him ever, these included. */
  traded_micros: number
  /** The newest of them, the oldest first (tape.ts). */
  trades: string
}

/** A match that is not run yet. */
export interface FixturesTable {
  id: number
  starts_at: Timestamp
  /** The whole MatchInfo. */
  info: Json<unknown>
}

/** How far a task of the upkeep has got: everything before is done. */
export interface UpkeepTable {
  task: string
  done_until: Timestamp
}
