/** The trades of one strategy in one match, added up. */
import { MICROS_PER_UNIT } from '../../../actors/kernel/micros.ts'
import type { Trade } from '../../../src/match-run/till.ts'

/** Amounts are in units. */
export interface Tally {
  readonly trades: number
  readonly wins: number
  readonly voids: number
  /** Fills that news has moved, of two a trade. */
  readonly moves: number
  readonly refused: number
  readonly margin: number
  readonly pnl: number
  /** What the match alone made of the positions. The rest of the PnL is the crowd's doing. */
  readonly baseMoves: number
}

export function tallyOf(trades: readonly Trade[], refused: number): Tally {
  const sum = (of: (trade: Trade) => number): number => trades.reduce((total, trade) => total + of(trade), 0)
  return {
    trades: trades.length,
    wins: sum(({ pnl }) => Number(pnl > 0)),
    moves: sum(({ moves }) => moves),
    voids: sum(({ closedBy }) => Number(closedBy === 'void')),
    refused,
    margin: sum(({ margin }) => margin) / MICROS_PER_UNIT,
    pnl: sum(({ pnl }) => pnl) / MICROS_PER_UNIT,
    baseMoves: sum(({ baseMove }) => baseMove) / MICROS_PER_UNIT,
  }
}
