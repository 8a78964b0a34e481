import { z } from '@hono/zod-openapi'
import { LEAGUES_MAX } from '../../../actors/kernel/limits.ts'
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
    when: 'It has ended: users can no longer join it, nor leave it once it is decided.',
  },
} as const satisfies ErrorTable

export const leagueErrors = ownErrors({
  ...ENTRY_ERRORS,
  LEAGUE_KEEPS_MEMBERS: {
    status: 409,
    error: 'seasons and tournaments cannot be left',
    when: 'The league is a season or a tournament. Not trading in it is enough.',
  },
  LEAGUE_LIMIT: {
    status: 409,
    error: `you take part in ${LEAGUES_MAX} leagues, the most you can; leave one first`,
    when: 'The caller takes part in `maxLeagues` leagues that are not over. Leave one first.',
    facts: { maxLeagues: z.int().openapi({ example: LEAGUES_MAX }) },
  },
})
