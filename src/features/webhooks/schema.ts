/** Webhooks, and which events they may be told of; the page has the same. */
import { z } from '@hono/zod-openapi'
import { EVENT_TYPES } from '../../http/event-lines.ts'
import { timestampText } from '../../http/schemas.ts'

export const EventType = z.enum(Object.values(EVENT_TYPES))

export const ID_EXAMPLE = '0197f2a0-7f80-7b92-8d3e-4f5a6b7c8d9e'
export const URL_EXAMPLE = 'https://hooks.touchline.example/events'

export const WebhookBody = z
  .object({
    id: z.string().openapi({ format: 'uuid', example: ID_EXAMPLE }),
    url: z.string().openapi({ example: URL_EXAMPLE }),
    types: z.array(z.string()).openapi({ description: 'Its event types; empty: all.', example: [] }),
    state: z.enum(['active', 'paused', 'disabled']).openapi({
      description: '`disabled`: every attempt has failed for three days.',
      example: 'active',
    }),
    createdAt: timestampText,
    lastSuccessAt: timestampText.nullable(),
    failingSince: timestampText.nullable().openapi({ description: 'Null while it answers.', example: null }),
    lastError: z.string().nullable().openapi({ example: 'answered 503' }),
    waiting: z.int().openapi({ description: 'Commits not sent to it yet.', example: 0 }),
  })
  .openapi('Webhook')
