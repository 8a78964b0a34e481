/** The parts of a position that can be closed at once. */

/** What is offered. */
export const PORTIONS = [1, 0.75, 0.5, 0.25] as const
export type Portion = (typeof PORTIONS)[number]

/**
 * The lots of a part, in whole lot steps, of which both the part and the rest have at least one. Null where a position
 * has too few.
 */
export function lotsOf(portion: Portion, lotSize: number, lotStep: number): number | null {
  if (portion === 1) return lotSize
  // A ten-thousandth of a step is rounding.
  const whole = Math.floor(lotSize / lotStep + 1e-4)
  const steps = Math.min(whole - 1, Math.max(1, Math.round(whole * portion)))
  return steps < 1 ? null : Number((steps * lotStep).toFixed(6))
}
