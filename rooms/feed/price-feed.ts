/** The plain WebSocket feed: one socket per visitor, prices only of what it subscribed to, and what happens to his account. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'
import { unreachable } from '../../actors/kernel/assert.ts'
import { type InstrumentId, instrumentId, type UserId } from '../../actors/kernel/ids.ts'
import type { World } from '../../actors/kernel/world.ts'
import type { AccountStream } from './account-stream.ts'
import { addressOf, admit, refuseUpgrade, type VerifyToken } from '../sockets/admission.ts'
import { CLOSE } from '../sockets/close-codes.ts'
import type { FanOut } from './fan-out.ts'
import { type FeedRequest, type InvalidRequest, parseRequest, type Rejection, SUBPROTOCOL } from './feed-protocol.ts'
import { FeedSocket } from './feed-socket.ts'
import { WakeLimiter, type Wake } from './wake-limiter.ts'
import type { Report } from '../report.ts'
import { Sweeper } from '../sockets/sweeper.ts'
import type { ConnectionLimit, Slot } from '../sockets/connection-limit.ts'
import { socketOptions, type WriteDeadline } from '../sockets/write-deadline.ts'

/** A socket is looked at this often; two looks without a write to it bring a heartbeat, four a ping. */
const ROUND_MS = 5_000
/** Over which time clients are asked to come back after a restart. */
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
  readonly #lookups: WakeLimiter
  readonly #sockets = new Set<FeedSocket>()
  readonly #rounds: Sweeper<FeedSocket>
  #isStopping = false
  #emptied: (() => void) | undefined

  constructor(options: PriceFeedOptions) {
    this.#options = options
    this.#lookups = new WakeLimiter(options.wake)
    this.#server = new WebSocketServer({
      ...socketOptions(options.deadline),
      clientTracking: false,
      handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
    })
    this.#rounds = new Sweeper(this.#sockets, ROUND_MS, (socket) => this.#lookAfter(socket))
  }

  get connections(): number {
    return this.#sockets.size
  }

  /**
   * Answers an upgrade request: 401 without a valid token, 429 when the user has too many connections, 503 when the token
   * cannot be checked or the feed is stopping.
   */
  async upgrade(request: IncomingMessage, head: Buffer): Promise<void> {
    const { socket } = request
    const { verify, connectionLimit, report } = this.#options
    const abandon = (): void => void socket.destroy()
    socket.on('error', abandon) // nobody else listens until `ws` does
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

  /** Closes every socket of a user: signed out, his token is void. */
  disconnectUser(userId: UserId): void {
    for (const socket of this.#sockets) {
      if (socket.userId === userId) socket.ws.close(CLOSE.unauthorised, 'signed out')
    }
  }

  /** Takes no more visitors and tells those it has when to come back, each at another time. */
  announceStop(): void {
    this.#isStopping = true
    for (const socket of this.#sockets) {
      socket.say({ type: 'shutdown', reconnectInMs: this.#options.world.randomInt(RECONNECT_SPREAD_MS) })
    }
  }

  /** Closes every socket and leaves no timer; resolves when the last socket has answered. */
  async stop(): Promise<void> {
    this.#isStopping = true
    this.#rounds.stop()
    for (const socket of this.#sockets) socket.ws.close(CLOSE.restart, 'restart')
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => (this.#emptied = resolve))
  }

  /** Cuts whoever has not answered. */
  terminate(): void {
    for (const socket of this.#sockets) socket.ws.terminate()
  }

  #accept(ws: WebSocket, netSocket: Socket, slot: Slot | 'full'): void {
    const { deadline, fanOut } = this.#options
    ws.on('error', () => undefined) // a 'close' follows, and nobody here is to blame
    if (slot === 'full') return ws.close(CLOSE.full, 'full')
    deadline.guard(ws, netSocket)
    const socket = new FeedSocket({ ws, socket: netSocket, userId: slot.userId, deadline, traffic: fanOut.traffic })
    this.#sockets.add(socket)
    ws.on('message', (data, isBinary) => {
      if (this.#maySpeak(socket)) this.#hear(socket, parseRequest(data, isBinary))
    })
    ws.on('ping', () => this.#maySpeak(socket))
    ws.on('pong', () => (socket.alive = true))
    ws.on('close', () => this.#forget(socket))
  }

  #forget(socket: FeedSocket): void {
    this.#sockets.delete(socket)
    this.#options.fanOut.forget(socket.subscriber)
    socket.stopListening()
    if (this.#sockets.size === 0) this.#emptied?.()
  }

  /** A closing socket is not listened to: what it still sends costs nothing. */
  #maySpeak(socket: FeedSocket): boolean {
    if (!socket.isOpen) return false
    socket.alive = true
    if (socket.rate.admits(this.#options.world.now())) return true
    socket.ws.close(CLOSE.tooManyMessages, 'too many messages')
    return false
  }

  #hear(socket: FeedSocket, request: FeedRequest | InvalidRequest): void {
    if ('wrong' in request) {
      return socket.say({ type: 'error', id: request.id, code: 'bad_message', message: request.wrong })
    }
    const isQueued = socket.inTurn(async () => {
      try {
        await this.#answer(socket, request)
      } catch (error) {
        this.#options.report('feed_request_failed', error, { userId: socket.userId, request: request.type })
        socket.say({ type: 'error', id: request.id, code: 'unavailable', message: 'please retry' })
      }
    })
    if (!isQueued) socket.say({ type: 'error', id: request.id, code: 'busy', message: 'wait for earlier answers' })
  }

  #answer(socket: FeedSocket, request: FeedRequest): Promise<void> | void {
    switch (request.type) {
      case 'subscribe':
        return this.#subscribe(socket, request)
      case 'unsubscribe': {
        const ids = new Set(request.instrumentIds.map((id) => instrumentId(id.toLowerCase())))
        this.#options.fanOut.unfollow(socket.subscriber, ids)
        return socket.say({ type: 'unsubscribed', id: request.id, instrumentIds: [...ids] })
      }
      case 'account':
        return this.#listen(socket, request)
      case 'ping':
        return socket.say({ type: 'pong', id: request.id, serverTime: this.#serverTime() })
      default:
        return unreachable(request)
    }
  }

  async #subscribe(socket: FeedSocket, request: Extract<FeedRequest, { type: 'subscribe' }>): Promise<void> {
    const { fanOut } = this.#options
    const wanted = new Set(request.instrumentIds.map((id) => instrumentId(id.toLowerCase())))
    const later = await this.#wakeMatchesOf(wanted, socket)
    if (!socket.isOpen) return
    const accepted: InstrumentId[] = []
    const rejected: Rejection[] = []
    // What he followed before is served up to now, so that nothing below is sent to him twice.
    fanOut.bringUpToDate(socket.subscriber)
    for (const id of wanted) {
      const refusal = fanOut.follow(socket.subscriber, id)
      if (refusal === null) accepted.push(id)
      else rejected.push({ instrumentId: id, code: later.has(id) ? 'busy' : refusal })
    }
    socket.say({ type: 'subscribed', id: request.id, instrumentIds: accepted, rejected })
    socket.subscriber.write(fanOut.catchUp(accepted, socket.subscriber.pack, request.since))
  }

  /** Wakes the matches of players whom nobody publishes; returns those who are to be asked for again. */
  async #wakeMatchesOf(wanted: ReadonlySet<InstrumentId>, socket: FeedSocket): Promise<ReadonlySet<InstrumentId>> {
    const later = new Set<InstrumentId>()
    for (const id of wanted) {
      // One lookup wakes the match, and thereby all its players.
      if (this.#options.fanOut.publishes(id) || !this.#lookups.couldKnow(id)) continue
      const mayAsk = socket.mayLookUp(this.#options.world.now())
      if (!mayAsk || (await this.#lookups.wake(id)) === 'busy') later.add(id)
    }
    return later
  }

  #listen(socket: FeedSocket, { id, since }: Extract<FeedRequest, { type: 'account' }>): void {
    if (!socket.mayAskForAccount(this.#options.world.now())) {
      return socket.say({ type: 'error', id, code: 'busy', message: 'ask for the account once a second at most' })
    }
    socket.listen(this.#options.account, since === undefined ? null : Number(since), id)
  }

  #lookAfter(socket: FeedSocket): void {
    socket.countRound()
    if (socket.quietRounds >= 2) socket.say({ type: 'heartbeat', serverTime: this.#serverTime() })
    if (socket.rounds % 4 !== 0) return
    if (!socket.alive) return socket.ws.terminate()
    socket.alive = false
    socket.ws.ping()
  }

  #serverTime(): string {
    return new Date(this.#options.world.now()).toISOString()
  }
}
