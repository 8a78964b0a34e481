/** Starts and stops the real-time part of one process: rooms, both WebSocket endpoints, and the desk. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { LocalDriver, LocalPresence, matchMaker, Room } from '@colyseus/core'
import { setLogger } from '@colyseus/core/Logger'
import type { FixtureId, UserId } from '../actors/kernel/ids.ts'
import { isClosing } from '../actors/match/shared-step.ts'
import { AccountStream, type Notice, type ReadAccounts } from './feed/account-stream.ts'
import { addressOf, type VerifyToken, type Visitor } from './sockets/admission.ts'
import type { ProcessId, PubSub } from './cluster/bus.ts'
import type { Presence, Registry } from './cluster/presence.ts'
import { FanOut } from './feed/fan-out.ts'
import { clusterMember } from './join-cluster.ts'
import type { PollerStats, RealTimeStats } from './stats.ts'
import { type Wake, WakeLimiter } from './feed/wake-limiter.ts'
import { type Directory, MatchDesk, type MatchDeskOptions } from './match/match-desk.ts'
import { FairShare } from './match/fair-share.ts'
import type { MatchContext } from './match/match-host.ts'
import { type HostedMatch, MATCH_ROOM, MatchRoom } from './match/match-room.ts'
import { readsMessage } from './match/safe-room.ts'
import { matchmake } from './match/seats.ts'
import type { Ownership } from './cluster/peers.ts'
import { PriceFeed, RECONNECT_SPREAD_MS } from './feed/price-feed.ts'
import type { ProviderStatus } from './sources/provider.ts'
import { type ProviderContext, ProviderPoller } from './sources/provider-poller.ts'
import { REPLAY_ROOM, ReplayRoom } from './sources/replay-room.ts'
import type { ReplayContext } from './sources/replay-player.ts'
import { Replays } from './sources/replays.ts'
import type { Report } from './report.ts'
import { CLOSE, type Closing, type CloseReason, CODE_BY_REASON } from './sockets/close-codes.ts'
import { Door, type DoorLimits, refuseUpgrade } from './sockets/door.ts'
import { RoomTransport } from './sockets/transport.ts'
import { ConnectionLimit, type ConnectionLimits } from './sockets/connection-limit.ts'
import { WriteDeadline } from './sockets/write-deadline.ts'

/** For sockets to close. */
const CLOSE_MS = 1_000
/** To stop in all; Colyseus itself would wait without a limit. */
const STOP_MS = 5_000

/** The other processes of the installation. */
export interface Cluster {
  readonly pubSub: PubSub
  /** Owner id of the leases of this process. */
  readonly processId: ProcessId
  readonly registry: Registry
}

export interface RealTimeOptions extends Omit<
  MatchContext,
  'fanOut' | 'account' | 'deadline' | 'share' | 'relay' | 'refusedUpdates' | 'onCommitted'
> {
  /**
   * The server behind `{ws_url}`. This module answers its upgrade requests; its owner answers the others and listens.
   */
  readonly server: Server
  readonly verify: VerifyToken
  readonly doorLimits: DoorLimits
  readonly directory: Directory
  readonly ownership: Ownership
  /** Null when there are no other processes. */
  readonly cluster: Cluster | null
  /** Whether matches and replays may run in this process. */
  readonly runsMatches: boolean
  readonly rulesWith: MatchDeskOptions['rulesWith']
  /** Where SDK clients reach the rooms of this process, without a scheme; null: where they asked for a seat. */
  readonly publicAddress: string | null
  readonly readAccounts: ReadAccounts
  /** What is left out has its default. */
  readonly limits?: Partial<ConnectionLimits>
  readonly replay: ReplayContext
  /** Null when there is no live provider. */
  readonly provider: ProviderContext | null
}

type CommitListener = MatchContext['onCommitted']

export interface RealTime {
  readonly desk: MatchDesk
  readonly feed: PriceFeed
  readonly account: AccountStream
  readonly replays: Replays
  /** Starts the poller of the live provider, if there is a provider. To be called once. */
  followProvider(): void
  /** The poller, once it has started. */
  provider(): ProviderPoller | null
  stats(): RealTimeStats
  /** Whether this process and the others hear each other; null when there are no others. */
  readonly presence: Presence | null
  /** Whether a match of this process is closing the positions of its holders. */
  isSettling(this: void): boolean
  /** Answers `POST {ws_url}/matchmake/:method/:target`. */
  matchmake(request: Request): Promise<Response>
  /** Closes all sockets of a user who has signed out, at both endpoints and in all processes. */
  disconnectUser(userId: UserId): void
  /** The bearers of all sockets and seats of this process, at both endpoints. */
  visitors(): readonly Visitor[]
  /** Hears of every commit of the matches of this process from now on. The listener must be quick, and not throw. */
  listen(listener: CommitListener): void
  /** Closes the sockets and frees the seats of these visitors, at both endpoints of this process. */
  disconnectVisitors(isGone: (visitor: Visitor) => boolean, reason: CloseReason): void
  /** Sends a user a notice, in the process where they listen. */
  notify(userId: UserId, notice: Notice): void
  /**
   * Stops taking commands, informs the clients, lets every match finish what it has, releases the leases and closes the
   * sockets. Takes five seconds at most. The owner of the HTTP server closes it.
   */
  stop(): Promise<void>
}

