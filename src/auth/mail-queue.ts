/**
 * The queue of outgoing mail: accepts a mail at once and retries until the mail server takes it. Waiting mails are lost
 * with the process, because codes must not be stored; a user who waits for one can request another.
 */
import { type Clock, SECOND_MS } from '../../actors/kernel/world.ts'
import type { Log } from '../observe/log.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** When its content expires, by the steady clock: it is not sent after that. */
  readonly before: number
  /** It informs; its reader does not wait for it, as for a code. */
  readonly isNotice?: boolean
}

/** Sends a mail; rejects with a PermanentFailure when a retry cannot help. */
export type SendMail = (mail: Mail) => Promise<void>

/** The mail server will never accept this mail. */
export class PermanentFailure extends Error {
  override name = 'PermanentFailure'
}

export interface MailQueueOptions {
  readonly send: SendMail
  readonly clock: Clock
  readonly log: Log
  readonly onDropped: () => void
  /** Resolves after `ms`; rejects when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** A full queue drops new mails and reports them: a mail server that is down must not exhaust our memory. */
const UNDER_WAY_MAX = 1_000
/** The rest is for codes: notices to one mailbox that is full must not keep others from registering. */
const NOTICES_MAX = 500
const FIRST_RETRY_MS = SECOND_MS
const RETRY_MAX_MS = 30 * SECOND_MS

export class MailQueue {
  readonly #options: MailQueueOptions
  readonly #underWay = new Set<Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(options: MailQueueOptions) {
    this.#options = options
  }

  /** Returns at once. The mail is sent, or an error is logged. */
  post(mail: Mail): void {
    const most = mail.isNotice === true ? NOTICES_MAX : UNDER_WAY_MAX
    if (this.#underWay.size >= most) return this.#giveUp(mail, 'too many mails are waiting')
    const delivery = this.#deliver(mail).finally(() => this.#underWay.delete(delivery))
    this.#underWay.add(delivery)
  }

  /** Stops retrying; resolves when the mails being sent are sent or dropped. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#underWay)
  }

  async #deliver(mail: Mail): Promise<void> {
    const { send, clock, log, pause } = this.#options
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, RETRY_MAX_MS)) {
      try {
        return await send(mail)
      } catch (error) {
        const reason = reasonOf(error)
        if (error instanceof PermanentFailure || clock.now() + retryMs >= mail.before) return this.#giveUp(mail, reason)
        log.warn('mail_delayed', { ...named(mail), retryMs, reason })
      }
      try {
        await pause(retryMs, this.#stopping.signal)
      } catch {
        return this.#giveUp(mail, 'stopped')
      }
    }
  }

  #giveUp(mail: Mail, reason: string): void {
    this.#options.onDropped()
    this.#options.log.error('mail_dropped', { ...named(mail), reason })
  }
}

/** For the log, which more people read than may know who our users are. */
const named = ({ to, subject }: Mail) => ({ domain: to.slice(to.lastIndexOf('@') + 1), subject })

/** The code of an error: its message may be that of the mail server, which names the address. */
function reasonOf(error: unknown): string {
  if (error instanceof PermanentFailure) return `refused ${reasonOf(error.cause)}`
  if (!(error instanceof Error)) return ''
  const code = 'code' in error ? String(error.code) : error.name
  return 'responseCode' in error ? `${code} ${String(error.responseCode)}` : code
}
