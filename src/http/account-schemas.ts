/** What users are told of themselves and of each other; the page has the same types. */
import { z } from '@hono/zod-openapi'
import { HEADLINE_TYPES } from '../../actors/community/notices.ts'
import { CLOSED_BY } from '../../actors/position/position.ts'
import { SCOPES } from '../auth/scopes.ts'
import { MoveSumsBody } from './move-sums.ts'
import { partsBody, ReasonBody } from './reason-schema.ts'
import {
  districtNumber,
  instrumentIdText,
  positionIdText,
  priceNumber,
  timestampText,
  userIdText,
  usernameText,
  WalletBody,
} from './schemas.ts'

export const LedgerEntryBody = z
  .object({
    kind: z
      .enum([
        'grant',
        'margin',
        'release',
        'external_adjustment',
        'referral',
        'refill',
        'moved',
        'void',
        'void_shortfall',
      ])
      .openapi({
        description:
          '`grant`: the starting balance. `margin`: debited by an opening. `release`: paid by a close, margin plus ' +
          'realised PnL. `external_adjustment`: a change from outside. `referral`: a referral reward. ' +
          '`refill`: what a refill added. ' +
          '`moved`: with protection, the PnL of a close that news has moved, less what was booked before. ' +
          '`void`: takes back the PnL of a close that is void. `void_shortfall`: the part of that which the wallet ' +
          'did not have, credited by the house.',
        example: 'margin',
      }),
    amount: z.number().openapi({ description: 'Units credited, or debited if negative.', example: -50 }),
    positionId: positionIdText.nullable(),
    at: timestampText,
  })
  .openapi('LedgerEntry')

export const ID_EXAMPLE = '0197f2a0-6e7f-7a81-9c2d-3e4f5a6b7c8d'
const idText = z.string().openapi({ format: 'uuid', example: ID_EXAMPLE })
const time = z.string().openapi({ format: 'date-time', example: '2026-05-02T14:30:00.000Z' })

export const SessionBody = z.object({
  id: idText,
  createdAt: time.openapi({ description: 'When the user signed in.' }),
  lastSeenAt: time.openapi({ description: 'The sign-in or the last refresh.' }),
  userAgent: z.string().nullable().openapi({ example: 'Mozilla/5.0 (X11; Linux x86_64)' }),
  addressPrefix: z.string().openapi({ example: '203.0.113.0/24' }),
})

export const ScopeInput = z.enum(SCOPES)
const scopes = z.array(ScopeInput).openapi({ example: ['trade'] })

export const KeyBody = z
  .object({
    id: idText,
    name: z.string().openapi({ example: 'My bot' }),
    scopes,
    createdAt: time,
    expiresAt: time,
    lastUsedAt: time.nullable().openapi({ description: 'To about ten minutes; null before the first use.' }),
  })
  .openapi('PersonalKey')

const limitTime = z.string().openapi({ format: 'date-time', example: '2026-05-09T14:30:00.000Z' })
const amount = z.number().openapi({ example: 500 })
const pending = <T extends z.ZodType>(value: T) =>
  z.object({ value: value.nullable(), at: limitTime.openapi({ description: 'When it comes into force.' }) }).optional()

export const LimitsBody = z
  .object({
    dailyLoss: amount.nullable().openapi({ description: 'Units of the main purse; null for no limit.' }),
    coolOffUntil: limitTime.nullable(),
    excludedUntil: limitTime.nullable(),
    pending: z
      .object({ dailyLoss: pending(amount), coolOffUntil: pending(limitTime), excludedUntil: pending(limitTime) })
      .openapi({ description: 'Pending looser values.', example: {} }),
    lostToday: amount.openapi({
      description: 'Of the UTC day, below zero for a win. Corrections count.',
      example: 310.5,
    }),
    atStake: amount.openapi({
      description: 'What could still be lost: margins of open positions.',
      example: 150,
    }),
    dayEndsAt: limitTime.openapi({ description: 'When what was lost today stops counting.' }),
  })
  .openapi('OwnLimits')

export const RefillBody = z
  .object({
    refilled: z.number().openapi({ description: 'Units added; 0 if the wallet was full.', example: 9_312.5 }),
    wallet: WalletBody,
  })
  .openapi('Refill')

/** Most moves of one answer. */
export const MOVES_MAX = 20

const MoveBody = z.object({
  at: timestampText,
  from: priceNumber.openapi({ example: 153 }),
  to: priceNumber.openapi({ example: 151.2 }),
  reason: ReasonBody,
  parts: partsBody,
  sentence: z.string().openapi({ example: 'Booked in the 34th minute: −1.2 %.' }),
})

const CloseReasonBody = z.object({
  by: z.enum(CLOSED_BY).openapi({
    description: 'The rule that closed it, or its owner.',
    example: 'stop_loss',
  }),
  at: timestampText,
  price: priceNumber.openapi({ example: 151.2 }),
  level: priceNumber.nullable().openapi({
    description: 'The stop-loss, take-profit or washout price that was reached; null for other closes.',
    example: 151.2,
  }),
  tick: MoveBody.nullable().openapi({
    description: 'The move that reached it. Null where the owner closed it, or the tick was not stored.',
  }),
  sentence: z.string().openapi({ example: 'Booked in the 34th minute: −1.2 %; your stop at 151.20 was reached.' }),
})

export const WhyBody = z
  .object({
    positionId: positionIdText,
    instrumentId: instrumentIdText,
    openedAt: timestampText,
    openPrice: priceNumber.openapi({ example: 153.1 }),
    until: timestampText.openapi({ description: 'Its close, or now.' }),
    price: priceNumber.openapi({ description: 'At its close, or now.', example: 151.2 }),
    moves: z.array(MoveBody).openapi({
      description: `The largest moves in between, oldest first; at most ${MOVES_MAX}.`,
    }),
    because: MoveSumsBody,
    close: CloseReasonBody.nullable().openapi({ description: 'Null while it is open.' }),
  })
  .openapi('PositionWhy')

export const score = z.number().openapi({
  description: 'ROI in per cent, or units on a profit board.',
  example: 12.5,
})

export const LeaderboardEntryBody = z
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

export const DistrictBody = z
  .object({
    rank: z.int().nullable().openapi({ description: 'Null, like `score`, without a ranked member.', example: 3 }),
    districtId: districtNumber,
    name: z.string().openapi({ example: 'Harbour' }),
    members: z.int().openapi({ description: 'Ranked members.', example: 812 }),
    score: z.number().nullable().openapi({ description: 'Average ROI of the members in per cent.', example: 12.5 }),
  })
  .openapi('DistrictStanding')

export const ActivityEventBody = z
  .object({
    id: z.string().openapi({ example: '907' }),
    type: z.enum(HEADLINE_TYPES),
    userId: userIdText,
    username: usernameText,
    districtId: districtNumber,
    text: z.string().openapi({
      description: 'A sentence that begins with the username.',
      example: 'won 612.50 long on A. Striker',
    }),
    data: z.record(z.string(), z.unknown()).openapi({
      example: { positionId: '0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968', pnl: 612.5 },
    }),
    at: timestampText,
  })
  .openapi('ActivityEvent')
