/** What several seeds say together: how far they differ is what chance does. */

export interface Spread {
  readonly mean: number
  /** The standard error of the mean; null with one value. */
  readonly error: number | null
  readonly least: number
  readonly most: number
}

export function spreadOf(values: readonly number[]): Spread {
  const n = values.length
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, n)
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const error = n < 2 ? null : Math.sqrt(squares / (n - 1) / n)
  return { mean, error, least: Math.min(...values), most: Math.max(...values) }
}

/** Whether a difference is one: beyond two standard errors. */
export function saidBy({ mean, error, least, most }: Spread): 'same' | 'more' | 'less' | 'chance' | 'unknown' {
  if (least === 0 && most === 0) return 'same'
  if (error === null) return 'unknown'
  if (Math.abs(mean) <= 2 * error) return 'chance'
  return mean > 0 ? 'more' : 'less'
}
