/** `POST {ws_url}/matchmake/:method/:target`: how an SDK client gets a seat in a room that exists. Nobody can create one. */
import { matchMaker, ServerError } from '@colyseus/core'
import { z } from 'zod'
import { type FixtureId, fixtureId, type UserId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import { admit, type VerifyToken } from '../sockets/admission.ts'
import type { MatchDesk } from './match-desk.ts'
import { type HostedMatch, MATCH_ROOM, matchRoomId } from './match-room.ts'
import type { Peers } from '../cluster/peers.ts'
import type { ConnectionLimit } from '../sockets/connection-limit.ts'

const MatchOptions = z.object({ matchId: z.coerce.number().int().positive().max(0xffffffff) })
const ReconnectOptions = z.object({ reconnectionToken: z.string().min(1).max(64) })

export interface Matchmaking {
  readonly desk: MatchDesk
  readonly hosted: ReadonlyMap<FixtureId, HostedMatch>
  readonly connectionLimit: ConnectionLimit
  readonly verify: VerifyToken
  /** The other processes; null when there is none. */
  readonly peers: Peers | null
}

/** A seat, or why there is none: what becomes of it over HTTP. */
interface Seating {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Seats a visitor. The methods are `joinById` (`match-<id>`), `join` (`match`, with `{ matchId }`) and `reconnect`, which
 * goes by its reconnection token alone since the WebSocket token has expired by then. A match that exists but sleeps is
 * woken. A user with too many connections gets 429, everybody 503 while the house is full. Colyseus's own routes are never
 * mounted: they would let any client create rooms.
 */
export async function matchmake(request: Request, matchmaking: Matchmaking): Promise<Response> {
  const { status, body, headers } = await seating(request, matchmaking)
  return Response.json(body, { status, ...(headers === undefined ? {} : { headers }) })
}

/** Seats visitors whom another process has let in, in the matches that run here. */
export function serveSeats(peers: Peers, matchmaking: Matchmaking): void {
  peers.serve('seat', (matchId, userId) => seatHere(matchId, userId as UserId, matchmaking))
  peers.serve('seat again', (matchId, options) =>
    isHere(matchId, matchmaking) ? reconnectHere(matchRoomId(matchId), options) : undefined,
  )
}

async function seating(request: Request, matchmaking: Matchmaking): Promise<Seating> {
  if (request.method !== 'POST') return refusal(405, 'METHOD_NOT_ALLOWED', 'method not allowed')
  const url = new URL(request.url)
  const [method = '', target = ''] = url.pathname.split('/').slice(-2)
  const options: unknown = await request.json().catch(() => null)
  if (method === 'reconnect') return reconnect(target, options, matchmaking)
  if (method !== 'join' && method !== 'joinById') return refusal(403, 'FORBIDDEN', 'rooms can only be joined')

  const visitor = await admit(url, request.headers.get('authorization'), matchmaking.verify)
  if (visitor === null) return refusal(401, 'UNAUTHORIZED', 'invalid token')
  const matchId = method === 'join' ? namedBy(target, options) : idIn(target)
  if (matchId === null) return NO_SUCH_MATCH
  const { desk, peers } = matchmaking
  await desk.activate(matchId)
  const here = seatHere(matchId, visitor.userId, matchmaking)
  if (here !== undefined) return here
  return peers === null ? NO_SUCH_MATCH : seatThere(peers, matchId, ['seat', visitor.userId])
}

/** Undefined when the match does not run here. */
function seatHere(matchId: FixtureId, userId: UserId, matchmaking: Matchmaking): Promise<Seating> | undefined {
  const { hosted, connectionLimit } = matchmaking
  const match = hosted.get(matchId)
  if (match === undefined || !isHere(matchId, matchmaking)) return undefined
  const pass = connectionLimit.enter(userId)
  if (pass === 'too_many')
    return Promise.resolve(refusal(429, 'TOO_MANY_CONNECTIONS', 'too many connections', RETRY_AFTER))
  if (pass === 'full') return Promise.resolve(refusal(503, 'FULL', 'the server is full', RETRY_AFTER))
  return seat(async () => {
    try {
      const room = await matchMaker.getRoomById(matchRoomId(matchId))
      if (room === undefined) throw new ServerError(404, 'the match is leaving')
      const reservation = await matchMaker.reserveSeatFor(room, {}, { userId })
      match.expect(reservation.sessionId, pass)
      return reservation
    } catch (error) {
      pass.giveBack()
      throw error
    }
  })
}

async function seatThere(peers: Peers, matchId: FixtureId, [kind, body]: readonly [string, unknown]): Promise<Seating> {
  const asked = await peers.ask(matchId, kind, body, COMMAND_DEADLINE_MS)
  if (asked.kind === 'answered') return asked.answer as Seating
  if (asked.kind === 'unknown' || asked.kind === 'settled') return NO_SUCH_MATCH
  return refusal(503, 'BUSY', 'the match cannot be reached now', { 'retry-after': '1' })
}

const isHere = (matchId: FixtureId, { hosted }: Matchmaking): boolean => hosted.get(matchId)?.leaving === null

async function reconnect(roomId: string, options: unknown, matchmaking: Matchmaking): Promise<Seating> {
  const matchId = idIn(roomId)
  const { peers } = matchmaking
  if (peers === null || matchId === null || isHere(matchId, matchmaking)) return reconnectHere(roomId, options)
  return seatThere(peers, matchId, ['seat again', options])
}

async function reconnectHere(roomId: string, options: unknown): Promise<Seating> {
  const parsed = ReconnectOptions.safeParse(options)
  if (!parsed.success) return refusal(400, 'VALIDATION_FAILED', 'validation failed')
  return seat(() => matchMaker.reconnect(roomId, parsed.data))
}

async function seat(reserve: () => Promise<unknown>): Promise<Seating> {
  try {
    return { status: 200, body: await reserve() }
  } catch (error) {
    if (error instanceof ServerError) return refusal(409, 'SEAT_UNAVAILABLE', error.message)
    throw error
  }
}

const RETRY_AFTER = { 'retry-after': '30' }

const refusal = (status: number, code: string, error: string, headers = {}): Seating => ({
  status,
  body: { error, code },
  headers,
})

const NO_SUCH_MATCH = refusal(404, 'NOT_FOUND', 'no such match')

function namedBy(roomName: string, options: unknown): FixtureId | null {
  const parsed = MatchOptions.safeParse(options)
  return roomName === MATCH_ROOM && parsed.success ? fixtureId(parsed.data.matchId) : null
}

function idIn(roomId: string): FixtureId | null {
  const matchId = new RegExp(`^${MATCH_ROOM}-(\\d+)$`).exec(roomId)?.[1]
  return matchId === undefined ? null : namedBy(MATCH_ROOM, { matchId })
}
