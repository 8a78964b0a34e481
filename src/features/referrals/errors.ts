import { ownErrors } from '../../http/own-errors.ts'

export const referralErrors = ownErrors({
  TOO_MANY_INVITES: {
    status: 409,
    error: '200 invites are unused; share one of them first',
    when: '200 invites of the caller are unused. Share one of them first.',
  },
})
