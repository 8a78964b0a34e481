/**
 * Fits what the price model expects of a player beforehand, from simulated matches:
 *
 *   npm run ops -- market-fit [--matches 400] [--seed 100000] [--check 400]
 *
 * Explains by least squares, for each role, what prices have gained at full time with a constant, ln(start ÷ anchor),
 * ln(own goals ÷ 1.35), ln(other goals ÷ 1.35) and ln(own men ÷ other men), and prints the settings that take it
 * out. Then it prints what bets at kick-off earn with the present settings and with those, in as many other matches as
 * `--check` says: a fit that does not help there has learnt noise.
 */
import { present } from '../../../actors/kernel/assert.ts'
import type { PlayerRole } from '../../../actors/market/fixture.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../../actors/market/pricing.ts'
import { numbers } from '../../rehearse/rig/options.ts'
import { leagueResult } from './league.ts'
import type { Fixture } from './play.ts'
import { BETS, type Ended, returnOf, startersAtEnd } from './results.ts'

const ROLES: readonly PlayerRole[] = ['GK', 'DEF', 'MID', 'FWD']
const FACTORS = ['worth', 'goals', 'conceded', 'men'] as const
/** Prices are not quite straight in points, so what is left is fitted again. */
const ROUNDS = 3
const GOALS_USUAL = 1.35

const { matches, seed, check } = numbers({
  matches: [400, 1, 10_000],
  seed: [100_000, 0],
  check: [400, 0, 10_000],
})

const draw = (from: number, count: number): readonly Fixture[] =>
  Array.from({ length: count }, (_, n) => leagueResult(from + n))
const ended = (fixtures: readonly Fixture[], model: ScoringModel) =>
  fixtures.map((fixture) => startersAtEnd(fixture, model))

const fixtures = draw(seed, matches)
let fitted: ScoringModel = DEFAULT_MODEL
for (let round = 0; round < ROUNDS; round += 1) fitted = corrected(fitted, ended(fixtures, fitted).flat())
for (const role of ROLES) {
  const { par, parBy } = fitted
  const settings = [`par ${par[role].toFixed(3)}`, ...FACTORS.map((f) => `${f} ${parBy[f][role].toFixed(2)}`)]
  console.log(`${role}: ${settings.join(', ')}`)
}
const others = draw(seed + matches, check)
const [now, then] = [ended(others, DEFAULT_MODEL), ended(others, fitted)]
console.log(`\nreturn on margin in ${check} other matches, now and with these settings, %`)
for (const [name, bet] of Object.entries(BETS)) {
  const [before, after] = [returnOf(bet, now), returnOf(bet, then)]
  const text = ({ roiPct, errorPct }: typeof before) => `${roiPct.toFixed(1)} ± ${errorPct.toFixed(1)}`.padStart(12)
  console.log(`${name.padEnd(40)} ${text(before)} ${text(after)}`)
}

/** The model that expects of everybody what these matches have shown beyond what it expected. */
function corrected(model: ScoringModel, players: readonly Ended[]): ScoringModel {
  const par = { ...model.par }
  const parBy = {
    worth: { ...model.parBy.worth },
    goals: { ...model.parBy.goals },
    conceded: { ...model.parBy.conceded },
    men: { ...model.parBy.men },
  }
  for (const role of ROLES) {
    const rows = players.filter((player) => player.role === role && player.minutes > 0)
    const [constant, worth, goals, conceded, men] = leastSquares(rows.map((player) => rowOf(player, model.scale)))
    par[role] += (constant ?? 0) / model.volumeGain
    parBy.worth[role] += worth ?? 0
    parBy.goals[role] += goals ?? 0
    parBy.conceded[role] += conceded ?? 0
    parBy.men[role] += men ?? 0
  }
  return { ...model, par, parBy }
}

interface Row {
  readonly x: readonly number[]
  readonly y: number
  readonly weight: number
}

/** In points per 90 minutes. With these weights the mean gain is taken out, whatever the minutes. */
function rowOf({ worth, goals, gain, minutes, uneven }: Ended, scale: number): Row {
  return {
    x: [1, worth, Math.log(goals.own / GOALS_USUAL), Math.log(goals.other / GOALS_USUAL), uneven / minutes],
    y: (((100 * gain) / scale) * 90) / minutes,
    weight: minutes / 90,
  }
}

/** Weighted least squares by the normal equations, which Gaussian elimination solves. */
function leastSquares(rows: readonly Row[]): readonly number[] {
  const size = 1 + FACTORS.length
  const matrix = Array.from({ length: size }, (_, i) =>
    Array.from({ length: size + 1 }, (_unused, j) =>
      rows.reduce((sum, { x, y, weight }) => sum + weight * (x[i] ?? 0) * (j === size ? y : (x[j] ?? 0)), 0),
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
