/** The contents page of the REST API: what every request passes, then every group of routes, in folders by address. */
import type { Context } from 'hono'
import { OpenAPIHono } from '@hono/zod-openapi'
import { apiDescription, methodsByPath } from '../docs/description.ts'
import { type Answer, answerWith, answerToThrown, fail, type HttpEnv, invalid, validationFailed } from './answers.ts'
import type { ApiPart, Routes } from './api-part.ts'
import { apiErrors, type ErrorTable } from './error-facts.ts'
import { crossOrigin, delayRefusals, limitBody, requestLine } from './edge.ts'
import { CACHED, validated } from './caching.ts'
import { compressJson } from './compression.ts'
import { announced, DEPRECATED } from './versions.ts'
import { createGates, declaredScopes, readKey, type SignedInEnv } from './gates.ts'
import type { EdgeDeps } from './edge-port.ts'
import { isPlain, JSON_TYPE } from './inputs.ts'
import type { HttpDeps } from './ports.ts'
import { createRateLimits, type RateLimitOptions } from './rate-limits.ts'
import { accountChanges } from './routes/account/changes.ts'
import { listAchievements } from './routes/achievements/list.ts'
import { listActivity } from './routes/activity/list.ts'
import { auditLog } from './routes/admin/audit.ts'
import { adminAnchors } from './routes/admin/anchors.ts'
import { adminEvents } from './routes/admin/events.ts'
import { adminFlags } from './routes/admin/flags.ts'
import { gameplayBot } from './routes/admin/gameplay-bot.ts'
import { rebuildBoards } from './routes/admin/leaderboard.ts'
import { auditLedger } from './routes/admin/ledger.ts'
import { adminFeed } from './routes/admin/feed.ts'
import { endMatch } from './routes/admin/matches.ts'
import { adminRecordings } from './routes/admin/recordings.ts'
import { adminReactions } from './routes/admin/reactions.ts'
import { adminMetrics } from './routes/admin/metrics.ts'
import { adminRunbook } from './routes/admin/runbook.ts'
import { adminSettings } from './routes/admin/settings.ts'
import { adminKeys } from './routes/admin/keys.ts'
import { adminUser } from './routes/admin/user.ts'
import { adminUsers } from './routes/admin/users.ts'
import { completeProfile } from './routes/auth/complete.ts'
import { syntheticUsers } from './routes/auth/dev.ts'
import { signInWithGoogle } from './routes/auth/google.ts'
import { logOut } from './routes/auth/logout.ts'
import { verifyEmail } from './routes/auth/otp.ts'
import { refreshSession } from './routes/auth/refresh.ts'
import { ownSessions } from './routes/auth/sessions.ts'
import { listDistricts } from './routes/districts/list.ts'
import { listStandings } from './routes/districts/standings.ts'
import { listFlags } from './routes/flags/list.ts'
import { disclosure } from './routes/disclosure.ts'
import { health } from './routes/health.ts'
import { personalKeys } from './routes/keys/keys.ts'
import { listInstruments } from './routes/instruments/list.ts'
import { movers } from './routes/instruments/movers.ts'
import { oneInstrument } from './routes/instruments/one.ts'
import { priceHistory } from './routes/instruments/price-history.ts'
import { recentTrades } from './routes/instruments/recent-trades.ts'
import { leaderboards } from './routes/leaderboard/boards.ts'
import { myRank } from './routes/leaderboard/me.ts'
import { matchEvents } from './routes/matches/events.ts'
import { listMatches } from './routes/matches/list.ts'
import { oneMatch } from './routes/matches/one.ts'
import { matchSquad } from './routes/matches/squad.ts'
import { matchWindow } from './routes/matches/trade-window.ts'
import { ownAccount } from './routes/me/account.ts'
import { exportMyData } from './routes/me/export.ts'
import { ownLimits } from './routes/me/limits.ts'
import { myProfile } from './routes/me/profile.ts'
import { metricsText } from './routes/metrics.ts'
import { changeLevels } from './routes/positions/change.ts'
import { closePosition } from './routes/positions/close.ts'
import { listPositions } from './routes/positions/list.ts'
import { onePosition } from './routes/positions/one.ts'
import { openPosition } from './routes/positions/open.ts'
import { quoteOrder } from './routes/positions/quote.ts'
import { whyPosition } from './routes/positions/why.ts'
import { watchMatches } from './routes/public/watch.ts'
import { checkUsername } from './routes/users/check-username.ts'
import { walletBalance } from './routes/wallet/balance.ts'
import { walletLedger } from './routes/wallet/ledger.ts'
import { refillWallet } from './routes/wallet/refill.ts'
import { lostPage, webPage } from './routes/web.ts'
import { issueWsToken } from './routes/ws/token.ts'
import { unfitIn } from './unfit-values.ts'
import { knownParameters } from './unknown-names.ts'

