/**
 * Seats in match rooms: `POST {ws_url}/matchmake/:method/:target`, by which an SDK client joins a room or reconnects to
 * it.
 */
import { matchMaker, ServerError } from '@colyseus/core'
import { z } from 'zod'
import { type FixtureId, fixtureId, type UserId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import type { Peers } from '../cluster/peers.ts'
import type { Requests, SeatAnswer } from '../cluster/protocol.ts'
import { admit, type VerifyToken } from '../sockets/admission.ts'
import type { ConnectionLimit } from '../sockets/connection-limit.ts'
import type { MatchDesk } from './match-desk.ts'
import { type HostedMatch, MATCH_ROOM, matchRoomId } from './match-room.ts'

const MatchOptions = z.object({ matchId: z.coerce.number().int().positive().max(0xffffffff) })
const ReconnectOptions = z.object({ reconnectionToken: z.string().min(1).max(64) })

export interface Matchmaking {
  readonly desk: MatchDesk
  readonly hosted: ReadonlyMap<FixtureId, HostedMatch>
  readonly connectionLimit: ConnectionLimit
  readonly verify: VerifyToken
  /** Null when there are no other processes. */
  readonly peers: Peers | null
}

/**
 * Reserves a seat. The methods are `joinById` (`match-<id>`), `join` (`match`, with `{ matchId }`) and `reconnect`,
 * which needs only its reconnection token since the WebSocket token has expired by then. A match that does not run is
 * activated. The answer is 429 to a user with too many connections, and 503 when the process has too many. Colyseus's
 * own routes are never mounted: they would let any client create rooms.
 */
export async function matchmake(request: Request, matchmaking: Matchmaking): Promise<Response> {
  const { status, body, headers } = await answerTo(request, matchmaking)
  return Response.json(body, { status, ...(headers === undefined ? {} : { headers }) })
}

/** Reserves seats in the matches of this process for clients of other processes, which have verified their tokens. */
export function serveSeats(peers: Peers, matchmaking: Matchmaking): void {
  peers.serve('seat', ({ matchId, userId }) => seatHere(matchId, userId, matchmaking))
  peers.serve('reconnect', ({ matchId, reconnectionToken }) =>
    isHere(matchId, matchmaking) ? reconnectHere(matchRoomId(matchId), reconnectionToken) : undefined,
  )
}

async function answerTo(request: Request, matchmaking: Matchmaking): Promise<SeatAnswer> {
  if (request.method !== 'POST') return refusal(405, 'METHOD_NOT_ALLOWED', 'method not allowed')
  const url = new URL(request.url)
  const [method = '', target = ''] = url.pathname.split('/').slice(-2)
  const options: unknown = await request.json().catch(() => null)
  if (method === 'reconnect') return reconnect(target, options, matchmaking)
  if (method !== 'join' && method !== 'joinById') return refusal(403, 'FORBIDDEN', 'rooms can only be joined')

  const visitor = await admit(url, request.headers.get('authorization'), matchmaking.verify)
  if (visitor === null) return refusal(401, 'UNAUTHORIZED', 'invalid token')
  const matchId = method === 'join' ? matchIn(target, options) : matchOfRoom(target)
  if (matchId === null) return NO_SUCH_MATCH
  const { desk, peers } = matchmaking
  await desk.activate(matchId)
  const here = seatHere(matchId, visitor.userId, matchmaking)
  if (here !== undefined) return here
  return peers === null ? NO_SUCH_MATCH : askOwner(peers, 'seat', { matchId, userId: visitor.userId })
}

/** Undefined when the match does not run here. */
function seatHere(matchId: FixtureId, userId: UserId, matchmaking: Matchmaking): Promise<SeatAnswer> | undefined {
  const { hosted, connectionLimit } = matchmaking
  const match = hosted.get(matchId)
  if (match === undefined || !isHere(matchId, matchmaking)) return undefined
  const slot = connectionLimit.take(userId)
  if (slot === 'too_many')
    return Promise.resolve(refusal(429, 'TOO_MANY_CONNECTIONS', 'too many connections', RETRY_AFTER))
  if (slot === 'full') return Promise.resolve(refusal(503, 'FULL', 'the server is full', RETRY_AFTER))
  return reserved(async () => {
    try {
      const room = await matchMaker.getRoomById(matchRoomId(matchId))
      if (room === undefined) throw new ServerError(404, 'the match is leaving')
      const reservation = await matchMaker.reserveSeatFor(room, {}, { userId })
      match.expect(reservation.sessionId, slot)
      return reservation
    } catch (error) {
      slot.release()
      throw error
    }
  })
}

async function askOwner<K extends 'seat' | 'reconnect'>(
  peers: Peers,
  kind: K,
  request: Requests[K]['request'],
): Promise<SeatAnswer> {
  const asked = await peers.ask(kind, request, COMMAND_DEADLINE_MS)
  if (asked.kind === 'answered') return asked.answer
  if (asked.kind === 'unknown' || asked.kind === 'settled') return NO_SUCH_MATCH
  return refusal(503, 'BUSY', 'the match cannot be reached now', { 'retry-after': '1' })
}

const isHere = (matchId: FixtureId, { hosted }: Matchmaking): boolean => hosted.get(matchId)?.leaving === null

async function reconnect(roomId: string, options: unknown, matchmaking: Matchmaking): Promise<SeatAnswer> {
  const parsed = ReconnectOptions.safeParse(options)
  if (!parsed.success) return refusal(400, 'VALIDATION_FAILED', 'validation failed')
  const { reconnectionToken } = parsed.data
  const matchId = matchOfRoom(roomId)
  const { peers } = matchmaking
  if (peers === null || matchId === null || isHere(matchId, matchmaking))
    return reconnectHere(roomId, reconnectionToken)
  return askOwner(peers, 'reconnect', { matchId, reconnectionToken })
}

const reconnectHere = (roomId: string, reconnectionToken: string): Promise<SeatAnswer> =>
  reserved(() => matchMaker.reconnect(roomId, { reconnectionToken }))

async function reserved(reserve: () => Promise<unknown>): Promise<SeatAnswer> {
  try {
    return { status: 200, body: await reserve() }
  } catch (error) {
    if (error instanceof ServerError) return refusal(409, 'SEAT_UNAVAILABLE', error.message)
    throw error
  }
}

const RETRY_AFTER = { 'retry-after': '30' }

const refusal = (status: number, code: string, error: string, headers = {}): SeatAnswer => ({
  status,
  body: { error, code },
  headers,
})

const NO_SUCH_MATCH = refusal(404, 'NOT_FOUND', 'no such match')

function matchIn(roomName: string, options: unknown): FixtureId | null {
  const parsed = MatchOptions.safeParse(options)
  return roomName === MATCH_ROOM && parsed.success ? fixtureId(parsed.data.matchId) : null
}

function matchOfRoom(roomId: string): FixtureId | null {
  const matchId = new RegExp(`^${MATCH_ROOM}-(\\d+)$`).exec(roomId)?.[1]
  return matchId === undefined ? null : matchIn(MATCH_ROOM, { matchId })
}
