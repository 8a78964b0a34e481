import { z } from '@hono/zod-openapi'
import { ownErrors } from '../../http/own-errors.ts'
import { ALERTS_MAX, PLAYERS_MAX, REMINDERS_MAX } from './store.ts'

export const watchlistErrors = ownErrors({
  FOLLOW_LIMIT: {
    status: 409,
    error: 'you follow 50 players, the most you can; stop following one first',
    when: 'The caller follows `maxPlayers` players. Stop following one first.',
    facts: { maxPlayers: z.int().openapi({ example: PLAYERS_MAX }) },
  },
  ALERT_LIMIT: {
    status: 409,
    error: 'you have 20 price alerts, the most you can; delete one first',
    when: 'The caller has `maxAlerts` price alerts. Delete one first.',
    facts: { maxAlerts: z.int().openapi({ example: ALERTS_MAX }) },
  },
  REMINDER_LIMIT: {
    status: 409,
    error: 'you have 20 reminders, the most you can; delete one first',
    when: 'The caller is reminded of `maxReminders` matches. Delete a reminder first.',
    facts: { maxReminders: z.int().openapi({ example: REMINDERS_MAX }) },
  },
  MATCH_BEGUN: {
    status: 409,
    error: 'the match has begun or is over; there is nothing to be reminded of',
    when: 'The match is no longer upcoming. Follow its players instead.',
  },
})
