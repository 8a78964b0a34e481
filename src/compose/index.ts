/**
 * The composition root: the only file that knows every part. It builds the house from a configuration, embedded or on
 * PostgreSQL and Redis, starts it in order and stops it in the reverse order. No decision about the game is made here.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type FixtureId, type InstrumentId, playerId, type UserId } from '../../actors/kernel/ids.ts'
import { LEASE_TTL_MS } from '../../actors/kernel/limits.ts'
import { microsNearest, type Price, price } from '../../actors/kernel/micros.ts'
import { SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { ActorStopped } from '../../actors/match/actor.ts'
import { ActivityFeed } from '../../db/activity.ts'
import { type AccountChanges, AccountLog } from '../../db/account-log.ts'
import { setAnchors } from '../../db/anchors.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { type Boards, BoardsUnbuilt } from '../../db/boards.ts'
import { BoardsMemory } from '../../db/boards-memory.ts'
import { connectBoards } from '../../db/boards-redis.ts'
import { Careers } from '../../db/careers.ts'
import { Catalogue } from '../../db/catalogue.ts'
import { type Connection, connect } from '../../db/postgres/connect.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { type FastOrElse, fastOrElse } from '../../db/fast/fast-or-else.ts'
import { connectRedis } from '../../db/fast/fast-redis.ts'
import type { FastStore } from '../../db/fast/fast-store.ts'
import { isAway } from '../../db/faults.ts'
import { Fixtures } from '../../db/fixtures.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { migrate } from '../../db/postgres/migrate.ts'
import { Movers } from '../../db/movers.ts'
import { OneTime } from '../../db/one-time.ts'
import { Positions } from '../../db/positions.ts'
import { LedgerMonitor } from '../../db/ledger-monitor.ts'
import { RedisPubSub } from '../../db/fast/pub-sub-redis.ts'
import { Rates } from '../../db/rates.ts'
import { Registrations } from '../../db/registrations.ts'
import type { Notification } from '../../db/reaction-tx.ts'
import { Inbox } from '../../db/inbox.ts'
import { Legacy } from '../../db/legacy.ts'
import { installationOf } from '../../db/installation.ts'
import { Outbox } from '../../db/outbox.ts'
import { Referrals } from '../../db/referrals.ts'
import { ReplayRuns } from '../../db/replays.ts'
import { Retention } from '../../db/retention.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Spinner } from '../../db/spinner.ts'
import { Sessions } from '../../db/sessions.ts'
import { Settings } from '../../db/settings.ts'
import { UserList } from '../../db/user-list.ts'
import { PriceHistory } from '../../db/price-history.ts'
import { Tape } from '../../db/tape.ts'
import { Users } from '../../db/users.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import type { AccountPage } from '../../rooms/feed/account-stream.ts'
import { handshakeWithin } from '../../rooms/sockets/admission.ts'
import { type Cluster, type RealTime, startRealTime } from '../../rooms/boot.ts'
import { RemoteFault } from '../../rooms/cluster/bus.ts'
import type { Report } from '../../rooms/report.ts'
import { describeFeed } from '../../rooms/feed/feed-description.ts'
import { createIdentityProvider, IdentityProviderAway } from '../auth/identity.ts'
import { loadOrCreateKeys, loadOrCreateSecret } from '../auth/keys.ts'
import { type Mail, MailQueue } from '../auth/mail-queue.ts'
import { outboxMailer, smtpMailer } from '../auth/mail.ts'
import { createOneTimeCodes } from '../auth/one-time-codes.ts'
import { createSessions, type Sessions as AuthSessions } from '../auth/sessions.ts'
import { createSignIn, type SignIn } from '../auth/sign-in.ts'
import { createTickets } from '../auth/tickets.ts'
import { createTokens } from '../auth/tokens.ts'
import { type Config, ConfigError } from '../config.ts'
import { GameplayBot } from '../replays/gameplay-bot.ts'
import { createApp, createWsApp } from '../http/app.ts'
import { accountChangesJson, notificationJson } from '../http/json.ts'
import type { HttpDeps } from '../http/ports.ts'
import { HttpServer } from '../http-server.ts'
import { loadWebFiles } from '../http/web-files.ts'
import { createLog, type Log } from '../observe/log.ts'
import { createProvider } from '../provider/client.ts'
import { listRecordings, type RecordingFile } from '../replays/recordings.ts'
import { BoardKeeper } from '../reactions/board-keeper.ts'
import { react } from '../reactions/react.ts'
import { Reactor } from '../reactions/reactor.ts'
import { type Measuring, startMeasuring } from '../observe/metrics.ts'
import { observedLeases, observedStore } from '../observe/observed.ts'
import { instrumentIdFor, parseFixture } from '../provider/snapshot.ts'
import { systemWorld } from '../system-world.ts'
import { startTracing, tracedDesk, tracedStore } from '../observe/tracing.ts'

/** Parts a test puts in the place of the real ones. */
export interface Overrides {
  readonly world?: World
  readonly log?: Log
}

