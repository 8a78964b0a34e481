import { present } from '../../actors/kernel/assert.ts'
import { instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { describe, expect, it, vi } from 'vitest'
import { DEFAULT_RULES, REPLAY_CONFIRM_UPDATES } from '../../actors/kernel/limits.ts'
import { type Lots, lots, MICROS_MAX, type Price, price, money } from '../../actors/kernel/micros.ts'
import { fixtureId, positionId, playerId } from '../../actors/kernel/ids.ts'
import type { FixtureEvent, FixtureSnapshot, Side } from '../../actors/market/fixture.ts'
import { quoteOf, slopeInForce } from '../../actors/market/instrument.ts'
import { checkAll } from '../../actors/match/invariants.ts'
import { newMatch } from '../../actors/match/state.ts'
import { half, GOAL, info, instrument, MATCH, P, p, player, record, snapshot, U, u } from '../support/fixtures.ts'
import { codeOf, ok, ActorRig } from '../support/actor-rig.ts'

const HOLD_MS = DEFAULT_RULES.holdMs
const priceOf = (stage: ActorRig, n = 1) => {
  const listed = stage.actor.view.instrument(P(n))
  if (listed === undefined) throw new Error(`no instrument ${n}`)
  return quoteOf(listed).price
}

const level = <None extends null | undefined>(at: number | None) => (typeof at === 'number' ? p(at) : at)

/** A market where the crowd may move prices by half a per cent. */
const WIDE = {
  rules: { impactCapPpm: 5_000 },
  record: record({ instruments: [1, 2].map((n) => instrument(n, { impactCapPpm: 5_000 })) }),
}

/** A snapshot in which player 1 has scored `goals` times: about +3.8 % each, at most 5 % of the start price a tick. */
function scored(goals: number): Partial<FixtureSnapshot> {
  const events = Array.from({ length: goals }, (_, i): FixtureEvent => ({
    ...GOAL,
    id: 700 + i,
    result: `${i + 1}-0`,
  }))
  const players = [player(1, { details: { 52: goals } }), player(2)]
  return { events, players, home: { id: 1, name: 'Harbour', goals } }
}

/** Scores goals, one an update, and lets the price take in all of them. */
async function scores(stage: ActorRig, goals: number): Promise<void> {
  for (let n = 1; n <= goals; n++) await stage.moves(scored(n))
  for (let n = 0; n < 4; n++) await stage.moves(scored(goals))
}

describe('opening', () => {
  it('[T2] debits the margin at the fill price and holds the position for 180 s', async () => {
    const stage = await ActorRig.set()
    const { position, wallet } = ok(await stage.opens())
    expect(position).toMatchObject({
      openPrice: u(200.0025),
      openBase: u(200),
      margin: u(50.000625),
      lots: u(0.5),
      close: null,
    })
    expect(position.closableAt - position.openedAt).toBe(180_000)
    expect(wallet).toEqual({ balance: u(9949.999375), marginUsed: u(50.000625), unrealizedPnl: 0 })
  })

  it('[T3] fills at the mean over its own step: a fresh position shows no profit, and the way back costs the same', async () => {
    const stage = await ActorRig.set()
    const first = ok(await stage.opens({ lots: lots(u(10)) }))
    expect(first).toMatchObject({ price: u(200.1), exitPrice: u(200.05), position: { openPrice: u(200.05) } })
    expect(first.wallet.unrealizedPnl).toBe(0)
    const second = ok(await stage.opens({ userId: U(2), lots: lots(u(10)), direction: 'short', clientPrice: p(200.1) }))
    expect(second).toMatchObject({ price: u(200), exitPrice: u(200.05), position: { openPrice: u(200.05) } })
    expect(second.wallet.unrealizedPnl).toBe(0)
  })

  it('[T3] commands committed together are priced one after the other, in the order they came', async () => {
    const stage = await ActorRig.set()
    const size = lots(u(1))
    const trades = await Promise.all([1, 2, 3].map((n) => stage.opens({ userId: U(n), lots: size })))
    expect(trades.map((t) => ok(t).position.openPrice)).toEqual([u(200.005), u(200.015), u(200.025)])
  })

  it('[T1] refusals come in one order: unknown, window, lots, price, levels, margin, limit', async () => {
    const stage = await ActorRig.set({ record: record({ info: info({ feedSeq: 0 }), instruments: [instrument(1)] }) })
    const wrong = { lots: lots(u(1000)), clientPrice: p(100), stopLoss: p(300) } as const
    const ladder = [
      [{ ...wrong, instrumentId: P(99) }, 'not_found'],
      [wrong, 'market_closed'],
      [wrong, 'lot_size_invalid'],
      [{ ...wrong, lots: lots(u(100)) }, 'price_moved'],
      [{ ...wrong, lots: lots(u(100)), clientPrice: p(200) }, 'levels_invalid'],
      [{ ...wrong, lots: lots(u(100)), clientPrice: p(200), stopLoss: null }, 'insufficient_margin'],
      [{ lots: lots(u(1)) }, 'position_limit'],
    ] as const
    stage.rules = { ...stage.rules, openPositionsMax: 0 }
    const codes: string[] = []
    for (const [order, code] of ladder) {
      if (code === 'market_closed') await stage.load(record({ info: info({ phase: 'scheduled', feedSeq: 0 }) }))
      if (code === 'lot_size_invalid') await stage.load(record({ instruments: [instrument(1)] }))
      codes.push(codeOf(await stage.opens(order)))
    }
    expect(codes).toEqual(ladder.map(([, code]) => code))
  })

  it.each([0, -10_000, 5_000, 15_000, u(100) + 10_000])(
    '[T5] %d millionths of a lot is no valid size',
    async (size) => {
      const stage = await ActorRig.set()
      expect(await stage.opens({ lots: lots(size) })).toMatchObject({
        refusal: { code: 'lot_size_invalid', min: 10_000, max: u(100), step: 10_000 },
      })
    },
  )

  it('[T6] a client price exactly 2.5 % off the published one passes, a millionth more is refused with both prices', async () => {
    const stage = await ActorRig.set()
    expect(codeOf(await stage.opens({ clientPrice: p(205) }))).toBe('ok')
    const published = stage.actor.view.instrument(P(1))?.published
    expect(published).toBe(u(200))
    expect(await stage.opens({ userId: U(2), clientPrice: price(u(205) + 1) })).toMatchObject({
      refusal: { code: 'price_moved', currentPrice: u(200.005), lastPublishedPrice: u(200) },
    })
    expect(codeOf(await stage.opens({ userId: U(3), clientPrice: price(u(195) - 1) }))).toBe('price_moved')
  })

  it('[T8] levels must lie on their sides of the price that the order leaves', async () => {
    const stage = await ActorRig.set()
    const levels = (stopLoss: number | null, takeProfit: number | null, direction: 'long' | 'short') =>
      stage.opens({ direction, stopLoss: level(stopLoss), takeProfit: level(takeProfit) })
    expect(codeOf(await levels(190, 210, 'long'))).toBe('ok')
    expect(codeOf(await levels(210, null, 'long'))).toBe('levels_invalid')
    expect(codeOf(await levels(null, 190, 'long'))).toBe('levels_invalid')
    expect(codeOf(await levels(210, 190, 'short'))).toBe('ok')
    expect(codeOf(await levels(190, null, 'short'))).toBe('levels_invalid')
    expect(codeOf(await levels(null, 210, 'short'))).toBe('levels_invalid')
  })

  it('[T8] levels are judged by the price that the order leaves; one that the exit price is behind fires at once', async () => {
    const stage = await ActorRig.set()
    const short = { direction: 'short', lots: lots(u(10)) } as const
    expect(await stage.opens({ ...short, takeProfit: p(199.92) })).toMatchObject({
      refusal: { code: 'levels_invalid', currentPrice: u(199.9) },
    })
    const long = { direction: 'long', lots: lots(u(10)) } as const
    for (const order of [
      { ...short, stopLoss: p(199.92) },
      { ...long, stopLoss: p(200.08) },
    ]) {
      const { position, wallet, price: left } = ok(await stage.opens(order))
      expect(stage.closeOf(position.id)).toMatchObject({
        by: 'stop_loss',
        price: position.openPrice,
        pnl: 0,
      })
      expect([wallet, left]).toEqual([{ balance: u(10_000), marginUsed: 0, unrealizedPnl: 0 }, u(200)])
    }
    expect(codeOf(await stage.opens({ ...short, stopLoss: p(199.96), takeProfit: p(199.89) }))).toBe('ok')
  })

  it('[T29] while the hold runs a level may be as near to the price as one likes, and fires there', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ stopLoss: p(199), takeProfit: p(201) }))
    const moved = (stopLoss: number) => stage.changes(position.id, { stopLoss: p(stopLoss) })
    expect(codeOf(await moved(200))).toBe('ok')
    expect(stage.closeOf(position.id)).toBeNull()
    // Below the price, and above what leaving pays.
    const { position: after, exitPrice, wallet } = ok(await moved(200.004))
    expect(after.close).toMatchObject({ by: 'stop_loss', price: exitPrice })
    expect(wallet).toEqual({ balance: u(10_000), marginUsed: 0, unrealizedPnl: 0 })
    expect(stage.closeOf(position.id)).toMatchObject({ by: 'stop_loss', pnl: 0 })
    expect(priceOf(stage)).toBe(u(200))
  })

  it('[T30] a player off the pitch takes no openings, can be closed, and opens when coming on', async () => {
    const bench = player(2, { starter: false, side: 'home' })
    const stage = await ActorRig.set({
      record: record({
        info: info({ squad: [player(1), bench], onPitch: [playerId(1)] }),
        instruments: [instrument(1), instrument(2, { starter: false })],
      }),
    })
    const closed = { status: 'CLOSED', reason: 'not_on_pitch' }
    expect(await stage.opens({ instrumentId: P(2) })).toMatchObject({
      refusal: { code: 'market_closed', window: closed },
    })
    const comesOn: FixtureEvent = {
      ...GOAL,
      id: 502,
      kind: 'substitution',
      playerId: playerId(2),
      relatedPlayerId: playerId(1),
    }
    await stage.moves({ players: [player(1), bench], events: [comesOn] })
    const { position } = ok(await stage.opens({ instrumentId: P(2), clientPrice: priceOf(stage, 2) }))
    expect(stage.actor.window(P(1))).toEqual(closed)
    const off: FixtureEvent = { ...comesOn, id: 503, kind: 'red', minute: 3, relatedPlayerId: null }
    await stage.moves({ players: [player(1), bench], events: [comesOn, off] })
    await stage.moves({ players: [player(1), bench], events: [comesOn, off] })
    stage.world.pass(HOLD_MS)
    expect(stage.actor.window(P(2))).toEqual(closed)
    expect(codeOf(await stage.closes(position.id))).toBe('ok')
  })

  it('[T15] a wallet that is too small is answered with the cost, the available amount and the largest size that fits', async () => {
    const stage = await ActorRig.set()
    const refusal = await stage.opens({ lots: lots(u(100)) })
    expect(refusal).toMatchObject({ refusal: { code: 'insufficient_margin', available: u(10_000) } })
    if (refusal.ok || refusal.refusal.code !== 'insufficient_margin') throw new Error('not refused')
    const { maxLots } = refusal.refusal
    expect(maxLots).toBe(u(99.84))
    expect(codeOf(await stage.opens({ lots: lots(maxLots + 10_000) }))).toBe('insufficient_margin')
    expect(codeOf(await stage.opens({ lots: maxLots }))).toBe('ok')
  })

  it('[T15] of many orders at once only those the wallet can pay for open', async () => {
    const stage = await ActorRig.set()
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => stage.opens({ lots: lots(u(30)) })))
    expect(outcomes.filter((o) => o.ok)).toHaveLength(3)
    expect(new Set(outcomes.filter((o) => !o.ok).map(codeOf))).toEqual(new Set(['insufficient_margin']))
    expect(stage.store.walletOf(U(1)).balance).toBeGreaterThanOrEqual(0)
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T16] limits a user’s open positions across all matches', async () => {
    const stage = await ActorRig.set({ rules: { openPositionsMax: 2 } })
    const outcomes = await Promise.all([1, 2, 1].map((n) => stage.opens({ instrumentId: P(n) })))
    expect(outcomes.map(codeOf)).toEqual(['ok', 'ok', 'position_limit'])
  })
})

