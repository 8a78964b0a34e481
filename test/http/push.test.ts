import { beforeAll, expect, it } from 'vitest'
import { type HttpRig, openHttpRig } from './http-rig.ts'
import { SUBSCRIPTION } from './push-port.ts'

let rig: HttpRig
beforeAll(async () => {
  rig = await openHttpRig()
})

const KEYS = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}
const ENDPOINT = 'https://push.example/send/1'
const QUIET = { from: '22:30', to: '07:00', timeZone: 'Europe/Madrid' }
const put = (over: object = {}) =>
  rig.send('PUT', '/api/push', { endpoint: ENDPOINT, keys: KEYS, kinds: ['washout', 'stop'], ...over })

it('a browser registers, is listed with what it is told, and is forgotten', async () => {
  // As `toJSON` of a subscription has it.
  const answer = await put({ expirationTime: null, quiet: QUIET })
  expect(answer.status).toBe(200)
  const subscription = { id: SUBSCRIPTION, endpoint: ENDPOINT, kinds: ['stop', 'washout'], quiet: QUIET }
  expect(await answer.json()).toEqual(subscription)
  expect(await (await rig.asAlice('/api/push')).json()).toEqual({
    publicKey: rig.ports.push.publicKey,
    subscriptions: [subscription],
  })
  const gone = await rig.asAlice(`/api/push/${SUBSCRIPTION}`, { method: 'DELETE' })
  expect([gone.status, await gone.json()]).toEqual([200, { deleted: true }])
  const other = SUBSCRIPTION.replace('8f', '8e')
  expect((await rig.asAlice(`/api/push/${other}`, { method: 'DELETE' })).status).toBe(404)
})

it.each([
  ['an address inside', { endpoint: 'https://inside.example/' }, 'endpoint'],
  ['no address', { endpoint: 'push' }, 'endpoint'],
  ['an endless address', { endpoint: `${ENDPOINT}${'x'.repeat(1_000)}` }, 'endpoint'],
  ['a key off the curve', { keys: { ...KEYS, p256dh: `BA${'A'.repeat(85)}` } }, 'keys.p256dh'],
  ['a key of another length', { keys: { ...KEYS, auth: 'short' } }, 'keys.auth'],
  ['an unknown kind', { kinds: ['news'] }, 'kinds.0'],
  ['nothing to be told', { kinds: [] }, 'kinds'],
  ['quiet hours without an end', { quiet: { ...QUIET, to: QUIET.from } }, 'quiet.to'],
  ['no time of day', { quiet: { ...QUIET, from: '24:00' } }, 'quiet.from'],
  ['an unknown time zone', { quiet: { ...QUIET, timeZone: 'Mars/Olympus' } }, 'quiet.timeZone'],
  ['an offset in the place of a time zone', { quiet: { ...QUIET, timeZone: '+01:00' } }, 'quiet.timeZone'],
])('refuses %s', async (_what, over, path) => {
  const answer = await put(over)
  const { issues } = (await answer.json()) as { issues: { path: string }[] }
  expect([answer.status, issues[0]?.path]).toEqual([400, path])
})
