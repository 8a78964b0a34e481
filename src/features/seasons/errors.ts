import { ownErrors } from '../../http/own-errors.ts'

export const seasonErrors = ownErrors({
  SEASON_UNDECIDED: {
    status: 409,
    error: 'your last season is still being decided',
    when: 'The result of the last season says where the caller plays the next. Call again after `Retry-After`.',
    retry: true,
  },
})
