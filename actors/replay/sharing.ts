/** A payload repeats most of the one before: equal parts are kept once, which also lets them be parsed once. */

/** `next`, with every part that equals the same part of `last` replaced by it. */
export function sharing(last: unknown, next: unknown): unknown {
  if (Array.isArray(next)) {
    const before: readonly unknown[] = Array.isArray(last) ? last : []
    const shared = next.map((item, index) => sharing(before[index], item))
    const same = Array.isArray(last) && shared.length === last.length && shared.every((item, i) => item === before[i])
    return same ? last : shared
  }
  if (!isRecord(next)) return next
  const before = isRecord(last) ? last : {}
  const shared = Object.entries(next).map(([key, value]) => [key, sharing(before[key], value)] as const)
  const same =
    isRecord(last) &&
    shared.length === Object.keys(last).length &&
    shared.every(([key, v]) => key in last && v === last[key])
  return same ? last : Object.fromEntries(shared)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