/** Colyseus has one matchmaker per process, so this can be started again only after `stop`. */
export async function startRealTime(options: RealTimeOptions): Promise<RealTime> {
  setLogger(quietLogger(options.report))
  const parts = partsOf(options)
  const { desk, feed, account, replays, hosted, cluster } = parts
  await startMatchmaker(options.publicAddress)

  const onUpgrade = dispatcher(parts, options.report)
  options.server.on('upgrade', onUpgrade)
  const disconnectVisitors = (isGone: (visitor: Visitor) => boolean, reason: CloseReason): void => {
    const closing = { code: CODE_BY_REASON[reason], reason }
    feed.disconnectVisitors(isGone, closing)
    for (const match of hosted.values()) match.disconnectVisitors(isGone, closing)
  }
  const signedOut = (userId: UserId): void => disconnectVisitors((visitor) => visitor.userId === userId, 'signed out')
  const seats = { ...parts, verify: options.verify, peers: cluster?.peers ?? null }
  await cluster?.open({ desk, seats, runsMatches: options.runsMatches, signedOut })

  let poller: ProviderPoller | null = null
  return {
    desk,
    feed,
    account,
    replays,
    followProvider: () => {
      if (options.provider === null) return
      poller = new ProviderPoller({ ...options, ...options.provider, desk })
      poller.start()
    },
    provider: () => poller,
    stats: () => ({ ...statsOf(parts), poller: poller === null ? null : pollerStats(poller.status(), options.world) }),
    presence: cluster?.presence() ?? null,
    isSettling: () => hosted.values().some(({ actor }) => isClosing(actor.view)),
    matchmake: (request) => matchmake(request, seats),
    disconnectUser: (userId) => {
      signedOut(userId)
      cluster?.signedOut(userId)
    },
    visitors: () => [...feed.visitors(), ...[...hosted.values()].flatMap((match) => match.visitors())],
    disconnectVisitors,
    listen: (listener) => parts.listeners.push(listener),
    notify: (userId, notice) => (cluster === null ? account.publish(userId, notice) : cluster.notify(userId, notice)),
    stop: async () => {
      const stopped = stopMatches(parts, poller).catch((error: unknown) => options.report('wind_down_failed', error))
      await Promise.race([stopped, pause(STOP_MS - CLOSE_MS)])
      options.server.off('upgrade', onUpgrade)
      await stopSockets(parts)
    },
  }
}

type Parts = ReturnType<typeof partsOf>

function partsOf(options: RealTimeOptions) {
  const { verify, world, report } = options
  const deadline = new WriteDeadline()
  const connectionLimit = new ConnectionLimit(options.limits)
  const hosted = new Map<FixtureId, HostedMatch>()
  const refusedUpdates = { clock_behind: 0, before_kick_off: 0 }
  const listeners: CommitListener[] = []
  const fanOut = new FanOut({ clock: world.steady, report })
  const account = new AccountStream({ read: options.readAccounts, report })
  const cluster =
    options.cluster === null ? null : clusterMember({ ...options, ...options.cluster, fanOut, account, hosted })
  const desk = new MatchDesk({
    ...options,
    context: {
      ...options,
      fanOut,
      account,
      deadline,
      share: new FairShare(world.steady),
      refusedUpdates,
      onCommitted: (events) => listeners.forEach((listener) => listener(events)),
      relay: cluster?.prices.relay ?? null,
    },
    hosted,
    openRoom: (room) => matchMaker.createRoom(MATCH_ROOM, room),
    peers: cluster?.peers ?? null,
    followRemote: async (matchId) => (await cluster?.prices.follow(matchId)) ?? false,
  })
  const wake: Wake = (id) => desk.activateFor(id)
  const wakes = new WakeLimiter(world.steady)
  const door = new Door({ limits: options.doorLimits, clock: world.steady, report })
  const common = { connectionLimit, fanOut, account, deadline, world, report }
  const feed = new PriceFeed({ verify, door, wake, wakes, ...common })
  const replays = new Replays({ context: options.replay, desk, world, report })
  const transport = new RoomTransport(deadline, world.steady)
  return {
    deadline,
    door,
    wakes,
    connectionLimit,
    hosted,
    refusedUpdates,
    listeners,
    fanOut,
    account,
    cluster,
    desk,
    feed,
    replays,
    transport,
  }
}

