import { expect, it, vi } from 'vitest'
import { NatsPubSub } from '../../db/fast/pub-sub-nats.ts'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { pubSubContract } from '../contract/pub-sub.ts'
import { onNats } from '../support/nats-server.ts'

onNats((server) => {
  pubSubContract(async () => {
    const options = { urls: [server.url], prefix: server.newPrefix() } as const
    const ends = [await NatsPubSub.connect(options), await NatsPubSub.connect(options)] as const
    return { ends, close: async () => void (await Promise.all(ends.map((end) => end.close()))) }
  })

  /** Two clients, one of them through a relay that breaks. */
  async function apart() {
    const relay = await Relay.to(server.url)
    const prefix = server.newPrefix()
    const ours = await NatsPubSub.connect({ urls: [relay.url], prefix })
    const theirs = await NatsPubSub.connect({ urls: [server.url], prefix })
    const close = async () => {
      await Promise.all([ours.close(), theirs.close()])
      await relay.close()
    }
    return { relay, ours, theirs, close }
  }

  it('[Q10] a connection that broke comes back with its subscriptions, and reports that messages may have been missed', async () => {
    const { relay, ours, theirs, close } = await apart()
    const received: string[] = []
    const gap = vi.fn<() => void>()
    try {
      ours.onGap(gap)
      await ours.subscribe('news', (message) => received.push(message.toString()))
      relay.cut()
      await expect.poll(() => theirs.send('news', Buffer.from('lost'))).toBe(0)
      await expect(ours.send('news', Buffer.from('lost'))).rejects.toThrow()
      expect(gap).not.toHaveBeenCalled()
      relay.mend()
      await vi.waitUntil(() => gap.mock.calls.length > 0, { timeout: 10_000 })
      expect(await theirs.send('news', Buffer.from('found'))).toBe('some')
      await expect.poll(() => received).toEqual(['found'])
    } finally {
      await close()
    }
  })

  it('[Q6] a message that may have arrived is not sent again', async () => {
    const { relay, ours, theirs, close } = await apart()
    const received: string[] = []
    try {
      await theirs.subscribe('orders', (message) => received.push(message.toString()))
      relay.deafen()
      const order = ours.send('orders', Buffer.from('open')).catch((error: unknown) => error)
      await expect.poll(() => received).toEqual(['open'])
      relay.cut()
      expect(await order).toBeInstanceOf(Error)
      relay.mend()
      await expect.poll(() => ours.send('orders', Buffer.from('next')).catch(() => 0), { timeout: 10_000 }).toBe('some')
      await expect.poll(() => received).toEqual(['open', 'next'])
    } finally {
      await close()
    }
  })

  it('[Q17] a connection that is silent is given up, and made anew', async () => {
    const { relay, ours, theirs, close } = await apart()
    const received: string[] = []
    try {
      await ours.subscribe('news', (message) => received.push(message.toString()))
      relay.swallow()
      ours.reconnect()
      await expect.poll(() => ours.send('self', Buffer.from('x')).catch(() => 'failed'), { timeout: 10_000 }).toBe(0)
      await vi.waitUntil(async () => (await theirs.send('news', Buffer.from('back'))) !== 0 && received.length > 0, {
        timeout: 10_000,
      })
    } finally {
      await close()
    }
  })
})
