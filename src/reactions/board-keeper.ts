/**
 * Keeps leaderboards up to date with careers: changed standings one by one, all of them when boards are lost or
 * rebuilt.
 */
import type { Money } from '../../actors/kernel/micros.ts'
import { type CommonPurse, PURSES } from '../../actors/kernel/purse.ts'
import type { Boards } from '../../db/boards.ts'
import type { Careers } from '../../db/careers.ts'

/** Standings per update: about 4 ms of the event loop. */
const CHANGES_MAX = 250

export interface BoardKeeperOptions {
  readonly boards: Readonly<Record<CommonPurse, Pick<Boards, 'put' | 'built' | 'build'>>>
  readonly careers: Pick<Careers, 'changed' | 'shown' | 'standings' | 'allStandings'>
  /** The least stake of a return. Read each time, so that a changed setting takes effect. */
  readonly roiFloor: () => Money
  /** Whether bots have a place on the boards. Read each time as well. */
  readonly ranksBots?: () => boolean
}

export class BoardKeeper {
  readonly #options: BoardKeeperOptions
  #building: Promise<number | null> | null = null

  constructor(options: BoardKeeperOptions) {
    this.#options = options
  }

  /**
   * Updates changed standings on the boards of all purses. Rebuilds the boards first if they are missing or may have
   * lost standings, or if the floor or the rule for bots is another than that of the last build, by any process.
   */
  async show(): Promise<void> {
    const { boards, careers } = this.#options
    // The floor is part of every standing's key. Replacing a few keys would leave a board sorted by two floors.
    const built = await Promise.all(PURSES.map((purse) => boards[purse].built(this.#rules())))
    if (built.includes(false)) await this.rebuild()
    for (;;) {
      const changes = await careers.changed(CHANGES_MAX)
      if (changes.length === 0) return
      const users = changes.map(({ userId }) => userId)
      for (const purse of PURSES) await boards[purse].put(await careers.standings(users, purse))
      await careers.shown(changes)
    }
  }

  /**
   * Rebuilds the boards from the database and returns how many users those of the main purse rank; null while another
   * process is rebuilding them. The old boards are shown until the new ones are complete, and changes in between reach
   * both. Concurrent calls in this process share one result.
   */
  rebuild(): Promise<number | null> {
    this.#building ??= this.#build().finally(() => (this.#building = null))
    return this.#building
  }

  async #build(): Promise<number | null> {
    const { boards, careers } = this.#options
    const rules = this.#rules()
    const counts = new Map<CommonPurse, number | null>()
    for (const purse of PURSES) counts.set(purse, await boards[purse].build(careers.allStandings(purse), rules))
    if ([...counts.values()].includes(null)) return null
    return counts.get('main') ?? null
  }

  #rules(): string {
    const { roiFloor, ranksBots = () => false } = this.#options
    return JSON.stringify([roiFloor(), ranksBots()])
  }
}
