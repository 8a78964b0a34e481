/**
 * The histories of a worker's users: what each asked, was answered or never heard. At the end they are compared with
 * the accounts. Memory is bounded: of more users the first are recorded, and of more commands of one the first.
 */
import { Account, Violation } from '../rig/account.ts'
import { History } from '../rig/history.ts'
import { Changes } from '../rig/simulated-client.ts'
import { read, readEvents } from './books.ts'
import type { Rest } from './rest.ts'
import type { LoadTally } from './tally.ts'

const USERS_MAX = 500
const COMMANDS_MAX = 500
/** Accounts read at the same time. */
const READING = 16

interface Recorded {
  readonly history: History
  /** The last event before it began. */
  readonly since: number
}

export class Recorder {
  readonly #rest: Rest
  readonly #tally: LoadTally
  readonly #recorded = new Map<string, Recorded>()

  constructor(rest: Rest, tally: LoadTally) {
    this.#rest = rest
    this.#tally = tally
  }

  /** Resolves when the users with these tokens may begin to trade. */
  async begin(tokens: readonly string[]): Promise<void> {
    await this.#each(tokens.slice(0, USERS_MAX), async (token) => {
      const { marker } = Changes.parse(await read(this.#rest, token, '/api/account/changes'))
      this.#recorded.set(token, { history: new History(COMMANDS_MAX), since: marker })
    })
  }

  /** Null for a user who is not recorded. */
  of(token: string): History | null {
    return this.#recorded.get(token)?.history ?? null
  }

  /** Counts what was compared, and what the accounts contradict. Call it when no command is under way any more. */
  async compare(): Promise<void> {
    await this.#each([...this.#recorded], async ([token, { history, since }]) => {
      if (history.length === 0) return
      this.#tally.counts.compared += history.length
      const account = new Account()
      try {
        history.check(account, await readEvents(this.#rest, token, account), since)
      } catch (error) {
        if (!(error instanceof Violation)) throw error
        this.#tally.miss('contradictions', error.message)
      }
    })
  }

  async #each<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
    const queue = all.values()
    const worker = async (): Promise<void> => {
      for (const one of queue) {
        await work(one).catch((error: unknown) => this.#tally.fail(`history: ${String(error).slice(0, 60)}`))
      }
    }
    await Promise.all(Array.from({ length: READING }, worker))
  }
}
