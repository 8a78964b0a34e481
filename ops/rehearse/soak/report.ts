/** What a soak has found: whether anything grows, as a page with a table. */
import type { Holdings } from '../rig/inspector.ts'
import type { LoadTally } from '../load/tally.ts'

/** Without users, after a garbage collection. */
export interface Quiet extends Holdings {
  readonly minute: number
}

export interface Soaked {
  readonly minutes: number
  readonly users: number
  readonly sockets: number
  readonly trades: number
  /** Seconds that users stay. */
  readonly stretch: number
  readonly stores: string
  readonly cores: number
  readonly quiets: readonly Quiet[]
  readonly counts: LoadTally['counts']
  /** What else was wrong. */
  readonly troubles: string[]
}

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
  if (warm === null) return ['too short for a verdict', ...soaked.troubles]
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

export function markdown(soaked: Soaked): string {
  const { minutes, users, sockets, trades, stretch, stores, cores, quiets, counts } = soaked
  const kinds = [...new Set(quiets.flatMap(({ resources }) => Object.keys(resources)))].toSorted()
  const rows = quiets.map((quiet) => [
    quiet.minute.toFixed(1),
    mib(quiet.heap),
    mib(quiet.resident),
    ...kinds.map((kind) => String(quiet.resources[kind] ?? 0)),
  ])
  const [verdict, ...wrong] = conclusion(soaked)
  return `# Soak

One process on ${stores}, with a recorded match in a loop at ten times real speed and twenty simulated traders.
For ${stretch} seconds at a time, ${users} users with ${sockets} sockets (10 instruments each) make ${trades} trades a
second and lose each connection once a minute; then all leave. ${cores} cores, shared with other programs.
${minutes.toFixed(0)} minutes:
${number(counts.opened)} positions opened, ${number(counts.closed)} closed, ${number(counts.prices)} prices received over
${number(counts.connections)} connections, ${counts.gaps + counts.accountGaps} gaps.

**${verdict}.**${wrong.map((line) => `\n- ${line}`).join('')}

Without users, after a garbage collection:

| ${['minute', 'heap MiB', 'resident MiB', ...kinds].join(' | ')} |
|${'---|'.repeat(kinds.length + 3)}
${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}

Made by \`npm run ops -- soak --minutes ${Math.round(minutes)} --users ${users} --sockets ${sockets} --trades ${trades} --stretch ${stretch}\`.
`
}

const mib = (bytes: number): string => (bytes / MIB).toFixed(1)
const number = (value: number): string => value.toLocaleString('en-GB')
