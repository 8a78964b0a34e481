/** Rows of fixtures, matches, instruments, prices and replays. */
import type { ColumnType, Generated } from 'kysely'
import type { Json, Timestamp } from './columns.ts'

export interface MatchTables {
  fixtures: FixturesTable
  feed_faults: FeedFaultsTable
  matches: MatchesTable
  match_leases: MatchLeasesTable
  instruments: InstrumentsTable
  anchors: AnchorsTable
  ticks: TicksTable
  recent_trades: RecentTradesTable
  journal: JournalTable
  tape: TapeTable
  tape_checkpoints: TapeCheckpointsTable
  tape_keys: TapeKeysTable
  replays: ReplaysTable
}

/** A match that no process runs yet. */
export interface FixturesTable {
  id: number
  starts_at: Timestamp
  /** A `MatchInfo` (actors/match/read-match-info.ts). */
  info: Json
}

/** What of the provider's data came to nothing (db/feed-faults.ts). */
export interface FeedFaultsTable {
  reason: string
  /** 0 where it concerns no single fixture. */
  match_id: number
  detail: string
  times: number
  first_at: Timestamp
  last_at: Timestamp
}

export interface MatchesTable {
  id: number
  phase: string
  replay: boolean
  starts_at: Timestamp
  settled_at: Timestamp | null
  /** When all that can be archived of it was (db/archive.ts). */
  archived_at: Generated<Date | null>
  /** A `MatchInfo` (actors/match/read-match-info.ts). */
  info: Json
  /** A `PricingMemory`, with which a restarted match continues at the same prices (actors/market/read-pricing.ts). */
  pricing: Json
  /** Why its stored state cannot be read, and since when; null while it can (db/quarantine.ts). */
  quarantine: Generated<string | null>
  quarantined_at: Generated<Date | null>
}

/** What a match heard in one commit (db/journal-codec.ts). */
export interface JournalTable {
  match_id: number
  n: number
  epoch: number
  at: Timestamp
  after_seq: number
  fresh: boolean
  entries: Uint8Array
}

/** The lines of one commit on the public tape (db/tape-writer.ts). */
export interface TapeTable {
  match_id: number
  first_n: number
  last_n: number
  at: Timestamp
  secret: Uint8Array | null
  lines: Uint8Array
}

export interface TapeCheckpointsTable {
  match_id: number
  n: number
  hash: Uint8Array
  at: Timestamp
  kid: string
  signature: Uint8Array
}

export interface TapeKeysTable {
  kid: string
  /** The 32 bytes of an Ed25519 key, in base64url. */
  public_key: string
  since: Timestamp
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
  /** The match that owns it: the last one that the player's team played. */
  match_id: number
  start_micros: number
  slope_micros: number
  impact_cap_ppm: number
  base_micros: number
  imbalance_micros: number
  price_micros: number
  published_micros: number
  news: ColumnType<unknown, string | null | undefined, string | null>
  ended_imbalance_micros: Generated<number | null>
  leaving_from_micros: number | null
  settlement_micros: number | null
  /** Live matches that the player took part in, and the sum of the bases at which they settled. */
  matches: Generated<number>
  settled_total_micros: Generated<number>
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
  why: string | null
}

/** What one commit traded in one player. */
export interface RecentTradesTable {
  instrument_id: string
  at: Timestamp
  /** All lots ever traded in the player, including these. */
  traded_micros: number
  /** The newest of these trades, oldest first (db/recent-trades.ts). */
  trades: string
}

export interface ReplaysTable {
  id: string
  /** The name of the recording. */
  recording: string
  match_id: number
  speed: number
  traders: number
  state: 'running' | 'finished'
  started_at: Timestamp
  /** Which of the recording's casts plays: a recording can be played several times at once. */
  slot: Generated<number>
  /** The replay that always runs, not one that an operator started. */
  demo: Generated<boolean>
  /** Plays every frame, and from the anchors, so that all runs have the same bases. */
  lossless: Generated<boolean>
  /** Whether it is traded with practice money. */
  practice: Generated<boolean>
  /** Set when an operator stopped the replay: how its match ends. */
  ending: 'full_time' | 'void' | null
}
