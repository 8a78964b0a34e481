import { tmpdir } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { OwnRedis } from '../../ops/rehearse/rig/redis.ts'
import { P, u } from '../support/fixtures.ts'
import { ServerRig } from '../support/server-rig.ts'
import {
  type Answer,
  type HttpClient,
  type Order,
  type PositionSeen,
  read,
  CloseAnswer,
} from '../support/http-client.ts'
import { PATIENCE } from '../support/composed-server.ts'
import { eachDataPlace, embeddedPlace, onServers, type ServerPlace } from '../support/data-place.ts'
import { hasTool } from '../support/tool.ts'

const HOLD_SECS = 180

/** An order at the starting price; the nth player of match m is 10m + n. */
const order = (player: number, over: Partial<Order> = {}): Order => ({
  instrumentId: P(player),
  direction: 'long',
  lotSize: 1,
  clientPrice: 200,
  ...over,
})

const codeOf = ({ status, body }: Answer): string =>
  status < 300 ? String(status) : z.looseObject({ code: z.string() }).parse(body).code
const isRepeated = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true'
const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)

/** Asks again with the same key, as the answer says, until the outcome is known: a busy machine answers late. */
async function outcomeOf(client: HttpClient, wanted: Order, key: string): Promise<Answer> {
  for (;;) {
    const answer = await client.open(wanted, key)
    if (answer.status !== 503 && codeOf(answer) !== 'KEY_IN_FLIGHT') return answer
    await pause(100)
  }
}

/** Checks to the millionth that the wallet follows from its owner's positions. */
async function expectExact(client: HttpClient): Promise<readonly PositionSeen[]> {
  const [wallet, positions] = [await client.wallet(), await client.positions('all')]
  const open = positions.filter(({ status }) => status === 'open')
  const margins = sum(open.map((p) => u(p.margin)))
  expect(u(wallet.marginUsed)).toBe(margins)
  expect(u(wallet.balance)).toBe(u(10_000) - margins + sum(positions.map((p) => u(p.realizedPnl ?? 0))))
  expect(wallet.balance).toBeGreaterThanOrEqual(0)
  return positions
}

