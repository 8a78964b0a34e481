/** Section 2: resources and their fields. */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { decodeProtectedHeader } from 'jose'
import { type Check, into, millionths, near, refuses, says } from './check.ts'
import type { CheckContext, User } from './context.ts'
import { FeedSocket } from './feed.ts'
import { RedisLine } from './redis-line.ts'
import { closedOne } from './scenes.ts'
import {
  Achievements,
  Activity,
  Board,
  Flags,
  Instrument,
  Instruments,
  MatchEvents,
  Me,
  Movers,
  NeedsProfile,
  Notifications,
  PriceHistory,
  Quote,
  RecentTrades,
  Referral,
  Referrals,
  Settings,
  SignedIn,
  SpinnerWeek,
  Squad,
  Trade,
  Wallet,
} from './shapes.ts'
import { ACCESS, forge, forgeHmac, readToken, REFRESH, spoil, verify } from './tokens.ts'
import { read } from './visitor.ts'
import { NO_HOLD } from './waits.ts'

export const checks: Check[] = []
const check = into(checks)

const MINUTE = 60
/** Together they make more ticks than a price history has, each within the limit of a minute. */
const [TRADERS, OPENS] = [10, 52]
/** Of a player's price one tick a second is kept. */
const TICKS_APART_SECS = 1.02
/** Longer than anything takes that an update sets off. */
const SETTLED_SECS = 1

// 2.1 Tokens and tickets

check(
  '2.1.1',
  'All signed tokens use RS256 with issuer `game-api`. … `access` | cookie `game_access` | 15 min (`JWT_ACCESS_EXPIRY`) | `userId`, `districtId`, `role`, `typ` (plus a unique id, jti) … Access / refresh / ws token lifetime | 15 min / 168 h / 60 s defaults',
  'An access token is RS256 by `game-api`, 15 minutes long, with userId, districtId, role, typ and a jti.',
  async (t) => {
    const user = await t.user()
    const { alg, claims, lifetime } = readToken(user.cookies.get(ACCESS) ?? '')
    const { userId, districtId, role } = user.profile
    assert.partialDeepStrictEqual(
      { alg, ...claims },
      { alg: 'RS256', iss: 'game-api', typ: 'access', userId, districtId, role },
    )
    assert(typeof claims.jti === 'string' && claims.jti !== '', 'there is no jti')
    assert.equal(lifetime, 15 * MINUTE)
  },
)

check(
  '2.1.2',
  '`refresh` | cookie `game_refresh` | 168 h / 7 d (`JWT_REFRESH_EXPIRY`) | `userId`, `typ`',
  'A refresh token is RS256 by `game-api`, 168 hours long, with userId and typ.',
  async (t) => {
    const user = await t.user()
    const { alg, claims, lifetime } = readToken(user.cookies.get(REFRESH) ?? '')
    assert.partialDeepStrictEqual(
      { alg, ...claims },
      { alg: 'RS256', iss: 'game-api', typ: 'refresh', userId: user.id },
    )
    assert.equal(lifetime, 168 * 60 * MINUTE)
  },
)

check(
  '2.1.3',
  '`ws` | query parameter `token` | 60 s (`JWT_WS_EXPIRY`) | `userId`, `typ`',
  'A WebSocket token is RS256 by `game-api`, 60 seconds long, with userId and typ.',
  async (t) => {
    const user = await t.user()
    const { alg, claims, lifetime } = readToken(await t.wsToken(user))
    assert.partialDeepStrictEqual({ alg, ...claims }, { alg: 'RS256', iss: 'game-api', typ: 'ws', userId: user.id })
    assert.equal(lifetime, MINUTE)
  },
)

check(
  '2.1.4',
  'All signed tokens use RS256 with issuer `game-api`. … (plus a unique id, jti)',
  'Every token is signed with the configured key, and has an id of its own.',
  async (t) => {
    const user = await t.user()
    const tokens = [
      user.cookies.get(ACCESS) ?? '',
      user.cookies.get(REFRESH) ?? '',
      await t.wsToken(user),
      await t.wsToken(user),
    ]
    for (const token of tokens) await verify(token, t.trust)
    assert.equal(new Set(tokens.map((token) => readToken(token).claims.jti)).size, tokens.length, 'a jti is repeated')
  },
)

check(
  '2.1.5',
  'Validation always states the expected `typ`; a token of another type is rejected (an access token cannot be used as a WebSocket token).',
  'A token of the wrong type is rejected on every route.',
  async (t) => {
    const user = await t.user()
    const [access, refresh, ws] = [
      user.cookies.get(ACCESS) ?? '',
      user.cookies.get(REFRESH) ?? '',
      await t.wsToken(user),
    ]
    for (const wrong of [refresh, ws]) {
      const visitor = t.visitor()
      visitor.cookies.set(ACCESS, wrong)
      refuses(await visitor.ask('GET', '/api/wallet'), 401)
    }
    for (const wrong of [access, ws]) {
      const visitor = t.visitor()
      visitor.cookies.set(REFRESH, wrong)
      refuses(await visitor.post('/api/auth/refresh'), 401)
    }
    for (const wrong of [access, refresh]) {
      assert.equal(await FeedSocket.refusal(await t.wsUrl(user), wrong), 4001)
    }
  },
)

