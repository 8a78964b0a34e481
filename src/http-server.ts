/** An HTTP server that closes without losing a request, even of a proxy that is still sending. */
import { Server as NetServer, type AddressInfo, type ListenOptions, type Socket } from 'node:net'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { getRequestListener, RequestError } from '@hono/node-server'
import { refusalBody, refusalText } from '../rooms/sockets/refusal-text.ts'
import type { HttpEnv } from './http/answers.ts'

export type FetchApp = { readonly fetch: (request: Request, env: HttpEnv['Bindings']) => Response | Promise<Response> }
interface Arrived {
  readonly incoming: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion' | 'socket'>
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
/** The status for what is no request to Node, by its code; 400 for every other one. */
const REFUSED: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

export class HttpServer {
  /** For the listener of its `upgrade` events. */
  readonly node: Server
  #app: FetchApp = { fetch: () => new Response(null, { status: 503 }) }
  /** The answer to the last request of each connection that has sent one. It closes at its end. */
  readonly #answers = new WeakMap<Socket, ServerResponse>()
  #isShut = false
  #emptied: Promise<void> | undefined

  constructor({ isBehindProxy, arrivesWithinMs = ARRIVES_MS, takesWithinMs = TAKES_MS }: HttpServerOptions) {
    const listener = getRequestListener(
      (request, env: Arrived) => (namesHost(env.incoming) ? this.#app.fetch(request, env) : refusal(400)),
      // Of a request of HTTP/1.0, which need not name one.
      { hostname: 'localhost', errorHandler: (error) => refusal(error instanceof RequestError ? 400 : 500) },
    )
    this.node = createServer({ requireHostHeader: false }, (request, response) => void listener(request, response))
    this.node.headersTimeout = arrivesWithinMs
    this.node.requestTimeout = arrivesWithinMs
    // Read when it begins to listen. Node's default is 30 seconds.
    Object.assign(this.node, { connectionsCheckingInterval: arrivesWithinMs / 4 })
    if (isBehindProxy) this.node.keepAliveTimeout = KEEP_ALIVE_MS
    // Nothing has moved on the connection: its client does not read, or an answer is still being made.
    this.node.setTimeout(takesWithinMs, (socket) => {
      if (socket.writableLength > 0 || this.#answers.get(socket)?.closed === true) socket.destroy()
    })
    this.node.prependListener('request', ({ socket }, response) => {
      this.#answers.set(socket, response)
      if (this.#isShut) response.shouldKeepAlive = false
    })
    this.node.on('checkContinue', (request, response) => {
      continueOnRead(request, response)
      this.node.emit('request', request, response)
    })
    // Of any other expectation nothing is said; Node would refuse it with an empty 417.
    this.node.on('checkExpectation', (request, response) => this.node.emit('request', request, response))
    this.node.on('clientError', ({ code = '' }: NodeJS.ErrnoException, socket: Socket) => {
      const answer = this.#answers.get(socket)
      const hasBegun = answer?.headersSent === true && !answer.closed
      if (socket.writable && !hasBegun) socket.write(refusalText(REFUSED[code] ?? 400))
      socket.destroySoon()
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

/**
 * Whether a request names its host: once, since Node takes the first of two, a proxy before it perhaps the last. Names
 * and values take turns in the raw headers.
 */
function namesHost({ rawHeaders, httpVersion }: Arrived['incoming']): boolean {
  const hosts = rawHeaders.filter((name, n) => n % 2 === 0 && name.toLowerCase() === 'host').length
  return hosts === 1 || (hosts === 0 && httpVersion === '1.0')
}

const refusal = (status: number): Response =>
  new Response(refusalBody(status), { status, headers: { connection: 'close', 'content-type': 'application/json' } })
