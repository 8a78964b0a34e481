/** The setup of a run: where a server of our own keeps its data, the users, and the instruments in play. */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { folderPlace, type DataPlace, serverPlace } from '../rig/data-place.ts'
import type { Instrument } from './simulated-user.ts'
import type { Rest } from './rest.ts'

const BATCH_MAX = 1_000

/** A place for a server of our own: on DATABASE_URL and REDIS_URL if they are set, otherwise in a folder. */
export async function ownPlace(): Promise<DataPlace> {
  const { DATABASE_URL: database, REDIS_URL: redis } = process.env
  return database === undefined ? folderPlace() : serverPlace(database, redis ?? null)
}

/** The access tokens of this many new synthetic users. Throws if the server has no dev routes. */
export async function signIn(rest: Rest, count: number): Promise<string[]> {
  const Batch = z.object({ users: z.array(z.looseObject({ accessToken: z.string() })) })
  const tokens: string[] = []
  // Names of this run alone, so that every account begins with its first event here.
  const run = Date.now().toString(36)
  for (let made = 0; made < count; made += BATCH_MAX) {
    const body = { count: Math.min(BATCH_MAX, count - made), prefix: `Load ${run} ${made / BATCH_MAX}` }
    const reply = await rest.ask({ method: 'POST', path: '/api/auth/dev/batch', body })
    if (reply.status === 404)
      throw new Error('users cannot sign in: the server has no dev routes (it is in production)')
    if (reply.status !== 200) throw new Error(`signing in was answered ${reply.status}: ${JSON.stringify(reply.body)}`)
    tokens.push(...Batch.parse(reply.body).users.map(({ accessToken }) => accessToken))
  }
  return tokens
}

/**
 * The access token of the synthetic user of this name, who is an admin if ADMIN_EMAILS has their address. Throws if the
 * server does not sign them in.
 */
export async function auditorOf(rest: Rest, displayName: string): Promise<string> {
  const signedIn = await fetch(new URL('/api/auth/dev', rest.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ displayName }),
  })
  const cookie = signedIn.headers.getSetCookie().find((set) => set.startsWith('game_access='))
  if (cookie === undefined) throw new Error(`the sign-in of ${displayName} was answered ${signedIn.status}`)
  return cookie.slice('game_access='.length, cookie.indexOf(';'))
}

/** The users of the personal keys in a file, one a line: a server in production has no dev routes. */
export async function usersOf(rest: Rest, file: string, count: number): Promise<string[]> {
  const keys = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  if (keys.length < count)
    throw new Error(`${count} users are needed, and ${file} has ${keys.length} keys; lower --users or --sockets`)
  const tokens = keys.slice(0, count)
  const ids: string[] = []
  for (const [n, token] of tokens.entries()) {
    const { status, body } = await rest.ask({ method: 'GET', path: '/api/me', token })
    const me = z.looseObject({ userId: z.string().optional() }).parse(body)
    if (status !== 200 || me.userId === undefined) throw new Error(`key ${n + 1} of ${file} does not count`)
    ids.push(me.userId)
  }
  if (new Set(ids).size < ids.length) throw new Error(`${file} has several keys of one user; each user needs one`)
  return tokens
}

/** The instruments open for trading, once there are any. Throws after half a minute without. */
export async function waitForMatch(rest: Rest, tokens: readonly string[]): Promise<Instrument[]> {
  const Shown = z.looseObject({ id: z.string(), fixtureId: z.int(), tradingStatus: z.string() })
  const Instruments = z.object({ instruments: z.array(Shown) })
  for (let looks = 0; looks < 60; looks++) {
    const { status, body } = await rest.ask({ method: 'GET', path: '/api/instruments', token: tokens[0] ?? '' })
    const open = status === 200 ? Instruments.parse(body).instruments.filter((i) => i.tradingStatus !== 'CLOSED') : []
    if (open.length > 0) return open
    await pause(500)
  }
  throw new Error('no match is in play')
}
