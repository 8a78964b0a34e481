/** Every operation of the API description, with an address that can be asked for. */
import { z } from '@hono/zod-openapi'
import { assert } from '../../actors/kernel/assert.ts'
import { type Scope, SCOPES } from '../../src/auth/scopes.ts'
import { ALICE, openHttpRig, PLAYER, POSITION, SESSION } from './http-rig.ts'

const Document = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        security: z.array(z.record(z.string(), z.array(z.string()))).optional(),
        responses: z.record(z.string(), z.unknown()),
      }),
    ),
  ),
})

/** An operation of the description. */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  /** What is described of its answers. */
  readonly refusals: string
  readonly ways: Readonly<Record<string, readonly string[]>>[] | undefined
}

/** An address for a described path. */
const concrete = (path: string): string =>
  path
    .replace('{districtId}', '1')
    .replace('notifications/{id}', 'notifications/41')
    .replace('{matchId}/{seq}', '7/3')
    .replace('flags/{key}', 'flags/coming_soon')
    .replace('settings/{key}', 'settings/trading.hold_secs')
    .replace('instruments/{id}', `instruments/${PLAYER}`)
    .replace('positions/{id}', `positions/${POSITION}`)
    .replace('matches/{id}', 'matches/19155071')
    .replace('users/{id}', `users/${ALICE}`)
    .replace('{id}', SESSION)

async function describedOperations(): Promise<readonly Operation[]> {
  const { app } = await openHttpRig()
  const { paths } = Document.parse(await (await app.request('/api/openapi.json')).json())
  return Object.entries(paths).flatMap(([path, methods]) =>
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
