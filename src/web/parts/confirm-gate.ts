/** The confirm gate: an order leaves a part of the free margin alone, since prices move until it fills (specification 2.5). */
import type { Instrument, Quote } from '../client/wire.ts'

/** One per cent of the free margin. */
const KEPT = 0.01

/** Whether this margin leaves enough. */
export const passesGate = (margin: number, freeMargin: number): boolean => margin <= freeMargin * (1 - KEPT)

/** The size that fills the gate: all that the server allows where that is a limit, else a step below what is to be kept. */
export function mostLots({ maxLotSize }: Pick<Quote, 'maxLotSize'>, limits: Pick<Instrument, 'maxLot' | 'lotStep'>) {
  if (maxLotSize >= limits.maxLot) return limits.maxLot
  const steps = Math.floor((maxLotSize * (1 - KEPT)) / limits.lotStep) - 1
  return Math.max(0, Number((steps * limits.lotStep).toFixed(6)))
}
