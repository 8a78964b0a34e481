/**
 * A server that imitates the live provider and plays recorded matches, including a real provider's troubles. It knows
 * only those parts of the format that it must change.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MINUTE_MS } from '../../../actors/kernel/world.ts'
import { FRAME_MS, frameDue, type Recording } from '../../../actors/replay/recording.ts'
import { isPayload, type Payload } from './draft.ts'

/** What can go wrong with an answer. */
export const TROUBLES = [
  /** 429, with the seconds to wait. */
  'limited',
  'error',
  /** No answer at all. */
  'silence',
  /** Half the JSON, then the connection is cut. */
  'cut',
  /** Half the JSON, sent as a complete body. */
  'truncated',
  /** A prompt answer with the content from when the trouble began. */
  'frozen',
  /** The match clock is ten minutes ahead. */
  'clock',
  /** No line-ups, no events, no statistics, unknown states, numbers as text. */
  'gaps',
] as const
export type Trouble = (typeof TROUBLES)[number]

export interface PlayedRecording {
  readonly recording: Recording
  /** The fixture's number, instead of the recording's own. */
  readonly fixtureId: number
  /** When its first frame is due, in milliseconds of the mock's clock. */
  readonly startsAt: number
  /** After this many frames it leaves the matches in play; from then on only its number finds it. */
  readonly listedFrames?: number
}

export interface MockOptions {
  readonly matches: readonly PlayedRecording[]
  /** The mock's clock, in milliseconds since 1970. It runs at the speed of the matches. */
  readonly clock: () => number
  /** What is wrong with the next answer; null for nothing. */
  readonly trouble: () => Trouble | null
  /** Requests without this token are refused. */
  readonly token: string
  /** Calls left, as reported in each answer; null omits it. */
  readonly callsLeft: () => number | null
}

export interface ProviderMock {
  /** The value for PROVIDER_URL. */
  readonly url: string
  /** Every request so far: its path with the query. */
  readonly asked: readonly string[]
  close(): Promise<void>
}

const BASE = '/v3/football'
const CLOCK_JUMP_MINUTES = 10
/** How long an ended match stays among those in play, as with the provider. */
const AFTERGLOW_MS = 15 * MINUTE_MS
const LIMIT_RESETS_SECS = 1_800

export async function startMock(options: MockOptions, port = 0): Promise<ProviderMock> {
  const asked: string[] = []
  const frozen: { since: number | null } = { since: null }
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    answer(request, response, options, frozen)
  })
  await listen(server, port)
  const address: AddressInfo | string | null = server.address()
  const at = address !== null && typeof address === 'object' ? address.port : 0
  return {
    url: `http://127.0.0.1:${at}${BASE}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { matches, clock, trouble, token, callsLeft }: MockOptions,
  frozen: { since: number | null },
): void {
  const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  if (request.headers.authorization !== token) return send(401, { message: 'Unauthenticated.' })
  const limit = (remaining: number | null): Payload =>
    remaining === null
      ? {}
      : { rate_limit: { resets_in_seconds: LIMIT_RESETS_SECS, remaining, requested_entity: 'Fixture' } }
  const wrong = trouble()
  if (wrong !== 'frozen') frozen.since = null
  if (wrong === 'silence') return
  if (wrong === 'error') return send(500, { message: 'Server Error' })
  if (wrong === 'limited') {
    const words = 'You have reached the rate limit for this entity.'
    return send(429, { message: words, code: 5005, ...limit(0) }, { 'retry-after': '1' })
  }
  const now = wrong === 'frozen' ? (frozen.since ??= clock()) : clock()
  const found = fixturesFor(new URL(request.url ?? '/', 'http://mock').pathname, matches, now)
  if (found === null) return send(404, { message: 'The requested endpoint does not exist' })
  const data = found.map((payload) => spoilt(payload, wrong))
  const body =
    data.length === 0
      ? { message: 'No result(s) found matching your request.', ...limit(callsLeft()), timezone: 'UTC' }
      : { data, ...limit(callsLeft()), timezone: 'UTC' }
  if (wrong !== 'truncated' && wrong !== 'cut') return send(200, body)
  const half = JSON.stringify(body).slice(0, -(JSON.stringify(body).length >> 1))
  response.writeHead(200, { 'content-type': 'application/json' })
  if (wrong === 'truncated') response.end(half)
  else response.write(half, () => response.destroy())
}

/** The fixtures that a path asks for, or null when there is no such path. */
function fixturesFor(path: string, matches: readonly PlayedRecording[], now: number): readonly Payload[] | null {
  const wanted = (some: (match: PlayedRecording) => boolean): readonly Payload[] =>
    matches.filter(some).map((match) => payloadAt(match, now))
  if (path === `${BASE}/livescores/inplay`) return wanted((match) => isAround(match, now))
  const ids = /^\/v3\/football\/fixtures\/(?:multi\/)?([\d,]+)$/.exec(path)?.[1]
  if (ids !== undefined) return wanted(({ fixtureId }) => ids.split(',').includes(String(fixtureId)))
  const days = /^\/v3\/football\/fixtures\/between\/([\d-]+)\/([\d-]+)$/.exec(path)
  if (days === null) return null
  const [, from = '', to = ''] = days
  const day = ({ startsAt }: PlayedRecording): string => new Date(startsAt).toISOString().slice(0, 10)
  return wanted((match) => day(match) >= from && day(match) <= to)
}

function isAround({ recording, startsAt, listedFrames }: PlayedRecording, now: number): boolean {
  const listedMs =
    listedFrames === undefined ? recording.frames.length * FRAME_MS + AFTERGLOW_MS : listedFrames * FRAME_MS
  return now >= startsAt && now < startsAt + listedMs
}

/** The frame that is due. `_replay` is the recording's own note. */
function payloadAt({ recording, fixtureId, startsAt }: PlayedRecording, now: number): Payload {
  const frame = recording.frames[frameDue(recording, now - startsAt, 1)]
  const { _replay, ...payload } = isPayload(frame) ? frame : {}
  const starting = new Date(startsAt).toISOString()
  return {
    ...payload,
    id: fixtureId,
    starting_at: starting.slice(0, 19).replace('T', ' '),
    starting_at_timestamp: isInMilliseconds(payload['starting_at_timestamp']) ? startsAt : Math.floor(startsAt / 1000),
  }
}

/** A disturbed recording may have its dates in milliseconds. */
const isInMilliseconds = (timestamp: unknown): boolean => Number(timestamp) > 1e11

function spoilt(payload: Payload, trouble: Trouble | null): Payload {
  if (trouble === 'gaps') {
    const { lineups: _lineups, events: _events, statistics: _statistics, ...rest } = payload
    return { ...rest, league_id: String(payload['league_id']), weather: { unheard: ['of'] } }
  }
  if (trouble !== 'clock') return payload
  const ahead = (periods: unknown): unknown =>
    Array.isArray(periods) ? periods.map((period: unknown) => (isPayload(period) ? jumped(period) : period)) : periods
  return { ...payload, periods: ahead(payload['periods']), detailedperiods: ahead(payload['detailedperiods']) }
}

const jumped = (period: Payload): Payload =>
  period['ticking'] === true ? { ...period, minutes: Number(period['minutes']) + CLOCK_JUMP_MINUTES } : period

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}
