import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Bus } from '../../rooms/cluster/bus.ts'
import { FanOut } from '../../rooms/feed/fan-out.ts'
import { Peers } from '../../rooms/cluster/peers.ts'
import { PROTOCOL } from '../../rooms/cluster/protocol.ts'
import { decodePriceFrame, type PublishedPrice } from '../../rooms/feed/price-frame.ts'
import { pricesIn } from '../../rooms/cluster/remote-match.ts'
import { type Hosted, RemotePrices } from '../../rooms/cluster/remote-prices.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import type { Subscriber } from '../../rooms/feed/subscriber.ts'
import { MATCH, P, U } from '../support/fixtures.ts'
import { type MemoryEnd, MemoryNetwork } from '../support/pub-sub-memory.ts'
import { TestWorld } from '../support/test-world.ts'
import { priceOf, until } from './realtime-rig.ts'

let network: MemoryNetwork
let owner: string | null
let closing: (() => Promise<void>)[]
beforeEach(() => {
  network = new MemoryNetwork()
  owner = 'owner'
  closing = []
})
afterEach(async () => {
  for (const close of closing) await close()
})

const asItIs = (frame: Buffer): Buffer => frame

/** A process with prices of its own, and those of others. */
async function process(name: string) {
  const end: MemoryEnd = network.end()
  const bus = new Bus({ pubSub: end, processId: name, protocol: PROTOCOL, report: () => undefined })
  const world = new TestWorld()
  const ownership = { ownerOf: async () => owner }
  const peers = new Peers({ bus, ownership, world })
  const fanOut = new FanOut({ clock: world.steady, report: () => undefined })
  const current: PublishedPrice[] = []
  /** Has moved, and waits for its number. */
  const uncollected: PublishedPrice[] = []
  const appended: string[] = []
  let retired = 0
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const source = {
    matchId: MATCH,
    get epoch() {
      return current[0]?.epoch ?? 0
    },
    get seq() {
      return Math.max(...current.filter((price) => !uncollected.includes(price)).map((price) => price.seq))
    },
    currentPrices: () => current,
    takePrices: () => {
      const taken = uncollected.splice(0)
      prices.relay.prices(taken)
      return taken
    },
  }
  const match: Hosted = { leaving: null, closed, source, retire: async () => void retired++ }
  const prices = new RemotePrices({
    bus,
    peers,
    fanOut,
    hosted: { get: () => (current.length > 0 ? match : undefined) },
    logAppended: (user) => appended.push(user),
    report: () => undefined,
  })
  await bus.open()
  await prices.open()
  closing.push(async () => {
    fanOut.stop()
    await bus.close()
  })
  /** The number of the price that a subscriber would be shown. */
  const shown = (n: number): number | undefined => {
    const [frame] = fanOut.catchUp([P(n)], asItIs).bytes
    return frame === undefined ? undefined : decodePriceFrame(frame)?.seq
  }
  return { end, fanOut, prices, current, uncollected, appended, shown, close, retired: () => retired }
}

async function pair() {
  const [there, here] = [await process('owner'), await process('here')]
  there.current.push(priceOf(1, 4), priceOf(2, 5))
  return { there, here }
}

/** What the owner publishes: it stands, and is told. */
function moves(there: Awaited<ReturnType<typeof process>>, price: PublishedPrice): void {
  const n = there.current.findIndex(({ instrumentId }) => instrumentId === price.instrumentId)
  there.current[n] = price
  there.prices.relay.prices([price])
}

