import { expect, it, vi } from 'vitest'
import { DEFAULT_RULES, STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { present } from '../../actors/kernel/assert.ts'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import { AccountStream } from '../../rooms/feed/account-stream.ts'
import { decodePriceFrame } from '../../rooms/feed/price-frame.ts'
import type { Subscriber } from '../../rooms/feed/subscriber.ts'
import { FanOut } from '../../rooms/feed/fan-out.ts'
import { FairShare } from '../../rooms/match/fair-share.ts'
import { MatchHost, type Relay } from '../../rooms/match/match-host.ts'
import { WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { half, MATCH, P, player, record, snapshot, U } from '../support/fixtures.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'

/** A match that runs here, and its announcements to the other processes. */
async function hosted(of: MatchRecord, isAlone = false) {
  const [world, store, report] = [new TestWorld(), new MemoryMatchStore(), (): void => undefined]
  store.grant(U(1), STARTING_BALANCE)
  store.put(of)
  const epoch = (await store.acquire(MATCH)) ?? 0
  const opened = vi.fn<Relay['opened']>()
  const fanOut = new FanOut({ clock: world.steady, report })
  fanOut.stop()
  const account = new AccountStream({ read: async () => [], report })
  account.stop()
  const deadline = new WriteDeadline()
  deadline.stop()
  const host = new MatchHost({
    record: of,
    epoch,
    onPrices: () => undefined,
    onStopped: () => undefined,
    context: {
      store,
      quarantine: async () => null,
      leases: store,
      leaseTtlMs: 5 * SECOND_MS,
      world,
      rules: () => DEFAULT_RULES,
      model: () => DEFAULT_MODEL,
      fanOut,
      account,
      relay: isAlone
        ? null
        : { opened, closed: () => undefined, prices: () => undefined, logAppended: () => undefined },
      deadline,
      share: new FairShare(world),
      report,
      warn: () => undefined,
      refusedUpdates: { clock_behind: 0, before_kick_off: 0 },
      onCommitted: () => undefined,
    },
  })
  return { host, store, world, fanOut, opened }
}

it('[Q8] an unsettled match is announced again with every renewal of its lease', async () => {
  const { host, store, opened } = await hosted(record())
  expect(opened).toHaveBeenCalledTimes(1)
  expect(await host.renew()).toBe(true)
  expect(opened).toHaveBeenCalledTimes(2)
  expect(opened).toHaveBeenLastCalledWith(expect.objectContaining({ matchId: MATCH, epoch: 1 }))
  await store.acquire(MATCH)
  expect(await host.renew()).toBe(false)
  expect(opened).toHaveBeenCalledTimes(2)
  const { info, ...rest } = record()
  const over = await hosted({ ...rest, info: { ...info, settledAt: instant(info.startsAt + 1) } })
  expect(await over.host.renew()).toBe(true)
  expect(over.opened).toHaveBeenCalledTimes(1)
})

it('[Q7] a match that closes releases its lease after the renewal under way, which would extend it again', async () => {
  const { host, store } = await hosted(record())
  const order: string[] = []
  const renewed = Promise.withResolvers<void>()
  vi.spyOn(store, 'renew').mockImplementation(async () => {
    await renewed.promise
    order.push('renewed')
    return true
  })
  vi.spyOn(store, 'release').mockImplementation(async () => void order.push('released'))
  void host.renew()
  const closed = host.close()
  await new Promise(setImmediate)
  expect(order).toEqual([])
  renewed.resolve()
  await closed
  expect(order).toEqual(['renewed', 'released'])
})

it('[W23] a price that stands still is published again every ten seconds, in play, on the pitch, where it is followed', async () => {
  const periods = half(2_700, false)
  const bench = { ...player(3), starter: false }
  const update = (seq: number, sourceAt: Instant, over: object = {}): FeedUpdate => ({
    kind: 'feed_update',
    seq,
    snapshot: snapshot({ players: [player(1), player(2), bench], sourceAt, ...over }),
  })
  for (const isAlone of [true, false]) {
    const { host, world, fanOut } = await hosted(record({ instruments: [] }), isAlone)
    await host.actor.feed(update(2, world.now()))
    fanOut.collect(host)
    const frames = (secs: number) =>
      Array.from({ length: secs }, () => {
        world.pass(997)
        return host.takePrices().map(({ frame }) => present(decodePriceFrame(frame), 'a frame'))
      }).flat()
    expect(frames(20)).toHaveLength(isAlone ? 0 : 4)
    fanOut.follow({ topics: [] } as unknown as Subscriber, P(1))
    for (const over of [{}, { state: 'HT', periods }, { state: 'PEN_BREAK', periods }, { state: 'BREAK', periods }]) {
      await host.actor.feed(update(host.actor.view.info.feedSeq + 1, world.now(), over))
      host.takePrices()
      const { seq } = host
      const beats = frames(50).filter(({ instrumentId }) => instrumentId === P(1))
      expect(beats.length).toBeGreaterThanOrEqual(5)
      expect(beats.every(({ price, previous }) => price === previous)).toBe(true)
      expect(beats.at(-1)).toMatchObject({ flags: 0, cause: 'match', status: 'OPEN' })
      expect(new Set(beats.map((beat) => beat.seq)).size).toBe(beats.length)
      expect(beats[0]?.seq).toBeGreaterThan(seq)
    }
    // The feed falls silent: the suspension is the last that is told.
    world.pass(DEFAULT_RULES.feedStaleMs)
    const last = frames(60)
    expect(new Set(last.map(({ status }) => status))).toEqual(new Set(['SUSPENDED']))
    expect(frames(60)).toEqual([])
  }
})