describe('closing', () => {
  it('[T4] pays the margin and the profit at the mean over its own removal: a lone round trip is exactly zero-sum', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ lots: lots(u(37.11)) }))
    stage.world.pass(HOLD_MS)
    const closed = ok(await stage.closes(position.id))
    expect(closed.position.close).toMatchObject({
      price: position.openPrice,
      base: u(200),
      pnl: 0,
      by: 'user',
    })
    expect(closed.wallet).toEqual({ balance: u(10_000), marginUsed: 0, unrealizedPnl: 0 })
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T4] balance after a close is the balance before the open plus the realised profit', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    stage.world.pass(HOLD_MS)
    await scores(stage, 1)
    const closed = ok(await stage.closes(position.id))
    const pnl = closed.position.close?.pnl ?? 0
    expect(pnl).toBeGreaterThan(0)
    expect(closed.wallet.balance).toBe(u(10_000) + pnl)
  })

  it('[T7] a user close within 180 s is refused with the seconds left; opening again does not prolong it', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    stage.world.pass(1)
    expect(await stage.closes(position.id)).toMatchObject({
      refusal: { code: 'cooldown_active', retryAfterSecs: 180, closableAt: position.closableAt },
    })
    stage.world.pass(HOLD_MS - 2)
    ok(await stage.opens())
    expect(await stage.closes(position.id)).toMatchObject({ refusal: { code: 'cooldown_active', retryAfterSecs: 1 } })
    stage.world.pass(1)
    expect(codeOf(await stage.closes(position.id))).toBe('ok')
  })

  it.each([
    [-60_000, 240],
    [-600_000, 0],
    [-86_400_000, 0],
    [600_000, 0],
  ])('[X15] a clock that jumps by %d ms while a position is held leaves a hold of %d s', async (jump, secs) => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    stage.world.pass(jump)
    const outcome = await stage.closes(position.id)
    if (secs === 0) ok(outcome)
    else expect(outcome).toMatchObject({ refusal: { code: 'cooldown_active', retryAfterSecs: secs } })
  })

  it('[T18] an unknown, closed or another user’s position gets the same answer', async () => {
    const stage = await ActorRig.set({ rules: { holdMs: 0 } })
    const { position } = ok(await stage.opens())
    expect(codeOf(await stage.closes(position.id, U(2)))).toBe('not_found')
    expect(codeOf(await stage.closes(positionId('nonsense')))).toBe('not_found')
    ok(await stage.closes(position.id))
    expect(codeOf(await stage.closes(position.id))).toBe('not_found')
  })

  it('[T17] a position without an open price waits for an operator: no close, no trigger, margin back at the end', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    stage.store.positions.set(position.id, { ...position, openPrice: price(0), takeProfit: p(1) })
    await stage.load()
    stage.world.pass(HOLD_MS)
    expect(codeOf(await stage.closes(position.id))).toBe('position_corrupt')
    await stage.moves({ state: 'FINISHED', stateId: 5, periods: [] })
    await stage.actor.stop()
    expect(stage.closeOf(position.id)).toMatchObject({ by: 'void', pnl: 0 })
  })
})

