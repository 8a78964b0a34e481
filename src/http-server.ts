/** An HTTP server that goes without cutting anybody off: a proxy that still sends to it loses no request. */
import { Server as NetServer, type AddressInfo, type ListenOptions } from 'node:net'
import type { Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { createAdaptorServer } from '@hono/node-server'
import type { HttpEnv } from './http/answers.ts'

type FetchApp = { readonly fetch: (request: Request, env: HttpEnv['Bindings']) => Response | Promise<Response> }

export interface HttpServerOptions {
  /** May be made after the server. */
  readonly app: () => FetchApp
  /** Whether proxies of ours keep connections to it, and send several requests over one. */
  readonly isBehindProxy: boolean
}

/** Longer than a command may take. What is not answered by then never will be. */
const ANSWER_MS = 2_500
/**
 * Longer than proxies keep a connection that nobody uses (nginx: 60 s). Whoever of the two ends it first may do so in the
 * moment in which the other uses it, and a POST that meets this is lost; the proxy knows what it is about to send.
 */
const KEEP_ALIVE_MS = 75_000

export class HttpServer {
  /** For whoever takes its upgrades. */
  readonly node: Server
  #isShut = false
  #emptied: Promise<void> | undefined

  constructor({ app, isBehindProxy }: HttpServerOptions) {
    this.node = createAdaptorServer({ fetch: (request, env) => app().fetch(request, env) }) as Server
    if (isBehindProxy) this.node.keepAliveTimeout = KEEP_ALIVE_MS
    this.node.prependListener('request', (_request, response) => {
      if (this.#isShut) response.shouldKeepAlive = false
    })
  }

  /** 0 before it listens. */
  get port(): number {
    const address: AddressInfo | string | null = this.node.address()
    return address !== null && typeof address === 'object' ? address.port : 0
  }

  listen(at: ListenOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      this.node.once('error', reject)
      this.node.listen(at, () => {
        this.node.off('error', reject)
        resolve()
      })
    })
  }

  /**
   * Takes no more connections. Those that there are may be used once more, and their answers say that it was the last time:
   * to end one that is idle now would lose what is on its way over it.
   */
  shut(): void {
    this.#isShut = true
    this.#emptied ??= new Promise((resolve) => {
      // `close` of an HTTP server would end the idle connections, too. Right after this turn's newcomers have been let in the
      // queue is as good as empty; the system cuts off whoever stands in it.
      setImmediate(() => NetServer.prototype.close.call(this.node, () => resolve()))
    })
  }

  /** Shuts it, and resolves when every connection has ended: idle ones after this long, at last those without an answer. */
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