async function startMatchmaker(publicAddress: string | null): Promise<void> {
  matchMaker.setHealthChecksEnabled(false) // it cannot see the other processes
  const here = async (): Promise<string> => matchMaker.processId
  await matchMaker.setup(new LocalPresence(), new LocalDriver(), publicAddress ?? undefined, here)
  await matchMaker.accept()
  matchMaker.defineRoomType(MATCH_ROOM, MatchRoom)
  matchMaker.defineRoomType(REPLAY_ROOM, ReplayRoom)
}

const statsOf = ({
  feed,
  hosted,
  refusedUpdates,
  fanOut,
  deadline,
  cluster,
}: Parts): Omit<RealTimeStats, 'poller'> => ({
  sockets: {
    feed: feed.connections,
    room: [...hosted.values()].reduce((sum, { connections }) => sum + connections, 0),
  },
  traffic: fanOut.traffic,
  tooSlow: deadline.closed,
  matches: [...hosted.values()].map(({ source }) => source.stats()),
  refusedUpdates,
  requests: cluster?.requests ?? null,
  busUnheardMs: cluster?.presence()?.unheardMs ?? null,
})

const pollerStats = (
  { polling, polls, failures, silentSince, faults, quotaLeft }: ProviderStatus,
  world: RealTimeOptions['world'],
): PollerStats => ({
  polling,
  answered: polls - failures,
  failed: failures,
  silentMs: polling && silentSince !== null ? world.steady.now() - silentSince : null,
  faults,
  quotaLeft: polling ? quotaLeft : null,
})

async function stopMatches({ replays, desk, feed, hosted }: Parts, poller: ProviderPoller | null): Promise<void> {
  await poller?.stop()
  await replays.stop()
  await desk.stop()
  feed.announceStop()
  const matches = [...hosted.values()]
  for (const match of matches) match.announceStop(RECONNECT_SPREAD_MS)
  await matchMaker.gracefullyShutdown()
  // The matchmaker does not wait for those that were ending already.
  await Promise.all(matches.map(({ closed }) => closed))
}

async function stopSockets({ door, fanOut, account, feed, transport, cluster, deadline }: Parts): Promise<void> {
  door.stop()
  fanOut.stop()
  account.stop()
  await Promise.race([Promise.all([feed.stop(), transport.close(), cluster?.close()]), pause(CLOSE_MS)])
  feed.terminate()
  transport.terminate()
  deadline.stop()
}

const ROOM_PATH = /^\/[\w-]+\/([\w-]+)$/

/** The only listener of `upgrade`. It answers every path, since an unanswered upgrade would hang. */
function dispatcher({ door, feed, transport }: Pick<Parts, 'door' | 'feed' | 'transport'>, report: Report) {
  const dispatch = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    if (!(await door.admits(request))) return
    const address = addressOf(request)
    const path = address?.pathname ?? ''
    const roomId = ROOM_PATH.exec(path)?.[1] ?? ''
    // Colyseus keeps its rooms in an object, whose own members have names, too.
    const found: unknown = matchMaker.getLocalRoomById(roomId)
    const room = found instanceof Room ? found : undefined
    const query = address?.searchParams ?? new URLSearchParams()
    if (path === '/') await feed.upgrade(request, head)
    else if (room !== undefined && isSeated(room, query)) transport.upgrade(request, head)
    else if (roomId !== '' && query.has('reconnectionToken')) door.refuse(request, head, SEAT_LOST)
    else if (room === undefined) refuseUpgrade(socket, 404)
    else door.refuse(request, head, NO_SUCH_SEAT)
  }
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    dispatch(request, socket, head).catch((error: unknown) => {
      report('upgrade_failed', error)
      socket.destroy()
    })
  }
}

const NO_SUCH_SEAT: Closing = { code: CLOSE.unauthorised, reason: 'no such seat' }
/** Its process was killed, its match has moved, or it was kept long enough. The session may well last. */
const SEAT_LOST: Closing = { code: CLOSE.restart, reason: 'seat lost; join again' }

/**
 * Whether the request has a reserved seat. Without one, Colyseus would accept the connection and then close it. Asking
 * by a reconnection token also ends the client's former connection, which looks alive until a ping is unanswered:
 * Colyseus would wait ten seconds for that, and then give up.
 */
function isSeated(room: Room, query: URLSearchParams): boolean {
  const sessionId = query.get('sessionId') ?? ''
  const token = query.get('reconnectionToken')
  return token === null ? room.hasReservedSeat(sessionId) : room.checkReconnectionToken(token) === sessionId
}

const ignore = (): void => undefined

/** Clients can provoke most of what Colyseus logs; only its errors are reported, and none that their messages cause. */
function quietLogger(report: Report): Parameters<typeof setLogger>[0] {
  return {
    debug: ignore,
    info: ignore,
    trace: ignore,
    warn: ignore,
    error: (...args: unknown[]) => {
      if (!readsMessage()) report('colyseus_error', args.length === 1 ? args[0] : args)
    },
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
