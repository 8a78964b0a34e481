/**
 * Outgoing mail: taken at once, sent when the mail server takes it. What waits here does not outlive the process, because a
 * code must not lie about; whoever waits for one can have another sent.
 */
import { SECOND_MS, type World } from '../../actors/kernel/world.ts'
import type { Log } from '../observe/log.ts'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** From then on it is of no use to anybody. */
  readonly before: number
}

/** Hands a mail over; rejects when it could not, with a PermanentFailure when another try makes no sense. */
export type SendMail = (mail: Mail) => Promise<void>

/** The mail server will not take this mail, now or later. */
export class PermanentFailure extends Error {
  override name = 'PermanentFailure'
}

export interface MailQueueOptions {
  readonly send: SendMail
  readonly world: Pick<World, 'now'>
  readonly log: Log
  /** Resolves after so long; rejects when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<unknown>
}

/** Mails under way at most. One more is dropped and reported: a mail server that is away must not eat our memory. */
const UNDER_WAY_MAX = 1_000
const FIRST_RETRY_MS = SECOND_MS
const RETRY_MAX_MS = 30 * SECOND_MS

export class MailQueue {
  readonly #options: MailQueueOptions
  readonly #underWay = new Set<Promise<void>>()
  readonly #stopping = new AbortController()

  constructor(options: MailQueueOptions) {
    this.#options = options
  }

  /** Takes a mail and returns at once. Whatever becomes of it, it is sent or reported as an error. */
  post(mail: Mail): void {
    if (this.#underWay.size >= UNDER_WAY_MAX) return this.#giveUp(mail, new Error('too many mails under way'))
    const delivery = this.#deliver(mail).finally(() => this.#underWay.delete(delivery))
    this.#underWay.add(delivery)
  }

  /** Tries nothing again; resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#underWay)
  }

  async #deliver(mail: Mail): Promise<void> {
    const { send, world, log, pause } = this.#options
    for (let retryMs = FIRST_RETRY_MS; ; retryMs = Math.min(2 * retryMs, RETRY_MAX_MS)) {
      try {
        return await send(mail)
      } catch (error) {
        if (error instanceof PermanentFailure || world.now() + retryMs >= mail.before) return this.#giveUp(mail, error)
        log.warn('mail_delayed', { to: mail.to, subject: mail.subject, retryMs, error })
      }
      try {
        await pause(retryMs, this.#stopping.signal)
      } catch (error) {
        return this.#giveUp(mail, error)
      }
    }
  }

  #giveUp({ to, subject }: Mail, error: unknown): void {
    this.#options.log.error('mail_dropped', { to, subject, error })
  }
}