describe('changing levels', () => {
  it('[T9] a level left out is kept, null removes it, an invalid one changes nothing', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ stopLoss: p(190), takeProfit: p(230) }))
    const change = (stopLoss?: number | null, takeProfit?: number | null) =>
      stage.changes(position.id, { stopLoss: level(stopLoss), takeProfit: level(takeProfit) })
    expect(ok(await change(195)).position).toMatchObject({ stopLoss: u(195), takeProfit: u(230) })
    expect(ok(await change(undefined, null)).position).toMatchObject({ stopLoss: u(195), takeProfit: null })
    expect(codeOf(await change(201))).toBe('levels_invalid')
    expect(stage.store.positions.get(position.id)).toMatchObject({ stopLoss: u(195), takeProfit: null })
  })

  it('[T9] a kept target that the shown price has passed, and leaving would not reach, refuses no other level', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ lots: lots(u(20)), takeProfit: p(200.25) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(14)) }))
    expect(priceOf(stage)).toBeGreaterThan(u(200.25))
    const change = (stopLoss: number, takeProfit?: number) =>
      stage.changes(position.id, { stopLoss: level(stopLoss), takeProfit: level(takeProfit) })
    expect(ok(await change(195)).position).toMatchObject({ stopLoss: u(195), takeProfit: u(200.25) })
    expect(codeOf(await change(196, 200.25)), 'sent, it is judged').toBe('levels_invalid')
    expect(codeOf(await change(201))).toBe('levels_invalid')
  })

  it('[T31] while closing is suspended, levels are set, but none that would fire at once', async () => {
    const stage = await ActorRig.set({ rules: { feedStaleMs: DEFAULT_RULES.feedStaleMs } })
    const { position } = ok(await stage.opens({ stopLoss: p(190) }))
    const change = (stopLoss: number | null, takeProfit?: number) =>
      stage.changes(position.id, { stopLoss: level(stopLoss), takeProfit: level(takeProfit) })
    stage.world.pass(DEFAULT_RULES.feedStaleMs + 1)
    expect(stage.actor.window(P(1)).status).toBe('SUSPENDED')
    expect(codeOf(await change(191, 230))).toBe('ok')
    expect(codeOf(await change(null))).toBe('ok')
    // Leaving alone would pay half of what it moves less than the price that is shown.
    const shown = priceOf(stage)
    const { exitPrice } = ok(await change(189))
    expect(exitPrice).toBeLessThan(shown)
    expect(codeOf(await stage.changes(position.id, { stopLoss: exitPrice }))).toBe('market_suspended')
    expect(codeOf(await change(199))).toBe('ok')
    await stage.moves(scored(-1))
  })
})

