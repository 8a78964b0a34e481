/** Keeps the boards at what careers say: changed standings as they come, all of them when asked to, or when they are lost. */
import type { Boards } from '../../db/boards.ts'
import type { Careers, Scope } from '../../db/careers.ts'

/** Standings brought up to date in one go. */
const CHANGES_MAX = 1_000

export interface BoardKeeperOptions {
  readonly boards: Pick<Boards, 'put' | 'built' | 'build'>
  readonly careers: Pick<Careers, 'changed' | 'shown' | 'standings' | 'allStandings'>
  /** Asked anew every time, so that a changed setting counts. */
  readonly scope: () => Scope
}

export class BoardKeeper {
  readonly #options: BoardKeeperOptions
  #building: Promise<number | null> | null = null
  /** What the boards count, as far as this process knows. */
  #scope: Scope | null = null

  constructor(options: BoardKeeperOptions) {
    this.#options = options
  }

  /** Brings changed standings to the boards. Builds these first when there are none, or when something else counts now. */
  async show(): Promise<void> {
    const { boards, careers, scope } = this.#options
    this.#scope ??= scope()
    if (this.#scope !== scope() || !(await boards.built())) await this.rebuild()
    for (;;) {
      const changes = await careers.changed(CHANGES_MAX)
      if (changes.length === 0) return
      const users = changes.map(({ userId }) => userId)
      await boards.put(await careers.standings(users, scope()))
      await careers.shown(changes)
    }
  }

  /**
   * Makes the boards anew from the database and returns how many users they rank; null when another process is at it. The
   * boards show what they did until the new ones are whole, and what changes meanwhile is in both. Calls that come while
   * this process is at it wait for the same result.
   */
  rebuild(): Promise<number | null> {
    this.#building ??= this.#build().finally(() => (this.#building = null))
    return this.#building
  }

  async #build(): Promise<number | null> {
    const { boards, careers } = this.#options
    const scope = this.#options.scope()
    const count = await boards.build(careers.allStandings(scope))
    if (count !== null) this.#scope = scope
    return count
  }
}
