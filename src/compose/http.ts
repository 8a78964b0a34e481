/** The REST API, and the plain HTTP requests of the WebSocket address. */
import { setTimeout as pause } from 'node:timers/promises'
import { ActorStopped } from '../../actors/match/actor.ts'
import { ActivityFeed } from '../../db/activity.ts'
import { hideFromBoards } from '../../db/board-changes.ts'
import { BoardsUnbuilt } from '../../db/boards.ts'
import { UserGone } from '../../db/lock-user.ts'
import { DataExport } from '../../db/data-export.ts'
import { isTransient } from '../../db/faults.ts'
import { FeedFaults } from '../../db/feed-faults.ts'
import { OwnLimitsStore } from '../../db/own-limits.ts'
import { Quarantine } from '../../db/quarantine.ts'
import { Rates } from '../../db/rates.ts'
import { Referrals } from '../../db/referrals.ts'
import { Recordings } from '../../db/recordings.ts'
import { UserConnections } from '../../db/user-connections.ts'
import { RemoteFault } from '../../rooms/cluster/bus.ts'
import { describeFeed } from '../../rooms/feed/feed-description.ts'
import { FEED_FAULTS } from '../../rooms/sources/provider.ts'
import { IdentityProviderAway } from '../auth/identity.ts'
import { createApp, createWsApp } from '../http/app.ts'
import type { FaultOf } from '../http/answers.ts'
import type { RequestFacts } from '../http/edge.ts'
import { EventFeed } from '../http/event-feed.ts'
import type { CommunityPorts } from '../http/community-ports.ts'
import type { AdminPorts } from '../http/admin-ports.ts'
import type { EdgeDeps, Readiness, ReadyChecks } from '../http/edge-port.ts'
import type { CallerDeps, HttpDeps, TradingDeps } from '../http/ports.ts'
import { readiness } from '../http/routes/health.ts'
import { loadWebFiles } from '../http/web-files.ts'
import { tracedDesk } from '../observe/tracing.ts'
import type { GameplayBot } from '../replays/gameplay-bot.ts'
import type { Doors } from './doors.ts'
import type { Host } from '../features/feature.ts'
import type { HttpServer } from '../http-server.ts'
import type { OpenFeature } from './features.ts'
import type { SchemaWatch } from './schema-watch.ts'

interface HttpParts {
  readonly schema: SchemaWatch
  readonly doors: Doors
  readonly wsServer: HttpServer
  readonly bot: GameplayBot
  readonly watching: HttpDeps['watching']
  readonly features: readonly OpenFeature[]
}

export interface HttpApps {
  readonly rest: ReturnType<typeof createApp>
  readonly ws: ReturnType<typeof createWsApp>
}

export async function buildHttp(host: Host, parts: HttpParts): Promise<HttpApps> {
  const { config, observation, realTime, stores } = host
  const look = readiness(readyChecks(host, parts.schema), host.log)
  observation.measuring.observeParts(look)
  observation.measuring.observePools(() => stores.connection.pools())
  const { replica } = stores.connection
  if (replica !== null) observation.measuring.observeReplica(() => replica.state)
  const edge = edgeDeps(host, look)
  const deps: HttpDeps = {
    ...edge,
    ...callerDeps(host, parts),
    ...tradingDeps(host, parts.features),
    ...adminPorts(host, parts.bot),
    community: communityPorts(host),
    watching: parts.watching,
    describeFeed,
    securityContact: config.securityContact,
    web: await loadWebFiles(
      {
        devSignIn: !config.production,
        clientId: config.identity.clientId,
        authorizeUrl: config.identity.authorizeUrl,
      },
      config.corsOrigins[0] ?? '',
    ),
  }
  const ws = createWsApp({
    ...edge,
    limits: { ...config.limits, rates: parts.doors.rates },
    matchmake: (request) => realTime.matchmake(request),
    delay: boundedDelay(),
  })
  return { rest: createApp(deps, parts.features), ws }
}

function edgeDeps({ config, world, log, accounts, observation }: Host, look: Readiness): EdgeDeps {
  const { measuring, tracing } = observation
  return {
    world,
    log,
    faultOf,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.limits.trustedProxies,
    metrics: {
      access: config.metrics,
      contentType: measuring.contentType,
      text: measuring.text,
      observe: (facts: RequestFacts) => {
        measuring.request(facts)
        accounts.security.answered(facts)
      },
    },
    tracing,
    cookies: { production: config.production, ...config.cookies },
    readiness: look,
  }
}

function callerDeps(host: Host, { wsServer, features }: HttpParts): CallerDeps {
  const {
    config,
    world,
    stores,
    accounts,
    market: { settings },
  } = host
  return {
    sessions: accounts.sessions,
    keys: accounts.keys,
    limits: { ...config.limits, rates: new Rates(stores.askFast, world.steady) },
    wsUrlFor: (hostname) => config.publicWsUrl ?? `ws://${hostname}:${wsServer.port}`,
    flags: () => settings.flags,
    accounts: accounts.users,
    registrations: accounts.registrations,
    signIn: accounts.signIn,
    personal: personalPort(host, features),
    security: accounts.security,
  }
}

