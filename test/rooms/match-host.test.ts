import { expect, it, vi } from 'vitest'
import { DEFAULT_RULES, STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import { AccountStream } from '../../rooms/feed/account-stream.ts'
import { FanOut } from '../../rooms/feed/fan-out.ts'
import { FairShare } from '../../rooms/match/fair-share.ts'
import { MatchHost, type Relay } from '../../rooms/match/match-host.ts'
import { WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { MATCH, record, U } from '../support/fixtures.ts'
import { MemoryMatchStore } from '../support/memory-store.ts'
import { TestWorld } from '../support/test-world.ts'

/** A match that runs here, and its announcements to the other processes. */
async function hosted(of: MatchRecord) {
  const [world, store, report] = [new TestWorld(), new MemoryMatchStore(), (): void => undefined]
  store.grant(U(1), STARTING_BALANCE)
  store.put(of)
  const epoch = (await store.acquire(MATCH)) ?? 0
  const opened = vi.fn<Relay['opened']>()
  const fanOut = new FanOut({ world, report })
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
      leases: store,
      leaseTtlMs: 5 * SECOND_MS,
      world,
      rules: () => DEFAULT_RULES,
      model: () => DEFAULT_MODEL,
      fanOut,
      account,
      relay: { opened, closed: () => undefined, prices: () => undefined, logAppended: () => undefined },
      deadline,
      share: new FairShare(world),
      report,
    },
  })
  return { host, store, opened }
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
