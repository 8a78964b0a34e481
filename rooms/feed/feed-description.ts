/**
 * What the WebSocket address says and hears, as an AsyncAPI 3 document: both doors, every message, close codes, limits, and
 * the price frame byte by byte. Requests are described by the schemas that parse them; tests hold replies against the rest.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { PUBLISH_INTERVAL_MS } from '../../actors/kernel/limits.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { CLOSE } from '../sockets/close-codes.ts'
import { INSTRUMENTS_PER_SUBSCRIBER_MAX } from './fan-out.ts'
import { MESSAGE_BYTES_MAX } from '../sockets/limits.ts'
import { FeedRequest, INSTRUMENTS_PER_MESSAGE_MAX, SUBPROTOCOL } from './feed-protocol.ts'
import { LOOKUPS_MAX, REQUESTS_WAITING_MAX } from './feed-socket.ts'
import { placed } from './frame-layout.ts'
import { PRICE_FRAME_BYTES } from './price-frame.ts'
import { MESSAGES_PER_SECOND_MAX } from '../sockets/request-rate.ts'
import { CONNECTIONS_MAX, CONNECTIONS_PER_USER_MAX } from '../sockets/connection-limit.ts'
import { WRITE_DEADLINE_MS, QUEUED_BYTES_MAX, STRIKES_MAX } from '../sockets/write-deadline.ts'

type JsonSchema = Readonly<Record<string, unknown>>

export interface FeedDescriptionOptions {
  readonly version: string
  /** JSON schemas that REST and this address share, by name: `AccountChanges`, `Notification` and what these refer to. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** Frames as bytes and as numbers; a test makes them with the encoder and fails when this file is not what it made. */
const VECTORS: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'price-frame-vectors.json'), 'utf8'))

const CLOSE_CODES = {
  1000: 'You have closed it, or nobody is there any more.',
  1009: `A message was larger than ${MESSAGE_BYTES_MAX / 1024} KiB.`,
  [CLOSE.restart]: 'The server restarts, or the match moves: come back after `reconnectInMs`, with a new token.',
  [CLOSE.full]: `The server is full (${CONNECTIONS_MAX.toLocaleString('en')} connections over both doors): come back later.`,
  [CLOSE.unauthorised]: 'The token became void: the user has signed out. Sign in again.',
  [CLOSE.tooSlow]: `Too slow: ${STRIKES_MAX} writes in a row took longer than ${WRITE_DEADLINE_MS} ms, or ${QUEUED_BYTES_MAX / 1024 ** 2} MiB waited.`,
  [CLOSE.tooManyMessages]: `More than ${MESSAGES_PER_SECOND_MAX} messages in one second.`,
}

const LIMITS = {
  'control messages a second': MESSAGES_PER_SECOND_MAX,
  'bytes of a message': MESSAGE_BYTES_MAX,
  'instrument ids in a message': INSTRUMENTS_PER_MESSAGE_MAX,
  'instruments a socket follows': INSTRUMENTS_PER_SUBSCRIBER_MAX,
  'requests waiting for an answer': REQUESTS_WAITING_MAX,
  'connections of a user': CONNECTIONS_PER_USER_MAX,
  'connections of a process, over both doors': CONNECTIONS_MAX,
  'asking for the account': 'once a second',
  'prices of one instrument a second': SECOND_MS / PUBLISH_INTERVAL_MS,
  'unknown instruments looked up': `${LOOKUPS_MAX} at once, then one a second`,
}

const INSTRUMENT = '0198f3a2-7c1d-8e00-8f00-0123456789ab'
const SERVER_TIME = '2026-05-02T14:30:00.000Z'

const id = { type: 'integer', minimum: 0, description: "The client's own number; it comes back with the answer." }
const instant = { type: 'string', format: 'date-time' }
const uuid = { type: 'string', maxLength: 64, description: 'As it was asked for, in small letters.' }

const object = (properties: JsonSchema, optional: readonly string[] = ['id']): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
})

const rejected = {
  type: 'array',
  items: object({
    instrumentId: uuid,
    code: {
      enum: ['not_found', 'limit', 'busy'],
      description:
        '`not_found`: nobody publishes it, now or on demand (in the match room: not of this match). `limit`: the socket follows ' +
        '500. `busy`: nobody can say yet how it stands, because its match is being taken over or too many unknown ones were ' +
        'named at once; ask again for it in a second.',
    },
  }),
}

interface Message {
  readonly summary: string
  readonly payload: JsonSchema
  readonly example: unknown
}

