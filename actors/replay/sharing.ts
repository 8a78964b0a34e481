/** A payload repeats most of the one before: equal parts are kept once, which also lets them be parsed once. */

/** `next`, with every part that equals the same part of `last` replaced by it: it is changed for that. */
export function sharing(last: unknown, next: unknown): unknown {
  if (Array.isArray(next)) {
    const before: readonly unknown[] | null = Array.isArray(last) ? last : null
    let isSame = before?.length === next.length
    for (let i = 0; i < next.length; i++) {
      const part: unknown = next[i]
      // A store of what is there already costs as much as all the rest.
      if (isParted(part)) next[i] = sharing(before?.[i], part)
      isSame &&= next[i] === before?.[i]
    }
    return isSame ? last : next
  }
  if (!isRecord(next)) return next
  const before = isRecord(last) ? last : {}
  const keys = Object.keys(next)
  let isSame = isRecord(last) && keys.length === Object.keys(last).length
  for (const key of keys) {
    const part = next[key]
    const isOwn = Object.hasOwn(before, key)
    if (isParted(part)) next[key] = sharing(isOwn ? before[key] : undefined, part)
    isSame &&= isOwn && next[key] === before[key]
  }
  return isSame ? last : next
}

const isParted = (value: unknown): value is object => typeof value === 'object' && value !== null

const isRecord = (value: unknown): value is Record<string, unknown> => isParted(value) && !Array.isArray(value)
