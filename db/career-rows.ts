/** Reads the row of a career. */
import type { Selectable } from 'kysely'
import { lots, money } from '../actors/kernel/micros.ts'
import { instant } from '../actors/kernel/world.ts'
import type { Career } from '../actors/community/career.ts'
import type { CareersTable } from './postgres/schema/community.ts'

export function careerFrom(row: Selectable<CareersTable>): Career {
  return {
    opened: row.opened,
    main: {
      closed: row.closed,
      wins: row.wins,
      pnl: money(row.pnl_micros),
      baseMoves: money(row.base_moves_micros),
      margin: money(row.margin_micros),
      firstTradeAt: row.first_trade_at === null ? null : instant(row.first_trade_at.getTime()),
    },
    practice: {
      closed: row.practice_closed,
      wins: row.practice_wins,
      pnl: money(row.practice_pnl_micros),
      baseMoves: money(row.practice_base_moves_micros),
      margin: money(row.practice_margin_micros),
      firstTradeAt: row.practice_first_trade_at === null ? null : instant(row.practice_first_trade_at.getTime()),
    },
    won: money(row.won_micros),
    bestWin: money(row.best_win_micros),
    largestLots: lots(row.largest_lots_micros),
    shortWins: row.short_wins,
    takeProfits: row.take_profits,
    stopLosses: row.stop_losses,
    washouts: row.washouts,
    settled: row.settled,
    days: row.days,
    closeDays: row.close_days,
    referrals: row.referrals,
    xp: row.xp,
  }
}
