/**
 * The price feed: a plain WebSocket endpoint for the prices of chosen instruments and for the user's account events.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { unreachable } from '../../actors/kernel/assert.ts'
import type { InstrumentId, UserId } from '../../actors/kernel/ids.ts'
import type { World } from '../../actors/kernel/world.ts'
import type { Report } from '../report.ts'
import { addressOf, admit, refuseUpgrade, type VerifyToken } from '../sockets/admission.ts'
import { CLOSE } from '../sockets/close-codes.ts'
import type { ConnectionLimit, Slot } from '../sockets/connection-limit.ts'
import { Sweeper } from '../sockets/sweeper.ts'
import { socketOptions, type WriteDeadline } from '../sockets/write-deadline.ts'
import type { AccountStream } from './account-stream.ts'
import type { FanOut } from './fan-out.ts'
import { type FeedRequest, type InvalidRequest, parseRequest, SUBPROTOCOL } from './feed-protocol.ts'
import { FeedSocket } from './feed-socket.ts'
import { asMessage } from './price-frame.ts'
import { Subscriber } from './subscriber.ts'
import { instrumentsIn, Subscriptions } from './subscriptions.ts'
import { type Wake, WakeLimiter } from './wake-limiter.ts'

/** Each socket is visited once a sweep: after two sweeps without a write it gets a heartbeat, every fourth a ping. */
const SWEEP_MS = 5_000
/** Clients return after a restart at random times within this. */
export const RECONNECT_SPREAD_MS = 5_000

export interface PriceFeedOptions {
  readonly verify: VerifyToken
  readonly connectionLimit: ConnectionLimit
  readonly fanOut: FanOut
  readonly account: AccountStream
  readonly wake: Wake
  readonly deadline: WriteDeadline
  readonly world: World
  readonly report: Report
}

export class PriceFeed {
  readonly #options: PriceFeedOptions
  readonly #server: WebSocketServer
  readonly #wakes: WakeLimiter
  readonly #sockets = new Set<FeedSocket>()
  readonly #sweeper: Sweeper<FeedSocket>
  #isStopping = false
  #onEmpty: (() => void) | undefined

