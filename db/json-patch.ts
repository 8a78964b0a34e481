/** The difference between two JSON values, exact to the order of keys: `patched(a, changed(a, b))` has b's text. */

/**
 * [0, value]: the value itself. [1, index, patch, …]: the same keys or rows, some of them changed. [2, row, …]: the
 * rows of a list, where a row is the index of an old one, [index, patch] for an old one changed, or [value] for a new
 * one.
 */
export type Patch = readonly [0 | 1 | 2, ...unknown[]]

type Fields = Readonly<Record<string, unknown>>

/** What turns `before` into `next`; null if they are equal. */
export function changed(before: unknown, next: unknown): Patch | null {
  if (before === next) return null
  if (Array.isArray(next)) return Array.isArray(before) ? changedList(before, next) : [0, next]
  if (!isFields(next) || !isFields(before)) return [0, next]
  const keys = Object.keys(before)
  let n = 0
  let parts: (number | Patch)[] | null = null
  for (const key in next) {
    if (key !== keys[n]) return [0, next]
    const part = changed(before[key], next[key])
    if (part !== null) (parts ??= []).push(n, part)
    n++
  }
  if (n !== keys.length) return [0, next]
  return parts === null ? null : [1, ...parts]
}

function changedList(before: readonly unknown[], next: readonly unknown[]): Patch | null {
  const parts: (number | Patch)[] = []
  if (before.length !== next.length) return changedRows(before, next)
  for (let n = 0; n < next.length; n++) {
    if (idOf(before[n]) !== idOf(next[n])) return changedRows(before, next)
    const part = changed(before[n], next[n])
    if (part !== null) parts.push(n, part)
  }
  return parts.length === 0 ? null : [1, ...parts]
}

/** Rows that came, left or changed places are found again by their ids. */
function changedRows(before: readonly unknown[], next: readonly unknown[]): Patch {
  const indexes = new Map<unknown, number>()
  for (const [n, row] of before.entries()) indexes.set(idOf(row) ?? row, n)
  return [
    2,
    ...next.map((row) => {
      const index = indexes.get(idOf(row) ?? row)
      if (index === undefined) return [row] as const
      const part = changed(before[index], row)
      return part === null ? index : ([index, part] as const)
    }),
  ]
}

/** Throws when the patch does not belong to `before`. */
export function patched(before: unknown, patch: Patch): unknown {
  if (patch[0] === 0) return patch[1]
  if (patch[0] === 2) {
    const rows = listOf(before)
    return patch.slice(1).map((row: unknown): unknown => {
      if (typeof row === 'number') return rows[row]
      if (!Array.isArray(row)) throw new Error('a row of a patch is neither an index nor a list')
      return row.length === 1 ? row[0] : patched(rows[row[0] as number], row[1] as Patch)
    })
  }
  const parts = new Map<number, Patch>()
  for (let n = 1; n < patch.length; n += 2) parts.set(patch[n] as number, patch[n + 1] as Patch)
  const next = (value: unknown, n: number): unknown => {
    const part = parts.get(n)
    return part === undefined ? value : patched(value, part)
  }
  if (Array.isArray(before)) return before.map(next)
  if (!isFields(before)) throw new Error('a patch of keys does not belong to a value without keys')
  // As defined properties: a payload may have a key `__proto__`.
  return Object.fromEntries(Object.entries(before).map(([key, value], n) => [key, next(value, n)]))
}

const idOf = (row: unknown): unknown => (isFields(row) ? row['id'] : undefined)

const listOf = (value: unknown): readonly unknown[] => {
  if (!Array.isArray(value)) throw new Error('a patch of rows does not belong to a list')
  return value
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
