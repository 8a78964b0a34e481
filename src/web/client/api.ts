/**
 * The REST contract as functions. An expired access token is renewed and the request repeated; a request that is safe
 * to repeat (a read, or one with an idempotency key) is repeated when the network or the server fails; every other
 * failure is one kind of error.
 */
import type {
  Achievements,
  ActivityEvent,
  Board,
  Close,
  District,
  DistrictStanding,
  Instrument,
  KeyOrder,
  League,
  LeagueMatchTable,
  LeagueOutline,
  LeagueTable,
  LedgerEntry,
  Levels,
  Match,
  Follows,
  MatchEvents,
  MatchTable,
  PriceAlert,
  Me,
  Movers,
  MyRank,
  NewLeague,
  NewPush,
  Notifications,
  OpenOrder,
  Order,
  OwnLimits,
  PastSeason,
  Period,
  PersonalKey,
  Position,
  PositionWhy,
  PlayerProfile,
  PriceHistory,
  Profile,
  Purse,
  PushState,
  Quote,
  Recap,
  Referral,
  Referrals,
  Refill,
  Season,
  SignedIn,
  Squad,
  Tournament,
  Trade,
  TradeWindow,
  TradingRecord,
  Wallet,
  WantedLimits,
  WatchedMatch,
  WatchedMatches,
} from './wire.ts'
import { type ApiOptions, type Ask, createAsking } from './ask.ts'

/** By ROI, or by PnL; friends are those of the referral network. */
export type BoardName = 'roi/global' | 'roi/friends' | 'global' | 'friends' | `roi/district/${number}`

/** The API client of one visitor; share it, because it renews the session once for all callers. */
export function createApi(options: ApiOptions = {}) {
  const { ask, renew } = createAsking(options)
  return {
    ask,
    /** Renews the session; false when it is over. */
    renew,
    ...signingIn(ask),
    ...market(ask),
    ...trading(ask),
    ...contests(ask),
    ...community(ask),
    ...ownAccount(ask),
  }
}

/** Who the caller is, signing in and registering. */
const signingIn = (ask: Ask) => ({
  me: () => ask<Me>('/api/me'),
  /** Development only: the same name is the same user. */
  signInByName: (displayName: string, referralCode: string | null = null) =>
    ask<SignedIn>('/api/auth/dev', {
      method: 'POST',
      body: { displayName, ...(referralCode === null ? {} : { referralCode }) },
      isSigningIn: true,
    }),
  /** With the identity provider's token; 422 `NEEDS_PROFILE` brings a newcomer's registration ticket. */
  signInWithToken: (idToken: string, nonce: string) =>
    ask<SignedIn>('/api/auth/google', { method: 'POST', body: { idToken, nonce }, isSigningIn: true }),
  verifyCode: (registrationTicket: string, otp: string) =>
    ask<unknown>('/api/auth/verify-otp', { method: 'POST', body: { registrationTicket, otp }, isSigningIn: true }),
  resendCode: (registrationTicket: string) =>
    ask<{ resendInSecs: number }>('/api/auth/resend-otp', {
      method: 'POST',
      body: { registrationTicket },
      isSigningIn: true,
    }),
  register: (registrationTicket: string, profile: Profile) =>
    ask<SignedIn>('/api/auth/google/complete', {
      method: 'POST',
      body: { registrationTicket, ...profile },
      isSigningIn: true,
    }),
  checkUsername: (username: string) =>
    ask<{ available: boolean; valid: boolean; reason?: string }>('/api/users/check-username', {
      method: 'POST',
      body: { username },
    }),
  districts: () => ask<{ districts: District[] }>('/api/districts'),
  signOut: () => ask<unknown>('/api/auth/logout', { method: 'POST', isSigningIn: true }),
  socketToken: () => ask<{ token: string; wsUrl: string }>('/api/ws/token', { method: 'POST' }),
})

