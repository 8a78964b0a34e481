import { createECDH, randomBytes } from 'node:crypto'
import { default as ece } from 'http_ece'
import { beforeEach, expect, it, vi } from 'vitest'
import { sessionId, type UserId } from '../../actors/kernel/ids.ts'
import { instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { present } from '../../actors/kernel/assert.ts'
import type { Notice } from '../../actors/community/notices.ts'
import { insertNotices } from '../../db/announcements.ts'
import { PUSH_KINDS, type PushKind } from '../../db/push-outbox.ts'
import { isQuiet } from '../../src/features/push/quiet.ts'
import { Pushes, type PushTarget } from '../../src/features/push/store.ts'
import { seedDistricts } from '../../db/seed.ts'
import { endSessionsOf } from '../../db/sessions.ts'
import { Users } from '../../db/users.ts'
import { PushSender, type SendPush } from '../../src/features/push/sender.ts'
import { vapidKeys } from '../../src/features/push/vapid.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'

/** A browser with its keys: it can read what is sent to it. */
function browser(name: string) {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  const auth = randomBytes(16)
  const target: PushTarget = {
    endpoint: `https://push.example/${name}`,
    p256dh: pair.getPublicKey('base64url'),
    auth: auth.toString('base64url'),
  }
  const read = (body: Uint8Array): unknown =>
    JSON.parse(
      ece
        .decrypt(Buffer.from(body), { version: 'aes128gcm', privateKey: pair, authSecret: auth.toString('base64url') })
        .toString('utf8'),
    )
  return { target, read }
}

eachDatabase((open) => {
  const world = new TestWorld()
  let pushes: Pushes
  let ada: UserId
  let bob: UserId
  let n = 0

  beforeEach(async () => {
    const { db } = open()
    await seedDistricts(db)
    n++
    const made = await new Users(db, world).createSyntheticMany([`Ada ${n}`, `Bob ${n}`])
    ada = present(made[0], 'Ada').user.id
    bob = present(made[1], 'Bob').user.id
    pushes = new Pushes(db, world)
  })

  const notice = (userId: UserId, source: string, over: Partial<Notice> = {}): Notice => ({
    userId,
    type: 'margin_warning',
    title: '50 % of a margin lost',
    body: 'Your long on A. Striker has lost 50 % of its margin.',
    data: { positionId: 'p1' },
    source: `${source} ${n}`,
    at: world.now(),
    ...over,
  })
  const tell = (...notices: readonly Notice[]) =>
    open()
      .db.transaction()
      .execute((tx) => insertNotices(tx, notices))

  /** A sender, whose push services answer as this says. */
  function senderOf(answer: (url: string) => Promise<number>, service = pushes) {
    const posts: Parameters<SendPush>[0][] = []
    const outcomes: string[] = []
    const lost = { late: 0 }
    const reported: string[] = []
    const sender = new PushSender({
      pushes: service,
      keys: vapidKeys('a secret of the server'),
      contact: 'mailto:ops@touchline.example',
      send: async (post) => {
        posts.push(post)
        return answer(post.url)
      },
      count: (outcome, messages) => (outcome === 'late' ? (lost.late += messages) : outcomes.push(outcome)),
      report: (event) => reported.push(event),
      world,
    })
    const names = () => posts.map(({ url }) => url.slice(url.lastIndexOf('/') + 1))
    return { sender, posts, outcomes, lost, reported, names }
  }

  /** Sends what waits; the push service answers with this status. Returns where it was sent, and what. */
  async function send(status: number | 'away' = 201, service = pushes) {
    const { sender, posts, outcomes, lost, reported, names } = senderOf(async () => {
      if (status === 'away') throw new Error('no answer')
      return status
    }, service)
    // What waits for a browser that is still busy is left to the next look, which the task takes a second later.
    let before: number
    do {
      before = posts.length
      await sender.run()
      await sender.settled()
    } while (posts.length > before)
    return { posts, outcomes, late: lost.late, reported, to: names() }
  }

  it('[R22] a browser is told, encrypted, what its user has chosen, once, and nobody else is', async () => {
    const [phone, laptop, other] = [browser(`phone ${n}`), browser(`laptop ${n}`), browser(`other ${n}`)]
    await pushes.subscribe(ada, phone.target, PUSH_KINDS)
    await pushes.subscribe(ada, laptop.target, ['settlement'])
    await pushes.subscribe(bob, other.target, PUSH_KINDS)
    await tell(
      notice(ada, 'warned'),
      notice(ada, 'badge', { type: 'badge' }),
      notice(ada, 'closed by hand', { type: 'position_closed', data: { closedBy: 'admin' } }),
    )
    const first = await send()
    expect(first.to).toEqual([`phone ${n}`])
    const [post] = first.posts
    expect(phone.read(present(post, 'a message').body)).toEqual({
      id: expect.stringMatching(/^\d+$/),
      title: '50 % of a margin lost',
      body: 'Your long on A. Striker has lost 50 % of its margin.',
      open: '/#/positions',
    })
    expect(() => laptop.read(present(post, 'a message').body)).toThrow()
    expect(post?.headers).toMatchObject({ 'Content-Encoding': 'aes128gcm', TTL: 900, Urgency: 'high' })
    expect(post?.headers['Authorization']).toMatch(/^vapid t=ey/)
    expect((await send()).to).toEqual([])

    await tell(notice(ada, 'full time', { type: 'settlement', data: {} }), notice(ada, 'warned')) // told already
    expect((await send()).to.toSorted()).toEqual([`laptop ${n}`, `phone ${n}`])
  })

  it('[R22] a browser is told nothing once the session in which it asked has been ended', async () => {
    const { db } = open()
    const [theirs, stolen] = [browser(`own ${n}`), browser(`stolen ${n}`)]
    const at = new Date(world.now())
    const session = async (browserOf: { readonly target: PushTarget }) => {
      const id = sessionId(world.newId())
      const row = { id, user_id: ada, generation: 1, user_agent: null, address_prefix: 'unknown' }
      const times = {
        created_at: at,
        rotated_at: at,
        authenticated_at: at,
        expires_at: new Date(world.now() + MINUTE_MS),
      }
      await db
        .insertInto('sessions')
        .values({ ...row, ...times, rotation_key: null, ended_at: null })
        .execute()
      await pushes.subscribe(ada, browserOf.target, PUSH_KINDS, null, id)
      return id
    }
    await session(theirs)
    const taken = await session(stolen)
    await tell(notice(ada, 'before'))
    expect((await send()).to.toSorted()).toEqual([`own ${n}`, `stolen ${n}`])
    await db.updateTable('sessions').set({ ended_at: new Date() }).where('id', '=', taken).execute()
    await tell(notice(ada, 'after'))
    expect((await pushes.claim(9, [])).map(({ target }) => target.endpoint)).toEqual([theirs.target.endpoint])
    world.pass(31_000)
    expect((await send()).to).toEqual([`own ${n}`])
    expect(await pushes.list(ada)).toHaveLength(1)
    const late = await session(stolen)
    await db
      .updateTable('sessions')
      .set({ ended_at: new Date(Date.now() - 2 * 60 * MINUTE_MS) })
      .where('id', '=', late)
      .execute()
    await pushes.forgetEnded()
    expect(await pushes.list(ada), 'ended while this process was there to see it').toHaveLength(2)
    await new Pushes(db, world).forgetEnded()
    expect(await pushes.list(ada)).toHaveLength(1)
    // A row that was removed for want of use ends nothing: a user who has been away is still told.
    await db.deleteFrom('sessions').where('user_id', '=', ada).execute()
    await tell(notice(ada, 'away'))
    expect((await send()).to).toEqual([`own ${n}`])
  })

  it('[R22] no browser of a user is told anything once all their sessions are ended, also of one long gone', async () => {
    await pushes.subscribe(ada, browser(`old ${n}`).target, PUSH_KINDS)
    await pushes.subscribe(bob, browser(`other ${n}`).target, PUSH_KINDS)
    await tell(notice(ada, 'warned'), notice(bob, 'warned too'))
    await open()
      .db.transaction()
      .execute((tx) => endSessionsOf(ada, tx, world))
    expect((await send()).to).toEqual([`other ${n}`])
    expect(await pushes.list(ada)).toEqual([])
  })

  it.each<[PushKind, Partial<Notice>]>([
    ['stop', { type: 'position_closed', data: { closedBy: 'stop_loss' } }],
    ['stop', { type: 'position_closed', data: { closedBy: 'take_profit' } }],
    ['washout', { type: 'position_closed', data: { closedBy: 'washout' } }],
    ['warning', { type: 'margin_warning' }],
    ['settlement', { type: 'settlement' }],
  ])('%s is a kind of its own', async (kind, over) => {
    const [wanted, unwanted] = [browser(`wanted ${n}`), browser(`unwanted ${n}`)]
    await pushes.subscribe(ada, wanted.target, [kind])
    const others = PUSH_KINDS.filter((one) => one !== kind)
    await pushes.subscribe(ada, unwanted.target, others)
    await tell(notice(ada, 'it', over))
    expect((await send()).to).toEqual([`wanted ${n}`])
  })

  it('what a push service does not take is tried again, for fifteen minutes', async () => {
    await pushes.subscribe(ada, browser(`slow ${n}`).target, PUSH_KINDS)
    await tell(notice(ada, 'warned'))
    expect((await send('away')).outcomes).toEqual(['failed'])
    expect((await send()).outcomes).toEqual([]) // put off
    world.pass(31_000)
    expect((await send(503)).outcomes).toEqual(['failed'])
    world.pass(31_000)
    expect((await send()).outcomes).toEqual(['sent'])

    await tell(notice(ada, 'warned later'))
    world.pass(15 * MINUTE_MS + 1)
    expect(await send()).toMatchObject({ outcomes: [], late: 1 })
  })

  it('a browser that has unsubscribed is forgotten; a message that is refused is not sent again', async () => {
    await pushes.subscribe(ada, browser(`gone ${n}`).target, PUSH_KINDS)
    await tell(notice(ada, 'one'))
    expect((await send(410)).outcomes).toEqual(['gone'])
    expect(await pushes.list(ada)).toEqual([])
    await pushes.subscribe(ada, browser(`strict ${n}`).target, PUSH_KINDS)
    await tell(notice(ada, 'two'))
    expect((await send(413)).outcomes).toEqual(['refused'])
    world.pass(31_000)
    expect((await send()).outcomes).toEqual([])
  })

  it('[R22] a push service that does not accept this server costs no browser, and is reported', async () => {
    for (const status of [401, 403]) {
      await pushes.subscribe(ada, browser(`kept ${n}`).target, PUSH_KINDS)
      await tell(notice(ada, `told ${status}`))
      const refused = await send(status)
      expect([refused.outcomes, refused.reported]).toEqual([['unauthorized'], ['push_unauthorized']])
      expect(await pushes.list(ada)).toHaveLength(1)
      world.pass(31_000)
      expect((await send()).outcomes).toEqual(['sent'])
    }
  })

  it.each([403, 503])(
    '[R22] two users whose browsers answer %i keep no other of that push service waiting',
    async (status) => {
      const [made] = await new Users(open().db, world).createSyntheticMany([`Cat ${n}`])
      const cat = present(made, 'Cat').user.id
      for (let i = 0; i < 10; i++) {
        await pushes.subscribe(ada, browser(`bad ${n} a${i}`).target, PUSH_KINDS)
        await pushes.subscribe(cat, browser(`bad ${n} c${i}`).target, PUSH_KINDS)
      }
      await pushes.subscribe(bob, browser(`good ${n}`).target, PUSH_KINDS)
      await tell(notice(ada, 'one'), notice(cat, 'two'))
      const { sender, outcomes } = senderOf(async (url) => (url.includes('bad') ? status : 201))
      await sender.run()
      await sender.settled()
      expect(outcomes).toHaveLength(20)
      await tell(notice(bob, 'closed'))
      await sender.run()
      await sender.settled()
      expect(outcomes.filter((outcome) => outcome === 'sent')).toHaveLength(1)
    },
  )

  it('[R22] endpoints that hang delay no other user, and are left alone longer each time', async () => {
    const hanging = Array.from({ length: 10 }, (_, i) => browser(`tarpit ${n} ${i}`))
    for (const { target } of hanging) await pushes.subscribe(ada, target, PUSH_KINDS)
    await tell(...Array.from({ length: 30 }, (_, i) => notice(ada, `close ${i}`)))
    await pushes.subscribe(bob, browser(`victim ${n}`).target, PUSH_KINDS)
    const stuck: ((error: Error) => void)[] = []
    const { sender, outcomes, names } = senderOf((url) =>
      url.includes('tarpit') ? new Promise((_, reject) => stuck.push(reject)) : Promise.resolve(201),
    )
    const running = sender.run()
    await vi.waitUntil(() => stuck.length === 10, { timeout: 60_000 })
    for (let i = 0; i < 5; i++) {
      await tell(notice(bob, `told ${i}`))
      void sender.run()
      await vi.waitUntil(() => outcomes.filter((outcome) => outcome === 'sent').length === i + 1, { timeout: 60_000 })
    }
    // One message for each browser, and not another before it has failed and a while has passed.
    expect(names().filter((name) => name.startsWith('tarpit'))).toHaveLength(10)
    for (const fail of stuck) fail(new Error('timed out'))
    await running
    await sender.settled()
    const failed = outcomes.filter((outcome) => outcome === 'failed').length
    expect(failed).toBe(10)
    world.pass(1_000)
    await sender.run()
    await sender.settled()
    expect(names().filter((name) => name.startsWith('tarpit'))).toHaveLength(10)
    world.pass(15 * MINUTE_MS + 1)
    await sender.run()
  })

  it('[R22] a browser is left alone in its quiet hours, and is not told later what happened then', async () => {
    const [phone, laptop] = [browser(`asleep ${n}`), browser(`awake ${n}`)]
    const minutes = (from: number) => new Date(world.now() + from * MINUTE_MS).toISOString().slice(11, 16)
    // Two hours from now on; the other's end with this minute.
    await pushes.subscribe(ada, phone.target, PUSH_KINDS, { from: minutes(0), to: minutes(120), timeZone: 'UTC' })
    await pushes.subscribe(ada, laptop.target, PUSH_KINDS, { from: minutes(-120), to: minutes(0), timeZone: 'UTC' })
    await tell(notice(ada, 'at night'))
    expect((await send()).to.map((name) => name.split(' ')[0])).toEqual(['awake'])
    world.pass(121 * MINUTE_MS)
    await tell(notice(ada, 'in the morning'))
    expect((await send()).outcomes).toEqual(['sent', 'sent'])
    expect(
      isQuiet({ from: '22:00', to: '07:00', timeZone: 'America/New_York' }, instant(Date.UTC(2026, 0, 1, 3))),
    ).toBe(true)
    expect(
      isQuiet({ from: '22:00', to: '07:00', timeZone: 'America/New_York' }, instant(Date.UTC(2026, 0, 1, 12))),
    ).toBe(false)
    expect(isQuiet({ from: '00:00', to: '23:59', timeZone: 'Mars/Olympus' }, world.now())).toBe(false)
  })

  it('all spellings of a time zone have one clock', () => {
    isQuiet({ from: '22:00', to: '07:00', timeZone: 'Asia/Tokyo' }, world.now())
    const made = vi.spyOn(Intl, 'DateTimeFormat')
    for (const timeZone of ['asia/tokyo', 'ASIA/TOKYO', 'aSIA/tOKYO', 'Asia/To\u{212A}yo', '+09:00']) {
      isQuiet({ from: '22:00', to: '07:00', timeZone }, world.now())
    }
    expect(made).not.toHaveBeenCalled()
    made.mockRestore()
  })

  it('[X15] a clock that is put back a day does not hold a message for a day', async () => {
    await pushes.subscribe(ada, browser(`phone ${n}`).target, PUSH_KINDS)
    await tell(notice(ada, 'warned'))
    expect((await send('away')).outcomes).toEqual(['failed'])
    expect((await send()).outcomes).toEqual([])
    const behind = new TestWorld({ now: world.now() - 24 * 60 * MINUTE_MS })
    expect((await send(201, new Pushes(open().db, behind))).outcomes).toEqual(['sent'])
  })

  it('a process that dies loses nothing: another sends what it had claimed, once', async () => {
    for (let i = 0; i < 10; i++) await pushes.subscribe(ada, browser(`phone ${n} ${i}`).target, PUSH_KINDS)
    await tell(notice(ada, 'warned'), notice(ada, 'warned later'))
    expect(await pushes.claim(7, [])).toHaveLength(7) // and the process is gone
    const others = [new Pushes(open().db, world), new Pushes(open().db, world)]
    const sent = await Promise.all(others.map((one) => send(201, one)))
    // What one leaves to the other is taken at the next look.
    expect([...sent, await send()].flatMap(({ outcomes }) => outcomes)).toHaveLength(13)
    world.pass(31_000)
    expect((await send()).outcomes).toHaveLength(7)
    world.pass(31_000)
    expect((await send()).outcomes).toEqual([])
  })

  it('a sender that is stopped claims no more, and what it cuts off is no failure', async () => {
    for (const name of ['one', 'two']) await pushes.subscribe(ada, browser(`${name} ${n}`).target, PUSH_KINDS)
    await tell(notice(ada, 'warned'), notice(ada, 'warned later'))
    const cut: (() => void)[] = []
    const { sender, outcomes, names } = senderOf(
      () => new Promise((_, reject) => cut.push(() => reject(new Error('cut off')))),
    )
    const running = sender.run()
    await vi.waitUntil(() => cut.length === 2, { timeout: 60_000 })
    const stopped = sender.stop()
    for (const one of cut) one()
    await Promise.all([running, stopped, sender.run()])
    expect([outcomes, names().toSorted()]).toEqual([[], [`one ${n}`, `two ${n}`]])
    world.pass(31_000)
    expect((await send()).outcomes).toHaveLength(4)
  })

  it('a user has ten browsers, also of forty that register at once', async () => {
    let passed = 0
    const later = new Pushes(open().db, { newId: () => world.newId(), now: () => instant(world.now() + passed++) })
    const many = Array.from({ length: 40 }, (_, i) => browser(`at once ${n} ${i}`))
    await Promise.all(many.map(({ target }) => later.subscribe(ada, target, ['stop'])))
    expect(await pushes.list(ada)).toHaveLength(10)
  })

  it('a browser belongs to whoever registered it last, and a user has ten', async () => {
    const shared = browser(`shared ${n}`)
    await pushes.subscribe(ada, shared.target, PUSH_KINDS)
    await tell(notice(ada, 'before the other signed in'))
    await pushes.subscribe(bob, shared.target, ['washout'])
    expect((await send()).to).toEqual([])
    expect(await pushes.list(ada)).toEqual([])
    expect(await pushes.list(bob)).toMatchObject([{ kinds: ['washout'] }])
    expect(await pushes.unsubscribe(ada, present((await pushes.list(bob))[0], 'it').id)).toBe(false)

    for (let i = 0; i < 12; i++) {
      world.pass(1)
      await pushes.subscribe(ada, browser(`many ${n} ${i}`).target, PUSH_KINDS)
    }
    const names = (await pushes.list(ada)).map(({ endpoint }) => endpoint.split('%20').join(' ').split(' ').at(-1))
    expect(names).toEqual(['11', '10', '9', '8', '7', '6', '5', '4', '3', '2'])
  })
})

it('the key pair follows from the secret, and is one that push services accept', () => {
  const keys = vapidKeys('secret')
  expect(vapidKeys('secret')).toEqual(keys)
  expect(vapidKeys('another')).not.toEqual(keys)
  expect([keys.publicKey.length, keys.privateKey.length]).toEqual([87, 43])
})