describe('system closes', () => {
  it('[T10] a stop-loss fires on the tick that crosses it, at the price of that tick, within the hold', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ direction: 'short', stopLoss: p(203), lots: lots(u(1)) }))
    await stage.moves(scored(1))
    const close = stage.closeOf(position.id)
    expect(close).toMatchObject({ by: 'stop_loss' })
    expect(close?.price).toBeGreaterThan(u(203))
    // One lot short is open: leaving alone costs half of what it moves.
    const prices = stage.events.flatMap((e) => (e.kind === 'price_moved' && e.cause === 'event' ? [e.quote.price] : []))
    expect(prices[0]).toBe((close?.price ?? 0) - u(0.005))
  })

  it('[T10] a take-profit fires on a price that the crowd moved, when leaving alone pays it', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ takeProfit: p(200.1) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(9.75)) }))
    expect(priceOf(stage)).toBe(u(200.0975))
    // The imbalance was 10.25 lots for a moment, and leaving with half a lot pays the middle of that step.
    expect(stage.closeOf(position.id)).toMatchObject({ by: 'take_profit', price: u(200.1) })
  })

  it('[T10] a take-profit that leaves alone never fills below its level', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ lots: lots(u(20)), takeProfit: p(200.25) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(14)) }))
    expect(priceOf(stage)).toBeGreaterThan(u(200.25))
    expect(stage.closeOf(position.id)).toBeNull()
    ok(await stage.opens({ userId: U(3), lots: lots(u(1)) }))
    expect(stage.closeOf(position.id)).toMatchObject({ price: u(200.25) })
  })

  it('[T11] a close moves the price, which may close others: the cascade runs until nothing fires', async () => {
    const stage = await ActorRig.set(WIDE)
    const chain = [
      ok(await stage.opens({ lots: lots(u(40)), takeProfit: p(200.5) })),
      ok(await stage.opens({ userId: U(2), lots: lots(u(20)), stopLoss: p(200.4) })),
    ]
    // 11 more lots make leaving worth 200.51 to the first, whose leaving makes it 200.21 for the second.
    const last = ok(await stage.opens({ userId: U(3), lots: lots(u(11)) }))
    const closes = chain.map((t) => stage.closeOf(t.position.id))
    expect(closes.map((close) => [close?.by, close?.price])).toEqual([
      ['take_profit', u(200.51)],
      ['stop_loss', u(200.21)],
    ])
    expect(last.price).toBe(u(200.11))
    expect(priceOf(stage)).toBe(u(200.11))
    checkAll(stage.actor.view)
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T32] positions that one price reaches leave as one step, at one price: the mean over all they remove together', async () => {
    const stage = await ActorRig.set({ ...WIDE, users: 4 })
    const group = []
    for (const n of [1, 2, 3])
      group.push(ok(await stage.opens({ userId: U(n), lots: lots(u(10)), takeProfit: p(200.4) })))
    ok(await stage.opens({ userId: U(4), lots: lots(u(15)) }))
    const closes = group.map((t) => stage.closeOf(t.position.id))
    // From 45 lots to 15.
    expect(closes.map((close) => close?.price)).toEqual([u(200.3), u(200.3), u(200.3)])
    expect(priceOf(stage)).toBe(u(200.15))
  })

  it('[T12] a position washes out when its loss has eaten the margin, and never loses more', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ direction: 'short', lots: lots(u(2)) }))
    await scores(stage, 4)
    expect(stage.closeOf(position.id)).toMatchObject({ by: 'washout', pnl: -position.margin })
    expect(stage.store.walletOf(U(1)).balance).toBe(u(10_000) - position.margin)
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T13] the owner is warned once at 50 % and once at 80 % of the margin lost; the position stays open', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ direction: 'short', lots: lots(u(1)) }))
    const warnings = () => stage.events.flatMap((e) => (e.kind === 'margin_warned' ? [e.position.warned] : []))
    expect(warnings()).toEqual([])
    await scores(stage, 1)
    expect(warnings()).toEqual([50])
    await stage.load()
    await stage.moves(scored(1))
    expect(warnings()).toEqual([50])
    await stage.moves(scored(0))
    await scores(stage, 1)
    expect(warnings()).toEqual([50])
    expect(stage.store.positions.get(position.id)).toMatchObject({ warned: 50, close: null })
  })

  it('[T22] a changed rule that moves a price is published, and fires what it reached, on the next tick of the clock, restart or not', async () => {
    for (const restarts of [false, true]) {
      const stage = await ActorRig.set(WIDE)
      ok(await stage.opens({ lots: lots(u(90)) }))
      const { position } = ok(await stage.opens({ userId: U(2), lots: lots(u(1)), stopLoss: p(200.5) }))
      stage.rules = { ...stage.rules, impactCapPpm: 1_000 }
      if (restarts) await stage.load()
      stage.actor.takeUnpublished()
      await stage.actor.clock()
      const closed = stage.store.positions.get(position.id)
      expect(closed?.close).toMatchObject({ by: 'stop_loss', price: u(200.2) })
      expect(stage.actor.takeUnpublished()).toMatchObject([{ quote: { price: u(200.2) } }])
      expect([...stage.actor.view.openPositions()]).toHaveLength(1)
    }
  })

  it('[T14] after a restart the missed price is applied first and fires what it crossed', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ direction: 'short', stopLoss: p(203), lots: lots(u(1)) }))
    await stage.load()
    expect(stage.closeOf(position.id)).toBeNull()
    await stage.moves(scored(1))
    expect(stage.closeOf(position.id)?.by).toBe('stop_loss')
  })
})

