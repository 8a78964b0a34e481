/**
 * Seats in match rooms: `POST {ws_url}/matchmake/:method/:target`, by which an SDK client joins a room or reconnects to
 * it.
 */
import { matchMaker, ServerError } from '@colyseus/core'
import { z } from 'zod'
import { type FixtureId, fixtureId } from '../../actors/kernel/ids.ts'
import { COMMAND_DEADLINE_MS } from '../../actors/kernel/limits.ts'
import type { Peers } from '../cluster/peers.ts'
import type { Requests, SeatAnswer } from '../cluster/protocol.ts'
import type { WakeLimiter } from '../feed/wake-limiter.ts'
import { admit, type VerifyToken, type Visitor } from '../sockets/admission.ts'
import type { ConnectionLimit } from '../sockets/connection-limit.ts'
import type { Door } from '../sockets/door.ts'
import type { MatchDesk } from './match-desk.ts'
import { type HostedMatch, MATCH_ROOM, matchRoomId } from './match-room.ts'

const JOINS: ReadonlySet<string> = new Set(['join', 'joinOrCreate', 'joinById'])
const MatchOptions = z.object({ matchId: z.coerce.number().int().positive().max(0xffffffff) })
const ReconnectOptions = z.object({ reconnectionToken: z.string().min(1).max(64) })

export interface Matchmaking {
  readonly desk: MatchDesk
  readonly hosted: ReadonlyMap<FixtureId, HostedMatch>
  readonly connectionLimit: ConnectionLimit
  readonly door: Door
  readonly verify: VerifyToken
  readonly wakes: WakeLimiter
  /** Null when there are no other processes. */
  readonly peers: Peers | null
}

/**
 * Reserves a seat. The methods are `joinById` (`match-<id>`), `join` and `joinOrCreate` (`match`, with `{ matchId }`),
 * which both only join, and `reconnect`, which needs only its reconnection token since the WebSocket token has expired
 * by then. A match that does not run is
 * activated, a few at a time, and one that does not exist is remembered for two seconds. The answer is 429 to a user
 * with too many connections or requests, and 503 when the process has too many, or while the game is open to admins
 * alone. Colyseus's own routes are never mounted: they would let any client create rooms.
 */
export async function matchmake(request: Request, matchmaking: Matchmaking): Promise<Response> {
  const { status, body, headers } = await answerTo(request, matchmaking)
  return Response.json(body, { status, ...(headers === undefined ? {} : { headers }) })
}

/** Reserves seats in the matches of this process for clients of other processes, which have verified their tokens. */
export function serveSeats(peers: Peers, matchmaking: Matchmaking): void {
  peers.serve('seat', ({ matchId, ...visitor }) => seatHere(matchId, visitor, matchmaking))
  peers.serve('reconnect', ({ matchId, reconnectionToken }) =>
    isHere(matchId, matchmaking) ? reconnectHere(matchRoomId(matchId), reconnectionToken) : undefined,
  )
}

async function answerTo(request: Request, matchmaking: Matchmaking): Promise<SeatAnswer> {
  if (request.method !== 'POST') return refusal(405, 'METHOD_NOT_ALLOWED', 'method not allowed', { allow: 'POST' })
  const url = new URL(request.url)
  const [method = '', target = ''] = url.pathname.split('/').slice(-2)
  // Nothing is read of a request that is refused.
  const options = (): Promise<unknown> => request.json().catch(() => null)
  if (!(await matchmaking.door.turn())) return BUSY
  if (method === 'reconnect') return reconnect(target, await options(), matchmaking)
  if (!JOINS.has(method)) return refusal(403, 'FORBIDDEN', 'rooms can only be joined')

  const visitor = await admit(url, request.headers.get('authorization'), matchmaking.verify)
  if (visitor === null) return refusal(401, 'UNAUTHORIZED', 'invalid token')
  if (visitor === 'forbidden') return COMING_SOON
  if (!(await matchmaking.door.admitsUser(visitor.userId))) return TOO_MANY_REQUESTS
  const matchId = method === 'joinById' ? matchOfRoom(target) : matchIn(target, await options())
  return matchId === null ? NO_SUCH_MATCH : seat(matchId, visitor, matchmaking)
}

/** A seat in a match, wherever it runs. One that runs nowhere is activated, if it exists. */
async function seat(matchId: FixtureId, visitor: Visitor, matchmaking: Matchmaking): Promise<SeatAnswer> {
  const { desk, peers, wakes } = matchmaking
  const here = seatHere(matchId, visitor, matchmaking)
  if (here !== undefined) return here
  const name = matchRoomId(matchId)
  if (wakes.isUnknown(name)) return NO_SUCH_MATCH
  const answer = await wakes.inTurn(async () => {
    await desk.activate(matchId)
    const woken = seatHere(matchId, visitor, matchmaking)
    if (woken !== undefined) return woken
    const { userId, sessionId } = visitor
    return peers === null ? NO_SUCH_MATCH : askOwner(peers, 'seat', { matchId, userId, sessionId })
  })
  if (answer === NO_SUCH_MATCH) wakes.rememberUnknown(name)
  return answer === 'busy' ? BUSY : answer
}

/** Undefined when the match does not run here. */
function seatHere(matchId: FixtureId, visitor: Visitor, matchmaking: Matchmaking): Promise<SeatAnswer> | undefined {
  const { hosted, connectionLimit } = matchmaking
  const match = hosted.get(matchId)
  if (match === undefined || !isHere(matchId, matchmaking)) return undefined
  const slot = connectionLimit.take(visitor)
  if (slot === 'too_many')
    return Promise.resolve(refusal(429, 'TOO_MANY_CONNECTIONS', 'too many connections', RETRY_AFTER))
  if (slot === 'full') return Promise.resolve(refusal(503, 'FULL', 'the server is full', RETRY_AFTER))
  return reserved(async () => {
    try {
      const room = await matchMaker.getRoomById(matchRoomId(matchId))
      if (room === undefined) throw new ServerError(404, 'the match is leaving')
      // Not the whole visitor: Colyseus would take their `sessionId` for that of the seat, which must not be known.
      const reservation = await matchMaker.reserveSeatFor(room, {}, { userId: visitor.userId })
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
  return BUSY
}

const isHere = (matchId: FixtureId, { hosted }: Matchmaking): boolean => hosted.get(matchId)?.leaving === null

async function reconnect(roomId: string, options: unknown, matchmaking: Matchmaking): Promise<SeatAnswer> {
  const parsed = ReconnectOptions.safeParse(options)
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
    return { status: 400, body: { error: 'validation failed', code: 'VALIDATION_FAILED', issues } }
  }
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

const BUSY = refusal(503, 'BUSY', 'the match cannot be reached now', { 'retry-after': '1' })
const COMING_SOON = refusal(503, 'COMING_SOON', 'coming soon', { 'retry-after': '60' })
const TOO_MANY_REQUESTS = refusal(429, 'RATE_LIMITED', 'too many requests', { 'retry-after': '60' })
const NO_SUCH_MATCH = refusal(404, 'NOT_FOUND', 'no such match')

function matchIn(roomName: string, options: unknown): FixtureId | null {
  const parsed = MatchOptions.safeParse(options)
  return roomName === MATCH_ROOM && parsed.success ? fixtureId(parsed.data.matchId) : null
}

function matchOfRoom(roomId: string): FixtureId | null {
  const matchId = new RegExp(`^${MATCH_ROOM}-(\\d+)$`).exec(roomId)?.[1]
  return matchId === undefined ? null : matchIn(MATCH_ROOM, { matchId })
}
