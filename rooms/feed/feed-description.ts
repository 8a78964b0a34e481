/**
 * The AsyncAPI 3 document of the WebSocket address: both endpoints, every message, close codes, limits, and the price
 * frame byte by byte. Requests are described by the schemas that parse them; tests check replies against the rest.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { PUBLISH_INTERVAL_MS } from '../../actors/kernel/limits.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { CLOSE } from '../sockets/close-codes.ts'
import { INSTRUMENTS_PER_SUBSCRIBER_MAX } from './fan-out.ts'
import { RESENT_MAX } from './history.ts'
import { MESSAGE_BYTES_MAX, SUBPROTOCOL } from '../sockets/limits.ts'
import { FeedRequest, INSTRUMENTS_PER_MESSAGE_MAX } from './feed-protocol.ts'
import { LOOKUPS_MAX, REQUESTS_WAITING_MAX } from './feed-socket.ts'
import { placed } from './price-frame-description.ts'
import { PRICE_FRAME_BYTES } from './price-frame.ts'
import { MESSAGES_PER_SECOND_MAX } from '../sockets/request-rate.ts'
import { CONNECTIONS_MAX, CONNECTIONS_PER_USER_MAX } from '../sockets/connection-limit.ts'
import { WRITE_DEADLINE_MS, QUEUED_BYTES_MAX, STRIKES_MAX } from '../sockets/write-deadline.ts'

type JsonSchema = Readonly<Record<string, unknown>>

export interface FeedDescriptionOptions {
  readonly version: string
  /** The JSON schemas shared with REST, by name: `AccountChanges`, `Notification` and those they refer to. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
}

/** Frames as bytes and as numbers. A test makes them with the encoder and fails if this file differs. */
const VECTORS: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'price-frame-vectors.json'), 'utf8'))

const CLOSE_CODES = {
  1000: 'Closed normally, by the client or because the connection is no longer used.',
  1009: `A message was larger than ${MESSAGE_BYTES_MAX / 1024} KiB.`,
  [CLOSE.restart]:
    'The server restarts, the match moves to another process, or the seat of a returning client is lost. Reconnect or ' +
    'join again with a new token, after `reconnectInMs` if it was sent.',
  [CLOSE.full]: `The server is full (${CONNECTIONS_MAX} connections over both endpoints), or cannot check tokens now. Reconnect later.`,
  [CLOSE.unauthorised]:
    'The token or seat is not valid, the user has signed out, or the session has ended. Get a new token; if there is none, sign in again.',
  [CLOSE.forbidden]:
    'The game is open to admins alone for now (`coming_soon`). Reconnect when `GET /api/flags` says so.',
  [CLOSE.tooSlow]: `Too slow: a write had not drained within ${WRITE_DEADLINE_MS} ms ${STRIKES_MAX} times running, or more than ${QUEUED_BYTES_MAX / 1024 ** 2} MiB were waiting to be sent.`,
  [CLOSE.tooMany]: `More than ${MESSAGES_PER_SECOND_MAX} messages in one second, ${CONNECTIONS_PER_USER_MAX} connections of a user, or sixty handshakes of a user in a minute.`,
}

const LIMITS = {
  'control messages a second': MESSAGES_PER_SECOND_MAX,
  'bytes of a message': MESSAGE_BYTES_MAX,
  'instrument ids in a message': INSTRUMENTS_PER_MESSAGE_MAX,
  'instruments a socket follows': INSTRUMENTS_PER_SUBSCRIBER_MAX,
  'requests waiting for an answer': REQUESTS_WAITING_MAX,
  'connections of a user, where the server has rate limits': CONNECTIONS_PER_USER_MAX,
  'connections of a process, over both endpoints': CONNECTIONS_MAX,
  'missed moves resent': RESENT_MAX,
  'handshakes and seats of a user a minute': 60,
  'account requests': 'once a second',
  'prices of one instrument a second': SECOND_MS / PUBLISH_INTERVAL_MS,
  'lookups of unknown instruments': `${LOOKUPS_MAX} at once, then one a second`,
}

const INSTRUMENT = '0198f3a2-7c1d-8e00-8f00-0123456789ab'
const SERVER_TIME = '2026-05-02T14:30:00.000Z'

const id = { type: 'integer', minimum: 0, description: 'Chosen by the client; the answer carries it too.' }
const instant = { type: 'string', format: 'date-time' }
const uuid = { type: 'string', maxLength: 64, description: 'As requested, in lower case.' }

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
        '`not_found`: no match publishes it (in the match room: it belongs to another match). `limit`: the ' +
        'connection already follows 500 instruments. `busy`: its price is not known yet, because another process is ' +
        'taking over its match or the request named too many unknown instruments; request it again after a second.',
    },
  }),
}

interface Message {
  readonly summary: string
  readonly payload: JsonSchema
  readonly example: unknown
}

type Messages = Readonly<Record<string, Message>>

