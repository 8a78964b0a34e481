import { describe, expect, it } from 'vitest'
import { positionId } from '../../actors/kernel/ids.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { done, type Outcome, type Refusal, refused } from '../../actors/kernel/outcome.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { Trade, UserCommand } from '../../actors/match/messages.ts'
import type { QuoteAnswer } from '../../actors/match/quotes.ts'
import type { Read } from '../../rooms/cluster/envelope.ts'
import { PROTOCOL } from '../../rooms/cluster/protocol.ts'
import {
  closeOrder,
  GOAL,
  KICK_OFF,
  MATCH,
  openOrder,
  P,
  p,
  player,
  snapshot,
  trade,
  U,
  u,
} from '../support/fixtures.ts'

/** A value as the other process reads it. */
const across = <T>(read: Read<T>, value: unknown): T | undefined => read(JSON.parse(JSON.stringify(value)))

const POSITION = positionId('dddddddd-0000-7000-8000-000000000001')
const key = { id: 'eeeeeeee-0000-7000-8000-000000000001', fingerprint: 'f' }

const window = { status: 'SUSPENDED', reason: 'goal' } as const
const REFUSALS: Readonly<Record<Refusal['code'], Refusal>> = {
  not_found: { code: 'not_found', what: 'match' },
  market_closed: { code: 'market_closed', window: { status: 'CLOSED', reason: null } },
  market_suspended: { code: 'market_suspended', window },
  lot_size_invalid: { code: 'lot_size_invalid', min: lots(10), max: lots(100), step: lots(10) },
  price_moved: { code: 'price_moved', currentPrice: p(200), lastPublishedPrice: p(201) },
  levels_invalid: { code: 'levels_invalid', currentPrice: p(200) },
  position_limit: { code: 'position_limit', max: 50 },
  insufficient_margin: { code: 'insufficient_margin', required: money(10), available: money(5), maxLots: lots(1) },
  account_frozen: { code: 'account_frozen' },
  self_excluded: { code: 'self_excluded', until: instant(KICK_OFF) },
  limit_reached: {
    code: 'limit_reached',
    dailyLoss: money(9),
    lostToday: money(5),
    atStake: money(3),
    required: money(2),
    freeAt: instant(KICK_OFF),
  },
  position_corrupt: { code: 'position_corrupt' },
  position_not_open: { code: 'position_not_open', positionId: POSITION },
  cooldown_active: { code: 'cooldown_active', retryAfterSecs: 120, closableAt: instant(KICK_OFF) },
  key_in_flight: { code: 'key_in_flight' },
  key_reused: { code: 'key_reused' },
  busy: { code: 'busy', retryAfterSecs: 1 },
  unknown_outcome: { code: 'unknown_outcome', retryAfterSecs: 1 },
}

