/** Leaderboards in the memory of a process that runs alone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { present } from '../actors/kernel/assert.ts'
import type { DistrictId, UserId } from '../actors/kernel/ids.ts'
import { SortedList } from '../actors/kernel/sorted-list.ts'
import {
  boardPlace,
  type BoardName,
  comparePlaces,
  type DistrictScore,
  rankAll,
  type Ranked,
  rankKey,
  roiPpm,
  type Standing,
} from '../actors/community/ranking.ts'
import { type Boards, BoardsUnbuilt, type Place, type Top, type TopStart } from './boards.ts'

export class BoardsMemory implements Boards {
  #shown: Ranking | null = null
  /** The rules that the boards were built by. */
  #rules = ''
  /** The boards being built. Standings put meanwhile go into these as well. */
  #coming: Ranking | null = null

  async put(standings: readonly Standing[]): Promise<void> {
    const shown = this.#ranking()
    for (const standing of standings) {
      shown.put(standing)
      this.#coming?.put(standing)
    }
  }

  async top(board: BoardName, limit: number, start: TopStart = {}): Promise<Top> {
    return this.#ranking().top(board, limit, start)
  }

  async place(board: BoardName, user: UserId): Promise<Place | null> {
    return this.#ranking().place(board, user)
  }

  async standings(users: readonly UserId[]): Promise<readonly Standing[]> {
    const ranking = this.#ranking()
    return users.flatMap((user) => ranking.standing(user) ?? [])
  }

  async districts(): Promise<readonly DistrictScore[]> {
    return this.#ranking().districts()
  }

  async built(rules: string): Promise<boolean> {
    return this.#shown !== null && this.#rules === rules
  }

  async build(pages: AsyncIterable<readonly Standing[]>, rules: string): Promise<number | null> {
    if (this.#coming !== null) return null
    const coming = new Ranking()
    this.#coming = coming
    try {
      for await (const page of pages) {
        for (const standing of page) coming.put(standing)
        await nextTurn()
      }
      await coming.lay()
      this.#shown = coming
      this.#rules = rules
      return coming.size
    } finally {
      this.#coming = null
    }
  }

  async close(): Promise<void> {
    this.#shown = null
  }

  #ranking(): Ranking {
    if (this.#shown === null) throw new BoardsUnbuilt()
    return this.#shown
  }
}

type By = BoardName['by']

/**
 * Standings by number, and sorted lists of these numbers. Keys are kept in columns, so that comparing two users
 * allocates nothing.
 */
class Ranking {
  readonly #numbers = new Map<UserId, number>()
  readonly #standings: Standing[] = []
  readonly #columns: Readonly<Record<By, number[][]>> = { roi: [[], [], [], []], pnl: [[]] }
  readonly #lists = new Map<string, SortedList<number>>()
  readonly #districts = new Map<DistrictId, { members: number; roiPpmSum: number }>()
  /** False until the lists have been filled. */
  #laid = false
  /** Standings put while the lists are being filled: a key must not change under a list. */
  #late: Standing[] | null = null

  get size(): number {
    return this.#standings.length
  }

