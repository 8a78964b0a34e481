import { afterEach, describe, expect, it } from 'vitest'
import { Subscriber } from '../../rooms/subscriber.ts'
import { noTraffic } from '../../rooms/figures.ts'
import { PriceBoard } from '../../rooms/price-board.ts'
import { asMessage, FLAG } from '../../rooms/price-frame.ts'
import { WriteDeadline } from '../../rooms/write-deadline.ts'
import { MATCH, P } from '../support/fixtures.ts'
import { priceOf, type SocketPair, socketPair, stall, until } from './arena.ts'

let pair: SocketPair
const deadline = new WriteDeadline()
const traffic = noTraffic()
afterEach(async () => {
  deadline.stop()
  await pair.close()
})

describe('a socket that cannot keep up', () => {
  it('[W24] gets only the newest price of what moved meanwhile, in the order of the moves, marked as conflated', async () => {
    pair = await socketPair()
    const { ws, client } = pair
    const board = new PriceBoard<Subscriber>()
    const topics = board.open(MATCH, 1, [priceOf(1, 0), priceOf(2, 0)])
    const socket = new Subscriber({ ws, socket: pair.socket, deadline, traffic, pack: asMessage })
    socket.flush(board.stamp)
    for (const topic of topics) socket.topics.add(topic)

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

    expect(traffic, 'counted for operators').toEqual({ writes: 1, prices: 2, conflated: 1 }) // Z10

    // And nothing twice.
    socket.serve(board.stamp)
    board.publish(priceOf(1, 4))
    socket.serve(board.stamp)
    await until('the next move', () => client.prices.length === 3)
    expect(client.prices[2]).toMatchObject({ seq: 4, flags: 0 })
  })
})
