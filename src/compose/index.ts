/**
 * The composition root. Each builder takes what was built before it and returns named parts; here they are called in
 * order. Only this folder imports values from `db` and `rooms`. No decision about the game is made here.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { SECOND_MS, type World } from '../../actors/kernel/world.ts'
import { EventStream } from '../../db/event-stream.ts'
import type { Users } from '../../db/users.ts'
import type { RealTime } from '../../rooms/boot.ts'
import type { Config } from '../config.ts'
import { DelayedMatches } from '../http/delayed-matches.ts'
import { pageBundle } from '../http/page-bundle.ts'
import { createLog, type Log } from '../observe/log.ts'
import { systemWorld } from '../system-world.ts'
import { openAccounts } from './accounts.ts'
import type { Base } from './base.ts'
import { openCommunity } from './community.ts'
import { buildDoors } from './doors.ts'
import { type Addresses, addEndpoints } from './endpoints.ts'
import type { Host } from '../features/feature.ts'
import { DECLARED, ERASERS, openFeatures, RERANKERS } from './features.ts'
import { buildHttp } from './http.ts'
import { Lifecycle } from './lifecycle.ts'
import { openMarket } from './market.ts'
import { startObservation } from './observation.ts'
import { addProvider } from './provider.ts'
import { buildRealTime } from './real-time.ts'
import { createBot, openLibrary } from './replays.ts'
import { SchemaWatch } from './schema-watch.ts'
import { openStores } from './stores.ts'
import { databaseTasks, ledgerTasks } from './storage-tasks.ts'
import { addTasks, matchTasks, visitorTasks } from './tasks.ts'

/** Parts that a test replaces. */
export interface Overrides {
  readonly world?: World
  readonly log?: Log
}

export interface Touchline {
  readonly realTime: RealTime
  readonly users: Users
  /**
   * Resolves with the name of a breaking migration of a newer version, when one has run. The process then says that it
   * is not ready, and its owner must stop it.
   */
  readonly outdated: Promise<string>
  /**
   * Takes up what an earlier process left unfinished, plays the demo if there is one, and listens on both addresses.
   * Undoes what it has done and throws when a part cannot start.
   */
  start(): Promise<Addresses & { readonly processId: string }>
  /**
   * Reports at `/ready` that it is leaving, refuses new requests, lets matches finish what they have, and closes
   * everything. May be called at any time, and again. Throws what could not be stopped.
   */
  stop(): Promise<void>
}

/** Builds everything and migrates the database. Nothing listens yet. Throws what a part throws that cannot be built. */
export async function compose(config: Config, overrides: Overrides = {}): Promise<Touchline> {
  const world = overrides.world ?? systemWorld()
  const log = overrides.log ?? createLog({ level: config.logLevel, world })
  const lifecycle = new Lifecycle({ drainMs: config.drainMs, pause: (ms, signal) => pause(ms, undefined, { signal }) })
  const base: Base = {
    config,
    world,
    log,
    report: (event, error, facts) => log.error(event, { ...facts, error }),
    lifecycle,
    processId: world.newId(),
    pause,
  }
  try {
    return await assemble(base)
  } catch (error) {
    await lifecycle.stop().catch((failed: unknown) => log.error('shutdown_failed', { error: failed }))
    throw error
  }
}

async function assemble(base: Base): Promise<Touchline> {
  const { world, lifecycle, processId } = base
  // By another process, which would be waited for later. Where it fails, `buildHttp` says so.
  pageBundle().catch(() => undefined)
  const stores = await openStores(base)
  const schema = new SchemaWatch(stores.db, base.log)
  const market = await openMarket(base, stores, DECLARED)
  const observation = await startObservation(base)
  const accounts = await openAccounts(base, { stores, market, observation, erasers: ERASERS, rerankers: RERANKERS })
  const library = await openLibrary(base, stores)
  const doors = buildDoors(base, { accounts, market })
  const { realTime, wsServer, ownership } = await buildRealTime(base, { stores, accounts, market, doors, observation })
  const bot = createBot(base, { stores, market, realTime, library, ownership })
  const community = await openCommunity(base, { stores, market, realTime })
  const stream = new EventStream(stores.db)
  const watching = new DelayedMatches({
    catalogue: market.catalogue,
    rules: () => market.settings.rules,
    delayMs: () => market.settings.value('watch.delay_secs') * SECOND_MS,
    world,
  })
  const host: Host = { ...base, stores, market, accounts, observation, realTime, community, stream, library }
  const features = await openFeatures(host)
  const apps = await buildHttp(host, { schema, doors, wsServer, bot, watching, features })
  addProvider(base, realTime)
  addTasks(host, [
    ...databaseTasks(host, schema),
    ...ledgerTasks(host),
    ...visitorTasks(host, doors.visitors),
    ...matchTasks(host, bot, watching),
    ...features.flatMap(({ tasks = [] }) => tasks),
  ])
  // After the tasks: the first client already finds what they take up, and the demo.
  const addresses = addEndpoints(base, { apps, wsServer })
  return {
    realTime,
    users: accounts.users,
    outdated: schema.found,
    start: async () => {
      await lifecycle.start()
      return { processId, ...addresses() }
    },
    stop: () => lifecycle.stop(),
  }
}
