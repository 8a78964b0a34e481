import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { positionId } from '../../actors/kernel/ids.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { done, type Refusal, type RefusalCode, refused } from '../../actors/kernel/outcome.ts'
import { instant } from '../../actors/kernel/world.ts'
import { commandId } from '../../src/http/command-ids.ts'
import {
  answered,
  apiJudge,
  ALICE,
  FIXTURE,
  NOW,
  openHttpRig,
  order,
  PLAYER,
  POSITION,
  quoteAnswer,
  trade,
  wallet,
} from './http-rig.ts'
import { LEAGUE } from './league-ports.ts'

const OPEN = '/api/positions/open'
const CLOSE = `/api/positions/${POSITION}/close`

const keyed = (key: string) => ({ 'idempotency-key': key })

const positionJson = {
  id: POSITION,
  instrumentId: PLAYER,
  fixtureId: FIXTURE,
  replay: false,
  purse: 'main',
  direction: 'long',
  lotSize: 0.5,
  contractSize: 5,
  leverage: 10,
  openPrice: 200,
  currentPrice: 200.005,
  exitPrice: 200.0025,
  margin: 50,
  unrealizedPnl: 0.00625,
  stopLoss: 190,
  takeProfit: null,
  washoutPrice: 180,
  status: 'open',
  openedAt: '2026-05-02T14:30:00.000Z',
  closableAt: '2026-05-02T14:33:00.000Z',
  closePrice: null,
  realizedPnl: null,
  closedAt: null,
  closedBy: null,
  voidReason: null,
  voidNote: null,
  partOf: null,
}
const closedJson = {
  ...positionJson,
  currentPrice: 220,
  exitPrice: 220,
  unrealizedPnl: 0,
  status: 'closed',
  closePrice: 220,
  realizedPnl: 50,
  closedAt: '2026-05-02T14:33:00.000Z',
  closedBy: 'user',
}

describe('opening', () => {
  it('[M2] prices that are compared may have any number of decimals; lots may not', async () => {
    const { send, commands } = await openHttpRig()
    for (const clientPrice of [200 * 0.95 + 1e-9, 200.123_456_789, 1e-9, 1e9]) {
      expect((await send('POST', OPEN, { ...order, clientPrice })).status).toBe(201)
    }
    expect(commands).toMatchObject([
      { clientPrice: 190_000_000 },
      { clientPrice: 200_123_457 },
      { clientPrice: 1 },
      { clientPrice: 1e15 },
    ])
    for (const clientPrice of [0, -1, 1e9 + 1, 1e300, '200', null]) {
      expect([clientPrice, (await send('POST', OPEN, { ...order, clientPrice })).status]).toEqual([clientPrice, 400])
    }
    expect((await send('POST', OPEN, { ...order, lotSize: 0.123_456_7 })).status).toBe(400)
    const levels = { stopLoss: 292.689_721 * 0.95, takeProfit: 292.689_721 * 1.05 }
    expect((await send('POST', OPEN, { ...order, ...levels })).status).toBe(201)
    expect((await send('PATCH', `/api/positions/${trade.position.id}`, levels)).status).toBe(200)
    const micros = { stopLoss: 278_055_235, takeProfit: 307_324_207 }
    expect(commands.slice(-2)).toMatchObject([micros, micros])
  })

  it('[T36] a stop-loss beyond the washout price comes back with a warning: opened, changed and quoted', async () => {
    const warning = {
      code: 'STOP_LOSS_BEYOND_WASHOUT',
      message: 'The stop-loss 175 lies beyond the washout price 180: the position washes out before it can fire.',
      level: 175,
      washoutPrice: 180,
    }
    const beyond = { ...trade.position, stopLoss: price(175_000_000) }
    const { send } = await openHttpRig({ outcome: done({ ...trade, position: beyond }) })
    const opened = await send('POST', OPEN, { ...order, stopLoss: 175 })
    expect([opened.status, await opened.json()]).toMatchObject([201, { warnings: [warning] }])
    const changed = await send('PATCH', `/api/positions/${POSITION}`, { stopLoss: 175 })
    expect([changed.status, await changed.json()]).toMatchObject([200, { warnings: [warning] }])
    const { clientPrice: _, ...asked } = order
    const quoted = await send('POST', '/api/positions/quote', { ...asked, stopLoss: 175 })
    // The quote fills at 210.01, so that it washes out at 189.009.
    expect(await quoted.json()).toMatchObject({ warnings: [{ level: 175, washoutPrice: 189.009 }] })
    const within = await send('POST', '/api/positions/quote', { ...asked, stopLoss: 189.009 })
    expect(await within.json()).toMatchObject({ warnings: [] })
  })

  it('any number sent is either 400 or reaches the desk exactly', async () => {
    const { send, commands } = await openHttpRig()
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.double(), fc.jsonValue(), fc.integer({ min: 0, max: 1e9 })), async (lotSize) => {
        const before = commands.length
        const { status } = await send('POST', OPEN, { ...order, lotSize })
        expect([201, 400]).toContain(status)
        if (status === 400) return
        const meant = Math.round(Math.min(Math.max(Number(lotSize), 0), 1e9) * 1e6)
        expect(commands.slice(before)).toMatchObject([{ lots: meant === 0 ? 0 : meant }])
      }),
      { numRuns: 200 },
    )
  })
})

