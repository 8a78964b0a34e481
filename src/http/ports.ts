/** What HTTP asks of the rest of the house; the composition root hands it the real things. */
import type { FixtureId, InstrumentId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { Flags } from '../../actors/kernel/settings.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import type { Instant, World } from '../../actors/kernel/world.ts'
import type { Ending } from '../../actors/match/ending.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { MatchInfo, Trade, UserCommand } from '../../actors/match/messages.ts'
import type { AccountChanges } from '../../db/account-log.ts'
import type { AuditEntry, ControlAction } from '../../db/audit-log.ts'
import type { Listing } from '../../db/catalogue.ts'
import type { Allowance, Hits, Spent } from '../../db/fast/fast-store.ts'
import type { MoversBoard } from '../../db/movers.ts'
import type { History } from '../../db/price-history.ts'
import type { TapeTrade } from '../../db/tape.ts'
import type { HeldPosition, PositionQuery } from '../../db/positions.ts'
import type { SettingChange, SettingEntry, SettingOutcome } from '../../db/settings.ts'
import type { ListedUser, RoleChange, RoleOutcome, UserPage, UserQuery } from '../../db/user-list.ts'
import type { District, SignedIn, SyntheticSignIn, User } from '../../db/users.ts'
import type { LedgerAudit, LedgerEntry, LedgerQuery, WalletNow } from '../../db/wallets.ts'
import type { describeFeed } from '../../rooms/feed/feed-description.ts'
import type { Ended } from '../../rooms/match/match-desk.ts'
import type { CookiePolicy } from '../auth/cookies.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { MetricsAccess } from '../config.ts'
import type { BotOrder, BotStart, BotStop, BundledFixture, ReplayReport } from '../replays/gameplay-bot.ts'
import type { Log } from '../observe/log.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { CommunityPorts } from './community-ports.ts'
import type { ObserveRequest } from './edge.ts'
import type { RateLimitOptions } from './rate-limits.ts'
import type { WebFiles } from './web-files.ts'

export interface Accounts {
  find(id: UserId): Promise<User | null>
  /** The synthetic user of this name, created with a wallet when new; null when there is no such district. */
  signInSynthetic(request: SyntheticSignIn): Promise<SignedIn | null>
  /** The same for many names, in their order; districts are dealt out in turn. */
  createSyntheticMany(displayNames: readonly string[]): Promise<readonly SignedIn[]>
  districts(): Promise<readonly District[]>
}

export interface Registrations {
  isUsernameTaken(username: string): Promise<boolean>
  /** The username of whoever invites with this code, or null when nobody does. */
  inviterOf(code: string): Promise<string | null>
}

export interface Wallets {
  /** Null when the user does not exist. */
  find(userId: UserId): Promise<WalletNow | null>
  /** What was booked on his account, the latest first. */
  ledger(userId: UserId, query: LedgerQuery): Promise<readonly LedgerEntry[]>
  /** Adds up the whole ledger. */
  auditLedger(): Promise<LedgerAudit>
}

export interface Catalogue {
  /** Every active instrument, by match and name. */
  instruments(): Promise<readonly Listing[]>
  instrument(id: InstrumentId): Promise<Listing | null>
  /** Every known match, unfinished ones first. */
  matches(): Promise<readonly MatchInfo[]>
  match(id: FixtureId): Promise<MatchInfo | null>
}

export interface MarketHistory {
  /** A player's prices since an instant, or since his first tick; empty for one who has none. */
  prices(id: InstrumentId, from: Instant | null): Promise<History>
  /** The latest trades in a player, the newest first. */
  trades(id: InstrumentId, limit: number): Promise<readonly TapeTrade[]>
  movers(): Promise<MoversBoard>
}

export interface Account {
  /** What happened to the user's positions after a marker, or a snapshot. Null when the user does not exist. */
  changes(userId: UserId, since: number | null, limit: number): Promise<AccountChanges | null>
}

export interface Positions {
  /** The user's positions, latest opened first. */
  list(userId: UserId, query: PositionQuery): Promise<readonly HeldPosition[]>
  /** Null when there is none, or it is somebody else's. */
  find(userId: UserId, id: PositionId): Promise<HeldPosition | null>
}

/** The caller's side of the matches. */
export interface Desk {
  submit(command: UserCommand): Promise<Outcome<Trade>>
  quote(query: QuoteQuery): Promise<Outcome<QuoteAnswer>>
  /** Ends a match by an operator's word. `over`: it has ended already; `elsewhere`: it could not be told. */
  end(matchId: FixtureId, ending: Ending): Promise<Ended>
}

/** Counts calls, in all processes together when they share a fast store. */
export interface Rates {
  hit(route: string, caller: string, windowMs: number): Promise<Hits>
  spend(action: string, caller: string, allowance: Allowance): Promise<Spent>
}

export interface Settings {
  /** Every setting as it stands; flags are listed by themselves. */
  list(): readonly SettingEntry[]
  listFlags(): readonly SettingEntry[]
  /** In force here when it resolves, in every other process within a second. Writes an audit row. */
  set(change: SettingChange): Promise<SettingOutcome>
  setFlag(change: SettingChange): Promise<SettingOutcome>
}

export interface Audit {
  record(deed: ControlAction): Promise<void>
  /** The latest first; `before` goes on from an entry's id. */
  list(limit: number, before: number | null): Promise<readonly AuditEntry[]>
}

export interface UserList {
  search(query: UserQuery): Promise<UserPage>
  /** Writes an audit row; counts from the user's next token on. */
  setRole(change: RoleChange): Promise<RoleOutcome>
  /** Everybody, oldest first, a page at a time: no more than one is ever in memory. */
  pages(): AsyncGenerator<readonly ListedUser[]>
}

export interface Bot {
  fixtures(): Promise<readonly BundledFixture[]>
  start(order: BotOrder): Promise<BotStart>
  status(): Promise<readonly ReplayReport[]>
  stop(order: BotStop): Promise<readonly string[]>
}

/** Each named check resolves when its part of the house works and rejects when it does not. */
export type ReadyChecks = Readonly<Record<string, () => Promise<void>>>

export interface Metrics {
  readonly access: MetricsAccess
  readonly contentType: string
  /** Everything that is measured, in the text format of Prometheus. */
  readonly text: () => Promise<string>
  readonly observe: ObserveRequest
}

export interface HttpDeps {
  readonly world: World
  readonly log: Log
  readonly sessions: Sessions
  readonly cookies: CookiePolicy
  readonly corsOrigins: readonly string[]
  readonly limits: RateLimitOptions
  /** The WebSocket address for a client that called this host. */
  readonly wsUrlFor: (hostname: string) => string
  /** Read anew for every request, so that a changed setting counts at once. */
  readonly rules: () => TradingRules
  readonly flags: () => Flags
  readonly accounts: Accounts
  readonly registrations: Registrations
  readonly signIn: SignIn
  readonly wallets: Wallets
  readonly catalogue: Catalogue
  readonly history: MarketHistory
  readonly positions: Positions
  readonly account: Account
  readonly desk: Desk
  readonly community: CommunityPorts
  readonly settings: Settings
  readonly audit: Audit
  readonly userList: UserList
  readonly bot: Bot
  /** Describes the WebSocket address. */
  readonly describeFeed: typeof describeFeed
  /** The client for browsers. */
  readonly web: WebFiles
  readonly readyChecks: ReadyChecks
  readonly metrics: Metrics
  /** Null: nobody traces. */
  readonly tracing: Tracing | null
  /** Whether a thrown error means that something we depend on is away for now, so that a retry may help. */
  readonly isFault: (error: unknown) => boolean
}
