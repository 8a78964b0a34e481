import { describe, expect, it, vi } from 'vitest'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { fastOrElse } from '../../db/fast/fast-or-else.ts'
import { Rates } from '../../db/rates.ts'
import type { HttpDeps } from '../../src/http/ports.ts'
import { TestWorld } from '../support/test-world.ts'
import { CODE } from './league-ports.ts'
import { NOW, openHttpRig, order, POSITION } from './http-rig.ts'

/** A rig behind one proxy, with rate limits. Two rigs may share their counts. */
async function openLimited(perMinute = 200, rates: HttpDeps['limits']['rates'] = ratesOf(new TestWorld({ now: NOW }))) {
  const rig = await openHttpRig({ deps: { limits: { perMinute, siteFactor: 0, trustedProxies: 1, rates } } })
  const from = async (address: string, path: string, init: RequestInit = {}) =>
    rig.app.request(path, { ...init, headers: { 'x-forwarded-for': address } })
  return { ...rig, from }
}

const ratesOf = (world: TestWorld) => new Rates(fastOrElse(new FastMemory(world), world), world)
const statuses = async (answers: readonly Promise<Response>[]) =>
  Object.groupBy(
    (await Promise.all(answers)).map(({ status }) => status),
    String,
  )

describe('the limit of an address', () => {
  it('counts one address alone, and restarts after a minute', async () => {
    const world = new TestWorld({ now: NOW })
    const { from } = await openLimited(1, ratesOf(world))
    const ask = async (address: string) => (await from(address, '/api/districts')).status
    expect([await ask('203.0.113.7'), await ask('203.0.113.7'), await ask('203.0.113.8')]).toEqual([200, 429, 200])
    world.pass(59_999)
    expect(await ask('203.0.113.7')).toBe(429)
    world.pass(1)
    expect(await ask('203.0.113.7')).toBe(200)
  })

  it('[H6] passes exactly the remaining ones of 200 parallel requests, over two servers together', async () => {
    const rates = ratesOf(new TestWorld({ now: NOW }))
    const [one, two] = [await openLimited(150, rates), await openLimited(150, rates)]
    const asked = Array.from({ length: 200 }, (_, n) => (n % 2 ? one : two).from('203.0.113.7', '/api/districts'))
    const counted = await statuses(asked)
    expect([counted['200']?.length, counted['429']?.length]).toEqual([150, 50])
  })

  it('[H7] counts unknown paths and refused requests, but not health checks', async () => {
    const { from } = await openLimited(4)
    for (let n = 0; n < 9; n++) expect((await from('203.0.113.7', '/health')).status).toBe(200)
    expect((await from('203.0.113.7', '/nowhere')).status).toBe(404)
    expect((await from('203.0.113.7', '/api/wallet')).status).toBe(401)
    expect((await from('203.0.113.7', '/api/positions/open', { method: 'POST' })).status).toBe(401)
    expect((await from('203.0.113.7', `/api/positions/${POSITION}`, { method: 'PATCH' })).status).toBe(401)
    expect((await from('203.0.113.7', '/api/positions/open', { method: 'POST' })).status).toBe(429)
    expect((await from('203.0.113.7', '/nowhere')).status).toBe(429)
  })

  it('[H7] counts looks at shared addresses, which beyond it show what any invitation shows', async () => {
    const { from, ports } = await openLimited()
    const looks = vi.spyOn(ports.leagues, 'byCode')
    const shown = async (): Promise<boolean> =>
      (await (await from('203.0.113.7', `/league/${CODE}`)).text()).includes('invites you to')
    for (let n = 0; n < 60; n++) expect(await shown()).toBe(true)
    expect([await shown(), looks.mock.calls.length]).toEqual([false, 60])
  })

  it('of 0 disables rate limiting', async () => {
    const { from, send } = await openLimited(0)
    const asked = Array.from({ length: 300 }, () => from('203.0.113.7', '/api/districts'))
    expect(Object.keys(await statuses(asked))).toEqual(['200'])
    const orders = Array.from({ length: 50 }, () => send('POST', '/api/positions/open', order))
    expect(Object.keys(await statuses(orders))).toEqual(['201'])
    expect((await from('203.0.113.7', '/api/districts')).headers.get('ratelimit')).toBeNull()
  })
})

describe('the limit of a user', () => {
  it('[H25] is 60 orders of a kind in any minute, at once or spread over it', async () => {
    const world = new TestWorld({ now: NOW })
    const { send, commands } = await openLimited(1_000, ratesOf(world))
    const open = () => send('POST', '/api/positions/open', order)
    expect((await open()).status).toBe(201)
    world.pass(30_000)
    const counted = await statuses(Array.from({ length: 70 }, open))
    expect([counted['201']?.length, counted['429']?.length, commands.length]).toEqual([59, 11, 60])
    const refused = await open()
    expect(refused.headers.get('retry-after')).toBe('30')
    expect(refused.headers.get('ratelimit')).toBe('"global";r=928;t=30, "open";r=0;t=30')
    expect(refused.headers.get('ratelimit-policy')).toBe('"global";q=1000;w=60, "open";q=60;w=60')
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', limit: 'open' })
    // Closes and changes are counted apart.
    expect((await send('POST', `/api/positions/${POSITION}/close`, {})).status).toBe(200)
    expect((await send('PATCH', `/api/positions/${POSITION}`, {})).status).toBe(200)
    // The first one is a minute old, and the 59 others are not.
    world.pass(30_000)
    expect([(await open()).status, (await open()).status]).toEqual([201, 429])
  })

  it('[H7] is beside the limit of the address, which counts orders as it counts every request', async () => {
    const { from, send } = await openLimited(4)
    expect((await from('203.0.113.7', '/api/districts')).status).toBe(200)
    for (const [method, path, body] of [
      ['POST', '/api/positions/open', order],
      ['POST', `/api/positions/${POSITION}/close`, {}],
      ['PATCH', `/api/positions/${POSITION}`, {}],
      ['GET', '/api/positions?no=such', undefined],
    ] as const) {
      const headers = { 'x-forwarded-for': '203.0.113.7' }
      const answer = await send(method, path, body, headers)
      const isOver = path.endsWith('such')
      expect([path, answer.status === 429]).toEqual([path, isOver])
      if (isOver) expect(await answer.json()).toMatchObject({ limit: 'global' })
    }
  })
})
