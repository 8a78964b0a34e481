/** What the bus may count on, whatever carries its messages. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PubSub } from '../../rooms/cluster/bus.ts'

export interface PubSubBench {
  /** Two ends of the same network, as two processes have them. */
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

    it('a message reaches every subscriber of its channel, whole and in order, and its publisher learns how many', async () => {
      const [here, there] = bench.ends
      const heard: string[] = []
      await here.subscribe('news', (message) => heard.push(`here ${message.toString('latin1')}`))
      await there.subscribe('news', (message) => heard.push(`there ${message.toString('latin1')}`))
      await there.subscribe('other', (message) => heard.push(`other ${message.toString('latin1')}`))
      expect(await here.publish('news', Buffer.from([0, 255, 13, 10]))).toBe(2)
      expect(await here.publish('news', Buffer.from('b'))).toBe(2)
      expect(await here.publish('nobody', Buffer.from('c'))).toBe(0)
      expect(await there.publish('other', Buffer.from('d'))).toBe(1)
      await expect
        .poll(() => heard.toSorted())
        .toEqual(['here \0ÿ\r\n', 'here b', 'other d', 'there \0ÿ\r\n', 'there b'])
      expect(heard.filter((line) => line.startsWith('there'))).toEqual(['there \0ÿ\r\n', 'there b'])
    })

    it('an unsubscribed handler receives nothing more, while others do', async () => {
      const [here, there] = bench.ends
      const heard: string[] = []
      for (const channel of ['news', 'other']) await there.subscribe(channel, () => heard.push(channel))
      await there.unsubscribe('news')
      expect(await here.publish('news', Buffer.from('a'))).toBe(0)
      expect(await here.publish('other', Buffer.from('b'))).toBe(1)
      await expect.poll(() => heard).toEqual(['other'])
    })

    it('a message already delivered to a handler that unsubscribes still reaches it', async () => {
      const [here, there] = bench.ends
      const heard: string[] = []
      await there.subscribe('news', (message) => heard.push(message.toString()))
      const numbers = Array.from({ length: 200 }, (_, n) => String(n))
      const published = numbers.map((n) => here.publish('news', Buffer.from(n)))
      await there.unsubscribe('news')
      const handed = (await Promise.all(published)).filter((receivers) => receivers === 1).length
      await expect.poll(() => heard).toEqual(numbers.slice(0, handed))
    })

    it('a closed client receives nothing more, and cannot publish', async () => {
      const [here, there] = bench.ends
      await there.subscribe('news', () => undefined)
      await there.close()
      await expect.poll(() => here.publish('news', Buffer.from('a'))).toBe(0)
      await expect(there.publish('news', Buffer.from('b'))).rejects.toThrow()
    })
  })
}