describe('suspension', () => {
  it('[T20] news suspends nobody: right after a goal users open, and close what they have held long enough', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    stage.world.pass(HOLD_MS)
    await stage.moves({ ...scored(1), players: [player(1), player(2)] })
    expect(stage.actor.window(P(1))).toEqual({ status: 'OPEN', reason: null })
    stage.actor.takeUnpublished()
    const opened = ok(await stage.opens({ userId: U(2), clientPrice: priceOf(stage) }))
    expect(codeOf(await stage.closes(position.id))).toBe('ok')
    expect(codeOf(await stage.closes(opened.position.id, U(2)))).toBe('cooldown_active')
  })

  it('[T20] what was opened and closed around news stays as it was, also when the news is taken back', async () => {
    const stage = await ActorRig.set()
    const [kept, left] = [ok(await stage.opens()).position, ok(await stage.opens({ userId: U(2) })).position]
    stage.world.pass(HOLD_MS)
    const late = ok(await stage.opens({ userId: U(3) })).position
    const closed = ok(await stage.closes(left.id, U(2))).position
    const before = priceOf(stage)
    await scores(stage, 1)
    expect(priceOf(stage)).toBeGreaterThan(before * 1.015)
    expect([kept, late].map(({ id }) => stage.closeOf(id))).toEqual([null, null])
    const won = ok(await stage.closes(kept.id))
    expect(won.position.close?.pnl).toBeGreaterThan(0)
    for (let n = 0; n < 4; n++) await stage.moves(scored(0))
    expect(stage.store.positions.get(left.id)).toEqual(closed)
    expect(stage.store.positions.get(kept.id)).toEqual(won.position)
    expect(stage.store.walletOf(U(1))).toEqual(won.wallet)
    expect(stage.store.positions.get(late.id)).toEqual(late)
  })

  it('[T21] a match in play is suspended when no poll has told of it for 60 s', async () => {
    const stage = await ActorRig.set({ rules: { feedStaleMs: DEFAULT_RULES.feedStaleMs } })
    stage.world.pass(DEFAULT_RULES.feedStaleMs)
    expect(stage.actor.window().status).toBe('OPEN')
    stage.world.pass(1)
    expect(stage.actor.window()).toEqual({ status: 'SUSPENDED', reason: 'the live feed is late' })
    expect(codeOf(await stage.opens())).toBe('market_suspended')
    await stage.moves()
    expect(stage.actor.window().status).toBe('OPEN')
  })

  it.each([
    ['SUSPENDED', 'the match is interrupted'],
    ['INTERRUPTED', 'the match is interrupted'],
    ['AWAITING_UPDATES', 'the live feed is late'],
    ['SOMETHING_NEW', 'the state of the match is not known'],
  ])('[I8] the state %s suspends a match and says why', async (state, reason) => {
    const stage = await ActorRig.set()
    await stage.moves({ state })
    expect(stage.actor.window()).toEqual({ status: 'SUSPENDED', reason })
  })

  it('[T21] polls that show nothing new keep it open, until its clock has stood still for 180 s', async () => {
    const { feedStaleMs, feedFrozenMs } = DEFAULT_RULES
    const stage = await ActorRig.set({ rules: { feedStaleMs, feedFrozenMs } })
    const passes = async (ms: number, over: Parameters<typeof stage.moves>[0]) => {
      for (let passed = 0; passed < ms; passed += 10 * SECOND_MS) {
        stage.world.pass(10 * SECOND_MS)
        await stage.moves(over)
      }
    }
    await stage.moves({ periods: half(600) })
    await passes(feedFrozenMs, { periods: half(600) })
    expect(stage.actor.window().status).toBe('OPEN')
    await passes(10 * SECOND_MS, { periods: half(600) })
    expect(stage.actor.window()).toEqual({ status: 'SUSPENDED', reason: 'the match clock stands still' })
    await stage.moves({ periods: half(601) })
    expect(stage.actor.window().status).toBe('OPEN')
    // A break has no clock that runs, and an old payload shows that the feed answers.
    await passes(2 * feedFrozenMs, { state: 'HT', stateId: 3, periods: half(601, false) })
    expect(stage.actor.window().status).toBe('OPEN')
    await stage.moves({ periods: half(602) })
    await passes(2 * feedStaleMs, { periods: half(500) })
    expect(stage.actor.window().status).toBe('OPEN')
    await passes(feedFrozenMs - 2 * feedStaleMs + 10 * SECOND_MS, { periods: half(500) })
    expect(stage.actor.window().reason).toBe('the match clock stands still')
  })

  it('[P7] an end settles, however far its clock is behind', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    await stage.moves()
    await stage.moves({ state: 'FINISHED', stateId: 5, periods: half(1, false) })
    await stage.actor.stop()
    expect(stage.closeOf(position.id)?.by).toBe('full_time')
  })

  it('[P7] a contradicted full time is not confirmed by updates that are refused', async () => {
    const stage = await ActorRig.set({ rules: { settlementConfirmMs: 60 * SECOND_MS } })
    await stage.moves()
    await stage.moves({ state: 'FT', stateId: 5, periods: [] })
    const settling = async (over: Parameters<typeof stage.moves>[0]) => {
      stage.world.pass(60 * SECOND_MS)
      await stage.moves(over)
      return stage.actor.view.info.settling
    }
    expect(await settling({ periods: half(1) })).toBeNull()
    expect(await settling({ state: 'FT', stateId: 5, periods: [] })).toBe('full_time')
  })
})

