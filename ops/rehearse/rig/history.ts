/**
 * What one client asked, was answered or never heard, with several commands under way at a time. `check` finds what no
 * legal order of them explains, from the events of the account alone: every acknowledged command has one event, of the
 * position that it was answered with, and every other command at most one; a command that was answered before another
 * began comes first; the wallet of an answer is one that the account had from then on. It knows nothing of the server,
 * and takes linear time: markers order the events. Changes of one position to the same levels must not be under way
 * together: nothing would tell them apart.
 */
import { performance } from 'node:perf_hooks'
import { type Account, brief, demand, type Holding, Violation } from './account.ts'
import { agree, type Command, describe, type Levels } from './journal.ts'
import type { EventSeen, PositionSeen } from './simulated-client.ts'

/** A command, and what is known of its outcome. Without a word it may have happened, and still may. */
class Told {
  readonly command: Command
  readonly begunAt: number
  state: 'unknown' | 'done' | 'refused' = 'unknown'
  answeredAt = Infinity
  answer: PositionSeen | null = null
  wallet: Readonly<Holding> | null = null

  constructor(command: Command, begunAt: number) {
    this.command = command
    this.begunAt = begunAt
  }

  /** `wallet`: of the purse of the position, as the answer shows it. */
  acknowledge(answer: PositionSeen, wallet: Readonly<Holding>, at = performance.now()): void {
    this.state = 'done'
    this.answeredAt = at
    this.answer = answer
    this.wallet = wallet
  }

  /** The answer says that it has not happened. */
  refuse(): void {
    this.state = 'refused'
  }
}

export class History {
  readonly #max: number
  readonly #told: Told[] = []
  #isWhole = true

  /** Records the first `max` commands. After more, an event that no recorded command explains is no fault. */
  constructor(max: number) {
    this.#max = max
  }

  get length(): number {
    return this.#told.length
  }

  begin(command: Command, begunAt = performance.now()): Told {
    const told = new Told(command, begunAt)
    if (this.#told.length < this.#max) this.#told.push(told)
    else this.#isWhole = false
    return told
  }

  /** Throws a Violation. `account` has taken these events, all that there are; those up to `since` are from before. */
  check(account: Account, events: readonly EventSeen[], since = 0): void {
    const open = new OpenEntries(this.#told)
    let begunAt = -Infinity
    for (const event of events) {
      if (event.marker <= since || !isOwn(event)) continue
      const told = open.take(event)
      if (told === null) {
        if (!this.#isWhole) continue
        throw new Violation(`no command accounts for event ${event.marker}: ${brief(event.position)}`)
      }
      const { command, answer, wallet, answeredAt } = told
      demand(
        answeredAt >= begunAt,
        () => `${describe(command)} was answered before another began, and comes after it: event ${event.marker}`,
      )
      begunAt = Math.max(begunAt, told.begunAt)
      if (answer !== null) agree(command, answer, event.position)
      demand(
        wallet === null || account.hasHeldSince(event.position.purse, event.marker, wallet),
        () => `${describe(command)} was answered with a wallet that was none: ${JSON.stringify(wallet)}`,
      )
    }
    const lost = open.left().find(({ state }) => state === 'done')
    if (lost !== undefined) throw new Violation(`${describe(lost.command)} was acknowledged, but left no event`)
  }
}

/** An event that the user caused. */
const isOwn = ({ type, position }: EventSeen): boolean =>
  type === 'opened' || type === 'changed' || (type === 'closed' && position.closedBy === 'user')

/** The commands that may have happened and have no event yet, by what their event would say. */
class OpenEntries {
  readonly #byEffect = new Map<string, Set<Told>>()

  constructor(all: readonly Told[]) {
    for (const told of all) {
      if (told.state === 'refused') continue
      const effect = effectOf(told)
      const same = this.#byEffect.get(effect) ?? new Set()
      this.#byEffect.set(effect, same.add(told))
    }
  }

  /** The first that accounts for an event: one that was acknowledged with it before one whose answer was lost. */
  take(event: EventSeen): Told | null {
    for (const effect of effectsOf(event)) {
      const same = this.#byEffect.get(effect)
      const [first] = same ?? []
      if (first === undefined) continue
      same?.delete(first)
      return first
    }
    return null
  }

  left(): Told[] {
    return [...this.#byEffect.values()].flatMap((same) => [...same])
  }
}

const lost = 'lost'

/** An acknowledged opening has told its position; the others are known by their terms. */
function effectOf({ command, answer }: Told): string {
  const heard = answer === null ? lost : 'done'
  switch (command.kind) {
    case 'open':
      return answer === null ? `open ${lost} ${termsOf(command.order)}` : `open ${answer.id}`
    case 'change':
      return `change ${heard} ${command.positionId} ${levelsOf(command.levels)}`
    case 'close':
      return `close ${heard} ${command.positionId}`
  }
}

function effectsOf({ type, position }: EventSeen): string[] {
  const { id, instrumentId, direction } = position
  const [lotSize, stopLoss, takeProfit] = [position.lotSize, position.stopLoss, position.takeProfit].map(units)
  const levels = { stopLoss: stopLoss ?? null, takeProfit: takeProfit ?? null }
  if (type === 'opened') {
    return [`open ${id}`, `open ${lost} ${termsOf({ instrumentId, direction, lotSize: lotSize ?? 0, ...levels })}`]
  }
  const what = type === 'changed' ? `${id} ${levelsOf(levels)}` : id
  const kind = type === 'changed' ? 'change' : 'close'
  return [`${kind} done ${what}`, `${kind} ${lost} ${what}`]
}

type Terms = Levels & { readonly instrumentId: string; readonly direction: string; readonly lotSize: number }
const termsOf = ({ instrumentId, direction, lotSize, ...levels }: Terms): string =>
  `${instrumentId} ${direction} ${lotSize} ${levelsOf(levels)}`
const levelsOf = ({ stopLoss, takeProfit }: Levels): string => `${stopLoss} ${takeProfit}`
const units = (micros: number | null): number | null => (micros === null ? null : micros / 1_000_000)
