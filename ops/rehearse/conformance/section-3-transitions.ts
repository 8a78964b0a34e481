/** Section 3: states and transitions. */
import assert from 'node:assert/strict'
import { type Check, into, near, refuses, retryAfter, says } from './check.ts'
import { closedOne } from './scenes.ts'
import { Achievements, Instrument, Me, Positions, SignedIn, Wallet } from './shapes.ts'
import type { CheckContext, OwnMatch } from './context.ts'
import { ACCESS, readToken, REFRESH } from './tokens.ts'
import { copyOf, read, Visitor } from './visitor.ts'
import { NO_HOLD, NO_WAIT } from './waits.ts'

export const checks: Check[] = []
const check = into(checks)

/** Long enough to be sure that a state was processed without effect. */
const LOOK_SECS = 2
/** Longer than an update of the feed takes to be shown. */
const FEED_SECS = 0.5
/** Every 10 s, and what the way takes. */
const TICK_SECS = 11

// 3.1 Registration flow

check(
  '3.1.1',
  'anonymous | `POST /api/auth/google` | identity token valid, nonce unused, user already exists | signed in | 200, both cookies set, `isNew:false` … `isNew` | boolean in login responses',
  'anonymous → signed in: a valid identity token of a known user sets both cookies; `isNew:false`.',
  async (t) => {
    const user = await t.user()
    const visitor = t.visitor()
    const reply = await t.google(visitor, user.sub)
    says(reply, 200, { isNew: false, user: { userId: user.id } })
    assert.deepEqual([...visitor.cookies.keys()].toSorted(), [ACCESS, REFRESH])
    says(await visitor.ask('GET', '/api/me'), 200, { loggedIn: true })
  },
)

check(
  '3.1.2',
  'anonymous | `POST /api/auth/google` | valid, user new | ticket issued | nonce claimed, OTP issued and e-mailed asynchronously, 422 with `needsProfile:true`',
  'anonymous → ticket issued: a new user gets 422, `needsProfile:true`, a ticket, and a code by mail.',
  async (t) => {
    const visitor = t.visitor()
    const sub = t.newName()
    const reply = await t.google(visitor, sub)
    const { email } = t.trust.identity.claims(sub, '')
    says(reply, 422, { needsProfile: true, email })
    assert.match(await t.code(String(email)), /^\d{6}$/)
    assert.equal(visitor.cookies.size, 0, 'a new user is signed in before registering')
  },
)

check(
  '3.1.3',
  'ticket issued | `POST /api/auth/verify-otp` | code correct, under 3 attempts, ticket valid | verified | verified marker stored for the subject; 200 `{verified:true}`',
  'ticket issued → verified: the right code answers `{verified:true}`, also when it is sent again.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket, otp } = await t.ticket(visitor)
    const verify = () => visitor.post('/api/auth/verify-otp', { registrationTicket, otp })
    for (const { status, body } of [await verify(), await verify()]) {
      assert.deepEqual([status, body], [200, { verified: true }])
    }
  },
)

check(
  '3.1.4',
  'verified | `POST /api/auth/google/complete` | ticket valid and verified marker present | signed in | user and wallet (balance 10000) created, cookies set, `isNew:true` … Registers users by identity-provider sign-in plus an e-mailed one-time code and a profile step.',
  'verified → signed in: user and wallet (10,000) are made, both cookies set; `isNew:true`.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket } = await t.verified(visitor)
    const profile = { username: t.newName(), firstName: 'Con', districtId: await t.district() }
    const { user, isNew } = read(
      await visitor.post('/api/auth/google/complete', { registrationTicket, ...profile }),
      SignedIn,
    )
    assert.deepEqual([isNew, user.wallet.balance], [true, 10_000])
    assert.partialDeepStrictEqual(user, profile)
    assert.deepEqual([...visitor.cookies.keys()].toSorted(), [ACCESS, REFRESH])
  },
)

check(
  '3.1.5',
  'ticket issued | `POST /api/auth/google/complete` | verified marker absent | unchanged | rejected',
  'ticket issued, unverified: completing is rejected and changes nothing; verifying still works.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket, otp } = await t.ticket(visitor)
    const profile = { registrationTicket, username: t.newName(), firstName: 'Con', districtId: await t.district() }
    refuses(await visitor.post('/api/auth/google/complete', profile), 403, { error: 'email not verified' })
    assert.equal(visitor.cookies.size, 0)
    says(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp }), 200, { verified: true })
    says(await visitor.post('/api/auth/google/complete', profile), 200, { isNew: true })
  },
)

