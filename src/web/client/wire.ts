/** The types of the REST contract: those that the server's schemas give, and those of the requests. */
import type {
  AccountChangesPage,
  League,
  LeagueMatchPlace,
  LeaguePlace,
  Match,
  MatchEvents,
  Position,
  PriceHistory,
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

export interface NewPush {
  readonly endpoint: string
  readonly keys: { readonly p256dh: string; readonly auth: string }
  readonly kinds: readonly PushKind[]
  readonly quiet: QuietHours | null
}

/** From one time of day to another, `HH:MM`, in a zone of the IANA database. */
export interface QuietHours {
  readonly from: string
  readonly to: string
  readonly timeZone: string
}

/** What moved the price of a position, and what closed it. */
export interface PositionWhy {
  readonly openPrice: number
  readonly moves: readonly Move[]
  /** All moves by cause, in units of price. */
  readonly because: {
    readonly events: readonly { readonly reason: Move['reason']; readonly amount: number }[]
    readonly play: number
    readonly crowd: number
    readonly other: number
  }
  readonly close: {
    readonly by: 'user' | 'stop_loss' | 'take_profit' | 'washout' | 'full_time' | 'void' | 'admin'
    readonly price: number
    /** The level that was reached, if one was. */
    readonly level: number | null
    /** The move that reached it. */
    readonly tick: Move | null
  } | null
}

/** A change of a wallet. */
export interface LedgerEntry {
  readonly kind:
    | 'grant'
    | 'margin'
    | 'release'
    | 'external_adjustment'
    | 'referral'
    | 'refill'
    | 'moved'
    | 'void'
    | 'void_shortfall'
  readonly amount: number
  readonly positionId: string | null
  readonly at: string
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

export interface LeagueTable {
  readonly league: League
  readonly total: number
  readonly entries: readonly LeaguePlace[]
  readonly me: LeaguePlace
}

export interface LeagueMatchTable {
  readonly entries: readonly LeagueMatchPlace[]
}

export interface Refill {
  readonly refilled: number
  readonly wallet: Wallet
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

export interface BoardEntry {
  readonly rank: number
  readonly userId: string
  readonly username: string
  readonly districtId: number
  readonly score: number
  readonly roiPct: number
  readonly pnl: number
  /** 0 to 1. */
  readonly winRate: number
  readonly trades: number
  /** The account trades by a key. */
  readonly bot: boolean
  readonly isMe: boolean
}

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

export interface DistrictStanding {
  readonly rank: number | null
  readonly districtId: number
  readonly name: string
  readonly members: number
  readonly score: number | null
}

export interface ActivityEvent {
  readonly id: string
  readonly type: string
  readonly username: string
  readonly text: string
  readonly data: Readonly<Record<string, unknown>>
  readonly at: string
}

export interface Referral {
  readonly id: string
  readonly name: string | null
  readonly url: string
  readonly status: 'unclaimed' | 'pending' | 'credited'
  readonly reward: number
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
  readonly referralCode?: string
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

export interface PersonalKey extends KeyOrder {
  readonly id: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

/** A looser value that waits. */
interface Waiting<Value> {
  readonly value: Value | null
  readonly at: string
}

/** The caller's own limits; null for none. */
export interface OwnLimits {
  readonly dailyLoss: number | null
  readonly coolOffUntil: string | null
  readonly excludedUntil: string | null
  readonly pending: {
    readonly dailyLoss?: Waiting<number>
    readonly coolOffUntil?: Waiting<string>
    readonly excludedUntil?: Waiting<string>
  }
  readonly lostToday: number
  readonly atStake: number
  readonly dayEndsAt: string
}

export type WantedLimits = Partial<Pick<OwnLimits, 'dailyLoss' | 'coolOffUntil' | 'excludedUntil'>>

/** `deletionCancelled`: the account was about to be deleted, and stays. */
export interface SignedIn {
  readonly user: User
  readonly deletionCancelled?: true
}
