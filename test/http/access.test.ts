import { describe, expect, it } from 'vitest'
import { z } from '@hono/zod-openapi'
import { present } from '../../actors/kernel/assert.ts'
import { allows, type Scope, SCOPES } from '../../src/auth/scopes.ts'
import { alice, ALICE, openHttpRig, SESSION } from './http-rig.ts'
import { declared, type Operation, operations } from './operations.ts'

const isForAdmins = ({ path }: Operation): boolean => path.startsWith('/api/admin/')

/** They change nothing that lasts. */
const CALCULATIONS: ReadonlySet<string> = new Set([
  'POST /api/positions/quote',
  'POST /api/referral/validate',
  'POST /api/ws/token',
])

const Answered = z.looseObject({ code: z.string().optional() })

/** What needs a fresh sign-in, each with a body that asks for it. */
const BODIES: Readonly<Record<string, object>> = {
  'POST /api/keys': { name: 'a key', scopes: ['admin:read'] },
  'POST /api/admin/gameplay-bot/stop': { outcome: 'void' },
  'POST /api/admin/matches/{id}/end': { outcome: 'void' },
  'POST /api/admin/positions/{id}/void': { reason: 'a test' },
  'POST /api/admin/webhooks': { url: 'https://hooks.example/events' },
  'PUT /api/admin/users/{id}/role': { role: 'user' },
  'PUT /api/admin/users/{id}/status': { status: 'frozen', reason: 'a test' },
}

type Verdict = 'passes' | 'UNAUTHORIZED' | 'SCOPE_MISSING' | 'FORBIDDEN'

async function verdictOn(response: Response): Promise<Verdict> {
  if (response.status !== 401 && response.status !== 403) return 'passes'
  const { code } = z.object({ code: z.string() }).parse(await response.json())
  if (code === 'UNAUTHORIZED' || code === 'SCOPE_MISSING' || code === 'FORBIDDEN') return code
  // A route that lets everybody in and then refuses what they bring: signing in, refreshing.
  return 'passes'
}

interface Bearer {
  readonly name: string
  readonly role: 'user' | 'admin'
  /** What the key allows; null for a cookie, undefined for nothing that counts. */
  readonly held: readonly Scope[] | null | undefined
  readonly headers: Readonly<Record<string, string>>
}

function expected(operation: Operation, { role, held }: Bearer): Verdict {
  const scope = declared(operation)
  if (scope === undefined) return 'passes'
  // No bearer here has the refresh cookie.
  if (operation.ways?.every((way) => 'refreshCookie' in way) === true) return 'UNAUTHORIZED'
  if (held === undefined) return 'UNAUTHORIZED'
  if (held !== null && (scope === null || !allows(held, scope))) return 'SCOPE_MISSING'
  return isForAdmins(operation) && role !== 'admin' ? 'FORBIDDEN' : 'passes'
}

async function bearers(role: 'user' | 'admin') {
  const rig = await openHttpRig({ role })
  const owner = { id: ALICE, role }
  const cookie = `game_access=${await rig.tokens.issueAccess({ ...alice, role }, SESSION)}`
  const { keyOf } = rig.keyRig
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const gone = await keyOf(owner, SCOPES)
  const [{ id }] = await rig.deps.keys.list(ALICE).then((keys) => [present(keys[0], 'key')] as const)
  await rig.deps.keys.delete(ALICE, id)
  const altered = (secret: string): string => secret.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
  const named: Bearer[] = [
    { name: 'nothing', role, held: undefined, headers: {} },
    { name: `the cookie of ${role}`, role, held: null, headers: { cookie } },
    ...(await Promise.all(
      [...SCOPES.map((scope) => [scope]), [...SCOPES]].map(async (held) => ({
        name: `a key of ${role} with ${held.join(', ')}`,
        role,
        held,
        headers: bearer(await keyOf(owner, held)),
      })),
    )),
    { name: 'a deleted key', role, held: undefined, headers: bearer(gone) },
    {
      name: 'an expired key',
      role,
      held: undefined,
      headers: bearer(await keyOf(owner, SCOPES, { expiresAt: rig.world.now() })),
    },
    {
      name: 'an altered key beside a cookie',
      role,
      held: undefined,
      headers: { ...bearer(altered(await keyOf(owner, SCOPES))), cookie },
    },
    { name: 'a token that is no key, beside a cookie', role, held: undefined, headers: { ...bearer('abc'), cookie } },
    {
      name: 'a key that may read, beside the cookie',
      role,
      held: ['read'],
      headers: { ...bearer(await keyOf(owner, ['read'])), cookie },
    },
  ]
  return { rig, named }
}

