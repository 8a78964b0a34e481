/** `npm run sim -- [--seed 1] [--steps 1000] [--seeds 1] [--quiet]`: runs seeds one after the other until one fails. */
import { parseArgs } from 'node:util'
import { whole } from '../../ops/rehearse/rig/options.ts'
import { simulate, SimulationFailed } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '1000' },
    seeds: { type: 'string', default: '1' },
    quiet: { type: 'boolean', default: false },
  },
})

const steps = whole('steps', values.steps, 1)
const from = whole('seed', values.seed, 0)
const seeds = whole('seeds', values.seeds, 1)
const totals = new Map<string, number>()
for (let seed = from; seed < from + seeds; seed++) {
  try {
    const { digest, counts } = await simulate({ seed, steps })
    if (!values.quiet) console.log(`seed ${seed} ${digest.slice(0, 16)}`)
    for (const [what, n] of Object.entries(counts)) totals.set(what, (totals.get(what) ?? 0) + n)
  } catch (error) {
    if (!(error instanceof SimulationFailed)) throw error
    console.error(error.message)
    if (error.invariant === null) console.error(error.cause)
    process.exit(1)
  }
}
for (const [what, n] of [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1))) console.log(`${what}: ${n}`)
