import { afterEach, describe, expect, it, vi } from 'vitest'
import { FanOut } from '../../rooms/feed/fan-out.ts'
import { Subscriber } from '../../rooms/feed/subscriber.ts'
import { noTraffic } from '../../rooms/stats.ts'
import { PriceBoard } from '../../rooms/feed/price-board.ts'
import { asMessage, FLAG } from '../../rooms/feed/price-frame.ts'
import { WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { KICK_OFF, MATCH, P } from '../support/fixtures.ts'
import { priceOf, type SocketPair, socketPair, stall, until } from './realtime-rig.ts'

let pair: SocketPair
const deadline = new WriteDeadline()
const traffic = noTraffic()
afterEach(async () => {
  vi.useRealTimers()
  deadline.stop()
  await pair.close()
})

describe('a socket that cannot keep up', () => {
  it('[W15] gets only the newest price of each instrument that moved, in the order of the moves, flagged as conflated', async () => {
    pair = await socketPair()
    const { ws, client } = pair
    const board = new PriceBoard<Subscriber>()
    const topics = board.open(MATCH, 1, [priceOf(1, 0), priceOf(2, 0)])
    const socket = new Subscriber({ ws, socket: pair.socket, deadline, traffic, pack: asMessage })
    socket.flush(board.stamp)
    for (const topic of topics) socket.topics.push(topic)

    await stall(pair)
    for (const move of [priceOf(1, 1), priceOf(2, 2), priceOf(1, 3)]) board.publish(move)
    expect(socket.serve(board.stamp)).toBe(false)
    client.ws.resume()
    await until('it has drained', () => socket.serve(board.stamp))
    await until('both prices', () => client.prices.length === 2)
    expect(client.prices).toMatchObject([
      { instrumentId: P(2), seq: 2, flags: 0 },
      { instrumentId: P(1), seq: 3, flags: FLAG.conflated },
    ])

    expect(traffic, 'counted for operators').toEqual({ writes: 1, prices: 2, conflated: 1 })

    // And nothing twice.
    socket.serve(board.stamp)
    board.publish(priceOf(1, 4))
    socket.serve(board.stamp)
    await until('the next move', () => client.prices.length === 3)
    expect(client.prices[2]).toMatchObject({ seq: 4, flags: 0 })
  })

  it('is tried at every beat until it leaves; then the fan-out is idle', async () => {
    pair = await socketPair()
    const moves = [priceOf(1, 1)]
    const source = {
      matchId: MATCH,
      epoch: 1,
      currentPrices: () => [priceOf(1, 0)],
      takePrices: () => moves.splice(0),
    }
    const fanOut = new FanOut({ clock: { now: () => KICK_OFF }, report: () => undefined })
    const late = new Subscriber({ ws: pair.ws, socket: pair.socket, deadline, traffic, pack: asMessage })
    await stall(pair)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate'] })
    fanOut.open(source)
    fanOut.follow(late, P(1))
    fanOut.moved(source)
    vi.advanceTimersByTime(1_000)
    expect(moves).toEqual([])
    expect(vi.getTimerCount(), 'the next try').toBe(1)
    fanOut.forget(late)
    vi.advanceTimersByTime(1_000)
    expect(vi.getTimerCount()).toBe(0)
  })
})
