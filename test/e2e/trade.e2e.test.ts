import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { u } from '../support/fixtures.ts'
import { ComposedServer, CONFIRM_SECS, MATCH_SECS, PATIENCE } from '../support/composed-server.ts'
import { pick, type PositionSeen, read, CloseAnswer, TradeAnswer } from '../support/http-client.ts'
import { eachDataPlace, onServers, type ServerPlace } from '../support/data-place.ts'

const HOLD_SECS = 180

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0)
const pnlOf = (positions: readonly PositionSeen[]): number => sum(positions.map((p) => u(p.realizedPnl ?? NaN)))

eachDataPlace((settle) => {
  let server: ComposedServer
  beforeAll(async () => {
    server = await ComposedServer.open(await settle())
  })
  afterAll(() => server.close())

  it('a new user signs in, requests a quote, and opens at exactly the quoted price', async () => {
    const ada = await server.user('Ada E1')
    const Me = z.looseObject({ loggedIn: z.literal(true), username: z.literal('ada_e1') })
    expect((await ada.get('/api/me', Me))['wallet']).toMatchObject({ balance: 10_000, marginUsed: 0, equity: 10_000 })

    const player = pick(await ada.instruments())
    const order = { instrumentId: player.id, direction: 'short', lotSize: 0.5 } as const
    const quote = await ada.quote(order)
    expect(quote.refusal).toBeNull()
    expect(await ada.wallet(), 'a quote costs nothing').toMatchObject({ balance: 10_000 })

    const { position, wallet } = await ada.opens({ ...order, clientPrice: player.currentPrice })
    expect(position).toMatchObject({ openPrice: quote.fillPrice, margin: quote.margin, unrealizedPnl: 0 })
    // Price × lots × 5 ÷ 10, rounded up.
    expect(u(position.margin)).toBe(Math.ceil(u(position.openPrice) / 4))
    expect(u(wallet.balance)).toBe(u(10_000) - u(position.margin))
    expect(wallet).toMatchObject({ marginUsed: position.margin, unrealizedPnl: 0, equity: wallet.balance })
    expect(await ada.wallet()).toEqual(wallet)
    expect(await ada.positions()).toEqual([position])

    const moved = await ada.instrument(player.id)
    expect(u(moved.net_position_imbalance)).toBe(u(player.net_position_imbalance) - u(0.5))
    expect(position).toMatchObject({ currentPrice: moved.currentPrice, exitPrice: position.openPrice })
    expect(moved.currentPrice).toBeLessThan(position.openPrice)
  })

  it('[A5] a retry with the same key repeats the answer without a second effect; another request with it is refused', async () => {
    const ada = await server.user('Ada E2')
    const player = pick(await ada.instruments())
    const order = { instrumentId: player.id, direction: 'long', lotSize: 1, clientPrice: player.currentPrice } as const
    const [first, racing] = await Promise.all([ada.open(order, 'once'), ada.open(order, 'once')])
    const again = await ada.open(order, 'once')
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const racers = [first, racing].map(({ status, body }) =>
      isDeepStrictEqual(body, again.body) ? 'answered' : status === 409 ? 'in flight' : 'second effect',
    )
    expect(racers).toContain('answered')
    expect(racers).not.toContain('second effect')

    const other = await ada.open({ ...order, lotSize: 2 }, 'once')
    expect(other).toMatchObject({ status: 409, body: { error: 'duplicate request; please retry', code: 'KEY_REUSED' } })
    expect(await ada.positions()).toHaveLength(1)
    const bob = await server.user('Bob E2')
    expect((await bob.open(order, 'once')).headers.get('idempotent-replayed'), 'keys belong to one user').toBeNull()
  })

  it("refusals have the specification's error texts, and cost nothing", async () => {
    const ada = await server.user('Ada E3')
    const { id, currentPrice } = pick(await ada.instruments(), (i) => i.position === 'FWD')
    const order = { instrumentId: id, direction: 'long', lotSize: 1, clientPrice: currentPrice } as const
    const unknown = '00000000-0000-7000-8000-000000000000'

    const cent = (price: number): number => Math.round(price * 100) / 100
    const refused = [
      [{ ...order, clientPrice: cent(currentPrice * 1.03) }, 409, { error: 'PRICE_MOVED', code: 'PRICE_MOVED' }],
      [{ ...order, clientPrice: cent(currentPrice * 0.97) }, 409, { error: 'PRICE_MOVED', currentPrice }],
      [{ ...order, lotSize: 100 }, 422, { error: 'insufficient margin', available: 10_000 }],
      [{ ...order, lotSize: 0.015 }, 422, { error: 'lot size invalid', minLot: 0.01, maxLot: 100, lotStep: 0.01 }],
      [{ ...order, lotSize: 100.01 }, 422, { error: 'lot size invalid' }],
      [{ ...order, stopLoss: cent(currentPrice * 1.1) }, 422, { code: 'LEVELS_INVALID', error: LEVELS }],
      [{ ...order, direction: 'short', takeProfit: cent(currentPrice * 1.1) }, 422, { error: LEVELS }],
      [{ ...order, instrumentId: unknown }, 404, { error: 'not found', what: 'instrument' }],
      [{ ...order, instrumentId: 'no-uuid' }, 400, { error: 'validation failed' }],
    ] as const
    const { clientPrice: _, ...quoted } = order
    for (const [wrong, status, body] of refused) {
      expect(await ada.open(wrong), JSON.stringify(wrong)).toMatchObject({ status, body })
    }
    expect((await ada.quote({ ...quoted, lotSize: 100 })).refusal).toMatchObject({ code: 'INSUFFICIENT_MARGIN' })
    expect(await ada.wallet()).toMatchObject({ balance: 10_000, marginUsed: 0 })
    expect(await ada.positions('all')).toEqual([])

    // The largest size offered is the largest the wallet can pay for.
    const { maxLotSize } = await ada.quote(quoted)
    const { wallet } = await ada.opens({ ...order, lotSize: maxLotSize })
    expect(wallet.balance).toBeGreaterThanOrEqual(0)
    expect(await ada.open({ ...order, lotSize: 1 })).toMatchObject({
      status: 422,
      body: { code: 'INSUFFICIENT_MARGIN' },
    })

    const bob = await server.user('Bob E3')
    const [adas] = await ada.positions()
    const missing = { status: 404, body: { error: 'not found', what: 'position' } }
    for (const position of [adas?.id ?? '', unknown]) {
      expect(await bob.close(position, position)).toMatchObject(missing)
      expect(await bob.change(position, { stopLoss: null })).toMatchObject(missing)
    }
  })

  it('levels can be set, kept, changed and removed while the position is open', async () => {
    const ada = await server.user('Ada E4')
    const player = pick(await ada.instruments())
    const low = Math.floor(player.currentPrice * 0.95)
    const high = Math.ceil(player.currentPrice * 1.05)
    const order = {
      instrumentId: player.id,
      direction: 'long',
      lotSize: 0.1,
      clientPrice: player.currentPrice,
    } as const
    const { position, wallet } = await ada.opens({ ...order, stopLoss: low })
    expect(position).toMatchObject({ stopLoss: low, takeProfit: null })

    const levels = async (change: Parameters<typeof ada.change>[1]) => {
      const changed = read(await ada.change(position.id, change), 200, TradeAnswer)
      expect(changed.wallet).toEqual(wallet)
      expect(await ada.positions()).toEqual([changed.position])
      return { stopLoss: changed.position.stopLoss, takeProfit: changed.position.takeProfit }
    }
    expect(await levels({ takeProfit: high })).toEqual({ stopLoss: low, takeProfit: high })
    expect(await levels({ stopLoss: null })).toEqual({ stopLoss: null, takeProfit: high })
    expect(await levels({})).toEqual({ stopLoss: null, takeProfit: high })
    expect(await ada.change(position.id, { stopLoss: high })).toMatchObject({ status: 422, body: { error: LEVELS } })
    expect(await levels({ takeProfit: null })).toEqual({ stopLoss: null, takeProfit: null })
  })

  it('a stop-loss closes a position when the match moves the price, even during the hold', async () => {
    const ada = await server.user('Ada E5')
    const fielded = (await ada.instruments()).filter((i) => i.tradingStatus === 'OPEN' && i.position !== 'GK')
    for (const { id, currentPrice } of fielded) {
      const stopLoss = Math.floor(currentPrice * 984) / 1_000
      await ada.opens({ instrumentId: id, direction: 'long', lotSize: 0.1, clientPrice: currentPrice, stopLoss })
    }
    await server.play(HOLD_SECS)
    // After the hold a stop may be near: a thousandth below.
    for (const { id, exitPrice } of await ada.positions()) {
      await ada.change(id, { stopLoss: Math.floor(exitPrice * 999) / 1_000 })
    }
    await server.play(HOLD_SECS / 2)

    const closed = await ada.positions('closed')
    expect(closed.length).toBeGreaterThan(0)
    for (const { closedBy, closePrice, stopLoss } of closed) {
      expect(closedBy).toBe('stop_loss')
      expect(closePrice).toBeLessThanOrEqual(stopLoss ?? NaN)
    }
    const open = await ada.positions()
    for (const { exitPrice, stopLoss } of open) expect(exitPrice).toBeGreaterThan(stopLoss ?? NaN)
    expect(open.length + closed.length).toBe(fielded.length)
    expect(u((await ada.wallet()).balance)).toBe(u(10_000) + pnlOf(closed) - sum(open.map((p) => u(p.margin))))
  })

  it('refuses a close during the hold with the seconds left; after it, pays margin and PnL exact to the millionth', async () => {
    const [ada, bob] = [await server.user('Ada E6'), await server.user('Bob E6')]
    const player = pick(await ada.instruments(), (i) => i.position === 'FWD')
    const order = {
      instrumentId: player.id,
      direction: 'long',
      lotSize: 0.37,
      clientPrice: player.currentPrice,
    } as const
    const before = await ada.wallet()
    const { position } = await ada.opens(order)
    await bob.opens({ ...order, lotSize: 5 })

    server.jump(1.5)
    const held = await ada.close(position.id, 'too soon')
    expect(held).toMatchObject({ status: 409, body: { error: 'cooldown_active', retry_after_secs: HOLD_SECS - 1 } })
    expect(held.headers.get('retry-after')).toBe(String(HOLD_SECS - 1))

    await server.play(HOLD_SECS)
    await server.play(1) // a suspension after a goal ends with the next frame
    const [seen] = await ada.positions()
    const answer = await ada.close(position.id, 'done')
    const closed = read(answer, 200, CloseAnswer)
    expect(closed.position).toMatchObject({ status: 'closed', closedBy: 'user', closePrice: seen?.exitPrice })
    const pnl = u(closed.position.realizedPnl ?? NaN)
    expect(pnl, 'the price has moved').not.toBe(0)
    expect(pnl).toBe(Math.floor(((u(seen?.exitPrice ?? NaN) - u(position.openPrice)) * 37 * 5) / 100))
    expect(u(before.balance) + pnl).toBe(u(closed.wallet.balance))
    expect(await ada.wallet()).toEqual({ ...closed.wallet, unrealizedPnl: 0, equity: closed.wallet.balance })

    const again = await ada.close(position.id, 'done')
    expect(again).toMatchObject({ status: 200, body: answer.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    const late = { status: 409, body: { error: 'position is not open', position: closed.position } }
    expect(await ada.close(position.id, 'another')).toMatchObject(late)
    expect(await ada.change(position.id, { stopLoss: null })).toMatchObject(late)
    expect(await ada.positions()).toEqual([])
    expect(await ada.positions('closed')).toEqual([closed.position])
  })

  it('at full time the market closes, all positions settle at one price, and the next match begins', async () => {
    const [ada, bob] = [await server.user('Ada E7'), await server.user('Bob E7')]
    const { matchId } = server
    const player = pick(await ada.instruments(), (i) => i.position === 'DEF')
    const order = { instrumentId: player.id, direction: 'long', lotSize: 2, clientPrice: player.currentPrice } as const
    const long = await ada.opens(order)
    const short = await bob.opens({ ...order, direction: 'short', lotSize: 1 })
    await server.play(MATCH_SECS)

    const closed = { status: 409, body: { error: 'market closed', tradeWindow: { status: 'CLOSED', open: false } } }
    const last = await ada.instrument(player.id)
    expect(last.tradingStatus).toBe('CLOSED')
    expect(await ada.open({ ...order, clientPrice: last.currentPrice })).toMatchObject(closed)
    server.jump(CONFIRM_SECS)
    const settled = await vi.waitUntil(async () => (await bob.positions('closed'))[0], PATIENCE)
    const [mine] = await ada.positions('closed')
    expect(settled).toMatchObject({ id: short.position.id, closedBy: 'full_time', closePrice: last.currentPrice })
    expect(mine).toMatchObject({ id: long.position.id, closedBy: 'full_time', closePrice: last.currentPrice })
    expect(u(last.currentPrice)).toBe(
      u(last.live_base_price) + Math.round((u(last.k_mod) * u(last.net_position_imbalance)) / u(1)),
    )
    expect(u((await ada.wallet()).balance)).toBe(u(10_000) + pnlOf(mine === undefined ? [] : [mine]))
    expect(u((await bob.wallet()).balance)).toBe(u(10_000) + pnlOf([settled]))
    expect(await ada.close(long.position.id, 'late')).toMatchObject({
      status: 409,
      body: { error: 'position is not open' },
    })

    // The same player is listed in the next match, at a price of that match.
    await vi.waitUntil(async () => (await ada.instrument(player.id)).tradingStatus === 'OPEN', PATIENCE)
    expect(server.matchId).toBe(matchId + 1)
    const next = await ada.opens({ ...order, clientPrice: (await ada.instrument(player.id)).currentPrice })
    expect(next.position['fixtureId']).toBe(matchId + 1)
  })
})

const LEVELS = 'stop-loss / take-profit level invalid for the current price'

onServers((settle) => {
  let place: ServerPlace
  let server: ComposedServer
  beforeAll(async () => {
    place = await settle()
    server = await ComposedServer.open(place)
  })
  afterAll(() => server.close())

  it('[D5] the fast store holds the balance; a balance changed there counts, and the difference is booked', async () => {
    const ada = await server.user('Ada E8')
    const { userId } = await ada.get('/api/me', z.looseObject({ userId: z.string() }))
    const { id } = pick(await ada.instruments())
    const buys = async () => {
      const { currentPrice } = await ada.instrument(id)
      return ada.opens({ instrumentId: id, direction: 'long', lotSize: 1, clientPrice: currentPrice })
    }
    const { wallet } = await buys()
    const hash = `wallet:${userId}`
    await vi.waitUntil(async () => (await place.redis.hget(hash, 'balance')) === String(wallet.balance), PATIENCE)

    await place.redis.hset(hash, 'balance', '7000.000001')
    expect(await ada.wallet()).toMatchObject({ balance: 7_000.000001 })
    const next = await buys()
    expect(u(next.wallet.balance)).toBe(u(7_000.000001) - u(next.position.margin))
    const booked = await place.look(({ db }) =>
      db
        .selectFrom('ledger_entries')
        .select(['user_id', 'amount_micros'])
        .where('kind', '=', 'external_adjustment')
        .where('account', '=', 'user')
        .execute(),
    )
    expect(booked).toEqual([{ user_id: userId, amount_micros: u(7_000.000001) - u(wallet.balance) }])
  })
})
