/** Sends mail: over SMTP, or into a file that a developer can read. */
import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { Log } from '../observe/log.ts'
import { PermanentFailure, type SendMail } from './mail-queue.ts'

/** Timeout for each answer of the mail server. */
const PATIENCE_MS = 5 * SECOND_MS
const CONNECTIONS = 4

export interface SmtpOptions {
  /** `smtp://` or `smtps://`, with user and password if the server requires them. */
  readonly url: string
  readonly from: string
  /** Send nothing over a connection that is neither TLS nor made so by STARTTLS, except within this machine. */
  readonly demandsTls: boolean
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Sends over a few connections, which stay open between mails. */
export function smtpMailer({ url, from, demandsTls }: SmtpOptions): {
  readonly send: SendMail
  readonly close: () => void
} {
  const options = {
    url,
    pool: true,
    requireTLS: demandsTls && !LOOPBACK.test(new URL(url).hostname),
    maxConnections: CONNECTIONS,
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  }
  // A server that sends no mail starts without it.
  const opening = import('nodemailer').then(({ createTransport }) => createTransport(options))
  return {
    send: async ({ to, subject, text }) => {
      try {
        // An address of the object form is never parsed: it cannot smuggle in another recipient.
        const transport = await opening
        await transport.sendMail({ from, to: { name: '', address: to }, subject, text })
      } catch (error) {
        throw isRefused(error) ? new PermanentFailure('the mail server rejected it', { cause: error }) : error
      }
    },
    close: () => void opening.then((transport) => transport.close()),
  }
}

/** In SMTP 5xx is permanent, 4xx temporary. */
const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'responseCode' in error && Number(error.responseCode) >= 500

export interface OutboxOptions {
  readonly dataDir: string
  readonly world: Pick<World, 'now'>
  readonly log: Log
}

/** Appends each mail as a line of JSON to `outbox.jsonl`, which only its owner can read, and logs it. */
export function outboxMailer({ dataDir, world, log }: OutboxOptions): SendMail {
  return async ({ to, subject, text }) => {
    const at = new Date(world.now()).toISOString()
    await mkdir(dataDir, { recursive: true })
    await appendFile(join(dataDir, 'outbox.jsonl'), `${JSON.stringify({ to, subject, text, at })}\n`, { mode: 0o600 })
    log.info('mail_written', { to, subject, text })
  }
}
