/** `/api/push`: browsers that want to be told of stops, washouts, warnings and full time. */
import { ECDH } from 'node:crypto'
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import type { SessionId, UserId } from '../../../actors/kernel/ids.ts'
import type { PushKind } from '../../../db/push-outbox.ts'
import { isTimeZone, type QuietHours } from './quiet.ts'
import type { PushSubscription, PushTarget } from './store.ts'
import { errors, fail, type HttpEnv, invalid, notFound } from '../../http/answers.ts'
import { BODY, CHANGE, INPUT, SIGNED_IN } from '../../http/error-codes.ts'
import { BROWSER_SECURITY, type Gates } from '../../http/gates.ts'
import { fieldsBody } from '../../http/inputs.ts'
import { json } from '../../http/schemas.ts'
import { strictBody } from '../../http/unknown-names.ts'

const ENDPOINT_LENGTH_MAX = 1_000
const KINDS = ['stop', 'washout', 'warning', 'settlement', 'league', 'player'] as const satisfies readonly PushKind[]

const ID_EXAMPLE = '0197f2a0-7a8b-7c1d-9e2f-3a4b5c6d7e8f'
const endpoint = z.url().max(ENDPOINT_LENGTH_MAX).openapi({ example: 'https://push.example/send/8f14e45fceea167a' })
const kinds = z.array(z.enum(KINDS)).openapi({
  description:
    '`stop`: a stop-loss or take-profit closed a position. `warning`: half or more of a margin is lost. ' +
    '`player`: news and price alerts of followed players.',
  example: ['stop', 'washout', 'warning', 'settlement'],
})

const timeOfDay = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day, HH:MM')
  .openapi({ example: '22:30' })
const quiet = strictBody({
  from: timeOfDay,
  to: timeOfDay.openapi({ example: '07:00' }),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'must be a time zone of the IANA database')
    .openapi({ example: 'Europe/Madrid' }),
})
  .refine(({ from, to }) => from !== to, { path: ['to'], error: 'must differ from `from`' })
  .nullable()
  .openapi({
    description: 'When the browser is left alone; what happens then is only in the inbox. Null for never.',
  })

const SubscriptionBody = z
  .object({ id: z.string().openapi({ format: 'uuid', example: ID_EXAMPLE }), endpoint, kinds, quiet })
  .openapi('PushSubscription')

const show = createRoute({
  method: 'get',
  path: '/api/push',
  operationId: 'listPushSubscriptions',
  tags: ['Notifications'],
  summary: "The caller's browsers that get push messages",
  description: 'At most 10. A browser registers with `publicKey` (`applicationServerKey` of the Push API).',
  security: BROWSER_SECURITY,
  responses: {
    200: json(
      z.object({
        publicKey: z.string().openapi({ example: 'BPx0n2Hg9vQ7rYb3kTzWm1Lc8sNf5uJd6eAi4oXyKqZtRwVpMhGjUlCbEnSaFoI' }),
        subscriptions: z.array(SubscriptionBody),
      }),
      'Newest first.',
    ),
    ...errors(...SIGNED_IN),
  },
})

const subscribe = createRoute({
  method: 'put',
  path: '/api/push',
  operationId: 'subscribePush',
  tags: ['Notifications'],
  summary: 'Send push messages to a browser',
  description:
    'Takes the subscription of the Push API of the browser, and what to send it and when. The same endpoint again ' +
    'changes that, and takes it over from another user. With more than 10 browsers the oldest is removed. Messages ' +
    'are encrypted for the browser and are at most 15 minutes old.',
  security: BROWSER_SECURITY,
  request: {
    body: fieldsBody({
      endpoint,
      expirationTime: z.number().nullish().openapi({ description: 'Is ignored.', example: null }),
      keys: strictBody({
        p256dh: z.base64url().length(87).openapi({
          example: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
        }),
        auth: z.base64url().length(22).openapi({ example: 'BTBZMqHH6r4Tts7J_aSIgg' }),
      }),
      kinds: kinds.min(1).max(KINDS.length),
      quiet: quiet.default(null),
    }),
  },
  responses: { 200: json(SubscriptionBody, 'Registered.'), ...errors(...SIGNED_IN, ...BODY) },
})

const unsubscribe = createRoute({
  method: 'delete',
  path: '/api/push/{id}',
  operationId: 'unsubscribePush',
  tags: ['Notifications'],
  summary: 'Stop push messages to a browser',
  description: 'Messages that have not been sent yet are dropped.',
  security: BROWSER_SECURITY,
  request: { params: z.object({ id: z.guid().toLowerCase().openapi({ format: 'uuid', example: ID_EXAMPLE }) }) },
  responses: {
    200: json(z.object({ deleted: z.literal(true) }), 'Forgotten.'),
    ...errors(...SIGNED_IN, ...INPUT, ...CHANGE, 'NOT_FOUND'),
  },
})

/** Whether a message can be encrypted for a key. */
function isPoint(p256dh: string): boolean {
  try {
    ECDH.convertKey(p256dh, 'prime256v1', 'base64url')
    return true
  } catch {
    return false
  }
}

export interface PushPort {
  /** The key of this server, in base64url. */
  readonly publicKey: string
  /** Why an endpoint is refused, or null. */
  problemOf(url: URL): string | null
  list(user: UserId): Promise<readonly PushSubscription[]>
  subscribe(
    user: UserId,
    target: PushTarget,
    kinds: readonly PushKind[],
    quiet: QuietHours | null,
    session: SessionId,
  ): Promise<PushSubscription>
  /** False if the user has no such browser. */
  unsubscribe(user: UserId, id: string): Promise<boolean>
}

export interface PushPorts {
  readonly push: PushPort
}

export function pushSubscriptions({ push }: PushPorts, gates: Gates) {
  return new OpenAPIHono<HttpEnv>()
    .openapi({ ...show, middleware: gates.signedIn }, async (c) => {
      const { publicKey } = push
      const listed = await push.list(c.var.caller.userId)
      const subscriptions = listed.map((one) => ({ ...one, kinds: [...one.kinds] }))
      return c.json({ publicKey, subscriptions }, 200)
    })
    .openapi({ ...subscribe, middleware: gates.signedIn }, async (c) => {
      const { endpoint: url, keys, kinds: wanted, quiet: hours } = c.req.valid('json')
      const problem = push.problemOf(new URL(url))
      if (problem !== null) return fail(c, invalid('endpoint', problem))
      if (!isPoint(keys.p256dh)) return fail(c, invalid('keys.p256dh', 'must be a point of the curve P-256'))
      const told = KINDS.filter((kind) => wanted.includes(kind))
      const { userId, sid } = c.var.caller
      const { id } = await push.subscribe(userId, { endpoint: url, ...keys }, told, hours, sid)
      return c.json({ id, endpoint: url, kinds: told, quiet: hours }, 200)
    })
    .openapi({ ...unsubscribe, middleware: gates.signedIn }, async (c) =>
      (await push.unsubscribe(c.var.caller.userId, c.req.valid('param').id))
        ? c.json({ deleted: true as const }, 200)
        : fail(c, notFound('subscription')),
    )
}