export interface Touchline {
  /** The REST API, callable without a socket. */
  readonly app: ReturnType<typeof createApp>
  readonly realTime: RealTime
  readonly wallets: Wallets
  readonly users: Users
  readonly settings: Settings
  readonly bot: GameplayBot
  /** Listens on both addresses, takes up what an earlier process left unfinished, and plays the demo if there is one. */
  start(): Promise<{ readonly processId: string; readonly url: string; readonly wsUrl: string }>
  /**
   * Is ready no more, takes no more requests, lets matches finish what they have, and closes everything. May be called at
   * any time, and again.
   */
  stop(): Promise<void>
}

const RECORDINGS = join(import.meta.dirname, '../../ops/replays')

/** Builds everything and migrates the database. Nothing listens yet. Throws what a part throws that cannot start. */
export async function compose(config: Config, overrides: Overrides = {}): Promise<Touchline> {
  const world = overrides.world ?? systemWorld()
  const log = overrides.log ?? createLog({ level: config.logLevel, world })
  const undo: Undo[] = []
  try {
    return await assemble(config, world, log, undo)
  } catch (error) {
    await undoAll(undo).catch((failed: unknown) => log.error('shutdown_failed', { error: failed }))
    throw error
  }
}

type Undo = () => Promise<void> | void

/** Undoes everything, the latest first, whatever fails on the way; then throws what failed. */
async function undoAll(undo: Undo[]): Promise<void> {
  const failed: unknown[] = []
  for (const stop of undo.splice(0).toReversed()) {
    try {
      await stop()
    } catch (error) {
      failed.push(error)
    }
  }
  if (failed.length > 0) throw new AggregateError(failed, `${failed.length} parts could not be stopped`)
}

