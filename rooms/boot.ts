/** Starts and stops the real-time side of one process: rooms, both doors of the WebSocket address, and the desk. */
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { LocalDriver, LocalPresence, matchMaker, type Room } from '@colyseus/core'
import { setLogger } from '@colyseus/core/Logger'
import type { FixtureId, UserId } from '../actors/kernel/ids.ts'
import { AccountStream, type Notice, type ReadAccounts } from './feed/account-stream.ts'
import { addressOf, refuseUpgrade, type VerifyToken } from './sockets/admission.ts'
import type { ProcessId, PubSub } from './cluster/bus.ts'
import { FanOut } from './feed/fan-out.ts'
import { clusterMember } from './join-cluster.ts'
import type { RealTimeStats } from './stats.ts'
import type { Wake } from './feed/wake-limiter.ts'
import { type Directory, MatchDesk } from './match/match-desk.ts'
import type { MatchContext } from './match/match-host.ts'
import { type HostedMatch, MATCH_ROOM, MatchRoom } from './match/match-room.ts'
import { matchmake } from './match/seats.ts'
import type { Ownership } from './cluster/peers.ts'
import { PriceFeed, RECONNECT_SPREAD_MS } from './feed/price-feed.ts'
import { type ProviderContext, ProviderPoller } from './sources/provider-poller.ts'
import { REPLAY_ROOM, ReplayRoom, type ReplayContext } from './sources/replay-room.ts'
import { Replays } from './sources/replays.ts'
import type { Report } from './report.ts'
import { RoomTransport } from './sockets/transport.ts'
import { ConnectionLimit, type ConnectionLimits } from './sockets/connection-limit.ts'
import { WriteDeadline } from './sockets/write-deadline.ts'

/** How long sockets may take to say goodbye. */
const GOODBYE_MS = 1_000
/** How long stopping may take in all; Colyseus by itself would wait for ever. */
const STOP_MS = 5_000

/** The other processes of the installation. */
export interface Cluster {
  readonly pubSub: PubSub
  /** What the leases of this process are in the name of. */
  readonly processId: ProcessId
}

export interface RealTimeOptions extends Omit<MatchContext, 'fanOut' | 'account' | 'deadline' | 'relay'> {
  /** The server behind `{ws_url}`. Its `upgrade` events become ours; its requests and its `listen` do not. */
  readonly server: Server
  readonly verify: VerifyToken
  readonly directory: Directory
  readonly ownership: Ownership
  /** Null when this process is alone. */
  readonly cluster: Cluster | null
  /** Whether matches and replays may run in this process. */
  readonly runsMatches: boolean
  /** Where SDK clients reach the rooms of this process, without a scheme; null where they asked for a seat. */
  readonly publicAddress: string | null
  readonly readAccounts: ReadAccounts
  /** Only tests have others. */
  readonly limits?: Partial<ConnectionLimits>
  readonly replay: ReplayContext
  /** Null: there is no live provider. */
  readonly provider: ProviderContext | null
}

export interface RealTime {
  readonly desk: MatchDesk
  readonly feed: PriceFeed
  readonly account: AccountStream
  readonly replays: Replays
  /** Starts the poller of the live provider, if there is a provider. To be called once. */
  followProvider(): void
  /** The poller, once it has started. */
  provider(): ProviderPoller | null
  /** How it is doing at this moment. */
  figures(): RealTimeStats
  /** Answers `POST {ws_url}/matchmake/:method/:target`; to be mounted there. */
  matchmake(request: Request): Promise<Response>
  /** Closes every socket of a user, of both doors and in every process: he has signed out. */
  disconnectUser(userId: UserId): void
  /** Tells a user something that no log keeps, whichever process he listens to. */
  notify(userId: UserId, notice: Notice): void
  /**
   * Takes no more commands, tells clients, lets every match finish what it has, gives the leases back, closes the sockets.
   * Returns within five seconds whatever happens. The HTTP server is its owner's to close.
   */
  stop(): Promise<void>
}

