import { afterEach, describe, expect, it } from 'vitest'
import { P } from '../support/fixtures.ts'
import { type FeedClient, FeedStand, until } from './realtime-rig.ts'

let stand: FeedStand
afterEach(() => stand.close())

const PLAYERS = 20
const ROUNDS = 100

describe('the fan-out', () => {
  it('ten thousand subscriptions and unsubscriptions leave each client with exactly what it follows', async () => {
    stand = await FeedStand.open({ players: PLAYERS, connectionsMax: 1_000 })
    const followed = new Map<FeedClient, Set<number>>()
    for (let n = 0; n < 10; n++) followed.set(await stand.client(String(n)), new Set())
    let turn = 7
    const chance = (below: number): number => (turn = (turn * 48_271) % 2_147_483_647) % below
    for (let round = 0; round < ROUNDS; round++) {
      stand.world.pass(1_000)
      for (const [client, set] of followed) {
        for (const type of ['subscribe', 'unsubscribe'] as const) {
          const numbers = Array.from({ length: 5 }, () => chance(PLAYERS) + 1)
          client.ask({ type, instrumentIds: numbers.map(P) })
          for (const n of numbers)
            if (type === 'subscribe') set.add(n)
            else set.delete(n)
        }
        client.ask({ type: 'ping', id: round })
      }
      stand.move(chance(PLAYERS) + 1)
      await until('all are answered', () => [...followed.keys()].every((c) => c.said.at(-1)?.['id'] === round))
    }
    for (let n = 1; n <= PLAYERS; n++) stand.move(n)
    // Moves of the rounds may still be under way.
    const news = (client: FeedClient) =>
      client.prices.filter(({ seq }) => seq > ROUNDS).map(({ instrumentId }) => instrumentId)
    for (const [client, set] of followed) {
      await until('its moves', () => news(client).length >= set.size)
      expect(news(client).toSorted()).toEqual([...set].map(P).toSorted())
    }
  })

  it('[W6] moves during a beat reach all subscribers, once and in order', async () => {
    stand = await FeedStand.open({ players: PLAYERS, connectionsMax: 1_000 })
    const clients: FeedClient[] = []
    // More than one turn of the event loop has time for, and some follow more than changes at a time, others less.
    for (let n = 0; n < 300; n++) {
      const client = await stand.client(String(n % 40))
      client.ask({
        type: 'subscribe',
        instrumentIds: n % 2 === 0 ? [P(1), P(2)] : Array.from({ length: 20 }, (_, i) => P(i + 1)),
      })
      clients.push(client)
    }
    await until('all follow', () => clients.every((client, n) => client.prices.length === (n % 2 === 0 ? 2 : PLAYERS)))
    let last = 0
    for (let round = 0; round < 10; round++) {
      stand.move(1)
      await new Promise(setImmediate)
      stand.move(2)
      stand.move(3)
      last += 3
      await new Promise(setImmediate)
    }
    const lastOf = (client: FeedClient, n: number) =>
      client.prices.findLast(({ instrumentId }) => instrumentId === P(n))
    await until('the last is with all', () => clients.every((client) => lastOf(client, 2)?.seq === last - 1))
    for (const client of clients) {
      const seqs = client.prices.filter(({ seq }) => seq > 0).map(({ seq }) => seq)
      expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
      expect(lastOf(client, 1)?.seq).toBe(last - 2)
    }
  })
})
