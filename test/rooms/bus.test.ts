import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Bus, type Protocol, RemoteFault } from '../../rooms/cluster/bus.ts'
import { readerOf, type Versions } from '../../rooms/cluster/envelope.ts'
import type { Report } from '../../rooms/report.ts'
import { type MemoryEnd, MemoryNetwork } from '../support/pub-sub-memory.ts'

/** A protocol with one request that doubles a number, one that is never answered, and one topic. */
interface Numbers {
  readonly double: { readonly request: number; readonly answer: number }
  readonly never: { readonly request: null; readonly answer: null }
}
interface Words {
  readonly words: string
}

const numbers = (versions: Versions): Protocol<Numbers, Words> => ({
  versions,
  requests: {
    double: { request: readerOf(z.number()), answer: readerOf(z.number()) },
    never: { request: readerOf(z.null()), answer: readerOf(z.null()) },
  },
  topics: { words: readerOf(z.string()) },
})

const V1: Versions = { oldest: 1, newest: 1 }
/** Understands version 1. */
const V2: Versions = { oldest: 1, newest: 2 }
/** Does not. */
const V3: Versions = { oldest: 3, newest: 3 }

const NEVER_MS = 3_600_000

let network: MemoryNetwork
const buses: Bus<Numbers, Words>[] = []
const reports: { readonly event: string; readonly facts: unknown }[] = []
const reported = (): string[] => reports.map(({ event }) => event)
beforeEach(() => {
  network = new MemoryNetwork()
})
afterEach(async () => {
  await Promise.all(buses.splice(0).map((bus) => bus.close()))
  reports.length = 0
})

async function member(processId: string, versions = V1) {
  const end: MemoryEnd = network.end()
  const report: Report = (event, _error, facts) => void reports.push({ event, facts })
  const bus = new Bus({ pubSub: end, processId, protocol: numbers(versions), report })
  await bus.open()
  buses.push(bus)
  return { bus, end }
}

/** Sends bytes to a process past every bus. */
const send = (channel: string, message: unknown): number =>
  network.deliver(channel, Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)))

const turn = () => new Promise(setImmediate)