describe('prices of other processes', () => {
  it('[Q9] arrive as current prices once a match is followed, then move by move', async () => {
    const { there, here } = await pair()
    expect(here.fanOut.publishes(P(1))).toBe(false)
    expect(await here.prices.follow(MATCH)).toBe(true)
    expect([here.shown(1), here.shown(2)]).toEqual([4, 5])
    moves(there, priceOf(1, 6))
    moves(there, priceOf(1, 7))
    await until('the moves are here', () => here.fanOut.publishes(P(1)) && here.shown(1) === 7)
    const missed = Buffer.concat(here.fanOut.catchUp([P(1)], asItIs, { epoch: 1, seq: 5 }).bytes)
    expect(pricesIn(missed).map(({ seq }) => seq)).toEqual([6, 7])
    expect(await here.prices.follow(MATCH)).toBe(true)
  })

  it('[Q9] are requested again after a missing number, a broken connection or a change of owner', async () => {
    const { there, here } = await pair()
    await here.prices.follow(MATCH)
    here.end.cut()
    moves(there, priceOf(2, 6))
    await new Promise(setImmediate)
    here.end.mend()
    await until('asked after the gap', () => here.shown(2) === 6)

    there.current[1] = priceOf(2, 7) // not published
    moves(there, priceOf(1, 8))
    await until('asked after a missing number', () => here.shown(2) === 7 && here.shown(1) === 8)

    const next = await process('next')
    next.current.push({ ...priceOf(1, 1), epoch: 2 }, { ...priceOf(2, 1), epoch: 2 })
    there.current.splice(0)
    owner = 'next'
    next.prices.relay.opened({ matchId: MATCH, epoch: 2 })
    await until('the prices of the next owner', () => here.shown(1) === 1 && here.shown(2) === 1)
  })

  it('[Q9] a move that is in the current prices is not published again', async () => {
    const { there, here } = await pair()
    const move = priceOf(1, 6)
    there.current[0] = move
    there.uncollected.push(move)
    await here.prices.follow(MATCH)
    expect(here.shown(1)).toBe(6)
    // It has its number by then; one given later would be told as news.
    expect(there.uncollected).toEqual([])
  })

  it('[Q8] a match whose opening was missed is found by its next announcement', async () => {
    const { there, here } = await pair()
    const [other, listed] = [fixtureId(MATCH + 1), { ...priceOf(3, 1), matchId: fixtureId(MATCH + 1) }]
    const follower = { topics: [], served: 0, serve: () => true } as unknown as Subscriber
    await here.prices.follow(MATCH)
    here.fanOut.follow(follower, P(1))
    // It opens while nothing arrives, and says later that it runs.
    there.current.push(listed)
    there.prices.relay.opened({ matchId: other, epoch: 1 })
    await until('it is followed', () => here.fanOut.publishes(P(3)))
    // A match that could not be asked for is asked for again by that word, too.
    there.end.cut()
    here.end.cut()
    here.end.mend()
    expect(await here.prices.follow(MATCH)).toBe(false)
    there.end.mend()
    there.prices.relay.opened({ matchId: MATCH, epoch: 1 })
    await expect.poll(() => here.prices.follow(MATCH)).toBe(true)
  })

  it('[Q7] a former owner that closes or answers late changes nothing', async () => {
    const { there, here } = await pair()
    await here.prices.follow(MATCH)
    const next = await process('next')
    next.current.push({ ...priceOf(1, 1), epoch: 2 })
    owner = 'next'
    next.prices.relay.opened({ matchId: MATCH, epoch: 2 })
    there.prices.relay.closed({ matchId: MATCH, epoch: 1 })
    await until('the prices of the next owner', () => here.shown(1) === 1)
    there.prices.relay.closed({ matchId: MATCH, epoch: 1 })
    there.prices.relay.logAppended([U(1)])
    await until('the message after it', () => here.appended.length > 0)
    expect(here.fanOut.publishes(P(1))).toBe(true)
    // Asked by mistake, the former owner answers with its last state of the match.
    owner = 'owner'
    next.end.cut()
    here.end.cut()
    here.end.mend()
    expect(await here.prices.follow(MATCH)).toBe(false)
    expect(here.shown(1)).toBe(1)
  })

  it('[Q7] the end of the former owner, told late, closes nothing of the process that runs the match by then', async () => {
    const { there, here } = await pair()
    await here.prices.follow(MATCH)
    here.current.push({ ...priceOf(1, 9), epoch: 2 })
    here.fanOut.open({ matchId: MATCH, epoch: 2, currentPrices: () => here.current, takePrices: () => [] })
    there.prices.relay.closed({ matchId: MATCH, epoch: 1 })
    there.prices.relay.logAppended([U(1)])
    await until('the message after it', () => here.appended.length > 0)
    expect([here.fanOut.publishes(P(1)), here.shown(1)]).toEqual([true, 9])
  })

  it('[Q7] a match that another process has taken over leaves this one, which then shows the prices of that one', async () => {
    const { there, here: next } = await pair()
    const follower = { topics: [], served: 0, serve: () => true } as unknown as Subscriber
    there.fanOut.open({ matchId: MATCH, epoch: 1, currentPrices: () => there.current, takePrices: () => [] })
    there.fanOut.follow(follower, P(1))
    next.current.push({ ...priceOf(1, 9), epoch: 1 })
    next.prices.relay.opened({ matchId: MATCH, epoch: 1 }) // no newer than this one
    next.prices.relay.logAppended([U(1)])
    await until('the message after it', () => there.appended.length > 0)
    expect([there.retired(), there.shown(1)]).toEqual([0, 4])
    next.current[0] = { ...priceOf(1, 9), epoch: 2 }
    owner = 'here'
    next.prices.relay.opened({ matchId: MATCH, epoch: 2 })
    await until('it leaves', () => there.retired() === 1)
    there.current.splice(0)
    there.close()
    await until('the prices of the next owner', () => there.shown(1) === 9)
  })

  it('a match without an owner cannot be followed, and a closed one is no longer published', async () => {
    const { there, here } = await pair()
    await here.prices.follow(MATCH)
    there.prices.relay.closed({ matchId: MATCH, epoch: 1 })
    await until('it is closed here, too', () => !here.fanOut.publishes(P(1)))
    there.current.splice(0)
    owner = 'dead'
    expect(await here.prices.follow(MATCH)).toBe(false)
  })

  it('the users whose account logs have appended are published to all processes', async () => {
    const { there, here } = await pair()
    there.prices.relay.logAppended([U(1), U(2)])
    await until('received', () => here.appended.length === 2)
    expect(here.appended).toEqual([U(1), U(2)])
  })
})
