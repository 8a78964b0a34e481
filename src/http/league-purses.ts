/** The purses of leagues, which a feature brings. */
import type { FixtureId, InstrumentId, LeagueId, UserId } from '../../actors/kernel/ids.ts'
import type { CommonPurse } from '../../actors/kernel/purse.ts'
import type { Instant } from '../../actors/kernel/world.ts'

/** Why an order in a league is not let through, or that it is. */
export type LeagueTrading =
  | { readonly kind: 'open' }
  | { readonly kind: 'not_member' | 'other_match' }
  | { readonly kind: 'not_running'; readonly startsAt: Instant; readonly endsAt: Instant }

export interface LeaguePurses {
  /** Those of a user, of the league that ends last first, with the names of the leagues. At most `limit`. */
  own(user: UserId, limit: number): Promise<readonly { readonly id: LeagueId; readonly name: string }[]>
  /** The tournament whose match an instrument plays in, if the user has entered it, also once it is over; or null. */
  unnamed(user: UserId, instrument: InstrumentId): Promise<LeagueId | null>
  /** Whether a user may open a position in a match with the purse of a league now. */
  trading(
    user: UserId,
    league: LeagueId,
    match: { readonly id: FixtureId; readonly purse: CommonPurse },
  ): Promise<LeagueTrading>
}
