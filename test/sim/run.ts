/** `npm run sim -- [--seed 1] [--steps 1000] [--seeds 1] [--quiet]`: runs seeds one after the other until one fails. */
import { numbers } from '../../ops/rehearse/rig/options.ts'
import { simulate, SimulationFailed } from './simulate.ts'

const {
  seed: from,
  steps,
  seeds,
  quiet,
} = numbers({ seed: [1, 0], steps: [1_000, 1], seeds: [1, 1] }, { quiet: { type: 'boolean', default: false } })

const totals = new Map<string, number>()
for (let seed = from; seed < from + seeds; seed++) {
  try {
    const { digest, counts } = await simulate({ seed, steps })
    if (!quiet) console.log(`seed ${seed} ${digest.slice(0, 16)}`)
    for (const [what, n] of Object.entries(counts)) totals.set(what, (totals.get(what) ?? 0) + n)
  } catch (error) {
    if (!(error instanceof SimulationFailed)) throw error
    console.error(error.message)
    if (error.invariant === null) console.error(error.cause)
    process.exit(1)
  }
}
for (const [what, n] of [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1))) console.log(`${what}: ${n}`)
