/** Section 7: errors, with the additions of the contract (section 2). */
import assert from 'node:assert/strict'
import { type Check, into, near, refuses, retryAfter, says } from './check.ts'
import { Instrument, Positions, Wallet } from './shapes.ts'
import { forgeHmac } from './tokens.ts'

export const checks: Check[] = []
const check = into(checks)

const HOLD_OVER = { settings: { 'trading.hold_secs': 0, 'trading.late_void_secs': 0 } }
const JSON_TYPE = { 'content-type': 'application/json' }

check('7.1', 'Every error carries `error`, a stable `code` and the request id, and no stack trace.', async (t) => {
  const visitor = t.visitor()
  for (const [method, path] of [
    ['GET', '/api/wallet'],
    ['GET', '/api/nothing'],
    ['PUT', '/api/flags'],
    ['GET', '/api/matches/x/events'],
  ] as const) {
    const reply = await visitor.ask(method, path)
    refuses(reply, reply.status)
    assert.equal((reply.body as { requestId: string }).requestId, reply.headers.get('x-request-id'))
  }
})

check('7.2', '401: missing, invalid, expired, wrong-type or revoked access token on a protected route.', async (t) => {
  const user = await t.user()
  refuses(await t.visitor().ask('GET', '/api/positions'), 401)
  await user.post('/api/auth/logout')
  refuses(await user.ask('GET', '/api/positions'), 401)
})

check('7.3', '403: a user who is no admin on an admin route.', async (t) => {
  refuses(await (await t.user()).ask('GET', '/api/admin/users'), 403)
})

check(
  '7.4',
  '409 `PRICE_MOVED`: the client price is more than 2.5 % from the last published one; with both prices.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { last_published_price: published } = await user.get(`/api/instruments/${player.id}`, Instrument)
    for (const factor of [1.026, 0.974]) {
      const reply = await user.order(player, { clientPrice: Math.round(published * factor * 1e6) / 1e6 })
      refuses(reply, 409, { error: 'PRICE_MOVED', lastPublishedPrice: published })
      near((reply.body as { currentPrice: number }).currentPrice, published, 'currentPrice')
    }
    for (const factor of [1.024, 0.976]) {
      says(await user.order(player, { lotSize: 0.01, clientPrice: Math.round(published * factor * 1e6) / 1e6 }), 201)
    }
  },
)

check('7.5', '409 `duplicate request; please retry`: a key that was used with another body.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const key = { 'idempotency-key': t.newName() }
  says(await user.order(player, { lotSize: 0.5 }, key), 201)
  const other = await user.order(player, { lotSize: 0.6 }, key)
  refuses(other, 409, { error: 'duplicate request; please retry' })
  says(await user.order(player, { lotSize: 0.6 }, { 'idempotency-key': t.newName() }), 201)
})

check(
  '7.6',
  '409 `position is in an invalid state; contact support`: a corrupt position.',
  { ...HOLD_OVER, alone: true },
  async (t) => {
    const { stores } = t // nothing that a client sends makes one
    const [user, other, player] = [await t.user(), await t.user(), await t.player()]
    const { position, wallet } = await user.opens(player)
    const sound = await other.opens(player)
    await stores.whileStopped((sql) => sql(`update positions set open_micros = 0 where id = '${position.id}'`))
    await t.eventually('the match', async () => {
      const { status } = await other.ask('POST', `/api/positions/${sound.position.id}/close`, {})
      return status === 200 ? true : undefined
    })
    const reply = await user.ask('POST', `/api/positions/${position.id}/close`, {})
    refuses(reply, 409, { error: 'position is in an invalid state; contact support' })
    assert.equal((await user.get('/api/wallet', Wallet)).balance, wallet.balance)
  },
)

check('7.7', '422 for a level that is invalid for direction and price, on open and on change.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const { currentPrice: price } = player
  const error = 'stop-loss / take-profit level invalid for the current price'
  const [above, below] = [Math.ceil(price + 2), Math.floor(price - 2)]
  for (const order of [
    { stopLoss: above },
    { takeProfit: below },
    { direction: 'short', stopLoss: below },
    { direction: 'short', takeProfit: above },
  ]) {
    refuses(await user.order(player, order), 422, { error })
  }
  const { id } = (await user.opens(player)).position
  for (const body of [{ stopLoss: above }, { takeProfit: below }]) {
    refuses(await user.ask('PATCH', `/api/positions/${id}`, { body }), 422, { error })
  }
})

check('7.8', '422 with `needsProfile:true` for a new user at `POST /api/auth/google`.', async (t) => {
  says(await t.google(t.visitor(), t.newName()), 422, { needsProfile: true })
})

check('7.9', '429 with `Retry-After` for a resend within the cooldown, and for rate limits.', async (t) => {
  const visitor = t.visitor()
  const { registrationTicket } = await t.ticket(visitor)
  const reply = await visitor.post('/api/auth/resend-otp', { registrationTicket })
  refuses(reply, 429)
  retryAfter(reply, 60)
})

check(
  '7.10',
  '503 with `Retry-After`: the flag `coming_soon` is true and the caller no admin.',
  { alone: true },
  async (t) => {
    const user = await t.user()
    says(await t.comingSoon(), 200)
    const reply = await t.eventually('the flag', async () => {
      const found = await user.ask('GET', '/api/wallet')
      return found.status === 200 ? undefined : found
    })
    refuses(reply, 503)
    retryAfter(reply, 3_600)
    refuses(await t.visitor().ask('GET', '/api/wallet'), 401)
  },
)

