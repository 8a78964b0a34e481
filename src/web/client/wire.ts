/** The types of the REST contract: those that the server's schemas give, and those of the requests. */
import type {
  AccountChangesPage,
  LeaderboardEntry,
  LeagueMatchPlace,
  Match,
  MatchEvents,
  Notification,
  OwnLimits,
  Position,
  PriceHistory,
  Referral,
  Trade,
  User,
  Wallet,
} from './schema-types.ts'

export type * from './schema-types.ts'
export type Period = PriceHistory['period']
export type MatchEvent = MatchEvents['events'][number]
export type AccountChanges = Omit<AccountChangesPage, 'nextCursor'>
export type Me = { readonly loggedIn: false } | ({ readonly loggedIn: true } & User)

export type Direction = Position['direction']
export type Purse = Wallet['purse']

/** Live matches as they stood `delaySecs` before. */
export interface WatchedMatches {
  readonly at: string | null
  readonly delaySecs: number
  readonly matches: readonly Omit<Match, 'tradeWindow'>[]
}

/** Of a settled match: how it ended. */
export interface WatchedMatch {
  readonly at: string
  readonly delaySecs: number
  readonly match: Omit<Match, 'tradeWindow'> & {
    readonly players: readonly {
      readonly playerId: number
      readonly name: string
      readonly position: 'GK' | 'DEF' | 'MID' | 'FWD'
      readonly jerseyNumber: number | null
      readonly starter: boolean
      readonly side: 'home' | 'away'
      readonly price: number
      readonly changePct: number
    }[]
    readonly events: readonly MatchEvent[]
  }
}

export type PushKind = 'stop' | 'washout' | 'warning' | 'settlement' | 'league' | 'player'

/** Browsers that are told what happens, and the key of the server for one more. */
export interface PushState {
  readonly publicKey: string
  readonly subscriptions: readonly {
    readonly id: string
    readonly endpoint: string
    readonly kinds: readonly PushKind[]
    readonly quiet: QuietHours | null
  }[]
}

/** What `toJSON` of a subscription has, what to send it and when. */
export interface NewPush {
  readonly endpoint?: string
  readonly keys?: Readonly<Record<string, string>>
  readonly kinds: readonly PushKind[]
  readonly quiet: QuietHours | null
}

/** From one time of day to another, `HH:MM`, in a zone of the IANA database. */
export interface QuietHours {
  readonly from: string
  readonly to: string
  readonly timeZone: string
}

/** A move of a price, and what moved it most. */
export interface Move {
  readonly at: string
  readonly from: number
  readonly to: number
  readonly reason: PriceHistory['ticks'][number]['reason']
}

/** What a league is founded with. The starting balance is 10,000 units if absent. */
export interface NewLeague {
  readonly name: string
  /** Absent: at once. */
  readonly startsAt?: string
  readonly endsAt: string
  readonly startingBalance?: number
  readonly matches: 'all' | 'practice' | 'tournaments' | readonly number[]
}

export interface LeagueMatchTable {
  readonly entries: readonly LeagueMatchPlace[]
}

export interface Order {
  readonly instrumentId: string
  /** Absent: that of the match. The id of a league: its own. */
  readonly purse?: Purse
  readonly direction: Direction
  readonly lotSize: number
  readonly stopLoss?: number | null
  readonly takeProfit?: number | null
}

export interface OpenOrder extends Order {
  /** The price that was on the screen. */
  readonly clientPrice: number
}

/** A level left out is kept, null removes it. */
export interface Levels {
  readonly stopLoss?: number | null
  readonly takeProfit?: number | null
}

export interface Quote {
  readonly fillPrice: number
  readonly exitPrice: number
  readonly impact: number
  readonly currentPrice: number
  readonly margin: number
  readonly washoutPrice: number | null
  readonly pnlAtStopLoss: number | null
  readonly pnlAtTakeProfit: number | null
  readonly maxLotSize: number
  readonly warnings: Trade['warnings']
  readonly refusal: ErrorBody | null
}

export type BoardEntry = LeaderboardEntry

export interface Board {
  readonly entries: readonly BoardEntry[]
  readonly total: number
}

export type MyRank =
  | { readonly ranked: false }
  | ({ readonly ranked: true; readonly total: number; readonly next: NextRank | null } & Omit<BoardEntry, 'isMe'>)

export interface NextRank {
  readonly rank: number
  readonly score: number
  readonly gap: number
}

export interface District {
  readonly id: number
  readonly name: string
}

export interface Referrals {
  readonly code: string
  readonly url: string
  readonly referrals: readonly Referral[]
  readonly summary: {
    readonly invited: number
    readonly registered: number
    readonly earned: number
    readonly total_credited: number
  }
}

export interface Badge {
  readonly id: string
  readonly name: string
  readonly description: string
}

export interface Achievements {
  readonly xp: number
  readonly level: number
  readonly earned: readonly (Badge & { readonly earnedAt: string })[]
  readonly locked: readonly (Badge & { readonly progress: { readonly current: number; readonly target: number } })[]
}

/** The profile step of registering. */
export interface Profile {
  readonly username: string
  readonly firstName: string
  readonly districtId: number
  readonly referralCode?: string | null
}

/** Newest first. */
export interface Notifications {
  readonly notifications: readonly Notification[]
  readonly unreadCount: number
  readonly nextCursor: string | null
}

/** Every error has this form, plus facts of its own. */
export interface ErrorBody {
  readonly error: string
  readonly code: string
  readonly [fact: string]: unknown
}

/** What a key of a program allows. */
export type Scope = 'read' | 'trade' | 'admin:read' | 'admin:write'

export interface KeyOrder {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: string
}

export type WantedLimits = Partial<Pick<OwnLimits, 'dailyLoss' | 'coolOffUntil' | 'excludedUntil'>>

/** `deletionCancelled`: the account was about to be deleted, and stays. */
export interface SignedIn {
  readonly user: User
  readonly deletionCancelled?: true
}
