/**
 * Runs a benchmark of this tree and of a stored commit in turn, and says what has become slower by a tenth.
 *
 *   npm run ops -- bench-compare trade|http|fanout [--from <commit>] [--rounds 5] [--json] [-- its options]
 *
 * A round runs both, each first in every other round; figures are compared within a round, because the speed of a
 * machine changes by more than a tenth within minutes. Without `--from` the commit is `BASELINE`; a measurement for
 * docs/measured.md stores its own. It reports and is not a gate: the exit code is 0 unless a benchmark fails.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { THIS_TREE } from '../rehearse/rig/bare-environment.ts'
import { refuse, whole } from '../rehearse/rig/options.ts'
import { checkOut, commitNamed, removeCheckout } from '../rehearse/upgrade/trees.ts'
import { figuresOf, gainOf, spreadsOf } from './compared.ts'
import { table, withSpread } from './report.ts'

const BASELINE = 'ab137870'
const BENCHES = ['trade', 'http', 'fanout']
/** Slower by this is marked. */
const NOTABLE = 0.1
const run = promisify(execFile)

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    from: { type: 'string', default: BASELINE },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
})
const [bench = '', ...rest] = positionals
if (!BENCHES.includes(bench)) refuse(`name a benchmark: ${BENCHES.join(', ')}`)
const rounds = whole('rounds', values.rounds, 1, 100)
commitNamed(values.from)

async function measure(tree: string): Promise<ReadonlyMap<string, number>> {
  const options = ['--min-semi-space-size=64', '--max-semi-space-size=64', join(tree, `ops/bench/${bench}.ts`)]
  const { stdout } = await run(process.execPath, [...options, '--json', '--rounds', '1', ...rest], {
    cwd: tree,
    maxBuffer: 16 * 1024 * 1024,
  })
  return figuresOf(JSON.parse(stdout))
}

const before = mkdtempSync(join(tmpdir(), 'touchline-compare-'))
const gains = new Map<string, number[]>()
try {
  const ref = checkOut(values.from, before)
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`)
    const trees = round % 2 === 0 ? [before, THIS_TREE] : [THIS_TREE, before]
    const found = new Map<string, ReadonlyMap<string, number>>()
    for (const tree of trees) found.set(tree, await measure(tree))
    for (const [name, now] of found.get(THIS_TREE) ?? []) {
      const then = found.get(before)?.get(name)
      if (then !== undefined) gains.set(name, [...(gains.get(name) ?? []), gainOf(name, then, now)])
    }
  }
  const spreads = spreadsOf(gains)
  const slower = spreads.filter(({ gain }) => gain.median < 1 - NOTABLE)
  const rows = spreads.map((one) => [one.name, withSpread(one.gain), slower.includes(one) ? 'slower' : ''])
  const text = [
    `bench:${bench}, this tree as a multiple of ${ref}: median (min..max) of ${rounds} rounds; below 1 is slower`,
    table(['', '×', ''], rows),
    slower.length === 0
      ? 'Nothing is slower by a tenth.'
      : `${slower.length} of ${spreads.length} are slower by a tenth.`,
  ]
  console.log(values.json ? JSON.stringify({ bench, ref, rounds, gains: spreads }) : text.join('\n'))
} finally {
  removeCheckout(before)
}
