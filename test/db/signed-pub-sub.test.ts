import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MINUTE_MS } from '../../actors/kernel/world.ts'
import { SignedPubSub } from '../../db/fast/signed-pub-sub.ts'
import { systemWorld } from '../../src/system-world.ts'
import { pubSubContract } from '../contract/pub-sub.ts'
import { MemoryNetwork } from '../support/pub-sub-memory.ts'

const [OLD, NEW, STRANGER] = ['old key', 'new key', 'key of a stranger'] as const

describe('signed', () => {
  pubSubContract(async () => {
    const network = new MemoryNetwork()
    const end = () =>
      new SignedPubSub({ pubSub: network.end(), keys: [OLD], world: systemWorld(), onRefused: () => undefined })
    const ends = [end(), end()] as const
    return { ends, close: async () => void (await Promise.all(ends.map((each) => each.close()))) }
  })

  let network: MemoryNetwork
  let now: number
  let refused: string[]
  let received: string[]
  let copies: { readonly channel: string; readonly message: Buffer }[]
  const opened: SignedPubSub[] = []

  beforeEach(() => {
    network = new MemoryNetwork()
    now = 1_000_000_000
    refused = []
    received = []
    copies = []
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()))
  })

  /** A process with these keys. What it publishes is copied, as by somebody who reads along. */
  function member(...keys: [string, ...string[]]): SignedPubSub {
    const end = network.end()
    const pubSub = Object.assign(Object.create(end) as typeof end, {
      publish: (channel: string, message: Buffer) => {
        copies.push({ channel, message })
        return end.publish(channel, message)
      },
      subscribe: (channel: string, on: (message: Buffer) => void) => end.subscribe(channel, on),
      close: () => end.close(),
    })
    const world = systemWorld(() => now)
    const signed = new SignedPubSub({
      pubSub,
      keys,
      world,
      onRefused: (why, channel) => refused.push(`${why} ${channel}`),
    })
    opened.push(signed)
    return signed
  }
  const listen = async (to: SignedPubSub, ...channels: string[]) => {
    for (const channel of channels) await to.subscribe(channel, (message) => received.push(message.toString()))
  }
  const turns = async () => {
    for (let n = 0; n < 3; n += 1) await new Promise(setImmediate)
  }

  it('[Q16] a message of a process that lacks the key, or has none, is not delivered', async () => {
    await listen(member(OLD), 'orders')
    await member(STRANGER).publish('orders', Buffer.from('mine'))
    network.deliver('orders', Buffer.from('{"is":"request"}'))
    network.deliver('orders', Buffer.from(''))
    await member(OLD).publish('orders', Buffer.from('ours'))
    await turns()
    expect(received).toEqual(['ours'])
    expect(refused).toEqual(['forged orders', 'unsigned orders', 'unsigned orders'])
  })

  it('[Q16] an altered message, one on another channel, a repeated and an old one are not delivered', async () => {
    await listen(member(OLD), 'orders', 'other')
    const sender = member(OLD)
    for (const text of ['one', 'two', 'three']) await sender.publish('orders', Buffer.from(text))
    await turns()
    const [one, two] = copies
    if (one === undefined || two === undefined) throw new Error('nothing was copied')
    for (let at = 0; at < two.message.length; at += 1) {
      const altered = Buffer.from(two.message)
      altered.writeUInt8(altered.readUInt8(at) ^ 1, at)
      network.deliver('orders', altered)
    }
    network.deliver('other', two.message)
    for (const { message } of [two, one]) network.deliver('orders', message)
    await turns()
    expect(received).toEqual(['one', 'two', 'three'])
    expect(new Set(refused)).toEqual(new Set(['unsigned orders', 'forged orders', 'forged other', 'repeated orders']))

    const late = member(OLD)
    await listen(late, 'orders')
    now += 5 * MINUTE_MS + 1
    network.deliver('orders', two.message)
    await turns()
    expect(received).toHaveLength(3)
    expect(refused).toContain('old orders')
  })

  it('[Q16] messages on two channels may overtake each other, and neither counts twice', async () => {
    const [reader, sender] = [member(OLD), member(OLD)]
    await listen(reader, 'orders')
    for (const channel of ['prices', 'orders']) await sender.publish(channel, Buffer.from(channel))
    await listen(reader, 'prices')
    const [price] = copies
    for (let n = 0; n < 2; n++) network.deliver('prices', price?.message ?? Buffer.alloc(0))
    await turns()
    expect(received).toEqual(['orders', 'prices'])
    expect(refused).toEqual(['repeated prices'])
  })

  it('[Q16] processes of two keys understand each other while the key is replaced, in each of its steps', async () => {
    const steps: readonly (readonly [[string, ...string[]], [string, ...string[]]])[] = [
      [[OLD], [OLD, NEW]],
      [
        [OLD, NEW],
        [NEW, OLD],
      ],
      [[NEW, OLD], [NEW]],
    ]
    for (const [before, after] of steps) {
      received = []
      network = new MemoryNetwork()
      const [one, two] = [member(...before), member(...after)]
      await listen(one, 'one')
      await listen(two, 'two')
      await one.publish('two', Buffer.from('from one'))
      await two.publish('one', Buffer.from('from two'))
      await turns()
      expect(received).toEqual(['from one', 'from two'])
    }
    expect(refused).toEqual([])
    await listen(member(OLD), 'last')
    await member(NEW).publish('last', Buffer.from('too soon'))
    await turns()
    expect(refused).toEqual(['forged last'])
  })

  it('[Q16] publishers that come and go are remembered within a bound, for each channel', async () => {
    const channels = Array.from({ length: 20 }, (_, n) => `orders ${n}`)
    await listen(member(OLD), ...channels)
    for (let n = 0; n < 600; n += 1) {
      const sender = member(OLD)
      for (const channel of channels) await sender.publish(channel, Buffer.from(`${n}`))
    }
    await turns()
    expect(received).toHaveLength(12_000)
    const last = copies.at(-1)
    network.deliver(last?.channel ?? '', last?.message ?? Buffer.alloc(0))
    await turns()
    expect(refused).toEqual(['repeated orders 19'])
  })
})
