import { describe, expect, it } from 'vitest'
import type { RequestFacts } from '../../src/http/edge.ts'
import { createWsApp } from '../../src/http/app.ts'
import type { HttpDeps } from '../../src/http/ports.ts'
import { ALICE, openHttpRig, PLAYER } from './http-rig.ts'

const from = (remoteAddress: string) => ({ incoming: { socket: { remoteAddress } } })

async function openMeasured(access: HttpDeps['metrics']['access']) {
  const seen: RequestFacts[] = []
  const metrics = {
    access,
    contentType: 'text/plain; version=0.0.4',
    text: async () => 'numbers',
    observe: (facts: RequestFacts) => void seen.push(facts),
  }
  return { ...(await openHttpRig({ deps: { metrics } })), seen }
}

describe('who may read the metrics', () => {
  const INSIDE = [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.8.0.1',
    '172.31.0.9',
    '192.168.1.1',
    'fd00::7',
    '100.64.0.1',
  ]
  const OUTSIDE = ['203.0.113.7', '172.32.0.1', '2001:db8::1', '::ffff:203.0.113.7', '', 'nonsense']

  it('by default callers from private addresses, but not requests that a proxy has forwarded', async () => {
    const { app } = await openMeasured('private')
    for (const address of INSIDE) {
      const answer = await app.request('/metrics', {}, from(address))
      expect([answer.status, await answer.text()], address).toEqual([200, 'numbers'])
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4')
    }
    for (const address of OUTSIDE) expect((await app.request('/metrics', {}, from(address))).status, address).toBe(404)
    for (const header of ['X-Forwarded-For', 'Forwarded']) {
      const passedOn = await app.request('/metrics', { headers: { [header]: '10.0.0.1' } }, from('10.0.0.2'))
      expect(passedOn.status, header).toBe(404)
    }
  })

  it('every caller if open, none if off', async () => {
    const open = await openMeasured('open')
    expect((await open.app.request('/metrics', {}, from('203.0.113.7'))).status).toBe(200)
    const off = await openMeasured('off')
    expect((await off.app.request('/metrics', {}, from('127.0.0.1'))).status).toBe(404)
  })

  it('the same on the WebSocket address', async () => {
    const { deps } = await openMeasured('private')
    const app = createWsApp({ ...deps, delay: async () => undefined, matchmake: async () => new Response() })
    expect((await app.request('/metrics', {}, from('127.0.0.1'))).status).toBe(200)
    expect((await app.request('/metrics', {}, from('203.0.113.7'))).status).toBe(404)
  })
})

describe('the metrics of a request', () => {
  it('carry its route and not its path, so that clients cannot create series', async () => {
    const { app, asAlice, seen, log } = await openMeasured('private')
    await app.request(`/api/instruments/${PLAYER}`)
    await app.request('/api/wallet')
    await asAlice('/api/wallet')
    await app.request('/api/nowhere/at/all')
    expect(seen).toMatchObject([
      { method: 'GET', route: '/api/instruments/:id', status: 401 },
      { method: 'GET', route: '/api/wallet', status: 401 },
      { method: 'GET', route: '/api/wallet', status: 200 },
      { method: 'GET', route: 'none', status: 404 },
    ])
    expect(log.map((line) => JSON.parse(line))).toMatchObject([{}, {}, { userId: ALICE }, {}])
  })
})