/** What clients send. */
function requestMessages(): Messages {
  const requests = new Map<string, z.core.JSONSchema.BaseSchema>(
    FeedRequest.options.map((option) => [option.shape.type.value, z.toJSONSchema(option)] as const),
  )
  const request = (type: string): JsonSchema => {
    // Unknown fields in a message are ignored.
    const { $schema: _dialect, additionalProperties: _others, ...schema } = requests.get(type) ?? {}
    return schema
  }
  return {
    subscribe: {
      summary:
        'Follow more instruments. With `since`, the newest frame that the client has of their match, later frames ' +
        `are resent (flag REPLAY), in the order of \`seq\` over all instruments of the match; if that is more than ` +
        `${RESENT_MAX}, or they are no longer kept, the current price of each follows (flag SNAPSHOT). Send \`since\` ` +
        'only for instruments whose price you have had from this match; subscribe to the others without it.',
      payload: request('subscribe'),
      example: { type: 'subscribe', id: 7, instrumentIds: [INSTRUMENT], since: { epoch: 3, seq: 1041 } },
    },
    unsubscribe: {
      summary: 'Stop following instruments.',
      payload: request('unsubscribe'),
      example: { type: 'unsubscribe', id: 8, instrumentIds: [INSTRUMENT] },
    },
    listen: {
      summary:
        'Receive the events of your positions after the marker `since`, then live ones; without it a snapshot of the ' +
        'open positions comes first. In force until the connection ends.',
      payload: request('account'),
      example: { type: 'account', id: 9, since: '41' },
    },
    ping: { summary: 'Check the connection.', payload: request('ping'), example: { type: 'ping', id: 10 } },
  }
}

const reply = (type: string, properties: JsonSchema, optional?: readonly string[]): JsonSchema =>
  object({ type: { const: type }, ...properties }, optional)

/** What answers a request, except `account`. */
const ANSWERS: Messages = {
  subscribed: {
    summary: 'Reply to `subscribe`: the instruments followed, and those rejected. Their prices come next.',
    payload: reply('subscribed', { id, instrumentIds: { type: 'array', items: uuid }, rejected }),
    example: { type: 'subscribed', id: 7, instrumentIds: [INSTRUMENT], rejected: [] },
  },
  unsubscribed: {
    summary: 'Reply to `unsubscribe`. Frames already sent may still arrive.',
    payload: reply('unsubscribed', { id, instrumentIds: { type: 'array', items: uuid } }),
    example: { type: 'unsubscribed', id: 8, instrumentIds: [INSTRUMENT] },
  },
  pong: {
    summary: 'Reply to `ping`.',
    payload: reply('pong', { id, serverTime: instant }),
    example: { type: 'pong', id: 10, serverTime: SERVER_TIME },
  },
  heartbeat: {
    summary: 'Sent after ten seconds without another message.',
    payload: reply('heartbeat', { serverTime: instant }),
    example: { type: 'heartbeat', serverTime: SERVER_TIME },
  },
}

/** What the server sends by itself, except the price frame. */
const SENT: Messages = {
  account: {
    summary:
      'The events of your positions up to `marker`, in order and exactly once, as in `GET /api/account/changes`. ' +
      'The first one after a request carries its `id`. Keep the marker, and send it as `since` after a reconnection.',
    payload: {
      allOf: [
        { $ref: '#/components/schemas/AccountChanges' },
        { type: 'object', properties: { type: { const: 'account' }, id }, required: ['type'] },
      ],
    },
    example: { type: 'account', id: 9, marker: '41', snapshot: false, events: [], positions: null, more: false },
  },
  notification: {
    summary: 'A notification. Sent to connections that have requested `account`.',
    payload: reply('notification', { notification: { $ref: '#/components/schemas/Notification' } }),
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
    summary: 'The server is about to restart. Wait `reconnectInMs`, then reconnect with a new token.',
    payload: reply('shutdown', { reconnectInMs: { type: 'integer', minimum: 0 } }),
    example: { type: 'shutdown', reconnectInMs: 2_150 },
  },
  error: {
    summary: 'A message was invalid (`bad_message`), or cannot be processed now (`busy`, `unavailable`).',
    payload: reply('error', {
      id,
      code: { enum: ['bad_message', 'unavailable', 'busy'] },
      message: { type: 'string' },
    }),
    example: { type: 'error', code: 'bad_message', message: 'not JSON' },
  },
}

const REQUESTS = ['subscribe', 'unsubscribe', 'listen', 'ping'] as const
const REPLIES: Readonly<Record<(typeof REQUESTS)[number], readonly string[]>> = {
  subscribe: ['subscribed', 'error'],
  unsubscribe: ['unsubscribed', 'error'],
  listen: ['account', 'error'],
  ping: ['pong', 'error'],
}

