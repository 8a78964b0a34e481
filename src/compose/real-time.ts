/** Matches and sockets: the store and leases of matches, the WebSocket server, and the sources that feed matches. */
import { LEASE_TTL_MS } from '../../actors/kernel/limits.ts'
import type { Leases, MatchStore } from '../../actors/match/store.ts'
import type { AccountChanges } from '../../db/account-log.ts'
import { type RefusedMessage, SignedPubSub } from '../../db/fast/signed-pub-sub.ts'
import type { PubSub } from '../../rooms/cluster/bus.ts'
import { installationOf } from '../../db/installation.ts'
import { SqlLeases } from '../../db/leases.ts'
import { Processes } from '../../db/processes.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { type Cluster, type RealTime, type RealTimeOptions, startRealTime } from '../../rooms/boot.ts'
import type { AccountPage } from '../../rooms/feed/account-stream.ts'
import { handshakeWithin } from '../../rooms/sockets/admission.ts'
import { CONNECTIONS_MAX } from '../../rooms/sockets/connection-limit.ts'
import { accountChangesJson } from '../http/json.ts'
import { HttpServer } from '../http-server.ts'
import { observedLeases, observedStore } from '../observe/observed.ts'
import { tracedStore } from '../observe/tracing.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'
import type { Doors } from './doors.ts'
import type { Market } from './market.ts'
import type { Observation } from './observation.ts'
import { providerContext } from './provider.ts'
import { parserOfReplays } from './replays.ts'
import type { Stores } from './stores.ts'

/** A client has this long to send its whole handshake. */
const HANDSHAKE_MS = 10_000
/** Account events in one message on a socket: 70 kB at most. */
const ACCOUNT_PAGE = 100

interface RealTimeParts {
  readonly stores: Stores
  readonly accounts: Accounts
  readonly market: Market
  readonly doors: Doors
  readonly observation: Observation
}

export interface RealTimeSide {
  readonly realTime: RealTime
  /** Does not listen yet. */
  readonly wsServer: HttpServer
  /** Which process runs a match. */
  readonly ownership: Pick<SqlLeases, 'ownerOf'>
}

export async function buildRealTime(base: Base, parts: RealTimeParts): Promise<RealTimeSide> {
  const { config, world, log, report, lifecycle } = base
  const { stores, accounts, market, doors, observation } = parts
  const wsServer = new HttpServer({ isBehindProxy: config.limits.trustedProxies > 0 })
  Object.assign(wsServer.node, handshakeWithin(HANDSHAKE_MS))
  // Added before real time and so closed after it: real time alone can end the sockets that a closing server waits for.
  lifecycle.add({
    name: 'websocket-server',
    kind: 'endpoint',
    drain: () => wsServer.shut(),
    stop: () => wsServer.close(0),
  })

  const { ownership, ...matches } = persistence(base, stores, observation)
  const realTime = await startRealTime({
    server: wsServer.node,
    ownership,
    cluster: await joinCluster(base, stores),
    runsMatches: config.roles.includes('rooms'),
    publicAddress: config.publicWsUrl?.replace(/^wss?:\/\//, '') ?? null,
    verify: doors.visitors.verify,
    doorLimits: doors.limits,
    // Where rate limits are off, one user may hold all that there are.
    limits: config.limits.perMinute === 0 ? { perUserMax: CONNECTIONS_MAX } : {},
    directory: directoryOf(market),
    readAccounts: async (questions) =>
      (await market.accountLog.changesOf(questions, ACCOUNT_PAGE)).map((changes) => changes && accountPage(changes)),
    replay: {
      parse: parserOfReplays(world),
      enrol: async (count) => (await accounts.users.createSyntheticMany(traderNames(count))).map(({ user }) => user.id),
    },
    provider: providerContext(base, stores),
    ...matches,
    leaseTtlMs: LEASE_TTL_MS,
    world,
    rules: () => market.settings.rules,
    model: () => market.settings.model,
    rulesWith: ({ key, value }) => {
      const preview = market.settings.preview(key, value)
      return preview.kind === 'valid' ? preview : null
    },
    report,
    warn: (event, facts) => log.warn(event, facts),
  })
  lifecycle.add({ name: 'real-time', kind: 'endpoint', stop: () => realTime.stop() })
  accounts.sessions.onSignedOut((user) => realTime.disconnectUser(user))
  observation.measuring.observe(() => realTime.stats())
  return { realTime, wsServer, ownership }
}

interface Persistence {
  readonly ownership: SqlLeases
  readonly leases: Leases
  readonly store: MatchStore
  readonly quarantine: RealTimeOptions['quarantine']
}

/** Where matches are kept, and who may write to them; both are measured, and commits are traced. */
function persistence({ processId, world, log }: Base, stores: Stores, observation: Observation): Persistence {
  const { connection, db, walletCache } = stores
  const { measuring, tracing } = observation
  const ownership = new SqlLeases(db, {
    owner: processId,
    ttlMs: LEASE_TTL_MS,
    alone: connection.kind === 'pglite',
  })
  const store = new SqlMatchStore(connection, walletCache, world)
  return {
    ownership,
    quarantine: (matchId, reason) => store.quarantine(matchId, reason),
    leases: observedLeases(ownership, measuring.leaseLost),
    store: observedStore(tracing === null ? store : tracedStore(store, tracing), {
      world,
      log,
      observe: measuring.commit,
    }),
  }
}

/** The other processes, where there can be any: they meet on the database and on Redis. */
async function joinCluster(base: Base, { connection }: Stores): Promise<Cluster | null> {
  const { config, processId } = base
  if (connection.kind === 'pglite' || config.redisUrl === null) return null
  const prefix = `${await installationOf(connection.db)}:`
  const { connectPubSub } = await import('../../db/fast/pub-sub.ts')
  const pubSub = await connectPubSub({ url: config.redisUrl.reveal(), prefix })
  const registry = new Processes(connection.db, { id: processId, runsMatches: config.roles.includes('rooms') })
  return { processId, registry, pubSub: signed(base, pubSub) }
}

/** With a key, only messages count that were signed with it. A flood of others is reported once per reason. */
function signed({ config, world, report }: Base, pubSub: PubSub): PubSub {
  const { key, otherKey } = config.bus
  if (key === null) return pubSub
  const keys = [key.reveal(), ...(otherKey === null ? [] : [otherKey.reveal()])] as const
  const reported = new Set<RefusedMessage>()
  return new SignedPubSub({
    pubSub,
    keys,
    world,
    onRefused: (why, channel) => {
      if (reported.has(why)) return
      reported.add(why)
      report('bus_message_refused', new Error(`a message is ${why}; is BUS_KEY the same everywhere?`), { why, channel })
    },
  })
}

const directoryOf = ({ catalogue, positions }: Market): RealTimeOptions['directory'] => ({
  matchOfInstrument: (id) => catalogue.matchOfInstrument(id),
  matchOfPosition: async (id, user) => {
    const held = await positions.find(user, id)
    return held === null ? null : { matchId: held.position.fixtureId, open: held.position.close === null }
  },
})

function accountPage(changes: AccountChanges): AccountPage {
  const { marker, kind } = changes
  const isEmpty = kind === 'events' && changes.events.length === 0
  return { marker, more: kind === 'events' && changes.more, isEmpty, body: accountChangesJson(changes) }
}

const traderNames = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `Trader ${String(n + 1).padStart(3, '0')}`)
