/** Which events a webhook may be told of; the page has the same list. */
import { z } from '@hono/zod-openapi'
import { EVENT_TYPES } from '../../http/event-lines.ts'

export const EventType = z.enum(Object.values(EVENT_TYPES))