  put(standing: Standing): void {
    if (this.#late !== null) {
      this.#late.push(standing)
      return
    }
    const number = this.#numbers.get(standing.userId) ?? this.#standings.length
    const before = this.#standings[number]
    if (before !== undefined && before.version > standing.version) return
    if (before === undefined) this.#numbers.set(standing.userId, number)
    else this.#count(before, -1)
    if (before !== undefined && before.closed > 0 && this.#laid) {
      for (const list of this.#listsOf(before)) list.remove(number)
    }
    this.#standings[number] = standing
    for (const by of ['roi', 'pnl'] as const) {
      for (const [n, value] of rankKey(by, standing).entries()) present(this.#columns[by][n], 'column')[number] = value
    }
    this.#count(standing, 1)
    if (standing.closed > 0 && this.#laid) for (const list of this.#listsOf(standing)) list.add(number)
  }

  /** Fills each list at once with what has been put so far. */
  async lay(): Promise<void> {
    const late: Standing[] = []
    this.#late = late
    for (const by of ['roi', 'pnl'] as const) {
      const ranked = this.#standings.keys().filter((number) => this.#at(number).closed > 0)
      const inOrder = Int32Array.from(ranked).toSorted((a, b) => this.#compare(by, a, b))
      await nextTurn()
      const byDistrict = Map.groupBy(inOrder, (number) => this.#at(number).districtId)
      for (const [districtId, members] of byDistrict) this.#list({ by, districtId }).fill(members)
      this.#list({ by, districtId: null }).fill(inOrder)
      await nextTurn()
    }
    this.#laid = true
    this.#late = null
    for (const standing of late) this.put(standing)
  }

  standing(user: UserId): Standing | undefined {
    const number = this.#numbers.get(user)
    const standing = number === undefined ? undefined : this.#standings[number]
    return standing?.closed === 0 ? undefined : standing
  }

  top(board: BoardName, limit: number, { after = null, offset = 0 }: TopStart): Top {
    const list = this.#lists.get(nameOf(board))
    if (list === undefined) return { total: 0, entries: [] }
    const isPassed = (number: number): boolean =>
      after !== null && comparePlaces(boardPlace(board.by, this.#at(number)), after) <= 0
    const from = list.count(isPassed) + offset
    const numbers = list.slice(from, limit)
    const [first] = numbers
    const rank = first === undefined ? 1 : this.#countBefore(board.by, list, first) + 1
    const inOrder = numbers.map((number) => this.#at(number))
    return { total: list.size, entries: rankAll(board.by, inOrder, { place: from + 1, rank }) }
  }

  place(board: BoardName, user: UserId): Place | null {
    const number = this.#numbers.get(user)
    if (number === undefined) return null
    const standing = this.#at(number)
    if (standing.closed === 0) return null
    if (board.districtId !== null && board.districtId !== standing.districtId) return null
    const list = this.#list(board)
    const before = this.#countBefore(board.by, list, number)
    return { rank: before + 1, standing, total: list.size, next: before === 0 ? null : this.#ranked(board, before - 1) }
  }

  districts(): DistrictScore[] {
    return [...this.#districts].map(([districtId, score]) => ({ districtId, ...score }))
  }

  #ranked(board: BoardName, place: number): Ranked {
    const list = this.#list(board)
    const number = present(list.slice(place, 1)[0], 'the user at this place')
    return { rank: this.#countBefore(board.by, list, number) + 1, standing: this.#at(number) }
  }

  /** The number of users with a better key. Ties share a rank. */
  #countBefore(by: By, list: SortedList<number>, number: number): number {
    return list.count((other) => this.#compareKeys(by, other, number) < 0)
  }

  #compareKeys(by: By, a: number, b: number): number {
    for (const column of this.#columns[by]) {
      const difference = (column[a] ?? 0) - (column[b] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  #compare(by: By, a: number, b: number): number {
    return this.#compareKeys(by, a, b) || (this.#at(a).userId < this.#at(b).userId ? -1 : a === b ? 0 : 1)
  }

  #at(number: number): Standing {
    return present(this.#standings[number], 'standing')
  }

  #listsOf({ districtId }: Standing): SortedList<number>[] {
    return (['roi', 'pnl'] as const).flatMap((by) => [
      this.#list({ by, districtId: null }),
      this.#list({ by, districtId }),
    ])
  }

  #list(board: BoardName): SortedList<number> {
    const name = nameOf(board)
    const list = this.#lists.get(name) ?? new SortedList<number>((a, b) => this.#compare(board.by, a, b))
    this.#lists.set(name, list)
    return list
  }

  #count(standing: Standing, times: 1 | -1): void {
    if (standing.closed === 0) return
    const score = this.#districts.get(standing.districtId) ?? { members: 0, roiPpmSum: 0 }
    score.members += times
    score.roiPpmSum += times * roiPpm(standing)
    if (score.members === 0) this.#districts.delete(standing.districtId)
    else this.#districts.set(standing.districtId, score)
  }
}

const nameOf = ({ by, districtId }: BoardName): string => `${by}:${districtId ?? 'all'}`
