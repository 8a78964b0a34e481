/** The order of leaderboards: return on investment, win rate, tie-breaks, and ranks shared by ties. */
import type { DistrictId, UserId } from '../kernel/ids.ts'
import { type Money, mulDivNearest, PPM } from '../kernel/micros.ts'
import type { Instant } from '../kernel/world.ts'

/** What a user is ranked by. It exists from their first closed position on. */
export interface Standing {
  readonly userId: UserId
  readonly districtId: DistrictId
  readonly pnl: Money
  /** Σ of what the match alone made of their closed positions. */
  readonly baseMoves: Money
  /** What the ROI divides by (`stakeOf`). */
  readonly stake: Money
  readonly closed: number
  readonly wins: number
  readonly firstTradeAt: Instant
  /** Grows with every change of the career, so that a late update cannot overwrite a newer one. */
  readonly version: number
}

/** A leaderboard: global or of one district, by return on investment or by profit. */
export interface BoardName {
  readonly by: 'roi' | 'pnl'
  readonly districtId: DistrictId | null
}

export interface Ranked {
  readonly rank: number
  readonly standing: Standing
}

/**
 * What a return is measured against: the margin of the closed positions, and never less than the floor. Without a floor
 * one lucky position of a few units would lead, and every further trade would be a mistake.
 */ // R5
export const stakeOf = (margin: Money, floor: Money): Money => (margin > floor ? margin : floor)

/**
 * Σ PnL of base moves ÷ stake, in parts per million: percent with four decimals. Realised PnL also holds what the crowd
 * paid, and throw-away accounts can be that crowd.
 */ // R5
export const roiPpm = ({ baseMoves, stake }: Pick<Standing, 'baseMoves' | 'stake'>): number =>
  stake === 0 ? 0 : mulDivNearest(baseMoves, PPM, stake)

/** Wins ÷ closes in parts per million. */
export const winPpm = ({ wins, closed }: Pick<Standing, 'wins' | 'closed'>): number =>
  closed === 0 ? 0 : mulDivNearest(wins, PPM, closed)

/**
 * The sort key of a leaderboard, most important part first, ascending. By ROI: the higher ROI, then the higher win
 * rate, then the higher profit in units, then the earlier first trade. By profit: profit alone. Equal keys share a
 * rank.
 */
export function rankKey(by: BoardName['by'], standing: Standing): readonly number[] {
  return by === 'pnl' ? [-standing.pnl] : [-roiPpm(standing), -winPpm(standing), -standing.pnl, standing.firstTradeAt]
}

/** Negative when `a` comes first. */
function compareKeys(a: readonly number[], b: readonly number[]): number {
  for (const [n, value] of a.entries()) {
    const other = b[n] ?? 0
    if (value !== other) return value - other
  }
  return 0
}

/** Where a standing is on a board. Others who join or leave do not change it. */
export interface BoardPlace {
  readonly key: readonly number[]
  readonly userId: UserId
}

export const boardPlace = (by: BoardName['by'], standing: Standing): BoardPlace => ({
  key: rankKey(by, standing),
  userId: standing.userId,
})

/** The order of a leaderboard: by key, and equal keys by user id, so that all readers see the same. */
export const compareStandings = (by: BoardName['by'], a: Standing, b: Standing): number =>
  comparePlaces(boardPlace(by, a), boardPlace(by, b))

export const comparePlaces = (a: BoardPlace, b: BoardPlace): number =>
  compareKeys(a.key, b.key) || (a.userId < b.userId ? -1 : a.userId > b.userId ? 1 : 0)

/** The start of a page: the place of its first standing, and its rank, which may be shared with earlier ones. */
export interface PageStart {
  readonly place: number
  readonly rank: number
}

/** Ranks of standings in their order: 1, 2, 2, 4. */
export function rankAll(
  by: BoardName['by'],
  inOrder: readonly Standing[],
  first: PageStart = { place: 1, rank: 1 },
): Ranked[] {
  const ranked: Ranked[] = []
  for (const standing of inOrder) {
    const before = ranked.at(-1)
    const tied = before !== undefined && compareKeys(rankKey(by, before.standing), rankKey(by, standing)) === 0
    const own = before === undefined ? first.rank : first.place + ranked.length
    ranked.push({ rank: tied ? before.rank : own, standing })
  }
  return ranked
}

/** A district's score: the average ROI of its ranked members. */
export interface DistrictScore {
  readonly districtId: DistrictId
  readonly members: number
  /** Σ of their ROI in parts per million. */
  readonly roiPpmSum: number
}

export interface RankedDistrict {
  readonly districtId: DistrictId
  readonly members: number
  /** Both null while the district has no ranked member. */
  readonly rank: number | null
  readonly roiPpm: number | null
}

/** Districts by average ROI. Equal ones share a rank; those without a ranked member come last. */
export function rankDistricts(scores: readonly DistrictScore[]): RankedDistrict[] {
  const averages = scores
    .map(({ districtId, members, roiPpmSum }) => ({
      districtId,
      members,
      roiPpm: members === 0 ? null : Math.round(roiPpmSum / members),
    }))
    .toSorted((a, b) => (b.roiPpm ?? -Infinity) - (a.roiPpm ?? -Infinity) || a.districtId - b.districtId)
  const ranked: RankedDistrict[] = []
  for (const average of averages) {
    const before = ranked.at(-1)
    const rank = before?.roiPpm === average.roiPpm ? before.rank : ranked.length + 1
    ranked.push({ ...average, rank: average.roiPpm === null ? null : rank })
  }
  return ranked
}
