/** What a soak has found: whether anything grows, with a table. */
import { table } from '../../bench/report.ts'
import type { Holdings } from '../rig/inspector.ts'
import type { LoadTally } from '../load/tally.ts'

/** Without users, after a garbage collection. */
export interface Quiet extends Holdings {
  readonly minute: number
}

export interface Soaked {
  readonly quiets: readonly Quiet[]
  readonly counts: LoadTally['counts']
  /** What else was wrong. */
  readonly troubles: string[]
}

export const TOO_SHORT = 'too short for a verdict'
const MIB = 2 ** 20
/** The first stretches fill caches and pools, and compile hot code. */
const WARM_PART = 1 / 4
/** Allowed growth after the warm-up: the heap varies with what is cached. */
const HEAP_GROWTH_MAX = 1.15
/** Allowed growth in number: pools open and close timers and sockets. A leak in each stretch would exceed it. */
const LEFT_OVER_MAX = 8

/** The first and last samples of a warm server. */
function ends({ quiets }: Soaked): readonly [Quiet, Quiet] | null {
  const first = quiets[Math.ceil(quiets.length * WARM_PART)]
  const last = quiets.at(-1)
  return first === undefined || last === undefined || first === last ? null : [first, last]
}

/** A first line with the verdict on growth, then one line for each thing that was wrong. */
export function conclusion(soaked: Soaked): string[] {
  const warm = ends(soaked)
  if (warm === null) return [TOO_SHORT, ...soaked.troubles]
  const [first, last] = warm
  const kinds = new Set([...Object.keys(first.resources), ...Object.keys(last.resources)])
  const grown = [...kinds].flatMap((kind) => {
    const [then, now] = [first.resources[kind] ?? 0, last.resources[kind] ?? 0]
    return now - then > LEFT_OVER_MAX ? [`${kind} grew from ${then} to ${now}`] : []
  })
  const heap =
    last.heap > first.heap * HEAP_GROWTH_MAX ? [`the heap grew from ${mib(first.heap)} to ${mib(last.heap)} MiB`] : []
  const wrong = [...heap, ...grown, ...soaked.troubles]
  const change = ((last.heap / first.heap - 1) * 100).toFixed(1)
  const verdict = heap.length + grown.length === 0 ? 'flat' : 'not flat'
  return [
    `${verdict}: from minute ${first.minute.toFixed(0)} to ${last.minute.toFixed(0)} the heap went from ${mib(first.heap)} to ` +
      `${mib(last.heap)} MiB (${change} %), resident memory from ${mib(first.resident)} to ${mib(last.resident)} MiB`,
    ...wrong,
  ]
}

export function describe(soaked: Soaked): string {
  const { quiets, counts } = soaked
  const kinds = [...new Set(quiets.flatMap(({ resources }) => Object.keys(resources)))].toSorted()
  const rows = quiets.map((quiet) => [
    quiet.minute.toFixed(1),
    mib(quiet.heap),
    mib(quiet.resident),
    ...kinds.map((kind) => String(quiet.resources[kind] ?? 0)),
  ])
  return [
    `${counts.opened} opened, ${counts.closed} closed, ${counts.prices} prices over`,
    `${counts.connections} connections, ${counts.gaps + counts.accountGaps} gaps`,
    'Without users, after a garbage collection:',
    table(['minute', 'heap MiB', 'resident MiB', ...kinds], rows),
    ...conclusion(soaked),
  ].join('\n')
}

const mib = (bytes: number): string => (bytes / MIB).toFixed(1)
