import { ownErrors } from '../../http/own-errors.ts'

export const playerErrors = ownErrors({
  NO_WEEK_YET: {
    status: 404,
    error: 'no week has a player yet',
    when: 'No live match has settled in a week that is over.',
  },
})