/** In the order of the specification's tables. Of two paths that match a request, the first one listed answers. */
const API: readonly Routes[] = [
  // 4.1 Auth and public
  [signInWithGoogle, completeProfile, verifyEmail, refreshSession, logOut, ownSessions, personalKeys],
  [checkUsername, listFlags, myProfile, issueWsToken],
  [exportMyData, ownAccount, ownLimits],
  // 4.2 Instruments and matches; `movers` before `{id}`, which would match it
  [listInstruments, movers, priceHistory, recentTrades, oneInstrument],
  [listMatches, oneMatch, matchEvents, matchSquad, matchWindow, watchMatches],
  // 4.3 Positions, trades, wallet
  [
    openPosition,
    listPositions,
    changeLevels,
    closePosition,
    onePosition,
    whyPosition,
    quoteOrder,
    walletBalance,
    walletLedger,
    refillWallet,
    accountChanges,
  ],
  // 4.4 Leaderboards, social, misc
  [leaderboards, myRank, listDistricts, listStandings],
  [listActivity, listAchievements],
  // 4.5 Admin
  [
    adminAnchors,
    adminFlags,
    adminSettings,
    adminUsers,
    adminUser,
    adminKeys,
    gameplayBot,
    rebuildBoards,
    adminMetrics,
    adminRunbook,
    endMatch,
    adminFeed,
  ],
  [adminEvents, adminReactions, adminRecordings, auditLog, auditLedger],
].flat()

/**
 * The REST API, with what features add to it. Every route has one order: the limit of the address, the size of the body
 * by its header, who asks and what they may, the limit of the user, the body itself, a queue. No step is spent on a
 * request that one before it refuses.
 */ // H31
export function createApp(deps: HttpDeps, parts: readonly ApiPart[]): OpenAPIHono<HttpEnv> {
  const limits = createRateLimits(deps.limits)
  const app = createEdge(deps)
  const described = {
    errors: apiErrors(
      Object.assign({}, ...parts.map(({ errors }) => errors)) as ErrorTable,
      parts.flatMap(({ things = [] }) => things),
    ),
    topics: parts.flatMap(({ topics = [] }) => topics),
    cached: Object.assign({}, CACHED, ...parts.map(({ cached }) => cached)) as typeof CACHED,
    deprecated: [...DEPRECATED, ...parts.flatMap(({ deprecated = [] }) => deprecated)],
  }
  const known = knownParameters<SignedInEnv>(app.openAPIRegistry, true)
  const gates = createGates({ ...deps, limits, known, scopeOf: declaredScopes(app.openAPIRegistry) })
  app.use(crossOrigin(deps.corsOrigins, limits.perAddress))
  app.route('/', health(deps))
  app.route(
    '/',
    webPage(
      { ...deps, limits },
      parts.flatMap(({ shares = [] }) => shares),
    ),
  )
  app.route('/', disclosure(deps))
  app.route('/', metricsText(deps.metrics))
  app.use('/api/*', compressJson())
  for (const path of described.deprecated) app.use(path, announced)
  for (const [path, cacheControl] of Object.entries(described.cached)) app.use(path, validated(cacheControl))
  app.use('/api/*', readKey({ ...deps, limits }))
  app.use(limits.perAddress)
  app.use(limitBody(Object.assign({}, ...parts.map(({ bodies }) => bodies)) as Record<string, number>))
  app.use('/api/*', knownParameters(app.openAPIRegistry, false))
  for (const routes of [...API, ...parts.flatMap((part) => part.routes ?? [])]) app.route('/', routes(deps, gates))
  if (!deps.cookies.production) app.route('/', syntheticUsers(deps))
  app.route('/', apiDescription(app, deps, described))
  return answerTheRest(app, (c) => lostPage(c, deps.web))
}

