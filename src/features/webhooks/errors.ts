import { ownErrors } from '../../http/own-errors.ts'

export const webhookErrors = ownErrors({
  WEBHOOK_LIMIT: {
    status: 409,
    error: 'there are at most 10 webhooks; delete one first',
    when: 'The installation has 10 webhooks. Delete one of them first.',
  },
})
