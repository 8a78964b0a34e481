/** The parts of a position that can be closed at once, and the whole that they were. */

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

type Part = { readonly id: string; readonly partOf: string | null; readonly lotSize: number }

/** Positions as they were opened: one for all parts of each, with the lots of those in the list. */
export const openedOf = <P extends Part>(parts: readonly P[]): readonly P[] =>
  [...Map.groupBy(parts, ({ id, partOf }) => partOf ?? id).values()].flatMap((own) => {
    const lotSize = own.reduce((sum, part) => sum + part.lotSize, 0)
    return own.slice(0, 1).map((part) => ({ ...part, lotSize: Number(lotSize.toFixed(6)) }))
  })
