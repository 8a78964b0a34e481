/**
 * The commands of one user, in order, with their answers. The account's events must agree: every acknowledged command
 * appears once and in order, every other command at most once, and nothing else appears. The wallet of an answer is one
 * that the account had from then on. Knows nothing of the server, and takes linear time: markers order the events.
 */
import { performance } from 'node:perf_hooks'
import { type Account, brief, demand, type Holding, isLeague, sameClose, sameTerms, Violation } from './account.ts'
import type { EventSeen, PositionSeen } from './simulated-client.ts'

export interface Order {
  readonly instrumentId: string
  readonly direction: 'long' | 'short'
  readonly lotSize: number
  readonly clientPrice: number
  readonly stopLoss: number | null
  readonly takeProfit: number | null
  /** The id of a league; absent for the purse of the match. */
  readonly purse?: string
}

export interface Levels {
  readonly stopLoss: number | null
  readonly takeProfit: number | null
}

export type Command =
  | { readonly kind: 'open'; readonly key: string; readonly order: Order }
  | { readonly kind: 'change'; readonly positionId: string; readonly levels: Levels }
  | { readonly kind: 'close'; readonly key: string; readonly positionId: string }

export interface Entry {
  readonly command: Command
  /** When it was first sent, by `performance.now`. */
  readonly begunAt: number
  /** `unknown` until an answer comes; then `done`, or `refused`, which means that it never happened. */
  state: 'unknown' | 'done' | 'refused'
  /** The position in the answer. */
  answer: PositionSeen | null
  /** The wallet in the answer. */
  wallet: Readonly<Holding> | null
  /** The position in the event. */
  event: PositionSeen | null
  /** Of the event; 0 before it is read. */
  marker: number
}

/** How late a command whose answer is unknown may happen: the server decides it within two seconds, or not at all. */
const LATE_MS = 5_000

export class Journal {
  /** Commands whose events have not been read yet. */
  #ahead: Entry[] = []
  /** The last command, while its outcome is unknown. */
  #unsure: Entry | null = null
  /** Acknowledged commands whose wallet has not been compared yet. */
  #told: Entry[] = []

  /** The last command, if it has a key to find out with. */
  get unsure(): Entry | null {
    return this.#unsure
  }

  begin(command: Command): Entry {
    const entry: Entry = {
      command,
      begunAt: performance.now(),
      state: 'unknown',
      answer: null,
      wallet: null,
      event: null,
      marker: 0,
    }
    this.#ahead.push(entry)
    this.#unsure = command.kind === 'change' ? null : entry
    return entry
  }

  /** `wallet`: of the purse of the position, as the answer shows it. */
  acknowledge(entry: Entry, answer: PositionSeen, wallet: Readonly<Holding>): void {
    if (entry.wallet === null) this.#told.push(entry)
    entry.state = 'done'
    entry.answer = answer
    entry.wallet = wallet
    this.#unsure = null
    if (entry.event !== null) agree(entry.command, answer, entry.event)
  }

  refuse(entry: Entry, why: string): void {
    demand(entry.event === null, () => `${described(entry)} was refused (${why}), but it happened`)
    entry.state = 'refused'
    this.#unsure = null
  }

  /** Takes an event that the user caused. Throws if no command accounts for it, or an acknowledged one is missing. */
  witness(event: EventSeen): void {
    for (;;) {
      const entry = this.#ahead.shift()
      if (entry === undefined)
        throw new Violation(`no command accounts for event ${event.marker}: ${brief(event.position)}`)
      if (entry.state !== 'refused' && accountsFor(entry.command, event)) {
        entry.event = event.position
        entry.marker = event.marker
        if (entry.answer !== null) agree(entry.command, entry.answer, event.position)
        return
      }
      demand(
        entry.state !== 'done',
        () => `${described(entry)} was acknowledged, but left no event before ${event.marker}`,
      )
    }
  }

  /** From when on no command happens any more whose answer is unknown, by `performance.now`. */
  get restsAt(): number {
    return Math.max(
      0,
      ...this.#ahead.filter(({ state }) => state === 'unknown').map(({ begunAt }) => begunAt + LATE_MS),
    )
  }

  /**
   * Call it when all existing events have been read. Throws if an acknowledged command is not among them, or its wallet
   * is none that the account has had since.
   */
  settle(account: Account): void {
    for (const entry of this.#told.splice(0)) {
      const { event, wallet, marker } = entry
      if (event === null || wallet === null) continue
      demand(
        account.hasHeldSince(event.purse, marker, wallet),
        () =>
          `${described(entry)} was answered with a wallet that the account has not had since: ${JSON.stringify(wallet)}`,
      )
    }
    const lost = this.#ahead.find((entry) => entry.state === 'done')
    demand(lost === undefined, () => `${lost === undefined ? '' : described(lost)} was acknowledged, but left no event`)
    // Commands that may still be retried stay. Any other that has not happened by now never will.
    this.#ahead = this.#ahead.filter((entry) => entry === this.#unsure)
  }
}

function accountsFor(command: Command, { type, position }: EventSeen): boolean {
  switch (command.kind) {
    case 'open':
      return (
        type === 'opened' &&
        position.instrumentId === command.order.instrumentId &&
        (command.order.purse === undefined ? !isLeague(position.purse) : position.purse === command.order.purse) &&
        position.direction === command.order.direction &&
        position.lotSize === micros(command.order.lotSize) &&
        sameLevels(position, command.order)
      )
    case 'change':
      return type === 'changed' && position.id === command.positionId && sameLevels(position, command.levels)
    case 'close':
      return type === 'closed' && position.id === command.positionId
  }
}

function sameLevels(position: PositionSeen, levels: Levels): boolean {
  return position.stopLoss === orNull(levels.stopLoss) && position.takeProfit === orNull(levels.takeProfit)
}

const micros = (units: number): number => Math.round(units * 1_000_000)
const orNull = (units: number | null): number | null => (units === null ? null : micros(units))

/** Throws a Violation unless the answer to a command and its event tell of the same position. */
export function agree(command: Command, answer: PositionSeen, event: PositionSeen): void {
  const isSame = sameTerms(answer, event) && (command.kind !== 'close' || sameClose(answer, event))
  demand(isSame, () => `${describe(command)} was answered with ${brief(answer)}, and its event says ${brief(event)}`)
}

export const describe = (command: Command): string => JSON.stringify(command)
const described = ({ command }: Entry): string => describe(command)
