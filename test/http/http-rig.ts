/**
 * The REST API over ports with fixed values, which record what reached them. Every answer is checked against the
 * description.
 */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import {
  districtId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  positionId,
  type SessionId,
  sessionId,
  type UserId,
  userId,
} from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, FRESH_MS } from '../../actors/kernel/limits.ts'
import { SETTINGS } from '../../actors/kernel/settings.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { done, type Outcome } from '../../actors/kernel/outcome.ts'
import { changeLimits, NO_LIMITS } from '../../actors/kernel/own-limits.ts'
import { HOUR_MS, instant, MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import { PURSES } from '../../actors/kernel/purse.ts'
import type { Trade, UserCommand, WalletAfter } from '../../actors/match/messages.ts'
import type { QuoteAnswer, QuoteQuery } from '../../actors/match/quotes.ts'
import type { Close, Position } from '../../actors/position/position.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { createSessions, type EndedSessions, type SessionRows } from '../../src/auth/sessions.ts'
import { createTokens } from '../../src/auth/tokens.ts'
import { createApp } from '../../src/http/app.ts'
import { DelayedMatches } from '../../src/http/delayed-matches.ts'
import { loadWebFiles } from '../../src/http/web-files.ts'
import { createJudge, type Judge, type OpenApi } from '../../ops/rehearse/fuzz/judge.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import { Rates } from '../../db/rates.ts'
import type { LedgerAudit, LedgerEntry } from '../../db/wallets.ts'
import type { AccountEvent } from '../../db/account-log.ts'
import type { Listing } from '../../db/catalogue.ts'
import type { Mover } from '../../db/movers.ts'
import type { MoveReason } from '../../actors/market/move-reason.ts'
import { tickReason } from '../../actors/market/reason-words.ts'
import type { History } from '../../db/price-history.ts'
import type { RecentTrade } from '../../db/recent-trades.ts'
import type { Device, Session } from '../../db/sessions.ts'
import type { User } from '../../db/users.ts'
import type { ApiPart } from '../../src/http/api-part.ts'
import type { HttpDeps } from '../../src/http/ports.ts'
import { createLog } from '../../src/observe/log.ts'
import { describeFeed } from '../../rooms/feed/feed-description.ts'
import { GOAL, info, instrument, player } from '../support/fixtures.ts'
import { TestWorld } from '../support/test-world.ts'
import { adminPorts } from './admin-ports.ts'
import { leagueApi } from '../../src/features/leagues/index.ts'
import { type FeaturePorts, featureParts, featurePorts } from './feature-parts.ts'
import { communityPorts } from './community-ports.ts'
import { CUP_PLAYER, unnamedPurses } from './league-ports.ts'
import { keyPorts } from './key-ports.ts'

export const NOW = instant(Date.UTC(2026, 4, 2, 14, 30))
export const ALICE = userId('0197f2a0-0000-7000-8000-00000000000a')
export const PLAYER = instrumentId('0197f2a0-0000-8000-8000-000000000001')
export const POSITION = positionId('0197f2a0-0000-7000-8000-0000000000f1')
export const FIXTURE = fixtureId(19_155_071)
/** One that has not begun. */
export const UPCOMING = fixtureId(19_155_072)
export const ALLOWED_ORIGIN = 'https://play.touchline.example'

const keys = await loadOrCreateKeys({ dataDir: '', privateKeyPem: await newPrivateKeyPem(), keyId: 'test' })
/** The session of Alice's access cookie. */
export const SESSION = sessionId('0197f2a0-0000-7000-8000-0000000000e1')
const LIFETIMES = { accessSecs: 900, refreshSecs: 604_800, wsSecs: 60 }

const matchInfo = info({
  matchId: FIXTURE,
  startsAt: instant(NOW - 30 * 60_000),
  minute: 30,
  home: { id: 1, name: 'Harbour', goals: 1 },
  sourceAt: NOW,
  events: [
    { ...GOAL, id: 12, minute: 45, extraMinute: 2, result: '2-0', retracted: true },
    { ...GOAL, id: 11, minute: 45, relatedPlayerName: 'B. Wing', result: '1-0', retracted: false },
  ],
  squad: [
    player(3, { name: 'Bench', starter: false, jersey: null, details: null, role: null }),
    player(1, { name: 'A. Striker', jersey: 9, details: { 86: 2, 118: 7.4, 999_999: 1 } }),
    player(5, { name: 'Keeper', jersey: 1, role: 'GK' }),
    player(2, { name: 'Visitor' }),
  ],
  teamStats: { home: { Corners: 4, 'Ball Possession %': 61 }, away: { Corners: 1 } },
})

const listing: Listing = {
  instrument: instrument(1, {
    id: PLAYER,
    name: 'A. Striker',
    role: 'FWD',
    base: price(210_000_000),
    imbalance: lots(500_000),
    published: price(209_990_000),
  }),
  match: matchInfo,
  price: price(210_005_000),
  changePpm: 50_025,
}

const MOVE: MoveReason = {
  event: { kind: 'goal', minute: 12, extraMinute: null, undone: false },
  byEvent: 30_000_000,
  byMinutes: -10_000,
  byStatistics: 10_000,
}

const priceHistory: History = {
  ticks: [
    {
      at: instant(NOW - 20_000),
      price: price(200_000_000),
      cause: 'listing',
      eventId: null,
      reason: tickReason('listing', null),
    },
    {
      at: instant(NOW - 10_000),
      price: price(230_000_000),
      cause: 'event',
      eventId: 7,
      reason: tickReason('event', MOVE),
    },
    { at: NOW, price: price(210_005_000), cause: 'trade', eventId: null, reason: tickReason('trade', null) },
  ],
  volume: lots(1_500_000),
  firstTickAt: instant(NOW - 86_400_123),
}

const tradesShown: readonly RecentTrade[] = [
  {
    at: instant(NOW + 700),
    direction: 'short',
    lots: lots(10_000),
    price: price(210_005_000),
    action: 'close',
    key: [1_777_730_401, 9, 0],
  },
  {
    at: instant(NOW + 300),
    direction: 'long',
    lots: lots(500_000),
    price: price(210_000_000),
    action: 'open',
    key: [1_777_730_401, 8, 0],
  },
]

const mover: Mover = {
  instrumentId: PLAYER,
  name: 'A. Striker',
  role: 'FWD',
  side: 'home',
  team: matchInfo.home,
  matchId: FIXTURE,
  price: price(210_005_000),
  changePpm: 50_025,
  volume: lots(2_500_000),
}

const position: Position = {
  id: POSITION,
  userId: ALICE,
  purse: 'main',
  instrumentId: PLAYER,
  fixtureId: FIXTURE,
  direction: 'long',
  lots: lots(500_000),
  openPrice: price(200_000_000),
  openBase: price(199_990_000),
  margin: money(50_000_000),
  stopLoss: price(190_000_000),
  takeProfit: null,
  openedAt: NOW,
  closableAt: instant(NOW + 180_000),
  warned: 0,
  close: null,
}

const close: Close = {
  price: price(220_000_000),
  base: price(219_990_000),
  pnl: money(50_000_000),
  at: instant(NOW + 180_000),
  by: 'user',
  voidReason: null,
}
const closedPosition: Position = { ...position, close }

export const wallet: WalletAfter = {
  balance: money(9_950_000_000),
  marginUsed: money(50_000_000),
  unrealizedPnl: money(25_000_000),
}

export const trade: Trade = {
  position,
  price: price(200_005_000),
  exitPrice: price(200_002_500),
  wallet,
  repeated: false,
}

export const quoteAnswer: QuoteAnswer = {
  fillPrice: price(210_010_000),
  exitPrice: price(210_010_000),
  impact: price(5_000),
  currentPrice: price(210_005_000),
  margin: money(52_502_500),
  washoutPrice: price(189_009_000),
  pnlAtStopLoss: money(-50_025_000),
  pnlAtTakeProfit: null,
  maxLots: lots(94_760_000),
  refusal: null,
}

const accountEvent: AccountEvent = {
  marker: 7,
  kind: 'margin_warning',
  at: NOW,
  position: { ...position, warned: 50 },
  currentPrice: price(190_000_000),
  exitPrice: price(189_997_500),
}

export const alice: User = {
  id: ALICE,
  username: 'alice',
  firstName: 'Alice',
  name: 'Alice Ford',
  lastName: null,
  email: 'alice@synthetic.touchline.example',
  picture: null,
  role: 'user',
  status: 'active',
  districtId: districtId(1),
  xp: 0,
  referralCode: 'ALICE1',
  hiddenFromBoards: false,
  deletionDue: null,
  createdAt: NOW,
}

const ownLimits = {
  limits: changeLimits(NO_LIMITS, { dailyLoss: money(500_000_000) }, NOW),
  bounds: { until: null, dailyLoss: money(500_000_000), lostToday: money(-2_500_000), atStake: money(100_000_000) },
}

export type HttpRig = Awaited<ReturnType<typeof openHttpRig>>

/** Alice has opened one position. */
const ledger: readonly LedgerEntry[] = [
  {
    kind: 'margin',
    amount: money(-50_000_000),
    positionId: position.id,
    at: NOW,
    key: [NOW * 1_000, 2, position.id, 'margin'],
  },
  { kind: 'grant', amount: money(10_000_000_000), positionId: null, at: NOW, key: [NOW * 1_000, 0, ALICE, 'grant'] },
]

const BALANCED: LedgerAudit = {
  wallets: 2,
  imbalanceMicros: 0,
  purses: [...PURSES, 'leagues' as const].map((purse) => ({ purse, wallets: 1, imbalanceMicros: 0 })),
  unbalancedTransactions: 0,
  mismatchedWallets: 0,
}

export interface HttpRigOptions {
  readonly role?: 'admin' | 'user'
  readonly audit?: LedgerAudit
  readonly production?: boolean
  readonly comingSoon?: boolean
  readonly outcome?: Outcome<Trade>
  /** What keys are known to have done. */
  readonly recalled?: Outcome<Trade>
  readonly quote?: Outcome<QuoteAnswer>
  readonly deps?: Partial<HttpDeps>
  readonly ports?: Partial<FeaturePorts>
}

export async function openHttpRig(options: HttpRigOptions = {}) {
  const world = new TestWorld({ now: NOW })
  const tokens = createTokens({ keys, lifetimes: LIFETIMES, world })
  const log = createLog({ level: 'info', world, write: (line) => recorded.log.push(line), readable: false })
  const memory = memorySessions(world)
  const sessions = createSessions({
    tokens,
    ...memory,
    onNewDevice: () => {},
    onReuse: () => {},
    log,
  })
  const recorded = {
    /** Commands and quotes that reached the desk. */
    commands: [] as UserCommand[],
    quotes: [] as QuoteQuery[],
    /** Lines that reached the log. */
    log: [] as string[],
    /** Users whose sockets were closed. */
    disconnected: [] as UserId[],
    /** The outcomes of sign-ins that the security watch heard of. */
    signIns: [] as (readonly [outcome: string, from: string])[],
  }
  sessions.onSignedOut((id) => recorded.disconnected.push(id))
  const users = new Map<UserId, User>([[ALICE, { ...alice, role: options.role ?? 'user' }]])
  const keyRig = keyPorts(world, (id) => users.get(id)?.role ?? 'user')
  const ports = { ...featurePorts(alice, position, NOW), ...options.ports }
  const parts = featureParts(ports)
  const deps: HttpDeps = {
    world,
    log,
    // A key is a session, too.
    sessions: { ...sessions, livingAmong: async (ids) => (await sessions.livingAmong(ids)).union(keyRig.living()) },
    keys: keyRig.keys,
    securityContact: null,
    cookies: { production: options.production ?? false, domain: null, prefix: '' },
    corsOrigins: [ALLOWED_ORIGIN],
    trustedProxies: 0,
    limits: {
      perMinute: 0,
      siteFactor: 0,
      trustedProxies: 0,
      rates: new Rates(fastOrElse(new FastMemory(world), world), world),
    },
    wsUrlFor: (hostname) => `ws://${hostname}:3001`,
    rules: () => DEFAULT_RULES,
    flags: () => ({ coming_soon: options.comingSoon ?? false }),
    accounts: {
      find: async (id) => users.get(id) ?? null,
      signInSynthetic: async (request) =>
        request.districtId === 99 ? null : { user: alice, isNew: request.displayName !== 'Alice' },
      createSyntheticMany: async (names) => names.map(() => ({ user: alice, isNew: true })),
      districts: async () => [{ id: districtId(1), name: 'Harbour' }],
    },
    registrations: {
      isUsernameTaken: async (username) => username === 'alice',
      inviterOf: async (code) => (code === 'ALICE1' ? 'alice' : null),
    },
    security: {
      signedIn: (_user, from) => recorded.signIns.push(['ok', from]),
      signInFailed: (why, from) => recorded.signIns.push([why, from]),
    },
    signIn: {
      begin: async () => ({ kind: 'signed_in', user: alice, kept: false, authenticatedAt: null }),
      checkCode: async () => ({ kind: 'right' }),
      resendCode: async () => ({ kind: 'sent', nextInMs: 60_000 }),
      complete: async () => ({ kind: 'registered', user: alice, isNew: true }),
    },
    personal: {
      pages: async function* () {
        yield { section: 'profile', rows: [{ username: 'alice' }] }
        yield { section: 'positions', rows: [{ id: POSITION }] }
        yield { section: 'positions', rows: [{ id: PLAYER }] }
        yield { section: 'audit', rows: [] }
      },
      requestDeletion: async (user) => {
        await memory.rows.endAll(user)
        return instant(NOW + 7 * 24 * HOUR_MS)
      },
      hide: async (id) => users.has(id),
      limits: async () => ownLimits,
      changeLimits: async (_id, wanted) => ({ ...ownLimits, limits: changeLimits(ownLimits.limits, wanted, NOW) }),
    },
    wallets: {
      find: async (id, purse) => (users.has(id) ? { ...wallet, purse: purse ?? 'main', openPositions: 1 } : null),
      means: async () => ({ main: { available: wallet.balance, openPositions: 1 } }),
      ledger: async (id, { limit, offset }) => (id === ALICE ? ledger.slice(offset, offset + limit) : []),
      async *ledgerPages(id) {
        yield id === ALICE ? ledger : []
      },
      auditLedger: async () => options.audit ?? BALANCED,
    },
    purses: leagueApi(ports.leagues, unnamedPurses).purses,
    refills: {
      practice: async () => ({ kind: 'refilled', amount: money(12_500_000) }),
      main: async () => ({ kind: 'not_ruined', balance: money(312_500_000) }),
    },
    catalogue: {
      instruments: async () => [listing],
      instrument: async (id: InstrumentId) => (id === PLAYER || id === CUP_PLAYER ? listing : null),
      matches: async () => [matchInfo],
      match: async (id) => {
        if (id === UPCOMING) return { ...matchInfo, matchId: UPCOMING, phase: 'scheduled' }
        return id === FIXTURE ? matchInfo : null
      },
      outcomes: async () => [],
    },
    history: {
      prices: async () => priceHistory,
      trades: async (_id, limit) => tradesShown.slice(0, limit),
      moves: async () => [
        {
          at: instant(NOW - 10_000),
          from: price(200_000_000),
          to: price(230_000_000),
          cause: 'event',
          reason: tickReason('event', MOVE),
          parts: MOVE,
          crowd: 0,
        },
      ],
      movers: async () => ({ gainers: [mover], losers: [], mostTraded: [mover], asOf: NOW }),
    },
    purseFiles: {
      find: async (_id, purse) => ({
        wallet: { ...wallet, purse, openPositions: 1 },
        positions: [{ position, currentPrice: price(210_000_000), exitPrice: price(209_997_500), place: 1 }],
        ledger,
      }),
    },
    positions: {
      list: async () => [{ position, currentPrice: price(210_000_000), exitPrice: price(209_997_500), place: 1 }],
      find: async () => ({ position: closedPosition, currentPrice: price(230_000_000), exitPrice: price(229_997_500) }),
    },
    account: {
      changes: async (_user, since) =>
        since === null
          ? {
              kind: 'snapshot',
              marker: 7,
              positions: [{ position, currentPrice: price(210_000_000), exitPrice: price(209_997_500) }],
            }
          : { kind: 'events', marker: 7, events: [accountEvent], more: false },
    },
    desk: {
      submit: async (command) => {
        recorded.commands.push(command)
        return options.outcome ?? done(trade)
      },
      recall: async () => options.recalled ?? null,
      ask: async (_, { matchId }) => (matchId === FIXTURE ? 'ending' : 'unknown'),
      quote: async (query) => {
        recorded.quotes.push(query)
        return options.quote ?? done(quoteAnswer)
      },
    },
    community: communityPorts(alice, NOW),
    watching: await watchingSince(matchInfo, listing),
    ...adminPorts(alice),
    describeFeed,
    web: await loadWebFiles({ devSignIn: true, clientId: '', authorizeUrl: '' }, ALLOWED_ORIGIN),
    tracing: null,
    metrics: {
      access: 'private',
      contentType: 'text/plain',
      text: async () => 'touchline_sockets 0\n',
      observe: () => {},
    },
    readiness: async () => [['database', 'ok'] as const, ['fastStore', 'ok'] as const],
    faultOf: (error) => (error instanceof Error && error.message === 'away' ? 'away' : null),
    ...options.deps,
  }
  const app = judged(createApp(deps, parts), await judgeOf(deps, parts))
  const access = await tokens.issueAccess({ ...alice, role: options.role ?? 'user' }, SESSION)
  const refresh = await tokens.issueRefresh({ id: SESSION, userId: ALICE, generation: 1 })
  const cookie = `game_access=${access}; game_refresh=${refresh}`
  /** A request with Alice's cookies. */
  const asAlice = async (path: string, init: RequestInit = {}) =>
    app.request(path, { ...init, headers: { cookie, ...Object.fromEntries(new Headers(init.headers)) } })
  /** … with a JSON body. */
  const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    asAlice(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } })
  /** … with or without one; what is answered is read as JSON. */
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await (body === undefined ? asAlice(path, { method }) : send(method, path, body))
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Record<string, unknown> }
  }
  return { app, deps, ports, tokens, world, ...recorded, asAlice, send, ask, keyRig }
}

