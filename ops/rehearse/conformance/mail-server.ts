/** The suite's own mail server, which keeps the mail it receives, or refuses it on demand. */
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import { listen } from './listen.ts'

/** Mail is sent in the background, so a code can take this long to arrive. */
const PATIENCE_MS = 30_000
const LOOK_MS = 10

export interface Received {
  readonly from: string
  readonly to: readonly string[]
  /** Headers and text as received. */
  readonly message: string
}

export class MailServer {
  readonly url: string
  readonly received: Received[] = []
  readonly #server: SMTPServer
  /** The SMTP status that refuses every mail; null accepts them. */
  refusesWith: number | null = null
  /** The number of attempted deliveries. */
  tries = 0

  private constructor(server: SMTPServer, port: number) {
    this.#server = server
    this.url = `smtp://127.0.0.1:${port}`
  }

  static async start(port = 0): Promise<MailServer> {
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      onRcptTo: (_address, _session, done) => {
        mail.tries++
        if (mail.refusesWith === null) return done()
        done(Object.assign(new Error('refused'), { responseCode: mail.refusesWith }))
      },
      onData: (stream, { envelope }, done) => {
        text(stream).then((message) => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
          mail.received.push({ from, to: envelope.rcptTo.map(({ address }) => address), message })
          done()
        }, done)
      },
    })
    server.on('error', () => undefined) // a client that disconnects early
    const mail: MailServer = new MailServer(server, await listen(server.server, port))
    return mail
  }

  /** The text of the nth mail to this address, counted from 1; null if it does not arrive. */
  async mailTo(address: string, nth = 1): Promise<string | null> {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await pause(LOOK_MS)) {
      const mail = this.#to(address)[nth - 1]
      if (mail !== undefined) return mail.message
    }
    return null
  }

  countTo(address: string): number {
    return this.#to(address).length
  }

  #to(address: string): readonly Received[] {
    return this.received.filter(({ to }) => to.includes(address))
  }

  async stop(): Promise<void> {
    await new Promise<void>((closed) => this.#server.close(() => closed()))
  }
}
