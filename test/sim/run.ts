/** `npm run sim -- [--seed 1] [--steps 1000] [--seeds 1] [--quiet]`: runs seeds one after the other until one fails. */
import { parseArgs } from 'node:util'
import { simulate, SimulationFailed } from './simulate.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    steps: { type: 'string', default: '1000' },
    seeds: { type: 'string', default: '1' },
    quiet: { type: 'boolean', default: false },
  },
})

const steps = Number(values.steps)
const from = Number(values.seed)
const totals = new Map<string, number>()
for (let seed = from; seed < from + Number(values.seeds); seed++) {
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