describe('idempotency', () => {
  it('[H3] a key comes with a digest of the request: equal for the same order, different for any other', async () => {
    const { asAlice, send, commands } = await openHttpRig()
    await send('POST', OPEN, order, keyed('k'))
    const reordered = `{ "clientPrice": 200.0, "takeProfit": null, "lotSize": 5e-1, "direction": "long", "instrumentId": "${PLAYER}" }`
    const headers = { 'content-type': 'application/json', ...keyed('k') }
    await asAlice(OPEN, { method: 'POST', body: reordered, headers })
    const others = [
      { ...order, lotSize: 0.51 },
      { ...order, direction: 'short' },
      { ...order, clientPrice: 200.01 },
      { ...order, stopLoss: 190 },
      { ...order, takeProfit: 190 },
      { ...order, instrumentId: PLAYER.replace('1', '2') },
    ]
    for (const other of others) await send('POST', OPEN, other, keyed('k'))
    const keys = commands.map((command) => (command.kind === 'change_levels' ? null : command.idempotency))
    expect(keys[0]).toEqual({
      id: commandId(ALICE, 'open', 'k'),
      fingerprint: expect.stringMatching(/^[\w-]{22}$/),
    })
    expect(keys[1]).toEqual(keys[0])
    expect(new Set(keys.map((key) => key?.fingerprint)).size).toBe(1 + others.length)
  })

  it('[H3] a close takes its key from the header or else from clientRequestId; both are optional', async () => {
    const { send, asAlice, commands } = await openHttpRig()
    const closeOf = (key: string): string => commandId(ALICE, 'close', key)
    await send('POST', CLOSE, { clientRequestId: 'body' }, keyed('header'))
    await send('POST', CLOSE, { clientRequestId: 'body' })
    await send('POST', CLOSE, {})
    await asAlice(CLOSE, { method: 'POST' })
    await asAlice(CLOSE, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '' })
    expect(commands).toMatchObject([
      { kind: 'close_position', userId: ALICE, positionId: POSITION, idempotency: { id: closeOf('header') } },
      { idempotency: { id: closeOf('body') } },
      { idempotency: null },
      { idempotency: null },
      { idempotency: null },
    ])
  })

  it('[H3] the key of a close belongs to one position', async () => {
    const { send, commands } = await openHttpRig()
    await send('POST', CLOSE, {}, keyed('k'))
    await send('POST', CLOSE.replace(/1\/close$/, '2/close'), {}, keyed('k'))
    const prints = commands.map((command) =>
      command.kind === 'close_position' ? command.idempotency?.fingerprint : '',
    )
    expect(new Set(prints).size).toBe(2)
  })
})

describe('changing and closing', () => {
  it('[T38] a close of some lots closes a part, and answers with the part and the rest', async () => {
    const { deps } = await openHttpRig()
    const held = await deps.positions.find(ALICE, POSITION)
    const whole = positionId('0197f2a0-0000-7000-8000-0000000000f2')
    const part = { ...(held?.position ?? trade.position), partOf: whole }
    const rest = { position: { ...trade.position, id: whole, lots: lots(250_000) }, exitPrice: trade.exitPrice }
    const { send, commands } = await openHttpRig({ outcome: done({ ...trade, position: part, rest }) })
    const response = await send('POST', CLOSE, { lotSize: 0.25 }, keyed('k'))
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      position: { partOf: whole, status: 'closed' },
      rest: { id: whole, partOf: null, status: 'open', lotSize: 0.25 },
      warnings: [],
    })
    await send('POST', CLOSE, { lotSize: 0.1 }, keyed('k'))
    await send('POST', CLOSE, {}, keyed('k'))
    expect(commands).toMatchObject([
      { kind: 'close_part', positionId: POSITION, lots: 250_000 },
      { kind: 'close_part', positionId: POSITION, lots: 100_000 },
      { kind: 'close_position' },
    ])
    const prints = commands.map((one) => (one.kind === 'change_levels' ? null : one.idempotency?.fingerprint))
    expect(new Set(prints).size, 'other lots are another request').toBe(3)
    expect((await send('POST', CLOSE, { lotSize: '1' })).status).toBe(400)
  })
})