eachDataPlace((settle) => {
  let rig: ServerRig
  beforeAll(async () => {
    rig = await ServerRig.open(await settle(), { matches: 4 })
  })
  afterAll(() => rig.close())

  it('[A6] the same key 200 times at once opens one position; the other answers repeat it or do not know it yet', async () => {
    const ada = await rig.user('Ada X1')
    const answers = await Promise.all(Array.from({ length: 200 }, () => ada.open(order(11), 'once')))
    const again = await outcomeOf(ada, order(11), 'once')
    expect([again.status, isRepeated(again)]).toEqual([201, true])
    const fresh = answers.filter((answer) => answer.status === 201 && !isRepeated(answer))
    expect(fresh).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.body).toEqual(again.body)
      else expect(codeOf(answer)).toBeOneOf(['KEY_IN_FLIGHT', 'UNKNOWN_OUTCOME'])
    }
    expect(await expectExact(ada)).toHaveLength(1)
  })

  it('[X1] of 300 orders at once a wallet that can pay for one opens one, while other users keep trading', async () => {
    const [ada, bob] = [await rig.user('Ada X2'), await rig.user('Bob X2')]
    const dear = order(12, { lotSize: 90 })
    const orders = Promise.all(Array.from({ length: 300 }, (_, n) => ada.open(dear, `order ${n}`)))
    const meanwhile = outcomeOf(bob, order(11), 'meanwhile')
    const answers = await orders
    const codes = Map.groupBy(answers, codeOf)
    expect(codes.get('201')).toHaveLength(1)
    // The others are refused for lack of margin or because the match is busy.
    const others = new Set(codes.keys()).difference(new Set(['201', 'BUSY', 'UNKNOWN_OUTCOME']))
    expect([...others]).toEqual(['INSUFFICIENT_MARGIN'])
    expect(codeOf(await meanwhile)).toBe('201')
    expect(await expectExact(ada)).toHaveLength(1)
    await rig.jump(3) // requests that still wait have timed out
    expect(codeOf(await ada.open(dear, 'afterwards'))).toBe('INSUFFICIENT_MARGIN')
  })

  it('[X2] one key in two matches at the same moment trades in one of them; the other answers KEY_REUSED', async () => {
    const ada = await rig.user('Ada X3')
    for (let n = 0; n < 20; n++) {
      const [here, there] = [order(13, { lotSize: 0.1 }), order(21, { lotSize: 0.1 })]
      const answers = await Promise.all([here, there].map((one) => outcomeOf(ada, one, `key ${n}`)))
      expect(answers.map(codeOf).toSorted()).toEqual(['201', 'KEY_REUSED'])
      const [first, second] = answers[0]?.status === 201 ? [here, there] : [there, here]
      expect(isRepeated(await ada.open(first, `key ${n}`))).toBe(true)
      expect(codeOf(await ada.open(second, `key ${n}`))).toBe('KEY_REUSED')
    }
    expect(await expectExact(ada)).toHaveLength(20)
  })

  it('[X3] a stop-loss that is moved while the price reaches it either moves in time or fires at its old level', async () => {
    const [far, near] = [195, 199.99]
    const seen = new Set<string>()
    for (let n = 0; n < 24; n++) {
      // Twenty lots push the price down by 0.02. Four players take turns, so each order starts near 200.
      const [ada, bob] = await rig.users(`X4 ${n}`, 2)
      const player = present([22, 23, 24, 14][n % 4], 'player')
      const { position } = await present(ada, 'Ada').opens(order(player, { lotSize: 0.01 }))
      // A level may be near once the position may be closed.
      await rig.jump(HOLD_SECS)
      const { currentPrice } = await present(ada, 'Ada').instrument(P(player))
      const at = (level: number): number => (u(level) - u(200) + u(currentPrice)) / u(1)
      const [before, after] = n % 2 === 0 ? [far, near] : [near, far]
      expect(codeOf(await present(ada, 'Ada').change(position.id, { stopLoss: at(before) }))).toBe('200')
      const pushing = order(player, { direction: 'short', lotSize: 20, clientPrice: currentPrice })
      const requests = [
        () => present(ada, 'Ada').change(position.id, { stopLoss: at(after) }),
        () => present(bob, 'Bob').open(pushing),
      ]
      const answers = await Promise.all((n % 3 === 0 ? requests.toReversed() : requests).map((request) => request()))
      const [change] = n % 3 === 0 ? answers.toReversed() : answers
      const [held] = await expectExact(present(ada, 'Ada'))
      const outcome = codeOf(present(change, 'the answer to the change'))
      seen.add(`${before} → ${after}: ${outcome}, ${held?.status}`)
      expect(['200', 'POSITION_NOT_OPEN', 'LEVELS_INVALID']).toContain(outcome)
      expect(held?.stopLoss).toBe(outcome === '200' ? at(after) : at(before))
      if (held?.status === 'closed') {
        expect(held.closedBy).toBe('stop_loss')
        expect(held.closePrice).toBeLessThanOrEqual(held.stopLoss ?? NaN)
      } else {
        expect(held?.exitPrice).toBeGreaterThan(held?.stopLoss ?? NaN)
      }
    }
    expect(seen.size, [...seen].join('; ')).toBeGreaterThan(1)
  })

  it('[X4] many closes of one position at once close it once; the others get the closed position', async () => {
    const [ada, bob] = await rig.users('X5', 2)
    const { position } = await present(ada, 'Ada').opens(order(31))
    await present(bob, 'Bob').opens(order(31, { lotSize: 20 }))
    await rig.jump(HOLD_SECS)
    const client = present(ada, 'Ada')
    const [{ exitPrice } = { exitPrice: NaN }] = await client.positions()
    const keys = Array.from({ length: 20 }, (_, n) => `close ${n}`)
    const answers = await Promise.all(keys.map((key) => client.close(position.id, key)))
    const done = answers.filter(({ status }) => status === 200)
    expect(done).toHaveLength(1)
    const closed = read(present(done[0], 'a close'), 200, CloseAnswer)
    expect(closed.position).toMatchObject({ closedBy: 'user', closePrice: exitPrice })
    expect(u(closed.position.realizedPnl ?? NaN)).toBe(5 * (u(exitPrice) - u(position.openPrice)))
    for (const [n, answer] of answers.entries()) {
      const again = await client.close(position.id, present(keys[n], 'key'))
      if (answer.status === 200) {
        expect(isRepeated(again)).toBe(true)
        expect(again.body).toEqual(answer.body)
        continue
      }
      for (const { status, body } of [answer, again]) {
        expect({ status, body }).toMatchObject({
          status: 409,
          body: { code: 'POSITION_NOT_OPEN', position: closed.position },
        })
      }
    }
    expect(await expectExact(client)).toHaveLength(1)
  })

  it('[X5] of a close and a settlement at the same time one wins, and its price counts', async () => {
    const users = await rig.users('X6', 40)
    const held = await Promise.all(
      users.map(async (user, n) => {
        const { position } = await user.opens(order(41, { direction: n % 3 === 0 ? 'short' : 'long' }))
        return { user, position }
      }),
    )
    await rig.jump(HOLD_SECS)
    const closing = held.map(({ user, position }) => user.close(position.id, 'leaving'))
    await Promise.race(closing)
    await rig.ends(4)
    const answers = await Promise.all(closing)
    await vi.waitUntil(
      async () => (await Promise.all(users.map((user) => user.positions()))).flat().length === 0,
      PATIENCE,
    )

    const prices = new Set<number | null>()
    for (const [n, answer] of answers.entries()) {
      const { user } = present(held[n], 'holding')
      const [position, ...more] = await expectExact(user)
      expect(more).toEqual([])
      expect(['200', 'POSITION_NOT_OPEN', 'MARKET_CLOSED']).toContain(codeOf(answer))
      if (answer.status === 200) {
        expect(position).toMatchObject({ closedBy: 'user' })
        expect(read(answer, 200, CloseAnswer).position).toEqual(position)
      } else {
        expect(position).toMatchObject({ closedBy: 'full_time' })
        prices.add(position?.closePrice ?? null)
      }
    }
    expect(prices.size, 'settlement prices').toBeLessThanOrEqual(1)
  })
})

