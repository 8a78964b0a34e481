/**
 * Fits what the price model expects of a player beforehand, from simulated matches or recordings:
 *
 *   npm run ops -- market-fit [--matches 200] [--seed 1000]
 *
 * Prices every match with no expectation of the player's own, and explains by least squares, for each role, the points per 90
 * minutes that were left at full time with a constant, ln(start ÷ anchor), ln(own goals ÷ 1.35) and ln(other goals ÷ 1.35).
 * Prints the settings that take them out.
 */
import { parseArgs } from 'node:util'
import { present } from '../../../actors/kernel/assert.ts'
import { ANCHOR_BY_ROLE, DEFAULT_RULES } from '../../../actors/kernel/limits.ts'
import type { PlayerRole } from '../../../actors/market/fixture.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../../actors/market/pricing.ts'
import { whole } from '../../rehearse/rig/options.ts'
import { leagueMatch } from './league.ts'
import { play } from './play.ts'

const ROLES: readonly PlayerRole[] = ['GK', 'DEF', 'MID', 'FWD']
const FACTORS = ['constant', 'worth', 'goals', 'conceded'] as const
const none = { GK: 0, DEF: 0, MID: 0, FWD: 0 }
const BARE: ScoringModel = { ...DEFAULT_MODEL, tickCap: 1, parBy: { worth: none, goals: none, conceded: none } }
/** Players with fewer minutes say little about ninety. */
const MINUTES_MIN = 45

interface Row {
  readonly x: readonly number[]
  readonly points: number
  readonly weight: number
}

const { values } = parseArgs({
  options: { matches: { type: 'string', default: '200' }, seed: { type: 'string', default: '1000' } },
})
const matches = whole('matches', values.matches, 1, 10_000)
const seed = whole('seed', values.seed, 0)

const rows: Record<PlayerRole, Row[]> = { GK: [], DEF: [], MID: [], FWD: [] }
for (let n = 0; n < matches; n += 1) {
  const { fixture, goalsOf } = leagueMatch(seed + n)
  const { bases, instruments, minutes } = play({ fixture, model: BARE, rules: DEFAULT_RULES, strategies: [] })
  const last = present(bases.at(-1), 'last update')
  for (const { id, start, role, side, starter } of instruments) {
    const played = minutes.get(id) ?? 0
    if (!starter || played < MINUTES_MIN) continue
    const { bound } = BARE
    const ratio = Math.log((last.get(id) ?? start) / start) / bound
    const points = (100 * bound * Math.atanh(Math.max(-0.999, Math.min(0.999, ratio))) * 90) / played
    const [own, other] = side === 'home' ? [goalsOf.home, goalsOf.away] : [goalsOf.away, goalsOf.home]
    const x = [1, Math.log(start / ANCHOR_BY_ROLE[role]), Math.log(own / 1.35), Math.log(other / 1.35)]
    rows[role].push({ x, points, weight: played / 90 })
  }
}
for (const role of ROLES) {
  const fitted = leastSquares(rows[role])
  console.log(`${role}: ${rows[role].length} players`)
  for (const [n, factor] of FACTORS.entries()) console.log(`  ${factor}: ${fitted[n]?.toFixed(3)}`)
}

/** Weighted least squares by the normal equations, which Gaussian elimination solves. */
function leastSquares(data: readonly Row[]): readonly number[] {
  const size = FACTORS.length
  const matrix = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size + 1 }, (_unused, j) =>
      data.reduce((sum, { x, points, weight }) => sum + weight * (x[i] ?? 0) * (j === size ? points : (x[j] ?? 0)), 0),
    ),
  )
  for (let column = 0; column < size; column += 1) {
    const pivot = present(matrix[column], 'row')
    const divisor = pivot[column] ?? 0
    for (let j = column; j <= size; j += 1) pivot[j] = (pivot[j] ?? 0) / divisor
    for (const [i, row] of matrix.entries()) {
      const factor = row[column] ?? 0
      if (i === column) continue
      for (let j = column; j <= size; j += 1) row[j] = (row[j] ?? 0) - factor * (pivot[j] ?? 0)
    }
  }
  return matrix.map((row) => row[size] ?? 0)
}
