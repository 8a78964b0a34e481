import { afterEach, describe, expect, it, vi } from 'vitest'
import { RedisPubSub } from '../../db/fast/pub-sub-redis.ts'
import type { Report } from '../../rooms/report.ts'
import { Bus, RemoteFault } from '../../rooms/cluster/bus.ts'
import { Relay } from '../../ops/rehearse/chaos/relay.ts'
import { pubSubContract } from '../contract/pub-sub.ts'
import { type MemoryEnd, MemoryNetwork } from '../support/pub-sub-memory.ts'
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

  it('[Q10] a connection that broke comes back with its subscriptions, and says that something may have been missed', async () => {
    const relay = await Relay.to(server.url)
    const prefix = server.newPrefix()
    const [ours, theirs] = [
      await RedisPubSub.connect({ url: relay.url, prefix }),
      await RedisPubSub.connect({ url: server.url, prefix }),
    ]
    const heard: string[] = []
    const gap = vi.fn<() => void>()
    try {
      ours.onGap(gap)
      await ours.subscribe('news', (message) => heard.push(message.toString()))
      relay.cut()
      await expect.poll(() => theirs.publish('news', Buffer.from('lost'))).toBe(0)
      await expect(ours.publish('news', Buffer.from('lost'))).rejects.toThrow()
      expect(gap).not.toHaveBeenCalled()
      relay.mend()
      await vi.waitUntil(() => gap.mock.calls.length > 0, { timeout: 10_000 })
      expect(await theirs.publish('news', Buffer.from('found'))).toBe(1)
      await expect.poll(() => heard).toEqual(['found'])
    } finally {
      await Promise.all([ours.close(), theirs.close()])
      await relay.close()
    }
  })

  it('[Q6] a message whose fate is unknown is not sent again', async () => {
    const relay = await Relay.to(server.url)
    const prefix = server.newPrefix()
    const [ours, theirs] = [
      await RedisPubSub.connect({ url: relay.url, prefix }),
      await RedisPubSub.connect({ url: server.url, prefix }),
    ]
    const heard: string[] = []
    try {
      await theirs.subscribe('orders', (message) => heard.push(message.toString()))
      relay.deafen()
      const order = ours.publish('orders', Buffer.from('open'))
      await expect.poll(() => heard).toEqual(['open'])
      relay.cut()
      await expect(order).rejects.toThrow()
      relay.mend()
      await expect.poll(() => ours.publish('orders', Buffer.from('next')).catch(() => 0), { timeout: 10_000 }).toBe(1)
      await expect.poll(() => heard).toEqual(['open', 'next'])
    } finally {
      await Promise.all([ours.close(), theirs.close()])
      await relay.close()
    }
  })
})

