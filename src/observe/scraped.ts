/** Metrics whose values are kept elsewhere. They are read at each scrape, and cost nothing in between. */
import type { Counter, Gauge, Metric } from 'prom-client'

export type Labelled = Iterable<readonly [label: string, value: number]>

/** A number, or one for each value of a label, that is kept elsewhere and read at each scrape. */
export function readAtScrape(
  Kind: typeof Gauge | typeof Counter,
  { name, help, label }: { readonly name: string; readonly help: string; readonly label?: string },
  value: () => number | Labelled,
): Metric {
  return new Kind({
    name,
    help,
    labelNames: label === undefined ? [] : [label],
    registers: [],
    collect() {
      this.reset()
      const now = value()
      if (typeof now === 'number') this.inc(now)
      else if (label !== undefined) for (const [each, its] of now) this.inc({ [label]: each }, its)
    },
  })
}

/** A value with a label of its own: without one a gauge shows 0 for what is not known. */
export const known = (label: string, value: number | null | undefined, divisor = 1): Labelled =>
  value === null || value === undefined ? [] : [[label, value / divisor]]
