/** What two runs of a benchmark are compared by. */
import { type Spread, spreadOf } from './report.ts'

/** Figures of which more is better, and of which less is. Latencies depend on the load that is reached. */
const MORE = new Set(['perSecond', 'perCoreSecond', 'ratio', 'timesNaive', 'timesPgbench'])
const LESS = new Set(['nodeMicros', 'logBytes'])

/** The compared figures of a benchmark's JSON by their path, whose last word is their kind; of a spread the median. */
export function figuresOf(report: unknown): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const look = (value: unknown, path: readonly string[]): void => {
    const kind = path.at(-1) ?? ''
    const figure = MORE.has(kind) || LESS.has(kind) ? medianOf(value) : null
    if (figure !== null) found.set(path.join(' '), figure)
    else if (Array.isArray(value))
      for (const [n, item] of value.entries()) look(item, [...path, nameOf(item) ?? `${n}`])
    else if (isRecord(value)) for (const [key, item] of Object.entries(value)) look(item, [...path, key])
  }
  look(report, [])
  return found
}

/** How many times as good a figure has become. */
export const gainOf = (name: string, then: number, now: number): number =>
  LESS.has(name.split(' ').at(-1) ?? '') ? then / now : now / then

/** The gains of all rounds. Throws without any: two reports that have no figure in common show nothing. */
export function spreadsOf(gains: ReadonlyMap<string, readonly number[]>): { name: string; gain: Spread }[] {
  if (gains.size === 0) throw new Error('no figure is in both reports: nothing was compared')
  return Array.from(gains, ([name, all]) => ({ name, gain: spreadOf(all) }))
}

const medianOf = (value: unknown): number | null =>
  typeof value === 'number' ? value : isRecord(value) && typeof value['median'] === 'number' ? value['median'] : null

function nameOf(item: unknown): string | null {
  if (!isRecord(item)) return null
  const { name, connections } = item
  return typeof name === 'string' ? name : typeof connections === 'number' ? `${connections} connections` : null
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
