/** Values that fit a schema and yet no database or clock: they are refused where they enter, whatever their field. */

/** The range of instants that requests may name. */
export const [FIRST_YEAR, LAST_YEAR] = [2000, 2100] as const
export const INSTANT_MIN = Date.UTC(FIRST_YEAR, 0, 1)
export const INSTANT_MAX = Date.UTC(LAST_YEAR + 1, 0, 1) - 1

interface Unfit {
  readonly path: string
  readonly message: string
}

/**
 * The first text in a value with U+0000, which no database keeps, with U+FFFD, which stands for bytes that were not
 * UTF-8, or with half a surrogate pair, which UTF-8 has not; the first number beyond 2^53, which is not the one that
 * was sent. Null without any. Keys count as texts.
 */
export function unfitIn(value: unknown): Unfit | null {
  const left: { readonly path: string; readonly value: unknown }[] = [{ path: '', value }]
  // A body may be nested deeper than calls may be.
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const message = problemOf(at.value)
    if (message !== null) return { path: at.path, message }
    if (typeof at.value !== 'object' || at.value === null) continue
    for (const [key, each] of Object.entries(at.value)) {
      const path = at.path === '' ? key : `${at.path}.${key}`
      const ofKey = problemOf(key)
      if (ofKey !== null) return { path: path.toWellFormed(), message: ofKey }
      left.push({ path, value: each })
    }
  }
  return null
}

function problemOf(value: unknown): string | null {
  if (typeof value === 'number') {
    return Math.abs(value) > Number.MAX_SAFE_INTEGER ? 'must lie within ±9,007,199,254,740,991' : null
  }
  if (typeof value !== 'string') return null
  if (value.includes('\u0000')) return 'must not contain U+0000'
  if (value.includes('\ufffd')) return 'must be UTF-8; U+FFFD stands for what was not'
  return value.isWellFormed() ? null : 'must not contain half a surrogate pair'
}