describe('a request', () => {
  const { requests } = PROTOCOL

  it('every command arrives as it was sent', () => {
    const commands: readonly UserCommand[] = [
      openOrder({ idempotency: key, stopLoss: p(150), takeProfit: p(250), requestId: 'r1', trace: 't1' }),
      openOrder({ direction: 'short' }),
      closeOrder(POSITION, { idempotency: key }),
      { kind: 'change_levels', userId: U(1), positionId: POSITION, stopLoss: null, takeProfit: undefined },
    ]
    for (const command of commands) {
      const sent = { matchId: MATCH, command, leftMs: 1_500 }
      expect(across(requests.command.request, sent)).toStrictEqual(sent)
    }
  })

  it('every outcome arrives as it was sent', () => {
    const { position, wallet } = trade()
    const moved = { fill: 'open', at: KICK_OFF, by: -7, reason: 'event', from: p(200) } as const
    const close = {
      price: p(210),
      base: p(209),
      pnl: money(-5),
      at: KICK_OFF,
      by: 'stop_loss',
      voidReason: null,
    } as const
    const outcomes: readonly Outcome<Trade>[] = [
      done(trade()),
      done(trade({ position: { ...position, warned: 80, close }, repeated: true })),
      done(trade({ position: { ...position, moved: [moved] }, wallet: { ...wallet, locked: money(5) } })),
      ...Object.values(REFUSALS).map((refusal) => refused(refusal, refusal.code === 'key_reused')),
    ]
    for (const outcome of outcomes) expect(across(requests.command.answer, outcome)).toStrictEqual(outcome)
    expect(across(requests.command.answer, null)).toBeNull()
  })

  it('quotes, seats, prices and activations arrive as they were sent', () => {
    const { idempotency: _, kind: _kind, userId: _user, ...order } = openOrder()
    const query = {
      matchId: MATCH,
      query: { ...order, means: { practice: { available: money(10), openPositions: 3 } } },
    }
    expect(across(requests.quote.request, query)).toStrictEqual(query)
    const answer: QuoteAnswer = {
      fillPrice: p(200.005),
      exitPrice: p(200.005),
      impact: p(0.005),
      currentPrice: p(200),
      margin: money(u(50)),
      washoutPrice: null,
      pnlAtStopLoss: null,
      pnlAtTakeProfit: money(-10),
      maxLots: lots(100),
      refusal: REFUSALS.market_suspended,
    }
    expect(across(requests.quote.answer, done(answer))).toStrictEqual(done(answer))
    const seat = { status: 429, body: { error: 'too many', code: 'TOO_MANY' }, headers: { 'retry-after': '30' } }
    expect(across(requests.seat.answer, seat)).toStrictEqual(seat)
    const prices = { epoch: 3, seq: 0, frames: Buffer.from('frames').toString('base64') }
    expect(across(requests.prices.answer, prices)).toStrictEqual(prices)
    const woken = { activity: 'active', owner: 'process-1' }
    expect(across(requests.wake.answer, woken)).toStrictEqual(woken)
  })

  it('a feed update arrives as it was sent', () => {
    const full = snapshot({
      home: { id: 1, name: 'Harbour', goals: 2, shootout: 4 },
      events: [GOAL, { ...GOAL, id: 502, side: null, playerId: null, period: null, addition: 'Goal Disallowed' }],
      players: [player(1, { details: { 79: 1, 118: 7.35 } }), player(2, { role: null, jersey: null, details: null })],
      teamStats: { home: { Corners: 4 }, away: { 'Ball Possession %': 41.5 } },
    })
    for (const each of [full, snapshot({ events: null, state: null, stateId: null })]) {
      const sent = { matchId: MATCH, isPlaced: true, update: { kind: 'feed_update', seq: 4, snapshot: each } }
      expect(across(requests.feed.request, sent)).toStrictEqual(sent)
    }
  })

  it('[Q15] invalid values are not read, and unknown fields are dropped', () => {
    const sent = { matchId: MATCH, command: openOrder(), leftMs: 1 }
    const bad = [
      { ...sent, matchId: -1 },
      { ...sent, leftMs: null },
      { ...sent, command: openOrder({ lots: 0.5 as never }) },
      { ...sent, command: { ...openOrder(), direction: 'sideways' } },
      { ...sent, command: { ...openOrder(), clientPrice: 1e16 } },
      { ...sent, command: { ...openOrder(), instrumentId: null } },
      { ...sent, command: { kind: 'cancel_position' } },
      'command',
      null,
    ]
    for (const value of bad) expect(across(requests.command.request, value), JSON.stringify(value)).toBeUndefined()
    expect(across(requests.command.request, { ...sent, urgent: true })).toStrictEqual(sent)
    expect(
      across(requests.command.answer, { ok: false, refusal: { code: 'too_late' }, repeated: false }),
    ).toBeUndefined()
  })
})

describe('a published message', () => {
  const { topics } = PROTOCOL

  it('arrives as it was sent, or not at all', () => {
    const news = { news: 'opened', from: 'process-1', matchId: MATCH, epoch: 2 }
    expect(across(topics.matches, news)).toStrictEqual(news)
    expect(across(topics.matches, { ...news, news: 'paused' })).toBeUndefined()
    expect(across(topics.accounts, [U(1), U(2)])).toStrictEqual([U(1), U(2)])
    expect(across(topics.accounts, [7])).toBeUndefined()
    expect(across(topics['signed-out'], U(1))).toBe(U(1))
    const notice = { userId: U(1), notice: { type: 'notification', notification: { id: 1, read: false } } }
    expect(across(topics.notices, notice)).toStrictEqual(notice)
    expect(across(topics.notices, { userId: U(1), notice: { instrument: P(1) } })).toBeUndefined()
  })
})
