/** A row of a leaderboard, shared by the boards and the caller's own rank. */
import { z } from '@hono/zod-openapi'
import {
  type BoardName,
  PPM,
  type Ranked,
  roiPpm,
  type Standing,
  winPpm,
} from '../../../../actors/community/ranking.ts'
import type { UserId } from '../../../../actors/kernel/ids.ts'
import { decimal } from '../../../../actors/kernel/micros.ts'
import type { BoardUser } from '../../../../db/careers.ts'
import { PPM_PER_PERCENT } from '../../json.ts'
import { districtNumber, userIdText, usernameText } from '../../schemas.ts'

export const score = z.number().openapi({
  description: 'ROI in per cent, or units on a profit board.',
  example: 12.5,
})

export const EntryBody = z
  .object({
    rank: z.int().openapi({ description: 'Ties share a rank: 1, 2, 2, 4.', example: 42 }),
    userId: userIdText,
    username: usernameText,
    districtId: districtNumber,
    score,
    roiPct: z.number().openapi({
      description: '100 × Σ PnL of base moves ÷ max(Σ margin of closed positions, `boards.roi_floor`).',
      example: 12.5,
    }),
    pnl: z.number().openapi({ description: 'Σ realised PnL in units.', example: 412.5 }),
    winRate: z.number().openapi({ description: 'Wins ÷ closes, 0 to 1.', example: 0.62 }),
    trades: z.int().openapi({ description: 'Closed positions.', example: 21 }),
    bot: z.boolean().openapi({
      description: 'True if it has traded with a key. Bots are ranked only while the setting `boards.bots` allows it.',
      example: false,
    }),
    isMe: z.boolean().openapi({ example: true }),
  })
  .openapi('LeaderboardEntry')

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
