/** Section 3: states and transitions. */
import assert from 'node:assert/strict'
import { type Check, into, millionths, near, refuses, retryAfter, says } from './check.ts'
import {
  AccountChanges,
  Achievements,
  Instrument,
  Me,
  Positions,
  type PositionSeen,
  SignedIn,
  Wallet,
} from './shapes.ts'
import type { OwnMatch, CheckContext, User } from './context.ts'
import { ACCESS, readToken, REFRESH } from './tokens.ts'
import { read, Visitor } from './visitor.ts'

export const checks: Check[] = []
const check = into(checks)

const HOLD_OVER = { settings: { 'trading.hold_secs': 0, 'trading.late_void_secs': 0 } }
const UNCONFIRMED = { settings: { 'trading.hold_secs': 0, 'trading.late_void_secs': 0, 'settlement.confirm_secs': 0 } }
/** Opens just before an event are not void. */
const IN_TIME = { settings: { 'trading.late_void_secs': 0 } }
/** Long enough to be sure that a state was processed without effect. */
const LOOK_SECS = 2

// 3.1 Registration flow

check(
  '3.1.1',
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

// 3.2 Tokens

/** Another browser with the same cookies. */
function copyOf(user: Visitor): Visitor {
  const copy = new Visitor(user.url)
  for (const [name, token] of user.cookies) copy.cookies.set(name, token)
  return copy
}

check('3.2.1', 'A refresh gives a new pair of tokens, which work.', async (t) => {
  const user = await t.user()
  const old = copyOf(user)
  says(await user.post('/api/auth/refresh'), 200)
  for (const name of [ACCESS, REFRESH]) {
    const [before, after] = [old, user].map((one) => readToken(one.cookies.get(name) ?? '').claims.jti)
    assert.notEqual(before, after, `${name} is the same as before`)
  }
  says(await user.ask('GET', '/api/wallet'), 200)
  says(await user.post('/api/auth/refresh'), 200)
})

check(
  '3.2.2',
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

check('3.2.3', 'A logout revokes both tokens at once, in every process, and clears both cookies.', async (t) => {
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
})

check(
  '3.2.4',
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

check('3.2.5', 'A logout works with an expired access cookie, and ends its session.', async (t) => {
  const user = await t.user()
  const copy = copyOf(user)
  const { forge } = await import('./tokens.ts')
  user.cookies.set(ACCESS, await forge(user.cookies.get(ACCESS) ?? '', { exp: 1_000 }, t.trust))
  user.cookies.delete(REFRESH)
  says(await user.post('/api/auth/logout'), 200)
  refuses(await copy.post('/api/auth/refresh'), 401)
})

check('3.2.6', 'A logout closes the sockets of the user, wherever they are (contract 6).', async (t) => {
  const user = await t.user()
  const feed = await t.feed(user)
  says(await user.post('/api/auth/logout'), 200)
  assert.equal(await feed.closed(), 4001)
})

check('3.2.7', 'A rotation repeated under its Idempotency-Key gets the same pair again (contract 7).', async (t) => {
  const user = await t.user()
  const old = copyOf(user)
  const headers = { 'idempotency-key': t.newName() }
  says(await user.ask('POST', '/api/auth/refresh', { headers }), 200)
  says(await old.ask('POST', '/api/auth/refresh', { headers }), 200)
  for (const name of [ACCESS, REFRESH]) assert.equal(old.cookies.get(name), user.cookies.get(name))
  says(await user.ask('GET', '/api/wallet'), 200)
})

// 3.3 Position

const closedOnes = async (t: CheckContext, user: User, what: string): Promise<PositionSeen> =>
  t.eventually(what, async () => (await user.get('/api/positions?status=closed', Positions)).positions[0])

check('3.3.1', 'none → open: the margin is debited, and a hold of 180 s is written for that position.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const { position, wallet } = await user.opens(player)
  near(wallet.balance, 10_000 - position.margin, 'the balance')
  assert.equal(Date.parse(position.closableAt) - Date.parse(position.openedAt), 180_000)
})

check('3.3.2', 'open → open: valid levels are changed; one left out stays, null removes it.', async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const { id, openPrice } = (await user.opens(player)).position
  const change = (levels: object) => user.ask('PATCH', `/api/positions/${id}`, { body: levels })
  const [stopLoss, takeProfit] = [Math.floor(openPrice - 5), Math.ceil(openPrice + 5)]
  says(await change({ stopLoss, takeProfit }), 200, { position: { stopLoss, takeProfit } })
  says(await change({ takeProfit: null }), 200, { position: { stopLoss, takeProfit: null } })
})

check(
  '3.3.3',
  'open → closed: after the hold `closedBy` is `user`, and margin plus realised PnL are credited.',
  HOLD_OVER,
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
  'open, hold active: a close is rejected with `cooldown_active` and `retry_after_secs`; nothing changes.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position, wallet } = await user.opens(player)
    const reply = await user.post(`/api/positions/${position.id}/close`, {})
    refuses(reply, 409, { error: 'cooldown_active', closableAt: position.closableAt })
    const { retry_after_secs: secs } = reply.body as { retry_after_secs?: number }
    assert(secs !== undefined && secs > 170 && secs <= 180, `retry_after_secs is ${secs}`)
    assert.equal(retryAfter(reply, 180), secs)
    assert.equal((await user.get('/api/wallet', Wallet)).balance, wallet.balance)
  },
)

