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

/** Throws when the patch is none, or does not belong to `before`. */
export function patched(before: unknown, patch: unknown): unknown {
  const [kind, ...parts] = listOf(patch)
  if (kind === 0) return parts[0]
  if (kind === 2) {
    const rows = listOf(before)
    return parts.map((part) => {
      if (typeof part === 'number') return known(rows[part], part)
      const row = listOf(part)
      return row.length === 1 ? row[0] : patched(known(rows[Number(row[0])], row[0]), row[1])
    })
  }
  if (parts.length === 0) return before
  const next = copyOf(before)
  const keys = Object.keys(next)
  for (let n = 0; n < parts.length; n += 2) {
    const key = known(keys[Number(parts[n])], parts[n])
    next[key] = patched(next[key], parts[n + 1])
  }
  return next
}

/** Its keys are its own, so that even `__proto__` is a field like others. */
function copyOf(value: unknown): Record<string, unknown> {
  if (Array.isArray(value)) return [...value] as unknown[] & Record<string, unknown>
  if (!isFields(value)) throw new Error('a patch of keys does not belong to a value without keys')
  return { ...value }
}

function known<T>(part: T | undefined, index: unknown): T {
  if (part === undefined) throw new Error(`a patch names part ${String(index)}, which is not there`)
  return part
}

const idOf = (row: unknown): unknown => (isFields(row) ? row['id'] : undefined)

const listOf = (value: unknown): readonly unknown[] => {
  if (!Array.isArray(value)) throw new Error('a patch, or what its rows belong to, is not a list')
  return value
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
