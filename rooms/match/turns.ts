/**
 * Lets some orders in, and some answers out, in a turn of the event loop: match by match, so that a crowd on one of
 * them costs the orders on another a few turns, and not the work of the whole crowd. Large turns make large
 * transactions, which are cheaper by the order; turns are small only while another match has to wait for a crowd.
 */
import type { FixtureId } from '../../actors/kernel/ids.ts'

const LARGE_TURN = 64
/** About three milliseconds of reading, deciding and answering. */
const SMALL_TURN = 8
/** A match with this many waiting is a crowd to the others. */
const CROWD = 64
/** Turns stay small for this many after an order on another match came. */
const CAREFUL_TURNS = 256
/** Orders and answers of one match: twice what fits into a mailbox. */
const WAITING_MAX = 2_048

export class Turns {
  /** Those that wait, by match. The match whose turn it is comes first. */
  readonly #lines = new Map<FixtureId, (() => void)[]>()
  #left = LARGE_TURN
  #careful = 0
  #isNextDue = false

  /** Whether another order on a match may wait. */
  hasRoom(match: FixtureId): boolean {
    return (this.#lines.get(match)?.length ?? 0) < WAITING_MAX
  }

  /** Resolves when it is the turn of one on this match. */
  next(match: FixtureId): Promise<void> {
    this.#look()
    if (this.#left > 0 && this.#lines.size === 0) {
      this.#left--
      return Promise.resolve()
    }
    return new Promise((enter) => {
      const line = this.#lines.get(match)
      if (line !== undefined) return void line.push(enter)
      this.#lines.set(match, [enter])
      for (const other of this.#lines.values()) if (other.length >= CROWD) this.#careful = CAREFUL_TURNS
    })
  }

  /** Once in each turn in which anybody came or waits. */
  #look(): void {
    if (this.#isNextDue) return
    this.#isNextDue = true
    setImmediate(() => {
      this.#isNextDue = false
      this.#careful = Math.max(0, this.#careful - 1)
      this.#left = this.#careful > 0 ? SMALL_TURN : LARGE_TURN
      while (this.#left > 0 && this.#lines.size > 0) this.#enterOne()
      if (this.#lines.size > 0) this.#look()
    })
  }

  #enterOne(): void {
    const [first] = this.#lines
    if (first === undefined) return
    const [match, line] = first
    this.#left--
    line.shift()?.()
    // To the end, behind those on other matches.
    this.#lines.delete(match)
    if (line.length > 0) this.#lines.set(match, line)
  }
}
