import { ownErrors } from '../../http/own-errors.ts'

export const spinnerErrors = ownErrors({
  WEEK_NOT_COUNTED: {
    status: 409,
    error: 'the week is still being counted',
    when: 'Positions opened in the week are still open, or their closes are being processed. Call again after `Retry-After`.',
    retry: true,
  },
})
