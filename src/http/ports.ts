/** The ports of the REST API: what its routes need from the rest of the server. The composition root passes them in. */
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { Flags } from '../../actors/kernel/settings.ts'
import type { AccountLog } from '../../db/account-log.ts'
import type { Catalogue } from '../../db/catalogue.ts'
import type { DataExport } from '../../db/data-export.ts'
import type { Deletions } from '../../db/deletions.ts'
import type { Movers } from '../../db/movers.ts'
import type { OwnLimitsStore } from '../../db/own-limits.ts'
import type { Positions } from '../../db/positions.ts'
import type { PriceHistory } from '../../db/price-history.ts'
import type { PriceMoves } from '../../db/price-moves.ts'
import type { RecentTrades } from '../../db/recent-trades.ts'
import type { Refills } from '../../db/refills.ts'
import type { Registrations } from '../../db/registrations.ts'
import type { Users } from '../../db/users.ts'
import type { Wallets } from '../../db/wallets.ts'
import type { describeFeed } from '../../rooms/feed/feed-description.ts'
import type { PersonalKeys } from '../auth/personal-keys.ts'
import type { SecurityEvents } from '../auth/security-events.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { SignIn } from '../auth/sign-in.ts'
import type { AdminPorts } from './admin-ports.ts'
import type { CommunityPorts } from './community-ports.ts'
import type { DelayedMatches } from './delayed-matches.ts'
import type { Desk } from './desk-port.ts'
import type { EdgeDeps } from './edge-port.ts'
import type { LeaguePurses } from './league-purses.ts'
import type { RateLimitOptions } from './rate-limits.ts'
import type { WebFiles } from './web-files.ts'

/** Who calls, and how often they may. */
export interface CallerDeps {
  readonly sessions: Sessions
  readonly keys: PersonalKeys
  readonly accounts: Pick<Users, 'find' | 'signInSynthetic' | 'createSyntheticMany' | 'districts'>
  readonly registrations: Pick<Registrations, 'isUsernameTaken' | 'inviterOf'>
  readonly signIn: SignIn
  readonly personal: Personal
  readonly security: Pick<SecurityEvents, 'signedIn' | 'signInFailed'>
  readonly limits: RateLimitOptions
  /** Read for every request, so that a changed flag takes effect at once. */
  readonly flags: () => Flags
  /** The WebSocket address for a client that called this host. */
  readonly wsUrlFor: (hostname: string) => string
}

/** A user's own data and limits. */
interface Personal extends Pick<DataExport, 'pages'> {
  readonly requestDeletion: Deletions['request']
  /** False for an unknown user. */
  hide(...of: [user: Parameters<Users['find']>[0], hidden: boolean]): Promise<boolean>
  limits(user: Parameters<OwnLimitsStore['find']>[0]): ReturnType<OwnLimitsStore['find']>
  readonly changeLimits: OwnLimitsStore['change']
}

/** What can be traded, and trading it. */
export interface TradingDeps {
  readonly catalogue: Pick<Catalogue, 'instruments' | 'instrument' | 'matches' | 'match' | 'outcomes'>
  readonly history: {
    readonly prices: PriceHistory['of']
    readonly moves: PriceMoves['largest']
    readonly trades: RecentTrades['recent']
    readonly movers: Movers['top']
  }
  readonly desk: Desk
  readonly positions: Pick<Positions, 'list' | 'find'>
  readonly wallets: Pick<Wallets, 'find' | 'means' | 'ledger' | 'ledgerPages' | 'auditLedger'>
  readonly purses: LeaguePurses
  readonly refills: Pick<Refills, 'practice' | 'main'>
  readonly account: Pick<AccountLog, 'changes'>
  /** Read for every request, so that a changed setting takes effect at once. */
  readonly rules: () => TradingRules
}

export interface HttpDeps extends EdgeDeps, CallerDeps, TradingDeps, AdminPorts {
  readonly community: CommunityPorts
  /** What people see who are not signed in. */
  readonly watching: Pick<DelayedMatches, 'shown' | 'delayMs' | 'ended'>
  /** Describes the WebSocket address. */
  readonly describeFeed: typeof describeFeed
  /** The page for browsers. */
  readonly web: WebFiles
  /** Where to report a weakness, as a mailto: or https: address; null if nowhere. */
  readonly securityContact: string | null
}
