/** What users are told of their own account; the page has the same types. */
import { z } from '@hono/zod-openapi'
import { SCOPES } from '../auth/scopes.ts'
import { positionIdText, timestampText } from './schemas.ts'

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