check('3.3.5', 'The hold ends after 180 s, not before.', { takes: 186 }, async (t) => {
  const [user, player] = [await t.user(), await t.player()]
  const { position } = await user.opens(player)
  if (Date.parse(position.closableAt) - Date.parse(position.openedAt) !== 180_000)
    t.skip('another hold was set meanwhile')
  await t.wait(176)
  refuses(await user.post(`/api/positions/${position.id}/close`, {}), 409, { error: 'cooldown_active' })
  await t.wait(6)
  assert.equal((await user.closes(position.id)).position.closedBy, 'user')
})

check(
  '3.3.6',
  'The hold is per position: opening is never blocked, and a newer one does not gate an older one.',
  { ...HOLD_OVER, alone: true },
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
    refuses(await user.post(`/api/positions/${newer.id}/close`, {}), 409, { error: 'cooldown_active' })
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

check('3.3.7', 'A take-profit that is reached closes by `take_profit`, in spite of the hold.', IN_TIME, async (t) => {
  const { match, footballer, user, position } = await holding(t, (price) => ({ takeProfit: Math.ceil(price * 1.02) }))
  goals(match, footballer, 1)
  const closed = await closedOnes(t, user, 'the take-profit')
  assert.deepEqual([closed.id, closed.closedBy], [position.id, 'take_profit'])
  assert((closed.realizedPnl ?? 0) > 0, 'a take-profit without a profit')
})

check('3.3.8', 'A stop-loss that is reached closes by `stop_loss`, in spite of the hold.', IN_TIME, async (t) => {
  const order = (price: number) => ({ direction: 'short', stopLoss: Math.ceil(price * 1.02) })
  const { match, footballer, user, position } = await holding(t, order)
  goals(match, footballer, 1)
  const closed = await closedOnes(t, user, 'the stop-loss')
  assert.deepEqual([closed.id, closed.closedBy], [position.id, 'stop_loss'])
  assert((closed.realizedPnl ?? 0) < 0, 'a stop-loss without a loss')
})

check(
  '3.3.9',
  'A loss of the whole margin closes by `washout`, and costs no more than the margin.',
  IN_TIME,
  async (t) => {
    const { match, footballer, user, position } = await holding(t, () => ({ direction: 'short', lotSize: 2 }))
    goals(match, footballer, 5)
    const closed = await closedOnes(t, user, 'the washout')
    assert.deepEqual([closed.id, closed.closedBy], [position.id, 'washout'])
    near(closed.realizedPnl ?? NaN, -position.margin, 'the PnL', position.margin * 0.001)
    assert((closed.realizedPnl ?? 0) >= -position.margin, 'more than the margin was lost')
    near((await user.get('/api/wallet', Wallet)).balance, 10_000 + (closed.realizedPnl ?? NaN), 'the balance')
  },
)

check('3.3.10', 'Full time closes by `full_time`, in spite of the hold.', async (t) => {
  const { match, user } = await holding(t, () => ({}))
  match.fixture.enters('FT_PEN')
  assert.equal((await closedOnes(t, user, 'the settlement')).closedBy, 'full_time')
})

check(
  '3.3.11',
  'A system close may set off others: a trade fires the levels that its own price reaches (contract 3).',
  HOLD_OVER,
  async (t) => {
    const [holder, crowd, player] = [await t.user(), await t.user(), await t.player()]
    const takeProfit = millionths(player.currentPrice + 0.02)
    const { position } = await holder.opens(player, { lotSize: 0.01, takeProfit })
    await crowd.opens(player, { lotSize: 50 })
    const closed = await closedOnes(t, holder, 'the take-profit')
    assert.deepEqual([closed.id, closed.closedBy], [position.id, 'take_profit'])
  },
)

check(
  '3.3.12',
  'A closed position is neither closed nor changed again: 409, with the position as it is (contract 2).',
  HOLD_OVER,
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { id } = (await user.opens(player)).position
    await user.closes(id)
    const facts = { error: 'position is not open', position: { id, status: 'closed' } }
    refuses(await user.post(`/api/positions/${id}/close`, {}), 409, facts)
    refuses(await user.ask('PATCH', `/api/positions/${id}`, { body: { stopLoss: null } }), 409, facts)
  },
)

