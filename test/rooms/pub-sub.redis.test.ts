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

  it('[Q10] a connection that broke comes back with its subscriptions, and reports that messages may have been missed', async () => {
    const relay = await Relay.to(server.url)
    const prefix = server.newPrefix()
    const [ours, theirs] = [
      await RedisPubSub.connect({ url: relay.url, prefix }),
      await RedisPubSub.connect({ url: server.url, prefix }),
    ]
    const received: string[] = []
    const gap = vi.fn<() => void>()
    try {
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
    } finally {
      await Promise.all([ours.close(), theirs.close()])
      await relay.close()
    }
  })

  it('[Q17] a connection that is silent is given up, and made anew', async () => {
    const relay = await Relay.to(server.url)
    const prefix = server.newPrefix()
    const [ours, theirs] = [
      await RedisPubSub.connect({ url: relay.url, prefix }),
      await RedisPubSub.connect({ url: server.url, prefix }),
    ]
    const received: string[] = []
    try {
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
    } finally {
      await Promise.all([ours.close(), theirs.close()])
      await relay.close()
    }
  })

  it('[Q6] a message that may have arrived is not sent again', async () => {
    const relay = await Relay.to(server.url)
    const prefix = server.newPrefix()
    const [ours, theirs] = [
      await RedisPubSub.connect({ url: relay.url, prefix }),
      await RedisPubSub.connect({ url: server.url, prefix }),
    ]
    const received: string[] = []
    try {
      await theirs.subscribe('orders', (message) => received.push(message.toString()))
      relay.deafen()
      const order = ours.send('orders', Buffer.from('open'))
      await expect.poll(() => received).toEqual(['open'])
      relay.cut()
      await expect(order).rejects.toThrow()
      relay.mend()
      await expect.poll(() => ours.send('orders', Buffer.from('next')).catch(() => 0), { timeout: 10_000 }).toBe(1)
      await expect.poll(() => received).toEqual(['open', 'next'])
    } finally {
      await Promise.all([ours.close(), theirs.close()])
      await relay.close()
    }
  })
})
