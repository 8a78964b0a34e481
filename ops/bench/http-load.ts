/**
 * The clients of the HTTP benchmark, in a thread of their own: keep-alive connections that send the next request when
 * the answer arrives. They implement HTTP by hand, because a library would take more processor time than the server.
 */
import { connect, type Socket } from 'node:net'
import { randomUUID } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { present } from '../../actors/kernel/assert.ts'
import { closedLoop } from './closed-loop.ts'
import type { HttpLoadOptions, Progress } from './http-loads.ts'

const options: HttpLoadOptions = workerData
let turn = 0

function request(): string {
  const n = turn++
  const head = [
    `${options.method} ${options.path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Cookie: ${present(options.cookies[n % options.cookies.length], 'cookie')}`,
  ]
  if (options.method === 'GET') return [...head, '', ''].join('\r\n')
  const body = present(options.bodies[n % options.bodies.length], 'body')
  return [
    ...head,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...(options.keyed ? [`Idempotency-Key: ${randomUUID()}`] : []),
    '',
    body,
  ].join('\r\n')
}

/** One connection, with one request in flight. */
class Connection {
  readonly #port: number
  #socket: Socket
  #received = ''
  #answered: (() => void) | null = null
  #failed: ((error: Error) => void) | null = null

  constructor(port: number) {
    this.#port = port
    this.#socket = this.#connect()
  }

  ask(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
      this.#socket.write(request())
    })
  }

  close(): void {
    this.#failed = null
    this.#socket.destroy()
  }

  #connect(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    socket.setEncoding('latin1')
    socket.on('data', (chunk) => this.#receive(String(chunk)))
    socket.on('error', (error) => this.#failed?.(error))
    socket.on('close', () => this.#failed?.(new Error('the server closed the connection')))
    return socket
  }

  /** Asks again when the server said that it may be asked, over a new connection: it ends idle ones by then. */
  #askAgain(seconds: number): void {
    this.#socket.removeAllListeners('close').destroy()
    setTimeout(() => {
      this.#socket = this.#connect()
      this.#socket.write(request())
    }, seconds * 1_000)
  }

  #receive(chunk: string): void {
    this.#received += chunk
    const head = this.#received.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1])
    if (this.#received.length < head + 4 + length) return
    const answer = this.#received
    this.#received = ''
    const later = /^HTTP\/1.1 503 [^]*\r\nretry-after: (\d+)/i.exec(answer)
    if (answer.startsWith(`HTTP/1.1 ${options.expectedStatus} `)) this.#answered?.()
    else if (later !== null) this.#askAgain(Number(later[1]))
    else this.#failed?.(new Error(`answered ${answer}`))
  }
}

const connections = Array.from({ length: options.connections }, () => new Connection(options.port))
await present(connections[0], 'connection').ask()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
parentPort?.postMessage('connected' satisfies Progress)
const load = await closedLoop({
  ...options,
  callers: options.connections,
  ask: (caller) => present(connections[caller], 'connection').ask(),
})
for (const connection of connections) connection.close()
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
parentPort?.postMessage({ ...load, answered: load.answered + 1 } satisfies Progress)