check(
  '3.1.6',
  'ticket issued | `POST /api/auth/resend-otp` | cooldown elapsed | ticket issued | new OTP e-mailed',
  'ticket issued → ticket issued: a resend within the cooldown is 429, and the code that was sent still counts.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket, email, otp } = await t.ticket(visitor)
    const reply = await visitor.post('/api/auth/resend-otp', { registrationTicket })
    refuses(reply, 429)
    retryAfter(reply, 60)
    assert.equal(t.trust.mail.countTo(email), 1)
    says(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp }), 200, { verified: true })
  },
)

check(
  '3.1.7',
  'Order at sign-in: the identity token is verified before the nonce is claimed, so a failed verification leaves the nonce reusable.',
  'The identity token is verified before the nonce is claimed: a failed one leaves the nonce reusable.',
  async (t) => {
    const [sub, nonce] = [t.newName(), t.newName()]
    const visitor = t.visitor()
    const bad = await t.trust.identity.strangersToken(sub, nonce)
    refuses(await visitor.post('/api/auth/google', { idToken: bad, nonce }), 401, { error: 'invalid identity token' })
    const good = await t.trust.identity.token(sub, nonce)
    says(await visitor.post('/api/auth/google', { idToken: good, nonce }), 422, { needsProfile: true })
  },
)

check(
  '3.1.8',
  'anonymous | `POST /api/auth/google` | valid, user new | ticket issued … `google_sub` (identity-provider subject) | unique per user',
  'Two subjects with one e-mail are two users: the second registers and signs in like the first.',
  async (t) => {
    const first = await t.user()
    const { email } = t.trust.identity.claims(first.sub, '')
    const [visitor, sub] = [t.visitor(), t.newName()]
    const reply = await t.google(visitor, sub, { email })
    says(reply, 422, { needsProfile: true, email })
    const { registrationTicket } = reply.body as { registrationTicket: string }
    const otp = await t.code(String(email), 2)
    says(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp }), 200, { verified: true })
    const profile = { registrationTicket, username: t.newName(), firstName: 'Con', districtId: await t.district() }
    const { user } = read(await visitor.post('/api/auth/google/complete', profile), SignedIn)
    assert.notEqual(user.userId, first.id)
    for (const [one, id] of [
      [sub, user.userId],
      [first.sub, first.id],
    ] as const) {
      says(await t.google(t.visitor(), one, { email }), 200, { isNew: false, user: { userId: id } })
    }
  },
)

// 3.2 Tokens

check(
  '3.2.1',
  'refresh cookie valid and not revoked, user exists | new pair valid | old refresh jti revoked, new access and refresh cookies',
  'A refresh gives a new pair of tokens, which work.',
  async (t) => {
    const user = await t.user()
    const old = copyOf(user)
    says(await user.post('/api/auth/refresh'), 200)
    for (const name of [ACCESS, REFRESH]) {
      const [before, after] = [old, user].map((one) => readToken(one.cookies.get(name) ?? '').claims.jti)
      assert.notEqual(before, after, `${name} is the same as before`)
    }
    says(await user.ask('GET', '/api/wallet'), 200)
    says(await user.post('/api/auth/refresh'), 200)
  },
)

check(
  '3.2.2',
  'old refresh jti revoked',
  'The old refresh token is revoked at once: 401. Reuse later than ten seconds after the rotation ends the session.',
  { takes: 12 },
  async (t) => {
    const user = await t.user()
    const old = copyOf(user)
    says(await user.post('/api/auth/refresh'), 200)
    refuses(await copyOf(old).post('/api/auth/refresh'), 401)
    says(await user.ask('GET', '/api/wallet'), 200)
    await t.wait(11)
    refuses(await old.post('/api/auth/refresh'), 401)
    refuses(await user.post('/api/auth/refresh'), 401)
  },
)

