/** Reads metrics in Prometheus's text format. */

/** Values by name with labels, `touchline_sockets{door="feed"}`. */
export type Metrics = ReadonlyMap<string, number>

export function parseMetrics(text: string): Metrics {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ')
      return [line.slice(0, space), Number(line.slice(space + 1))]
    }),
  )
}

/** The values of one name, whatever their labels. */
const valuesOf = (metrics: Metrics, name: string): readonly number[] =>
  [...metrics].flatMap(([key, value]) => (key === name || key.startsWith(`${name}{`) ? [value] : []))

export const total = (metrics: Metrics, name: string): number =>
  valuesOf(metrics, name).reduce((sum, value) => sum + value, 0)

/** Null if there are no values. */
export function greatest(metrics: Metrics, name: string): number | null {
  const values = valuesOf(metrics, name)
  return values.length === 0 ? null : Math.max(...values)
}

/** The mean of the observations between two readings; null without observations. */
export function meanBetween(before: Metrics, after: Metrics, name: string): number | null {
  const grown = (part: string): number => total(after, `${name}_${part}`) - total(before, `${name}_${part}`)
  const count = grown('count')
  return count > 0 ? grown('sum') / count : null
}
