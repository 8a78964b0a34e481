/**
 * Plays simulated matches with a battery of strategies and says what each of them earns:
 *
 *   npm run ops -- market [--matches 60] [--seed 1] [--late-statistics 0]
 *
 * `--late-statistics` holds the players' statistics back by that many seconds. Ends with 1 when a strategy that knows nothing
 * but the feed beats the market.
 */
import { parseArgs } from 'node:util'
import { DEFAULT_RULES } from '../../../actors/kernel/limits.ts'
import { DEFAULT_MODEL } from '../../../actors/market/pricing.ts'
import { whole } from '../../rehearse/rig/options.ts'
import { leagueMatch } from './league.ts'
import { play, type Strategy, type Trade } from './play.ts'
import { withLateStatistics } from './plot.ts'
import { beats, lineOf, tableOf } from './report.ts'
import { describeSwings, type Swing, swingsOf } from './swings.ts'
import { battery } from './strategies.ts'

const { values } = parseArgs({
  options: {
    matches: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    'late-statistics': { type: 'string', default: '0' },
  },
})
const matches = whole('matches', values.matches, 1, 10_000)
const seed = whole('seed', values.seed, 0)
const lateUpdates = Math.round(whole('late-statistics', values['late-statistics'], 0, 600) / 10)

const played: (readonly Trade[])[] = []
const swings: Swing[] = []
let strategies: readonly Strategy[] = []
for (let n = 0; n < matches; n += 1) {
  const match = leagueMatch(seed + n)
  strategies = battery({ ...match, levelDistancePpm: 0, seed: seed + n })
  const snapshots = withLateStatistics(match.fixture.snapshots, lateUpdates)
  const fixture = { ...match.fixture, snapshots }
  const result = play({ fixture, model: DEFAULT_MODEL, rules: DEFAULT_RULES, strategies })
  played.push(result.trades)
  swings.push(...swingsOf(result))
  if (process.stderr.isTTY) process.stderr.write(`\rmatch ${n + 1} of ${matches}`)
}
if (process.stderr.isTTY) process.stderr.write('\r')
const lines = strategies.map((strategy) => lineOf(strategy, played))
console.log(`${tableOf(lines)}\n\n${describeSwings(swings)}`)
process.exitCode = lines.some((line) => line.knows === 'public' && beats(line)) ? 1 : 0
