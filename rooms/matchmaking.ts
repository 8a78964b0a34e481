/** `POST {ws_url}/matchmake/:method/:target`: how an SDK client gets a seat in a room that exists. Nobody can create one. */
import { type IRoomCache, matchMaker, ServerError } from '@colyseus/core'
import { z } from 'zod'
import { type FixtureId, fixtureId } from '../actors/kernel/ids.ts'
import { admit, type VerifyToken } from './admission.ts'
import type { MatchDesk } from './match-desk.ts'
import { MATCH_ROOM, matchRoomId } from './match-room.ts'

const MatchOptions = z.object({ matchId: z.coerce.number().int().positive().max(0xffffffff) })
const ReconnectOptions = z.object({ reconnectionToken: z.string().min(1).max(64) })

/**
 * Seats a visitor. The methods are `joinById` (`match-<id>`), `join` (`match`, with `{ matchId }`) and `reconnect`, which
 * goes by its reconnection token alone since the WebSocket token has expired by then. A match that exists but sleeps is
 * woken. Colyseus's own routes are never mounted: they would let any client create rooms.
 */
export async function matchmake(request: Request, desk: MatchDesk, verify: VerifyToken): Promise<Response> {
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
  if (room === undefined) return refusal(404, 'NOT_FOUND', 'no such match')
  return seat(() => matchMaker.reserveSeatFor(room, {}, { userId: visitor.userId }))
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

const refusal = (status: number, code: string, error: string): Response => Response.json({ error, code }, { status })

function namedBy(roomName: string, options: unknown): FixtureId | null {
  const parsed = MatchOptions.safeParse(options)
  return roomName === MATCH_ROOM && parsed.success ? fixtureId(parsed.data.matchId) : null
}

function idIn(roomId: string): FixtureId | null {
  const matchId = new RegExp(`^${MATCH_ROOM}-(\\d+)$`).exec(roomId)?.[1]
  return matchId === undefined ? null : namedBy(MATCH_ROOM, { matchId })
}