/** Status and body of an answer in JSON. */
export async function answered(
  answer: Response | Promise<Response>,
): Promise<readonly [status: number, body: unknown]> {
  const response = await answer
  return [response.status, await response.json()]
}

/** Keyed by whether it is production, which has fewer routes. */
const judges = new Map<boolean, Promise<Judge>>()

function judgeOf(deps: HttpDeps, parts: readonly ApiPart[]): Promise<Judge> {
  const made = async () => {
    const response = await createApp(deps, parts).request('/api/openapi.json')
    return createJudge((await response.json()) as OpenApi)
  }
  const known = judges.get(deps.cookies.production) ?? made()
  judges.set(deps.cookies.production, known)
  return known
}

/** Checks answers against the API description. */
export async function apiJudge(): Promise<Judge> {
  const known = judges.get(false)
  if (known !== undefined) return known
  const { deps, ports } = await openHttpRig()
  return judgeOf(deps, featureParts(ports))
}

/** The same API; an answer that its description does not allow fails the test. */
function judged(app: ReturnType<typeof createApp>, { judge }: Judge) {
  const request = app.request.bind(app)
  app.request = async (input, init, ...rest) => {
    const response = await request(input, sized(init), ...rest)
    const url = new URL(input instanceof Request ? input.url : input, 'http://localhost')
    const method = input instanceof Request ? input.method : (init?.method ?? 'GET')
    const contentType = response.headers.get('content-type')
    const isApi = url.pathname.startsWith('/api/')
    const isJson = method !== 'HEAD' && contentType?.startsWith('application/json') === true
    const body: unknown = isJson ? JSON.parse(await textOf(response.clone())) : null
    const received = { method, path: url.pathname, status: response.status, contentType, body }
    const wrong = isApi ? judge({ ...received, headers: [...response.headers.keys()] }) : null
    if (wrong !== null) throw new Error(wrong)
    return response
  }
  return app
}

