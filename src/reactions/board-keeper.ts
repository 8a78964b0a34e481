/**
 * Keeps leaderboards up to date with careers: changed standings one by one, all of them when boards are lost or
 * rebuilt.
 */
import type { Money } from '../../actors/kernel/micros.ts'
import type { Boards } from '../../db/boards.ts'
import type { Careers, Scope } from '../../db/careers.ts'

/** Standings per update. */
const CHANGES_MAX = 1_000

export interface BoardKeeperOptions {
  readonly boards: Pick<Boards, 'put' | 'built' | 'build'>
  readonly careers: Pick<Careers, 'changed' | 'shown' | 'standings' | 'allStandings'>
  /** Read each time, so that a changed setting takes effect. */
  readonly scope: () => Scope
  /** The least stake of a return, for every call. */
  readonly roiFloor: () => Money
}

export class BoardKeeper {
  readonly #options: BoardKeeperOptions
  #building: Promise<number | null> | null = null
  /** What the boards count and by which floor, as far as this process knows. */
  #terms: string | null = null

  constructor(options: BoardKeeperOptions) {
    this.#options = options
  }

  /**
   * Updates changed standings on the boards. Rebuilds the boards first if they are missing, or if a setting that they
   * depend on has changed.
   */
  async show(): Promise<void> {
    const { boards, careers, scope } = this.#options
    this.#terms ??= this.#termsNow()
    // The floor is part of every standing's key. Replacing a few keys would leave a board sorted by two floors.
    if (this.#terms !== this.#termsNow() || !(await boards.built())) await this.rebuild()
    for (;;) {
      const changes = await careers.changed(CHANGES_MAX)
      if (changes.length === 0) return
      const users = changes.map(({ userId }) => userId)
      await boards.put(await careers.standings(users, scope()))
      await careers.shown(changes)
    }
  }

  /**
   * Rebuilds the boards from the database and returns how many users they rank; null while another process is
   * rebuilding them. The old boards are shown until the new ones are complete, and changes in between reach both.
   * Concurrent calls in this process share one result.
   */
  rebuild(): Promise<number | null> {
    this.#building ??= this.#build().finally(() => (this.#building = null))
    return this.#building
  }

  async #build(): Promise<number | null> {
    const { boards, careers } = this.#options
    const terms = this.#termsNow()
    const count = await boards.build(careers.allStandings(this.#options.scope()))
    if (count !== null) this.#terms = terms
    return count
  }

  #termsNow(): string {
    const { scope, roiFloor } = this.#options
    return `${scope()}:${roiFloor()}`
  }
}
