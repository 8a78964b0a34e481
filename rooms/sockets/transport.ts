/** A Colyseus transport without an HTTP server: it is given sockets, and answers no request or upgrade itself. */
import type { IncomingMessage } from 'node:http'
import { WebSocketTransport } from '@colyseus/ws-transport'
import { WebSocket } from 'ws'
import type { World } from '../../actors/kernel/world.ts'
import { addressOf } from './admission.ts'
import { CLOSE } from './close-codes.ts'
import { RequestRate } from './request-rate.ts'
import { Sweeper } from './sweeper.ts'
import { socketOptions, type WriteDeadline } from './write-deadline.ts'

/** Between two pings of a socket. They are staggered: to ping 20,000 sockets in one loop takes a third of a second. */
const PING_MS = 20_000
/** What the SDK sends at once when it has reconnected: the acknowledgement, and up to ten messages it has queued. */
const QUEUED_BY_SDK = 11

/**
 * If it were given the HTTP server, Colyseus would prepend its own `request` listener and answer everything, with any
 * origin allowed. So `server` stays undefined, and the owner of the server calls `upgrade`.
 */
export class RoomTransport extends WebSocketTransport {
  readonly #deadline: WriteDeadline
  readonly #world: Pick<World, 'now'>
  readonly #sweeper: Sweeper<WebSocket>
  readonly #silent = new WeakSet<WebSocket>()

  constructor(deadline: WriteDeadline, world: Pick<World, 'now'>) {
    super({ ...socketOptions(deadline), pingInterval: 0 })
    this.#deadline = deadline
    this.#world = world
    this.#sweeper = new Sweeper(this.wss.clients, PING_MS, (ws) => this.#ping(ws))
  }

  /** Accepts a socket whose path names a room of this process; the room checks its seat. */
  upgrade(request: IncomingMessage, head: Buffer): void {
    const { socket } = request
    this.wss.handleUpgrade(request, socket, head, (ws) => {
      this.#deadline.guard(ws, socket)
      ws.on('pong', () => this.#silent.delete(ws))
      const isReturning = addressOf(request)?.searchParams.has('reconnectionToken') === true
      this.#limit(ws, new RequestRate(isReturning ? QUEUED_BY_SDK : 0))
      this.wss.emit('connection', ws, request)
      // Colyseus logs as an error what a client does, such as a frame that is too large. `ws` has closed the socket.
      ws.removeAllListeners('error')
      ws.on('error', () => undefined)
      this.#deadline.guard(ws, socket)
    })
  }

  /** Accepts no more sockets; resolves when all are closed. `terminate` closes them at once. */
  async close(): Promise<void> {
    this.#sweeper.stop()
    await new Promise<void>((resolve) => this.wss.close(() => resolve()))
  }

  terminate(): void {
    for (const ws of this.wss.clients) ws.terminate()
  }

  /** Counts messages before Colyseus gets them; it would even read those of a closing socket. */
  #limit(ws: WebSocket, rate: RequestRate): void {
    const count = (): void => {
      const isOpen = ws.readyState === WebSocket.OPEN
      if (isOpen && rate.admits(this.#world.now())) return
      ws.removeAllListeners('message')
      if (isOpen) ws.close(CLOSE.tooMany, 'too many messages')
    }
    ws.on('message', count)
    ws.on('ping', count)
  }

  #ping(ws: WebSocket): void {
    if (this.#silent.has(ws)) return ws.terminate()
    this.#silent.add(ws)
    ws.ping()
  }
}
