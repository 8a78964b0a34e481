/** Section 7: errors, with the additions of the contract (section 2). */
import assert from 'node:assert/strict'
import { type Check, into, near, refuses, retryAfter, says } from './check.ts'
import { Instrument, Wallet } from './shapes.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = into(checks)

check(
  '7.1',
  'Error responses carry a body field `error` (string).',
  'Every error carries `error`, a stable `code` and the request id, and no stack trace.',
  async (t) => {
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
  },
)

check(
  '7.2',
  '401 | | missing, invalid, expired, wrong-type or revoked access token on a protected route',
  '401: missing, invalid, expired, wrong-type or revoked access token on a protected route.',
  async (t) => {
    const user = await t.user()
    refuses(await t.visitor().ask('GET', '/api/positions'), 401)
    await user.post('/api/auth/logout')
    refuses(await user.ask('GET', '/api/positions'), 401)
  },
)

check('7.3', '403 | | non-admin on an admin route', '403: a user who is no admin on an admin route.', async (t) => {
  refuses(await (await t.user()).ask('GET', '/api/admin/users'), 403)
})

check(
  '7.4',
  '409 | `PRICE_MOVED` | on open: `clientPrice` deviates more than 2.5 % from `last_published_price`',
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

check(
  '7.5',
  '409 | `duplicate request; please retry` | on open: duplicate or in-flight `Idempotency-Key` without a usable cached result; a fresh key must be minted',
  '409 `duplicate request; please retry`: a key that was used with another body.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const key = { 'idempotency-key': t.newName() }
    says(await user.order(player, { lotSize: 0.5 }, key), 201)
    const other = await user.order(player, { lotSize: 0.6 }, key)
    refuses(other, 409, { error: 'duplicate request; please retry' })
    says(await user.order(player, { lotSize: 0.6 }, { 'idempotency-key': t.newName() }), 201)
  },
)

check(
  '7.6',
  '409 | `position is in an invalid state; contact support` | corrupt position state (zero open price)',
  '409 `position is in an invalid state; contact support`: a corrupt position.',
  { waits: NO_HOLD, alone: true, takes: 40 },
  async (t) => {
    const { stores } = t // nothing that a client sends makes one
    const [user, other, player] = [await t.user(), await t.user(), await t.player()]
    const { position, wallet } = await user.opens(player)
    const sound = await other.opens(player)
    await stores.whileStopped((sql) => sql(`update positions set open_micros = 0 where id = '${position.id}'`))
    // One key for all tries: a close whose answer came too late is not refused as done.
    const key = { 'idempotency-key': t.newName() }
    await t.eventually('the match', async () => {
      const { status } = await other.close(sound.position.id, {}, key)
      return status === 200 ? true : undefined
    })
    const reply = await user.close(position.id)
    refuses(reply, 409, { error: 'position is in an invalid state; contact support' })
    assert.equal((await user.get('/api/wallet', Wallet)).balance, wallet.balance)
  },
)

check(
  '7.7',
  '422 | `stop-loss / take-profit level invalid for the current price` | SL/TP invalid for direction and current price',
  '422 for a level that is invalid for direction and price, on open and on change.',
  async (t) => {
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
  },
)

check(
  '7.8',
  '422 | (body with `needsProfile:true`) | new user at `POST /api/auth/google`',
  '422 with `needsProfile:true` for a new user at `POST /api/auth/google`.',
  async (t) => {
    says(await t.google(t.visitor(), t.newName()), 422, { needsProfile: true })
  },
)

check(
  '7.9',
  '429 | | OTP resend within the 60 s cooldown, with `Retry-After`; also rate limits',
  '429 with `Retry-After` for a resend within the cooldown, and for rate limits.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket } = await t.ticket(visitor)
    const reply = await visitor.post('/api/auth/resend-otp', { registrationTicket })
    refuses(reply, 429)
    retryAfter(reply, 60)
  },
)

check(
  '7.10',
  '503 | | `coming_soon` flag true and caller not admin',
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

check(
  '7.11',
  '`cooldown_active` | user close of a position within its 180 s hold; body includes `retry_after_secs`',
  '`cooldown_active` is 409, with `retry_after_secs`, `closableAt` and `Retry-After`.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { id, closableAt } = (await user.opens(player)).position
    const reply = await user.close(id)
    refuses(reply, 409, { error: 'cooldown_active', closableAt })
    assert.equal((reply.body as { retry_after_secs: number }).retry_after_secs, retryAfter(reply, 180))
  },
)

check(
  '7.12',
  'Registration completion without a verified marker is rejected',
  'Registration without a verified marker is rejected: 403 `email not verified`.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket } = await t.ticket(visitor)
    const profile = { registrationTicket, username: t.newName(), firstName: 'Con', districtId: await t.district() }
    refuses(await visitor.post('/api/auth/google/complete', profile), 403, { error: 'email not verified' })
  },
)

check(
  '7.13',
  'OTP is invalid after 3 failed attempts.',
  'A code is invalid after 3 failed attempts: 429 `too many attempts`.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket, otp } = await t.ticket(visitor)
    const wrong = otp === '111111' ? '222222' : '111111'
    for (let n = 0; n < 3; n++)
      refuses(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp: wrong }), 400, {
        error: 'invalid code',
      })
    refuses(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp }), 429, {
      error: 'too many attempts',
    })
  },
)

check(
  '7.14',
  '`FINISHED`, `FT_PEN` | closed (no new opens)',
  '409 `market closed` where trading is not open, with the trade window.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    match.fixture.enters('FINISHED')
    await t.sees(match, ({ tradeWindow }) => tradeWindow.status === 'CLOSED')
    const facts = { error: 'market closed', tradeWindow: { status: 'CLOSED', open: false } }
    refuses(await (await t.user()).order(match.instrument(match.player('MID'))), 409, facts)
  },
)