describe('refusals', () => {
  const window = { status: 'SUSPENDED', reason: 'the live feed is late' } as const
  const refusals: { [Code in RefusalCode]: [Extract<Refusal, { code: Code }>, number, object] } = {
    not_found: [{ code: 'not_found', what: 'instrument' }, 404, { error: 'not found', what: 'instrument' }],
    market_closed: [
      { code: 'market_closed', window: { status: 'CLOSED', reason: 'the match is over' } },
      409,
      { error: 'market closed', tradeWindow: { status: 'CLOSED', open: false, reason: 'the match is over' } },
    ],
    market_suspended: [
      { code: 'market_suspended', window },
      409,
      { error: 'market suspended', tradeWindow: { ...window, open: false } },
    ],
    lot_size_invalid: [
      { code: 'lot_size_invalid', min: lots(10_000), max: lots(100_000_000), step: lots(10_000) },
      422,
      { error: 'lot size invalid', minLot: 0.01, maxLot: 100, lotStep: 0.01 },
    ],
    price_moved: [
      { code: 'price_moved', currentPrice: price(206_000_000), lastPublishedPrice: price(205_500_000) },
      409,
      { error: 'PRICE_MOVED', currentPrice: 206, lastPublishedPrice: 205.5 },
    ],
    levels_invalid: [
      { code: 'levels_invalid', currentPrice: price(206_000_000) },
      422,
      { error: 'stop-loss / take-profit level invalid for the current price', currentPrice: 206 },
    ],
    position_limit: [
      { code: 'position_limit', max: 100 },
      422,
      { error: 'position limit reached', maxOpenPositions: 100 },
    ],
    insufficient_margin: [
      { code: 'insufficient_margin', required: money(100_500_000), available: money(1), maxLots: lots(0) },
      422,
      { error: 'insufficient margin', required: 100.5, available: 0.000001, maxLotSize: 0 },
    ],
    account_frozen: [
      { code: 'account_frozen' },
      403,
      { error: 'account frozen; you can read and close positions, but not open any' },
    ],
    self_excluded: [
      { code: 'self_excluded', until: instant(0) },
      403,
      {
        error: 'you have paused trading; you can close positions, but not open any',
        until: '1970-01-01T00:00:00.000Z',
      },
    ],
    limit_reached: [
      {
        code: 'limit_reached',
        dailyLoss: money(9_000_000),
        lostToday: money(5_500_000),
        atStake: money(3_000_000),
        required: money(2_000_000),
        freeAt: instant(0),
      },
      422,
      {
        error: 'your own daily limit is reached',
        dailyLoss: 9,
        lostToday: 5.5,
        atStake: 3,
        required: 2,
        freeAt: '1970-01-01T00:00:00.000Z',
      },
    ],
    position_corrupt: [
      { code: 'position_corrupt' },
      409,
      { error: 'position is in an invalid state; contact support' },
    ],
    position_not_open: [
      { code: 'position_not_open', positionId: POSITION },
      409,
      { error: 'position is not open', position: closedJson },
    ],
    cooldown_active: [
      { code: 'cooldown_active', retryAfterSecs: 120, closableAt: instant(NOW + 120_000) },
      409,
      { error: 'cooldown_active', retry_after_secs: 120, closableAt: '2026-05-02T14:32:00.000Z' },
    ],
    key_in_flight: [{ code: 'key_in_flight' }, 409, { error: 'duplicate request; please retry' }],
    key_reused: [{ code: 'key_reused' }, 409, { error: 'duplicate request; please retry' }],
    busy: [{ code: 'busy', retryAfterSecs: 1 }, 503, { error: 'too busy; please retry' }],
    unknown_outcome: [
      { code: 'unknown_outcome', retryAfterSecs: 1 },
      503,
      { error: 'outcome not known yet; please retry with the same idempotency key' },
    ],
  }

  it.each(Object.values(refusals))(
    '$0.code is answered with $1, its own text and its facts',
    async (refusal, status, facts) => {
      const { send } = await openHttpRig({ outcome: refused(refusal) })
      const { document } = await apiJudge()
      const routes = [
        ['POST', '/api/positions/open', OPEN, order],
        ['PATCH', '/api/positions/{id}', `/api/positions/${POSITION}`, {}],
        ['POST', '/api/positions/{id}/close', CLOSE, {}],
      ] as const
      const named = `#/components/examples/${refusal.code.toUpperCase()}`
      const comingTo = routes.filter(([method, path]) => {
        const operation = document.paths[path]?.[method.toLowerCase()]
        return JSON.stringify(operation?.responses[status] ?? null).includes(named)
      })
      expect(comingTo.length).toBeGreaterThan(0)
      const requests = comingTo.map(([method, _path, url, body]) => send(method, url, body))
      for (const response of await Promise.all(requests)) {
        const requestId = response.headers.get('x-request-id')
        expect(response.status).toBe(status)
        expect(await response.json()).toEqual({ ...facts, code: refusal.code.toUpperCase(), requestId })
        const retryAfter = 'retryAfterSecs' in refusal ? String(refusal.retryAfterSecs) : null
        expect(response.headers.get('retry-after')).toBe(retryAfter)
      }
    },
  )

  it('a closed position that can no longer be read is named by id', async () => {
    const { positions } = (await openHttpRig()).deps
    const outcome = refused(refusals.position_not_open[0])
    const { send } = await openHttpRig({ outcome, deps: { positions: { ...positions, find: async () => null } } })
    expect(await (await send('POST', CLOSE, {})).json()).toMatchObject({
      code: 'POSITION_NOT_OPEN',
      positionId: POSITION,
    })
  })
})

