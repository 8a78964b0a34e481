/**
 * The size of an order: fans think in units, orders are in lots. The lots are computed when the stake is typed and not
 * with every move of the price, so that the order stays what the user has seen.
 */
import type { Instrument } from '../client/wire.ts'
import { draft } from './order-draft.ts'

type Contract = Pick<Instrument, 'contractSize' | 'leverage' | 'lotStep' | 'minLot' | 'maxLot'>

/** The stake that this many lots need at this price. */
export const stakeOf = (lots: number, price: number, { contractSize, leverage }: Contract): number =>
  (lots * price * contractSize) / leverage

/** The most lots that the stake pays for; 0 if it does not pay for the smallest order. */
export function lotsFor(stake: number, price: number, contract: Contract): number {
  const { lotStep, minLot, maxLot } = contract
  const one = stakeOf(lotStep, price, contract)
  if (!(stake > 0) || !(one > 0)) return 0
  // A ten-thousandth of a step is rounding.
  const lots = Number((Math.floor(stake / one + 1e-4) * lotStep).toFixed(6))
  return lots < minLot ? 0 : Math.min(maxLot, lots)
}

export function setStake(typed: string, price: number, contract: Contract): void {
  draft.stake.value = typed
  draft.lots.value = String(lotsFor(Number(typed), price, contract))
}

export function setLots(typed: string, price: number, contract: Contract): void {
  const lots = Number(typed)
  draft.lots.value = typed
  draft.stake.value = lots > 0 ? stakeOf(lots, price, contract).toFixed(2) : ''
}

/** One step of the lots, up or down. */
export function stepLots(price: number, contract: Contract, by: 1 | -1): void {
  const { lotStep, minLot, maxLot } = contract
  const lots = Number(draft.lots.peek()) || 0
  const step = Math.max(lotStep, lots >= 10 ? 1 : lots >= 1 ? 0.1 : 0.05)
  const next = Math.min(maxLot, Math.max(minLot, lots + by * step))
  setLots(String(Math.round(next * 100) / 100), price, contract)
}

/** An order for more than a quarter of the wallet is shown again before it is sent. */
const REVIEWED = 0.25
export const needsReview = (margin: number, balance: number): boolean => margin > balance * REVIEWED