/** One at a time per process, since Colyseus has one matchmaker; after `stop` it may be started again. */
export async function startRealTime(options: RealTimeOptions): Promise<RealTime> {
  const { server, verify, world, report } = options
  setLogger(quietLogger(report))
  const deadline = new WriteDeadline()
  const connectionLimit = new ConnectionLimit(options.limits)
  const hosted = new Map<FixtureId, HostedMatch>()
  const fanOut = new FanOut({ world, report })
  const account = new AccountStream({ read: options.readAccounts, report })
  const far =
    options.cluster === null ? null : clusterMember({ ...options, ...options.cluster, fanOut, account, hosted })
  const context: MatchContext = { ...options, fanOut, account, deadline, relay: far?.prices.relay ?? null }
  const desk = new MatchDesk({
    ...options,
    context,
    hosted,
    peers: far?.peers ?? null,
    followRemote: async (matchId) => (await far?.prices.follow(matchId)) ?? false,
  })
  const wake: Wake = (id) => desk.activateFor(id)
  const feed = new PriceFeed({ verify, connectionLimit, fanOut, account, wake, deadline, world, report })
  const replays = new Replays({ surroundings: options.replay, desk, world, report })
  const transport = new RoomTransport(deadline, world)

  matchMaker.setHealthChecksEnabled(false) // one process has no peers to check on
  await matchMaker.setup(
    new LocalPresence(),
    new LocalDriver(),
    options.publicAddress ?? undefined,
    async () => matchMaker.processId,
  )
  await matchMaker.accept()
  matchMaker.defineRoomType(MATCH_ROOM, MatchRoom)
  matchMaker.defineRoomType(REPLAY_ROOM, ReplayRoom)
  let poller: ProviderPoller | null = null

  const onUpgrade = dispatcher(feed, transport)
  server.on('upgrade', onUpgrade)
  const disconnectHere = (userId: UserId): void => {
    feed.disconnectUser(userId)
    for (const match of hosted.values()) match.disconnectUser(userId)
  }
  const seats = { desk, hosted, connectionLimit, verify, peers: far?.peers ?? null }
  if (far !== null) await far.open({ desk, seats, runsMatches: options.runsMatches, disconnect: disconnectHere })

  const windDown = async (): Promise<void> => {
    await poller?.stop()
    await replays.stop()
    await desk.stop()
    feed.announceStop()
    for (const match of hosted.values()) match.announceStop(RECONNECT_SPREAD_MS)
    await matchMaker.gracefullyShutdown()
  }
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
    figures: () => ({
      sockets: {
        feed: feed.connections,
        room: [...hosted.values()].reduce((sum, { connections }) => sum + connections, 0),
      },
      traffic: fanOut.traffic,
      tooSlow: deadline.closed,
      matches: [...hosted.values()].map(({ source }) => source.figures()),
      requests: far?.requests ?? null,
    }),
    matchmake: (request) => matchmake(request, seats),
    disconnectUser: (userId) => {
      disconnectHere(userId)
      far?.signedOut(userId)
    },
    notify: (userId, notice) => (far === null ? account.publish(userId, notice) : far.notify(userId, notice)),
    stop: async () => {
      const woundDown = windDown().catch((error: unknown) => report('wind_down_failed', error))
      await Promise.race([woundDown, pause(STOP_MS - GOODBYE_MS)])
      server.off('upgrade', onUpgrade)
      fanOut.stop()
      account.stop()
      await Promise.race([Promise.all([feed.stop(), transport.close(), far?.close()]), pause(GOODBYE_MS)])
      feed.terminate()
      transport.terminate()
      deadline.stop()
    },
  }
}

const ROOM_PATH = /^\/[\w-]+\/([\w-]+)$/

/** The only listener of `upgrade`: every path gets an answer, since an unanswered upgrade would hang for ever. */
function dispatcher(feed: PriceFeed, transport: RoomTransport) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const address = addressOf(request)
    const path = address?.pathname ?? ''
    const room = matchMaker.getLocalRoomById(ROOM_PATH.exec(path)?.[1] ?? '')
    if (path === '/') void feed.upgrade(request, head)
    else if (address === null || room === undefined) refuseUpgrade(socket, 404)
    else if (isSeated(room, address.searchParams)) transport.upgrade(request, head)
    else refuseUpgrade(socket, 401)
  }
}

/** Whether a seat is kept for whoever asks; without one he would be let in only to be sent away. */
const isSeated = (room: Room, query: URLSearchParams): boolean =>
  room.hasReservedSeat(query.get('sessionId') ?? '', query.get('reconnectionToken') ?? undefined)

const ignore = (): void => undefined

/** Colyseus prints by itself, and much of it any client can provoke; only what it calls an error is passed on. */
function quietLogger(report: Report): Parameters<typeof setLogger>[0] {
  return {
    debug: ignore,
    info: ignore,
    trace: ignore,
    warn: ignore,
    error: (...args: unknown[]) => report('colyseus_error', args.length === 1 ? args[0] : args),
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms).unref())
