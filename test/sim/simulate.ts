/** Runs a seed from beginning to end, and reports the first violation. */
import { type Report, Simulation } from './simulation.ts'
import { type Invariant, INVARIANTS, Violation } from './violation.ts'

export interface SimulationOptions {
  readonly seed: number
  readonly steps: number
}

export class SimulationFailed extends Error {
  override name = 'SimulationFailed'
  readonly invariant: Invariant | null
  readonly step: number

  constructor(options: SimulationOptions, step: number, cause: unknown, lines: readonly string[]) {
    const invariant = cause instanceof Violation ? cause.invariant : null
    const rule = invariant === null ? '' : `\n  ${invariant}: ${INVARIANTS[invariant]}`
    const what = cause instanceof Error ? cause.message : String(cause)
    super(`seed ${options.seed}, step ${step}: ${what}${rule}\n  ${lines.join('\n  ')}`, { cause })
    this.invariant = invariant
    this.step = step
  }
}

/** Runs a seed. Rejects with SimulationFailed on a violation. */
export async function simulate(options: SimulationOptions): Promise<Report> {
  const simulation = new Simulation(options.seed)
  try {
    while (simulation.step < options.steps) await simulation.next()
    await simulation.finish()
    return simulation.report()
  } catch (error) {
    throw new SimulationFailed(options, simulation.step, error, simulation.lastLines)
  }
}