describe('who may call what', () => {
  it('[S16] is declared by every operation', () => {
    expect(operations.length).toBeGreaterThan(80)
    expect(operations.filter(({ ways }) => ways === undefined).map(({ name }) => name)).toEqual([])
    for (const operation of operations) {
      const scope = declared(operation)
      if (isForAdmins(operation))
        expect([operation.name, scope]).toEqual([operation.name, expect.not.stringMatching(/^(read|trade)$/)])
      if (scope === 'read' || scope === 'admin:read') {
        const isCalculation = CALCULATIONS.has(operation.name)
        expect([operation.name, operation.method === 'GET' || isCalculation]).toEqual([operation.name, true])
      }
    }
  })

  it('[S16] never lets a key manage keys, sessions or accounts', () => {
    const managing = operations.filter(({ path }) =>
      /^\/api\/(keys|auth|me\/|admin\/keys\/)|\/users\/[^/]+\/role$/.test(path),
    )
    expect(managing.length).toBeGreaterThan(8)
    expect(managing.filter((operation) => declared(operation)).map(({ name }) => name)).toEqual([])
  })

  it('[S23] is refused to an admin who signed in 15 minutes ago, where it cannot be undone or makes more admins', async () => {
    const rig = await openHttpRig({ role: 'admin' })
    const { world, tokens, keyRig } = rig
    const ask = async (name: string, headers: Record<string, string>) => {
      const { method, path } = present(
        operations.find((operation) => operation.name === name),
        name,
      )
      const body = JSON.stringify(BODIES[name])
      return rig.app.request(path, { method, body, headers: { 'content-type': 'application/json', ...headers } })
    }
    const described = operations.filter(({ refusals }) => refusals.includes('SIGN_IN_AGAIN')).map(({ name }) => name)
    expect(described.toSorted()).toEqual(Object.keys(BODIES).toSorted())
    const key = { authorization: `Bearer ${await keyRig.keyOf({ id: ALICE, role: 'admin' }, ['admin:write'])}` }
    for (const [passed, status] of [
      [899_000, expect.not.stringMatching('SIGN_IN_AGAIN')],
      [1_000, 'SIGN_IN_AGAIN'],
    ] as const) {
      world.pass(passed)
      const cookie = `game_access=${await tokens.issueAccess({ ...alice, role: 'admin' }, SESSION)}`
      for (const name of described) {
        const { code = 'done' } = Answered.parse(await (await ask(name, { cookie })).json())
        expect([name, code]).toEqual([name, status])
        // Its creation took a fresh sign-in.
        const byKey = Answered.parse(await (await ask(name, key)).json())
        expect([name, byKey.code]).not.toEqual([name, 'SIGN_IN_AGAIN'])
      }
    }
  })

  it.each([
    ['POST', '/api/admin/gameplay-bot/start', { fixtureId: 'goal-feast' }],
    ['POST', '/api/admin/gameplay-bot/stop', {}],
    ['POST', '/api/admin/leaderboard/rebuild-roi', {}],
    ['PUT', '/api/admin/flags/coming_soon', { enabled: false }],
    ['PUT', '/api/admin/settings/trading.hold_secs', { value: 180 }],
  ])('[S23] is not refused for an old sign-in where the specification knows no such refusal: %s %s', async (...row) => {
    const [method, path, asked] = row
    const { app, world, tokens } = await openHttpRig({ role: 'admin' })
    world.pass(900_000)
    const cookie = `game_access=${await tokens.issueAccess({ ...alice, role: 'admin' }, SESSION)}`
    const headers = { cookie, 'content-type': 'application/json' }
    const answer = await app.request(path, { method, body: JSON.stringify(asked), headers })
    expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
  })

  it.each(['user', 'admin'] as const)('[S16] is kept for every operation and every bearer: %s', async (role) => {
    const { rig, named } = await bearers(role)
    let asked = 0
    for (const operation of operations) {
      for (const bearer of named) {
        const { method, path } = operation
        // Signing out ends the session that the others need.
        if (bearer.held === null && path === '/api/auth/logout-all') continue
        const isEnding = path === `/api/auth/sessions/${SESSION}` && method === 'DELETE'
        if (bearer.held === null && isEnding) continue
        if (path === '/api/auth/logout') continue
        const response = await rig.app.request(path, { method, headers: { ...bearer.headers } })
        expect([operation.name, bearer.name, await verdictOn(response)]).toEqual([
          operation.name,
          bearer.name,
          expected(operation, bearer),
        ])
        asked++
      }
    }
    expect(asked).toBeGreaterThan(900)
  })
})