check(
  '2.1.6',
  'All signed tokens use RS256 with issuer `game-api`. … missing, invalid, expired, wrong-type or revoked access token on a protected route',
  'A token that is expired, altered, unsigned, HMAC-signed or of another issuer is rejected.',
  async (t) => {
    const user = await t.user()
    const access = user.cookies.get(ACCESS) ?? ''
    const now = Math.floor(Date.now() / 1_000)
    const bad = {
      expired: await forge(access, { iat: now - 1_000, exp: now - 1 }, t.trust),
      'of another issuer': await forge(access, { iss: 'somebody' }, t.trust),
      'without a user': await forge(access, { userId: undefined }, t.trust),
      'without a type': await forge(access, { typ: undefined }, t.trust),
      altered: spoil(access),
      'HMAC-signed with the ticket secret': await forgeHmac(access, t.trust.ticketSecret),
      unsigned: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${access.split('.')[1]}.`,
      'no token': 'x.y.z',
    }
    for (const [how, token] of Object.entries(bad)) {
      user.cookies.set(ACCESS, token)
      const reply = await user.ask('GET', '/api/wallet')
      assert.equal(reply.status, 401, `a token ${how} was answered ${reply.status}`)
    }
    user.cookies.set(ACCESS, await forge(access, { exp: now + MINUTE }, t.trust))
    says(await user.ask('GET', '/api/wallet'), 200)
  },
)

check(
  '2.1.7',
  'Registration ticket: HMAC-SHA256 signed with secret `REG_TICKET_SECRET`, lifetime `REG_TICKET_TTL` (default 5 min). Carries `sub`, `email`, `name`, `picture` of the identity-provider account. … Registration ticket | default 5 min',
  'A registration ticket is HMAC-SHA256-signed with the secret, 5 minutes long, with sub, email, name, picture.',
  async (t) => {
    const sub = t.newName()
    const { registrationTicket: ticket } = read422(await t.google(t.visitor(), sub))
    assert.equal(decodeProtectedHeader(ticket).alg, 'HS256')
    assert.equal(await forgeHmac(ticket, t.trust.ticketSecret), ticket, 'it is signed with another secret')
    const { claims, lifetime } = readToken(ticket)
    const { email, name, picture } = t.trust.identity.claims(sub, '')
    assert.partialDeepStrictEqual(claims, { sub, email, name, picture })
    assert.equal(lifetime, 5 * MINUTE)
  },
)

check(
  '2.1.8',
  'The client returns it at every registration step; the server never trusts raw identity claims from the client.',
  'A ticket that is expired, altered or signed with another secret is rejected at every step.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket, otp } = await t.ticket(visitor)
    const now = Math.floor(Date.now() / 1_000)
    const bad = [
      await forgeHmac(registrationTicket, t.trust.ticketSecret, { iat: now - 1_000, exp: now - 1 }),
      await forgeHmac(registrationTicket, 'another secret, which is long enough for HMAC-SHA256'),
      spoil(registrationTicket),
      'no ticket',
    ]
    const profile = { username: t.newName(), firstName: 'Con', districtId: await t.district() }
    for (const ticket of bad) {
      const invalid = { error: 'invalid registration ticket' }
      refuses(await visitor.post('/api/auth/verify-otp', { registrationTicket: ticket, otp }), 401, invalid)
      refuses(await visitor.post('/api/auth/resend-otp', { registrationTicket: ticket }), 401, invalid)
      refuses(await visitor.post('/api/auth/google/complete', { registrationTicket: ticket, ...profile }), 401, invalid)
    }
  },
)

check(
  '2.1.9',
  'the server never trusts raw identity claims from the client.',
  'The server takes nothing of the identity from the client: the ticket alone counts.',
  async (t) => {
    const visitor = t.visitor()
    const { sub, registrationTicket } = await t.verified(visitor)
    const claimed = {
      email: 'boss@conformance.example',
      name: 'Boss',
      picture: 'https://x.example',
      sub: 'boss',
      role: 'admin',
    }
    const profile = { registrationTicket, username: t.newName(), firstName: 'Con', districtId: await t.district() }
    for (const [field, value] of Object.entries(claimed)) {
      const refused = await visitor.post('/api/auth/google/complete', { ...profile, [field]: value })
      refuses(refused, 400, { error: 'validation failed' })
    }
    const { user } = read(await visitor.post('/api/auth/google/complete', profile), SignedIn)
    const { email, picture } = t.trust.identity.claims(sub, '')
    assert.partialDeepStrictEqual(user, { email, picture, role: 'user' })
  },
)

check('2.1.10', 'One-time code (OTP): 6 digits', 'A one-time code is 6 digits and comes by mail.', async (t) => {
  const { email, otp } = await t.ticket(t.visitor())
  assert.match(otp, /^\d{6}$/)
  assert.equal(t.trust.mail.countTo(email), 1)
})

check(
  '2.1.11',
  'at most 3 verify attempts … OTP is invalid after 3 failed attempts. … OTP | 6 digits, 5 min validity, 3 attempts, 60 s resend cooldown',
  'A code may be tried 3 times; after that the right one is refused, too.',
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket, otp } = await t.ticket(visitor)
    const guess = (code: string) => visitor.post('/api/auth/verify-otp', { registrationTicket, otp: code })
    const wrong = otp === '000000' ? '000001' : '000000'
    for (const attemptsRemaining of [2, 1, 0])
      refuses(await guess(wrong), 400, { error: 'invalid code', attemptsRemaining })
    refuses(await guess(otp), 429, { error: 'too many attempts' })
  },
)

check(
  '2.1.12',
  '60-second resend cooldown',
  'Another code can be had 60 seconds after the last, and not before; the last counts no more.',
  { takes: 62 },
  async (t) => {
    const visitor = t.visitor()
    const { registrationTicket, email, otp } = await t.ticket(visitor)
    const early = await visitor.post('/api/auth/resend-otp', { registrationTicket })
    refuses(early, 429)
    const seconds = Number(early.headers.get('retry-after'))
    assert(seconds > 50 && seconds <= 60, `Retry-After is ${seconds}`)
    await t.wait(seconds)
    says(await visitor.post('/api/auth/resend-otp', { registrationTicket }), 200)
    const second = await t.code(email, 2)
    if (otp !== second) refuses(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp }), 400)
    says(await visitor.post('/api/auth/verify-otp', { registrationTicket, otp: second }), 200, { verified: true })
  },
)

check(
  '2.1.13',
  'One-time code (OTP): 6 digits, valid 5 minutes',
  'A code is valid for 5 minutes.',
  { takes: 302 },
  async (t) => {
    const visitor = t.visitor()
    const { sub, otp } = await t.ticket(visitor)
    await t.wait(300)
    // The ticket has expired too; a new sign-in gives another ticket, and a code that was not mailed within the minute.
    const { registrationTicket } = read422(await t.google(visitor, sub))
    const reply = await visitor.post('/api/auth/verify-otp', { registrationTicket, otp })
    refuses(reply, 400)
  },
)

check(
  '2.1.14',
  'Nonce: client-chosen string sent with the identity token; single use',
  'A nonce is single use, also with another token.',
  async (t) => {
    const nonce = t.newName()
    const send = async (sub: string) =>
      t.visitor().post('/api/auth/google', { idToken: await t.trust.identity.token(sub, nonce), nonce })
    says(await send(t.newName()), 422, { needsProfile: true })
    refuses(await send(t.newName()), 401, { error: 'nonce already used' })
  },
)

check('2.1.15', 'claimed for 300 seconds', 'A nonce is claimed for 300 seconds.', { takes: 304 }, async (t) => {
  const nonce = t.newName()
  const send = async () =>
    t.visitor().post('/api/auth/google', { idToken: await t.trust.identity.token(t.newName(), nonce), nonce })
  says(await send(), 422, { needsProfile: true })
  await t.wait(290)
  refuses(await send(), 401, { error: 'nonce already used' })
  await t.wait(12)
  says(await send(), 422, { needsProfile: true })
})

check(
  '2.1.16',
  '`ws` | query parameter `token` | 60 s (`JWT_WS_EXPIRY`)',
  'A WebSocket token opens no socket any more once its 60 seconds are over.',
  { takes: 62 },
  async (t) => {
    const user = await t.user()
    const token = await t.wsToken(user)
    await t.wait(61)
    assert.equal(await FeedSocket.refusal(await t.wsUrl(user), token), 4001)
  },
)

// 2.2 User

check(
  '2.2.1',
  '`userId` | identifier … `districtId` | district the user belongs to … `firstName` and further profile fields | sent in the registration-complete call … `xp` | integer; grows with activity (section 3.4)',
  'A profile has userId, districtId, role, email, name, picture, firstName and xp.',
  async (t) => {
    const user = await t.user({ firstName: 'Ada', lastName: 'L' })
    const me = await user.get('/api/me', Me)
    assert.partialDeepStrictEqual(me, {
      userId: user.id,
      firstName: 'Ada',
      lastName: 'L',
      role: 'user',
      xp: 0,
      level: 1,
    })
    const { email, name, picture } = t.trust.identity.claims(user.sub, '')
    assert.partialDeepStrictEqual(me, { email, name, picture })
  },
)

check(
  '2.2.2',
  '`google_sub` (identity-provider subject) | unique per user; used to look up the user at sign-in',
  'The subject at the identity provider is unique: signing in with it again is the same user.',
  async (t) => {
    const user = await t.user()
    const again = read(await t.google(t.visitor(), user.sub), SignedIn)
    assert.deepEqual([again.user.userId, again.isNew], [user.id, false])
  },
)

check(
  '2.2.3',
  '`email`, `name`, `picture` | from the identity provider',
  '`email`, `name` and `picture` are from the identity provider: as it last gave them.',
  async (t) => {
    const user = await t.user()
    const picture = 'https://pictures.example/newer.png'
    const { user: later } = read(await t.google(t.visitor(), user.sub, { name: 'Fan Newname', picture }), SignedIn)
    assert.deepEqual([later.name, later.picture], ['Fan Newname', picture])
  },
)

// 2.3 Wallet

check(
  '2.3.1',
  'Equity = balance plus unrealised PnL of open positions.',
  'Equity is balance plus unrealised PnL; free margin is the balance, from which margin is debited.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.opens(player)
    const wallet = await user.get('/api/wallet', Wallet)
    near(wallet.balance, 10_000 - position.margin, 'the balance')
    near(wallet.equity, wallet.balance + wallet.unrealizedPnl, 'equity')
    near(wallet.freeMargin, wallet.balance, 'free margin')
    near(wallet.marginUsed, position.margin, 'margin used')
  },
)

check(
  '2.3.2',
  'After a close, balance equals balance before open plus realised PnL.',
  'After a close the balance is the one before the open plus the realised PnL.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.opens(player, { lotSize: 3 })
    const other = await t.user()
    await other.opens(player, { lotSize: 2 }) // moves the price
    const closed = await user.closes(position.id)
    assert(closed.position.realizedPnl !== 0, 'nothing was won or lost')
    near(closed.wallet.balance, 10_000 + (closed.position.realizedPnl ?? NaN), 'the balance')
  },
)

check(
  '2.3.3',
  'The fast store hash `wallet:<userId>` field `balance` takes precedence over the persistent record when it exists.',
  'The balance is what the hash says, lower or higher by any amount, for admins too, and pays the next open.',
  async (t) => {
    const url = t.stores.environment['REDIS_URL']
    if (url === undefined)
      return t.doesNotApply('its fast store is in the process, where nothing else can change a hash')
    const redis = await RedisLine.open(url)
    t.later(() => redis.close())
    const [user, player] = [await t.user(), await t.player()]
    const { wallet } = await user.opens(player)
    const hash = `wallet:${user.id}`
    // The hash follows an open in the background.
    const written = (balance: number) =>
      t.eventually('the hash', async () =>
        Number(await redis.ask('hget', hash, 'balance')) === balance ? true : undefined,
      )
    await written(wallet.balance)
    const admin = await t.admin()
    for (const said of [7_000.000_001, 777, 2, 50_000, 12_345.5, 2_000_000]) {
      await redis.ask('hset', hash, 'balance', String(said))
      assert.equal((await user.get('/api/wallet', Wallet)).balance, said)
      const found = await admin.ask('GET', `/api/admin/users?search=${user.id}`)
      says(found, 200, { users: [{ userId: user.id, balance: said }] })
      const { text } = await admin.ask('GET', '/api/admin/users/export.csv')
      const line = text.split('\r\n').find((one) => one.startsWith(user.id)) ?? ''
      assert(line.split(',').includes(String(said)), `the export says ${line}`)
      const next = await user.opens(player, { lotSize: 0.01 })
      near(next.wallet.balance, said - next.position.margin, `the balance after an open from ${said}`)
      await written(next.wallet.balance)
    }
  },
)

// 2.4 Instrument and price data

check(
  '2.4.1',
  '`id` | UUID … `k_mod` | per-instrument price slope per unit of imbalance',
  'An instrument has a UUID, its prices, imbalance and slope, and the limits of a lot.',
  async (t) => {
    const user = await t.observer()
    const player = await t.player()
    const seen = await user.get(`/api/instruments/${player.id}`, Instrument)
    assert.partialDeepStrictEqual(seen, { contractSize: 5, leverage: 10, minLot: 0.01, maxLot: 100, lotStep: 0.01 })
  },
)

check(
  '2.4.2',
  'price (`currentPrice`) | reflects the live base price plus the open-position imbalance effect … `live_base_price` | price from live match data',
  '`currentPrice` is `live_base_price + k_mod × net_position_imbalance`, and open volume moves it.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    await user.opens(player, { lotSize: 1.25 })
    const seen = await user.get(`/api/instruments/${player.id}`, Instrument)
    assert.equal(seen.net_position_imbalance, 1.25)
    near(seen.currentPrice, seen.live_base_price + seen.k_mod * 1.25, 'the price')
    assert(seen.currentPrice > player.currentPrice, 'a long has not raised the price')
  },
)

check(
  '2.4.3',
  '`net_position_imbalance` | net long-minus-short open volume; moves price',
  'A short lowers the price; the imbalance is long minus short.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    await user.opens(player, { lotSize: 1 })
    await user.opens(player, { lotSize: 3, direction: 'short' })
    const seen = await user.get(`/api/instruments/${player.id}`, Instrument)
    assert.equal(seen.net_position_imbalance, -2)
    assert(seen.currentPrice < seen.live_base_price, 'the price is not below its base')
  },
)

check(
  '2.4.4',
  'price (`currentPrice`) | reflects the live base price plus the open-position imbalance effect',
  '`currentPrice` = base + slope × imbalance at every look: in play, with a book, and after the settlement.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const [footballer, user] = [match.player('MID'), await t.user()]
    const player = match.instrument(footballer)
    const holds = async (): Promise<void> => {
      const seen = await user.get(`/api/instruments/${player.id}`, Instrument)
      const expected = seen.live_base_price + seen.k_mod * seen.net_position_imbalance
      // The slope is shown in millionths, which the imbalance multiplies.
      near(seen.currentPrice, expected, 'the price', 0.000_001 * (1 + Math.abs(seen.net_position_imbalance)))
    }
    await holds()
    await user.opens(player, { lotSize: 40 })
    await holds()
    match.fixture.goal(footballer)
    for (let look = 0; look < 5; look++) {
      await holds()
      await t.wait(0.2)
    }
    match.fixture.enters('FINISHED')
    await t.sees(match, ({ tradeWindow }) => tradeWindow.status === 'CLOSED')
    await holds()
  },
)

check(
  '2.4.5',
  'a fallback of 0.01 exists only when the real value is unavailable',
  'Every instrument has a slope of its own, and none the fallback.',
  async (t) => {
    await t.player()
    const { instruments } = await (await t.observer()).get('/api/instruments', Instruments)
    assert(instruments.every(({ k_mod: slope }) => slope > 0 && slope !== 0.01))
  },
)

check(
  '2.4.6',
  '`last_published_price` | last price broadcast over the WebSocket',
  '`last_published_price` is the last price that was broadcast.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const feed = await t.feed(user)
    await feed.ask({ type: 'subscribe', id: 1, instrumentIds: [player.id] })
    await user.opens(player)
    const frame = await feed.frame('the move', ({ imbalance }) => imbalance === 0.5)
    const seen = await user.get(`/api/instruments/${player.id}`, Instrument)
    near(seen.last_published_price, frame.price, 'the last published price')
  },
)

check(
  '2.4.7',
  'Price-history response has ticks (at most 500) and a `stats` object: … describe only the returned tick window (at most 500), not the lifetime … `lifetimeCount` is not returned.',
  'A price history has at most 500 ticks and `stats` over them; `lifetimeCount` is not returned.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    await user.opens(player)
    const history = await t.eventually('the tick', async () => {
      const found = await user.get(`/api/instruments/${player.id}/price-history?period=all`, PriceHistory)
      return found.ticks.some(({ cause }) => cause === 'trade') ? found : undefined
    })
    const prices = history.ticks.map(({ price }) => price)
    assert.partialDeepStrictEqual(history.stats, {
      open: prices[0],
      high: Math.max(...prices),
      low: Math.min(...prices),
      volume: 0.5,
    })
    assert.equal(JSON.stringify(history).includes('lifetimeCount'), false)
  },
)

check(
  '2.4.8',
  'describe only the returned tick window (at most 500), not the lifetime … Price-history ticks | at most 500',
  'Of more than 500 ticks 500 are returned; `open`, `high` and `low` are of these, `firstTickAt` is of the very first.',
  { takes: 600 },
  async (t) => {
    const player = await t.player('GK')
    const crowd = await Promise.all(Array.from({ length: TRADERS }, () => t.user()))
    const [observer] = crowd
    assert(observer !== undefined)
    const history = () => observer.get(`/api/instruments/${player.id}/price-history?period=all`, PriceHistory)
    const first = await t.eventually('a tick', async () => (await history()).ticks[0])
    // To and fro: each open moves the price, however small the slope is.
    for (let n = 0; n < OPENS; n++) {
      for (const [at, user] of crowd.entries()) {
        await user.opens(player, { lotSize: 0.1, direction: at % 2 === 0 ? 'long' : 'short' })
        await t.wait(TICKS_APART_SECS)
      }
    }
    const { ticks, stats } = await t.eventually('500 ticks', async () => {
      const found = await history()
      return found.ticks.length >= 500 ? found : undefined
    })
    const prices = ticks.map(({ price }) => price)
    assert.equal(ticks.length, 500)
    assert.partialDeepStrictEqual(stats, { open: prices[0], high: Math.max(...prices), low: Math.min(...prices) })
    assert.equal(stats.firstTickAt, first.at.replace('T', ' ').replace('Z', '0+00'))
  },
)

check(
  '2.4.9',
  '`firstTickAt` | earliest tick ever for the instrument as a timestamp string of the form `YYYY-MM-DD HH:MM:SS.ffff+00` (space separated), or null when there is no history',
  '`firstTickAt` is the earliest tick, as `YYYY-MM-DD HH:MM:SS.ffff+00`.',
  async (t) => {
    const [user, player] = [await t.observer(), await t.player()]
    const { stats, ticks } = await user.get(`/api/instruments/${player.id}/price-history?period=all`, PriceHistory)
    const first = ticks[0]?.at ?? ''
    assert.equal(stats.firstTickAt, first.replace('T', ' ').replace('Z', '0+00'))
  },
)

check(
  '2.4.10',
  'Query parameter `period` values: `5m`, `1h`, `6h`, `1d`, `all`.',
  'The periods are `5m`, `1h`, `6h`, `1d` and `all`; anything else is 400.',
  async (t) => {
    const [user, player] = [await t.observer(), await t.player()]
    for (const period of ['5m', '1h', '6h', '1d', 'all']) {
      assert.equal(
        (await user.get(`/api/instruments/${player.id}/price-history?period=${period}`, PriceHistory)).period,
        period,
      )
    }
    refuses(await user.ask('GET', `/api/instruments/${player.id}/price-history?period=2h`), 400, {
      error: 'validation failed',
    })
  },
)

check(
  '2.4.11',
  'Recent-trades items exclude user identifiers.',
  'Recent trades carry no user identifiers, and times to the second.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.opens(player)
    const reply = await user.ask('GET', `/api/instruments/${player.id}/recent-trades`)
    const { trades } = read(reply, RecentTrades)
    assert.partialDeepStrictEqual(trades[0], {
      direction: 'long',
      lotSize: 0.5,
      price: position.openPrice,
      action: 'open',
    })
    assert.equal(
      reply.text.includes(user.id) || reply.text.includes(user.profile.username),
      false,
      'it names the trader',
    )
    assert.match(trades[0]?.at ?? '', /\.000Z$/)
  },
)

check(
  '2.4.12',
  'Movers response holds top 5 gainers, losers and most-traded over a 24 h window, cached 60 s.',
  'Movers are the top 5 gainers, losers and most traded, kept for 60 seconds.',
  async (t) => {
    const user = await t.observer()
    const [first, second] = [
      await user.get('/api/instruments/movers', Movers),
      await user.get('/api/instruments/movers', Movers),
    ]
    const ageMs = Date.now() - Date.parse(second.asOf)
    assert(ageMs < 62_000, `the movers are ${ageMs} ms old`)
    // Whether a player can be traded is told as it is now: a tap on a mover must not end in a refusal.
    const kept = ({ gainers, losers, mostTraded }: typeof first) =>
      [gainers, losers, mostTraded].map((list) => list.map((one) => ({ ...one, tradingStatus: null })))
    if (first.asOf === second.asOf) assert.deepEqual(kept(second), kept(first))
  },
)

// 2.5 Position

check(
  '2.5.1',
  '`direction` | `long` or `short` … `lotSize` | number (fractional lots allowed) … position id | identifier … `instrumentId` | UUID … open price | must be non-zero',
  'A position has its fields, long or short, with a fraction of a lot.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.opens(player, { direction: 'short', lotSize: 0.37 })
    const { id, fixtureId } = player
    const expected = { instrumentId: id, fixtureId, direction: 'short', lotSize: 0.37, contractSize: 5, leverage: 10 }
    assert.partialDeepStrictEqual(position, {
      ...expected,
      status: 'open',
      closedBy: null,
      closePrice: null,
      realizedPnl: null,
    })
  },
)

check(
  '2.5.2',
  'Contract size constant: 5. … Margin required = price * lots * 5 / 10',
  'The margin is price × lots × 5 / 10: half a lot at 200 takes 50 units.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player('MID')]
    const { position, wallet } = await user.opens(player, { lotSize: 0.5 })
    near(position.margin, (position.openPrice * 0.5 * 5) / 10, 'the margin', 0.000_001)
    near(wallet.balance, 10_000 - position.margin, 'what was debited')
    assert(position.openPrice > 0, 'the open price is zero')
  },
)

check(
  '2.5.3',
  'Realised PnL = price move * lots * 5',
  'Realised PnL is the move × lots × 5, with the sign of the direction.',
  { waits: NO_HOLD },
  async (t) => {
    const [long, short, player] = [await t.user(), await t.user(), await t.player()]
    const [up, down] = [
      await long.opens(player, { lotSize: 4 }),
      await short.opens(player, { direction: 'short', lotSize: 1 }),
    ]
    const closed = [await long.closes(up.position.id), await short.closes(down.position.id)]
    for (const { position } of closed) {
      const move = ((position.closePrice ?? NaN) - position.openPrice) * (position.direction === 'long' ? 1 : -1)
      near(position.realizedPnl ?? NaN, move * position.lotSize * 5, `the PnL of the ${position.direction}`, 0.000_002)
    }
  },
)

check(
  '2.5.4',
  '`closedBy` | `user` when the user closed it',
  '`closedBy` is `user` when the user closed it, and its closing fields are set.',
  { waits: NO_HOLD },
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const { position } = await user.closes((await user.opens(player)).position.id)
    assert.partialDeepStrictEqual(position, { status: 'closed', closedBy: 'user', unrealizedPnl: 0 })
    assert(position.closedAt !== null && position.closePrice !== null, 'a closed position without time or price')
  },
)

check(
  '2.5.5',
  'Realised PnL = price move * lots * 5 … Settles open positions automatically when a match reaches full time.',
  'A stop-loss ends the loss: what it booked is move × lots × 5 exactly, and no later update changes it.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const [footballer, user] = [match.player('DEF'), await t.user()]
    const player = match.instrument(footballer)
    const stopLoss = player.currentPrice * 0.99
    const { position } = await user.opens(player, { lotSize: 2, stopLoss })
    match.fixture.ownGoal(footballer)
    await final(t, user, position.id, 'stop_loss', () => match.fixture.red(footballer))
  },
)

check(
  '2.5.6',
  'Realised PnL = price move * lots * 5',
  'A take-profit is final, too: the same closed position, price and PnL after the price has gone on.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const [footballer, user] = [match.player('FWD'), await t.user()]
    const player = match.instrument(footballer)
    const takeProfit = player.currentPrice * 1.01
    const { position } = await user.opens(player, { lotSize: 2, takeProfit })
    match.fixture.goal(footballer)
    await final(t, user, position.id, 'take_profit', () => match.fixture.goal(footballer))
  },
)

check(
  '2.5.7',
  'Realised PnL = price move * lots * 5 … wallet credited with margin plus realised PnL',
  'A close by the user is final: what happens in the match a moment later does not change it.',
  { waits: NO_HOLD },
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const [footballer, user] = [match.player('FWD'), await t.user()]
    const { position } = await user.opens(match.instrument(footballer), { lotSize: 2 })
    await user.closes(position.id)
    await final(t, user, position.id, 'user', () => match.fixture.goal(footballer))
  },
)

/** The position has closed by the formula, and is the same, with the same balance, after `more` has moved the price. */
async function final(t: CheckContext, user: User, id: string, closedBy: string, more: () => void): Promise<void> {
  const closed = () => closedOne(t, user, 'the close')
  const first = await closed()
  assert.deepEqual([first.id, first.closedBy], [id, closedBy])
  const move = ((first.closePrice ?? NaN) - first.openPrice) * (first.direction === 'long' ? 1 : -1)
  near(first.realizedPnl ?? NaN, move * first.lotSize * 5, 'the realised PnL', 0.000_001)
  const balance = 10_000 + (first.realizedPnl ?? NaN)
  near((await user.get('/api/wallet', Wallet)).balance, balance, 'the balance')
  const price = async () => (await user.get(`/api/instruments/${first.instrumentId}`, Instrument)).live_base_price
  const before = await price()
  more()
  await t.eventually('the price to go on', async () =>
    Math.abs((await price()) / before - 1) > 0.01 ? true : undefined,
  )
  await t.wait(SETTLED_SECS)
  const later = await closed()
  assert.deepEqual(
    [later.closePrice, later.realizedPnl, later.closedAt, later.openPrice],
    [first.closePrice, first.realizedPnl, first.closedAt, first.openPrice],
  )
  near((await user.get('/api/wallet', Wallet)).balance, balance, 'the balance after the price went on')
}

check(
  '2.5.8',
  'close price | for full-time settlement = `live_base_price + k_mod * net_position_imbalance`',
  'With a one-sided book of 225 lots everybody is settled at base + slope × imbalance, as shown before the end.',
  async (t) => {
    const match = await t.match('INPLAY_2ND_HALF')
    const footballer = match.player('DEF')
    const player = match.instrument(footballer)
    const crowd = await Promise.all(Array.from({ length: 3 }, () => t.user()))
    for (const user of crowd) await user.opens(player, { lotSize: 75 })
    match.fixture.enters('HT')
    await t.sees(match, ({ state }) => state === 'HT')
    const observer = await t.observer()
    const shown = () => observer.get(`/api/instruments/${player.id}`, Instrument)
    const before = await shown()
    assert.equal(before.net_position_imbalance, 225)
    match.fixture.enters('FINISHED')
    const closes = await Promise.all(crowd.map((user) => closedOne(t, user, 'the settlement')))
    const settled = await shown()
    const part = before.k_mod * before.net_position_imbalance
    for (const { closedBy, closePrice } of closes) {
      assert.equal(closedBy, 'full_time')
      // The last payload may move the base; the slope follows the base.
      near(closePrice ?? NaN, settled.live_base_price + part, 'the close price', part * 0.005)
    }
    assert.equal(new Set(closes.map(({ closePrice }) => closePrice)).size, 1, 'not everybody got the same price')
  },
)

const stored = ({ stopLoss, takeProfit }: Record<'stopLoss' | 'takeProfit', number>) => ({
  stopLoss: millionths(stopLoss),
  takeProfit: millionths(takeProfit),
})

check(
  '2.5.9',
  'stop-loss, take-profit | optional price levels, valid for the direction and current price',
  'Levels half a per cent from the price are valid at once, on open and on change, for longs and shorts.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    for (const [direction, sign] of [
      ['long', 1],
      ['short', -1],
    ] as const) {
      const at = (factor: number): number => player.currentPrice * (1 + sign * factor)
      const levels = { stopLoss: at(-0.005), takeProfit: at(0.005) }
      const { position } = await user.opens(player, { direction, lotSize: 0.01, ...levels })
      assert.partialDeepStrictEqual(position, stored(levels))
      const nearer = { stopLoss: at(-0.002), takeProfit: at(0.002) }
      const reply = await user.ask('PATCH', `/api/positions/${position.id}`, { body: nearer })
      says(reply, 200, { position: stored(nearer) })
    }
  },
)

check(
  '2.5.10',
  'Trade form shows margin equal to the server debit',
  'What the quote says a position costs is what is debited, to the millionth.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    const order = { instrumentId: player.id, direction: 'long', lotSize: 3.21 }
    const quote = read(await user.post('/api/positions/quote', order), Quote)
    const { position, wallet } = read(await user.order(player, order), Trade)
    assert.equal(position.margin, quote.margin)
    near(wallet.balance, 10_000 - quote.margin, 'the balance')
  },
)

// 2.6 Other resources

const STATS = [
  'Shots Total',
  'Shots On Target',
  'Corners',
  'Ball Possession %',
  'Fouls',
  'Offsides',
  'Successful Passes',
  'Yellowcards',
  'Redcards',
  'Saves',
]

check(
  '2.6.1',
  "inner keys are the data provider's fixture-level stat type names verbatim, e.g. `Shots Total`, `Shots On Target`, `Corners`, `Ball Possession %`, `Fouls`, `Offsides`, `Successful Passes`, `Yellowcards`, `Redcards`, `Saves`.",
  "`teamStats` is keyed `home` and `away`, with the data provider's names of statistics verbatim.",
  async (t) => {
    const match = await t.match('INPLAY_1ST_HALF')
    const home = Object.fromEntries(STATS.map((name, n) => [name, n + 1]))
    const away = Object.fromEntries(STATS.map((name, n) => [name, n * 2]))
    match.fixture.teamStats = { home, away }
    const user = await t.observer()
    await t.eventually('the statistics', async () => {
      const { teamStats } = await user.get(`/api/matches/${match.id}/events`, MatchEvents)
      return Object.keys(teamStats.home).length > 0
        ? (assert.deepEqual({ ...teamStats }, { home, away }) ?? true)
        : undefined
    })
  },
)

check(
  '2.6.2',
  'When fixture stats are absent, per-player aggregates use their own names',
  'Without statistics of the fixture those of the players are added up, under their own names.',
  async (t) => {
    const match = await t.match('INPLAY_1ST_HALF')
    match.fixture.details.set(match.player('MID', 0), { 86: 2, 56: 1 })
    match.fixture.details.set(match.player('FWD', 0), { 86: 3 })
    const user = await t.observer()
    const stats = await t.eventually('the sums', async () => {
      const { teamStats } = await user.get(`/api/matches/${match.id}/events`, MatchEvents)
      return Object.keys(teamStats.home).length > 0 ? teamStats : undefined
    })
    assert.partialDeepStrictEqual(stats.home, { 'Shots On Target': 5, Fouls: 1 })
  },
)

check(
  '2.6.3',
  'Squad | of home or away team via `?team=home` or `?team=away`',
  'A squad is of the home or of the away team.',
  async (t) => {
    const player = await t.player()
    const user = await t.observer()
    const squads = await Promise.all(
      ['home', 'away'].map((team) => user.get(`/api/matches/${player.fixtureId}/squad?team=${team}`, Squad)),
    )
    assert.deepEqual(
      squads.map(({ team }) => team.side),
      ['home', 'away'],
    )
    const [home, away] = squads.map(({ players }) => players.map(({ instrumentId }) => instrumentId))
    assert.equal((home ?? []).length, 20)
    assert.deepEqual(
      (home ?? []).filter((id) => (away ?? []).includes(id)),
      [],
    )
  },
)

check(
  '2.6.4',
  'Notification | id, read/unread flag',
  'A notification has an id and a read flag; the badge of a first position brings one.',
  async (t) => {
    const [user, player] = [await t.user(), await t.player()]
    await user.opens(player)
    const found = await t.eventually('a notification', async () => {
      const page = await user.get('/api/notifications', Notifications)
      return page.notifications.length > 0 ? page : undefined
    })
    assert.equal(found.notifications[0]?.read, false)
    assert.equal(found.unreadCount >= 1, true)
  },
)

check(
  '2.6.5',
  'named invites plus anonymous; … `summary.pending` excludes unclaimed invites (`registered=false`)',
  'Referrals are named invites and anonymous ones; unclaimed invites are not pending.',
  async (t) => {
    const user = await t.user()
    says(await user.post('/api/referrals/invites', { name: 'Grace' }), 201, {
      name: 'Grace',
      registered: false,
      status: 'unclaimed',
    })
    await t.user({ referralCode: user.profile.referralCode }) // with their own code: no referrer was named
    const { referrals, summary } = await user.get('/api/referrals', Referrals)
    assert.deepEqual(
      new Set(referrals.map(({ name, registered, status }) => `${name} ${registered} ${status}`)),
      new Set(['Grace false unclaimed', 'null true pending']),
    )
    assert.partialDeepStrictEqual(summary, { invited: 2, registered: 1, pending: 1, earned: 0, total_credited: 0 })
  },
)

check(
  '2.6.6',
  'only credited referrals (referee placed a first trade) count as earned; … `total_credited` is the sum of credited rewards … Referral rewards are wallet credits, not XP.',
  'A referee registers with the code of an invite and opens one position: the referral is earned and credited.',
  async (t) => {
    const user = await t.user()
    const { code } = read(await user.post('/api/referrals/invites', { name: 'Grace' }), Referral)
    const referee = await t.user({ referralCode: code })
    const before = await user.get('/api/referrals', Referrals)
    assert.partialDeepStrictEqual(before.summary, { registered: 1, earned: 0, pending: 1, total_credited: 0 })
    await referee.opens(await t.player(), { lotSize: 0.01 })
    const { referrals, summary } = await t.eventually('the credit', async () => {
      const found = await user.get('/api/referrals', Referrals)
      return found.summary.earned > 0 ? found : undefined
    })
    assert.partialDeepStrictEqual(summary, { earned: 1, pending: 0 })
    assert.partialDeepStrictEqual(referrals, [{ name: 'Grace', status: 'credited' }])
    const rewards = referrals.reduce((sum, { reward }) => sum + reward, 0)
    assert(rewards > 0, 'nothing was credited')
    near(summary.total_credited, rewards, 'total_credited')
    const { balance } = await user.get('/api/wallet', Wallet)
    near(balance, 10_000 + rewards, 'the balance')
    assert.equal((await user.get('/api/me', Me)).xp, 0, 'a reward is no XP')
  },
)

check(
  '2.6.7',
  '`{ranked:false}` for a user before first trade; ROI boards score in raw percent',
  'A user without trades is `{ranked:false}`; ROI boards score in per cent.',
  async (t) => {
    const user = await t.user()
    assert.deepEqual((await user.ask('GET', '/api/leaderboard/me')).body, { ranked: false })
    const { entries } = await user.get('/api/leaderboard/roi/global', Board)
    for (const { score, roiPct } of entries) assert.equal(score, roiPct)
  },
)

check(
  '2.6.8',
  'Spinner | weekly winner or tied candidates',
  'The spinner has a week with candidates or a winner, and the hash of its seed.',
  async (t) => {
    const week = await (await t.observer()).get('/api/spinner/current', SpinnerWeek)
    assert.equal(week.seed, undefined, 'the seed of the running week is shown')
    if (week.status === 'tied') assert(week.candidates.length > 1)
  },
)

check('2.6.9', 'Badge | earned and locked lists', 'Badges are lists of earned and locked ones.', async (t) => {
  const { earned, locked } = await (await t.user()).get('/api/achievements', Achievements)
  assert.equal(earned.length, 0)
  assert(locked.length > 0)
})

check(
  '2.6.10',
  'Feature flag | key to boolean … Admin setting | key to value',
  'Feature flags are keys to booleans, admin settings keys to values.',
  async (t) => {
    assert.equal(typeof (await t.visitor().get('/api/flags', Flags))['coming_soon'], 'boolean')
    const { settings } = await (await t.admin()).get('/api/admin/settings', Settings)
    assert(settings.some(({ key }) => key === 'trading.hold_secs'))
  },
)

check('2.6.11', 'Activity feed | `{count, events}`', 'The activity feed is `{count, events}`.', async (t) => {
  const { count, events } = await (await t.observer()).get('/api/activity', Activity)
  assert.equal(count, events.length)
})

check(
  '2.6.12',
  'Fixture (match) | id; list of all fixtures; in-game event list per fixture … all active instruments',
  'All fixtures are listed, and all active instruments.',
  async (t) => {
    const user = await t.observer()
    const player = await t.player()
    const { instruments } = await user.get('/api/instruments', Instruments)
    assert(instruments.some(({ id }) => id === player.id))
    assert.equal(new Set(instruments.map(({ id }) => id)).size, instruments.length, 'an instrument is repeated')
  },
)

check(
  '2.6.13',
  "inner keys are the data provider's fixture-level stat type names verbatim",
  'Sums over the players are gone as soon as the fixture has statistics of its own.',
  async (t) => {
    const match = await t.match('INPLAY_1ST_HALF')
    const user = await t.observer()
    const become = (home: object) =>
      t.eventually(`the statistics ${JSON.stringify(home)}`, async () => {
        const { teamStats } = await user.get(`/api/matches/${match.id}/events`, MatchEvents)
        return isDeepStrictEqual({ ...teamStats.home }, home) ? true : undefined
      })
    match.fixture.details.set(match.player('MID', 0), { 86: 2, 56: 1 })
    await become({ 'Shots On Target': 2, Fouls: 1 })
    match.fixture.teamStats = { home: { 'Shots Total': 4, Corners: 0 }, away: {} }
    await become({ 'Shots Total': 4, Corners: 0 })
  },
)

function read422(reply: Parameters<typeof says>[0]) {
  says(reply, 422, { needsProfile: true })
  return NeedsProfile.parse(reply.body)
}