function messagesOf(): Readonly<Record<string, Message>> {
  const requests = new Map<string, z.core.JSONSchema.BaseSchema>(
    FeedRequest.options.map((option) => [option.shape.type.value, z.toJSONSchema(option)] as const),
  )
  const asked = (type: string): JsonSchema => {
    // Fields that we do not know are no reason to turn a message down.
    const { $schema: _dialect, additionalProperties: _others, ...schema } = requests.get(type) ?? {}
    return schema
  }
  const said = (type: string, properties: JsonSchema, optional?: readonly string[]): JsonSchema =>
    object({ type: { const: type }, ...properties }, optional)
  return {
    subscribe: {
      summary:
        'Follow instruments, besides those followed already. With `since`, the newest frame of their match that you have, ' +
        'you get what came after (flag REPLAY) as long as it is kept; otherwise the current price of each (flag SNAPSHOT).',
      payload: asked('subscribe'),
      example: { type: 'subscribe', id: 7, instrumentIds: [INSTRUMENT], since: { epoch: 3, seq: 1041 } },
    },
    unsubscribe: {
      summary: 'Follow instruments no longer.',
      payload: asked('unsubscribe'),
      example: { type: 'unsubscribe', id: 8, instrumentIds: [INSTRUMENT] },
    },
    listen: {
      summary:
        'Be told what happens to your positions after a marker; without one, beginning with a snapshot of those that are ' +
        'open. Holds until the connection ends.',
      payload: asked('account'),
      example: { type: 'account', id: 9, since: '41' },
    },
    ping: { summary: 'Ask whether anybody is there.', payload: asked('ping'), example: { type: 'ping', id: 10 } },
    subscribed: {
      summary: 'What is followed now, and what is not. The prices follow it.',
      payload: said('subscribed', { id, instrumentIds: { type: 'array', items: uuid }, rejected }),
      example: { type: 'subscribed', id: 7, instrumentIds: [INSTRUMENT], rejected: [] },
    },
    unsubscribed: {
      summary: 'What is not followed any more. Frames that were on their way may still come.',
      payload: said('unsubscribed', { id, instrumentIds: { type: 'array', items: uuid } }),
      example: { type: 'unsubscribed', id: 8, instrumentIds: [INSTRUMENT] },
    },
    pong: {
      summary: 'Somebody is.',
      payload: said('pong', { id, serverTime: instant }),
      example: { type: 'pong', id: 10, serverTime: SERVER_TIME },
    },
    heartbeat: {
      summary: 'Nothing was to be said for ten seconds.',
      payload: said('heartbeat', { serverTime: instant }),
      example: { type: 'heartbeat', serverTime: SERVER_TIME },
    },
    account: {
      summary:
        'What happened to your positions up to `marker`, in order and once, as `GET /api/account/changes` shows it. `id` ' +
        'stands in the first answer to a request. Keep the marker, and ask with it after a break.',
      payload: {
        allOf: [
          { $ref: '#/components/schemas/AccountChanges' },
          { type: 'object', properties: { type: { const: 'account' }, id }, required: ['type'] },
        ],
      },
      example: { type: 'account', id: 9, marker: '41', snapshot: false, events: [], positions: null, more: false },
    },
    notification: {
      summary: 'A notification, to whoever listens to his account.',
      payload: said('notification', { notification: { $ref: '#/components/schemas/Notification' } }),
      example: {
        type: 'notification',
        notification: {
          id: '41',
          type: 'badge',
          title: 'First whistle',
          body: 'You have earned a badge: Open your first position.',
          data: { badgeId: 'first_whistle' },
          read: false,
          createdAt: SERVER_TIME,
        },
      },
    },
    shutdown: {
      summary: 'The server is about to restart: wait so long, then connect anew with a new token.',
      payload: said('shutdown', { reconnectInMs: { type: 'integer', minimum: 0 } }),
      example: { type: 'shutdown', reconnectInMs: 2_150 },
    },
    error: {
      summary: 'A message was not understood (`bad_message`), or could not be carried out now (`busy`, `unavailable`).',
      payload: said('error', {
        id,
        code: { enum: ['bad_message', 'unavailable', 'busy'] },
        message: { type: 'string' },
      }),
      example: { type: 'error', code: 'bad_message', message: 'not JSON' },
    },
  }
}

const HEARD = ['subscribe', 'unsubscribe', 'listen', 'ping'] as const
const REPLIES: Readonly<Record<(typeof HEARD)[number], readonly string[]>> = {
  subscribe: ['subscribed', 'error'],
  unsubscribe: ['unsubscribed', 'error'],
  listen: ['account', 'error'],
  ping: ['pong', 'error'],
}