describe('bus', () => {
  it('the process that was asked answers, and knows who asked', async () => {
    const [{ bus: a }, { bus: b }] = [await member('a'), await member('b')]
    const askers: string[] = []
    b.serve('double', async (n, from) => {
      askers.push(from)
      return 2 * n
    })
    const replies = await Promise.all([1, 2, 3].map((n) => a.ask('b', 'double', n, 1_000)))
    expect(replies).toEqual([2, 4, 6].map((answer) => ({ kind: 'answered', answer })))
    expect(askers).toEqual(['a', 'a', 'a'])
  })

  it('[Q5] a request to a process that does not exist is gone at once', async () => {
    const { bus } = await member('a')
    expect(await bus.ask('b', 'double', 1, NEVER_MS)).toEqual({ kind: 'gone' })
    expect(await bus.askAny('doublers', 'double', 1, NEVER_MS)).toEqual({ kind: 'gone' })
  })

  it('[Q5] a request without an answer in time is silent, whether the request or its answer was lost', async () => {
    const [{ bus: a, end }, { bus: b }] = [await member('a'), await member('b')]
    b.serve('never', () => new Promise(() => undefined))
    expect(await a.ask('b', 'never', null, 1)).toEqual({ kind: 'silent' })
    end.cut()
    expect(await a.ask('b', 'never', null, NEVER_MS)).toEqual({ kind: 'silent' })
    expect(reports).toEqual([{ event: 'bus_request_failed', facts: { kind: 'never' } }])
  })

  it('a fault of the process that serves a request is a fault of the one that asked', async () => {
    const [{ bus: a }, { bus: b }] = [await member('a'), await member('b')]
    b.serve('double', () => Promise.reject(new Error('the database is away')))
    await expect(a.ask('b', 'double', 1, 1_000)).rejects.toThrow(new RemoteFault('the database is away'))
    expect(reports).toEqual([{ event: 'bus_serve_failed', facts: { kind: 'double' } }])
  })

  it('counts how requests have ended', async () => {
    const [{ bus: a }, { bus: b }] = [await member('a'), await member('b')]
    b.serve('double', async (n) => {
      if (n === 0) throw new Error('away')
      return 2 * n
    })
    b.serve('never', () => new Promise(() => undefined))
    await a.ask('b', 'double', 1, 1_000)
    await a.ask('b', 'double', 2, 1_000)
    await a.ask('c', 'double', 2, 1_000)
    await a.ask('b', 'never', null, 1)
    await a.ask('b', 'double', 0, 1_000).catch(() => undefined)
    expect(a.ends).toEqual({ answered: 2, gone: 1, silent: 1, failed: 1 })
  })

  it('of a group any member may answer, and the first answer counts', async () => {
    const [{ bus: a }, { bus: b }, { bus: c }] = [await member('a'), await member('b'), await member('c')]
    for (const bus of [b, c]) await bus.join('hosts')
    b.serve('double', async () => undefined)
    c.serve('double', async (n) => 2 * n)
    expect(await a.askAny('hosts', 'double', 1, 1_000)).toEqual({ kind: 'answered', answer: 2 })
  })

  it('a published message reaches all subscribers, the publisher included', async () => {
    const [{ bus: a }, { bus: b }] = [await member('a'), await member('b')]
    const received: string[] = []
    await a.subscribe('words', (word) => received.push(`a ${word}`))
    await b.subscribe('words', (word) => received.push(`b ${word}`))
    a.publish('words', 'up')
    await expect.poll(() => received.toSorted()).toEqual(['a up', 'b up'])
  })

  it('closing ends all requests that wait', async () => {
    const [{ bus: a }, { bus: b }] = [await member('a'), await member('b')]
    b.serve('never', () => new Promise(() => undefined))
    const reply = a.ask('b', 'never', null, NEVER_MS)
    await a.close()
    expect(await reply).toEqual({ kind: 'silent' })
  })

  it('a process that closes answers what it was asked before; later requests are gone', async () => {
    const [{ bus: a }, { bus: b }] = [await member('a'), await member('b')]
    const asked = Promise.withResolvers<void>()
    const made = Promise.withResolvers<number>()
    b.serve('double', () => {
      asked.resolve()
      return made.promise
    })
    const before = a.ask('b', 'double', 1, NEVER_MS)
    await asked.promise
    const closed = b.close()
    const after = await a.ask('b', 'double', 2, NEVER_MS)
    made.resolve(2)
    await closed
    expect([await before, after]).toEqual([{ kind: 'answered', answer: 2 }, { kind: 'gone' }])
  })
})

