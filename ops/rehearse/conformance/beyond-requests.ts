/** Beyond the specification: answers to what is refused, and what it leaves open of keys and bodies. */
import assert from 'node:assert/strict'
import { beyondInto, type Check, refuses, says } from './check.ts'
import { Positions, Trade, Wallet } from './shapes.ts'
import { forgeHmac } from './tokens.ts'
import { read } from './visitor.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = beyondInto(checks)

const NOBODY = '00000000-0000-4000-8000-000000000000'
const JSON_TYPE = { 'content-type': 'application/json' }

check(
  '10.4.1',
  'Completing refuses a taken username (409), an invalid one, an unknown district and referral code (400).',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket } = await t.verified(visitor)
    const complete = async (profile: object) =>
      visitor.post('/api/auth/google/complete', {
        registrationTicket,
        username: t.newName(),
        firstName: 'Con',
        districtId: await t.district(),
        ...profile,
      })
    const taken = (await t.observer()).profile.username
    refuses(await complete({ username: taken }), 409, { error: 'username taken' })
    for (const username of ['ab', 'Abc', '1abc', 'a'.repeat(21), 'a-b', 'admin'])
      refuses(await complete({ username }), 400)
    refuses(await complete({ districtId: 999_999 }), 400)
    refuses(await complete({ referralCode: 'NOBODY99' }), 400)
    refuses(await complete({ firstName: '' }), 400)
    says(await complete({}), 200, { isNew: true })
  },
)

check('10.4.2', 'A known path with another method is 405, an unknown path 404.', async (t) => {
  const user = await t.observer()
  for (const path of ['/api/instruments', '/api/matches', '/api/wallet', '/api/portfolio']) {
    const reply = await user.ask('DELETE', path)
    refuses(reply, 405)
    assert.match(reply.headers.get('allow') ?? '', /GET/)
  }
  refuses(await user.ask('GET', '/api/nothing/here'), 404)
  says(await user.ask('GET', '/api/matches'), 200)
})

check('10.4.3', 'Keys are scoped to the user: two users may choose the same.', async (t) => {
  const [alice, bob, player] = [await t.user(), await t.user(), await t.player()]
  const key = { 'idempotency-key': t.newName() }
  const ids = [read(await alice.order(player, {}, key), Trade), read(await bob.order(player, {}, key), Trade)].map(
    ({ position }) => position.id,
  )
  assert.notEqual(ids[0], ids[1])
})

check('10.4.4', 'A key longer than 255 characters is 400.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  refuses(await user.order(player, {}, { 'idempotency-key': 'x'.repeat(256) }), 400)
  says(await user.order(player, {}, { 'idempotency-key': 'x'.repeat(255) }), 201)
})

check('10.4.5', 'A position of another user cannot be seen, changed or closed: 404.', { waits: NO_HOLD }, async (t) => {
  const [owner, other, player] = [await t.user(), await t.user(), await t.player()]
  const { id } = (await owner.opens(player)).position
  refuses(await other.ask('PATCH', `/api/positions/${id}`, { body: { stopLoss: null } }), 404)
  refuses(await other.close(id), 404)
  assert.deepEqual((await other.get('/api/positions?status=all', Positions)).positions, [])
  refuses(await owner.close(NOBODY), 404)
  refuses(await owner.close('1'), 400)
})

check(
  '10.4.6',
  'A refusal "not now" is not kept under its key: the same key closes once the hold is over.',
  { waits: { 'trading.hold_secs': 5 }, alone: true },
  async (t) => {
    const user = await t.user()
    const { id } = (await user.opens(await t.player())).position
    const close = () => user.close(id, {}, { 'idempotency-key': 'one key' })
    refuses(await close(), 409, { error: 'cooldown_active' })
    await t.wait(6)
    says(await close(), 200, { position: { id, status: 'closed' } })
    assert.equal((await close()).headers.get('idempotent-replayed'), 'true')
  },
)

check('10.4.7', '400 `code expired` where there is no code any more, or none was ever sent.', async (t) => {
  const visitor = t.visitor()
  const { sub, email } = t.trust.identity.claims(t.newName(), '')
  // A ticket as the deployment makes it, for a user to whom no code was sent.
  const { registrationTicket } = await t.ticket(visitor)
  const ticket = await forgeHmac(registrationTicket, t.trust.ticketSecret, { sub: String(sub), email })
  const reply = await visitor.post('/api/auth/verify-otp', { registrationTicket: ticket, otp: '123456' })
  refuses(reply, 400, { error: 'code expired' })
})

check(
  '10.4.8',
  '422 `insufficient margin`, with what is required, what there is, and the largest lot size.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player('FWD')]
    const reply = await user.order(player, { lotSize: 100 })
    refuses(reply, 422, { error: 'insufficient margin', available: 10_000 })
    const { required, maxLotSize } = reply.body as { required: number; maxLotSize: number }
    assert(required > 10_000, `required is ${required}`)
    says(await user.order(player, { lotSize: maxLotSize }), 201)
  },
)

check('10.4.9', '422 `lot size invalid`, with the limits, for a lot outside them or between two steps.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  for (const lotSize of [-1, 0, 0.005, 0.015, 100.01, 1_000]) {
    refuses(await user.order(player, { lotSize }), 422, {
      error: 'lot size invalid',
      minLot: 0.01,
      maxLot: 100,
      lotStep: 0.01,
    })
  }
})

check(
  '10.4.10',
  'A refusal after execution began is stored under its key: the same answer again, and no effect.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player('FWD')]
    const order = { instrumentId: player.id, direction: 'long', lotSize: 100, clientPrice: player.currentPrice }
    const ask = { body: order, headers: { 'idempotency-key': t.newName() } }
    const first = await user.ask('POST', '/api/positions/open', ask)
    const again = await user.ask('POST', '/api/positions/open', ask)
    refuses(first, 422, { error: 'insufficient margin' })
    assert.deepEqual([again.status, again.headers.get('idempotent-replayed')], [422, 'true'])
    assert.deepEqual((await user.get('/api/positions', Positions)).positions, [])
  },
)

check('10.4.11', 'A validation error is not stored: the corrected order may use the same key.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const key = { 'idempotency-key': t.newName() }
  refuses(await user.order(player, { direction: 'up' }, key), 400)
  says(await user.order(player, {}, key), 201)
})

check('10.4.12', '400 `validation failed`, with a path and a message for each issue.', async (t) => {
  const reply = await (await t.user()).post('/api/positions/open', { direction: 'up' })
  refuses(reply, 400, { error: 'validation failed' })
  const { issues } = reply.body as { issues: { path: string; message: string }[] }
  assert(
    ['instrumentId', 'direction', 'lotSize', 'clientPrice'].every((field) => issues.some(({ path }) => path === field)),
    reply.text,
  )
})

check('10.4.13', 'Malformed JSON is 400, a body over 64 KiB 413, another content type 415.', async (t) => {
  const user = await t.user()
  refuses(await user.ask('POST', '/api/positions/open', { body: '{"a":', headers: JSON_TYPE }), 400)
  refuses(await user.post('/api/positions/open', { filler: 'x'.repeat(65 * 1_024) }), 413)
  refuses(
    await user.ask('POST', '/api/positions/open', {
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }),
    415,
  )
  refuses(await user.ask('POST', '/api/positions/open', { body: '{}', headers: { 'content-type': 'text/plain' } }), 415)
  assert.equal((await user.get('/api/wallet', Wallet)).balance, 10_000)
})
