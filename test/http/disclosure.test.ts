import { expect, it } from 'vitest'
import { ALLOWED_ORIGIN, openHttpRig } from './http-rig.ts'

it('[H22] security.txt says where to report a weakness, until when, and by which policy', async () => {
  const { app, deps } = await openHttpRig({ deps: { securityContact: 'mailto:security@touchline.example' } })
  const answer = await app.request('/.well-known/security.txt')
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  const fields = new Map(
    (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line) => line.split(': ', 2) as [string, string]),
  )
  expect([...fields.keys()]).toEqual(['Contact', 'Expires', 'Preferred-Languages', 'Canonical', 'Policy'])
  expect(fields.get('Contact')).toBe('mailto:security@touchline.example')
  const days = (Date.parse(fields.get('Expires') ?? '') - deps.world.now()) / 86_400_000
  expect(days).toBe(90)
  const policy = fields.get('Policy') ?? ''
  expect(policy).toBe(`${ALLOWED_ORIGIN}/security`)
  const page = await app.request(new URL(policy).pathname)
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('security@touchline.example')])
})

it('[H22] without a contact there is neither', async () => {
  const { app } = await openHttpRig()
  for (const path of ['/.well-known/security.txt', '/security']) expect((await app.request(path)).status).toBe(404)
})
