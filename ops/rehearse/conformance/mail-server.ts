/** The suite's own mail server, which keeps the mail it receives. */
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { SMTPServer } from 'smtp-server'
import { listen } from './listen.ts'

/** Mail is sent in the background, so a code can take this long to arrive. */
const PATIENCE_MS = 30_000
const LOOK_MS = 10

export class MailServer {
  readonly url: string
  readonly #server: SMTPServer
  readonly #mails: Map<string, string[]>

  private constructor(server: SMTPServer, port: number, mails: Map<string, string[]>) {
    this.#server = server
    this.url = `smtp://127.0.0.1:${port}`
    this.#mails = mails
  }

  static async start(port: number): Promise<MailServer> {
    const mails = new Map<string, string[]>()
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      onData: (stream, { envelope }, done) => {
        text(stream).then((mail) => {
          for (const { address } of envelope.rcptTo) mails.set(address, [...(mails.get(address) ?? []), mail])
          done()
        }, done)
      },
    })
    server.on('error', () => undefined) // a client that disconnects early
    return new MailServer(server, await listen(server.server, port), mails)
  }

  /** The text of the nth mail to this address, counted from 1; null if it does not arrive. */
  async mailTo(address: string, nth = 1): Promise<string | null> {
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await pause(LOOK_MS)) {
      const mail = this.#mails.get(address)?.[nth - 1]
      if (mail !== undefined) return mail
    }
    return null
  }

  countTo(address: string): number {
    return this.#mails.get(address)?.length ?? 0
  }

  async stop(): Promise<void> {
    await new Promise<void>((closed) => this.#server.close(() => closed()))
  }
}