// 3.4 Match and trading window

const TRADES = [
  'INPLAY_PENALTIES',
  'INPLAY_ET_2ND_HALF',
  'PEN_BREAK',
  'BREAK',
  'INPLAY_2ND_HALF',
  'INPLAY_ET',
  'HT',
] as const

for (const [n, state] of TRADES.entries()) {
  check(`3.4.${n + 1}`, `In \`${state}\` trading is open.`, async (t) => {
    const match = await t.match(state)
    const { tradeWindow } = await t.sees(match, (shown) => shown.state === state)
    assert.partialDeepStrictEqual(tradeWindow, { fixtureId: match.id, status: 'OPEN', open: true, state })
    await (await t.user()).opens(match.instrument(match.player('MID')))
  })
}

for (const [n, state] of (['FINISHED', 'FT_PEN'] as const).entries()) {
  check(`3.4.${n + 8}`, `In \`${state}\` trading is closed, and the match settles at once.`, async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const user = await t.user()
    const player = match.instrument(match.player('MID'))
    await user.opens(player)
    match.fixture.enters(state)
    await closedOnes(t, user, 'the settlement')
    refuses(await user.order(player), 409, { error: 'market closed', tradeWindow: { status: 'CLOSED', open: false } })
  })
}

for (const [n, state] of (['FT', 'AET'] as const).entries()) {
  check(
    `3.4.${n + 10}`,
    `In \`${state}\` trading is closed at once; the match settles when that has held, and not if play goes on.`,
    async (t) => {
      const match = await t.match('INPLAY_2ND_HALF')
      const user = await t.user()
      const player = match.instrument(match.player('MID'))
      await user.opens(player)
      match.fixture.enters(state)
      await t.sees(match, (shown) => shown.state === state)
      refuses(await user.order(player), 409, { error: 'market closed' })
      await t.wait(LOOK_SECS)
      assert.equal(
        (await user.get('/api/positions', Positions)).positions.length,
        1,
        'it was settled without confirmation',
      )
      match.fixture.enters('INPLAY_ET')
      await t.sees(match, ({ tradeWindow }) => tradeWindow.open)
      await user.opens(player)
    },
  )
}

