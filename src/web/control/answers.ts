/** What the admin endpoints answer. */
import type { PersonalKey, Position } from '../client/wire.ts'

export interface Replay {
  readonly id: string
  readonly fixtureId: string
  readonly matchId: number
  readonly minute: number | null
  readonly progress: number | null
  readonly speed: number
  readonly traders: number
  readonly state: 'playing' | 'stopping'
  readonly demo: boolean
  readonly practice: boolean
}

export interface Recording {
  readonly id: string
  readonly title: string
  readonly minutes: number
  readonly players: number
}

export interface RecordedTeam {
  readonly name: string
  readonly score: number | null
}

/** The prices of a player over a match, at even distances of time. */
export interface PricePath {
  readonly name: string
  readonly prices: readonly number[]
}

/** An ended match. */
export interface EndedMatch {
  readonly matchId: number
  readonly startsAt: string
  readonly home: RecordedTeam
  readonly away: RecordedTeam
  readonly replay: boolean
  readonly events: number
  readonly bytes: number
}

/** When and by whom a flag or setting was last changed; null while it has its default. */
interface Updated {
  readonly updatedAt: string | null
  readonly updatedBy: string | null
}

export interface Flag extends Updated {
  readonly key: string
  readonly enabled: boolean
  readonly description: string
}

export type SettingValue = number | boolean | string

export interface Setting extends Updated {
  readonly key: string
  readonly value: SettingValue
  readonly type: 'number' | 'boolean' | 'choice'
  readonly default: SettingValue
  readonly description: string
  readonly min?: number
  readonly max?: number
  readonly decimals?: number
  readonly options?: readonly string[]
}

/** What a setting would do to the running matches. */
export interface Foreseen {
  readonly maxMovePct: number
  readonly closes: number
  readonly needsForce: boolean
  readonly matches: readonly { readonly matchId: number; readonly known: boolean }[]
}

export interface ListedUser {
  readonly userId: string
  readonly username: string
  readonly email: string
  readonly name: string
  readonly role: string
  readonly balance: number | null
  readonly synthetic: boolean
  readonly status: 'active' | 'frozen'
  readonly createdAt: string
}

/** A position in a user's file. */
export type Holding = Position

interface Who {
  readonly userId: string
  readonly username: string
}

/** A personal key that reaches endpoints for admins. */
export interface AdminKey extends PersonalKey, Who {}

export interface UserFile {
  readonly user: ListedUser
  readonly hiddenFromBoards: boolean
  readonly deletionDue: string | null
  readonly purses: readonly {
    readonly wallet: { readonly purse: string; readonly balance: number; readonly marginUsed: number }
    readonly league: string | null
    readonly positions: readonly Holding[]
    readonly ledger: readonly {
      readonly kind: string
      readonly amount: number
      readonly positionId: string | null
      readonly at: string
    }[]
  }[]
  readonly sessions: readonly {
    readonly id: string
    readonly lastSeenAt: string
    readonly addressPrefix: string
    readonly userAgent: string | null
  }[]
  readonly keys: readonly PersonalKey[]
  readonly connections: readonly (Who & { readonly kind: string })[]
  readonly alerts: readonly { readonly id: number; readonly at: string; readonly finding: string }[]
  readonly deeds: readonly {
    readonly id: number
    readonly at: string
    readonly action: string
    readonly by: string | null
    readonly text: string | null
  }[]
}

export interface Risk {
  readonly asOf: string
  readonly houseToday: number
  readonly exposures: readonly {
    readonly matchId: number
    readonly instrumentId: string
    readonly name: string
    readonly positions: number
    readonly long: number
    readonly short: number
    readonly margin: number
    readonly houseToday: number
  }[]
  readonly winners: readonly (Who & { readonly pnl: number; readonly closes: number })[]
  readonly losers: readonly (Who & { readonly pnl: number; readonly closes: number })[]
  readonly markOuts: readonly (Who & {
    readonly openings: number
    readonly after10s: number
    readonly after60s: number
  })[]
  readonly groups: readonly { readonly at: string; readonly finding: string; readonly users: readonly Who[] }[]
}

/** Sums over the whole ledger, and over each purse. */
export interface LedgerAudit {
  readonly [sum: string]: unknown
  readonly purses: readonly { readonly purse: string; readonly wallets: number; readonly imbalance: number }[]
}

export interface AuditEntry {
  readonly id: number
  readonly at: string
  readonly actor: { readonly userId: string; readonly username: string | null } | null
  readonly action: string
  readonly subject: string
  readonly subjectName: string | null
  readonly before: unknown
  readonly after: unknown
  readonly reason: string | null
  readonly outcome: string
}

/** What is left out does not matter. */
export interface AuditFilter {
  readonly actor?: string
  readonly action?: string
  readonly subject?: string
  readonly since?: string
  readonly until?: string
}

export interface Reactions {
  readonly waiting: number
  readonly setAside: readonly { readonly matchId: number; readonly seq: number; readonly error: string }[]
}

/** Live matches with their newest updates, what came to nothing of the feed, and matches that cannot be read. */
export interface FeedState {
  readonly faults: readonly {
    readonly reason: string
    readonly matchId: number | null
    readonly detail: string
    readonly times: number
    readonly firstAt: string
    readonly lastAt: string
  }[]
  readonly matches: readonly {
    readonly matchId: number
    readonly name: string
    readonly phase: string
    readonly startsAt: string
    readonly updatedAt: string | null
  }[]
  readonly quarantined: readonly {
    readonly matchId: number
    readonly name: string
    readonly reason: string
    readonly since: string
    readonly positions: number
    readonly margin: number
  }[]
}

export interface Webhook {
  readonly id: string
  readonly url: string
  readonly types: readonly string[]
  readonly state: 'active' | 'paused' | 'disabled'
  readonly lastSuccessAt: string | null
  readonly failingSince: string | null
  readonly lastError: string | null
  readonly waiting: number
}
