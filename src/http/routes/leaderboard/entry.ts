/** A row of a leaderboard, shared by the boards and the caller's own rank. */
import { z } from '@hono/zod-openapi'
import { type BoardName, type Ranked, roiPpm, type Standing, winPpm } from '../../../../actors/community/ranking.ts'
import type { UserId } from '../../../../actors/kernel/ids.ts'
import { decimal, PPM } from '../../../../actors/kernel/micros.ts'
import type { BoardUser } from '../../../../db/careers.ts'
import { PPM_PER_PERCENT } from '../../json.ts'

export const rankedTotal = z.int().openapi({ description: 'Number of ranked users.', example: 12_804 })

export const scoreOf = (by: BoardName['by'], standing: Standing): number =>
  by === 'pnl' ? decimal(standing.pnl) : roiPpm(standing) / PPM_PER_PERCENT

export function entryJson(by: BoardName['by'], { rank, standing }: Ranked, names: ReadonlyMap<UserId, BoardUser>) {
  const { username, isBot } = names.get(standing.userId) ?? { username: '', isBot: false }
  return {
    rank,
    userId: standing.userId,
    username,
    bot: isBot,
    districtId: Number(standing.districtId),
    score: scoreOf(by, standing),
    roiPct: roiPpm(standing) / PPM_PER_PERCENT,
    pnl: decimal(standing.pnl),
    winRate: winPpm(standing) / PPM,
    trades: standing.closed,
  }
}
