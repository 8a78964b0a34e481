/** A receiver of webhooks on loopback that checks signatures by itself and fails as a test wants. */
import { webcrypto } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { z } from 'zod'
import { listen } from '../../ops/rehearse/conformance/listen.ts'
import { present } from '../../actors/kernel/assert.ts'

/** `lose` takes the message and dies before it says so; `reset` dies before; `stall` never answers. */
export type Conduct = number | 'reset' | 'lose' | 'stall'

const Body = z.object({
  type: z.string(),
  timestamp: z.string(),
  data: z.object({
    events: z.array(z.looseObject({ id: z.string(), type: z.string(), matchId: z.int() })).default([]),
  }),
})

export interface Received {
  readonly id: string
  readonly timestamp: string
  readonly text: string
  readonly type: string
  readonly events: z.output<typeof Body>['data']['events']
}

/** As the specification of Standard Webhooks has it, with nothing of the server's. */
async function isSigned(secret: string, id: string, timestamp: string, text: string, signature: string) {
  const raw = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (char) => char.charCodeAt(0))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await webcrypto.subtle.importKey('raw', raw, algorithm, false, ['verify'])
  const given = Uint8Array.from(atob(signature.replace(/^v1,/, '')), (char) => char.charCodeAt(0))
  return webcrypto.subtle.verify('HMAC', key, given, new TextEncoder().encode(`${id}.${timestamp}.${text}`))
}

export class WebhookReceiver {
  /** What it has taken, in order, repetitions too. */
  readonly taken: Received[] = []
  readonly problems: string[] = []
  conduct: () => Conduct = () => 204
  secret: string | null = null
  /** The most requests that it had at a time. */
  together = 0
  #server: Server | null = null
  #port = 0
  #open = 0

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook`
  }

  async listen(): Promise<void> {
    const server = createServer((request, response) => {
      this.together = Math.max(this.together, ++this.#open)
      response.on('close', () => this.#open--)
      this.#take(request, response).catch((error: unknown) => this.problems.push(String(error)))
    })
    this.#port = await listen(server, this.#port)
    this.#server = server
  }

  /** Closes the socket and every connection at once, as a kill does. */
  async kill(): Promise<void> {
    const server = present(this.#server, 'server')
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const conduct = this.conduct()
    if (conduct === 'reset') return void request.socket.destroy()
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return // the sender, or this receiver, died in the middle
    }
    const text = Buffer.concat(chunks).toString()
    const header = (name: string): string => String(request.headers[name])
    const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')]
    if (this.secret !== null && !(await isSigned(this.secret, id, timestamp, text, header('webhook-signature'))))
      this.problems.push(`${id} has a wrong signature`)
    if (conduct === 'stall') return
    const { type, data } = Body.parse(JSON.parse(text))
    if (conduct === 'lose' || (conduct >= 200 && conduct < 300))
      this.taken.push({ id, timestamp, text, type, events: data.events })
    if (conduct === 'lose') return void request.socket.destroy()
    response.writeHead(conduct, { location: this.url }).end('noted')
  }
}
