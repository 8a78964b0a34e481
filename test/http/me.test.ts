/** A user's own data and limits over HTTP. */
import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import { alice, openHttpRig } from './http-rig.ts'

describe('my data', () => {
  it('[Y1] is one JSON document to download, and can be downloaded again and again', async () => {
    const { asAlice } = await openHttpRig()
    const response = await asAlice('/api/me/export')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="touchline-alice-2026-05-02.json"')
    expect(await response.json()).toEqual({
      exportedAt: '2026-05-02T14:30:00.000Z',
      profile: [{ username: 'alice' }],
      positions: [{ id: expect.any(String) }, { id: expect.any(String) }],
      audit: [],
    })
    for (let n = 0; n < 20; n++) {
      const again = await asAlice('/api/me/export')
      expect(again.status).toBe(200)
      await again.text()
    }
  })

  it('[Y1] is JSON also where the rows of a section fill their pages', async () => {
    const { deps } = await openHttpRig()
    const pages = async function* () {
      await Promise.resolve()
      yield { section: 'profile', rows: [{ username: 'alice' }] }
      for (const rows of [[{ n: 1 }, { n: 2 }], [{ n: 3 }], []]) yield { section: 'positions', rows }
      yield { section: 'audit', rows: [] }
    }
    const { asAlice } = await openHttpRig({ deps: { personal: { ...deps.personal, pages } } })
    expect(await (await asAlice('/api/me/export')).json()).toMatchObject({
      positions: [{ n: 1 }, { n: 2 }, { n: 3 }],
      audit: [],
    })
  })

  it('[Y1] is cut off when its session ends', async () => {
    const rig = await openHttpRig()
    const pages = async function* () {
      yield { section: 'profile', rows: [{ username: 'alice' }] }
      await rig.deps.sessions.endAll(alice.id)
      yield { section: 'positions', rows: [{ n: 1 }] }
    }
    const { sessions, personal } = rig.deps
    const { asAlice } = await openHttpRig({ deps: { sessions, personal: { ...personal, pages } } })
    await expect(asAlice('/api/me/export').then((answer) => answer.text())).rejects.toThrow('the session has ended')
  })

  it('[Y2] deleting the account takes the username, clears the cookies and closes the sockets', async () => {
    const { send, disconnected } = await openHttpRig()
    const wrong = await send('DELETE', '/api/me', { confirm: 'Alice' })
    expect([wrong.status, await wrong.json()]).toMatchObject([400, { issues: [{ path: 'confirm' }] }])
    expect(disconnected).toEqual([])
    const right = await send('DELETE', '/api/me', { confirm: 'alice' })
    expect([right.status, await right.json()]).toEqual([200, { deletionDue: '2026-05-09T14:30:00.000Z' }])
    const cleared = right.headers.getSetCookie()
    expect(cleared).toEqual(cleared.map(() => expect.stringContaining('Max-Age=0')))
    expect(cleared).toHaveLength(2)
    expect(disconnected).toEqual([alice.id])
    expect((await send('DELETE', '/api/me', { confirm: 'alice' })).status).toBe(401)
  })

  it('[Y2] a deletion that is not stored leaves its user signed in', async () => {
    const personal = {
      ...(await openHttpRig()).deps.personal,
      requestDeletion: () => Promise.reject(new Error('away')),
    }
    const { send, asAlice, disconnected } = await openHttpRig({ deps: { personal } })
    const lost = await send('DELETE', '/api/me', { confirm: 'alice' })
    expect([lost.status, lost.headers.getSetCookie()]).toEqual([503, []])
    expect(disconnected).toEqual([])
    expect((await asAlice('/api/me')).status).toBe(200)
  })

  it('[L3] shows the limits in force and those that wait', async () => {
    const { send, asAlice, world } = await openHttpRig()
    expect(await (await asAlice('/api/me/limits')).json()).toEqual({
      dailyLoss: 500,
      coolOffUntil: null,
      excludedUntil: null,
      pending: {},
      lostToday: -2.5,
      atStake: 100,
      dayEndsAt: '2026-05-03T00:00:00.000Z',
    })
    const until = new Date(world.now() + HOUR_MS).toISOString()
    expect(
      await (await send('PUT', '/api/me/limits', { dailyLoss: 600.5, excludedUntil: until })).json(),
    ).toMatchObject({
      dailyLoss: 500,
      excludedUntil: until,
      pending: { dailyLoss: { value: 600.5, at: '2026-05-03T14:30:00.000Z' } },
    })
  })

  it.each([
    { dailyLoss: -1 },
    { dailyLoss: '5' },
    { dailyLoss: 0.000_000_1 },
    { coolOffUntil: '2026-05-02T14:30:00.000Z' },
    { coolOffUntil: '2026-07-02T14:30:00.000Z' },
    { excludedUntil: '2032-05-02T14:30:00.000Z' },
    { excludedUntil: 'tomorrow' },
    { weeklyLoss: 5 },
  ])('[H19] refuses %o by name', async (body) => {
    const { send } = await openHttpRig()
    const response = await send('PUT', '/api/me/limits', body)
    const [name] = Object.keys(body)
    expect([response.status, await response.json()]).toMatchObject([400, { issues: [{ path: name }] }])
  })
})