check('3.4.12', '`FT` that has held for `settlement.confirm_secs` settles.', UNCONFIRMED, async (t) => {
  const match = await t.match('INPLAY_2ND_HALF')
  const user = await t.user()
  await user.opens(match.instrument(match.player('MID')))
  match.fixture.enters('FT')
  assert.equal((await closedOnes(t, user, 'the settlement')).closedBy, 'full_time')
})

for (const [n, id] of [2, 3].entries()) {
  check(`3.4.${n + 13}`, `A bare state number ${id} is live.`, async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    match.fixture.enters('BREAK') // a state in which no period ticks
    await t.sees(match, (shown) => shown.state === 'BREAK')
    match.fixture.entersNumber(id)
    const { tradeWindow } = await t.sees(match, (shown) => shown.state === null && shown.stateId === id)
    assert.equal(tradeWindow.open, true)
  })
}

for (const [n, id] of [5, 6, 7].entries()) {
  check(
    `3.4.${n + 15}`,
    `A bare state number ${id} is completed: closed at once, settled when it has held.`,
    UNCONFIRMED,
    async (t) => {
      const match = await t.match('INPLAY_2ND_HALF')
      const user = await t.user()
      await user.opens(match.instrument(match.player('MID')))
      match.fixture.entersNumber(id)
      const { tradeWindow } = await t.sees(match, (shown) => shown.stateId === id)
      assert.equal(tradeWindow.status, 'CLOSED')
      assert.equal((await closedOnes(t, user, 'the settlement')).closedBy, 'full_time')
    },
  )
}

for (const [n, state] of (['POSTPONED', 'CANCELLED', 'ABANDONED'] as const).entries()) {
  check(`3.4.${n + 18}`, `\`${state}\` closes trading and voids: PnL 0, every margin back (contract 4).`, async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const user = await t.user()
    await user.opens(match.instrument(match.player('MID')))
    match.fixture.enters(state)
    const closed = await closedOnes(t, user, 'the void')
    assert.deepEqual([closed.closedBy, closed.realizedPnl, closed.closePrice], ['void', 0, closed.openPrice])
    assert.equal((await user.get('/api/wallet', Wallet)).balance, 10_000)
  })
}

check(
  '3.4.21',
  'A match in an unknown state is suspended: no opens, no closes by users, no settlement (contract 4).',
  HOLD_OVER,
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const user = await t.user()
    const player = match.instrument(match.player('MID'))
    const { position } = await user.opens(player)
    match.fixture.enters('INTERRUPTED')
    const { tradeWindow } = await t.sees(match, (shown) => shown.state === 'INTERRUPTED')
    assert.deepEqual([tradeWindow.status, tradeWindow.open], ['SUSPENDED', false])
    const suspended = { error: 'market suspended', tradeWindow: { status: 'SUSPENDED' } }
    refuses(await user.order(player), 409, suspended)
    refuses(await user.post(`/api/positions/${position.id}/close`, {}), 409, suspended)
  },
)

check(
  '3.4.22',
  'A match in play whose feed is late is suspended until the feed goes on (contract 4).',
  { settings: { 'feed.stale_secs': 5 } },
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    match.fixture.stopClock(true)
    const { tradeWindow } = await t.sees(match, (shown) => shown.tradeWindow.status === 'SUSPENDED')
    assert.equal(tradeWindow.open, false)
    match.fixture.stopClock(false)
    await t.sees(match, (shown) => shown.tradeWindow.open)
  },
)

check(
  '3.4.23',
  'Before kick-off trading is closed, unless the setting `trading.pre_match` opens it (contract 4).',
  { settings: { 'trading.pre_match': true }, alone: true },
  async (t) => {
    const fixture = t.trust.football.fixture() // its state is NS
    const user = await t.user()
    const window = () => user.ask('GET', `/api/matches/${fixture.id}/trade-window`)
    await t.eventually('the fixture', async () => ((await window()).status === 200 ? true : undefined))
    says(await window(), 200, { status: 'OPEN', state: 'NS' })
    const admin = await t.admin()
    says(await admin.put('/api/admin/settings/trading.pre_match', { value: false }), 200)
    await t.eventually('the window to close', async () => {
      const reply = await window()
      return (reply.body as { open?: boolean }).open === false ? reply : undefined
    })
  },
)