describe('the end of a match', () => {
  const over = (state: string) => ({ state, stateId: 5, periods: [] })

  const still = half(20, false)

  it.each([
    ['uncapped', [20, 5, 5], 200.3],
    ['capped', [100, 100, 25], 200.4],
  ] as const)(
    '[T24] everybody leaves an ended match at live base + k_mod × imbalance of that moment, with the crowd’s part %s',
    async (_, sizes, at) => {
      const stage = await ActorRig.set({ balance: money(u(20_000)) })
      const held = []
      for (const [n, size] of sizes.entries()) {
        stage.actor.takeUnpublished()
        const clientPrice = priceOf(stage)
        held.push(ok(await stage.opens({ userId: U(n + 1), lots: lots(u(size)), clientPrice })).position)
      }
      stage.world.pass(HOLD_MS)
      expect(priceOf(stage)).toBe(u(at))
      await stage.moves(over('FT'))
      expect(stage.actor.view.instrument(P(1))).toMatchObject({ endedImbalance: u(sizes[0] + sizes[1] + sizes[2]) })
      // Between the whistle and the settlement one leaves at the price at which the others are settled.
      const [first, ...rest] = held
      const left = ok(await stage.closes(first?.id ?? positionId('none')))
      expect([left.position.close?.price, left.position.close?.by, left.price]).toEqual([u(at), 'user', u(at)])
      // What the statistics say later is for the record.
      await stage.moves({ ...scored(2), ...over('FT'), periods: still })
      expect(priceOf(stage)).toBe(u(at))
      stage.world.pass(DEFAULT_RULES.settlementConfirmMs)
      await stage.moves({ ...scored(2), ...over('FT'), periods: still })
      await stage.actor.stop()
      const closes = rest.map(({ id }) => stage.closeOf(id))
      expect(closes.map((close) => [close?.by, close?.price])).toEqual(rest.map(() => ['full_time', u(at)]))
      expect(stage.actor.view.instrument(P(1))).toMatchObject({ settlement: u(at), imbalance: 0 })
      // A crowd of one side gains by it, at most half of what it moved the price by.
      const paid = held.reduce((sum, { id }) => sum + (stage.closeOf(id)?.pnl ?? 0), 0)
      const margins = held.reduce((sum, { margin }) => sum + margin, 0)
      expect(paid).toBeGreaterThan(0)
      expect(paid).toBeLessThanOrEqual((margins * 10 * DEFAULT_RULES.impactCapPpm) / 2 / 1_000_000)
      expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
    },
  )

  it('[T33] once the match has ended nothing is opened, nothing fires and no price moves; users may close', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ lots: lots(u(10)) }))
    const other = ok(await stage.opens({ userId: U(2), lots: lots(u(20)), stopLoss: p(200.12) })).position
    await stage.moves(over('FT'))
    stage.actor.takeUnpublished()
    expect(codeOf(await stage.closes(position.id))).toBe('cooldown_active')
    stage.world.pass(HOLD_MS)
    expect(codeOf(await stage.opens({ userId: U(3), clientPrice: priceOf(stage) }))).toBe('market_closed')
    // Without it the price would be 200.2, and the stop would be reached.
    expect(ok(await stage.closes(position.id)).position.close).toMatchObject({ price: u(200.3), by: 'user' })
    await stage.actor.clock()
    stage.rules = { ...stage.rules, impactCapPpm: 100 }
    await stage.actor.clock()
    expect([priceOf(stage), stage.closeOf(other.id)]).toEqual([u(200.3), null])
    expect(stage.actor.takeUnpublished()).toEqual([])
    expect(stage.store.walletOf(U(2)).unrealizedPnl).toBe(u(10))
  })

  it('[T33] when play goes on the price follows again, and fires what it then reaches', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ lots: lots(u(10)) }))
    const other = ok(await stage.opens({ userId: U(2), lots: lots(u(20)), stopLoss: p(200.12) })).position
    stage.world.pass(HOLD_MS)
    await stage.moves(over('FT'))
    ok(await stage.closes(position.id))
    await stage.moves({ state: 'INPLAY_ET', stateId: 6 })
    expect(stage.closeOf(other.id)).toMatchObject({ by: 'stop_loss', price: priceOf(stage) + u(0.1) })
    expect(stage.actor.view.instrument(P(1))).toMatchObject({ endedImbalance: null, imbalance: 0 })
    const before = priceOf(stage)
    await stage.moves({ ...scored(1), state: 'INPLAY_ET', stateId: 6 })
    expect(priceOf(stage)).toBeGreaterThan(before)
    checkAll(stage.actor.view)
  })

  it('[T33] the update that shows the end is the last that moves a price, and fires what that reaches', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ direction: 'short', stopLoss: p(203.5), lots: lots(u(1)) }))
    const high = ok(await stage.opens({ userId: U(2), direction: 'short', stopLoss: p(215), lots: lots(u(1)) }))
    await stage.moves({ ...scored(1), ...over('FT'), periods: still })
    const ended = priceOf(stage)
    expect(ended).toBeGreaterThan(u(203.5))
    expect(stage.closeOf(position.id)).toMatchObject({ by: 'stop_loss' })
    expect(stage.actor.view.instrument(P(1))).toMatchObject({ endedImbalance: u(-1) })
    for (let n = 2; n <= 4; n++) await stage.moves({ ...scored(n), ...over('FT'), periods: still })
    expect([priceOf(stage), stage.closeOf(high.position.id)]).toEqual([ended, null])
  })

  it('[T33] levels whose step is under way at the whistle leave first, at one price; then the price stands still', async () => {
    const users = 6
    const stage = await ActorRig.set({ users, batchMax: 2 })
    const short = { direction: 'short', lots: lots(u(2)) } as const
    const stopped = []
    for (let n = 1; n < users; n++) {
      stopped.push(ok(await stage.opens({ ...short, userId: U(n), stopLoss: p(203) })).position)
    }
    const { position } = ok(await stage.opens({ ...short, userId: U(users), stopLoss: p(215) }))
    stage.world.pass(HOLD_MS)
    await stage.moves({ ...scored(1), ...over('FT'), periods: still })
    const left = stage.closes(position.id, U(users))
    expect(stage.actor.view.instrument(P(1))).toMatchObject({ leavingFrom: u(-12), endedImbalance: null })
    expect(await left).toMatchObject({ refusal: { code: 'market_suspended' } })
    await vi.waitFor(() => expect(stage.actor.view.instrument(P(1))?.leavingFrom).toBeNull(), { timeout: 30_000 })
    expect(stage.actor.view.instrument(P(1))).toMatchObject({ imbalance: u(-2), endedImbalance: u(-2) })
    const closes = stopped.map(({ id }) => stage.closeOf(id))
    expect(closes.map((close) => [close?.by, close?.price])).toEqual(
      closes.map(() => ['stop_loss', (closes[0]?.price ?? 0) as number]),
    )
    expect(ok(await stage.closes(position.id, U(users))).position.close?.price).toBe(priceOf(stage))
    checkAll(stage.actor.view)
  })

  it('[T23] FT closes the market to opens at once and settles when it has held; play going on cancels it', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    await stage.moves(over('FT'))
    expect(codeOf(await stage.opens({ userId: U(2) }))).toBe('market_closed')
    stage.world.pass(DEFAULT_RULES.settlementConfirmMs - 1)
    await stage.actor.clock()
    expect(stage.closeOf(position.id)).toBeNull()
    await stage.moves({ state: 'BREAK', stateId: 4, periods: [] })
    stage.world.pass(DEFAULT_RULES.settlementConfirmMs)
    await stage.actor.clock()
    expect(stage.actor.view.info.settling).toBeNull()
    await stage.moves(over('AET'))
    stage.world.pass(DEFAULT_RULES.settlementConfirmMs)
    await stage.moves(over('AET'))
    await stage.actor.stop()
    expect(stage.closeOf(position.id)?.by).toBe('full_time')
  })

  it('[T23] a live feed that falls silent after full time settles nothing until it returns', async () => {
    const stage = await ActorRig.set()
    await stage.moves(over('FT'))
    stage.world.pass(60 * DEFAULT_RULES.settlementConfirmMs)
    await stage.actor.clock()
    expect(stage.actor.view.info.settling).toBeNull()
    await stage.moves({ state: 'INPLAY_ET', stateId: 6 })
    expect(stage.actor.window().status).toBe('OPEN')
    await stage.moves(over('AET'))
    stage.world.pass(DEFAULT_RULES.settlementConfirmMs)
    await stage.moves(over('AET'))
    expect(stage.actor.view.info.settling).toBe('full_time')
  })

  it('[T23] a replay counts the confirmation in updates, at any speed', async () => {
    const stage = await ActorRig.set({ record: record({ info: info({ replay: true }) }) })
    for (let n = 0; n < REPLAY_CONFIRM_UPDATES; n++) await stage.moves(over('FT'))
    expect(stage.actor.view.info.settling).toBeNull()
    await stage.moves(over('FT'))
    expect(stage.actor.view.info.settling).toBe('full_time')
  })

  it('[T25] a match that will not be played voids every position: margin back, no profit, no loss', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ lots: lots(u(3)) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(20)) }))
    const abandoned = { state: 'ABANDONED', stateId: 15, periods: [] }
    await stage.moves(abandoned)
    expect(stage.closeOf(position.id), 'after one poll').toBeNull()
    await stage.moves(abandoned)
    await stage.actor.stop()
    expect(stage.closeOf(position.id)).toMatchObject({
      by: 'void',
      pnl: 0,
      price: position.openPrice,
    })
    expect([U(1), U(2)].map((user) => stage.store.walletOf(user).balance)).toEqual([u(10_000), u(10_000)])
  })

  it.each(['the feed', 'an operator'])('[I1] the price of a match that %s voids keeps its imbalance', async (by) => {
    const stage = await ActorRig.set()
    ok(await stage.opens({ lots: lots(u(30)) }))
    if (by === 'an operator') await stage.actor.end('void')
    else for (const _ of [1, 2]) await stage.moves({ state: 'ABANDONED', stateId: 15, periods: [] })
    await stage.actor.stop()
    const listed = present(stage.actor.view.instrument(P(1)), 'instrument')
    expect(listed).toMatchObject({ base: u(200), imbalance: 0, settlement: u(200.3) })
    expect([quoteOf(listed).imbalance, slopeInForce(listed)]).toEqual([u(30), 0.01])
  })

  it.each([
    ['full time', [over('FT'), over('ABANDONED'), over('FT')]],
    ['an old payload', [{}, over('ABANDONED'), { periods: half(2) }, {}]],
  ])('[T25] one poll alone voids nothing, beside %s', async (_, polls) => {
    const stage = await ActorRig.set()
    for (const poll of polls) {
      await stage.moves(poll)
      await stage.actor.clock()
      expect(stage.actor.view.info.settling).toBeNull()
    }
  })

  it('[V10] a fixture that comes back after it was void is a new playing, traded and settled like any match', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ lots: lots(u(3)) }))
    const postponed = { state: 'POSTPONED', stateId: 10, periods: [] }
    for (const _ of [1, 2]) await stage.moves(postponed)
    await stage.actor.clock()
    expect(stage.actor.view.info).toMatchObject({ settling: 'void', settledAt: expect.any(Number) })
    expect(await stage.moves(postponed), 'it has not come back yet').toBe(false)
    const startsAt = instant(stage.world.now() + 90 * 60_000)
    await stage.moves({ state: 'NS', stateId: 1, periods: [], startsAt })
    expect(stage.actor.view.info).toMatchObject({ state: 'NS', startsAt, settling: null, settledAt: null })
    expect(stage.actor.window().reason).toBe('the match has not kicked off')
    await stage.load()
    await stage.moves()
    expect(stage.actor.window().status).toBe('OPEN')
    const listed = present(stage.actor.view.instrument(position.instrumentId), 'instrument')
    expect(listed).toMatchObject({ settlement: null, endedImbalance: null, imbalance: 0 })
    const again = ok(await stage.opens({ lots: lots(u(3)), clientPrice: listed.published }))
    await stage.moves({ state: 'FINISHED', stateId: null, periods: [] })
    await stage.actor.stop()
    expect(stage.closeOf(position.id)?.by, 'what was void stays void').toBe('void')
    expect(stage.closeOf(again.position.id)?.by).toBe('full_time')
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[V11] put off before its kick-off nothing ends, and the positions can be closed', async () => {
    const notStarted = { state: 'NS', stateId: 1, periods: [] }
    const before = newMatch(snapshot(notStarted), { replay: false })
    const stage = await ActorRig.set({ record: before })
    stage.rules = { ...stage.rules, preMatch: true, holdMs: 0 }
    await stage.moves(notStarted)
    const held = present([...stage.actor.view.instruments()][0], 'instrument')
    const order = { instrumentId: held.id, clientPrice: held.published, lots: lots(u(1)) }
    const { position } = ok(await stage.opens(order))
    const kept = ok(
      await stage.opens({
        ...order,
        userId: U(2),
        clientPrice: stage.actor.view.instrument(held.id)?.published ?? held.published,
      }),
    )
    for (const _ of [1, 2, 3]) await stage.moves({ state: 'POSTPONED', stateId: 10, periods: [] })
    expect(stage.actor.view.info.settling).toBeNull()
    ok(await stage.closes(position.id))
    await stage.moves({ ...notStarted, startsAt: instant(stage.world.now() + 90 * 60_000) })
    await stage.moves()
    expect(stage.actor.window().status).toBe('OPEN')
    expect(stage.actor.view.position(kept.position.id)).toBeDefined()
  })

  it('[V12] players keep their teams when home and away are exchanged', async () => {
    const stage = await ActorRig.set()
    const [one] = [...stage.actor.view.instruments()]
    const { id, side } = present(one, 'instrument')
    await stage.moves()
    const team = stage.actor.view.info[side]
    const other = (its: Side): Side => (its === 'home' ? 'away' : 'home')
    const { home, away } = snapshot()
    const players = snapshot().players.map((row) => ({ ...row, side: other(row.side) }))
    await stage.moves({ home: away, away: home, players })
    const now = present(stage.actor.view.instrument(id), 'instrument')
    expect(stage.actor.view.info[now.side]).toMatchObject({ id: team.id, name: team.name })
    await stage.load()
    expect(stage.actor.view.instrument(id)?.side).toBe(now.side)
  })

  it('[T26] an interrupted settlement continues after a restart, at the same price, and pays each position once', async () => {
    const users = 700
    const stage = await ActorRig.set({ users })
    const opened = await Promise.all(
      Array.from({ length: users }, (_, i) => stage.opens({ userId: U(i + 1), lots: lots(u(0.1)) })),
    )
    expect(opened.every((o) => o.ok)).toBe(true)
    let commits = 0
    const commit = stage.store.commit.bind(stage.store)
    stage.store.commit = async (batch) => {
      if (++commits === 3) throw new Error('power cut')
      return commit(batch)
    }
    await stage.moves(over('FINISHED')).catch(() => undefined)
    await stage.actor.stop()
    const paid = [...stage.store.positions.values()].filter((position) => position.close !== null).length
    expect(paid).toBe(500)
    expect(stage.stopped?.reason).toBe('fault')
    await stage.load()
    await stage.actor.clock()
    await stage.actor.stop()
    const prices = new Set([...stage.store.positions.values()].map((position) => position.close?.price))
    expect(prices.size).toBe(1)
    expect(stage.actor.view.info.settledAt).not.toBeNull()
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T27] nothing changes a settled match', async () => {
    const stage = await ActorRig.set()
    await stage.moves(over('FINISHED'))
    await stage.actor.stop()
    await stage.load()
    expect(await stage.moves(scored(3))).toBe(false)
    expect(priceOf(stage)).toBe(u(200))
    expect(codeOf(await stage.opens())).toBe('market_closed')
  })
})

