/**
 * Plays matches with a battery of strategies through the real parser, model, rules and actor, and says what each of
 * them earns:
 *
 *   npm run ops -- market [--matches 60] [--seed 1] [--workers 1] [--protection off|on|both] [recording …]
 *
 * Simulated league matches of the seeds from `--seed` on, and the recordings whose paths are given. The feed tells each
 * match in time, and then late and wrongly in several ways. `--protection` names the rules, `both` plays all of them.
 * Ends with 1 when a strategy earns what the rules promise that nobody earns, or when they are unfair to honest users.
 * One row in forty passes two standard errors by chance, and there are hundreds. If one passes, as many matches again
 * are played, of the seeds that follow, and a row is marked that passes both at first and over all of them.
 */
import { parseArgs } from 'node:util'
import { refuse, whole } from '../../rehearse/rig/options.ts'
import { MODES } from './modes.ts'
import { feedTableOf, isWhistleUnfair, linesOf, suspectsIn, tableOf, whistleOf } from './report.ts'
import { playAll, type Source } from './season.ts'
import { describeSwings } from './swings.ts'

const { values, positionals } = parseArgs({
  options: {
    matches: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '1' },
    protection: { type: 'string', default: 'off' },
  },
  allowPositionals: true,
})
const matches = whole('matches', values.matches, 0, 10_000)
const seed = whole('seed', values.seed, 0)
const workers = whole('workers', values.workers, 1, 64)

const modes = Object.entries(MODES).filter(([name]) => values.protection === 'both' || values.protection === name)
if (modes.length === 0) throw new Error(`--protection must be ${Object.keys(MODES).join(', ')} or both`)

const first: readonly Source[] = [...Array.from({ length: matches }, (_, n) => seed + n), ...positionals]
if (first.length === 0) refuse('--matches 0 needs a recording: no match would be played')
const second: readonly Source[] = Array.from({ length: matches }, (_, n) => seed + matches + n)
let isSound = true
for (const [name, mode] of modes) {
  const play = (sources: readonly Source[]) =>
    playAll(sources, { workers, mode: name }, (done) =>
      process.stderr.write(`\rmatch ${done} of ${sources.length}, protection ${name} `),
    )
  const results = [...(await play(first))]
  const suspects = suspectsIn(linesOf(results), mode)
  if (suspects.size > 0) results.push(...(await play(second)))
  const lines = linesOf(results)
  const marked = suspects.intersection(suspectsIn(lines, mode))
  console.log(`\nProtection ${name}, ${results.length} matches\n`)
  console.log(`${tableOf(lines, marked)}\n\n${feedTableOf(lines, marked)}\n`)
  if (suspects.size > 0) console.log(`Passed the bound in the first ${first.length}: ${[...suspects].join('; ')}.`)
  console.log(`Marked: ${[...marked].join('; ') || 'none'}.`)
  console.log(`${whistleOf(lines)}\n${describeSwings(results.flatMap(({ swings }) => swings))}`)
  isSound &&= !isWhistleUnfair(lines) && marked.size === 0
}
process.exitCode = isSound ? 0 : 1