check(
  '3.2.3',
  'access and refresh jti revoked until their remaining lifetime ends; both cookies cleared unconditionally … Logout revokes both jti values and clears both cookies.',
  'A logout revokes both tokens at once, in every process, and clears both cookies.',
  async (t) => {
    const user = await t.user()
    const copies = t.target.urls.map((url) => {
      const copy = new Visitor(url)
      for (const [name, token] of user.cookies) copy.cookies.set(name, token)
      return copy
    })
    const reply = await user.post('/api/auth/logout')
    says(reply, 200)
    assert.deepEqual(
      reply.headers
        .getSetCookie()
        .map((set) => set.slice(0, set.indexOf(';')))
        .toSorted(),
      [`${ACCESS}=`, `${REFRESH}=`],
    )
    for (const copy of copies) {
      refuses(await copy.ask('GET', '/api/wallet'), 401)
      refuses(await copy.post('/api/auth/refresh'), 401)
    }
  },
)

check(
  '3.2.4',
  'both cookies cleared unconditionally',
  'A logout works without the access cookie, and without any: both cookies are cleared unconditionally.',
  async (t) => {
    const user = await t.user()
    const copy = copyOf(user)
    user.cookies.delete(ACCESS)
    for (const visitor of [user, t.visitor()]) {
      const reply = await visitor.post('/api/auth/logout')
      says(reply, 200)
      assert.equal(reply.headers.getSetCookie().length, 2)
    }
    refuses(await copy.ask('GET', '/api/wallet'), 401)
  },
)

check(
  '3.2.5',
  'any | `POST /api/auth/logout` | none (works with expired access cookie) | signed out',
  'A logout works with an expired access cookie, and ends its session.',
  async (t) => {
    const user = await t.user()
    const copy = copyOf(user)
    const { forge } = await import('./tokens.ts')
    user.cookies.set(ACCESS, await forge(user.cookies.get(ACCESS) ?? '', { exp: 1_000 }, t.trust))
    user.cookies.delete(REFRESH)
    says(await user.post('/api/auth/logout'), 200)
    refuses(await copy.post('/api/auth/refresh'), 401)
  },
)

// 3.3 Position

check(
  '3.3.1',
  'price check and SL/TP check pass | open | margin debited; a 180 s hold keyed to that position id is written for the user and instrument',
  'none → open: the margin is debited, and a hold of 180 s is written for that position.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position, wallet } = await user.opens(player)
    near(wallet.balance, 10_000 - position.margin, 'the balance')
    assert.equal(Date.parse(position.closableAt) - Date.parse(position.openedAt), 180_000)
  },
)

check(
  '3.3.2',
  'open | `PATCH /api/positions/:id` | valid SL/TP | open | levels changed … Lets authenticated users open long or short leveraged (CFD) positions on player instruments, adjust stop-loss/take-profit levels, and close them.',
  'open → open: valid levels are changed; one left out stays, null removes it.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { id, openPrice } = (await user.opens(player)).position
    const change = (levels: object) => user.ask('PATCH', `/api/positions/${id}`, { body: levels })
    const [stopLoss, takeProfit] = [Math.floor(openPrice - 5), Math.ceil(openPrice + 5)]
    says(await change({ stopLoss, takeProfit }), 200, { position: { stopLoss, takeProfit } })
    says(await change({ takeProfit: null }), 200, { position: { stopLoss, takeProfit: null } })
  },
)

check(
  '3.3.3',
  'open | `POST /api/positions/:id/close` | hold of 180 s elapsed | closed | `closedBy` = `user`, wallet credited with margin plus realised PnL',
  'open → closed: after the hold `closedBy` is `user`, and margin plus realised PnL are credited.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const opened = await user.opens(player)
    const { position, wallet } = await user.closes(opened.position.id)
    assert.equal(position.closedBy, 'user')
    near(wallet.balance, opened.wallet.balance + position.margin + (position.realizedPnl ?? NaN), 'the balance')
  },
)