describe('bus', () => {
  const network = new MemoryNetwork()
  const buses: Bus[] = []
  const complaints: string[] = []
  afterEach(async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.close()))
    complaints.length = 0
  })

  async function process(processId: string): Promise<{ readonly bus: Bus; readonly end: MemoryEnd }> {
    const end = network.end()
    const report: Report = (event, _error, { kind } = {}) => void complaints.push(`${event} ${String(kind)}`)
    const bus = new Bus({ pubSub: end, processId, report })
    await bus.open()
    buses.push(bus)
    return { bus, end }
  }

  it('a request is answered by the process it was sent to, with what that knows of the asker', async () => {
    const [{ bus: a }, { bus: b }] = [await process('a'), await process('b')]
    b.serve('double', async (body, from) => ({ from, twice: 2 * Number(body) }))
    const replies = await Promise.all([1, 2, 3].map((n) => a.ask('b', 'double', n, 1_000)))
    expect(replies).toEqual([2, 4, 6].map((twice) => ({ kind: 'answered', body: { from: 'a', twice } })))
  })

  it('[Q5] a process that is not there is gone, at once', async () => {
    const { bus } = await process('a')
    expect(await bus.ask('b', 'double', 1, 3_600_000)).toEqual({ kind: 'gone' })
    expect(await bus.askAny('doublers', 'double', 1, 3_600_000)).toEqual({ kind: 'gone' })
  })

  it('[Q5] no word in time is silence, whether the request or its answer was lost', async () => {
    const [{ bus: a, end }, { bus: b }] = [await process('a'), await process('b')]
    b.serve('never', () => new Promise(() => undefined))
    expect(await a.ask('b', 'never', 1, 1)).toEqual({ kind: 'silent' })
    expect(await a.ask('b', 'unheard of', 1, 1)).toEqual({ kind: 'silent' })
    end.cut()
    expect(await a.ask('b', 'never', 1, 3_600_000)).toEqual({ kind: 'silent' })
    expect(complaints).toEqual(['bus_request_failed never'])
  })

  it('a fault where it was served is a fault where it was asked', async () => {
    const [{ bus: a }, { bus: b }] = [await process('a'), await process('b')]
    b.serve('fail', () => Promise.reject(new Error('the database is away')))
    await expect(a.ask('b', 'fail', null, 1_000)).rejects.toThrow(new RemoteFault('the database is away'))
    expect(complaints).toEqual(['bus_serve_failed fail'])
  })

  it('how requests have ended is counted', async () => {
    const [{ bus: a }, { bus: b }] = [await process('a'), await process('b')]
    b.serve('double', async (body) => 2 * Number(body))
    b.serve('never', () => new Promise(() => undefined))
    b.serve('fail', () => Promise.reject(new Error('away')))
    await a.ask('b', 'double', 1, 1_000)
    await a.ask('b', 'double', 2, 1_000)
    await a.ask('c', 'double', 2, 1_000)
    await a.ask('b', 'never', 2, 1)
    await a.ask('b', 'fail', 2, 1_000).catch(() => undefined)
    expect(a.ends).toEqual({ answered: 2, gone: 1, silent: 1, failed: 1 })
  })

  it('of a group whoever has something to say answers, and the first answer counts', async () => {
    const [{ bus: a }, { bus: b }, { bus: c }] = [await process('a'), await process('b'), await process('c')]
    for (const bus of [b, c]) await bus.join('hosts')
    b.serve('who', async () => undefined)
    c.serve('who', async () => 'c')
    expect(await a.askAny('hosts', 'who', null, 1_000)).toEqual({ kind: 'answered', body: 'c' })
  })

  it('what is told reaches all who listen, the teller included', async () => {
    const [{ bus: a }, { bus: b }] = [await process('a'), await process('b')]
    const heard: string[] = []
    await a.hear('prices', (message) => heard.push(`a ${message.toString()}`))
    await b.hear('prices', (message) => heard.push(`b ${message.toString()}`))
    a.tell('prices', Buffer.from('up'))
    await expect.poll(() => heard.toSorted()).toEqual(['a up', 'b up'])
  })

  it('closing leaves nobody waiting', async () => {
    const [{ bus: a }, { bus: b }] = [await process('a'), await process('b')]
    b.serve('never', () => new Promise(() => undefined))
    const reply = a.ask('b', 'never', 1, 3_600_000)
    await a.close()
    expect(await reply).toEqual({ kind: 'silent' })
  })

  it('whoever has asked one that closes gets his answer, and the next learns that nobody is there', async () => {
    const [{ bus: a }, { bus: b }] = [await process('a'), await process('b')]
    const asked = Promise.withResolvers<void>()
    const made = Promise.withResolvers<string>()
    b.serve('slow', () => {
      asked.resolve()
      return made.promise
    })
    const before = a.ask('b', 'slow', 1, 3_600_000)
    await asked.promise
    const closed = b.close()
    const after = await a.ask('b', 'slow', 2, 3_600_000)
    made.resolve('made')
    await closed
    expect([await before, after]).toEqual([{ kind: 'answered', body: 'made' }, { kind: 'gone' }])
  })
})
