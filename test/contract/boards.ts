/** The contract of every implementation of Boards. */
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { districtId, userId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { type BoardName, boardPlace, compareStandings, rankAll, type Standing } from '../../actors/community/ranking.ts'
import { type Boards, BoardsUnbuilt } from '../../db/boards.ts'

const user = (n: number) => userId(`00000000-0000-7000-8000-${String(n).padStart(12, '0')}`)

export function standing(n: number, over: Partial<Standing> = {}): Standing {
  return {
    userId: user(n),
    districtId: districtId(1),
    pnl: money(0),
    baseMoves: over.pnl ?? money(0),
    stake: money(1_000_000_000),
    closed: 10,
    wins: 5,
    firstTradeAt: instant(1_780_000_000_000),
    version: 1,
    ...over,
  }
}

async function* pages(...all: readonly (readonly Standing[])[]) {
  yield* all
}

const ROI: BoardName = { by: 'roi', districtId: null }
const PNL: BoardName = { by: 'pnl', districtId: null }
const RULES = 'a floor of 500'

export function boardsContract(open: () => Promise<Boards>): void {
  const opened: Boards[] = []
  const unbuilt = async (): Promise<Boards> => {
    const boards = await open()
    opened.push(boards)
    return boards
  }
  const boardsOf = async (...standings: readonly Standing[]): Promise<Boards> => {
    const boards = await unbuilt()
    expect(await boards.build(pages(standings), RULES)).toBe(standings.length)
    return boards
  }
  const shown = async (boards: Boards, board: BoardName, limit = 10) =>
    (await boards.top(board, limit)).entries.map(({ rank, standing: { userId: id } }) => [rank, Number(id.slice(-12))])

  afterEach(async () => {
    for (const boards of opened.splice(0)) await boards.close()
  })

  it('[C2] a standing without closes takes its user off every board, and an older one does not bring them back', async () => {
    const boards = await boardsOf(standing(1, { pnl: money(3) }), standing(2, { pnl: money(2) }))
    await boards.put([standing(1, { closed: 0, wins: 0, version: 2 })])
    await boards.put([standing(1, { pnl: money(9) })])
    for (const board of [ROI, PNL, { ...ROI, districtId: districtId(1) }]) {
      expect(await shown(boards, board)).toEqual([[1, 2]])
      expect(await boards.place(board, user(1))).toBeNull()
    }
    expect(await boards.standings([user(1)])).toEqual([])
    expect(await boards.districts()).toMatchObject([{ districtId: 1, members: 1 }])
    await boards.put([standing(1, { pnl: money(1), version: 3 })])
    expect(await shown(boards, PNL)).toEqual([
      [1, 2],
      [2, 1],
    ])
  })

  it('a page from the middle of a board has the ranks of the whole, also when it begins within a tie', async () => {
    const pnls = [9, 7, 7, 7, 5, 5, 1]
    const boards = await boardsOf(...pnls.map((pnl, n) => standing(n + 1, { pnl: money(pnl * 1_000_000) })))
    for (const board of [ROI, PNL]) {
      const whole = (await boards.top(board, 100)).entries
      for (let offset = 0; offset <= pnls.length; offset++) {
        const page = { total: pnls.length, entries: whole.slice(offset, offset + 3) }
        expect(await boards.top(board, 3, { offset })).toEqual(page)
        const last = whole[offset - 2]
        const after = last === undefined ? null : boardPlace(board.by, last.standing)
        if (after !== null) expect(await boards.top(board, 3, { after, offset: 1 })).toEqual(page)
      }
    }
  })

  it('[H24] a page continues behind the last entry, although users have overtaken others or left meanwhile', async () => {
    const pnlOf = (pnl: number, version = 1) => ({ pnl: money(pnl * 1_000_000), version })
    const boards = await boardsOf(...[9, 8, 7, 7, 7, 3, 2].map((pnl, n) => standing(n + 1, pnlOf(pnl))))
    for (const by of ['roi', 'pnl'] as const) {
      const board = { by, districtId: null }
      const [, , last] = (await boards.top(board, 3)).entries
      const after = boardPlace(by, present(last, 'the third').standing)
      const rest = async () => {
        const { entries } = await boards.top(board, 10, { after })
        return entries.map(({ rank, standing: { userId: id } }) => [rank, Number(id.slice(-12))])
      }
      const version = by === 'roi' ? 2 : 4
      await boards.put([standing(7, pnlOf(10, version))])
      expect(await rest()).toEqual([
        [4, 4],
        [4, 5],
        [7, 6],
      ])
      await boards.put([standing(3, { closed: 0, wins: 0, version }), standing(1, { closed: 0, wins: 0, version })])
      expect(await rest()).toEqual([
        [3, 4],
        [3, 5],
        [5, 6],
      ])
      await boards.put([standing(7, pnlOf(2, version + 1)), standing(3, pnlOf(7, 3)), standing(1, pnlOf(9, 3))])
    }
  })

  it('[R6] equal ROI: win rate, then profit in units, then the earlier first trade, then a shared rank', async () => {
    const half = { closed: 10, wins: 5 }
    const boards = await boardsOf(
      standing(1, { ...half, pnl: money(100_000), stake: money(1_000_000) }),
      standing(2, { ...half, pnl: money(200_000), stake: money(2_000_000) }),
      standing(3, { closed: 10, wins: 6, pnl: money(10_000), stake: money(100_000) }),
      standing(4, { ...half, pnl: money(100_000), stake: money(1_000_000), firstTradeAt: instant(1) }),
      standing(5, { ...half, pnl: money(100_000), stake: money(1_000_000) }),
      standing(6, { ...half, pnl: money(1), stake: money(1_000_000) }),
    )
    expect(await shown(boards, ROI)).toEqual([
      [1, 3],
      [2, 2],
      [3, 4],
      [4, 1],
      [4, 5],
      [6, 6],
    ])
  })

  it('[R6] on the profit board equal profits share a rank, whatever the margins', async () => {
    const boards = await boardsOf(
      standing(1, { pnl: money(7) }),
      standing(2, { pnl: money(9), stake: money(5) }),
      standing(3, { pnl: money(9), wins: 9 }),
      standing(4, { pnl: money(-3) }),
    )
    expect(await shown(boards, PNL)).toEqual([
      [1, 2],
      [1, 3],
      [3, 1],
      [4, 4],
    ])
  })

  it('a place has a rank among all, and the nearest user above who does not share it', async () => {
    const boards = await boardsOf(
      standing(1, { pnl: money(9) }),
      standing(2, { pnl: money(5) }),
      standing(3, { pnl: money(5) }),
      standing(4, { pnl: money(-1) }),
    )
    expect(await boards.place(PNL, user(1))).toMatchObject({ rank: 1, total: 4, next: null })
    expect(await boards.place(PNL, user(3))).toMatchObject({
      rank: 2,
      total: 4,
      next: { rank: 1, standing: standing(1, { pnl: money(9) }) },
    })
    expect(await boards.place(PNL, user(4))).toMatchObject({ rank: 4, next: { rank: 2, standing: { pnl: 5 } } })
    expect(await boards.place(PNL, user(5))).toBeNull()
    expect((await boards.standings([user(5), user(2)])).map((one) => one.userId)).toEqual([user(2)])
    expect(await boards.standings([])).toEqual([])
  })

  it('a newer standing moves its user on every board, an older one changes nothing', async () => {
    const boards = await boardsOf(standing(1, { pnl: money(9) }), standing(2, { pnl: money(5) }))
    const moved = standing(2, { pnl: money(11), version: 3, districtId: districtId(2) })
    await boards.put([moved, standing(3, { pnl: money(10) })])
    await boards.put([standing(2, { pnl: money(1), version: 2 })])
    await boards.put([moved])
    expect(await shown(boards, PNL)).toEqual([
      [1, 2],
      [2, 3],
      [3, 1],
    ])
    expect(await shown(boards, { by: 'roi', districtId: districtId(2) })).toEqual([[1, 2]])
    expect(await shown(boards, { by: 'pnl', districtId: districtId(1) })).toEqual([
      [1, 3],
      [2, 1],
    ])
    expect(await boards.place({ by: 'roi', districtId: districtId(1) }, user(2))).toBeNull()
    expect(await boards.place({ by: 'roi', districtId: districtId(2) }, user(2))).toMatchObject({ rank: 1, total: 1 })
    expect(await shown(boards, { by: 'roi', districtId: districtId(77) })).toEqual([])
  })

  it('[R7] districts sum up the ROI of their ranked members, and follow them', async () => {
    const boards = await boardsOf(
      standing(1, { pnl: money(100_000_000) }),
      standing(2, { pnl: money(-300_000_000), districtId: districtId(2) }),
      standing(3, { pnl: money(50_000_000) }),
    )
    const scores = async () => (await boards.districts()).toSorted((a, b) => a.districtId - b.districtId)
    expect(await scores()).toEqual([
      { districtId: 1, members: 2, roiPpmSum: 150_000 },
      { districtId: 2, members: 1, roiPpmSum: -300_000 },
    ])
    await boards.put([standing(2, { pnl: money(0), version: 2 }), standing(3, { pnl: money(0), version: 2 })])
    expect(await scores()).toEqual([{ districtId: 1, members: 3, roiPpmSum: 100_000 }])
  })

  describe('building', () => {
    it('before the first build boards are empty and take no standings', async () => {
      const boards = await unbuilt()
      expect(await boards.built(RULES)).toBe(false)
      await expect(boards.put([standing(1)])).rejects.toThrow(BoardsUnbuilt)
      await expect(boards.top(ROI, 5)).rejects.toThrow(BoardsUnbuilt)
      await expect(boards.place(ROI, user(1))).rejects.toThrow(BoardsUnbuilt)
      await expect(boards.districts()).rejects.toThrow(BoardsUnbuilt)
      await boards.build(pages(), RULES)
      expect([await boards.built(RULES), await boards.top(ROI, 5)]).toEqual([true, { total: 0, entries: [] }])
    })

    it('[R8] boards that follow other rules are not the ones asked for, until they are built by those', async () => {
      const boards = await boardsOf(standing(1))
      const [none, built] = [
        await boards.built('a floor of 0'),
        await boards.build(pages([standing(1)]), 'a floor of 0'),
      ]
      expect([none, built]).toEqual([false, 1])
      expect([await boards.built('a floor of 0'), await boards.built(RULES)]).toEqual([true, false])
    })

    it('[R8] boards are unchanged until a build is complete; standings put meanwhile are in both', async () => {
      const boards = await boardsOf(standing(1, { pnl: money(9) }), standing(2, { pnl: money(5) }))
      const between: unknown[] = []
      async function* slowly() {
        yield [standing(1, { pnl: money(1), version: 4 })]
        between.push(await shown(boards, PNL))
        await boards.put([standing(3, { pnl: money(7), version: 2 })])
        between.push(await shown(boards, PNL))
        expect(await boards.build(pages([standing(9)]), RULES)).toBeNull()
        yield [standing(3, { pnl: money(6) }), standing(4, { pnl: money(2) })]
      }
      expect(await boards.build(slowly(), RULES)).toBe(3)
      expect(between).toEqual([
        [
          [1, 1],
          [2, 2],
        ],
        [
          [1, 1],
          [2, 3],
          [3, 2],
        ],
      ])
      expect(await shown(boards, PNL)).toEqual([
        [1, 3],
        [2, 4],
        [3, 1],
      ])
    })

    it('[R8] a build that fails changes nothing, and the next one may begin', async () => {
      const boards = await boardsOf(standing(1))
      async function* broken() {
        yield [standing(2)]
        throw new Error('away')
      }
      await expect(boards.build(broken(), RULES)).rejects.toThrow('away')
      expect(await shown(boards, ROI)).toEqual([[1, 1]])
      expect(await boards.build(pages([standing(5)]), RULES)).toBe(1)
      expect(await shown(boards, ROI)).toEqual([[1, 5]])
    })
  })

  it('boards and places equal a sort of all standings, whatever was put in whatever order', async () => {
    const one = fc.record({
      n: fc.integer({ min: 1, max: 12 }),
      district: fc.integer({ min: 1, max: 3 }),
      pnl: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -1e15, max: 1e15 })),
      baseMoves: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -1e15, max: 1e15 })),
      stake: fc.constantFrom(1_000_000, 3_000_000, 500_000_000),
      closed: fc.integer({ min: 1, max: 4 }),
      first: fc.constantFrom(1_780_000_000_000, 1_780_000_000_001),
    })
    const runs = fc.asyncProperty(
      fc.array(one, { maxLength: 30 }),
      fc.integer({ min: 0, max: 10 }),
      async (puts, built) => {
        const known = new Map<string, Standing>()
        const standings = puts.map((put, version) => {
          const made = standing(put.n, {
            version,
            districtId: districtId(put.district),
            pnl: money(put.pnl),
            baseMoves: money(put.baseMoves),
            stake: money(put.stake),
            closed: put.closed,
            wins: 1,
            firstTradeAt: instant(put.first),
          })
          known.set(made.userId, made)
          return made
        })
        const boards = await open()
        await boards.build(pages(standings.slice(0, built)), RULES)
        await boards.put(standings.slice(built))
        for (const by of ['roi', 'pnl'] as const) {
          for (const district of [null, 1, 2, 3]) {
            const board = { by, districtId: district === null ? null : districtId(district) }
            const members = [...known.values()].filter((s) => district === null || s.districtId === district)
            const expected = rankAll(
              by,
              members.toSorted((a, b) => compareStandings(by, a, b)),
            )
            expect(await boards.top(board, 500)).toEqual({ total: members.length, entries: expected })
            for (const { rank, standing: who } of expected) {
              const above = expected.findLast((other) => other.rank < rank) ?? null
              expect(await boards.place(board, who.userId)).toEqual({
                rank,
                standing: who,
                total: members.length,
                next: above,
              })
            }
          }
        }
        await boards.close()
      },
    )
    await fc.assert(runs, { numRuns: 40 })
  })
}