const FEED = `For any WebSocket client: \`{wsUrl}/?token=…\` with the subprotocol \`${SUBPROTOCOL}\`. Control messages
are JSON text, prices are binary messages of ${PRICE_FRAME_BYTES} bytes. A connection receives only what it subscribed
to. In play each price is sent at least every ten seconds, moved or not; an unmoved one has itself as
\`previousPrice\` and is not resent to those who missed it. If a client reads too slowly, waiting prices are replaced by
the newest one of their instrument, flagged CONFLATED; no queue builds up.

A connection that is refused is accepted and at once closed with a code that says why, since a browser learns nothing
from an HTTP status. When very many are refused, and for an address with too many handshakes in a minute, the answer
is the status alone: 401, 403, 429 or 503. A token is valid for one minute: call \`POST /api/ws/token\` before each
connection. Reconnect after a random delay, longer after each failure; after \`shutdown\`, when it
says: thousands of other clients have lost the same server.`

const ROOM = `For clients of the Colyseus SDK: join the room \`match\` with \`{ matchId }\` and the same \`?token=\`.
\`joinOrCreate\` joins, too: clients create no rooms, and an unknown match is 404. The synced state has the match
(state, phase, minute, score, trading) and, of each instrument that the client has subscribed to, \`price\`,
\`base\` and \`imbalance\` as integers in millionths, at most half a second late. It shows no other instrument.

Messages are those of the price feed without \`type\` and \`id\`: \`subscribe\`, \`unsubscribe\` and \`account\` in;
\`price\` (the same ${PRICE_FRAME_BYTES} bytes), \`account\`, \`notification\`, \`shutdown\` and \`error\` out. A
request (\`room.request\`) is answered with the body of \`subscribed\` or \`unsubscribed\`. After a reconnection by
the SDK \`subscribe\` is still in force and the current prices come as snapshots, but \`account\` must be sent again.
On \`shutdown\`, wait \`reconnectInMs\` and join again. A room closes with the codes above, and with Colyseus's own:
4000 when the client has left, 4002 when the join failed or took too long, 4010 when the client is back on a new
connection. The SDK itself reports 4003 when it has given up reconnecting: join again.`

/** The messages that the server sends without a request. */
const PUSHED = ['price', 'account', 'notification', 'heartbeat', 'shutdown']

/** The document. */
export function describeFeed({ version, schemas }: FeedDescriptionOptions) {
  const messages = { ...requestMessages(), ...ANSWERS, ...SENT }
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Touchline, the WebSocket address',
      version,
      description:
        'Live prices and position events. One port with two endpoints, the price feed and the match room, from the ' +
        'same source of events. Everything else is REST: `GET /api/openapi.json`.',
    },
    defaultContentType: 'application/json',
    servers: {
      live: {
        host: 'localhost:3001',
        protocol: 'ws',
        description: '`POST /api/ws/token` answers with the address in `wsUrl`; `wss` behind TLS.',
        security: [{ $ref: '#/components/securitySchemes/token' }],
      },
    },
    channels: channelsOf(Object.keys(messages)),
    operations: operationsOf(messages),
    components: {
      securitySchemes: {
        token: {
          type: 'httpApiKey',
          in: 'query',
          name: 'token',
          description: 'From `POST /api/ws/token`. Valid for one minute, and until the user signs out.',
        },
      },
      messages: componentsOf(messages),
      schemas,
    },
  }
}

const channelsOf = (names: readonly string[]) => ({
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
    messages: messageReferences([...names, 'price']),
    'x-close-codes': CLOSE_CODES,
    'x-limits': LIMITS,
  },
  matchRoom: {
    address: 'match',
    title: 'The match room',
    description: ROOM,
    messages: messageReferences(['price', 'account', 'notification', 'shutdown', 'error']),
  },
})

const messageReferences = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }]))

function operationsOf(messages: Readonly<Record<string, Message>>): Readonly<Record<string, unknown>> {
  const feed = { $ref: '#/channels/feed' }
  const reference = (name: string) => ({ $ref: `#/channels/feed/messages/${name}` })
  const requests = REQUESTS.map((name) => [
    name,
    {
      action: 'receive',
      channel: feed,
      summary: messages[name]?.summary,
      messages: [reference(name)],
      reply: { channel: feed, messages: REPLIES[name].map(reference) },
    },
  ])
  const push = {
    action: 'send',
    channel: feed,
    summary: 'Sent without a request.',
    messages: PUSHED.map(reference),
  }
  return { ...(Object.fromEntries(requests) as Readonly<Record<string, unknown>>), push }
}

const componentsOf = (messages: Readonly<Record<string, Message>>) => ({
  ...Object.fromEntries(
    Object.entries(messages).map(([name, { summary, payload, example }]) => [
      name,
      { name, summary, contentType: 'application/json', payload, examples: [{ payload: example }] },
    ]),
  ),
  price: {
    name: 'price',
    title: 'The price frame',
    summary: `A price in ${PRICE_FRAME_BYTES} bytes, big-endian. Skip frames of an unknown type or version, and codes you do not know.`,
    contentType: 'application/octet-stream',
    payload: { type: 'string', format: 'binary', minLength: PRICE_FRAME_BYTES, maxLength: PRICE_FRAME_BYTES },
    'x-layout': placed(),
    'x-test-vectors': VECTORS,
  },
})