check(
  '3.3.4',
  'open | close by user | hold still active | open | rejected with `cooldown_active` and `retry_after_secs`',
  'open, hold active: a close is rejected with `cooldown_active` and `retry_after_secs`; nothing changes.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position, wallet } = await user.opens(player)
    const reply = await user.close(position.id)
    refuses(reply, 409, { error: 'cooldown_active', closableAt: position.closableAt })
    const { retry_after_secs: secs } = reply.body as { retry_after_secs?: number }
    assert(secs !== undefined && secs > 170 && secs <= 180, `retry_after_secs is ${secs}`)
    assert.equal(retryAfter(reply, 180), secs)
    assert.equal((await user.get('/api/wallet', Wallet)).balance, wallet.balance)
  },
)

check(
  '3.3.5',
  'hold of 180 s elapsed … Minimum hold before user close | 180 s per position',
  'The hold ends after 180 s, not before.',
  { takes: 186 },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.opens(player)
    if (Date.parse(position.closableAt) - Date.parse(position.openedAt) !== 180_000)
      t.skip('another hold was set meanwhile')
    await t.wait(176)
    refuses(await user.close(position.id), 409, { error: 'cooldown_active' })
    await t.wait(6)
    assert.equal((await user.closes(position.id)).position.closedBy, 'user')
  },
)

check(
  '3.3.6',
  'The hold is per position, not per instrument; opening is never blocked; opening another position does not gate closing an older one.',
  'The hold is per position: opening is never blocked, and a newer one does not gate an older one.',
  { waits: NO_HOLD, sets: ['trading.hold_secs'], alone: true },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const older = (await user.opens(player)).position
    const admin = await t.admin()
    // Open positions keep their hold: only the newer one gets this.
    says(await admin.put('/api/admin/settings/trading.hold_secs', { value: 180 }), 200)
    t.later(() => admin.put('/api/admin/settings/trading.hold_secs', { value: 0 }))
    const newer = await t.eventually('the hold', async () => {
      const { position } = await user.opens(player, { lotSize: 0.01 })
      return position.closableAt > position.openedAt ? position : undefined
    })
    refuses(await user.close(newer.id), 409, { error: 'cooldown_active' })
    assert.equal((await user.closes(older.id)).position.closedBy, 'user')
  },
)

/** A match in play in which a user holds a position with these levels on a forward. */
async function holding(t: CheckContext, order: (price: number) => object) {
  const match = await t.match('INPLAY_2ND_HALF')
  const footballer = match.player('FWD')
  const player = match.instrument(footballer)
  const user = await t.user()
  const { currentPrice } = await user.get(`/api/instruments/${player.id}`, Instrument)
  const { position } = await user.opens(player, order(currentPrice))
  return { match, footballer, user, position }
}

const goals = ({ fixture }: OwnMatch, scorer: OwnMatch['fixture']['players'][number], n: number): void => {
  for (let goal = 0; goal < n; goal++) fixture.goal(scorer)
}

check(
  '3.3.7',
  'open | stop-loss or take-profit reached, washout, match full time | none | closed | system close bypasses the hold … system closes (stop-loss/take-profit, washout, full-time settlement) set other values',
  'A take-profit that is reached closes by `take_profit`, in spite of the hold.',
  async (t) => {
    const { match, footballer, user, position } = await holding(t, (price) => ({ takeProfit: Math.ceil(price * 1.02) }))
    goals(match, footballer, 1)
    const closed = await closedOne(t, user, 'the take-profit')
    assert.deepEqual([closed.id, closed.closedBy], [position.id, 'take_profit'])
    assert((closed.realizedPnl ?? 0) > 0, 'a take-profit without a profit')
  },
)

check(
  '3.3.8',
  'open | stop-loss or take-profit reached, washout, match full time | none | closed | system close bypasses the hold',
  'A stop-loss that is reached closes by `stop_loss`, in spite of the hold.',
  async (t) => {
    const order = (price: number) => ({ direction: 'short', stopLoss: Math.ceil(price * 1.02) })
    const { match, footballer, user, position } = await holding(t, order)
    goals(match, footballer, 1)
    const closed = await closedOne(t, user, 'the stop-loss')
    assert.deepEqual([closed.id, closed.closedBy], [position.id, 'stop_loss'])
    assert((closed.realizedPnl ?? 0) < 0, 'a stop-loss without a loss')
  },
)

