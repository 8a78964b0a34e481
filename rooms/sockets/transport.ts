/** Colyseus without a server of its own: it is handed sockets, and answers no HTTP request and no upgrade by itself. */
import type { IncomingMessage } from 'node:http'
import { WebSocketTransport } from '@colyseus/ws-transport'
import { WebSocket } from 'ws'
import type { World } from '../../actors/kernel/world.ts'
import { CLOSE } from './close-codes.ts'
import { RequestRate } from './request-rate.ts'
import { Sweeper } from './sweeper.ts'
import { socketOptions, type WriteDeadline } from './write-deadline.ts'

/** Between two pings of a socket. Staggered: pinging 20,000 sockets in one loop stalls everything for a third of a second. */
const PING_MS = 20_000

/**
 * Given Hono's server, Colyseus would prepend its own `request` listener and answer everything on it, with any origin
 * allowed. So `server` stays undefined, and whoever owns the server calls `upgrade`.
 */
export class RoomTransport extends WebSocketTransport {
  readonly #deadline: WriteDeadline
  readonly #world: Pick<World, 'now'>
  readonly #rounds: Sweeper<WebSocket>
  readonly #silent = new WeakSet<WebSocket>()

  constructor(deadline: WriteDeadline, world: Pick<World, 'now'>) {
    super({ ...socketOptions(deadline), pingInterval: 0 })
    this.#deadline = deadline
    this.#world = world
    this.#rounds = new Sweeper(this.wss.clients, PING_MS, (ws) => this.#ping(ws))
  }

  /** Takes over a socket whose path names a room of this process; the room decides by the seat it comes with. */
  upgrade(request: IncomingMessage, head: Buffer): void {
    const { socket } = request
    this.wss.handleUpgrade(request, socket, head, (ws) => {
      this.#deadline.guard(ws, socket)
      ws.on('pong', () => this.#silent.delete(ws))
      this.#limit(ws)
      this.wss.emit('connection', ws, request)
    })
  }

  /** Takes no more sockets and resolves when those it has are closed; `terminate` makes that at once. */
  async close(): Promise<void> {
    this.#rounds.stop()
    await new Promise<void>((resolve) => this.wss.close(() => resolve()))
  }

  terminate(): void {
    for (const ws of this.wss.clients) ws.terminate()
  }

  /** Counts what is said before Colyseus hears it, which listens to a closing socket too unless it is cut off. */
  #limit(ws: WebSocket): void {
    const rate = new RequestRate()
    const count = (): void => {
      if (ws.readyState !== WebSocket.OPEN || rate.admits(this.#world.now())) return
      ws.removeAllListeners('message')
      ws.close(CLOSE.tooManyMessages, 'too many messages')
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
