/** Branded identifiers: a user id cannot be passed as a position id. */

declare const brand: unique symbol
type Id<T extends string, Of = string> = Of & { readonly [brand]: T }

/** The provider's fixture number. The match of a fixture has the same id. 32 bits, unsigned, on the price feed. */
export type FixtureId = Id<'fixture', number>
/** The provider's player number. */
export type PlayerId = Id<'player', number>
/** A UUID that stays the same across matches. */
export type InstrumentId = Id<'instrument'>
export type PositionId = Id<'position'>
export type UserId = Id<'user'>
/** One sign-in of one user. */
export type SessionId = Id<'session'>
export type DistrictId = Id<'district', number>
/** A UUID. */
export type LeagueId = Id<'league'>

export const fixtureId = (value: number): FixtureId => value as FixtureId
export const playerId = (value: number): PlayerId => value as PlayerId
export const instrumentId = (value: string): InstrumentId => value as InstrumentId
export const positionId = (value: string): PositionId => value as PositionId
export const userId = (value: string): UserId => value as UserId
export const sessionId = (value: string): SessionId => value as SessionId
export const districtId = (value: number): DistrictId => value as DistrictId
export const leagueId = (value: string): LeagueId => value as LeagueId

/** The 17th digit of a UUID: the variant (RFC 9562, 4.1) in its upper two bits, those of `digit` in its lower two. */
export const uuidVariant = (digit: string): string => VARIANTS.charAt(Number.parseInt(digit, 16))
const VARIANTS = '89ab89ab89ab89ab'