check(
  '3.3.9',
  'open | stop-loss or take-profit reached, washout, match full time | none | closed | system close bypasses the hold',
  'A loss of the whole margin closes by `washout`, in spite of the hold, and costs no more than the margin.',
  async (t) => {
    const { match, footballer, user, position } = await holding(t, () => ({ direction: 'short', lotSize: 2 }))
    goals(match, footballer, 5)
    const closed = await closedOne(t, user, 'the washout')
    assert.deepEqual([closed.id, closed.closedBy], [position.id, 'washout'])
    near(closed.realizedPnl ?? NaN, -position.margin, 'the PnL', position.margin * 0.001)
    assert((closed.realizedPnl ?? 0) >= -position.margin, 'more than the margin was lost')
    const move = (closed.openPrice - (closed.closePrice ?? NaN)) * closed.lotSize * 5
    near(closed.realizedPnl ?? NaN, move, 'the PnL by the close price', 0.000_001)
    near((await user.get('/api/wallet', Wallet)).balance, 10_000 + (closed.realizedPnl ?? NaN), 'the balance')
  },
)

check(
  '3.3.10',
  'open | stop-loss or take-profit reached, washout, match full time | none | closed | system close bypasses the hold',
  'Full time closes by `full_time`, in spite of the hold.',
  async (t) => {
    const { match, user } = await holding(t, () => ({}))
    match.fixture.enters('FT_PEN')
    assert.equal((await closedOne(t, user, 'the settlement')).closedBy, 'full_time')
  },
)

check(
  '3.3.11',
  'stop-loss also fires on catch-up after a restart if the price crossed it',
  'The price crosses a stop-loss while every process is down: it fires after the start.',
  { alone: true, takes: 40 },
  async (t) => {
    const { stores } = t // only an operator can stop the processes
    const { match, footballer, user, position } = await holding(t, (price) => ({
      direction: 'short',
      stopLoss: Math.ceil(price * 1.01),
    }))
    await stores.whileStopped(async () => goals(match, footballer, 1))
    const closed = await closedOne(t, user, 'the stop-loss')
    assert.deepEqual([closed.id, closed.closedBy], [position.id, 'stop_loss'])
  },
)

check(
  '3.3.12',
  'open | stop-loss or take-profit reached, washout, match full time | none | closed | system close bypasses the hold',
  'Nothing else ends a position: an ordinary update that moves its price by 1.5 % right after the open does not.',
  async (t) => {
    const { match, footballer, user, position } = await holding(t, () => ({ lotSize: 0.5 }))
    const seen = async () =>
      (await user.get('/api/positions', Positions)).positions.find(({ id }) => id === position.id)
    await t.eventually('a move of 1.5 %', async () => {
      match.fixture.shoots(footballer)
      await t.wait(FEED_SECS)
      const now = await seen()
      assert(now !== undefined, 'the position is not open any more')
      return now.currentPrice > position.openPrice * 1.015 ? now : undefined
    })
    assert(Date.now() - Date.parse(position.openedAt) < 45_000, 'the move came too late for this check')
    await t.wait(LOOK_SECS)
    const still = await seen()
    assert.partialDeepStrictEqual(still, { status: 'open', openPrice: position.openPrice, margin: position.margin })
    assert((still?.unrealizedPnl ?? 0) > 0, 'the move brought nothing')
  },
)

check(
  '3.3.13',
  'opening is never blocked',
  'Eleven opens of one user at once, and another on the same player at once after them, are all carried out.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const open = () => user.order(player, { lotSize: 0.01 })
    for (const reply of await Promise.all(Array.from({ length: 11 }, open))) says(reply, 201)
    says(await open(), 201)
    assert.equal((await user.get('/api/positions', Positions)).positions.length, 12)
  },
)

check(
  '3.3.14',
  'open | `POST /api/positions/:id/close` | hold of 180 s elapsed | closed … opening is never blocked',
  'A goal blocks neither: right after it the scorer and those who conceded are closed and opened at once.',
  { waits: NO_HOLD },
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const user = await t.user()
    const scorer = match.player('FWD')
    const concerned = [scorer, match.player('DEF', 0, 'away'), match.player('GK', 0, 'away')]
    const held = []
    for (const one of concerned) held.push((await user.opens(match.instrument(one), { lotSize: 0.1 })).position)
    match.fixture.goal(scorer)
    await t.sees(match, ({ home }) => home.score === 1)
    for (const { id } of held) assert.equal((await user.closes(id)).position.closedBy, 'user')
    for (const one of concerned) says(await user.order(match.instrument(one), { lotSize: 0.1 }), 201)
  },
)

