/**
 * The types of answers, taken from the server's own schemas and erased at run time. The package for other programs has
 * the same names, made from the description of the API.
 */
import type { z } from 'zod'
import type * as accounts from '../../http/account-schemas.ts'
import type * as schemas from '../../http/schemas.ts'
import type { CloseBody } from '../../http/close-schema.ts'
import type * as leagues from '../../features/leagues/schema.ts'
import type * as seasons from '../../features/seasons/schema.ts'
import type { PlayerProfileBody } from '../../features/player-profile/schema.ts'
import type { MatchTableBody } from '../../features/match-board/schema.ts'
import type { ReferralBody } from '../../features/referrals/schema.ts'
import type { RecapBody, RecapTradeBody, RecordBody } from '../../features/recaps/schema.ts'
import type { TournamentBody } from '../../features/tournaments/schema.ts'
import type { PriceAlertBody, WatchlistBody } from '../../features/watchlist/schema.ts'
import type { UserBody } from '../../http/user-schema.ts'

export type Match = z.output<typeof schemas.MatchBody>
export type TradeWindow = z.output<typeof schemas.WindowBody>
export type Instrument = z.output<typeof schemas.InstrumentBody>
export type PriceHistory = z.output<typeof schemas.PriceHistoryBody>
export type Movers = z.output<typeof schemas.MoversBody>
export type MatchEvents = z.output<typeof schemas.MatchEventsBody>
export type Squad = z.output<typeof schemas.SquadBody>
export type MatchTable = z.output<typeof MatchTableBody>
export type Position = z.output<typeof schemas.PositionBody>
export type Wallet = z.output<typeof schemas.WalletBody>
export type Trade = z.output<typeof schemas.TradeBody>
export type Close = z.output<typeof CloseBody>
export type AccountChangesPage = z.output<typeof schemas.AccountChangesBody> & { nextCursor: string | null }
export type User = z.output<typeof UserBody>
export type Notification = z.output<typeof schemas.NotificationBody>
export type League = z.output<typeof leagues.LeagueBody>
export type LeagueOutline = z.output<typeof leagues.LeagueOutlineBody>
export type LeaguePlace = z.output<typeof leagues.LeaguePlaceBody>
export type LeagueMatchPlace = z.output<typeof leagues.LeagueMatchPlaceBody>
export type Season = z.output<typeof seasons.SeasonBody>
export type PastSeason = z.output<typeof seasons.PastSeasonBody>
export type Tournament = z.output<typeof TournamentBody>
export type Recap = z.output<typeof RecapBody>
export type RecapTrade = z.output<typeof RecapTradeBody>
export type PlayerProfile = z.output<typeof PlayerProfileBody>
export type TradingRecord = z.output<typeof RecordBody>
export type Follows = z.output<typeof WatchlistBody>
export type PriceAlert = z.output<typeof PriceAlertBody>
export type PositionWhy = z.output<typeof accounts.WhyBody>
export type LedgerEntry = z.output<typeof accounts.LedgerEntryBody>
export type Refill = z.output<typeof accounts.RefillBody>
export type PersonalKey = z.output<typeof accounts.KeyBody>
export type OwnLimits = z.output<typeof accounts.LimitsBody>
export type LeaderboardEntry = z.output<typeof accounts.LeaderboardEntryBody>
export type DistrictStanding = z.output<typeof accounts.DistrictBody>
export type ActivityEvent = z.output<typeof accounts.ActivityEventBody>
export type LeagueTable = z.output<typeof leagues.LeagueTableBody>
export type Referral = z.output<typeof ReferralBody>