function tradingDeps(
  { market, realTime, observation: { tracing } }: Host,
  features: readonly OpenFeature[],
): TradingDeps {
  const { settings } = market
  return {
    rules: () => settings.rules,
    wallets: market.wallets,
    purses: features.find(({ purses }) => purses !== undefined)?.purses ?? NO_PURSES,
    refills: market.refills,
    catalogue: market.catalogue,
    history: {
      prices: (id, from) => market.prices.of(id, from),
      moves: (id, query) => market.moves.largest(id, query),
      trades: (id, limit, after) => market.recentTrades.recent(id, limit, after),
      movers: () => market.movers.top(),
    },
    positions: market.positions,
    account: market.accountLog,
    desk: tracing === null ? realTime.desk : tracedDesk(realTime.desk, tracing),
  }
}

function adminPorts(
  { world, lifecycle, stores, market, accounts, realTime, stream }: Host,
  bot: GameplayBot,
): AdminPorts {
  const { settings } = market
  return {
    settings,
    effectsOf: (setting) => realTime.desk.effectsOf(setting),
    audit: market.audit,
    userList: accounts.userList,
    purseFiles: market.purseFiles,
    anchors: market.anchors,
    recordings: new Recordings(stores.db),
    events: new EventFeed({
      stream,
      clock: world.steady,
      isStopping: () => lifecycle.isStopping,
      pause,
    }),
    connections: new UserConnections(stores.db),
    faults: new FeedFaults(stores.db, FEED_FAULTS),
    quarantine: new Quarantine(stores.db),
    bot,
  }
}

/** Without leagues. */
const NO_PURSES: HttpDeps['purses'] = {
  own: async () => [],
  unnamed: async () => null,
  trading: async () => ({ kind: 'not_member' }),
}

function personalPort(
  { world, stores: { db }, accounts, market }: Host,
  features: readonly OpenFeature[],
): HttpDeps['personal'] {
  const limits = new OwnLimitsStore(db, world, market.audit)
  const data = new DataExport(
    db,
    features.flatMap(({ exported = [] }) => exported),
  )
  const rerankers = features.flatMap(({ rerank = [] }) => rerank)
  return {
    pages: (user) => data.pages(user),
    requestDeletion: async (user) => {
      const due = await accounts.deletions.request(user)
      if (due !== null) accounts.mails.leaving(user, due)
      return due
    },
    hide: (user, hidden) => hideFromBoards(db, user, hidden, rerankers),
    limits: (user) => limits.find(user),
    changeLimits: (user, wanted) => limits.change(user, wanted),
  }
}

const faultOf: FaultOf = (error) => (error instanceof UserGone ? 'gone' : isAway(error) ? 'away' : null)

const isAway = (error: unknown): boolean =>
  isTransient(error) ||
  error instanceof ActorStopped ||
  error instanceof RemoteFault ||
  error instanceof IdentityProviderAway ||
  error instanceof BoardsUnbuilt

const readyChecks = (
  { lifecycle, stores: { connection, fast }, realTime: { presence } }: Host,
  schema: SchemaWatch,
): ReadyChecks => ({
  accepting: async () => {
    if (lifecycle.isStopping) throw new Error('this process is stopping')
  },
  database: () => connection.ping(),
  schema: async () => {
    if (schema.newer !== null) throw new Error(`a newer version has migrated the database: ${schema.newer}`)
  },
  // Connected is not enough: a full or demoted server refuses writes, a silent one answers nothing.
  fastStore: () => fast.probe(),
  bus: async () => {
    if (presence?.isCutOff === true) throw new Error('messages of the other processes do not arrive')
  },
})

function communityPorts({ world, stores, community }: Host): CommunityPorts {
  const { db, connection } = stores
  const { boards, careers, keeper, outbox, reaction } = community
  return {
    boards,
    careers,
    keeper,
    referrals: new Referrals(db, world),
    activity: new ActivityFeed(connection.reads),
    reactions: {
      setAside: (limit, after) => outbox.setAside(limit, after),
      lag: () => outbox.lag(),
      retry: async (matchId, seq) => {
        const told = await outbox.retry(matchId, seq, reaction)
        community.notify(told ?? [])
        return told !== null
      },
    },
  }
}

/** Refused clients wait this long for their answer, if not too many do. */
const REFUSAL_MS = 1_000
const REFUSALS_MAX = 1_000

function boundedDelay(): () => Promise<void> {
  let waiting = 0
  return async () => {
    if (waiting >= REFUSALS_MAX) return
    waiting++
    await pause(REFUSAL_MS)
    waiting--
  }
}
