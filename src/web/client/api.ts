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
  ErrorBody,
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
  Notification,
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

/** The server refused, or (status 0) could not be reached. */
export class ApiError extends Error {
  readonly status: number
  /** For programs; `OFFLINE` when there was no answer. */
  readonly code: string
  /** The whole body of the answer. */
  readonly facts: ErrorBody

  constructor(status: number, facts: ErrorBody) {
    super(facts.error)
    this.name = 'ApiError'
    this.status = status
    this.code = facts.code
    this.facts = facts
  }
}

export interface ApiOptions {
  /** Where the API is, without a slash at the end; empty for the page's own address. */
  readonly baseUrl?: string
  /** A personal key, for programs. Without one the session is in cookies. */
  readonly key?: string
  /** Sends the requests, for programs that keep cookies themselves. */
  readonly fetch?: (input: string, init: RequestInit) => Promise<Response>
  /** Called when the session is over and the refresh token is gone. */
  readonly onSignedOut?: () => void
  /** Called each time that the server cannot be reached, also while a request is still repeated. */
  readonly onUnreachable?: () => void
}

interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** Makes the request safe to repeat: the effect happens once, and the first answer is repeated. */
  readonly key?: string
  /** The request is part of signing in: a 401 is then an answer like any other. */
  readonly isSigningIn?: boolean
}

/** By ROI, or by PnL; friends are those of the referral network. */
export type BoardName = 'roi/global' | 'roi/friends' | 'global' | 'friends' | `roi/district/${number}`

const ATTEMPTS = 4
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 3_000
const NOTED_MS = 50

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

type Ask = <Answer>(path: string, options?: RequestOptions) => Promise<Answer>

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
  positions: (status: 'open' | 'closed' | 'all', purse?: Purse, limit = 100) =>
    ask<{ positions: Position[] }>('/api/positions', { query: { purse, status, limit } }),
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
  notifications: () =>
    ask<{ notifications: Notification[]; unreadCount: number }>('/api/notifications', { query: { limit: 50 } }),
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

/** Requests with the session of one visitor, which is renewed when it has expired. */
function createAsking({
  baseUrl = '',
  key: personalKey,
  fetch: send = (input, init) => fetch(input, init),
  onSignedOut = () => undefined,
  onUnreachable = () => undefined,
}: ApiOptions): { readonly ask: Ask; readonly renew: () => Promise<boolean> } {
  /** One rotation at a time, among all tabs: a second one with the same token would be refused. */
  let renewing: Promise<boolean> | null = null
  const renew = (before = lastRenewal()): Promise<boolean> => {
    renewing ??= alone(rotate, before).finally(() => (renewing = null))
    return renewing
  }
  const rotate = async (): Promise<boolean> => {
    // A rotation whose answer was lost has happened: under its key the server gives the same tokens again.
    const key = newKey()
    for (let attempt = 1; ; attempt++) {
      try {
        const { ok, status } = await once('/api/auth/refresh', { method: 'POST', key })
        if (status !== 503 || attempt === ATTEMPTS) return ok
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
      }
      await pause(attempt, null)
    }
  }

  const once = (path: string, { method = 'GET', query = {}, body, key }: RequestOptions): Promise<Response> => {
    const parameters = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const search = parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`
    return send(`${baseUrl}${path}${search}`, {
      method,
      credentials: personalKey === undefined ? 'include' : 'omit',
      headers: {
        ...(personalKey === undefined ? {} : { authorization: `Bearer ${personalKey}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  }

  async function ask<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
    const mayRepeat = (options.method ?? 'GET') === 'GET' || options.key !== undefined
    for (let attempt = 1; ; attempt++) {
      const isLast = !mayRepeat || attempt === ATTEMPTS
      let response: Response
      const before = lastRenewal()
      try {
        response = await once(path, options)
        if (response.status === 401 && options.isSigningIn !== true && personalKey === undefined) {
          if (!(await renew(before))) onSignedOut()
          else response = await once(path, options)
        }
      } catch {
        onUnreachable()
        if (isLast) throw new ApiError(0, { error: 'the server cannot be reached', code: 'OFFLINE' })
        await pause(attempt, null)
        continue
      }
      if (response.ok) return (await response.json()) as Answer
      const facts = await errorIn(response)
      const isPassing = (response.status === 503 && facts.code !== 'COMING_SOON') || facts.code === 'KEY_IN_FLIGHT'
      if (!isPassing || isLast) throw new ApiError(response.status, facts)
      await pause(attempt, response.headers.get('retry-after'))
    }
  }

  return { ask, renew }
}

/** When a tab of this browser last renewed the session. */
const RENEWED = 'touchline.renewed'

const lastRenewal = (): string | null => (typeof localStorage === 'undefined' ? null : localStorage.getItem(RENEWED))

/**
 * Runs one rotation among the tabs of a browser, unless the session has been renewed since `before`, when the refused
 * request was sent: then the tab has the tokens already.
 */
async function alone(rotate: () => Promise<boolean>, before: string | null): Promise<boolean> {
  if (typeof navigator === 'undefined' || typeof localStorage === 'undefined' || navigator.locks === undefined) {
    return rotate() // a program, or a page without TLS
  }
  return navigator.locks.request(RENEWED, async () => {
    // What another tab has noted arrives some milliseconds after its lock is free.
    await new Promise((resolve) => setTimeout(resolve, NOTED_MS))
    if (lastRenewal() !== before) return true
    const isRenewed = await rotate()
    if (isRenewed) localStorage.setItem(RENEWED, newKey())
    return isRenewed
  })
}

async function errorIn(response: Response): Promise<ErrorBody> {
  const fallback = { error: response.statusText || 'no answer', code: `HTTP_${response.status}` }
  try {
    const body = (await response.json()) as ErrorBody
    return typeof body.error === 'string' ? { ...fallback, ...body } : fallback
  } catch {
    return fallback
  }
}

function pause(attempt: number, retryAfter: string | null): Promise<void> {
  const own = FIRST_PAUSE_MS * 2 ** (attempt - 1)
  const asked = retryAfter === null ? own : Number(retryAfter) * 1_000
  return new Promise((resolve) => {
    setTimeout(resolve, Math.min(LONGEST_PAUSE_MS, Math.max(own, asked || 0)))
  })
}

/** A key for one order. Works where `crypto.randomUUID` does not: on pages without TLS. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
