import { describe, expect, it } from 'vitest'
import { apiJudge, openHttpRig, order } from './http-rig.ts'

describe('unknown names', () => {
  it('[H19] a misspelt field opens nothing, and the answer names the field that was meant', async () => {
    const { send, commands } = await openHttpRig()
    const response = await send('POST', '/api/positions/open', { ...order, stop_loss: 1, takeprofit: 2, hush: 3 })
    expect([response.status, commands]).toEqual([400, []])
    expect(await response.json()).toMatchObject({
      code: 'VALIDATION_FAILED',
      issues: [
        { path: 'stop_loss', message: 'is unknown; did you mean `stopLoss`?' },
        { path: 'takeprofit', message: 'is unknown; did you mean `takeProfit`?' },
        { path: 'hush', message: expect.stringMatching(/^is unknown; known are instrumentId, /) },
      ],
    })
  })

  it('[H19] every described body refuses a field that it does not describe', async () => {
    const { send } = await openHttpRig()
    const { document } = await apiJudge()
    const bodies = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { requestBody }]) => {
        const schema = requestBody?.content['application/json']?.schema
        return schema === undefined
          ? []
          : [{ name: `${method} ${path}`, closed: schema['additionalProperties'] === false }]
      }),
    )
    expect(bodies.length).toBeGreaterThan(12)
    expect(bodies.filter(({ closed }) => !closed)).toEqual([])
    expect((await send('PATCH', '/api/positions/0197f2a0-5d5b-7cc4-8f3e-1d2c3b4a5968', { sl: 3 })).status).toBe(400)
  })

  it('[H19] an unknown query parameter is refused on every route of the API, with or without parameters', async () => {
    const { app, asAlice } = await openHttpRig()
    for (const [path, message] of [
      ['/api/positions?stauts=closed', 'is unknown; did you mean `status`?'],
      ['/api/positions?status=open&%00=1', expect.stringMatching(/^is unknown; known are .*status/)],
      ['/api/me?x=1', 'is unknown; there are no parameters'],
    ] as const) {
      const response = await asAlice(path)
      expect(response.status, path).toBe(400)
      expect(await response.json()).toMatchObject({ code: 'VALIDATION_FAILED', issues: [{ message }] })
    }
    for (const headers of [{}, { cookie: 'game_access=revoked' }, { authorization: 'Bearer tl_none' }]) {
      expect((await app.request('/api/wallet?token=hush', { headers })).status, 'without a session').toBe(401)
    }
    expect((await asAlice('/api/admin/flags?x=1')).status, 'not an admin').toBe(403)
    expect((await asAlice('/api/nowhere?x=1')).status).toBe(404)
    expect((await app.request('/api/districts?x=1', { method: 'HEAD' })).status, 'as GET').toBe(400)
    expect((await asAlice(`/api/me?${'x'.repeat(2_000)}=1`)).status).toBe(400)
  })
})
