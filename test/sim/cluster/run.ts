/**
 * `npm run ops -- sim-cluster [--seed 1] [--seeds 10] [--processes 40] [--matches 200] [--quiet]`: runs seeds one after
 * the other until one fails. Then it reports how long matches were without an owner, how matches were spread, and the
 * busiest second of each phase.
 */
import { numbers } from '../../../ops/rehearse/rig/options.ts'
import { figure, table } from '../../../ops/bench/report.ts'
import { GAP_MAX_MS } from './gaps.ts'
import { LIMITS, PHASES } from './load.ts'
import { ClusterFailed, type ClusterReport, simulateCluster } from './simulation.ts'

const {
  seed: from,
  seeds,
  processes,
  matches,
  quiet,
} = numbers(
  { seed: [1, 0], seeds: [10, 1], processes: [40, 4, 200], matches: [200, 1, 2_000] },
  { quiet: { type: 'boolean', default: false } },
)

const reports: ClusterReport[] = []
for (let seed = from; seed < from + seeds; seed++) {
  try {
    reports.push(await simulateCluster({ seed, processes, matches }))
    if (!quiet) console.log(`seed ${seed} holds`)
  } catch (error) {
    if (!(error instanceof ClusterFailed)) throw error
    console.error(error.message)
    if (error.invariant === 'crash') console.error(error.cause)
    process.exit(1)
  }
}

const quantile = (sorted: readonly number[], q: number): string =>
  sorted.length === 0 ? '–' : figure(sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0)
const gaps = (['killed', 'crowd', 'lost', 'drained'] as const).map((loss) => {
  const sorted = reports.flatMap((report) => report.gaps[loss]).toSorted((a, b) => a - b)
  const figures = [0.5, 0.99, 1].map((q) => quantile(sorted, q))
  return [loss, figure(sorted.length), ...figures, figure(GAP_MAX_MS[loss])]
})
const most = (read: (report: ClusterReport) => number): string => figure(Math.max(...reports.map(read)))
const peaks = PHASES.map((phase) => [
  phase,
  ...(['statements', 'messages'] as const).flatMap((resource) => [
    most(({ peaks: { [resource]: of } }) => of[phase]?.mean ?? 0),
    most(({ peaks: { [resource]: of } }) => of[phase]?.process ?? 0),
    figure(LIMITS[resource](phase, { processes, matches })),
  ]),
])
const counts = new Map<string, number>()
for (const report of reports) {
  for (const [what, n] of Object.entries(report.counts)) counts.set(what, (counts.get(what) ?? 0) + n)
}
console.log(`\n${seeds} seeds, ${processes} processes, ${matches} matches. Milliseconds without an owner:\n`)
console.log(table(['owner', 'matches', 'p50', 'p99', 'most', 'bound'], gaps))
console.log('\nIn the busiest second of a process; mean of all, most of one, bound:\n')
console.log(table(['phase', 'statements', 'most', 'bound', 'messages', 'most', 'bound'], peaks))
console.log(
  `\nThe most matches of one process in a quiet time: ${most(({ spreads }) => Math.max(...spreads))} × the mean\n`,
)
for (const [what, n] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) console.log(`${what}: ${n}`)