const FEED = `Any WebSocket client: \`{wsUrl}/?token=…\` with the subprotocol \`${SUBPROTOCOL}\`. Control messages are JSON text,
prices are binary messages of ${PRICE_FRAME_BYTES} bytes. A socket is told only of what it subscribed to. A price that is not
taken is replaced by the newest one of its instrument, flagged CONFLATED; nothing queues.

Upgrades are refused with 401 (no valid token), 429 (ten connections already) or 503. A token is good for one minute:
\`POST /api/ws/token\` before each connection.`

const ROOM = `Clients of the Colyseus SDK join the room \`match\` with \`{ matchId }\`, with the same \`?token=\`. The synced state has
the match (state, phase, minute, score, trading) and each instrument's \`price\`, \`base\` and \`imbalance\` as integers in
millionths, at most half a second late.

Messages are those of the price feed without \`type\` and \`id\`: \`subscribe\`, \`unsubscribe\` and \`account\` in; \`price\` (the
same ${PRICE_FRAME_BYTES} bytes), \`account\`, \`notification\`, \`shutdown\` and \`error\` out. A request (\`room.request\`) is answered with
what \`subscribed\` and \`unsubscribed\` say. After a reconnection by the SDK \`subscribe\` still holds and \`account\` is to be
sent again; on \`shutdown\` wait that long and join anew.`

/** The document. */
export function describeFeed({ version, schemas }: FeedDescriptionOptions) {
  const messages = messagesOf()
  const names = Object.keys(messages)
  const reference = (channel: string, name: string) => ({ $ref: `#/channels/${channel}/messages/${name}` })
  const operations = HEARD.map((name) => [
    name,
    {
      action: 'receive',
      channel: { $ref: '#/channels/feed' },
      summary: messages[name]?.summary,
      messages: [reference('feed', name)],
      reply: {
        channel: { $ref: '#/channels/feed' },
        messages: (REPLIES[name] ?? []).map((reply) => reference('feed', reply)),
      },
    },
  ])
  const told = ['price', 'account', 'notification', 'heartbeat', 'shutdown']
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Touchline, the WebSocket address',
      version,
      description:
        'Prices of players and what happens to positions, as it happens. One port, two doors, one source of events. ' +
        'Everything else is REST: `GET /api/openapi.json`.',
    },
    defaultContentType: 'application/json',
    servers: {
      live: {
        host: 'localhost:3001',
        protocol: 'ws',
        description: 'Where it is says `wsUrl` in the answer to `POST /api/ws/token`; `wss` behind TLS.',
        security: [{ $ref: '#/components/securitySchemes/token' }],
      },
    },
    channels: {
      feed: {
        address: '/',
        title: 'The price feed',
        description: FEED,
        bindings: {
          ws: {
            method: 'GET',
            query: { type: 'object', properties: { token: { type: 'string' } }, required: ['token'] },
            headers: { type: 'object', properties: { 'Sec-WebSocket-Protocol': { const: SUBPROTOCOL } } },
          },
        },
        messages: Object.fromEntries(
          [...names, 'price'].map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        'x-close-codes': CLOSE_CODES,
        'x-limits': LIMITS,
      },
      matchRoom: {
        address: 'match',
        title: 'The match room',
        description: ROOM,
        messages: Object.fromEntries(
          ['price', 'account', 'notification', 'shutdown', 'error'].map((name) => [
            name,
            { $ref: `#/components/messages/${name}` },
          ]),
        ),
      },
    },
    operations: {
      ...(Object.fromEntries(operations) as Readonly<Record<string, unknown>>),
      tell: {
        action: 'send',
        channel: { $ref: '#/channels/feed' },
        summary: 'What nobody has to ask for again.',
        messages: told.map((name) => reference('feed', name)),
      },
    },
    components: {
      securitySchemes: {
        token: {
          type: 'httpApiKey',
          in: 'query',
          name: 'token',
          description: 'From `POST /api/ws/token`; good for one minute, and until its user signs out.',
        },
      },
      messages: {
        ...Object.fromEntries(
          Object.entries(messages).map(([name, { summary, payload, example }]) => [
            name,
            { name, summary, contentType: 'application/json', payload, examples: [{ payload: example }] },
          ]),
        ),
        price: {
          name: 'price',
          title: 'The price frame',
          summary: `A price, ${PRICE_FRAME_BYTES} bytes, big-endian. Codes, types and versions that you do not know are to be skipped.`,
          contentType: 'application/octet-stream',
          payload: { type: 'string', format: 'binary', minLength: PRICE_FRAME_BYTES, maxLength: PRICE_FRAME_BYTES },
          'x-layout': placed(),
          'x-test-vectors': VECTORS,
        },
      },
      schemas,
    },
  }
}