/** Matches, players and their prices. */
const market = (ask: Ask) => ({
  matches: (state?: 'live' | 'upcoming' | 'over') => ask<{ matches: Match[] }>('/api/matches', { query: { state } }),
  match: (id: number) => ask<Match>(`/api/matches/${id}`),
  instrument: (id: string) => ask<Instrument>(`/api/instruments/${id}`),
  profile: (id: string) => ask<PlayerProfile>(`/api/instruments/${id}/profile`),
  /** Live matches, a little behind, without signing in. */
  watched: () => ask<WatchedMatches>('/api/public/matches'),
  watchedMatch: (id: number) => ask<WatchedMatch>(`/api/public/matches/${id}`),
  invitation: (code: string) =>
    ask<{ valid: boolean; invitedBy: string | null }>('/api/public/referral/validate', {
      query: { code },
    }),
  tradeWindow: (fixtureId: number) => ask<TradeWindow>(`/api/matches/${fixtureId}/trade-window`),
  matchEvents: (fixtureId: number) => ask<MatchEvents>(`/api/matches/${fixtureId}/events`),
  /** The first of a match, and the caller with their neighbours. */
  matchTable: (id: number, group: MatchTable['group'], limit: number) =>
    ask<MatchTable>(`/api/matches/${id}/table`, { query: { group, limit } }),
  squad: (fixtureId: number, team: 'home' | 'away') =>
    ask<Squad>(`/api/matches/${fixtureId}/squad`, { query: { team } }),
  instruments: () => ask<{ instruments: Instrument[] }>('/api/instruments'),
  movers: () => ask<Movers>('/api/instruments/movers'),
  priceHistory: (id: string, period: Period) =>
    ask<PriceHistory>(`/api/instruments/${id}/price-history`, { query: { period } }),
})

/** Orders, positions and the wallet. */
const trading = (ask: Ask) => ({
  quote: (order: Order) => ask<Quote>('/api/positions/quote', { method: 'POST', body: order }),
  /** Retry with the same key; a new key is another order. */
  open: (order: OpenOrder, key: string) => ask<Trade>('/api/positions/open', { method: 'POST', body: order, key }),
  change: (id: string, levels: Levels) => ask<Trade>(`/api/positions/${id}`, { method: 'PATCH', body: levels }),
  /** Closes a position, or with `lotSize` a part of it. */
  close: (id: string, key: string, lotSize?: number) =>
    ask<Close>(`/api/positions/${id}/close`, {
      method: 'POST',
      body: lotSize === undefined ? {} : { lotSize },
      key,
    }),
  /** Newest first; in every purse unless one is named. */
  positions: (status: 'open' | 'closed' | 'all', purse?: Purse, limit = 100, cursor?: string) =>
    ask<{ positions: Position[]; nextCursor: string | null }>('/api/positions', {
      query: { purse, status, limit, cursor },
    }),
  why: (id: string) => ask<PositionWhy>(`/api/positions/${id}/why`),
  /** The newest entries, or those after `cursor`. */
  ledger: (purse: Purse = 'main', limit = 50, cursor?: string) =>
    ask<{ entries: LedgerEntry[]; nextCursor: string | null }>('/api/wallet/ledger', {
      query: { purse, limit, cursor },
    }),
  wallet: (purse: Purse = 'main') => ask<Wallet>('/api/wallet', { query: { purse } }),
  refill: (purse: 'main' | 'practice') => ask<Refill>('/api/wallet/refill', { method: 'POST', body: { purse } }),
})

/** Leagues, seasons, tournaments and recaps. */
const contests = (ask: Ask) => ({
  leagues: () => ask<{ leagues: League[] }>('/api/leagues'),
  league: (id: string, limit = 50) => ask<LeagueTable>(`/api/leagues/${id}`, { query: { limit } }),
  leagueMatch: (id: string, matchId: number) => ask<LeagueMatchTable>(`/api/leagues/${id}/matches/${matchId}`),
  leagueOutline: (code: string) => ask<LeagueOutline>(`/api/public/leagues/${encodeURIComponent(code)}`),
  foundLeague: (league: NewLeague) => ask<League>('/api/leagues', { method: 'POST', body: league }),
  joinLeague: (code: string) => ask<League>('/api/leagues/join', { method: 'POST', body: { code } }),
  leaveLeague: (id: string) => ask<{ left: true }>(`/api/leagues/${id}/leave`, { method: 'POST' }),

  season: () => ask<Season>('/api/seasons/current'),
  pastSeasons: () => ask<{ seasons: PastSeason[] }>('/api/seasons'),
  enterSeason: () => ask<League>('/api/seasons/enter', { method: 'POST' }),
  tournaments: () => ask<{ tournaments: Tournament[] }>('/api/tournaments'),
  enterTournament: (id: string) => ask<Tournament>(`/api/tournaments/${id}/enter`, { method: 'POST' }),
  matchRecap: (matchId: number, purse: Purse = 'main') =>
    ask<Recap>(`/api/recaps/matches/${matchId}`, { query: { purse } }),
  /** `week` as in ISO 8601: `2026-W48`. */
  weekRecap: (week: string, purse: Purse = 'main') => ask<Recap>(`/api/recaps/weeks/${week}`, { query: { purse } }),
  /** What one's closed positions of the last 365 days came to. */
  record: (purse: Purse = 'main') => ask<TradingRecord>('/api/recaps/record', { query: { purse } }),
})

