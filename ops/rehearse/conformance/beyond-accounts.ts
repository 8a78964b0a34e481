/** Beyond the specification: sessions, and requests of other origins. */
import assert from 'node:assert/strict'
import { beyondInto, type Check, refuses, says } from './check.ts'
import { FeedSocket } from './feed.ts'
import { SignedIn } from './shapes.ts'
import { ACCESS, readToken, REFRESH } from './tokens.ts'
import { ALLOWED_ORIGIN } from './trust.ts'
import { copyOf, read } from './visitor.ts'

export const checks: Check[] = []
const check = beyondInto(checks)

const FOREIGN = 'https://elsewhere.example'

check(
  '10.1.1',
  'An identity token that another client asked for (`azp`) is refused, and its nonce stays unused.',
  async (t) => {
    const [sub, nonce] = [t.newName(), t.newName()]
    const send = (idToken: string) => t.visitor().post('/api/auth/google', { idToken, nonce })
    const bad = await t.trust.identity.token(sub, nonce, { azp: 'another-client' })
    refuses(await send(bad), 401, { error: 'invalid identity token' })
    says(await send(await t.trust.identity.token(sub, nonce)), 422, { needsProfile: true })
  },
)

check('10.1.2', 'A logout closes the sockets of the user, wherever they are.', async (t) => {
  const user = await t.user()
  const feed = await t.feed(user)
  says(await user.post('/api/auth/logout'), 200)
  assert.equal(await feed.closed(), 4001)
})

check('10.1.3', 'A rotation repeated under its Idempotency-Key gets the same pair again.', async (t) => {
  const user = await t.user()
  const old = copyOf(user)
  const headers = { 'idempotency-key': t.newName() }
  says(await user.ask('POST', '/api/auth/refresh', { headers }), 200)
  says(await old.ask('POST', '/api/auth/refresh', { headers }), 200)
  for (const name of [ACCESS, REFRESH]) assert.equal(old.cookies.get(name), user.cookies.get(name))
  says(await user.ask('GET', '/api/wallet'), 200)
})

check('10.1.4', '`GET /api/districts` lists the districts a user may belong to, for everybody.', async (t) => {
  assert((await t.district()) > 0)
})

check('10.1.5', 'An unsafe method from an origin that is neither allowed nor our own is 403.', async (t) => {
  const user = await t.user()
  refuses(await user.post('/api/auth/logout', undefined, { origin: FOREIGN }), 403)
  says(await user.ask('GET', '/api/wallet'), 200)
  says(await user.post('/api/ws/token', undefined, { origin: user.url }), 200)
  if (t.target.trust !== null) says(await user.post('/api/auth/logout', undefined, { origin: ALLOWED_ORIGIN }), 200)
})

check('10.1.6', 'Each cookie lasts as long as its token.', async (t) => {
  const user = await t.user()
  const set = (await user.post('/api/auth/refresh')).headers.getSetCookie()
  for (const name of [ACCESS, REFRESH]) {
    const { lifetime } = readToken(user.cookies.get(name) ?? '')
    assert(set.find((one) => one.startsWith(`${name}=`))?.includes(`Max-Age=${lifetime};`), set.join('\n'))
  }
})

check('10.1.7', 'A refused refresh clears both cookies.', async (t) => {
  const visitor = t.visitor()
  visitor.cookies.set(REFRESH, 'x.y.z')
  const reply = await visitor.post('/api/auth/refresh')
  refuses(reply, 401)
  assert.equal(reply.headers.getSetCookie().length, 2)
  assert.equal(visitor.cookies.size, 0)
})

check('10.1.8', 'A logout ends that session alone: the same user stays signed in elsewhere.', async (t) => {
  const user = await t.user()
  const elsewhere = t.visitor()
  read(await t.google(elsewhere, user.sub), SignedIn)
  await user.post('/api/auth/logout')
  says(await elsewhere.ask('GET', '/api/wallet'), 200)
})

check('10.1.9', 'A token whose session has ended opens no socket.', async (t) => {
  const user = await t.user()
  const [address, token] = [await t.wsUrl(user), await t.wsToken(user)]
  await user.post('/api/auth/logout')
  assert.equal(await FeedSocket.refusal(address, token), 4001)
})
