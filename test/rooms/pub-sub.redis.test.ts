import { describe, expect, it, vi } from 'vitest'
import { RedisPubSub } from '../../db/fast/pub-sub-redis.ts'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { pubSubContract } from '../contract/pub-sub.ts'
import { MemoryNetwork } from '../support/pub-sub-memory.ts'
import { onRedis } from '../support/redis-server.ts'

describe('in memory', () =>
  pubSubContract(async () => {
    const network = new MemoryNetwork()
    const ends = [network.end(), network.end()] as const
    return { ends, close: async () => void (await Promise.all(ends.map((end) => end.close()))) }
  }))

onRedis((server) => {
  pubSubContract(async () => {
    const options = { url: server.url, prefix: server.newPrefix() }
    const ends = [await RedisPubSub.connect(options), await RedisPubSub.connect(options)] as const
    return { ends, close: async () => void (await Promise.all(ends.map((end) => end.close()))) }
  })

  /** Two ends, of which the first is connected through a relay. */
  async function relayed(
    work: (ends: { relay: Relay; ours: RedisPubSub; theirs: RedisPubSub }) => Promise<void>,
  ): Promise<void> {
    const relay = await Relay.to(server.url)
    const prefix = server.newPrefix()
    const [ours, theirs] = [
      await RedisPubSub.connect({ url: relay.url, prefix }),
      await RedisPubSub.connect({ url: server.url, prefix }),
    ]
    try {
      await work({ relay, ours, theirs })
    } finally {
      await Promise.all([ours.close(), theirs.close()])
      await relay.close()
    }
  }

  it('[Q10] a connection that broke comes back with its subscriptions, and reports that messages may have been missed', () =>
    relayed(async ({ relay, ours, theirs }) => {
      const received: string[] = []
      const gap = vi.fn<() => void>()
      ours.onGap(gap)
      await ours.subscribe('news', (message) => received.push(message.toString()))
      relay.cut()
      await expect.poll(() => theirs.send('news', Buffer.from('lost'))).toBe(0)
      await expect(ours.publish('news', Buffer.from('lost'))).rejects.toThrow()
      expect(gap).not.toHaveBeenCalled()
      relay.mend()
      await vi.waitUntil(() => gap.mock.calls.length > 0, { timeout: 10_000 })
      expect(await theirs.send('news', Buffer.from('found'))).toBe(1)
      await expect.poll(() => received).toEqual(['found'])
    }))

  it('[Q17] a connection that is silent is given up, and another is made', () =>
    relayed(async ({ relay, ours, theirs }) => {
      const received: string[] = []
      await ours.subscribe('news', (message) => received.push(message.toString()))
      relay.swallow()
      ours.reconnect()
      await expect.poll(() => ours.send('self', Buffer.from('x')).catch(() => 'failed'), { timeout: 10_000 }).toBe(0)
      await vi.waitUntil(
        async () => {
          await theirs.publish('news', Buffer.from('back'))
          return received.length > 0
        },
        { timeout: 10_000 },
      )
    }))

  it('[Q6] a message that may have arrived is not sent again', () =>
    relayed(async ({ relay, ours, theirs }) => {
      const received: string[] = []
      await theirs.subscribe('orders', (message) => received.push(message.toString()))
      relay.deafen()
      const order = ours.send('orders', Buffer.from('open'))
      await expect.poll(() => received).toEqual(['open'])
      relay.cut()
      await expect(order).rejects.toThrow()
      relay.mend()
      await expect.poll(() => ours.send('orders', Buffer.from('next')).catch(() => 0), { timeout: 10_000 }).toBe(1)
      await expect.poll(() => received).toEqual(['open', 'next'])
    }))
})
