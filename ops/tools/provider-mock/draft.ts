/** A recording that is being disturbed: what its polls showed, what they show by now, and where it was changed. */
import { isDeepStrictEqual } from 'node:util'
import type { Chance } from '../../../actors/replay/chance.ts'

export type Payload = Readonly<Record<string, unknown>>
/** The parts of a payload that a disturbance changes: no two change the same part of neighbouring polls. */
export type Section = 'events' | 'lineups' | 'scores' | 'periods' | 'state' | 'whole'

const FALL_REACH = 2

export const isPayload = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const rowsOf = (payload: Payload | undefined, list: string): readonly Payload[] => {
  const rows = payload?.[list]
  return Array.isArray(rows) ? rows.filter(isPayload) : []
}

export class Draft {
  /** What the polls showed. */
  readonly truth: readonly Payload[]
  readonly #frames: Payload[]
  readonly #taken = new Set<string>()
  /** The polls in which the truth about a player is hidden; 0 stands for everybody. */
  readonly hidden = new Map<number, Set<number>>()
  /** The players about whom something was said that was wrong. */
  readonly wronged = new Set<number>()
  readonly #falls: ReadonlySet<number>

  constructor(frames: readonly unknown[]) {
    this.truth = frames.map((frame) => (isPayload(frame) ? frame : {}))
    this.#frames = [...this.truth]
    this.#falls = new Set(this.truth.flatMap((_, n) => (this.#takesBack(n) ? [n] : [])))
  }

  get frames(): readonly Payload[] {
    return this.#frames
  }

  at(n: number): Payload {
    return this.#frames[n] ?? {}
  }

  set(n: number, fields: Payload): void {
    this.#frames[n] = { ...this.at(n), ...fields }
  }

  replace(n: number, frame: Payload): void {
    this.#frames[n] = frame
  }

  /** Replaces a list of one poll, where it has one. */
  list(n: number, list: string, change: (rows: readonly Payload[]) => readonly Payload[]): void {
    if (Array.isArray(this.at(n)[list])) this.set(n, { [list]: change(rowsOf(this.at(n), list)) })
  }

  /** Replaces rows of a list of one poll. */
  rows(n: number, list: string, change: (row: Payload) => Payload | readonly Payload[]): void {
    this.list(n, list, (rows) => rows.flatMap(change))
  }

  /** The same for every poll from one on. */
  rowsFrom(from: number, list: string, change: (row: Payload) => Payload | readonly Payload[]): void {
    for (let n = from; n < this.#frames.length; n += 1) this.rows(n, list, change)
  }

  /** The polls that show a match in play. */
  inPlay(): readonly number[] {
    return this.truth.flatMap((frame, n) => (isTicking(frame) ? [n] : []))
  }

  /** Whether a part of a poll is what the poll before showed. */
  isQuiet(n: number, of: (payload: Payload) => unknown): boolean {
    const [now, before] = [this.truth[n], this.truth[n - 1]]
    return now !== undefined && before !== undefined && isDeepStrictEqual(of(now), of(before))
  }

  /**
   * A poll in play in which nobody may miss what a part does not tell: it has not changed, nothing is about to be taken
   * back, and no other disturbance is near. Where there is none, null.
   */
  quietPoll(chance: Chance, section: Section, of: (payload: Payload) => unknown): number | null {
    return this.quietPolls(chance, section, of, 1)[0] ?? null
  }

  /** Some of them, one after the other; empty where there are none. */
  quietPolls(chance: Chance, section: Section, of: (payload: Payload) => unknown, lasts: number): readonly number[] {
    const fits = (n: number): boolean =>
      Array.from({ length: lasts }, (_, i) => n + i).every(
        (i) => this.isQuiet(i, of) && this.#isInPlay(i) && !this.isFalling(i) && this.isFree(i, section),
      )
    const from = this.take(
      chance.pick(this.inPlay().filter(fits), () => 1),
      section,
      lasts,
    )
    return from === null ? [] : Array.from({ length: lasts }, (_, i) => from + i)
  }

  /** Marks polls as used for a part. */
  take(n: number | null, section: Section, lasts = 1): number | null {
    if (n !== null) for (let i = n; i < n + lasts; i += 1) this.#taken.add(`${section} ${i}`)
    return n
  }

  /** The truth about a player, or about everybody (0), does not show in these polls. */
  hide(player: number, from: number, until: number): void {
    for (let n = from; n < until; n += 1) this.hidden.set(n, (this.hidden.get(n) ?? new Set()).add(player))
  }

  /** Whether a poll and its neighbours are untouched in a part, and in the whole. */
  isFree(n: number, section: Section): boolean {
    const parts = section === 'whole' ? PARTS : [section, 'whole']
    return [n - 2, n - 1, n, n + 1, n + 2].every((i) => parts.every((part) => !this.#taken.has(`${part} ${i}`)))
  }

  /** Not the last poll of a half: in a break what it hides stays hidden. */
  #isInPlay(n: number): boolean {
    return [n, n + 1].every((i) => isTicking(this.truth[i] ?? {}))
  }

  /** Whether something is taken back near a poll: then a second poll must be able to agree. */
  isFalling(n: number): boolean {
    for (let i = n - FALL_REACH; i <= n + FALL_REACH; i += 1) if (this.#falls.has(i)) return true
    return false
  }

  /** Whether a poll takes something back that the one before showed. */
  #takesBack(n: number): boolean {
    const [now, before] = [this.truth[n], this.truth[n - 1]]
    if (now === undefined || before === undefined) return false
    const ids = new Set(rowsOf(now, 'events').map((row) => row['id']))
    return rowsOf(before, 'events').some((row) => !ids.has(row['id']))
  }
}

const PARTS: readonly Section[] = ['events', 'lineups', 'scores', 'periods', 'state', 'whole']

export const isTicking = (payload: Payload): boolean =>
  rowsOf(payload, 'periods').some((period) => period['ticking'] === true)
