/** Every operation of the API description, with an address that can be asked for. */
import { assert } from '../../actors/kernel/assert.ts'
import { sessionId } from '../../actors/kernel/ids.ts'
import { type Scope, SCOPES } from '../../src/auth/scopes.ts'
import { ALICE, apiJudge, FIXTURE, PLAYER, POSITION, SESSION, UPCOMING } from './http-rig.ts'
import { LEAGUE, TOURNAMENT } from './league-ports.ts'
import { SUBSCRIPTION } from './push-port.ts'
import { ALERT } from './watchlist-port.ts'

/** An operation of the description. */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  /** What is described of its answers. */
  readonly refusals: string
  readonly ways: readonly Readonly<Record<string, readonly string[]>>[] | undefined
}

/** A key of the caller, if a test makes it. */
export const KEY = sessionId('0197f2a0-0000-7000-8000-0000000000e2')

/** An address for a described path: of what the rig has. */
export const concrete = (path: string): string =>
  path
    .replace('keys/{id}', `keys/${KEY}`)
    .replace('push/{id}', `push/${SUBSCRIPTION}`)
    .replace('alerts/{id}', `alerts/${ALERT}`)
    .replace('{instrumentId}', PLAYER)
    .replace('reminders/{matchId}', `reminders/${UPCOMING}`)
    .replace('{districtId}', '1')
    .replace('notifications/{id}', 'notifications/41')
    .replace('{matchId}/{seq}', '7/3')
    .replace('recaps/matches/{matchId}', `recaps/matches/${FIXTURE}`)
    .replace('matches/{matchId}', 'matches/7')
    .replace('flags/{key}', 'flags/new_board')
    .replace('settings/{key}', 'settings/trading.hold_secs')
    .replace('sessions/{id}', `sessions/${SESSION}`)
    .replace('leagues/{id}', `leagues/${LEAGUE}`)
    .replace('tournaments/{id}', `tournaments/${TOURNAMENT}`)
    .replace('{week}', '2026-W18')
    .replace('{code}', '9f2c4b7d01ae')
    .replace('users/{id}', `users/${ALICE}`)
    .replace('instruments/{id}', `instruments/${PLAYER}`)
    .replace('positions/{id}', `positions/${POSITION}`)
    .replace('webhooks/{id}', 'webhooks/0197f2a0-0000-7000-8000-0000000000d1')
    .replace('recordings/{id}', 'recordings/3')
    .replace('uploads/{name}', 'uploads/old-derby')
    .replace('tape/{id}/recording', 'tape/3/recording')
    .replace('{id}', String(FIXTURE))

async function describedOperations(): Promise<readonly Operation[]> {
  const { document } = await apiJudge()
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([lower, { security, responses }]) => {
      const method = lower.toUpperCase()
      const refusals = JSON.stringify(responses)
      return { name: `${method} ${path}`, method, path: concrete(path), refusals, ways: security }
    }),
  )
}
export const operations = await describedOperations()

/** The scope that an operation declares; null if it accepts no key, undefined if it asks for nothing. */
export function declared({ ways }: Operation): Scope | null | undefined {
  const named = SCOPES.filter((scope) => ways?.some((way) => way['personalKey']?.includes(scope)))
  assert(named.length < 2, 'an operation declares one scope')
  const isOpen = ways === undefined || ways.length === 0 || ways.some((way) => Object.keys(way).length === 0)
  return isOpen ? undefined : (named[0] ?? null)
}
