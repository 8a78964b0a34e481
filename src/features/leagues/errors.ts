import { z } from '@hono/zod-openapi'
import type { ErrorTable } from '../../http/error-facts.ts'
import { ownErrors } from '../../http/own-errors.ts'

/** Of tournaments, too. */
export const ENTRY_ERRORS = {
  LEAGUE_FULL: {
    status: 409,
    error: 'the league is full',
    when: '`maxMembers` users have joined the league.',
    facts: { maxMembers: z.int().openapi({ example: 1_000 }) },
  },
  LEAGUE_OVER: {
    status: 409,
    error: 'the league is over',
    when: 'It has ended. Users can no longer join or leave it.',
  },
} as const satisfies ErrorTable

export const leagueErrors = ownErrors({
  ...ENTRY_ERRORS,
  LEAGUE_LIMIT: {
    status: 409,
    error: 'you take part in as many leagues as a user can; leave one first',
    when: 'The caller takes part in `maxLeagues` leagues that are not over. Leave one first.',
    facts: { maxLeagues: z.int().openapi({ example: 25 }) },
  },
})