/** With the length of its body, as every client sends it that knows it. */
function sized(init: RequestInit | undefined): RequestInit | undefined {
  const { body } = init ?? {}
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return init
  const headers = new Headers(init?.headers)
  if (!headers.has('content-length')) headers.set('content-length', String(Buffer.byteLength(body)))
  return { ...init, headers }
}

/** The text of an answer, unpacked as a browser would. */
async function textOf(response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const encoding = response.headers.get('content-encoding')
  return (encoding === 'br' ? brotliDecompressSync(bytes) : encoding === 'gzip' ? gunzipSync(bytes) : bytes).toString()
}

/** Sessions in memory; only the last generation is remembered. */
function memorySessions(world: TestWorld): { readonly rows: SessionRows; readonly ended: EndedSessions } {
  const living = new Map<SessionId, Session & { readonly device: Device; key: string | null }>()
  const begin = (id: SessionId, user: UserId, device: Device): Session => {
    const session = { id, userId: user, generation: 1, issuedAt: world.now(), expiresAt: later(world) }
    living.set(id, { ...session, device, key: null })
    return session
  }
  begin(SESSION, ALICE, DEVICE)
  const of = (user: UserId) => [...living.values()].filter((session) => session.userId === user)
  const rows: SessionRows = {
    start: async (users, device) => users.map((user) => begin(sessionId(world.newId()), user, device)),
    rotate: async ({ id, generation, key }) => {
      const found = living.get(id)
      if (found === undefined) return { kind: 'ended' }
      if (generation === found.generation) {
        const next = { ...found, generation: generation + 1, issuedAt: world.now(), expiresAt: later(world), key }
        living.set(id, next)
        return { kind: 'rotated', session: next }
      }
      return key !== null && key === found.key ? { kind: 'rotated', session: found } : { kind: 'superseded' }
    },
    end: async (id) => living.delete(id),
    endOne: async (user, id) => living.get(id)?.userId === user && living.delete(id),
    endAll: async (user) => of(user).filter(({ id }) => living.delete(id)).length,
    list: async (user) =>
      of(user).map(({ id, device, issuedAt }) => ({ id, ...device, createdAt: issuedAt, lastSeenAt: issuedAt })),
    isFresh: async (id) => world.now() - (living.get(id)?.issuedAt ?? 0) < FRESH_MS,
    livingAmong: async (ids) => new Set(ids.filter((id) => living.has(id))),
    devices: async (user) => of(user).map(({ device }) => device),
  }
  return { rows, ended: { has: async (id) => !living.has(id), look: async () => [] } }
}

const DEVICE: Device = { userAgent: 'Browser', addressPrefix: '203.0.113.0/24' }
const later = (world: TestWorld) => instant(world.now() + LIFETIMES.refreshSecs * 1_000)

export const order = { instrumentId: PLAYER, direction: 'long', lotSize: 0.5, clientPrice: 200 }

/** A fault of the database, which `faultOf` above recognises. */
export const away = async (): Promise<never> => {
  throw new Error('away')
}

/** A match that was kept a minute ago, and once more since. */
async function watchingSince(match: typeof matchInfo, onlyPlayer: Listing): Promise<DelayedMatches> {
  let now = NOW - MINUTE_MS
  const watching = new DelayedMatches({
    catalogue: {
      underWay: async () => [match],
      instruments: async () => [onlyPlayer],
      match: async () => null,
      outcomes: async () => [],
    },
    rules: () => DEFAULT_RULES,
    delayMs: () => SETTINGS['watch.delay_secs'].default * SECOND_MS,
    world: { now: () => instant(now) },
  })
  await watching.keep()
  now = NOW - SECOND_MS
  await watching.keep()
  now = NOW
  return watching
}

// Compiling its schemas takes longer than most tests: not the first of them is to wait for it.
await apiJudge()