onServers((settle) => {
  let place: ServerPlace
  let rig: ServerRig
  beforeAll(async () => {
    place = await settle()
    rig = await ServerRig.open(place)
  })
  afterAll(() => rig.close())

  it('[D5] a change to a cached wallet is adopted and booked, or ignored; money is never lost', async () => {
    const ada = await rig.user('Ada X7')
    const { userId } = await ada.get('/api/me', z.looseObject({ userId: z.string() }))
    const hash = `wallet:${userId}`
    const { redis } = place
    const cached = async (balance: string) =>
      vi.waitUntil(async () => (await redis.hget(hash, 'balance')) === balance, PATIENCE)
    const adjustments = async () => {
      const rows = await place.look(({ db }) =>
        db
          .selectFrom('ledger_entries')
          .select('amount_micros')
          .where('user_id', '=', userId)
          .where('kind', '=', 'external_adjustment')
          .orderBy('at')
          .execute(),
      )
      return rows.map((row) => row.amount_micros)
    }
    let balance = u(10_000)
    const opens = async (adjusted: number) => {
      const { currentPrice } = await ada.instrument(P(11))
      const { position, wallet } = await ada.opens(order(11, { lotSize: 0.1, clientPrice: currentPrice }))
      balance += adjusted - u(position.margin)
      expect(u(wallet.balance)).toBe(balance)
    }
    await opens(0)
    await cached(String(balance / u(1)))

    await redis.hset(hash, 'balance', String((balance - u(250.5)) / u(1)))
    await opens(u(-250.5))
    expect(await adjustments()).toEqual([u(-250.5)])
    await cached(String(balance / u(1)))

    const version = Number(await redis.hget(hash, 'version'))
    await redis.hset(hash, { balance: '1000000', version: String(version - 1) })
    expect(u((await ada.wallet()).balance), 'stale').toBe(balance)
    await opens(0)

    await redis.del(hash)
    expect(u((await ada.wallet()).balance), 'deleted').toBe(balance)
    await opens(0)
    await cached(String(balance / u(1)))

    for (const garbage of ['', ' ', '\t', 'NaN', '-1', '-0.000001', '1e400', 'Infinity', '1e300', '0.0000001', '{}']) {
      await redis.hset(hash, 'balance', garbage)
      expect(u((await ada.wallet()).balance), `a balance of "${garbage}"`).toBe(balance)
      await opens(0)
    }
    for (const garbage of ['', ' ', 'NaN', 'one', '1.5', '{}']) {
      await redis.hset(hash, { balance: '77', version: garbage })
      expect(u((await ada.wallet()).balance), `a version of "${garbage}"`).toBe(balance)
      await opens(0)
    }
    await redis.del(hash)
    await redis.set(hash, 'not a hash')
    expect(u((await ada.wallet()).balance), 'another type').toBe(balance)
    await opens(0)
    await redis.del(hash)
    await opens(0)
    await cached(String(balance / u(1)))
    expect(await adjustments()).toEqual([u(-250.5)])
  })
})

