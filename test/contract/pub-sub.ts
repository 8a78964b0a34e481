/** The contract of every publish/subscribe client, on which the bus relies. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PubSub } from '../../rooms/cluster/bus.ts'

export interface PubSubBench {
  /** Two clients of the same network, as two processes have. */
  readonly ends: readonly [PubSub, PubSub]
  close(): Promise<void>
}

export function pubSubContract(open: () => Promise<PubSubBench>): void {
  describe('publish/subscribe', () => {
    let bench: PubSubBench
    beforeEach(async () => {
      bench = await open()
    })
    afterEach(() => bench.close())

    it('a message reaches every subscriber of its channel, whole and in order; send returns how many it has', async () => {
      const [here, there] = bench.ends
      const received: string[] = []
      await here.subscribe('news', (message) => received.push(`here ${message.toString('latin1')}`))
      await there.subscribe('news', (message) => received.push(`there ${message.toString('latin1')}`))
      await there.subscribe('other', (message) => received.push(`other ${message.toString('latin1')}`))
      expect(await here.send('news', Buffer.from([0, 255, 13, 10]))).toBe(2)
      await here.publish('news', Buffer.from('b'))
      expect(await here.send('nobody', Buffer.from('c'))).toBe(0)
      await here.publish('nobody', Buffer.from('c'))
      expect(await there.send('other', Buffer.from('d'))).toBe(1)
      await expect
        .poll(() => received.toSorted())
        .toEqual(['here \0ÿ\r\n', 'here b', 'other d', 'there \0ÿ\r\n', 'there b'])
      expect(received.filter((line) => line.startsWith('there'))).toEqual(['there \0ÿ\r\n', 'there b'])
    })

    it('of messages sent together, each is reported by itself, and those of one channel arrive in order', async () => {
      const [here, there] = bench.ends
      const received: string[] = []
      await there.subscribe('news', (message) => received.push(message.toString()))
      const numbers = Array.from({ length: 100 }, (_, n) => String(n))
      const sent = numbers.flatMap((n) => [here.send('news', Buffer.from(n)), here.send(`no ${n}`, Buffer.from(n))])
      await here.publish('news', Buffer.from('last'))
      const counts = await Promise.all(sent)
      counts.forEach((count, n) => expect(count).toBe(n % 2 === 0 ? 1 : 0))
      await expect.poll(() => received).toEqual([...numbers, 'last'])
    })

    it('an unsubscribed handler receives nothing more, while others do', async () => {
      const [here, there] = bench.ends
      const received: string[] = []
      for (const channel of ['news', 'other']) await there.subscribe(channel, () => received.push(channel))
      await there.unsubscribe('news')
      expect(await here.send('news', Buffer.from('a'))).toBe(0)
      expect(await here.send('other', Buffer.from('b'))).toBe(1)
      await expect.poll(() => received).toEqual(['other'])
    })

    it('a message already delivered to a handler that unsubscribes still reaches it', async () => {
      const [here, there] = bench.ends
      const received: string[] = []
      await there.subscribe('news', (message) => received.push(message.toString()))
      const numbers = Array.from({ length: 200 }, (_, n) => String(n))
      const published = numbers.map((n) => here.send('news', Buffer.from(n)))
      await there.unsubscribe('news')
      const handed = (await Promise.all(published)).filter((receivers) => receivers !== 0).length
      await expect.poll(() => received).toEqual(numbers.slice(0, handed))
    })

    it('a closed client receives nothing more, and cannot publish', async () => {
      const [here, there] = bench.ends
      await there.subscribe('news', () => undefined)
      await there.close()
      await expect.poll(() => here.send('news', Buffer.from('a'))).toBe(0)
      await expect(there.send('news', Buffer.from('b'))).rejects.toThrow()
      await expect(there.publish('news', Buffer.from('b'))).rejects.toThrow()
    })
  })
}