export interface WsDeps extends EdgeDeps {
  /** Handshakes are counted elsewhere, before they reach HTTP. */
  readonly limits: RateLimitOptions
  /** Reserves a seat in a match room for a client of the Colyseus SDK. */
  readonly matchmake: (request: Request) => Promise<Response>
  /** Awaited before a client learns that it asks too often. */
  readonly delay: () => Promise<void>
}

/** The HTTP side of the WebSocket address. */
export function createWsApp(deps: WsDeps): OpenAPIHono<HttpEnv> {
  const app = createEdge(deps)
  const limits = createRateLimits(deps.limits)
  app.use(delayRefusals(deps.delay))
  app.use(crossOrigin(deps.corsOrigins, limits.perAddress))
  // Not counted, so that no crowd behind the prober's address takes a process out of service.
  app.route('/', health(deps))
  app.route('/', metricsText(deps.metrics))
  app.use(limits.perAddress)
  app.use(limitBody())
  app.all('/matchmake/:method/:target', async (c) => {
    const answer = await deps.matchmake(c.req.raw)
    const said: unknown = await answer.json()
    const body = answer.ok ? said : Object.assign({}, said, { requestId: c.var.requestId }) // H1
    // The answer itself would be without the fields of every answer: without CORS no browser could read it.
    return c.newResponse(JSON.stringify(body), answer)
  })
  return answerTheRest(app)
}

const NOT_JSON = answerWith('UNSUPPORTED_MEDIA_TYPE')

function createEdge(deps: EdgeDeps): OpenAPIHono<HttpEnv> {
  const { world, log, faultOf, cookies, metrics, tracing, trustedProxies } = deps
  const app = new OpenAPIHono<HttpEnv>({
    defaultHook: async (result, c) => {
      // Of a body what was sent: a schema may have made something else of a number.
      const type = c.req.header('content-type')
      const isBody = result.target === 'json' && type !== undefined
      const refuse = (answer: Answer) => {
        c.set('isUnread', true)
        return fail(c, answer)
      }
      if (isBody && !isPlain(c.req, JSON_TYPE)) return refuse(NOT_JSON)
      if (!result.success) return refuse(validationFailed(result.error))
      const unfit = unfitIn(isBody ? await c.req.json() : result.data)
      return unfit === null ? undefined : refuse(invalid(unfit.path, unfit.message))
    },
  })
  app.onError((error, c) => {
    const found = answerToThrown(error, faultOf)
    // The framework has read the body before its type is looked at.
    const thrown = found.code === 'MALFORMED_JSON' && !isPlain(c.req, JSON_TYPE) ? NOT_JSON : found
    if (thrown.status >= 500) c.var.log.error('request_failed', { error })
    return fail(c, thrown)
  })
  const { production } = cookies
  app.use(requestLine({ world, log, observe: metrics.observe, tracing, production, trustedProxies }))
  return app
}

/**
 * Answers 404 to unknown paths and 405 to known paths with another method. Called after every route is mounted. `page`
 * is what a browser sees there, or null.
 */
function answerTheRest(
  app: OpenAPIHono<HttpEnv>,
  page: (c: Context<HttpEnv>) => Response | null = () => null,
): OpenAPIHono<HttpEnv> {
  const methodsOf = methodsByPath(app.openAPIRegistry.definitions)
  app.notFound((c) => {
    const allowed = methodsOf(c.req.path)
    if (allowed.length === 0) return page(c) ?? fail(c, answerWith('NOT_FOUND'))
    c.header('Allow', allowed.join(', '))
    return fail(c, answerWith('METHOD_NOT_ALLOWED'))
  })
  return app
}
