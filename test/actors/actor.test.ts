import { describe, expect, it, vi } from 'vitest'
import { BATCH_MAX, COMMAND_DEADLINE_MS, DEFAULT_RULES, MAILBOX_MAX } from '../../actors/kernel/limits.ts'
import { SECOND_MS } from '../../actors/kernel/world.ts'
import { lots } from '../../actors/kernel/micros.ts'
import { Mailbox } from '../../actors/match/mailbox.ts'
import type { IdempotencyKey } from '../../actors/match/messages.ts'
import type { Batch, MatchStore } from '../../actors/match/store.ts'
import { closeOrder, openOrder, GOAL, P, p, player, snapshot, U, u } from '../support/fixtures.ts'
import { committing } from '../support/committing.ts'
import { codeOf, ok, ActorRig } from '../support/actor-rig.ts'

const keyed = (key: string, fingerprint = 'body'): { idempotency: IdempotencyKey } => ({
  idempotency: { id: key, fingerprint },
})

/** The store, with commits that a test lets through one by one. */
function gated(): { wrap: (store: MatchStore) => MatchStore; batches: Batch[]; open: () => void } {
  const batches: Batch[] = []
  let release: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const wrap = (store: MatchStore): MatchStore =>
    committing(store, async (batch) => {
      batches.push(batch)
      await gate
      return store.commit(batch)
    })
  return { wrap, batches, open: release }
}

describe('mailbox', () => {
  it('[A1] refuses user messages when full, never the match’s own', () => {
    const mailbox = new Mailbox(2)
    expect([U(1), U(2), U(3), null].map((userId) => mailbox.put({ userId }))).toEqual([true, true, false, true])
    expect(mailbox.size).toBe(3)
  })

  it('[A2] hands out batches in order, with at most one message a user', () => {
    const mailbox = new Mailbox<{ userId: ReturnType<typeof U> | null; n: number }>()
    const from = [U(1), U(2), U(1), null, U(1), U(2), U(3)]
    for (const [n, userId] of from.entries()) mailbox.put({ userId, n })
    const taken = [mailbox.take(), mailbox.take(), mailbox.take(), mailbox.take()]
    expect(taken.map((batch) => batch.map((m) => m.n))).toEqual([[0, 1], [2], [3, 4, 5, 6], []])
  })

  it('[A2] the match’s own messages begin a batch, or are held while users go on', () => {
    const mailbox = new Mailbox<{ userId: ReturnType<typeof U> | null; n: number }>()
    for (const [n, userId] of [null, null, U(1), null, U(2)].entries()) mailbox.put({ userId, n })
    const taken = [mailbox.take({ isHeld: true }), mailbox.take({ isHeld: true }), mailbox.take(), mailbox.take()]
    expect(taken.map((batch) => batch.map((m) => m.n))).toEqual([[2, 4], [], [0], [1]])
  })

  it('[A2] a batch has a largest size, and the rest keeps its order', () => {
    const mailbox = new Mailbox<{ userId: ReturnType<typeof U>; n: number }>()
    for (let n = 0; n < BATCH_MAX + 2; n++) mailbox.put({ userId: U(n), n })
    expect(mailbox.take()).toHaveLength(BATCH_MAX)
    expect(mailbox.take().map((m) => m.n)).toEqual([BATCH_MAX, BATCH_MAX + 1])
  })
})

