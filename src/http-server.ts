/** An HTTP server that closes without losing a request, even of a proxy that is still sending. */
import { Server as NetServer, type AddressInfo, type ListenOptions, type Socket } from 'node:net'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import type { HttpEnv } from './http/answers.ts'

export type FetchApp = { readonly fetch: (request: Request, env: HttpEnv['Bindings']) => Response | Promise<Response> }
interface Arrived {
  readonly incoming: Pick<IncomingMessage, 'rawHeaders' | 'socket'>
}

export interface HttpServerOptions {
  /** Our proxies keep connections to it, and send several requests over one. */
  readonly isBehindProxy: boolean
  /** How long a request may take to arrive, from its connection or its first byte; 15 s if left out. */
  readonly arrivesWithinMs?: number
  /** How long a client may take nothing of its answer; 10 s if left out. */
  readonly takesWithinMs?: number
}

/** Longer than a command may take: a request without an answer by then will never have one. */
const ANSWER_MS = 2_500
/**
 * Longer than proxies keep an idle connection (nginx: 60 s). If the server ended it first, it might do so just as the
 * proxy sends a POST, which would be lost; the proxy knows what it is about to send.
 */
const KEEP_ALIVE_MS = 75_000
/** Bodies have 64 KiB at most. A client that sends more slowly holds a socket for nothing. */
const ARRIVES_MS = 15_000
/** A client that reads nothing for this long holds a socket, and what waits for it, for nothing. */
const TAKES_MS = 10_000
/**
 * Connections that may wait to be accepted, if the system allows as many. Of a crowd that connects in one moment,
 * Node's 511 would lose the rest, and each would try again after one, three and seven seconds.
 */
const BACKLOG = 4_096
const ACCEPTS_MS = 500

export class HttpServer {
  /** For the listener of its `upgrade` events. */
  readonly node: Server
  #app: FetchApp = { fetch: () => new Response(null, { status: 503 }) }
  /** Connections that have sent a request, and whether it has not been answered to its end. */
  readonly #answering = new WeakMap<Socket, boolean>()
  #isShut = false
  #emptied: Promise<void> | undefined

  constructor({ isBehindProxy, arrivesWithinMs = ARRIVES_MS, takesWithinMs = TAKES_MS }: HttpServerOptions) {
    this.node = createAdaptorServer({
      // Node takes the first of two, a proxy before it perhaps the last.
      fetch: (request, env: Arrived) => (hasTwoHosts(env.incoming) ? badRequest() : this.#app.fetch(request, env)),
      // Of a request of HTTP/1.0, which need not name one. Node refuses any other without.
      hostname: 'localhost',
    }) as Server
    this.node.headersTimeout = arrivesWithinMs
    this.node.requestTimeout = arrivesWithinMs
    // Read when it begins to listen. Node's default is 30 seconds.
    Object.assign(this.node, { connectionsCheckingInterval: arrivesWithinMs / 4 })
    if (isBehindProxy) this.node.keepAliveTimeout = KEEP_ALIVE_MS
    // Nothing has moved on the connection: its client does not read, or an answer is still being made.
    this.node.setTimeout(takesWithinMs, (socket) => {
      if (socket.writableLength > 0 || this.#answering.get(socket) === false) socket.destroy()
    })
    this.node.prependListener('request', ({ socket }, response) => {
      this.#answering.set(socket, true)
      response.once('close', () => this.#answering.set(socket, false))
      if (this.#isShut) response.shouldKeepAlive = false
    })
    this.node.on('checkContinue', (request, response) => {
      continueOnRead(request, response)
      this.node.emit('request', request, response)
    })
  }

  /** 0 before it listens. */
  get port(): number {
    const address: AddressInfo | string | null = this.node.address()
    return address !== null && typeof address === 'object' ? address.port : 0
  }

  /** Serves this app from now on. */
  listen(app: FetchApp, at: ListenOptions): Promise<void> {
    this.#app = app
    return new Promise((resolve, reject) => {
      this.node.once('error', reject)
      this.node.listen({ ...at, backlog: BACKLOG }, () => {
        this.node.off('error', reject)
        resolve()
      })
    })
  }

  /**
   * Accepts no more connections. Each open one may carry one more request, whose answer says that it was the
   * last: ending an idle one now would lose a request that is on its way.
   */
  shut(): void {
    this.#isShut = true
    this.#emptied ??= new Promise((resolve) => {
      // `close` of an HTTP server would also end idle connections.
      void this.#acceptWaiting().then(() => NetServer.prototype.close.call(this.node, () => resolve()))
    })
  }

  /**
   * Resolves when no connection waits to be accepted, since the system would reset it: a turn of the event loop accepts
   * one connection of a server. Resolves in half a second where new ones keep coming.
   */
  async #acceptWaiting(): Promise<void> {
    const late = AbortSignal.timeout(ACCEPTS_MS)
    let isAccepted = true
    const onConnection = () => (isAccepted = true)
    this.node.on('connection', onConnection)
    while (isAccepted && !late.aborted) {
      isAccepted = false
      await nextTurn()
    }
    this.node.off('connection', onConnection)
  }

  /** Shuts it, and resolves when every connection has ended: idle ones after `idleMs`, unanswered ones after 2.5 s. */
  async close(idleMs: number): Promise<void> {
    this.shut()
    const late = new AbortController()
    const cut = async (): Promise<void> => {
      await pause(idleMs, undefined, late)
      this.node.closeIdleConnections()
      await pause(ANSWER_MS - idleMs, undefined, late)
      this.node.closeAllConnections()
    }
    const cutting = cut().catch(() => undefined)
    await this.#emptied
    late.abort()
    await cutting
    this.node.close() // it has a timer of its own
  }
}

/** Asks a client that waits with its body when the body is read, so that a refused one is never sent. */
function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  const read = request._read.bind(request)
  request._read = (size) => {
    request._read = read
    // Node reads a body that the answer left unread, to be rid of it.
    if (!response.headersSent) response.writeContinue()
    read(size)
  }
}

/** Names and values take turns in the raw headers. */
const hasTwoHosts = ({ rawHeaders }: Arrived['incoming']): boolean =>
  rawHeaders.filter((name, n) => n % 2 === 0 && name.toLowerCase() === 'host').length > 1
/** As Node answers what is no request. */
const badRequest = (): Response => new Response(null, { status: 400, headers: { connection: 'close' } })