/** This suite starts and kills its own Redis. */
describe.skipIf(!hasTool('redis-server'))('while Redis is unavailable', () => {
  let redis: OwnRedis
  let rig: ServerRig
  beforeAll(async () => {
    redis = await OwnRedis.start(tmpdir())
    const place = await embeddedPlace()
    rig = await ServerRig.open({ ...place, env: { ...place.env, REDIS_URL: redis.url } })
  })
  afterAll(async () => {
    try {
      await rig.close(/"wallet_cache_failed"|"ready_check_failed"|"task":"board-refresh"/)
    } finally {
      await redis.kill()
    }
  })

  it('[X6] trading continues and /ready fails; when Redis returns, the balances are cached again', async () => {
    const ada = await rig.user('Ada X8')
    const { userId } = await ada.get('/api/me', z.looseObject({ userId: z.string() }))
    const readiness = async () =>
      z.looseObject({ checks: z.unknown() }).parse((await ada.request('GET', '/ready')).body)
    expect(await readiness()).toMatchObject({ status: 'ready', checks: { database: 'ok', fastStore: 'ok', bus: 'ok' } })
    const trade = async (key: string) => {
      const { currentPrice } = await ada.instrument(P(11))
      return ada.opens(order(11, { lotSize: 0.1, clientPrice: currentPrice }), key)
    }
    // Some trades are under way when Redis is killed.
    const trades = Array.from({ length: 20 }, (_, n) => trade(`key ${n}`))
    await Promise.race(trades)
    await redis.kill()
    await Promise.all(trades)
    await vi.waitUntil(async () => (await ada.request('GET', '/ready')).status === 503, PATIENCE)
    expect(await readiness()).toMatchObject({ code: 'NOT_READY', checks: { database: 'ok', fastStore: 'failed' } })
    await trade('without')
    expect(await expectExact(ada)).toHaveLength(21)

    await redis.start()
    await vi.waitUntil(async () => (await ada.request('GET', '/ready')).status === 200, PATIENCE)
    const { wallet } = await trade('with')
    const client = new Redis(redis.url)
    await vi.waitUntil(
      async () => (await client.hget(`wallet:${userId}`, 'balance')) === String(wallet.balance),
      PATIENCE,
    )
    await client.quit()
    expect(await expectExact(ada)).toHaveLength(22)
  })

  it('[X6] a Redis that hangs delays trades, but refuses none', async () => {
    const ada = await rig.user('Ada X9')
    redis.freeze()
    const answer = await vi.waitUntil(async () => {
      const tried = await ada.open(order(12), 'patience')
      return tried.status === 503 ? undefined : tried
    }, PATIENCE)
    expect(answer.status).toBe(201)
    redis.wake()
    expect(await expectExact(ada)).toHaveLength(1)
  })
})