/** Boards, notifications and other users. */
const community = (ask: Ask) => ({
  board: (board: BoardName, purse: Purse, limit = 50) =>
    ask<Board>(`/api/leaderboard/${board}`, { query: { purse, limit } }),
  myRank: (purse: Purse) => ask<MyRank>('/api/leaderboard/me/context', { query: { purse } }),
  standings: () => ask<{ districts: DistrictStanding[] }>('/api/districts/standings'),
  /** The newest, or those after `cursor`. */
  notifications: (cursor?: string) => ask<Notifications>('/api/notifications', { query: { limit: 50, cursor } }),
  push: () => ask<PushState>('/api/push'),
  subscribePush: (browser: NewPush) => ask<unknown>('/api/push', { method: 'PUT', body: browser }),
  unsubscribePush: (id: string) => ask<unknown>(`/api/push/${id}`, { method: 'DELETE' }),
  unreadCount: () => ask<{ unreadCount: number }>('/api/notifications/unread-count'),
  readAll: () => ask<unknown>('/api/notifications/read-all', { method: 'POST' }),
  activity: () => ask<{ events: ActivityEvent[] }>('/api/activity', { query: { limit: 30 } }),
  referrals: () => ask<Referrals>('/api/referrals'),
  invite: (name: string) => ask<Referral>('/api/referrals/invites', { method: 'POST', body: { name } }),
  achievements: () => ask<Achievements>('/api/achievements'),
  follows: () => ask<Follows>('/api/me/follows'),
  chooseFollowKinds: (kinds: Follows['kinds']) => ask<Follows>('/api/me/follows', { method: 'PUT', body: { kinds } }),
  follow: (id: string, isOn: boolean) => ask<unknown>(`/api/me/follows/${id}`, { method: isOn ? 'PUT' : 'DELETE' }),
  remind: (id: number, isOn: boolean) => ask<unknown>(`/api/me/reminders/${id}`, { method: isOn ? 'PUT' : 'DELETE' }),
  addAlert: (alert: { instrumentId: string; level: number }) =>
    ask<PriceAlert>('/api/me/alerts', { method: 'POST', body: alert }),
  removeAlert: (id: string) => ask<unknown>(`/api/me/alerts/${id}`, { method: 'DELETE' }),
})

/** Keys, limits and the account itself. */
const ownAccount = (ask: Ask) => ({
  keys: () => ask<{ keys: PersonalKey[] }>('/api/keys'),
  /** The answer is the only one that shows the secret. */
  newKey: (order: KeyOrder) => ask<{ key: PersonalKey; secret: string }>('/api/keys', { method: 'POST', body: order }),
  limits: () => ask<OwnLimits>('/api/me/limits'),
  /** Stricter limits bind at once, looser ones after 24 hours. */
  setLimits: (wanted: WantedLimits) => ask<OwnLimits>('/api/me/limits', { method: 'PUT', body: wanted }),
  hide: (hiddenFromBoards: boolean) =>
    ask<{ hiddenFromBoards: boolean }>('/api/me', { method: 'PATCH', body: { hiddenFromBoards } }),
  deleteAccount: (confirm: string) => ask<{ deletionDue: string }>('/api/me', { method: 'DELETE', body: { confirm } }),
  deleteKey: (id: string) => ask<unknown>(`/api/keys/${id}`, { method: 'DELETE' }),
})