/** Every part pushes how it is undone, so that stopping is the reverse of starting, also half-way. */
async function assemble(config: Config, world: World, log: Log, undo: Undo[]): Promise<Touchline> {
  const connection = await connect({ databaseUrl: config.databaseUrl, dataDir: config.dataDir })
  undo.push(() => connection.close())
  const { db } = connection
  const migrated = await connection.withoutTimeout((patient) => migrate(patient))
  if (migrated.length > 0) log.info('schema_migrated', { migrations: migrated })
  await seedDistricts(db)

  const fast = await openFastStore(config, world)
  undo.push(() => fast.close())

  const cache = new WalletCache(config.redisUrl === null ? null : fast, (error) =>
    log.warn('wallet_cache_failed', { error }),
  )
  const users = new Users(db, world, config.adminEmails)
  await users.promoteAdmins()
  const wallets = new Wallets(db, cache)
  const catalogue = new Catalogue(db, world)
  const positions = new Positions(db)
  const prices = new PriceHistory(db)
  const tape = new Tape(db)
  const movers = new Movers(db, world)
  const accountLog = new AccountLog(db)
  const askFast = fastOrElse(fast, world)
  const disconnect = (user: UserId): void => realTime.disconnectUser(user)
  const sessions = await openSessions({ config, db, askFast, world, log, disconnect })
  const registrations = new Registrations(db, world, config.adminEmails)
  const mail = openMail(config, world, log)
  undo.push(() => mail.stop())
  const signIn = await openSignIn({ config, people: registrations, fast, post: mail.post, world, log })
  const audit = new AuditLog(db, world)
  const report: Report = (event, error, facts) => log.error(event, { ...facts, error })
  const settings = await Settings.open({ db, world, audit, report })
  undo.push(settings.onChange((changed) => log.info('settings_changed', { keys: [...changed] })))
  undo.push(repeatedly({ what: 'settings are followed', everyMs: SETTINGS_POLL_MS, log }, () => settings.refresh()))
  const rules = () => settings.rules

  const retention = new Retention(db, world, () => ({
    fullDays: settings.value('retention.full_ticks_days'),
    days: settings.value('retention.ticks_days'),
  }))
  const tidyUp = async (): Promise<void> => {
    const forgotten = await retention.run()
    if (Object.values(forgotten).some((rows) => rows > 0)) log.info('retention_completed', { ...forgotten })
  }

  const recordings = await listRecordings(RECORDINGS)
  const demo = demoOf(config, recordings)
  const parse = (payload: unknown, matchId: FixtureId, cast: string) => parseReplayed(payload, matchId, cast, world)

  const isBehindProxy = config.limits.trustedProxies > 0
  const httpServer = new HttpServer({ app: () => app, isBehindProxy })
  const wsServer = new HttpServer({ app: () => wsApp, isBehindProxy })
  Object.assign(wsServer.node, handshakeWithin(HANDSHAKE_MS))
  // Undone after the real-time side, which alone can end the sockets that a closing server would wait for.
  undo.push(() => wsServer.close(0))
  const processId = world.newId()
  const leases = new SqlLeases(db, { owner: processId, ttlMs: LEASE_TTL_MS, alone: connection.kind === 'pglite' })
  const tracing =
    config.tracing === null ? null : await startTracing({ config: config.tracing, roles: config.roles, processId, log })
  if (tracing !== null) undo.push(() => tracing.stop())
  const measuring = startMeasuring(() => realTime.figures())
  undo.push(() => measuring.stop())
  const turnLoop = async (): Promise<void> => measuring.turnLoop()
  undo.push(repeatedly({ what: 'the event loop is measured', everyMs: LOOP_WINDOW_MS, log }, turnLoop))
  const store = new SqlMatchStore(connection, cache)
  const realTime = await startRealTime({
    server: wsServer.node,
    ownership: leases,
    cluster: await joinCluster(config, connection, processId),
    runsMatches: config.roles.includes('rooms'),
    publicAddress: config.publicWsUrl?.replace(/^wss?:\/\//, '') ?? null,
    verify: sessions.verifyWs,
    directory: {
      matchOfInstrument: (id) => catalogue.matchOfInstrument(id),
      matchOfPosition: async (id, user) => {
        const held = await positions.find(user, id)
        return held === null ? null : { matchId: held.position.fixtureId, open: held.position.close === null }
      },
    },
    readAccounts: async (questions) =>
      (await accountLog.changesOf(questions, ACCOUNT_PAGE)).map((changes) => changes && accountPage(changes)),
    replay: {
      parse,
      enrol: async (count) => (await users.createSyntheticMany(traderNames(count))).map(({ user }) => user.id),
    },
    provider:
      config.provider === null
        ? null
        : {
            provider: createProvider({ ...config.provider, timeoutMs: answerMs(config.provider.pollMs), world }),
            calendar: new Fixtures(db),
            pollMs: config.provider.pollMs,
            log: (event, facts) => log.info(event, facts),
          },
    store: observedStore(tracing === null ? store : tracedStore(store, tracing), {
      world,
      log,
      observe: measuring.commit,
    }),
    leases: observedLeases(leases, measuring.leaseLost),
    leaseTtlMs: LEASE_TTL_MS,
    world,
    rules,
    model: () => settings.model,
    report,
  })
  undo.push(() => realTime.stop())
  const bot = new GameplayBot({
    plays: config.roles.includes('rooms'),
    recordings,
    runs: new ReplayRuns(db, world, audit),
    replays: realTime.replays,
    parse,
    cast: (recording, cast) => setAnchors(db, anchorsOf(recording, cast)),
    demo,
  })

  const boards = await openBoards(config, connection, world)
  undo.push(() => boards.close())
  const careers = new Careers(db)
  const outbox = new Outbox(db, cache, world)
  const scope = () => (config.provider === null || settings.value('boards.include_replays') ? 'all' : 'live')
  const keeper = new BoardKeeper({ boards, careers, scope })
  const spinner = new Spinner(db, world, scope)
  const tell = (notifications: readonly Notification[]): void => {
    for (const notification of notifications) {
      const notice = { type: 'notification', notification: notificationJson(notification) }
      realTime.notify(notification.userId, notice)
    }
  }
  const reactor = new Reactor({
    outbox,
    reaction: react,
    tell,
    report,
  })
  undo.push(() => reactor.stop())

  let closing: Promise<void> | null = null
  const shared = {
    world,
    log,
    isFault: (error: unknown) =>
      isAway(error) ||
      error instanceof ActorStopped ||
      error instanceof RemoteFault ||
      error instanceof IdentityProviderAway ||
      error instanceof BoardsUnbuilt,
    corsOrigins: config.corsOrigins,
    metrics: {
      access: config.metrics,
      contentType: measuring.contentType,
      text: measuring.text,
      observe: measuring.request,
    },
    tracing,
    cookies: { production: config.production, domain: config.cookieDomain },
    readyChecks: {
      accepting: async () => {
        if (closing !== null) throw new Error('this process is stopping')
      },
      database: () => connection.ping(),
      fastStore: async () => {
        if (!fast.connected) throw new Error('the fast store is away')
      },
    },
  }
  const deps: HttpDeps = {
    ...shared,
    sessions,
    limits: { ...config.limits, rates: new Rates(askFast, world) },
    wsUrlFor: (hostname) => config.publicWsUrl ?? `ws://${hostname}:${wsServer.port}`,
    rules,
    flags: () => settings.flags,
    accounts: users,
    registrations,
    signIn,
    wallets,
    catalogue,
    history: {
      prices: (id, from) => prices.of(id, from),
      trades: (id, limit) => tape.recent(id, limit),
      movers: () => movers.top(),
    },
    positions,
    account: accountLog,
    desk: tracing === null ? realTime.desk : tracedDesk(realTime.desk, tracing),
    community: {
      boards,
      careers,
      keeper,
      referrals: new Referrals(db, world),
      inbox: new Inbox(db),
      activity: new ActivityFeed(db),
      spinner,
      legacy: new Legacy(db),
      shareUrl: (code) => `${config.corsOrigins[0] ?? ''}/join?ref=${code}`,
      tell,
      reactions: {
        setAside: (limit) => outbox.setAside(limit),
        lag: () => outbox.lag(),
        retry: (matchId, seq) => outbox.retry(matchId, seq, react),
      },
    },
    settings,
    audit,
    userList: new UserList(db, audit),
    bot,
    describeFeed,
    web: await loadWebFiles({
      devSignIn: !config.production,
      clientId: config.identity.clientId,
      authorizeUrl: config.identity.authorizeUrl,
    }),
  }
  const app = createApp(deps)
  const wsApp = createWsApp({ ...shared, matchmake: (request) => realTime.matchmake(request) })

  const open: Touchline['start'] = async () => {
    // Boards that cannot be shown yet, since another process builds them or has died of it, keep nobody from trading.
    await keeper.show().catch((error: unknown) => log.warn('boards_not_ready', { error }))
    undo.push(repeatedly({ what: 'leaderboards are kept', everyMs: BOARDS_POLL_MS, log }, () => keeper.show()))
    reactor.start()
    undo.push(repeatedly({ what: 'weekly seeds are promised', everyMs: SEEDS_POLL_MS, log }, () => spinner.prepare()))
    await spinner.prepare()
    // Whoever runs no match can be one of several on the same addresses: no socket must reach this very process.
    const isShared = !config.roles.includes('rooms') && process.platform === 'linux'
    await wsServer.listen({ port: config.wsPort, host: config.host, reusePort: isShared })
    await httpServer.listen({ port: config.port, host: config.host, reusePort: isShared })
    undo.push(() => httpServer.close(isBehindProxy ? LAST_USE_MS : 0))
    if (config.roles.includes('rooms')) realTime.followProvider()
    undo.push(repeatedly({ what: 'old rows are removed', everyMs: RETENTION_MS, log }, tidyUp))
    if (config.roles.includes('rooms') && config.metrics !== 'off') {
      const pulse = new LedgerMonitor(db, world)
      undo.push(
        repeatedly({ what: 'the books are looked at', everyMs: PULSE_MS, log }, () => sampleBooks(pulse, measuring)),
      )
    }
    // No stop-loss may wait for a visitor: whatever is unsettled runs from the start.
    const { desk } = realTime
    void desk.lookForOrphans().catch((error: unknown) => log.error('orphan_scan_failed', { error }))
    undo.push(repeatedly({ what: 'matches are taken up', everyMs: ORPHANS_POLL_MS, log }, () => desk.lookForOrphans()))
    undo.push(repeatedly({ what: 'replays are looked after', everyMs: BOT_POLL_MS, log }, () => bot.look()))
    await bot.look()
    return {
      processId,
      url: `http://${config.host}:${httpServer.port}`,
      wsUrl: config.publicWsUrl ?? `ws://${config.host}:${wsServer.port}`,
    }
  }
  // Whoever stops a house that is still starting waits until it has: what is half built cannot be taken down.
  let opening: ReturnType<Touchline['start']> | null = null
  const start: Touchline['start'] = () => (opening ??= open())
  const shut = async (): Promise<void> => {
    await opening?.catch(() => undefined)
    if (opening !== null) await pause(config.drainMs)
    // Whoever is told to come back must find another process, not this one.
    for (const server of [httpServer, wsServer]) server.shut()
    await undoAll(undo)
  }
  const stop = (): Promise<void> => (closing ??= shut())
  return { app, realTime, wallets, users, settings, bot, start, stop }
}

/** Seeds are promised for the running week and the next: nothing depends on the hour. */
const SEEDS_POLL_MS = 3_599_999

/** How old a place on a leaderboard may be. A prime. */
const BOARDS_POLL_MS = 211

/** Twice a second, so that a setting changed in any process is in force in every other within one. A prime. */
const SETTINGS_POLL_MS = 499

/** A prime near an hour. */
const RETENTION_MS = 3_599_993

/** A prime near ten seconds: how often the books and the work that is left are looked at. */
const PULSE_MS = 9_973

/** A prime near ten seconds: over which time the event loop's lateness is told. */
const LOOP_WINDOW_MS = 9_967

async function sampleBooks(pulse: LedgerMonitor, measuring: Measuring): Promise<void> {
  measuring.books(await pulse.books())
  measuring.workLeft(await pulse.workLeft())
}

/** How often matches are looked for that no process runs. A prime. */
const ORPHANS_POLL_MS = 983

/** A prime near a second: how often replays are brought to where they should be. */
const BOT_POLL_MS = 997

/** The other processes, where there can be any: they meet on the database and on Redis. */
async function joinCluster(config: Config, { db, kind }: Connection, processId: string): Promise<Cluster | null> {
  if (kind === 'pglite' || config.redisUrl === null) return null
  return {
    processId,
    pubSub: await RedisPubSub.connect({ url: config.redisUrl, prefix: `${await installationOf(db)}:` }),
  }
}

interface Repetition {
  /** What is true while it works, for the log. */
  readonly what: string
  readonly everyMs: number
  readonly log: Log
}

/** Does something again and again until undone, one time after the other. Says once that it fails, and once that it works. */
function repeatedly({ what, everyMs, log }: Repetition, work: () => Promise<void>): () => Promise<void> {
  let working: Promise<void> | null = null
  let failing = false
  const once = async (): Promise<void> => {
    try {
      await work()
      if (failing) log.info(`${what} again`)
      failing = false
    } catch (error) {
      if (!failing) log.warn(`${what} no more for now`, { error })
      failing = true
    }
  }
  const repeating = setInterval(() => {
    working ??= once().finally(() => (working = null))
  }, everyMs)
  return async () => {
    clearInterval(repeating)
    await working
  }
}

/** Account events of one message on a socket: 70 kB at most. */
const ACCOUNT_PAGE = 100

function accountPage(changes: AccountChanges): AccountPage {
  const { marker, kind } = changes
  const isEmpty = kind === 'events' && changes.events.length === 0
  return { marker, more: kind === 'events' && changes.more, isEmpty, body: accountChangesJson(changes) }
}

/** How long the provider may take to answer: most of a poll, and neither less than half a second nor more than eight. */
const answerMs = (pollMs: number): number => Math.min(8_000, Math.max(500, Math.floor(pollMs * 0.8)))

interface SessionParts {
  readonly config: Config
  readonly db: Connection['db']
  readonly askFast: FastOrElse
  readonly world: World
  readonly log: Log
  readonly disconnect: (user: UserId) => void
}

/** Tokens and the sessions behind them. What ended lately is told to a fast store that may have forgotten it. */
async function openSessions({ config, db, askFast, world, log, disconnect }: SessionParts): Promise<AuthSessions> {
  const { jwt, dataDir } = config
  const rows = new Sessions({
    db,
    ask: askFast,
    world,
    tokenLifeMs: Math.max(jwt.accessSecs, jwt.wsSecs) * SECOND_MS,
    sessionLifeMs: jwt.refreshSecs * SECOND_MS,
  })
  await rows.recall()
  const tokens = createTokens({ keys: await loadOrCreateKeys({ dataDir, ...jwt }), lifetimes: jwt, world })
  return createSessions({ tokens, rows, disconnect, log })
}

interface SignInParts {
  readonly config: Config
  readonly people: Registrations
  readonly fast: FastStore
  readonly post: (mail: Mail) => void
  readonly world: World
  readonly log: Log
}

/** The way in through the identity provider. */
async function openSignIn({ config, people, fast, post, world, log }: SignInParts): Promise<SignIn> {
  const { ticket, dataDir } = config
  const secret = ticket.secret ?? (await loadOrCreateSecret(dataDir, () => world.secret(32)))
  const store = new OneTime(fast, ticket.ttlSecs * SECOND_MS)
  return createSignIn({
    identities: createIdentityProvider({ ...config.identity, world, log }),
    nonces: store,
    tickets: createTickets({ secret, ttlSecs: ticket.ttlSecs, world }),
    codes: createOneTimeCodes({ store, secret, world, post }),
    people,
  })
}

/** Mail goes to the configured server, or into a file; what cannot leave at once is tried again until it is of no use. */
function openMail(
  { mail, dataDir }: Config,
  world: World,
  log: Log,
): { readonly post: (mail: Mail) => void; readonly stop: () => Promise<void> } {
  const smtp = mail.smtpUrl === null ? null : smtpMailer({ url: mail.smtpUrl, from: mail.from })
  const send = smtp?.send ?? outboxMailer({ dataDir, world, log })
  const queue = new MailQueue({ send, world, log, pause: (ms, signal) => pause(ms, undefined, { signal }) })
  return {
    post: (each) => queue.post(each),
    stop: async () => {
      await queue.stop()
      smtp?.close()
    },
  }
}

async function openBoards({ redisUrl }: Config, { db }: Connection, world: World): Promise<Boards> {
  if (redisUrl === null) return new BoardsMemory()
  return connectBoards({ url: redisUrl, installation: await installationOf(db), newId: () => world.newId() })
}

async function openFastStore(config: Config, world: World): Promise<FastStore> {
  if (config.redisUrl === null) return new FastMemory(world)
  try {
    return await connectRedis({ url: config.redisUrl })
  } catch (error) {
    throw new FastStoreAway(new URL(config.redisUrl).host, error)
  }
}

/** Redis cannot be reached at the start. Once it runs the house does without it for a while. */
class FastStoreAway extends Error {
  override name = 'FastStoreAway'

  constructor(where: string, cause: unknown) {
    super(`Redis at ${where} does not answer (${cause instanceof Error ? cause.message : String(cause)})`, { cause })
  }
}

/** The demo that the configuration asks for. Throws ConfigError when there is no such recording. */
function demoOf(
  { demo }: Config,
  recordings: readonly RecordingFile[],
): ConstructorParameters<typeof GameplayBot>[0]['demo'] {
  if (demo.replay === null) return null
  const names = recordings.map(({ name }) => name)
  if (!names.includes(demo.replay)) throw new ConfigError([`DEMO_REPLAY: must be one of ${names.join(', ')}, or none`])
  return { recording: demo.replay, speed: demo.speed, traders: demo.traders }
}

/** What the players of a cast are worth before they have a price of their own. */
function anchorsOf({ anchors }: Recording, cast: string): Map<InstrumentId, Price> {
  return new Map(
    Object.entries(anchors).map(([player, units]) => [
      instrumentIdFor(`replay/${cast}`, playerId(Number(player))),
      price(microsNearest(units)),
    ]),
  )
}

/** A recorded payload as a snapshot of the match it plays into; instruments are the cast's own, never a player's. */
function parseReplayed(payload: unknown, matchId: FixtureId, cast: string, world: World): FixtureSnapshot | null {
  const parsed = parseFixture(payload, {
    instrumentIdOf: (player) => instrumentIdFor(`replay/${cast}`, player),
    receivedAt: world.now(),
  })
  return parsed.ok ? { ...parsed.snapshot, fixtureId: matchId } : null
}

const traderNames = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `Trader ${String(n + 1).padStart(3, '0')}`)

/** How long a connection of a proxy that is not used is kept for what may be on its way. */
const LAST_USE_MS = 1_000
/** Within which a handshake must have arrived. */
const HANDSHAKE_MS = 10_000
