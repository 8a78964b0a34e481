/**
 * Plays matches with a battery of strategies through the real parser, model, rules and actor, and says what each of
 * them earns:
 *
 *   npm run ops -- market [--matches 60] [--seed 1] [--workers 1] [recording …]
 *
 * Simulated league matches of the seeds from `--seed` on, and the recordings whose paths are given. Ends with 1 when a
 * strategy earns what the rules promise that nobody earns, or when they cost honest users too much.
 */
import { parseArgs } from 'node:util'
import { whole } from '../../rehearse/rig/options.ts'
import { beats, isDear, isWhistleUnfair, linesOf, tableOf, whistleOf } from './report.ts'
import { playAll, type Source } from './season.ts'
import { describeSwings } from './swings.ts'

const { values, positionals } = parseArgs({
  options: {
    matches: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
  },
  allowPositionals: true,
})
const matches = whole('matches', values.matches, 0, 10_000)
const seed = whole('seed', values.seed, 0)
const workers = whole('workers', values.workers, 1, 64)

const sources: readonly Source[] = [...Array.from({ length: matches }, (_, n) => seed + n), ...positionals]
const results = await playAll(sources, workers, (done) => process.stderr.write(`\rmatch ${done} of ${sources.length}`))
process.stderr.write('\n')
const lines = linesOf(results)
console.log(`${tableOf(lines)}\n\n${whistleOf(lines)}\n${describeSwings(results.flatMap(({ swings }) => swings))}`)
process.exitCode = isWhistleUnfair(lines) || lines.some((line) => beats(line) || isDear(line)) ? 1 : 0
