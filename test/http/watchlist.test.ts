import { beforeAll, expect, it } from 'vitest'
import { FIXTURE, type HttpRig, openHttpRig, PLAYER, UPCOMING } from './http-rig.ts'
import { ALERT } from './watchlist-port.ts'

let rig: HttpRig
beforeAll(async () => {
  rig = await openHttpRig()
})

const ask: HttpRig['ask'] = (...request) => rig.ask(...request)
const UNKNOWN = PLAYER.replace(/1$/, '2')
const FULL = PLAYER.replace(/1$/, 'f')

it('[R30] a player is followed and left, both any number of times', async () => {
  for (const _ of [1, 2]) expect(await ask('PUT', `/api/me/follows/${PLAYER}`, {})).toMatchObject({ status: 200 })
  expect((await ask('GET', '/api/me/follows')).body).toMatchObject({
    kinds: ['lineup', 'kickoff', 'goal', 'card', 'pitch'],
    players: [{ instrumentId: PLAYER, player: 'A. Striker', currentPrice: 200 }],
    alerts: [],
  })
  for (const _ of [1, 2]) {
    expect((await ask('DELETE', `/api/me/follows/${PLAYER}`)).body).toEqual({ followed: false })
  }
  expect((await ask('GET', '/api/me/follows')).body).toMatchObject({ players: [] })
  expect(await ask('PUT', `/api/me/follows/${UNKNOWN}`, {})).toMatchObject({
    status: 404,
    body: { what: 'instrument' },
  })
  expect(await ask('PUT', `/api/me/follows/${FULL}`, {})).toMatchObject({
    status: 409,
    body: { code: 'FOLLOW_LIMIT', maxPlayers: 50 },
  })
})

it('[R29] what followers are told of is chosen', async () => {
  expect((await ask('PUT', '/api/me/follows', { kinds: ['goal'] })).body).toMatchObject({ kinds: ['goal'] })
  expect((await ask('PUT', '/api/me/follows', { kinds: ['goals'] })).status).toBe(400)
})

it('[R31] an alert is made, listed and deleted; the price of now is none', async () => {
  const made = await ask('POST', '/api/me/alerts', { instrumentId: PLAYER, level: 210.500_000_1 })
  expect(made).toMatchObject({ status: 200, body: { id: ALERT, level: 210.5, direction: 'above' } })
  expect((await ask('GET', '/api/me/follows')).body).toMatchObject({ alerts: [made.body] })
  expect((await ask('DELETE', `/api/me/alerts/${ALERT}`)).body).toEqual({ deleted: true })
  expect(await ask('DELETE', `/api/me/alerts/${ALERT}`)).toMatchObject({ status: 404, body: { what: 'alert' } })
  const refused = await ask('POST', '/api/me/alerts', { instrumentId: PLAYER, level: 200 })
  expect(refused).toMatchObject({
    status: 400,
    body: { issues: [{ path: 'level', message: 'is the price now, 200; name another' }] },
  })
  expect((await ask('POST', '/api/me/alerts', { instrumentId: PLAYER, level: 0 })).status).toBe(400)
  expect((await ask('POST', '/api/me/alerts', { instrumentId: UNKNOWN, level: 210 })).status).toBe(404)
  expect(await ask('POST', '/api/me/alerts', { instrumentId: FULL, level: 210 })).toMatchObject({
    status: 409,
    body: { code: 'ALERT_LIMIT', maxAlerts: 20 },
  })
})

it('[R32] a match is reminded of while it has not begun', async () => {
  const begun = await ask('PUT', `/api/me/reminders/${FIXTURE}`, {})
  expect(begun).toMatchObject({ status: 409, body: { code: 'MATCH_BEGUN' } })
  const path = `/api/me/reminders/${UPCOMING}`
  expect((await ask('PUT', path, {})).body).toEqual({ reminded: true })
  expect((await ask('GET', '/api/me/follows')).body).toMatchObject({ reminders: [UPCOMING] })
  expect((await ask('DELETE', path)).body).toEqual({ reminded: false })
  expect((await ask('PUT', '/api/me/reminders/4000000000', {})).status).toBe(404)
})

it('[H34] matches are asked for by stage and time; a wrong one is named', async () => {
  expect((await ask('GET', '/api/matches?state=live&from=2026-01-01T00:00:00Z')).body).toMatchObject({
    matches: [{ id: FIXTURE }],
  })
  expect(await ask('GET', '/api/matches?state=soon')).toMatchObject({
    status: 400,
    body: { issues: [{ path: 'state' }] },
  })
})