check('7.11', '`cooldown_active` is 409, with `retry_after_secs`, `closableAt` and `Retry-After`.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const { id, closableAt } = (await user.opens(player)).position
  const reply = await user.post(`/api/positions/${id}/close`, {}, { 'idempotency-key': t.newName() })
  refuses(reply, 409, { error: 'cooldown_active', closableAt })
  assert.equal((reply.body as { retry_after_secs: number }).retry_after_secs, retryAfter(reply, 180))
})

check(
  '7.12',
  'A refusal "not now" is not kept under its key: the same key closes once the hold is over.',
  { settings: { 'trading.hold_secs': 5 }, alone: true },
  async (t) => {
    const user = await t.user()
    const { id } = (await user.opens(await t.player())).position
    const close = () => user.post(`/api/positions/${id}/close`, {}, { 'idempotency-key': 'one key' })
    refuses(await close(), 409, { error: 'cooldown_active' })
    await t.wait(6)
    says(await close(), 200, { position: { id, status: 'closed' } })
    assert.equal((await close()).headers.get('idempotent-replayed'), 'true')
  },
)

check('7.13', 'Registration without a verified marker is rejected: 403 `email not verified`.', async (t) => {
  const visitor = t.visitor()
  const { registrationTicket } = await t.ticket(visitor)
  const profile = { registrationTicket, username: t.newName(), firstName: 'Con', districtId: await t.district() }
  refuses(await visitor.post('/api/auth/google/complete', profile), 403, { error: 'email not verified' })
})

check('7.14', 'A code is invalid after 3 failed attempts: 429 `too many attempts`.', async (t) => {
  const visitor = t.visitor()
  const { registrationTicket, otp } = await t.ticket(visitor)
  const wrong = otp === '111111' ? '222222' : '111111'
  for (let n = 0; n < 3; n++)
    refuses(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp: wrong }), 400, {
      error: 'invalid code',
    })
  refuses(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp }), 429, { error: 'too many attempts' })
})

check('7.15', '400 `code expired` where there is no code any more, or none was ever sent.', async (t) => {
  const visitor = t.visitor()
  const { sub, email } = t.trust.identity.claims(t.newName(), '')
  // A ticket as the deployment makes it, for a user to whom no code was sent.
  const { registrationTicket } = await t.ticket(visitor)
  const ticket = await forgeHmac(registrationTicket, t.trust.ticketSecret, { sub: String(sub), email })
  const reply = await visitor.post('/api/auth/verify-otp', { registrationTicket: ticket, otp: '123456' })
  refuses(reply, 400, { error: 'code expired' })
})

check(
  '7.16',
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

check('7.17', '422 `lot size invalid`, with the limits, for a lot outside them or between two steps.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  for (const lotSize of [0, 0.005, 0.015, 100.01, 1_000]) {
    refuses(await user.order(player, { lotSize }), 422, {
      error: 'lot size invalid',
      minLot: 0.01,
      maxLot: 100,
      lotStep: 0.01,
    })
  }
})

check(
  '7.18',
  '422 `position limit reached` for one position too many.',
  { settings: { 'trading.open_positions_max': 2, 'trading.hold_secs': 0, 'trading.late_void_secs': 0 } },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    for (let n = 0; n < 2; n++) await user.opens(player, { lotSize: 0.01 })
    refuses(await user.order(player, { lotSize: 0.01 }), 422, { error: 'position limit reached' })
    const asked = { instrumentId: player.id, direction: 'long', lotSize: 0.01 }
    says(await user.post('/api/positions/quote', asked), 200, { refusal: { error: 'position limit reached' } })
  },
)

check('7.19', '409 `market closed` where trading is not open, with the trade window.', async (t) => {
  const match = await t.match('INPLAY_2ND_HALF')
  match.fixture.enters('FINISHED')
  await t.sees(match, ({ tradeWindow }) => tradeWindow.status === 'CLOSED')
  const facts = { error: 'market closed', tradeWindow: { status: 'CLOSED', open: false } }
  refuses(await (await t.user()).order(match.instrument(match.player('MID'))), 409, facts)
})

check(
  '7.20',
  '409 `position is not open` for a close of a closed position, with the closed position.',
  HOLD_OVER,
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { id } = (await user.opens(player)).position
    await user.closes(id)
    refuses(await user.post(`/api/positions/${id}/close`, {}), 409, {
      error: 'position is not open',
      position: { id, closedBy: 'user' },
    })
  },
)

check(
  '7.21',
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

check('7.22', 'A validation error is not stored: the corrected order may use the same key.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const key = { 'idempotency-key': t.newName() }
  refuses(await user.order(player, { direction: 'up' }, key), 400)
  says(await user.order(player, {}, key), 201)
})

check('7.23', '400 `validation failed`, with a path and a message for each issue.', async (t) => {
  const reply = await (await t.user()).post('/api/positions/open', { direction: 'up' })
  refuses(reply, 400, { error: 'validation failed' })
  const { issues } = reply.body as { issues: { path: string; message: string }[] }
  assert(
    ['instrumentId', 'direction', 'lotSize', 'clientPrice'].every((field) => issues.some(({ path }) => path === field)),
    reply.text,
  )
})

check('7.24', 'Malformed JSON is 400, a body over 64 KiB 413, another content type 415.', async (t) => {
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
