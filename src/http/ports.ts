/** The ports of the REST API: what its routes need from the rest of the server. The composition root passes them in. */
import type { PricePath, RecordedMatch } from '../../db/recordings.ts'
import type { FixtureId, InstrumentId, LeagueId, PlayerId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import type { Price } from '../../actors/kernel/micros.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { Flags } from '../../actors/kernel/settings.ts'
import type { ConsideredSetting, RuleEffect } from '../../actors/match/rule-change.ts'
import type { WantedLimits } from '../../actors/kernel/own-limits.ts'
import type { CommonPurse, Purse } from '../../actors/kernel/purse.ts'
import type { Instant, World } from '../../actors/kernel/world.ts'
import type { QuoteQuery } from '../../actors/match/quotes.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { AccountChanges } from '../../db/account-log.ts'
import type { AuditEntry, ControlAction } from '../../db/audit-log.ts'
import type { Listing } from '../../db/catalogue.ts'
import type { DataExport } from '../../db/data-export.ts'
import type { CountedFault } from '../../db/feed-faults.ts'
import type { MoversBoard } from '../../db/movers.ts'
import type { History } from '../../db/price-history.ts'
import type { MovesQuery, PriceMove } from '../../db/price-moves.ts'
import type { RecentTrade, TradeKey } from '../../db/recent-trades.ts'
import type { LimitsNow } from '../../db/own-limits.ts'
import type { HeldPosition, ListedPosition, PositionQuery } from '../../db/positions.ts'
import type { OpenPosition, QuarantinedMatch } from '../../db/quarantine.ts'
import type { Refill } from '../../db/refills.ts'
import type {
  FlagChange,
  FlagOutcome,
  SettingChange,
  SettingEntry,
  SettingOutcome,
  SettingPreview,
  SettingsDraft,
} from '../../db/settings.ts'
import type { UserAlert, UserConnection, UserDeed } from '../../db/user-connections.ts'
import type {
  ListedUser,
  RoleChange,
  RoleOutcome,
  StatusChange,
  StatusOutcome,
  UserPage,
  UserQuery,
} from '../../db/user-list.ts'
import type { District, SignedIn, SyntheticSignIn, User } from '../../db/users.ts'
import type { LedgerAudit, LedgerEntry, LedgerQuery, WalletNow } from '../../db/wallets.ts'
import type { describeFeed } from '../../rooms/feed/feed-description.ts'
import type { Desk } from './desk-port.ts'
import type { CookiePolicy } from '../auth/cookies.ts'
import type { SignInFailure } from '../auth/security-events.ts'
import type { PersonalKeys } from '../auth/personal-keys.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { MetricsAccess } from '../variables.ts'
import type { FeedFaultReason } from '../../rooms/sources/provider.ts'
import type { BotOrder, BotStart, BotStop, PlayableFixture, ReplayReport } from '../replays/gameplay-bot.ts'
import type { Log } from '../observe/log.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { CommunityPorts } from './community-ports.ts'
import type { ObserveRequest } from './edge.ts'
import type { DelayedMatches } from './delayed-matches.ts'
import type { EventFeed } from './event-feed.ts'
import type { RateLimitOptions } from './rate-limits.ts'
import type { WebFiles } from './web-files.ts'

export interface Accounts {
  find(id: UserId): Promise<User | null>
  /** The synthetic user of this name, created with a wallet if new; null if the district does not exist. */
  signInSynthetic(request: SyntheticSignIn): Promise<SignedIn | null>
  /** The same for many names, in their order; districts are assigned in turn. */
  createSyntheticMany(displayNames: readonly string[]): Promise<readonly SignedIn[]>
  districts(): Promise<readonly District[]>
}

export interface Registrations {
  isUsernameTaken(username: string): Promise<boolean>
  /** The username of the user who invites with this code, or null if no user does. */
  inviterOf(code: string): Promise<string | null>
}

export interface Wallets {
  /** The user's wallet in a purse, the main one if absent. Null if the user does not exist. */
  find(userId: UserId, purse?: Purse): Promise<WalletNow | null>
  /** What the user has to open positions with, in each purse. */
  means(userId: UserId): Promise<QuoteQuery['means']>
  /** The entries of the user's account in a purse, newest first. */
  ledger(userId: UserId, query: LedgerQuery): Promise<readonly LedgerEntry[]>
  /** Adds up the whole ledger. */
  auditLedger(): Promise<LedgerAudit>
}

export interface Refills {
  /** Brings the practice wallet up to the starting balance while nothing is open. A repetition changes nothing. */
  practice(userId: UserId): Promise<Refill>
  /** The same for a main wallet with next to nothing, once a week. */
  main(userId: UserId): Promise<Refill>
}

/** Why an order in a league is not let through, or that it is. */
export type LeagueTrading =
  | { readonly kind: 'open' }
  | { readonly kind: 'not_member' | 'other_match' }
  | { readonly kind: 'not_running'; readonly startsAt: Instant; readonly endsAt: Instant }

/** The purses of leagues. */
export interface LeaguePurses {
  /** Those of a user, of the league that ends last first. At most `limit`. */
  own(user: UserId, limit: number): Promise<readonly LeagueId[]>
  /** Whether a user may open a position in a match with the purse of a league now. */
  trading(
    user: UserId,
    league: LeagueId,
    match: { readonly id: FixtureId; readonly purse: CommonPurse },
  ): Promise<LeagueTrading>
}

export interface Catalogue {
  /** The instruments of all matches that are not settled, by match and name. */
  instruments(): Promise<readonly Listing[]>
  instrument(id: InstrumentId): Promise<Listing | null>
  /** Every known match, unfinished ones first. */
  matches(): Promise<readonly MatchInfo[]>
  match(id: FixtureId): Promise<MatchInfo | null>
}

export interface MarketHistory {
  /** Prices of an instrument since an instant, or since its first tick if null. */
  prices(id: InstrumentId, from: Instant | null): Promise<History>
  /** The last trades in an instrument, newest first; those after a trade, if one is given. */
  trades(id: InstrumentId, limit: number, after?: TradeKey): Promise<readonly RecentTrade[]>
  /** The largest moves of a price in a stretch of time. */
  moves(id: InstrumentId, query: MovesQuery): Promise<readonly PriceMove[]>
  movers(): Promise<MoversBoard>
}

export interface Account {
  /** The user's position events after a marker, or a snapshot. Null if the user does not exist. */
  changes(userId: UserId, since: number | null, limit: number): Promise<AccountChanges | null>
}

export interface Positions {
  /** The user's positions, newest first. */
  list(userId: UserId, query: PositionQuery): Promise<readonly ListedPosition[]>
  /** Null if it does not exist or belongs to another user. */
  find(userId: UserId, id: PositionId): Promise<HeldPosition | null>
}

/** A user's own data and limits. Null or false for an unknown user. */
export interface Personal {
  /** Everything about the user, a page of rows of one section at a time. */
  pages(user: UserId): ReturnType<DataExport['pages']>
  /** Makes the account due to be erased; returns when. */
  requestDeletion(user: UserId): Promise<Instant | null>
  hide(user: UserId, hidden: boolean): Promise<boolean>
  limits(user: UserId): Promise<LimitsNow | null>
  changeLimits(user: UserId, wanted: WantedLimits): Promise<LimitsNow | null>
}

export interface Settings {
  /** Every setting with its current value, without the flags. */
  list(): readonly SettingEntry[]
  listFlags(): readonly SettingEntry[]
  /** What a value would bring into force. Nothing changes. */
  preview(key: string, value: unknown): SettingPreview
  /** What several values would bring into force together. Nothing changes. */
  draft(values: Readonly<Record<string, unknown>>): SettingsDraft
  value(key: 'rules.max_move_pct'): number
  /** In force in this process when it resolves, in every other within a second. Writes an audit row. */
  set(change: SettingChange): Promise<SettingOutcome>
  /** Creates the flag if it is new. */
  setFlag(change: FlagChange): Promise<FlagOutcome>
  /** Removes a flag that operators have created. */
  removeFlag(key: string, by: UserId): Promise<'removed' | 'unknown' | 'built_in'>
}

export interface Audit {
  record(action: ControlAction): Promise<void>
  /** Newest first; `before` is the id of the last entry of the page before. */
  list(limit: number, before: number | null): Promise<readonly AuditEntry[]>
}

export interface UserList {
  /** Null if there is no such user. */
  find(id: UserId): Promise<ListedUser | null>
  search(query: UserQuery): Promise<UserPage>
  /** Writes an audit row. The user's next token carries the new role. */
  setRole(change: RoleChange): Promise<RoleOutcome>
  /** Freezes a user or makes them active. Writes an audit row. Binds openings that are not committed yet. */
  setStatus(change: StatusChange): Promise<StatusOutcome>
  /** All users, oldest first, in pages, so that only one page is in memory. */
  pages(): AsyncGenerator<readonly ListedUser[]>
}

export interface Bot {
  /** Whether a replay that pays the main purse pays what live matches are traded with. */
  readonly mainPurseIsLive: boolean
  fixtures(): Promise<readonly PlayableFixture[]>
  start(order: BotOrder): Promise<BotStart>
  status(): Promise<readonly ReplayReport[]>
  stop(order: BotStop): Promise<readonly string[]>
}

/** Hears of sign-ins, with the network they came from. Returns at once. */
export interface SecurityWatch {
  signedIn(user: UserId, from: string): void
  signInFailed(why: SignInFailure, from: string): void
}

/** Each named check resolves if its part of the server works and rejects if it does not. */
export type ReadyChecks = Readonly<Record<string, () => Promise<void>>>

/** The results of these checks, by name. */
export type Readiness = () => Promise<readonly (readonly [part: string, result: 'ok' | 'failed'])[]>

export interface Metrics {
  readonly access: MetricsAccess
  readonly contentType: string
  /** All metrics in the text format of Prometheus. */
  readonly text: () => Promise<string>
  readonly observe: ObserveRequest
}

/** What every request passes, on both addresses. */
export interface EdgeDeps {
  readonly world: World
  readonly log: Log
  readonly cookies: CookiePolicy
  readonly corsOrigins: readonly string[]
  /** How many proxies of the deployment stand before this process. */
  readonly trustedProxies: number
  readonly readiness: Readiness
  readonly metrics: Metrics
  /** Null if tracing is off. */
  readonly tracing: Tracing | null
  /** True if the error means that a dependency is unavailable for now, so that a retry may help. */
  readonly isFault: (error: unknown) => boolean
}

/** Who calls, and how often they may. */
export interface CallerDeps {
  readonly sessions: Sessions
  readonly keys: PersonalKeys
  readonly accounts: Accounts
  readonly registrations: Registrations
  readonly signIn: SignIn
  readonly personal: Personal
  readonly security: SecurityWatch
  readonly limits: RateLimitOptions
  /** Read for every request, so that a changed flag takes effect at once. */
  readonly flags: () => Flags
  /** The WebSocket address for a client that called this host. */
  readonly wsUrlFor: (hostname: string) => string
}

/** What can be traded, and trading it. */
export interface TradingDeps {
  readonly catalogue: Catalogue
  readonly history: MarketHistory
  readonly desk: Desk
  readonly positions: Positions
  readonly wallets: Wallets
  readonly purses: LeaguePurses
  readonly refills: Refills
  readonly account: Account
  /** Read for every request, so that a changed setting takes effect at once. */
  readonly rules: () => TradingRules
}

/** What real players are worth over a season. */
interface Anchors {
  /** Sets them all or none, and writes an audit row. */
  set(anchors: ReadonlyMap<PlayerId, Price>, by: UserId): Promise<void>
}

/** What operators know of a user before they act. */
interface UserFiles {
  /** Users in the same networks, the inviter and the invited: at most 50 of each. */
  connections(user: UserId): Promise<readonly UserConnection[]>
  /** The latest alerts about cheats that name the user, newest first. */
  alerts(user: UserId): Promise<readonly UserAlert[]>
  /** What operators last did about the user, newest first. */
  deeds(user: UserId): Promise<readonly UserDeed[]>
}

/** What a feed or a fault has left to operators. */
export interface FeedDesk {
  /** What came to nothing of the feed in the last days, newest first. */
  faults(): Promise<readonly CountedFault<FeedFaultReason>[]>
  /** Unsettled matches whose stored state cannot be read, oldest first. */
  quarantined(): Promise<readonly QuarantinedMatch[]>
  openPositions(
    matchId: FixtureId,
    page: { readonly limit: number; readonly after: PositionId | null },
  ): Promise<readonly OpenPosition[]>
}

/** Ended matches, with everything that they heard. */
export interface Recordings {
  list(limit: number, before: FixtureId | null): Promise<readonly RecordedMatch[]>
  /** The match of a recording, or null. */
  find(matchId: FixtureId): Promise<MatchInfo | null>
  lines(info: MatchInfo): AsyncGenerator<string>
  chart(info: MatchInfo): Promise<readonly PricePath[]>
}

/** What admins see and set. */
export interface AdminDeps {
  readonly settings: Settings
  /** What a valid setting would do to the running matches. One that cannot be reached is not `known`. */
  readonly effectsOf: (setting: ConsideredSetting) => Promise<readonly RuleEffect[]>
  readonly audit: Audit
  readonly userList: UserList
  readonly anchors: Anchors
  readonly userFiles: UserFiles
  readonly feedDesk: FeedDesk
  readonly recordings: Recordings
  readonly events: Pick<EventFeed, 'lines'>
  readonly bot: Bot
}

export interface HttpDeps extends EdgeDeps, CallerDeps, TradingDeps, AdminDeps {
  readonly community: CommunityPorts
  /** What people see who are not signed in. */
  readonly watching: Pick<DelayedMatches, 'shown' | 'delayMs'>
  /** Describes the WebSocket address. */
  readonly describeFeed: typeof describeFeed
  /** The page for browsers. */
  readonly web: WebFiles
  /** Where to report a weakness, as a mailto: or https: address; null if nowhere. */
  readonly securityContact: string | null
}
