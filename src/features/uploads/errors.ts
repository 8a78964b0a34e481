import { z } from '@hono/zod-openapi'
import { ownErrors } from '../../http/own-errors.ts'

export const uploadErrors = ownErrors({
  RECORDING_EXISTS: {
    status: 409,
    error: 'a recording of this name exists',
    when: 'An upload has this name already. Choose another, or remove it first.',
  },
  RECORDING_LIMIT: {
    status: 409,
    error: 'too many recordings are kept; remove one first',
    when: '`max` uploads are kept already.',
    facts: { max: z.int().openapi({ example: 100 }) },
  },
  RECORDING_PLAYING: {
    status: 409,
    error: 'a replay of this recording is under way; stop it first',
    when: 'A replay of the upload is under way.',
  },
})
