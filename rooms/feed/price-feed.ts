/**
 * The price feed: a plain WebSocket endpoint for the prices of chosen instruments and for the user's account events.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { unreachable } from '../../actors/kernel/assert.ts'
import type { InstrumentId } from '../../actors/kernel/ids.ts'
import type { World } from '../../actors/kernel/world.ts'
import type { Report } from '../report.ts'
import { addressOf, admit, type VerifyToken, type Visitor } from '../sockets/admission.ts'
import { CLOSE, type Closing, CODE_BY_REASON } from '../sockets/close-codes.ts'
import type { ConnectionLimit, Slot } from '../sockets/connection-limit.ts'
import type { Door } from '../sockets/door.ts'
import { SUBPROTOCOL } from '../sockets/limits.ts'
import { Sweeper } from '../sockets/sweeper.ts'
import { socketOptions, type WriteDeadline } from '../sockets/write-deadline.ts'
import type { AccountStream } from './account-stream.ts'
import type { FanOut } from './fan-out.ts'
import { type FeedRequest, type InvalidRequest, parseRequest } from './feed-protocol.ts'
import { FeedSocket } from './feed-socket.ts'
import { asMessage } from './price-frame.ts'
import { Subscriber } from './subscriber.ts'
import { instrumentsIn, Subscriptions } from './subscriptions.ts'
import { couldBeInstrument, type Wake, type WakeLimiter } from './wake-limiter.ts'

/** Each socket is visited once a sweep: after two sweeps without a write it gets a heartbeat, every fourth a ping. */
const SWEEP_MS = 5_000
/** Clients return after a restart at random times within this. */
export const RECONNECT_SPREAD_MS = 5_000

const INVALID_TOKEN: Closing = { code: CLOSE.unauthorised, reason: 'invalid token' }
const COMING_SOON: Closing = { code: CODE_BY_REASON['coming soon'], reason: 'coming soon' }
const TOO_MANY_HANDSHAKES: Closing = { code: CLOSE.tooMany, reason: 'too many handshakes' }
const TOO_MANY_CONNECTIONS: Closing = { code: CLOSE.tooMany, reason: 'too many connections' }
const FULL: Closing = { code: CLOSE.full, reason: 'full' }
const UNCHECKED: Closing = { code: CLOSE.full, reason: 'please retry' }
const RESTART: Closing = { code: CLOSE.restart, reason: 'restart' }

export interface PriceFeedOptions {
  readonly verify: VerifyToken
  readonly door: Door
  readonly connectionLimit: ConnectionLimit
  readonly fanOut: FanOut
  readonly account: AccountStream
  readonly wake: Wake
  readonly wakes: WakeLimiter
  readonly deadline: WriteDeadline
  readonly world: World
  readonly report: Report
}

export class PriceFeed {
  readonly #options: PriceFeedOptions
  readonly #server: WebSocketServer
  readonly #sockets = new Set<FeedSocket>()
  readonly #sweeper: Sweeper<FeedSocket>
  #isStopping = false
  #onEmpty: (() => void) | undefined

  constructor(options: PriceFeedOptions) {
    this.#options = options
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
   * Takes a handshake that has passed the door. It is refused with 4001 without a valid token, 4003 while the game is
   * open to admins alone, 4029 when the user has too many connections or handshakes, 1013 when the process is full or
   * the token cannot be checked, and 1012 when the feed is stopping.
   */
  async upgrade(request: IncomingMessage, head: Buffer): Promise<void> {
    const { socket } = request
    const { verify, door, report } = this.#options
    const abandon = (): void => void socket.destroy()
    socket.on('error', abandon) // until `ws` listens
    try {
      const address = addressOf(request)
      const slot = await this.#slotFor(
        address === null ? null : await admit(address, request.headers.authorization, verify),
      )
      if ('code' in slot) return door.refuse(request, head, slot)
      if (socket.destroyed) return slot.release()
      socket.once('close', () => slot.release()) // also when the handshake fails
      socket.off('error', abandon)
      this.#server.handleUpgrade(request, socket, head, (ws) => this.#accept(ws, socket, slot))
    } catch (error) {
      report('feed_upgrade_failed', error)
      door.refuse(request, head, UNCHECKED)
    }
  }

  /** The bearers of all sockets. */
  visitors(): readonly Visitor[] {
    return [...this.#sockets].map(({ visitor }) => visitor)
  }

  /** Closes the sockets of these visitors. */
  disconnectVisitors(isGone: (visitor: Visitor) => boolean, { code, reason }: Closing): void {
    for (const { visitor, ws } of this.#sockets) if (isGone(visitor)) ws.close(code, reason)
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
    for (const socket of this.#sockets) socket.ws.close(RESTART.code, RESTART.reason)
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve))
  }

  /** Cuts the sockets that have not closed yet. */
  terminate(): void {
    for (const socket of this.#sockets) socket.ws.terminate()
  }

  /** The visitor's slot, or why they are refused. */
  async #slotFor(visitor: Visitor | 'forbidden' | null): Promise<Slot | Closing> {
    const { connectionLimit, door } = this.#options
    if (visitor === null) return INVALID_TOKEN
    if (visitor === 'forbidden') return COMING_SOON
    if (!(await door.admitsUser(visitor.userId))) return TOO_MANY_HANDSHAKES
    if (this.#isStopping) return RESTART
    const slot = connectionLimit.take(visitor)
    if (slot === 'too_many') return TOO_MANY_CONNECTIONS
    return slot === 'full' ? FULL : slot
  }

  #accept(ws: WebSocket, netSocket: Socket, { userId, sessionId }: Slot): void {
    const { deadline, fanOut, account, world } = this.#options
    ws.on('error', () => undefined) // a `close` follows
    deadline.guard(ws, netSocket)
    const subscriber = new Subscriber({ ws, socket: netSocket, deadline, traffic: fanOut.traffic, pack: asMessage })
    const subscriptions = new Subscriptions({ subscriber, userId, fanOut, account, clock: world.steady })
    const socket = new FeedSocket({ ws, visitor: { userId, sessionId }, subscriptions })
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
    if (socket.rate.admits(this.#options.world.steady.now())) return true
    socket.ws.close(CLOSE.tooMany, 'too many messages')
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
        this.#options.report('feed_request_failed', error, { userId: socket.visitor.userId, request: request.type })
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
    const { instrumentIds, rejected, catchUp } = subscriptions.follow(ids, { since: request.since, busy })
    socket.send({ type: 'subscribed', id: request.id, instrumentIds, rejected })
    subscriptions.subscriber.write(catchUp)
  }

  /** Activates the matches of unpublished instruments. Returns the instruments to be asked for again. */
  async #wakeMatchesOf(ids: ReadonlySet<InstrumentId>, socket: FeedSocket): Promise<ReadonlySet<InstrumentId>> {
    const { fanOut, wake, wakes, world } = this.#options
    const busy = new Set<InstrumentId>()
    for (const id of socket.subscriptions.unpublished(ids)) {
      // The lookup of one player activates the match of all its players.
      if (fanOut.publishes(id) || !couldBeInstrument(id) || wakes.isUnknown(id)) continue
      if (!socket.mayLookUp(world.steady.now()) || (await wakes.wake(id, wake)) === 'busy') busy.add(id)
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