check(
  '3.4.24',
  'A goal suspends the instruments of its players until they have a new price, and moves them (contract 4).',
  IN_TIME,
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const scorer = match.player('FWD')
    const user = await t.user()
    const feed = await t.feed(user)
    const { id } = match.instrument(scorer)
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [id] })
    const before = await feed.frame('a snapshot', () => true)
    match.fixture.goal(scorer)
    // Trading waits until the statistics agree with the list of events.
    match.fixture.details.set(scorer, { 52: 1 })
    await feed.frame('a suspended price', ({ flags }) => (flags & 16) !== 0)
    const after = await feed.frame(
      'the new price',
      ({ price, tradingStatus }) => price > before.price * 1.02 && tradingStatus === 1,
    )
    assert(after.seq > before.seq)
  },
)

check('3.4.25', 'A goal that a review takes back takes its price effect back (contract 4).', async (t) => {
  const match = await t.match('INPLAY_2ND_HALF')
  const scorer = match.player('FWD')
  const user = await t.observer()
  const price = async () =>
    (await user.get(`/api/instruments/${match.instrument(scorer).id}`, Instrument)).live_base_price
  const before = await price()
  const goal = match.fixture.goal(scorer)
  const raised = await t.eventually('the rise', async () => ((await price()) > before * 1.02 ? price() : undefined))
  match.fixture.takeBack(goal)
  await t.eventually('the fall', async () => ((await price()) < before + (raised - before) * 0.2 ? true : undefined))
})

// 3.4 XP

check(
  '3.4.26',
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

check('3.4.27', 'Closing at a profit awards more XP than opening, closing at a loss none.', HOLD_OVER, async (t) => {
  const [user, crowd, player] = [await t.user(), await t.user(), await t.player()]
  const settledXp = async () => {
    let last = -1
    return t.eventually('XP to settle', async () => {
      await t.wait(0.7)
      const { xp } = await user.get('/api/achievements', Achievements.extend({ xp: Me.shape.xp }))
      const same = xp === last
      last = xp
      return same ? xp : undefined
    })
  }
  const [win, loss] = [await user.opens(player), await user.opens(player, { direction: 'short' })]
  const opened = await settledXp()
  await crowd.opens(player, { lotSize: 20 })
  const lost = await user.closes(loss.position.id)
  assert((lost.position.realizedPnl ?? 0) < 0)
  assert.equal(await settledXp(), opened, 'a loss brought XP')
  const won = await user.closes(win.position.id)
  assert((won.position.realizedPnl ?? 0) > 0)
  const forWin = (await settledXp()) - opened
  assert(forWin > 10, `a win brought ${forWin} XP`)
})

check(
  '3.4.28',
  'Every change of a position is an event with a marker, in order, exactly once (contract 6).',
  HOLD_OVER,
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const start = await user.get('/api/account/changes', AccountChanges)
    assert.deepEqual([start.snapshot, start.positions], [true, []])
    const { position } = await user.opens(player)
    await user.ask('PATCH', `/api/positions/${position.id}`, { body: { stopLoss: Math.floor(position.openPrice - 9) } })
    await user.closes(position.id)
    const { events } = await user.get(`/api/account/changes?since=${start.marker}`, AccountChanges)
    assert.deepEqual(
      events.map(({ type }) => type),
      ['opened', 'changed', 'closed'],
    )
    const [first] = events
    const rest = await user.get(`/api/account/changes?since=${first?.marker}`, AccountChanges)
    assert.deepEqual(
      rest.events.map(({ type }) => type),
      ['changed', 'closed'],
    )
  },
)
