import { deepEqual } from 'node:assert/strict'
import { randomInt, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { compose, type Touchline } from '../../src/compose/index.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/observe/log.ts'
import { systemWorld } from '../../src/system-world.ts'
import { type Answer, HttpClient, read } from '../support/http-client.ts'
import { CLIENT_ID, hostileTokens, IdentityServer } from '../support/identity-provider.ts'
import { MailServer } from '../support/mail-server.ts'
import { eachDataPlace, type DataPlace } from '../support/data-place.ts'
import { audit, BALANCED } from '../support/books.ts'

const NewUser = z.looseObject({ needsProfile: z.literal(true), registrationTicket: z.string(), email: z.string() })
const Profile = z.looseObject({ userId: z.uuid(), username: z.string(), role: z.string(), referralCode: z.string() })
const SignedIn = z.strictObject({ user: Profile, isNew: z.boolean() })

/** An address that no other test on a shared Redis uses. */
const someAddress = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`
const unique = (name: string) => `${name}_${randomUUID().slice(0, 8)}`

/** A browser at its own address. */
class Browser extends HttpClient {
  readonly #address = someAddress()

  override request(method: string, path: string, body?: unknown): Promise<Answer> {
    return super.request(method, path, body, { 'x-forwarded-for': this.#address })
  }

  post(path: string, body: unknown = {}): Promise<Answer> {
    return this.request('POST', path, body)
  }

  isSignedIn(): Promise<boolean> {
    return this.get('/api/me', z.looseObject({ loggedIn: z.boolean() })).then(({ loggedIn }) => loggedIn)
  }
}

eachDataPlace((settle) => {
  let place: DataPlace
  let provider: IdentityServer
  let mail: MailServer
  let server: Touchline
  let url = ''
  const boss = unique('boss')
  const complaints: string[] = []

  const open = async () => {
    const world = systemWorld()
    const log = createLog({ level: 'warn', world, readable: false, write: (line) => complaints.push(line) })
    const config = readConfig({
      ...place.env,
      PORT: '0',
      WS_PORT: '0',
      DEMO_REPLAY: 'none',
      TRUSTED_PROXIES: '1',
      IDP_CLIENT_ID: CLIENT_ID,
      IDP_ISSUER: provider.issuer,
      IDP_JWKS_URL: provider.keysUrl,
      SMTP_URL: mail.url,
      ADMIN_EMAILS: `${boss}@example.com`,
    })
    server = await compose(config, { world, log })
    url = (await server.start()).url
  }
  beforeAll(async () => {
    place = await settle()
    provider = await IdentityServer.start()
    mail = await MailServer.start()
    await open()
  })
  afterAll(async () => {
    await server.stop()
    const books = await audit(place)
    await Promise.all([place.remove(), provider.stop(), mail.stop()])
    deepEqual({ ...books, complaints }, { ...books, ...BALANCED, complaints: [] })
  })

  const begin = async (browser: Browser, sub: string) => {
    const nonce = randomUUID()
    return browser.post('/api/auth/google', { idToken: await provider.token(sub, nonce), nonce })
  }
  /** Signs in up to the profile step; returns the ticket, with a verified e-mail address. */
  const proved = async (browser: Browser, sub: string): Promise<string> => {
    const { registrationTicket, email } = read(await begin(browser, sub), 422, NewUser)
    const otp = await mail.codeFor(email)
    read(
      await browser.post('/api/auth/verify-otp', { registrationTicket, otp }),
      200,
      z.strictObject({ verified: z.literal(true) }),
    )
    return registrationTicket
  }
  const profileOf = (registrationTicket: string, username: string) => ({
    registrationTicket,
    username,
    firstName: 'Ada',
    districtId: 3,
  })
  const registered = async (sub: string): Promise<Browser> => {
    const browser = new Browser(url)
    const ticket = await proved(browser, sub)
    read(await browser.post('/api/auth/google/complete', profileOf(ticket, sub)), 200, SignedIn)
    return browser
  }

  it('a new user verifies their e-mail, registers, signs in again, renews the session and signs out', async () => {
    const [browser, ada] = [new Browser(url), unique('ada')]
    const { registrationTicket, email } = read(await begin(browser, ada), 422, NewUser)
    expect(email).toBe(`${ada}@example.com`)
    const otp = await mail.codeFor(email)
    const wrong = otp === '000000' ? '000001' : '000000'
    const guess = await browser.post('/api/auth/verify-otp', { registrationTicket, otp: wrong })
    expect(guess).toMatchObject({ status: 400, body: { error: 'invalid code', attemptsRemaining: 2 } })
    const again = await browser.post('/api/auth/resend-otp', { registrationTicket })
    expect([again.status, Number(again.headers.get('retry-after'))]).toEqual([429, expect.closeTo(60, -1)])
    expect((await browser.post('/api/auth/verify-otp', { registrationTicket, otp })).status).toBe(200)

    const check = await browser.post('/api/users/check-username', { username: ada })
    expect(check.body).toEqual({ available: true, valid: true })
    const friend = read(await new Browser(url).post('/api/auth/dev', { displayName: unique('friend') }), 200, SignedIn)
    const { referralCode } = friend.user
    const valid = await browser.request('GET', `/api/public/referral/validate?code=${referralCode}`)
    expect(valid.body).toEqual({ valid: true, invitedBy: friend.user.username })
    const profile = { ...profileOf(registrationTicket, ada), referralCode }
    const made = read(await browser.post('/api/auth/google/complete', profile), 200, SignedIn)
    expect(made).toMatchObject({ isNew: true, user: { username: ada, wallet: { balance: 10_000 }, role: 'user' } })
    expect(await browser.isSignedIn()).toBe(true)

    const elsewhere = new Browser(url)
    const back = read(await begin(elsewhere, ada), 200, SignedIn)
    expect(back).toMatchObject({ isNew: false, user: { userId: made.user.userId } })

    const tabs = await Promise.all([elsewhere.post('/api/auth/refresh'), elsewhere.post('/api/auth/refresh')])
    expect(tabs.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401])
    expect((await elsewhere.post('/api/auth/refresh')).status).toBe(200)
    expect((await elsewhere.post('/api/auth/logout')).status).toBe(200)
    expect([await elsewhere.isSignedIn(), await browser.isSignedIn()]).toEqual([false, true])
    expect((await elsewhere.post('/api/auth/refresh')).status).toBe(401)
  })

  it('[S6] invalid tokens are refused without consuming the nonce; a nonce is accepted once', async () => {
    const nonce = randomUUID()
    for (const [what, idToken] of Object.entries(await hostileTokens(provider, nonce))) {
      const answer = await new Browser(url).post('/api/auth/google', { idToken, nonce })
      expect(answer, what).toMatchObject({ status: 401, body: { error: 'invalid identity token' } })
    }
    const idToken = await provider.token(unique('mallory'), nonce)
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => new Browser(url).post('/api/auth/google', { idToken, nonce })),
    )
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(1)
    const late = answers.filter(({ status }) => status !== 422)
    for (const answer of late) expect(answer).toMatchObject({ status: 401, body: { error: 'nonce already used' } })
  })

  it('[S8] refuses to register without the code; with it, a ticket registers one user once', async () => {
    const [browser, bob] = [new Browser(url), unique('bob')]
    const { registrationTicket } = read(await begin(browser, bob), 422, NewUser)
    const early = await browser.post('/api/auth/google/complete', profileOf(registrationTicket, bob))
    expect(early).toMatchObject({ status: 403, body: { error: 'email not verified' } })
    const otp = await mail.codeFor(`${bob}@example.com`)
    await browser.post('/api/auth/verify-otp', { registrationTicket, otp })
    const answers = await Promise.all(
      ['', '_2'].map((tail) => browser.post('/api/auth/google/complete', profileOf(registrationTicket, bob + tail))),
    )
    const made = answers.filter(({ status }) => status === 200).map((answer) => read(answer, 200, SignedIn))
    expect(made).toMatchObject([{ isNew: true }])
    const late = answers.filter(({ status }) => status !== 200)
    expect(late).toMatchObject([{ status: 401, body: { error: 'invalid registration ticket' } }])
    await browser.post('/api/auth/logout')
    const used = await browser.post('/api/auth/google/complete', profileOf(registrationTicket, bob))
    expect([used.status, await browser.isSignedIn()]).toEqual([401, false])
    const forged = profileOf(`${registrationTicket}x`, unique('eve'))
    expect(await browser.post('/api/auth/google/complete', forged)).toMatchObject({ status: 401 })
  })

  it("[W3] signing out closes the user's sockets, and their ticket opens no more", async () => {
    const browser = await registered(unique('cem'))
    const at = await browser.socketUrl()
    const socket = new WebSocket(at, 'feed.v1')
    await once(socket, 'open')
    const closed = once(socket, 'close')
    await browser.post('/api/auth/logout')
    expect((await closed)[0]).toBe(4001)
    const refused = new WebSocket(at, 'feed.v1')
    expect((await once(refused, 'close'))[0]).toBe(4001)
  })

  it('[S4] after a restart ended sessions stay ended, and the others stay valid', async () => {
    const dora = unique('dora')
    const [here, there] = [await registered(dora), new Browser(url)]
    await begin(there, dora)
    const cookie = `game_access=${here.cookie('game_access')}; game_refresh=${here.cookie('game_refresh')}`
    await here.post('/api/auth/logout')
    await server.stop()
    await open()
    there.url = url
    const stolen = (method: string, path: string) => fetch(url + path, { method, headers: { cookie } })
    expect((await stolen('GET', '/api/wallet')).status).toBe(401)
    expect((await stolen('POST', '/api/auth/refresh')).status).toBe(401)
    expect(await there.isSignedIn()).toBe(true)
    expect((await there.post('/api/auth/refresh')).status).toBe(200)
  })

  it('[H6] of 260 requests at once from one address 200 pass', async () => {
    const headers = { 'x-forwarded-for': someAddress() }
    const answers = await Promise.all(Array.from({ length: 260 }, () => fetch(`${url}/api/flags`, { headers })))
    const refused = answers.filter(({ status }) => status === 429)
    expect([answers.filter(({ status }) => status === 200).length, refused.length]).toEqual([200, 60])
    for (const answer of refused) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    await Promise.all(answers.map((answer) => answer.arrayBuffer()))
  })

  it("[S9] a user with an admin's e-mail address signs in as an admin", async () => {
    const browser = await registered(boss)
    expect((await browser.request('GET', '/api/admin/ledger/audit')).body).toMatchObject({ balanced: true })
    expect((await (await registered(unique('eli'))).request('GET', '/api/admin/ledger/audit')).status).toBe(403)
  })

  it('creates 1,000 users in one call, and their tokens work', async () => {
    const Batch = z.object({ users: z.array(z.object({ userId: z.string(), accessToken: z.string() })) })
    const answer = await new Browser(url).post('/api/auth/dev/batch', { count: 1_000, prefix: unique('load') })
    const { users } = read(answer, 200, Batch)
    expect(new Set(users.map(({ userId }) => userId)).size).toBe(1_000)
    for (const { accessToken } of [users[0], users[999]].filter((each) => each !== undefined)) {
      const headers = { cookie: `game_access=${accessToken}`, 'x-forwarded-for': someAddress() }
      expect((await fetch(`${url}/api/wallet`, { headers })).status).toBe(200)
    }
  })
})