describe('two versions side by side', () => {
  it('[Q15] understand each other as long as their ranges overlap', async () => {
    const [{ bus: old }, { bus: next }] = [await member('old', V1), await member('next', V2)]
    for (const bus of [old, next]) bus.serve('double', async (n) => 2 * n)
    const received: string[] = []
    for (const bus of [old, next]) await bus.subscribe('words', (word) => received.push(word))
    expect(await old.ask('next', 'double', 1, 1_000)).toEqual({ kind: 'answered', answer: 2 })
    expect(await next.ask('old', 'double', 2, 1_000)).toEqual({ kind: 'answered', answer: 4 })
    old.publish('words', 'from old')
    next.publish('words', 'from next')
    await expect.poll(() => received.toSorted()).toEqual(['from next', 'from next', 'from old', 'from old'])
    expect(reports).toEqual([])
  })

  it('[Q15] otherwise a request is gone at once, and nothing has been done', async () => {
    const [{ bus: old }, { bus: later }] = [await member('old', V1), await member('later', V3)]
    const served: number[] = []
    for (const bus of [old, later]) {
      bus.serve('double', async (n) => {
        served.push(n)
        return 2 * n
      })
    }
    expect(await old.ask('later', 'double', 1, NEVER_MS)).toEqual({ kind: 'gone' })
    expect(await later.ask('old', 'double', 1, NEVER_MS)).toEqual({ kind: 'gone' })
    expect(served).toEqual([])
    expect(reports).toEqual([
      { event: 'bus_request_declined', facts: { kind: 'double', reason: 'version' } },
      { event: 'bus_request_declined', facts: { kind: 'double', reason: 'version' } },
    ])
  })

  it('[Q15] of a group those that can read a request answer it', async () => {
    const { bus: asker } = await member('asker', V1)
    const [{ bus: later }, { bus: next }] = [await member('later', V3), await member('next', V2)]
    for (const bus of [later, next]) {
      await bus.join('hosts')
      bus.serve('double', async (n) => 2 * n)
    }
    expect(await asker.askAny('hosts', 'double', 4, NEVER_MS)).toEqual({ kind: 'answered', answer: 8 })
    await next.close()
    expect(await asker.askAny('hosts', 'double', 4, NEVER_MS)).toEqual({ kind: 'gone' })
  })

  it('[Q15] a kind that the other version does not know is gone at once', async () => {
    const [{ bus: a }] = [await member('a', V2), await member('b', V1)]
    expect(await a.ask('b', 'never', null, NEVER_MS)).toEqual({ kind: 'gone' })
    await a.ask('b', 'never', null, NEVER_MS)
    expect(reports, 'once').toEqual([{ event: 'bus_request_declined', facts: { kind: 'never', reason: 'kind' } }])
  })

  it('[Q15] a message of an unreadable version is dropped and reported', async () => {
    const [{ bus: old }, { bus: later }] = [await member('old', V1), await member('later', V3)]
    const received: string[] = []
    await old.subscribe('words', (word) => received.push(word))
    later.publish('words', 'lost')
    later.publish('words', 'lost as well')
    old.publish('words', 'read')
    await expect.poll(() => received).toEqual(['read'])
    expect(reported()).toEqual(['bus_message_unreadable'])
  })
})

describe('a damaged message', () => {
  it('[Q15] is reported and dropped', async () => {
    const { bus } = await member('a')
    const received: string[] = []
    await bus.subscribe('words', (word) => received.push(word))
    for (const message of ['not JSON', 'null', { is: 'order' }, { is: 'request', id: 'one' }]) send('to:a', message)
    for (const message of ['not JSON', { message: 'bare' }, { versions: V1, message: 7 }]) send('topic:words', message)
    bus.publish('words', 'sound')
    await expect.poll(() => received).toEqual(['sound'])
    expect(reports).toEqual([
      { event: 'bus_message_unreadable', facts: {} },
      { event: 'bus_message_unreadable', facts: { topic: 'words' } },
    ])
  })

  it('[Q15] a request with a damaged body is gone: it was not served', async () => {
    const [{ bus: a }, { bus: b }] = [await member('a'), await member('b')]
    const served: unknown[] = []
    b.serve('double', async (n) => served.push(n))
    const [request] = [a.ask('b', 'double', Number.NaN, NEVER_MS)] // NaN is null in JSON
    expect(await request).toEqual({ kind: 'gone' })
    expect(served).toEqual([])
    expect(reports).toEqual([{ event: 'bus_request_declined', facts: { kind: 'double', reason: 'body' } }])
  })

  it('[Q15] a request with a damaged answer is silent: it was served', async () => {
    const [{ bus: a }, { bus: b }] = [await member('a'), await member('b')]
    b.serve('double', async () => Number.NaN)
    expect(await a.ask('b', 'double', 1, NEVER_MS)).toEqual({ kind: 'silent' })
    expect(reports).toEqual([{ event: 'bus_answer_unreadable', facts: { kind: 'double' } }])
  })

  it('[Q15] an answer without a waiting request changes nothing', async () => {
    const { bus } = await member('a')
    for (const message of [
      { is: 'answer', versions: V1, id: 9, body: 1 },
      { is: 'failure', id: 9, error: 'away' },
      { is: 'declined', id: 9, reason: 'kind' },
    ])
      send('to:a', message)
    await turn()
    expect(bus.ends).toEqual({ answered: 0, gone: 0, silent: 0, failed: 0 })
    expect(reports).toEqual([])
  })
})
