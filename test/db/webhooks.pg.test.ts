import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import type { UserId } from '../../actors/kernel/ids.ts'
import { AuditLog } from '../../db/audit-log.ts'
import { EventStream } from '../../db/event-stream.ts'
import { type Webhook, Webhooks, WEBHOOKS_MAX } from '../../src/features/webhooks/store.ts'
import { eventJson } from '../../src/http/event-lines.ts'
import { systemWorld } from '../../src/system-world.ts'
import { WebhookDesk } from '../../src/features/webhooks/desk.ts'
import { Poster } from '../../src/features/webhooks/post.ts'
import { webhookSecrets } from '../../src/features/webhooks/secret.ts'
import { type SenderOptions, WebhookSender } from '../../src/features/webhooks/sender.ts'
import { eachDatabase } from '../support/databases.ts'
import { seasonOn } from '../support/season.ts'
import { TestWorld } from '../support/test-world.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

/** After this time another sender takes over from one that was killed. */
const SHORT_LEASE_MS = 60
/** A bound for a busy machine. */
const PATIENCE = { timeout: 60_000 }
const secretOf = webhookSecrets('a secret of the server')

eachDatabase((open) => {
  const world = systemWorld()
  const chance = new TestWorld({ seed: 24 })
  const poster = new Poster({ targets: 'any', timeoutMs: PATIENCE.timeout })
  /** For receivers that never answer. */
  const hasty = new Poster({ targets: 'any', timeoutMs: 250 })
  const receivers: WebhookReceiver[] = []
  const reports: string[] = []
  const season = seasonOn(open, world)
  let webhooks: Webhooks
  let shortLeased: Webhooks
  let stream: EventStream
  let desk: WebhookDesk
  let admin: UserId

  beforeAll(async () => {
    admin = await season.user('Webhook admin')
    const audit = new AuditLog(open().db, world)
    webhooks = new Webhooks({ db: open().db, audit, world })
    shortLeased = new Webhooks({ db: open().db, audit, world, leaseMs: SHORT_LEASE_MS })
    stream = new EventStream(open().db, 0)
    desk = new WebhookDesk({ webhooks, stream, poster, secretOf, audit, world })
  })

  afterEach(async () => {
    for (const { id } of await webhooks.list()) await webhooks.delete(id, admin)
    for (const receiver of receivers.splice(0)) await receiver.kill()
    reports.length = 0
  })

  const senderWith = (over: Partial<SenderOptions> = {}) =>
    new WebhookSender({
      webhooks,
      stream,
      render: eventJson,
      secretOf,
      send: (post) => poster.send(post),
      world,
      report: (event) => reports.push(event),
      retryMs: 4,
      ...over,
    })
  async function hook(types: readonly string[] = []): Promise<{ receiver: WebhookReceiver; webhook: Webhook }> {
    const receiver = new WebhookReceiver()
    await receiver.listen()
    receivers.push(receiver)
    const made = await desk.create({ by: admin, url: receiver.url, types, after: null })
    if (made.kind !== 'created') throw new Error(made.kind)
    receiver.secret = made.secret
    return { receiver, webhook: made.webhook }
  }
  const now = async ({ id }: Webhook) => present(await webhooks.find(id), 'webhook')
  /** Sends until nothing waits, whatever fails meanwhile. */
  const settle = async (sender = senderWith()) => {
    for (;;) {
      await sender.drain()
      if ((await webhooks.list()).every(({ waiting, state }) => waiting === 0 || state !== 'active')) return
      await pause(5)
    }
  }
  const idsOf = (receiver: WebhookReceiver) => receiver.taken.flatMap(({ events }) => events.map(({ id }) => id))

  it('[R20] tells every fact once and in order, signed, in requests of at most 100', async () => {
    const { receiver, webhook } = await hook()
    const match = await season.match()
    const user = await season.player()
    const held = await match.open(user)
    const many = Array.from({ length: 90 }, () => match.position(user, { lots: 0.01 }))
    await match.commit(many.map((position) => ({ kind: 'position_opened', position })))
    for (let n = 0; n < 20; n++) await match.close(n === 0 ? held : await match.open(await season.player()), 201)
    await settle()
    expect(receiver.problems).toEqual([])
    expect(idsOf(receiver)).toEqual([
      `${match.id}/1/0`,
      ...Array.from({ length: 90 }, (_, n) => `${match.id}/2/${n}`),
      ...Array.from({ length: 39 }, (_, n) => `${match.id}/${n + 3}/0`),
    ])
    expect(receiver.taken.every(({ events, type }) => events.length <= 100 && type === 'touchline.events')).toBe(true)
    expect(await now(webhook)).toMatchObject({ state: 'active', waiting: 0, failingSince: null, lastError: null })
    expect((await now(webhook)).lastSuccessAt).not.toBeNull()
    // What is told next begins where this has ended.
    await match.settle()
    await settle()
    expect(idsOf(receiver).at(-1)).toBe(`${match.id}/42/0`)
    expect(idsOf(receiver)).toHaveLength(131)
  })

  it('tells only what was chosen, and passes the rest', async () => {
    const { receiver, webhook } = await hook(['match.settled'])
    const match = await season.match()
    await match.close(await match.open(await season.player()), 201)
    await settle()
    expect([receiver.taken.length, (await now(webhook)).waiting]).toEqual([0, 0])
    expect((await now(webhook)).lastSuccessAt).toBeNull()
    await match.settle()
    await settle()
    expect(idsOf(receiver)).toEqual([`${match.id}/3/0`])
  })

  it.each([500, 302, 404, 'reset', 'lose', 'stall'] as const)(
    '[R20] repeats with the same id and events after: %s',
    async (conduct) => {
      const { receiver, webhook } = await hook()
      const asked: string[] = []
      const failed: Webhook[] = []
      let left = 3
      receiver.conduct = () => (left-- > 0 ? conduct : 204)
      const match = await season.match()
      await match.open(await season.player())
      const sender = senderWith({
        send: async (post) => {
          asked.push(`${post.headers['webhook-id']} ${post.body}`)
          if (asked.length === 2) failed.push(await now(webhook))
          // What happens meanwhile is told later.
          if (asked.length < 3) await match.open(await season.player())
          return (conduct === 'stall' && left > 0 ? hasty : poster).send(post)
        },
      })
      await settle(sender)
      expect(failed).toMatchObject([{ state: 'active', lastError: expect.stringMatching(/./) }])
      expect(failed[0]?.failingSince).not.toBeNull()
      expect(new Set(asked.slice(0, 4)).size).toBe(1)
      expect(new Set(asked).size).toBe(2)
      expect([...new Set(idsOf(receiver))]).toEqual([1, 2, 3].map((seq) => `${match.id}/${seq}/0`))
      expect(await now(webhook)).toMatchObject({ waiting: 0, failingSince: null })
    },
  )

  it('[R21] a receiver that stalls or fails holds up no other', async () => {
    const [stalled, failing, good] = [await hook(), await hook(), await hook()]
    stalled.receiver.conduct = () => 'stall'
    failing.receiver.conduct = () => 503
    const match = await season.match()
    const sender = senderWith({
      retryMs: 50,
      send: (post) => (post.url === stalled.receiver.url ? hasty : poster).send(post),
    })
    sender.start()
    for (let n = 0; n < 10; n++) await match.open(await season.player())
    await expect.poll(() => idsOf(good.receiver).length, PATIENCE).toBe(10)
    await expect.poll(async () => (await now(failing.webhook)).lastError, PATIENCE).toBe('answered 503')
    await sender.stop()
    expect((await now(stalled.webhook)).waiting).toBe(10)
    expect(reports).toEqual([])
  })

  it('[R20] two processes never tell one webhook at the same time', async () => {
    const { receiver } = await hook()
    const match = await season.match()
    const user = await season.player()
    const senders = [senderWith(), senderWith()]
    for (const sender of senders) sender.start()
    for (let n = 0; n < 30; n++) await match.open(user)
    await expect.poll(() => idsOf(receiver).length, PATIENCE).toBe(30)
    await Promise.all(senders.map((sender) => sender.stop()))
    expect(idsOf(receiver)).toEqual(Array.from({ length: 30 }, (_, n) => `${match.id}/${n + 1}/0`))
    expect(receiver.together).toBe(1)
  })

  it('[R20] fifty kills of each end leave no gap, and repeat only what has the same id', async () => {
    const { receiver } = await hook()
    const matches = [await season.match(), await season.match(), await season.match()]
    const user = await season.player()
    const killed = { senders: 0, receivers: 0 }
    /** A process that dies at a call, before or after it has taken effect: nothing ever comes back. */
    const mortal = () => {
      let die: () => void = () => undefined
      let isDead = false
      const died = new Promise<void>((resolve) => {
        die = resolve
      })
      const call = async <T>(work: () => Promise<T>): Promise<T> => {
        if (!isDead && chance.randomInt(9) === 0) {
          isDead = true
          killed.senders++
          if (chance.randomInt(2) === 0) await work().catch(() => undefined)
          die()
        }
        return isDead ? new Promise<never>(() => undefined) : work()
      }
      const sender = senderWith({
        webhooks: {
          areActive: () => call(() => shortLeased.areActive()),
          claim: () => call(() => shortLeased.claim()),
          plan: (...args) => call(() => shortLeased.plan(...args)),
          passed: (...args) => call(() => shortLeased.passed(...args)),
          failed: (...args) => call(() => shortLeased.failed(...args)),
        },
        stream: {
          sweep: () => call(() => stream.sweep()),
          after: (...args) => call(() => stream.after(...args)),
          beyondGap: (...args) => call(() => stream.beyondGap(...args)),
        },
        send: (post) => call(() => poster.send(post)),
      })
      return { sender, died }
    }
    let asked = 0
    receiver.conduct = () => {
      asked++
      const one = chance.randomInt(8)
      if (one > 2) return 204
      killed.receivers++
      return one === 0 ? 'reset' : one === 1 ? 'lose' : 500
    }
    let isOver = false
    const process = async (): Promise<void> => {
      while (!isOver) {
        const { sender, died } = mortal()
        await Promise.race([died, sender.drain()])
        await pause(2)
      }
    }
    const trade = async (): Promise<void> => {
      while (!isOver) {
        const match = present(matches[chance.randomInt(3)], 'match')
        await match.close(await match.open(user, { lots: 0.01 }), 201)
        await pause(10)
      }
    }
    const restarts = async (): Promise<void> => {
      for (let next = 10; !isOver; await pause(5)) {
        if (asked < next) continue
        await receiver.kill()
        await receiver.listen()
        next = asked + 10
      }
    }
    const running = [process(), process(), trade(), restarts()]
    while (killed.senders < 50 || killed.receivers < 50) await pause(20)
    isOver = true
    await Promise.all(running)
    receiver.conduct = () => 204
    await pause(SHORT_LEASE_MS)
    await settle()
    expect(receiver.problems).toEqual([])
    const told = new Map<string, string>()
    for (const { id, text } of receiver.taken) {
      expect(told.get(id) ?? text).toBe(text)
      told.set(id, text)
    }
    const first = [...new Map(receiver.taken.toReversed().map((each) => [each.id, each])).values()]
    const order = receiver.taken.filter(({ id }, n) => receiver.taken.findIndex((each) => each.id === id) === n)
    expect(order).toHaveLength(first.length)
    const ids = order.flatMap(({ events }) => events.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id: match } of matches) {
      const { last } = await open()
        .db.selectFrom('outbox')
        .select(({ fn }) => fn.max('seq').as('last'))
        .where('match_id', '=', match)
        .executeTakeFirstOrThrow()
      expect(ids.filter((id) => id.startsWith(`${match}/`))).toEqual(
        Array.from({ length: last }, (_, n) => `${match}/${n + 1}/0`),
      )
    }
  })

  describe('operators', () => {
    it('[H10] pause, resume and delete a webhook; it goes on where it was', async () => {
      const { receiver, webhook } = await hook()
      const match = await season.match()
      await match.open(await season.player())
      expect(await desk.setState(webhook.id, 'paused', admin)).toMatchObject({ state: 'paused' })
      await senderWith().drain()
      expect(receiver.taken).toEqual([])
      expect(await desk.setState(webhook.id, 'active', admin)).toMatchObject({ state: 'active', waiting: 1 })
      await settle()
      expect(idsOf(receiver)).toEqual([`${match.id}/1/0`])
      expect(await desk.delete(webhook.id, admin)).toBe(true)
      expect(await desk.delete(webhook.id, admin)).toBe(false)
      expect(await desk.setState(webhook.id, 'active', admin)).toBeNull()
      const { rows } = await sql<{ action: string; text: string }>`
        select action, concat(before, after) as text from audit_log
         where subject = ${webhook.id}::text order by id`.execute(open().db)
      expect(rows.map(({ action }) => action)).toEqual([
        'webhook.create',
        'webhook.pause',
        'webhook.resume',
        'webhook.delete',
      ])
      expect(rows.map(({ text }) => text).join('')).not.toContain('/hook')
    })

    it('[R20] begin in the past by a cursor of the stream, and there are ten webhooks at most', async () => {
      const { receiver, webhook } = await hook()
      const match = await season.match()
      for (let n = 0; n < 3; n++) await match.open(await season.player())
      await settle()
      await stream.sweep()
      const end = await stream.end()
      const [first] = await stream
        .after([end[0] - 5, 0, 0], 100)
        .then((all) => all.filter((e) => e.matchId === match.id))
      const url = receiver.url
      const ahead = { by: admin, url, types: [], after: [end[0], 0, 1] } as const
      expect(await desk.create(ahead)).toMatchObject({ kind: 'refused', field: 'after' })
      const again = await desk.create({ by: admin, url, types: [], after: present(first, 'event').after })
      expect(again.kind).toBe('created')
      await desk.delete(webhook.id, admin)
      receiver.secret = null
      receiver.taken.length = 0
      await settle()
      expect(idsOf(receiver)).toEqual([2, 3].map((seq) => `${match.id}/${seq}/0`))
      const made = await Promise.all(
        Array.from({ length: WEBHOOKS_MAX + 1 }, () => desk.create({ by: admin, url, types: [], after: null })),
      )
      expect(made.filter(({ kind }) => kind === 'created')).toHaveLength(WEBHOOKS_MAX - 1)
      expect(made.filter(({ kind }) => kind === 'full')).toHaveLength(2)
    })

    it('try a webhook', async () => {
      const { receiver, webhook } = await hook()
      expect(await desk.test(webhook.id, admin)).toEqual({ status: 204, error: null })
      expect([receiver.taken.map(({ type }) => type), receiver.problems]).toEqual([['webhook.test'], []])
      receiver.conduct = () => 'reset'
      expect(await desk.test(webhook.id, admin)).toMatchObject({ status: null, error: expect.stringMatching(/./) })
      expect(await desk.test(world.newId(), admin)).toBeNull()
    })

    it('[R21] have one disabled that has failed for three days, told of it, and resume it', async () => {
      const { receiver, webhook } = await hook()
      receiver.conduct = () => 500
      const match = await season.match()
      await match.open(await season.player())
      await senderWith().drain()
      expect((await now(webhook)).state).toBe('active')
      await sql`update webhooks set failing_since = clock_timestamp() - interval '73 hours', next_at = '-infinity'`.execute(
        open().db,
      )
      await senderWith().drain()
      expect([(await now(webhook)).state, reports]).toEqual(['disabled', ['webhook_disabled']])
      receiver.conduct = () => 204
      await senderWith().drain()
      expect(receiver.taken).toEqual([])
      await desk.setState(webhook.id, 'active', admin)
      await settle()
      expect(idsOf(receiver)).toEqual([`${match.id}/1/0`])
    })

    it('[R20] are told when the secret of the server has changed: nothing is sent with another', async () => {
      const { receiver, webhook } = await hook()
      await (await season.match()).open(await season.player())
      await senderWith({ secretOf: webhookSecrets('another') }).drain()
      expect(receiver.taken).toEqual([])
      expect((await now(webhook)).lastError).toMatch(/REG_TICKET_SECRET has changed/)
    })
  })
})