describe('reading', () => {
  it('[D10] each purse has its own wallet, and only a purse that exists is asked for', async () => {
    const { asAlice } = await openHttpRig()
    expect(await (await asAlice('/api/wallet?purse=practice')).json()).toMatchObject({ purse: 'practice' })
    expect((await asAlice('/api/wallet?purse=savings')).status).toBe(400)
    expect((await asAlice('/api/wallet/ledger?purse=savings')).status).toBe(400)
    expect((await asAlice('/api/positions?purse=savings')).status).toBe(400)
  })

  it('[D11] a refill says what it added; no league is refilled, and nothing while positions are open', async () => {
    const { send } = await openHttpRig()
    expect(await answered(send('POST', '/api/wallet/refill', { purse: 'practice' }))).toMatchObject([
      200,
      { refilled: 12.5, wallet: { purse: 'practice' } },
    ])
    for (const body of [{}, { purse: LEAGUE }])
      expect((await send('POST', '/api/wallet/refill', body)).status).toBe(400)
    expect(await answered(send('POST', '/api/wallet/refill', { purse: 'main' }))).toMatchObject([
      409,
      { code: 'NOT_RUINED', balance: 312.5, below: 100 },
    ])
    const practice = async () => ({ kind: 'positions_open', openPositions: 2 }) as const
    const busy = await openHttpRig({ deps: { refills: { practice, main: practice } } })
    const answer = await busy.send('POST', '/api/wallet/refill', { purse: 'practice' })
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'POSITIONS_OPEN', openPositions: 2 }])
  })

  it('a quote takes the body of an open unchanged, and says that the price has moved', async () => {
    const moved = { currentPrice: price(210_005_000), lastPublishedPrice: price(210_000_000) }
    const { send, quotes } = await openHttpRig({
      quote: done({ ...quoteAnswer, refusal: { code: 'price_moved', ...moved } }),
    })
    const answer = await send('POST', '/api/positions/quote', { ...order, stopLoss: null, takeProfit: null })
    expect(quotes).toMatchObject([{ clientPrice: order.clientPrice * 1_000_000 }])
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { refusal: { error: 'PRICE_MOVED', currentPrice: 210.005, lastPublishedPrice: 210 } },
    ])
  })

  it('a quote uses the free margin, changes nothing, and shows the refusal if there is one', async () => {
    const refusal: Refusal = { code: 'levels_invalid', currentPrice: price(210_005_000) }
    const { send, quotes, commands } = await openHttpRig({ quote: done({ ...quoteAnswer, refusal }) })
    const { clientPrice: _, ...query } = order
    const response = await send('POST', '/api/positions/quote', { ...query, stopLoss: 190 })
    expect(quotes).toEqual([
      {
        instrumentId: PLAYER,
        direction: 'long',
        lots: 500_000,
        stopLoss: 190_000_000,
        takeProfit: null,
        means: { main: { available: wallet.balance, openPositions: 1 } },
      },
    ])
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        fillPrice: 210.01,
        exitPrice: 210.01,
        impact: 0.005,
        currentPrice: 210.005,
        margin: 52.5025,
        washoutPrice: 189.009,
        warnings: [],
        pnlAtStopLoss: -50.025,
        pnlAtTakeProfit: null,
        maxLotSize: 94.76,
        refusal: {
          error: 'stop-loss / take-profit level invalid for the current price',
          code: 'LEVELS_INVALID',
          requestId: response.headers.get('x-request-id'),
          currentPrice: 210.005,
        },
      },
    ])
    expect(commands).toEqual([])
  })
})