  constructor(options: PriceFeedOptions) {
    this.#options = options
    this.#wakes = new WakeLimiter(options.wake)
    this.#server = new WebSocketServer({
      ...socketOptions(options.deadline),
      clientTracking: false,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    })
    this.#sweeper = new Sweeper(this.#sockets, SWEEP_MS, (socket) => this.#visit(socket))
  }

  get connections(): number {
    return this.#sockets.size
  }

  /**
   * Answers an upgrade request: 401 without a valid token, 429 when the user has too many connections, 503 when the
   * token cannot be checked or the feed is stopping.
   */
  async upgrade(request: IncomingMessage, head: Buffer): Promise<void> {
    const { socket } = request
    const { verify, connectionLimit, report } = this.#options
    const abandon = (): void => void socket.destroy()
    socket.on('error', abandon) // until `ws` listens
    try {
      const address = addressOf(request)
      if (address === null) return refuseUpgrade(socket, 400)
      const visitor = await admit(address, request.headers.authorization, verify)
      if (visitor === null) return refuseUpgrade(socket, 401)
      if (this.#isStopping) return refuseUpgrade(socket, 503)
      if (socket.destroyed) return
      const slot = connectionLimit.take(visitor.userId)
      if (slot === 'too_many') return refuseUpgrade(socket, 429)
      if (slot !== 'full') socket.once('close', () => slot.release()) // also when the handshake fails
      socket.off('error', abandon)
      this.#server.handleUpgrade(request, socket, head, (ws) => this.#accept(ws, socket, slot))
    } catch (error) {
      report('feed_upgrade_failed', error)
      refuseUpgrade(socket, 503)
    }
  }

  /** Closes every socket of a user who has signed out. */
  disconnectUser(userId: UserId): void {
    for (const socket of this.#sockets) {
      if (socket.userId === userId) socket.ws.close(CLOSE.unauthorised, 'signed out')
    }
  }

  /** Refuses new sockets, and sends each open one a random time to reconnect at. */
  announceStop(): void {
    this.#isStopping = true
    for (const socket of this.#sockets) {
      socket.send({ type: 'shutdown', reconnectInMs: this.#options.world.randomInt(RECONNECT_SPREAD_MS) })
    }
  }

  /** Closes all sockets and timers; resolves when the last socket has closed. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#sweeper.stop()
    for (const socket of this.#sockets) socket.ws.close(CLOSE.restart, 'restart')
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve))
  }

  /** Cuts the sockets that have not closed yet. */
  terminate(): void {
    for (const socket of this.#sockets) socket.ws.terminate()
  }

  #accept(ws: WebSocket, netSocket: Socket, slot: Slot | 'full'): void {
    const { deadline, fanOut, account, world } = this.#options
    ws.on('error', () => undefined) // a `close` follows
    if (slot === 'full') return ws.close(CLOSE.full, 'full')
    deadline.guard(ws, netSocket)
    const { userId } = slot
    const subscriber = new Subscriber({ ws, socket: netSocket, deadline, traffic: fanOut.traffic, pack: asMessage })
    const subscriptions = new Subscriptions({ subscriber, userId, fanOut, account, world })
    const socket = new FeedSocket({ ws, userId, subscriptions })
    this.#sockets.add(socket)
    ws.on('message', (data, isBinary) => {
      if (this.#isWithinRate(socket)) this.#receive(socket, parseRequest(data, isBinary))
    })
    ws.on('ping', () => this.#isWithinRate(socket))
    ws.on('pong', () => (socket.alive = true))
    ws.on('close', () => this.#forget(socket))
  }

  #forget(socket: FeedSocket): void {
    this.#sockets.delete(socket)
    socket.subscriptions.end()
    if (this.#sockets.size === 0) this.#onEmpty?.()
  }

  /** Messages of a closing socket are ignored. */
  #isWithinRate(socket: FeedSocket): boolean {
    if (!socket.isOpen) return false
    socket.alive = true
    if (socket.rate.admits(this.#options.world.now())) return true
    socket.ws.close(CLOSE.tooManyMessages, 'too many messages')
    return false
  }

  #receive(socket: FeedSocket, request: FeedRequest | InvalidRequest): void {
    if ('wrong' in request) {
      return socket.send({ type: 'error', id: request.id, code: 'bad_message', message: request.wrong })
    }
    const isQueued = socket.inTurn(async () => {
      try {
        await this.#answer(socket, request)
      } catch (error) {
        this.#options.report('feed_request_failed', error, { userId: socket.userId, request: request.type })
        socket.send({ type: 'error', id: request.id, code: 'unavailable', message: 'please retry' })
      }
    })
    if (!isQueued) socket.send({ type: 'error', id: request.id, code: 'busy', message: 'wait for earlier answers' })
  }

  #answer(socket: FeedSocket, request: FeedRequest): Promise<void> | void {
    switch (request.type) {
      case 'subscribe':
        return this.#subscribe(socket, request)
      case 'unsubscribe': {
        const ids = instrumentsIn(request)
        socket.subscriptions.unfollow(ids)
        return socket.send({ type: 'unsubscribed', id: request.id, instrumentIds: [...ids] })
      }
      case 'account':
        return this.#followAccount(socket, request)
      case 'ping':
        return socket.send({ type: 'pong', id: request.id, serverTime: this.#serverTime() })
      default:
        return unreachable(request)
    }
  }

  async #subscribe(socket: FeedSocket, request: Extract<FeedRequest, { type: 'subscribe' }>): Promise<void> {
    const { subscriptions } = socket
    const ids = instrumentsIn(request)
    const busy = await this.#wakeMatchesOf(ids, socket)
    if (!socket.isOpen) return
    const { instrumentIds, rejected, messages } = subscriptions.follow(ids, { since: request.since, busy })
    socket.send({ type: 'subscribed', id: request.id, instrumentIds, rejected })
    subscriptions.subscriber.write(messages)
  }

  /** Activates the matches of unpublished instruments. Returns the instruments to be asked for again. */
  async #wakeMatchesOf(ids: ReadonlySet<InstrumentId>, socket: FeedSocket): Promise<ReadonlySet<InstrumentId>> {
    const { fanOut, world } = this.#options
    const busy = new Set<InstrumentId>()
    for (const id of socket.subscriptions.unpublished(ids)) {
      // The lookup of one player activates the match of all its players.
      if (fanOut.publishes(id) || !this.#wakes.couldKnow(id)) continue
      if (!socket.mayLookUp(world.now()) || (await this.#wakes.wake(id)) === 'busy') busy.add(id)
    }
    return busy
  }

  /** The first page answers the request; the later ones have no id. */
  #followAccount(socket: FeedSocket, request: Extract<FeedRequest, { type: 'account' }>): void {
    let { id } = request
    const isAccepted = socket.subscriptions.followAccount(request, {
      page: ({ body }) => {
        socket.send({ type: 'account', id, ...body })
        id = undefined
      },
      notice: (notice) => socket.sendNotice(notice),
    })
    if (!isAccepted) {
      socket.send({ type: 'error', id, code: 'busy', message: 'ask for the account once a second at most' })
    }
  }

  #visit(socket: FeedSocket): void {
    socket.countSweep()
    if (socket.quietSweeps >= 2) socket.send({ type: 'heartbeat', serverTime: this.#serverTime() })
    if (socket.sweeps % 4 !== 0) return
    if (!socket.alive) return socket.ws.terminate()
    socket.alive = false
    socket.ws.ping()
  }

  #serverTime(): string {
    return new Date(this.#options.world.now()).toISOString()
  }
}
