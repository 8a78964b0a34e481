/** The contents page of the HTTP side: what every request passes, then every group of routes. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { answerWith, answerToThrown, fail, type HttpEnv, validationFailed } from './answers.ts'
import { crossOrigin, limitBody, requestLine } from './edge.ts'
import { createGates } from './gates.ts'
import { apiDescription, methodsByPath } from '../docs/description.ts'
import type { HttpDeps } from './ports.ts'
import { createRateLimits } from './rate-limits.ts'
import { accountRoutes } from './routes/account.ts'
import { adminRoutes } from './routes/admin.ts'
import { adminUserRoutes } from './routes/admin-users.ts'
import { communityRoutes } from './routes/community.ts'
import { legacyRoutes } from './routes/legacy.ts'
import { spinnerRoutes } from './routes/spinner.ts'
import { boardRoutes } from './routes/boards.ts'
import { authRoutes } from './routes/auth.ts'
import { devRoutes } from './routes/dev.ts'
import { gameplayBotRoutes } from './routes/gameplay-bot.ts'
import { healthRoutes } from './routes/health.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { marketRoutes } from './routes/market.ts'
import { publicRoutes } from './routes/public.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { reactionRoutes } from './routes/reactions.ts'
import { orderRoutes, tradingRoutes } from './routes/trading.ts'
import { webRoutes } from './routes/web.ts'

/** The REST API. */
export function createApp(deps: HttpDeps): OpenAPIHono<HttpEnv> {
  const limits = createRateLimits(deps.limits)
  const gates = createGates({ ...deps, limits })
  const app = createEdge(deps)
  app.use(crossOrigin(deps.corsOrigins))
  app.use(limitBody())

  app.route('/', healthRoutes(deps))
  app.route('/', webRoutes(deps))
  app.route('/', metricsRoutes(deps.metrics))
  app.route('/', orderRoutes(deps, gates)) // 4.3: counted by user, so that a school behind one address can play
  app.use(limits.perAddress)
  app.route('/', authRoutes(deps, gates)) // 4.1
  app.route('/', signInRoutes(deps, limits)) // 4.1
  app.route('/', publicRoutes(deps, limits)) // 4.1
  if (!deps.cookies.production) app.route('/', devRoutes(deps)) // 4.1, dev-only
  app.route('/', marketRoutes(deps, gates)) // 4.2
  app.route('/', tradingRoutes(deps, gates)) // 4.3, what changes nothing
  app.route('/', legacyRoutes(deps, gates)) // 4.3
  app.route('/', boardRoutes(deps, gates)) // 4.4, 4.5
  app.route('/', spinnerRoutes(deps, gates)) // 4.4
  app.route('/', communityRoutes(deps, gates, limits)) // 4.4
  app.route('/', reactionRoutes(deps, gates)) // 4.5
  app.route('/', adminRoutes(deps, gates)) // 4.5
  app.route('/', adminUserRoutes(deps, gates)) // 4.5
  app.route('/', gameplayBotRoutes(deps, gates)) // 4.5
  app.route('/', accountRoutes(deps, gates)) // 6
  app.route('/', apiDescription(app, deps))
  return answerTheRest(app)
}

export interface WsDeps extends Pick<HttpDeps, 'readyChecks' | 'corsOrigins'>, EdgeDeps {
  /** Seats a Colyseus SDK client in a match room. */
  readonly matchmake: (request: Request) => Promise<Response>
}

/** What the WebSocket address serves besides sockets. */
export function createWsApp(deps: WsDeps): OpenAPIHono<HttpEnv> {
  const app = createEdge(deps)
  app.use(crossOrigin(deps.corsOrigins))
  app.use(limitBody())
  app.route('/', healthRoutes(deps))
  app.route('/', metricsRoutes(deps.metrics))
  app.post('/matchmake/:method/:target', (c) => deps.matchmake(c.req.raw))
  return answerTheRest(app)
}

type EdgeDeps = Pick<HttpDeps, 'world' | 'log' | 'isFault' | 'cookies' | 'metrics' | 'tracing'>

function createEdge({ world, log, isFault, cookies, metrics, tracing }: EdgeDeps): OpenAPIHono<HttpEnv> {
  const app = new OpenAPIHono<HttpEnv>({
    defaultHook: (result, c) => (result.success ? undefined : fail(c, validationFailed(result.error))),
  })
  app.onError((error, c) => {
    const thrown = answerToThrown(error, isFault)
    if (thrown.status >= 500) c.var.log.error('request_failed', { error })
    return fail(c, thrown)
  })
  app.use(requestLine({ world, log, observe: metrics.observe, tracing, production: cookies.production }))
  return app
}

/** Unknown paths are 404, known paths with another method are 405. To be called when every route is mounted. */
function answerTheRest(app: OpenAPIHono<HttpEnv>): OpenAPIHono<HttpEnv> {
  const methodsOf = methodsByPath(app.openAPIRegistry.definitions)
  app.notFound((c) => {
    const allowed = methodsOf(c.req.path)
    if (allowed.length === 0) return fail(c, answerWith('NOT_FOUND'))
    c.header('Allow', allowed.join(', '))
    return fail(c, answerWith('METHOD_NOT_ALLOWED'))
  })
  return app
}
