/** `POST {ws_url}/matchmake/:method/:target`: how an SDK client gets a seat in a room that exists. Nobody can create one. */
import { type IRoomCache, matchMaker, ServerError } from '@colyseus/core'
import { z } from 'zod'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import { admit, type VerifyToken } from './admission.ts'
import type { MatchDesk } from './match-desk.ts'
import { type HostedMatch, MATCH_ROOM, matchRoomId } from './match-room.ts'
import type { Turnstile } from './turnstile.ts'

const MatchOptions = z.object({ matchId: z.coerce.number().int().positive().max(0xffffffff) })
const ReconnectOptions = z.object({ reconnectionToken: z.string().min(1).max(64) })

export interface Matchmaking {
  readonly desk: MatchDesk
  readonly hosted: ReadonlyMap<FixtureId, HostedMatch>
  readonly turnstile: Turnstile
  readonly verify: VerifyToken
}

/**
 * Seats a visitor. The methods are `joinById` (`match-<id>`), `join` (`match`, with `{ matchId }`) and `reconnect`, which
 * goes by its reconnection token alone since the WebSocket token has expired by then. A match that exists but sleeps is
 * woken. A user with too many connections gets 429, everybody 503 while the house is full. Colyseus's own routes are never
 * mounted: they would let any client create rooms.
 */
export async function matchmake(request: Request, { desk, hosted, turnstile, verify }: Matchmaking): Promise<Response> {
  if (request.method !== 'POST') return refusal(405, 'METHOD_NOT_ALLOWED', 'method not allowed')
  const url = new URL(request.url)
  const [method = '', target = ''] = url.pathname.split('/').slice(-2)
  const options: unknown = await request.json().catch(() => null)
  if (method === 'reconnect') return reconnect(target, options)
  if (method !== 'join' && method !== 'joinById') return refusal(403, 'FORBIDDEN', 'rooms can only be joined')

  const visitor = await admit(url, request.headers.get('authorization'), verify)
  if (visitor === null) return refusal(401, 'UNAUTHORIZED', 'invalid token')
  const matchId = method === 'join' ? namedBy(target, options) : idIn(target)
  if (matchId === null || (await desk.activate(matchId)) === null) return refusal(404, 'NOT_FOUND', 'no such match')
  const room: IRoomCache | undefined = await matchMaker.getRoomById(matchRoomId(matchId))
  const match = hosted.get(matchId)
  if (room === undefined || match === undefined) return refusal(404, 'NOT_FOUND', 'no such match')
  const pass = turnstile.enter(visitor.userId)
  if (pass === 'too_many') return refusal(429, 'TOO_MANY_CONNECTIONS', 'too many connections', RETRY_AFTER)
  if (pass === 'full') return refusal(503, 'FULL', 'the server is full', RETRY_AFTER)
  return seat(async () => {
    try {
      const reservation = await matchMaker.reserveSeatFor(room, {}, { userId: visitor.userId })
      match.expect(reservation.sessionId, pass)
      return reservation
    } catch (error) {
      pass.giveBack()
      throw error
    }
  })
}

async function reconnect(roomId: string, options: unknown): Promise<Response> {
  const parsed = ReconnectOptions.safeParse(options)
  if (!parsed.success) return refusal(400, 'VALIDATION_FAILED', 'validation failed')
  return seat(() => matchMaker.reconnect(roomId, parsed.data))
}

async function seat(reserve: () => Promise<unknown>): Promise<Response> {
  try {
    return Response.json(await reserve())
  } catch (error) {
    if (error instanceof ServerError) return refusal(409, 'SEAT_UNAVAILABLE', error.message)
    throw error
  }
}

const RETRY_AFTER = { 'retry-after': '30' }

const refusal = (status: number, code: string, error: string, headers = {}): Response =>
  Response.json({ error, code }, { status, headers })

function namedBy(roomName: string, options: unknown): FixtureId | null {
  const parsed = MatchOptions.safeParse(options)
  return roomName === MATCH_ROOM && parsed.success ? fixtureId(parsed.data.matchId) : null
}

function idIn(roomId: string): FixtureId | null {
  const matchId = new RegExp(`^${MATCH_ROOM}-(\\d+)$`).exec(roomId)?.[1]
  return matchId === undefined ? null : namedBy(MATCH_ROOM, { matchId })
}
