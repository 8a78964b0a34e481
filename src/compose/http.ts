/** The REST API, and the plain HTTP requests of the WebSocket address. */
import { setTimeout as pause } from 'node:timers/promises'
import { ActorStopped } from '../../actors/match/actor.ts'
import { ActivityFeed } from '../../db/activity.ts'
import { hideFromBoards } from '../../db/board-changes.ts'
import { BoardsUnbuilt } from '../../db/boards.ts'
import { DataExport } from '../../db/data-export.ts'
import type { EventStream } from '../../db/event-stream.ts'
import { isTransient } from '../../db/faults.ts'
import { Inbox } from '../../db/inbox.ts'
import { Legacy } from '../../db/legacy.ts'
import { OwnLimitsStore } from '../../db/own-limits.ts'
import { Rates } from '../../db/rates.ts'
import { Referrals } from '../../db/referrals.ts'
import { PublicTape } from '../../db/public-tape.ts'
import { Recordings } from '../../db/recordings.ts'
import { UserList } from '../../db/user-list.ts'
import type { RealTime } from '../../rooms/boot.ts'
import { RemoteFault } from '../../rooms/cluster/bus.ts'
import { describeFeed } from '../../rooms/feed/feed-description.ts'
import { IdentityProviderAway } from '../auth/identity.ts'
import { createApp, createWsApp } from '../http/app.ts'
import type { RequestFacts } from '../http/edge.ts'
import { EventFeed } from '../http/event-feed.ts'
import type { CommunityPorts } from '../http/community-ports.ts'
import type { HttpDeps, ReadyChecks } from '../http/ports.ts'
import { readiness } from '../http/routes/health.ts'
import { loadWebFiles } from '../http/web-files.ts'
import { tracedDesk } from '../observe/tracing.ts'
import type { GameplayBot } from '../replays/gameplay-bot.ts'
import type { WebhookDesk } from '../webhooks/desk.ts'
import type { WhatIf } from '../what-if/what-if.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'
import type { Community } from './community.ts'
import type { Doors } from './doors.ts'
import { integrityDesk } from './integrity.ts'
import type { Market } from './market.ts'
import type { Observation } from './observation.ts'
import { picture } from '../pictures/draw.ts'
import type { RealTimeSide } from './real-time.ts'
import type { SchemaWatch } from './schema-watch.ts'
import type { Stores } from './stores.ts'

interface HttpParts {
  readonly stores: Stores
  readonly schema: SchemaWatch
  readonly accounts: Accounts
  readonly market: Market
  readonly doors: Doors
  readonly observation: Observation
  readonly realTimeSide: RealTimeSide
  readonly bot: GameplayBot
  readonly whatIf: WhatIf
  readonly uploads: HttpDeps['uploads']
  readonly community: Community
  readonly stream: EventStream
  readonly webhooks: WebhookDesk
  readonly watching: HttpDeps['watching']
  readonly push: HttpDeps['push']
  readonly leagues: HttpDeps['leagues']
  readonly seasons: HttpDeps['seasons']
  readonly tournaments: HttpDeps['tournaments']
  readonly recaps: HttpDeps['recaps']
}

export interface HttpApps {
  readonly rest: ReturnType<typeof createApp>
  readonly ws: ReturnType<typeof createWsApp>
}

