/** Numbers as users type them: with the sign of their own language, or with a point. */
export const decimalIn = (typed: string): string => typed.trim().replace(',', '.')

/** The level that a field says: null when it is empty, undefined when that is no price. */
export function levelIn(typed: string): number | null | undefined {
  const level = Number(decimalIn(typed))
  if (typed.trim() === '') return null
  return Number.isFinite(level) && level > 0 ? level : undefined
}
