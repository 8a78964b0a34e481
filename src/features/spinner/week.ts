/** A week of the spinner as the API shows it. */
import { z } from '@hono/zod-openapi'
import { decimal, PPM } from '../../../actors/kernel/micros.ts'
import type { Notification } from '../../../db/announcements.ts'
import type { Candidate, Spinner, SpinnerWeek } from './store.ts'
import { timestamp } from '../../http/json.ts'
import { districtNumber, instrumentIdText, timestampText, userIdText, usernameText } from '../../http/schemas.ts'

export interface SpinnerPorts {
  readonly spinner: Pick<Spinner, 'current' | 'history' | 'run'>
  /** Tells users who are connected. Must not throw. */
  readonly tell: (notifications: readonly Notification[]) => void
}

const CandidateBody = z
  .object({
    userId: userIdText,
    username: usernameText,
    districtId: districtNumber,
    roiPct: z.number().openapi({
      description: 'ROI of the positions opened in the week, in per cent to 2 decimals; measured as on the boards.',
      example: 12.5,
    }),
    winRate: z.number().openapi({ description: 'Wins ÷ closes of these, 0 to 1.', example: 0.62 }),
    trades: z.int().openapi({ description: 'Closed positions that were opened in the week.', example: 21 }),
  })
  .openapi('SpinnerCandidate')

/** The example is a week that has been decided. */
export const WeekBody = z
  .object({
    week: z.string().openapi({ description: 'ISO week, from Monday 00:00 UTC.', example: '2026-W21' }),
    startsAt: timestampText.openapi({ example: '2026-05-18T00:00:00.000Z' }),
    endsAt: timestampText.openapi({ example: '2026-05-25T00:00:00.000Z' }),
    status: z.enum(['open', 'tied', 'decided']).openapi({
      description: '`tied`: two or more users lead with equal ROI and win rate.',
      example: 'decided',
    }),
    winner: CandidateBody.optional().openapi({ description: 'Of a decided week, if any user qualified.' }),
    candidates: z.array(CandidateBody).openapi({ description: 'The leaders; the winner is drawn among them.' }),
    seedHash: z.string().optional().openapi({
      description:
        'SHA-256 of the seed, published before the week ends. Left out if the week ended without one: then a tie has no winner.',
      example: 'f9dad6baba856aa4ec1c80dd114102d2d17a1c0f9b14be72ebc003fec2a07026',
    }),
    publishedAt: timestampText.optional().openapi({
      description: 'When `seedHash` was published.',
      example: '2026-05-18T00:00:00.000Z',
    }),
    seed: z.string().optional().openapi({
      description: 'Of a decided week. `npm run ops -- spinner-verify` checks the draw.',
      example: '5f0c1a7e9d3b2f48a6c4e2d01b9f7a8c5e3d1f2b4a6c8e0d9f7b5a3c1e2d4f60',
    }),
    bases: z
      .array(z.object({ instrumentId: instrumentIdText, base: z.number().openapi({ example: 212.5 }) }))
      .optional()
      .openapi({
        description:
          'Of a decided week: the base prices at which its last live match settled. The draw is made with them too: they ' +
          'follow from the match alone, so nobody knew them when the seed was chosen. Empty if no live match settled.',
        example: [{ instrumentId: '0197f2a0-77aa-5b31-9d44-5c6d7e8f9a0b', base: 212.5 }],
      }),
    decidedAt: timestampText.optional().openapi({ example: '2026-05-25T00:00:09.000Z' }),
  })
  .openapi('SpinnerWeek')

const candidateJson = (candidate: Candidate): z.output<typeof CandidateBody> => ({
  userId: candidate.userId,
  username: candidate.username,
  districtId: Number(candidate.districtId),
  roiPct: candidate.roiHundredths / 100,
  winRate: candidate.winPpm / PPM,
  trades: candidate.closed,
})

export const weekJson = (week: SpinnerWeek): z.output<typeof WeekBody> => ({
  week: week.name,
  startsAt: timestamp(week.startsAt),
  endsAt: timestamp(week.endsAt),
  status: week.status,
  candidates: week.candidates.map(candidateJson),
  ...(week.seedHash === null ? {} : { seedHash: week.seedHash }),
  ...(week.publishedAt === null ? {} : { publishedAt: timestamp(week.publishedAt) }),
  ...(week.winner === null ? {} : { winner: candidateJson(week.winner) }),
  ...(week.seed === null ? {} : { seed: week.seed }),
  ...(week.status === 'decided' ? { bases: week.bases.map((one) => ({ ...one, base: decimal(one.base) })) } : {}),
  ...(week.decidedAt === null ? {} : { decidedAt: timestamp(week.decidedAt) }),
})