describe('actor', () => {
  it('[A1] a full mailbox refuses as busy at once, without effect', async () => {
    const gate = gated()
    const stage = await ActorRig.set({ users: MAILBOX_MAX + 2, wrap: gate.wrap })
    const first = stage.opens({ userId: U(1) })
    await expect.poll(() => gate.batches.length).toBe(1)
    const waiting = Array.from({ length: MAILBOX_MAX }, (_, i) => stage.opens({ userId: U(i + 2), lots: lots(10_000) }))
    expect(codeOf(await stage.opens({ userId: U(MAILBOX_MAX + 2) }))).toBe('busy')
    gate.open()
    expect(codeOf(await first)).toBe('ok')
    expect((await Promise.all(waiting)).every((o) => o.ok)).toBe(true)
    expect(stage.store.positions.size).toBe(MAILBOX_MAX + 1)
  })

  it('[A3] memory is never ahead of the store: a commit under way is not visible', async () => {
    const gate = gated()
    const stage = await ActorRig.set({ wrap: gate.wrap })
    const opening = stage.opens({ lots: lots(u(10)) })
    await expect.poll(() => gate.batches.length).toBe(1)
    expect([...stage.actor.view.openPositions()]).toHaveLength(0)
    expect(stage.actor.view.instrument(P(1))?.imbalance).toBe(0)
    gate.open()
    ok(await opening)
    expect(stage.actor.view.instrument(P(1))?.imbalance).toBe(u(10))
  })

  it('[A3] a failed commit stops the actor unchanged; a new owner loads what the store has', async () => {
    const stage = await ActorRig.set({
      wrap: (store) => committing(store, () => Promise.reject(new Error('connection lost'))),
    })
    await expect(stage.opens()).rejects.toThrow('connection lost')
    expect([...stage.actor.view.openPositions()]).toHaveLength(0)
    expect(stage.stopped?.reason).toBe('fault')
    expect(codeOf(await stage.opens())).toBe('busy')
  })

  it('[A4] a fenced owner cannot write a single row, and stops', async () => {
    const stage = await ActorRig.set()
    const stale = stage.actor
    await stage.load()
    await expect(stale.submit(openOrder())).rejects.toThrow('newer')
    expect(stage.stopped?.reason).toBe('fenced')
    expect(stage.store.positions.size).toBe(0)
    expect(stage.store.walletOf(U(1)).balance).toBe(u(10_000))
    await expect(stale.feed({ kind: 'feed_update', seq: 9, snapshot: snapshot() })).rejects.toThrow('has stopped')
    expect(codeOf(await stage.opens())).toBe('ok')
  })

  it('[A5] the same key and request returns the stored trade and does nothing twice', async () => {
    const stage = await ActorRig.set()
    const first = ok(await stage.opens(keyed('k1')))
    stage.world.pass(1000)
    const again = ok(await stage.opens(keyed('k1')))
    expect(again).toEqual({ ...first, repeated: true })
    expect(stage.store.positions.size).toBe(1)
    expect(codeOf(await stage.opens(keyed('k2')))).toBe('ok')
  })

  it('[A5] a stored refusal is repeated even when the order would now pass', async () => {
    const stage = await ActorRig.set()
    const order = { ...keyed('k1'), clientPrice: p(250) }
    const refusal = await stage.opens(order)
    expect(codeOf(refusal)).toBe('price_moved')
    expect(await stage.opens({ ...order, clientPrice: p(200) })).toEqual({ ...refusal, repeated: true })
  })

  it('[A14] a temporary refusal is not stored: the same key succeeds later', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    const close = { idempotency: { id: 'k', fingerprint: '' } } as const
    expect(codeOf(await stage.actor.submit(closeOrder(position.id, close)))).toBe('cooldown_active')
    stage.world.pass(DEFAULT_RULES.holdMs)
    const closed = ok(await stage.actor.submit(closeOrder(position.id, close)))
    expect(closed.repeated).toBe(false)
    expect(ok(await stage.actor.submit(closeOrder(position.id, close)))).toEqual({ ...closed, repeated: true })
  })

  it('[A14] a used key answers first, even while trading is suspended', async () => {
    const stage = await ActorRig.set()
    const first = ok(await stage.opens(keyed('k1')))
    stage.rules = { ...stage.rules, feedStaleMs: 0 }
    stage.world.pass(1)
    expect(codeOf(await stage.opens(keyed('k2')))).toBe('market_suspended')
    expect(ok(await stage.opens(keyed('k1')))).toEqual({ ...first, repeated: true })
  })

  it('[A5] the key of another request is refused', async () => {
    const stage = await ActorRig.set()
    ok(await stage.opens(keyed('k1', 'one body')))
    expect(codeOf(await stage.opens(keyed('k1', 'another')))).toBe('key_reused')
  })

  it('[A6] the same key 200 times at once opens one position; the others are refused as in flight', async () => {
    const stage = await ActorRig.set()
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => stage.opens(keyed('k1'))))
    expect(outcomes.filter((o) => o.ok)).toHaveLength(1)
    expect(new Set(outcomes.filter((o) => !o.ok).map(codeOf))).toEqual(new Set(['key_in_flight']))
    expect(stage.store.positions.size).toBe(1)
    expect(ok(await stage.opens(keyed('k1'))).repeated).toBe(true)
  })

  it('[A13] a rejected command leaves no trace: refusals it caused are decided again', async () => {
    const stage = await ActorRig.set()
    // More than the wallet pays, and before the other one in the batch: its impact would carry the price over their
    // target.
    const tooMuch = stage.opens({ userId: U(1), lots: lots(u(100)) })
    const modest = stage.opens({ userId: U(2), takeProfit: p(200.5), ...keyed('k1') })
    expect(codeOf(await tooMuch)).toBe('insufficient_margin')
    expect(ok(await modest).position.openPrice).toBe(u(200.0025))
    expect(codeOf(await stage.opens({ userId: U(2), takeProfit: p(200.5), ...keyed('k1') }))).toBe('ok')
  })

  it('[A7] a command that waited past its deadline is refused without effect', async () => {
    const gate = gated()
    const stage = await ActorRig.set({ wrap: gate.wrap })
    const first = stage.opens({ userId: U(1) })
    await expect.poll(() => gate.batches.length).toBe(1)
    const late = stage.opens({ userId: U(2) })
    stage.world.pass(COMMAND_DEADLINE_MS + 1)
    gate.open()
    expect(codeOf(await first)).toBe('ok')
    expect(codeOf(await late)).toBe('busy')
  })

  it('[A8] an old or repeated update changes nothing', async () => {
    const stage = await ActorRig.set()
    expect(await stage.moves()).toBe(true)
    const ticks = stage.store.ticks.length
    const { feedSeq } = stage.actor.view.info
    for (const seq of [feedSeq, feedSeq - 1, 0]) {
      expect(await stage.actor.feed({ kind: 'feed_update', seq, snapshot: snapshot() })).toBe(false)
    }
    expect(stage.store.ticks.length).toBe(ticks)
  })

  it('[A9] a new owner loads the match as the last one left it', async () => {
    const stage = await ActorRig.set()
    ok(await stage.opens({ lots: lots(u(3)), stopLoss: p(190) }))
    await stage.moves()
    ok(await stage.opens({ userId: U(2), direction: 'short', clientPrice: p(200) }))
    await stage.moves()
    const before = stage.actor
    await stage.load()
    const published = <T extends object>(one: T) => ({ ...one, published: 0 })
    expect([...stage.actor.view.openPositions()]).toEqual([...before.view.openPositions()])
    expect([...stage.actor.view.instruments()].map(published)).toEqual([...before.view.instruments()].map(published))
    expect(stage.actor.view.info).toEqual(before.view.info)
    expect(stage.actor.view.pricing).toEqual(before.view.pricing)
  })

  it('[A10] publication conflates the moves since the last one, and sets the last published price', async () => {
    const stage = await ActorRig.set()
    ok(await stage.opens({ lots: lots(u(10)) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(10)) }))
    expect(stage.actor.view.instrument(P(1))?.published).toBe(u(200))
    const published = stage.actor.takeUnpublished()
    expect(published).toMatchObject([{ previous: u(200), quote: { price: u(200.2) }, cause: 'trade', conflated: true }])
    expect(stage.actor.view.instrument(P(1))?.published).toBe(u(200.2))
    expect(stage.actor.takeUnpublished()).toEqual([])
  })

  describe('ticks', () => {
    const stored = (stage: ActorRig) => stage.store.ticks.filter((t) => t.instrumentId === P(1))

    it('[A11] of trades and match data are stored once a second per instrument, of in-game events always', async () => {
      const stage = await ActorRig.set()
      ok(await stage.opens())
      ok(await stage.opens({ userId: U(2) }))
      await stage.moves()
      expect(stored(stage).map((t) => t.cause)).toEqual(['trade'])
      await stage.moves({ events: [GOAL], home: { id: 1, name: 'Harbour', goals: 1 } })
      expect(stored(stage).map((t) => t.cause)).toEqual(['trade', 'event'])
      stage.world.pass(1000)
      ok(await stage.opens({ userId: U(3), clientPrice: p(205), instrumentId: P(2) }))
      expect(stage.store.ticks.at(-1)).toMatchObject({ cause: 'trade', instrumentId: P(2) })
    })

    it('[A11] are stored once a minute of every player on the pitch, in play and in breaks, though nothing moves', async () => {
      const { feedStaleMs } = DEFAULT_RULES
      const stage = await ActorRig.set({ rules: { feedStaleMs } })
      const bench = { ...player(3), starter: false }
      const half = { state: 'HT', stateId: 3, periods: stage.whistled(), players: [player(1), player(2), bench] }
      const timesOf = (n: number) => stage.store.ticks.filter((t) => t.instrumentId === P(n)).map(({ at }) => at)
      await stage.moves(half)
      for (let secs = 1; secs <= 600; secs++) {
        stage.world.pass(SECOND_MS)
        if (secs % 10 === 0) await stage.moves(half)
        else await stage.actor.clock()
      }
      const times = timesOf(1)
      const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0))
      expect(Math.max(...gaps, stage.world.now() - (times.at(-1) ?? 0))).toBeLessThanOrEqual(60 * SECOND_MS)
      expect(gaps.length).toBeLessThanOrEqual(12)
      expect(timesOf(2)).toEqual(times)
      expect(timesOf(3)).toHaveLength(1) // listed, and never on the pitch
      const commits = vi.spyOn(stage.store, 'commit')
      for (let secs = 1; secs <= 300; secs++) {
        stage.world.pass(SECOND_MS)
        await stage.actor.clock()
      }
      // Without updates there is one more, and none once the feed is late.
      expect(commits).toHaveBeenCalledTimes(1)
      expect(timesOf(1)).toHaveLength(times.length + 1)
      const last = stage.store.ticks.at(-1)
      expect(last).toMatchObject({ cause: 'match', previous: last?.quote.price })
    })

    it('[A11] that came too soon are stored when due, only the newest', async () => {
      const stage = await ActorRig.set()
      ok(await stage.opens())
      stage.world.pass(10)
      ok(await stage.opens({ userId: U(2) }))
      const last = stage.world.now()
      stage.world.pass(10)
      await stage.actor.clock()
      expect(stored(stage)).toHaveLength(1)
      stage.world.pass(1000)
      await stage.actor.clock()
      await stage.actor.clock()
      expect(stored(stage).map((t) => [t.at, t.quote.price])).toEqual([
        [last - 10, u(200.005)],
        [last, u(200.01)],
      ])
    })
  })

  it('[A12] a changed rule applies from the next batch on', async () => {
    const stage = await ActorRig.set()
    stage.rules = { ...DEFAULT_RULES, lotMax: lots(u(1)) }
    expect(codeOf(await stage.opens({ lots: lots(u(2)) }))).toBe('lot_size_invalid')
  })

  it('stopping finishes waiting commands and takes no more', async () => {
    const stage = await ActorRig.set()
    const opening = stage.opens()
    await stage.actor.stop()
    expect(codeOf(await opening)).toBe('ok')
    expect(codeOf(await stage.opens())).toBe('busy')
  })
})
