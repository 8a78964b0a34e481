/**
 * The confirm gate: an order leaves 1 % of the free margin, because the price may move before it fills (specification
 * 2.5).
 */
import type { Instrument, Quote } from '../client/wire.ts'

/** One per cent of the free margin. */
const KEPT = 0.01

/** Whether an order with this margin leaves enough. */
export const passesGate = (margin: number, freeMargin: number): boolean => margin <= freeMargin * (1 - KEPT)

/** The largest size that passes: the instrument's limit if the wallet allows it, else one step below the gate. */
export function mostLots({ maxLotSize }: Pick<Quote, 'maxLotSize'>, limits: Pick<Instrument, 'maxLot' | 'lotStep'>) {
  if (maxLotSize >= limits.maxLot) return limits.maxLot
  const steps = Math.floor((maxLotSize * (1 - KEPT)) / limits.lotStep) - 1
  return Math.max(0, Number((steps * limits.lotStep).toFixed(6)))
}
