/**
 * Plants cheats among 500 honest traders, in recordings through the real actor, and says which of them are found:
 *
 *   npm run ops -- integrity [--seeds 3] [--seed 1] [recording …]
 *
 * Without recordings it plays the three bundled ones. Ends with 1 when fewer than 95 % of the cheats are found within
 * 60 s of their tenth opening, or when more than 1 % of the honest are accused.
 */
import { parseArgs } from 'node:util'
import { loadRecording } from '../../../src/replays/recordings.ts'
import { whole } from '../../rehearse/rig/options.ts'
import { recordedMatch } from '../market/league.ts'
import { liveIn } from './town.ts'
import { watch } from './watch.ts'

const BUNDLED = ['cup-night', 'goal-feast', 'slow-burner'].map((name) => `ops/replays/${name}.jsonl.br`)

const { values, positionals } = parseArgs({
  options: { seeds: { type: 'string', default: '3' }, seed: { type: 'string', default: '1' } },
  allowPositionals: true,
})
const seeds = whole('seeds', values.seeds, 1, 1_000)
const from = whole('seed', values.seed, 0)

let isGood = true
console.log('| recording | seed | openings | found | accused | latest alert |\n|---|---|---|---|---|---|')
for (const path of positionals.length > 0 ? positionals : BUNDLED) {
  const fixture = recordedMatch(await loadRecording(path))
  for (let seed = from; seed < from + seeds; seed += 1) {
    const { openings, cheats, found, honest, falseAlarms, latestSecs, missed } = watch(await liveIn(fixture, seed))
    isGood &&= found >= cheats * 0.95 && falseAlarms <= honest * 0.01
    const name = path.split('/').at(-1)?.split('.')[0]
    console.log(
      `| ${name} | ${seed} | ${openings} | ${found} of ${cheats} | ${falseAlarms} of ${honest} | ${latestSecs} s |`,
    )
    if (missed.length > 0) process.stderr.write(`late or not found: ${missed.join(', ')}\n`)
  }
}
process.exitCode = isGood ? 0 : 1
