/**
 * Plays recordings with traders that follow a strategy, through the rules and the actor of the game:
 *
 *   npm run ops -- backtest ops/examples/strategy.ts [--recordings a.jsonl.br,b.jsonl.br] [--traders 500]
 *     [--json report.json]
 *
 * Without recordings it plays the bundled ones. A recording that was downloaded from a server works
 * too. `--json` writes everything, the equity of every trader minute by minute included. Prices, fills and refusals
 * repeat from run to run.
 */
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { listRecordings, loadRecording } from '../../src/replays/recordings.ts'
import { recordedMatch } from '../../src/match-run/recorded-match.ts'
import { whole } from '../rehearse/rig/options.ts'
import { backtest, type BacktestResult } from './backtest.ts'
import { described } from './report.ts'
import { loadStrategy } from './strategy.ts'

const { values, positionals } = parseArgs({
  options: {
    recordings: { type: 'string' },
    traders: { type: 'string', default: '500' },
    json: { type: 'string' },
  },
  allowPositionals: true,
})
const [file] = positionals
if (file === undefined || positionals.length > 1) {
  console.error('npm run ops -- backtest <strategy.ts> [--recordings …] [--traders 500] [--json …]')
  process.exit(2)
}
const traders = whole('traders', values.traders, 1, 5_000)
const strategy = await loadStrategy(file)
/** npm changes the directory: a path is meant from where the command was given. */
const here = (path: string): string => resolve(process.env['INIT_CWD'] ?? process.cwd(), path)
const bundled = await listRecordings(join(import.meta.dirname, '../replays'))
const paths = values.recordings?.split(',').map(here) ?? bundled.map(({ path }) => path)

const results: (BacktestResult & { readonly recording: string })[] = []
for (const path of paths) {
  const recording = await loadRecording(path)
  const before = performance.now()
  const result = await backtest(recordedMatch(recording, `backtest/${recording.name}`), strategy, traders)
  console.log(described(recording.name, result, performance.now() - before))
  results.push({ recording: recording.name, ...result })
}
if (values.json !== undefined) await writeFile(here(values.json), `${JSON.stringify(results, null, 1)}\n`)
