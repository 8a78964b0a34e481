import { z } from '@hono/zod-openapi'
import { ownErrors } from '../../http/own-errors.ts'
import { ENTRY_ERRORS } from '../leagues/errors.ts'

export const tournamentErrors = ownErrors({
  ...ENTRY_ERRORS,
  TOURNAMENT_LIMIT: {
    status: 409,
    error: 'as many tournaments are scheduled as can be',
    when: '`maxTournaments` are under way or to come. Wait until one has ended.',
    facts: { maxTournaments: z.int().openapi({ example: 20 }) },
  },
  TOURNAMENT_BEGUN: {
    status: 409,
    error: 'the tournament has begun or is over',
    when: 'It can no longer be changed or cancelled. To end it, stop its replay.',
  },
})