describe('listing', () => {
  it('[T28] a player listed by an unsettled match is listed once that has settled', async () => {
    const stage = await ActorRig.set()
    const elsewhere = record({ info: info({ matchId: fixtureId(90_002) }), instruments: [instrument(7)] })
    stage.store.put(elsewhere)
    await stage.moves({ players: [player(1), player(7)] })
    expect(stage.actor.view.instrument(P(7))).toBeUndefined()
    stage.store.put({ ...elsewhere, info: { ...elsewhere.info, settledAt: stage.world.now() } })
    await stage.moves({ players: [player(1), player(7)] })
    expect(stage.actor.view.instrument(P(7))).toBeDefined()
  })
})

describe('quoting', () => {
  it('[T19] a quote says exactly what opening then costs, and changes nothing', async () => {
    const stage = await ActorRig.set()
    const asked = { lots: lots(u(10)), stopLoss: p(190), takeProfit: p(210) }
    const before = stage.store.ledger.length
    const quoted = stage.quotes(asked)
    expect(stage.store.ledger.length).toBe(before)
    const { position } = ok(await stage.opens({ ...asked, clientPrice: p(200) }))
    expect(quoted).toMatchObject({
      fillPrice: position.openPrice,
      exitPrice: position.openPrice,
      impact: u(0.05),
      margin: position.margin,
      washoutPrice: u(180.045),
      pnlAtStopLoss: u(-502.5),
      pnlAtTakeProfit: u(497.5),
      refusal: null,
    })
  })

  it('[T19] a quote answers for every size and level that can be written', async () => {
    const stage = await ActorRig.set()
    const most = { lots: lots(MICROS_MAX), stopLoss: p(0.01), takeProfit: price(MICROS_MAX) }
    const quoted = stage.quotes(most)
    expect(quoted.refusal?.code).toBe('lot_size_invalid')
    expect(quoted).toMatchObject({ fillPrice: u(200.32), pnlAtTakeProfit: null })
    expect(stage.quotes({ ...most, lots: lots(u(100)) }).refusal).toBeNull()
  })

  it("[T19][L1] the most that a quote offers is within the user's own limit for a day", async () => {
    const stage = await ActorRig.set()
    const limited = (limit: number) => ({
      available: money(u(10_000)),
      openPositions: 0,
      bounds: { until: null, dailyLoss: money(u(limit)), lostToday: money(u(100)), atStake: money(u(50)) },
    })
    const quoted = (limit: number, size: Lots) => stage.quotes({ lots: size, means: { main: limited(limit) } })
    const { maxLots } = quoted(250, lots(u(10)))
    expect(maxLots).toBe(lots(u(0.99)))
    expect(quoted(250, maxLots).refusal).toBeNull()
    expect(quoted(250, lots(maxLots + 10_000)).refusal).toMatchObject({ code: 'limit_reached' })
    expect(quoted(100, lots(u(1))).maxLots, 'the limit is passed').toBe(0)
  })

  it('[T19] a quote names the refusal that opening would meet', async () => {
    const stage = await ActorRig.set()
    const { balance: available } = stage.store.walletOf(U(1))
    const poor = { lots: lots(u(100)), means: { main: { available, openPositions: 0 } } }
    expect(stage.quotes(poor).refusal).toMatchObject({ code: 'insufficient_margin', maxLots: u(99.84) })
    const holding = (openPositions: number) => ({
      lots: lots(u(1)),
      means: { main: { available, openPositions }, practice: { available: money(0), openPositions: 0 } },
    })
    const crowded = holding(stage.rules.openPositionsMax)
    expect(stage.quotes(crowded).refusal).toEqual({ code: 'position_limit', max: 100 })
    expect(stage.quotes(holding(99)).refusal, 'the other purse is empty').toBeNull()
    const seen = (clientPrice: Price) => stage.quotes({ ...holding(0), clientPrice }).refusal
    expect(seen(p(200))).toBeNull()
    expect(seen(p(206))).toEqual({ code: 'price_moved', currentPrice: p(200), lastPublishedPrice: p(200) })
    stage.rules = { ...stage.rules, feedStaleMs: 0 }
    stage.world.pass(1)
    expect(stage.quotes().refusal?.code).toBe('market_suspended')
    expect(stage.actor.matchId).toBe(MATCH)
  })
})
