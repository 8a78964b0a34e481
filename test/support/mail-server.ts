/** A real SMTP server on loopback that keeps received mails, or refuses them if a test demands it. */
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { listenLocally } from './listen.ts'

export interface Received {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and text as received. */
  readonly message: string
}

export class MailServer {
  readonly #server: SMTPServer
  readonly received: Received[] = []
  readonly url: string
  /** The SMTP status that refuses every mail; null accepts them. */
  refusesWith: number | null = null
  /** The number of attempted deliveries. */
  tries = 0

  private constructor(server: SMTPServer, url: string) {
    this.#server = server
    this.url = url
  }

  static async start(): Promise<MailServer> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      onRcptTo: (_address, _session, callback) => {
        mail.tries++
        if (mail.refusesWith === null) return callback()
        callback(Object.assign(new Error('refused by the test'), { responseCode: mail.refusesWith }))
      },
      onData: (stream, { envelope }, callback) => {
        const keep = async () => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
          mail.received.push({ from, to: envelope.rcptTo.map(({ address }) => address), message: await text(stream) })
        }
        keep().then(() => callback(), callback)
      },
    })
    server.on('error', () => {})
    const mail: MailServer = new MailServer(server, await listenLocally(server.server, 'smtp'))
    return mail
  }

  /** The code in the latest mail to this address. */
  async codeFor(address: string): Promise<string> {
    return vi.waitUntil(
      () => {
        const mine = this.received.findLast(({ to }) => to.includes(address))
        return mine === undefined ? null : present(/\b(\d{6})\b/.exec(mine.message)?.[1], 'a code')
      },
      { timeout: 10_000, interval: 10 },
    )
  }

  async stop(): Promise<void> {
    await new Promise<void>((closed) => this.#server.close(() => closed()))
  }
}
