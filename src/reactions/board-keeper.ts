/**
 * Keeps leaderboards up to date with careers: changed standings one by one, all of them when boards are lost or
 * rebuilt.
 */
import type { Boards } from '../../db/boards.ts'
import type { Careers, Scope } from '../../db/careers.ts'

/** Standings per update. */
const CHANGES_MAX = 1_000

export interface BoardKeeperOptions {
  readonly boards: Pick<Boards, 'put' | 'built' | 'build'>
  readonly careers: Pick<Careers, 'changed' | 'shown' | 'standings' | 'allStandings'>
  /** Read each time, so that a changed setting takes effect. */
  readonly scope: () => Scope
}

export class BoardKeeper {
  readonly #options: BoardKeeperOptions
  #building: Promise<number | null> | null = null
  /** The scope of the boards, as last seen by this process. */
  #scope: Scope | null = null

  constructor(options: BoardKeeperOptions) {
    this.#options = options
  }

  /**
   * Updates changed standings on the boards. Rebuilds the boards first if they are missing or their scope has changed.
   */
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
    const scope = this.#options.scope()
    const count = await boards.build(careers.allStandings(scope))
    if (count !== null) this.#scope = scope
    return count
  }
}
