/** REST for thousands of users in one process: kept-alive connections, and minimal work per request. */
import http from 'node:http'
import https from 'node:https'
import { direct, type Headers } from './addresses.ts'

const SILENCE_MS = 10_000

export interface Reply {
  readonly status: number
  readonly body: unknown
}

export interface Ask {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  /** An access token, or a personal key. */
  readonly token?: string
  readonly body?: unknown
  readonly key?: string
}

export class Rest {
  readonly url: URL
  readonly #agent: http.Agent
  readonly #request: typeof http.request
  readonly #origin: () => Headers

  /** `origin`: headers that say where each request comes from. */
  constructor(url: string, connections: number, origin: () => Headers = direct) {
    this.#origin = origin
    this.url = new URL(url)
    const isSecure = this.url.protocol === 'https:'
    const options = { keepAlive: true, maxSockets: connections, scheduling: 'fifo' as const }
    this.#agent = isSecure ? new https.Agent(options) : new http.Agent(options)
    this.#request = isSecure ? https.request : http.request
  }

  /** Rejects unless a whole answer comes within ten seconds. */
  ask({ method, path, token, body, key }: Ask): Promise<Reply> {
    const content = body === undefined ? '' : JSON.stringify(body)
    const headers = {
      ...this.#origin(),
      ...(token === undefined ? {} : credentials(token)),
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    }
    return new Promise((resolve, reject) => {
      const url = new URL(path, this.url)
      const request = this.#request(url, { method, headers, agent: this.#agent, timeout: SILENCE_MS }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          try {
            resolve({ status: response.statusCode ?? 0, body: text === '' ? null : JSON.parse(text) })
          } catch {
            reject(new Error(`${method} ${path} was answered ${response.statusCode} with what is not JSON`))
          }
        })
      })
      request.on('timeout', () => request.destroy(new Error('timeout')))
      request.on('error', reject)
      request.end(content)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

const credentials = (token: string): Headers =>
  token.startsWith('tl_') ? { authorization: `Bearer ${token}` } : { cookie: `game_access=${token}` }
