import { ownErrors } from '../../http/own-errors.ts'

export const voidErrors = ownErrors({
  POSITION_VOID: {
    status: 409,
    error: 'position is already void',
    when: 'The position is void already: it counts nowhere.',
  },
  REST_OPEN: {
    status: 409,
    error: 'the rest of the position is open',
    when: 'The position is a part, and the rest of it is open. Void the rest first, or wait until it is closed.',
  },
})