// 3.4 Match and trading window

const TRADEABLE =
  '`INPLAY_PENALTIES`, `INPLAY_ET_2ND_HALF`, `PEN_BREAK`, `BREAK` | open (tradeable, prices keep ticking)'

for (const [n, state] of (['INPLAY_PENALTIES', 'INPLAY_ET_2ND_HALF', 'PEN_BREAK', 'BREAK'] as const).entries()) {
  check(
    `3.4.${n + 1}`,
    TRADEABLE,
    `In \`${state}\` trading is open: a position is opened and closed.`,
    { waits: NO_HOLD },
    async (t) => {
      const match = await t.match(state)
      const { tradeWindow } = await t.sees(match, (shown) => shown.state === state)
      assert.partialDeepStrictEqual(tradeWindow, { fixtureId: match.id, status: 'OPEN', open: true, state })
      const user = await t.user()
      const { position } = await user.opens(match.instrument(match.player('MID')))
      assert.equal((await user.closes(position.id)).position.closedBy, 'user')
    },
  )
}

for (const [n, state] of (['BREAK', 'PEN_BREAK'] as const).entries()) {
  check(
    `3.4.${n + 5}`,
    `${TRADEABLE} … Price ticks are produced about every 10 s per live match from the data provider's live feed`,
    `In \`${state}\` a price comes at least every 10 s while the feed says nothing new, and a new fact moves it.`,
    { takes: 35 },
    async (t) => {
      const match = await t.match(state)
      const footballer = match.player('FWD')
      const feed = await t.feed(await t.user())
      await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [match.instrument(footballer).id] })
      const first = await feed.frame('a snapshot', () => true)
      await t.wait(24)
      const gaps = feed.gaps(first.instrumentId)
      assert(gaps.length >= 2 && Math.max(...gaps) < TICK_SECS, `in 24 s prices came with gaps of ${gaps.join(', ')} s`)
      match.fixture.goal(footballer)
      await feed.frame('the move', ({ price }) => price > first.price * 1.01)
    },
  )
}

for (const [n, state] of (['FINISHED', 'FT_PEN'] as const).entries()) {
  check(
    `3.4.${n + 7}`,
    '`FINISHED`, `FT_PEN` | closed (no new opens)',
    `In \`${state}\` an open is refused, and the match settles.`,
    async (t) => {
      const match = await t.match('INPLAY_2ND_HALF')
      const user = await t.user()
      const player = match.instrument(match.player('MID'))
      await user.opens(player)
      match.fixture.enters(state)
      await closedOne(t, user, 'the settlement')
      refuses(await user.order(player), 409, { error: 'market closed', tradeWindow: { status: 'CLOSED', open: false } })
    },
  )
}

for (const [n, id] of [2, 3].entries()) {
  check(
    `3.4.${n + 9}`,
    'numeric provider state ids 2 and 3 | live',
    `A bare state number ${id} is live: a position is opened.`,
    async (t) => {
      const match = await t.match('INPLAY_2ND_HALF')
      match.fixture.enters('BREAK') // a state in which no period ticks
      await t.sees(match, (shown) => shown.state === 'BREAK')
      match.fixture.entersNumber(id)
      const { tradeWindow } = await t.sees(match, (shown) => shown.state === null && shown.stateId === id)
      assert.equal(tradeWindow.open, true)
      await (await t.user()).opens(match.instrument(match.player('MID')))
    },
  )
}

for (const [n, id] of [5, 6, 7].entries()) {
  check(
    `3.4.${n + 11}`,
    'numeric provider state ids 5, 6, 7 | completed',
    `A bare state number ${id} is completed: opens are refused at once, and the match settles.`,
    { waits: NO_WAIT },
    async (t) => {
      const match = await t.match('INPLAY_2ND_HALF')
      const user = await t.user()
      const player = match.instrument(match.player('MID'))
      await user.opens(player)
      match.fixture.entersNumber(id)
      const { tradeWindow } = await t.sees(match, (shown) => shown.stateId === id)
      assert.equal(tradeWindow.status, 'CLOSED')
      refuses(await user.order(player), 409, { error: 'market closed' })
      assert.equal((await closedOne(t, user, 'the settlement')).closedBy, 'full_time')
    },
  )
}