export async function buildHttp(base: Base, parts: HttpParts): Promise<HttpApps> {
  const { config, world, log } = base
  const { stores, accounts, market, doors, observation, realTimeSide, bot } = parts
  const { measuring, tracing } = observation
  const { realTime, wsServer } = realTimeSide
  const { settings } = market
  const look = readiness(readyChecks(base, parts, realTime), log)
  measuring.observeParts(look)
  measuring.observePools(() => stores.connection.pools())
  const { replica } = stores.connection
  if (replica !== null) measuring.observeReplica(() => replica.state)
  const edge = {
    world,
    log,
    isFault,
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
    cookies: { production: config.production, domain: config.cookieDomain },
    readiness: look,
  }
  const deps: HttpDeps = {
    ...edge,
    sessions: accounts.sessions,
    keys: accounts.keys,
    limits: { ...config.limits, rates: new Rates(stores.askFast, world) },
    wsUrlFor: (hostname) => config.publicWsUrl ?? `ws://${hostname}:${wsServer.port}`,
    rules: () => settings.rules,
    flags: () => settings.flags,
    accounts: accounts.users,
    registrations: accounts.registrations,
    signIn: accounts.signIn,
    personal: personalPort(base, parts),
    security: accounts.security,
    wallets: market.wallets,
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
    community: communityPorts(base, parts),
    settings,
    effectsOf: (setting) => realTime.desk.effectsOf(setting),
    audit: market.audit,
    userList: new UserList(stores.db, market.audit, world, stores.connection.reads),
    anchors: market.anchors,
    recordings: new Recordings(stores.db),
    webhooks: parts.webhooks,
    events: new EventFeed({
      stream: parts.stream,
      world,
      isStopping: () => base.lifecycle.isStopping,
      pause,
    }),
    uploads: parts.uploads,
    tapes: tapesPort(parts),
    leagues: parts.leagues,
    seasons: parts.seasons,
    tournaments: parts.tournaments,
    recaps: parts.recaps,
    picture,
    leagueUrl: (code) => `${config.corsOrigins[0] ?? ''}/league/${code}`,
    watching: parts.watching,
    push: parts.push,
    integrity: integrityDesk(base, parts),
    bot,
    whatIf: parts.whatIf,
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
  const limits = { ...config.limits, rates: doors.rates }
  const ws = createWsApp({
    ...edge,
    limits,
    matchmake: (request) => realTime.matchmake(request),
    delay: boundedDelay(),
  })
  return { rest: createApp(deps), ws }
}

function tapesPort({ market, stores }: HttpParts): HttpDeps['tapes'] {
  const tape = new PublicTape(stores.db)
  return {
    last: (matchId) => tape.last(matchId),
    lines: (matchId, to) => tape.lines(matchId, to),
    checkpoints: (matchId) => tape.checkpoints(matchId),
    keys: () => tape.keys(),
    proofOf: (userId, id) => tape.proofOf(userId, id),
    areRecordingsOpen: () => market.settings.value('tape.recordings'),
  }
}

function personalPort({ world }: Base, { stores: { db }, accounts, market }: HttpParts): HttpDeps['personal'] {
  const [limits, data] = [new OwnLimitsStore(db, world, market.audit), new DataExport(db)]
  return {
    pages: (user) => data.pages(user),
    requestDeletion: async (user) => {
      const due = await accounts.deletions.request(user)
      if (due !== null) accounts.mails.leaving(user, due)
      return due
    },
    hide: (user, hidden) => hideFromBoards(db, user, hidden),
    limits: (user) => limits.find(user),
    changeLimits: (user, wanted) => limits.change(user, wanted),
  }
}

/** Errors that mean that something the server depends on is unavailable for now, so that a retry may help. */
const isFault = (error: unknown): boolean =>
  isTransient(error) ||
  error instanceof ActorStopped ||
  error instanceof RemoteFault ||
  error instanceof IdentityProviderAway ||
  error instanceof BoardsUnbuilt

const readyChecks = (
  { lifecycle }: Base,
  { stores: { connection, fast }, schema }: Pick<HttpParts, 'stores' | 'schema'>,
  { presence }: RealTime,
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

function communityPorts({ config, world }: Base, { stores, community }: HttpParts): CommunityPorts {
  const { db, connection } = stores
  const { boards, careers, keeper, spinner, outbox, reaction, notify } = community
  return {
    boards,
    careers,
    keeper,
    spinner,
    tell: notify,
    referrals: new Referrals(db, world),
    inbox: new Inbox(db),
    activity: new ActivityFeed(connection.reads),
    legacy: new Legacy(db, connection.reads),
    shareUrl: (code) => `${config.corsOrigins[0] ?? ''}/join?ref=${code}`,
    reactions: {
      setAside: (limit, after) => outbox.setAside(limit, after),
      lag: () => outbox.lag(),
      retry: (matchId, seq) => outbox.retry(matchId, seq, reaction),
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