for (const [n, id] of [5, 6, 7].entries()) {
  check(
    `3.4.${n + 14}`,
    'numeric provider state ids 5, 6, 7 | completed … open | `POST /api/positions/:id/close` | hold of 180 s elapsed | closed',
    `In ${id} a user closes what has been held until it settles: only opens are refused.`,
    { waits: NO_HOLD },
    async (t) => {
      const match = await t.match('INPLAY_2ND_HALF')
      const user = await t.user()
      const player = match.instrument(match.player('MID'))
      const { position } = await user.opens(player)
      match.fixture.entersNumber(id)
      await t.sees(match, (shown) => shown.stateId === id)
      assert.equal((await user.closes(position.id)).position.closedBy, 'user')
    },
  )
}

check(
  '3.4.17',
  'Settles open positions automatically when a match reaches full time.',
  'A match settles although the clock of its last payload is behind, as when the length of a half is restated.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const user = await t.user()
    await user.opens(match.instrument(match.player('MID')))
    match.fixture.clockBehind(4)
    match.fixture.enters('FINISHED')
    assert.equal((await closedOne(t, user, 'the settlement')).closedBy, 'full_time')
  },
)

check(
  '3.4.18',
  TRADEABLE,
  'A match goes on trading although the clock of a half is restated when it ends.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    match.fixture.clockBehind(4)
    match.fixture.enters('BREAK')
    await t.sees(match, ({ state, tradeWindow }) => state === 'BREAK' && tradeWindow.open)
    await (await t.user()).opens(match.instrument(match.player('MID')))
  },
)

// 3.4 XP

check(
  '3.4.19',
  'XP: opening a position awards XP (per-trade amount), … first trade of the day awards a bonus, and the level advances with XP.',
  'Opening awards XP, the first trade of a day a bonus besides; the level advances with XP.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const xp = async (above: number) =>
      t.eventually(`more than ${above} XP`, async () => {
        const me = await user.get('/api/me', Me)
        return me.xp > above ? me : undefined
      })
    await user.opens(player)
    const first = (await xp(0)).xp
    await user.opens(player)
    const second = (await xp(first)).xp - first
    assert(second > 0 && first > second, `the first trade brought ${first}, the second ${second}`)
    let { level } = await xp(first)
    for (let n = 0; n < 7; n++) await user.opens(player, { lotSize: 0.01 })
    level = (await xp(first + 7 * second)).level - level
    assert(level > 0, 'the level has not advanced')
  },
)

check(
  '3.4.20',
  'closing at a profit awards more',
  'Closing at a profit awards more XP than opening, closing at a loss none.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, crowd, player] = [await t.user(), await t.user(), await t.player()]
    let opened = 0
    // Events of a match count in their order: what came before an opening that counts has counted.
    const xpAfterOpening = async (options = {}) => {
      const { position } = await user.opens(player, options)
      opened += 1
      const xp = await t.eventually(`${opened} openings to count`, async () => {
        const seen = await user.get('/api/achievements', Achievements.extend({ xp: Me.shape.xp }))
        return seen.locked.find(({ id }) => id === 'regular')?.progress.current === opened ? seen.xp : undefined
      })
      return { position, xp }
    }
    const win = await xpAfterOpening()
    const loss = await xpAfterOpening({ direction: 'short' })
    const before = await xpAfterOpening({ lotSize: 0.01 })
    const forOpening = before.xp - loss.xp
    await crowd.opens(player, { lotSize: 20 })
    const lost = await user.closes(loss.position.id)
    assert((lost.position.realizedPnl ?? 0) < 0)
    const between = await xpAfterOpening({ lotSize: 0.01 })
    assert.equal(between.xp, before.xp + forOpening, 'a loss brought XP')
    const won = await user.closes(win.position.id)
    assert((won.position.realizedPnl ?? 0) > 0)
    const forWin = (await xpAfterOpening({ lotSize: 0.01 })).xp - between.xp - forOpening
    assert(forWin > forOpening, `a win brought ${forWin} XP, an opening ${forOpening}`)
  },
)
