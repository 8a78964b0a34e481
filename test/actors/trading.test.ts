import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES, REPLAY_CONFIRM_UPDATES } from '../../actors/kernel/limits.ts'
import { lots, MICROS_MAX, price, money } from '../../actors/kernel/micros.ts'
import { fixtureId, positionId, playerId } from '../../actors/kernel/ids.ts'
import type { FixtureEvent, FixtureSnapshot } from '../../actors/market/fixture.ts'
import { quoteOf, settlesAt } from '../../actors/market/instrument.ts'
import { checkAll } from '../../actors/match/invariants.ts'
import { GOAL, info, instrument, MATCH, P, p, player, record, U, u } from '../support/fixtures.ts'
import { codeOf, ok, ActorRig } from '../support/actor-rig.ts'

const HOLD_MS = DEFAULT_RULES.holdMs
const priceOf = (stage: ActorRig, n = 1) => {
  const listed = stage.actor.view.instrument(P(n))
  if (listed === undefined) throw new Error(`no instrument ${n}`)
  return quoteOf(listed).price
}

/** A snapshot in which player 1 has scored `goals` times: about +3.8 % each, at most 5 % of the start price a tick. */
function scored(goals: number): Partial<FixtureSnapshot> {
  const events = Array.from({ length: goals }, (_, i): FixtureEvent => ({
    id: 700 + i,
    kind: 'goal',
    minute: 1,
    extraMinute: null,
    period: 1,
    side: 'home',
    playerId: playerId(1),
    playerName: 'Player 1',
    relatedPlayerId: null,
    relatedPlayerName: null,
    result: `${i + 1}-0`,
    addition: null,
    rescinded: false,
  }))
  const players = [player(1, { details: { 52: goals } }), player(2)]
  return { events, players, home: { id: 1, name: 'Harbour', goals } }
}

/** Lets the goal be priced, and the hold that it causes pass. */
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
    expect(wallet).toEqual({ balance: u(9949.999375), locked: 0, marginUsed: u(50.000625), unrealizedPnl: 0 })
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

  it('[T8] levels must lie on their sides of the fill price', async () => {
    const stage = await ActorRig.set()
    const levels = (stopLoss: number | null, takeProfit: number | null, direction: 'long' | 'short') =>
      stage.opens({
        direction,
        stopLoss: stopLoss === null ? null : p(stopLoss),
        takeProfit: takeProfit === null ? null : p(takeProfit),
      })
    expect(codeOf(await levels(190, 210, 'long'))).toBe('ok')
    expect(codeOf(await levels(210, null, 'long'))).toBe('levels_invalid')
    expect(codeOf(await levels(null, 190, 'long'))).toBe('levels_invalid')
    expect(codeOf(await levels(210, 190, 'short'))).toBe('ok')
    expect(codeOf(await levels(190, null, 'short'))).toBe('levels_invalid')
    expect(codeOf(await levels(null, 210, 'short'))).toBe('levels_invalid')
  })

  it('[T8] an order cannot be stopped by its own impact, neither at the price it leaves nor at the one it fills at', async () => {
    const stage = await ActorRig.set({ rules: { levelDistancePpm: 0 } })
    const short = { direction: 'short', lots: lots(u(10)) } as const
    expect(await stage.opens({ ...short, takeProfit: p(199.92) })).toMatchObject({
      refusal: { code: 'levels_invalid', currentPrice: u(199.9) },
    })
    expect(await stage.opens({ ...short, stopLoss: p(199.92) })).toMatchObject({
      refusal: { code: 'levels_invalid', currentPrice: u(199.95) },
    })
    expect(codeOf(await stage.opens({ ...short, stopLoss: p(199.96), takeProfit: p(199.89) }))).toBe('ok')
  })

  it('[T29] while the hold runs a level keeps its distance from the price, and no longer', async () => {
    const stage = await ActorRig.set()
    const near = await stage.opens({ stopLoss: p(197.01) })
    expect(near).toMatchObject({
      refusal: { code: 'level_too_close', currentPrice: u(200.005), distance: u(3.000075) },
    })
    const { position } = ok(await stage.opens({ stopLoss: p(197), takeProfit: p(203.01) }))
    const moved = (stopLoss: number) =>
      stage.actor.submit({
        kind: 'change_levels',
        userId: U(1),
        positionId: position.id,
        stopLoss: p(stopLoss),
        takeProfit: undefined,
      })
    expect(codeOf(await moved(199.99))).toBe('level_too_close')
    // An unchanged level is not checked again, wherever the price is now.
    ok(await stage.opens({ userId: U(2), direction: 'short', lots: lots(u(40)) }))
    expect(codeOf(await moved(196))).toBe('ok')
    stage.world.pass(HOLD_MS)
    expect(codeOf(await moved(199.5))).toBe('ok')
  })

  it('[T30] a player off the pitch takes no openings, can be closed, and opens when coming on', async () => {
    const bench = player(2, { starter: false })
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
    expect(maxLots).toBe(u(99.75))
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
    expect(closed.wallet).toEqual({ balance: u(10_000), locked: 0, marginUsed: 0, unrealizedPnl: 0 })
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
    expect(stage.store.positions.get(position.id)?.close).toMatchObject({ by: 'void', pnl: 0 })
  })
})

describe('changing levels', () => {
  it('[T9] a level left out is kept, null removes it, an invalid one changes nothing', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ stopLoss: p(190), takeProfit: p(230) }))
    const change = (stopLoss?: number | null, takeProfit?: number | null) =>
      stage.actor.submit({
        kind: 'change_levels',
        userId: U(1),
        positionId: position.id,
        stopLoss: typeof stopLoss === 'number' ? p(stopLoss) : stopLoss,
        takeProfit: typeof takeProfit === 'number' ? p(takeProfit) : takeProfit,
      })
    expect(ok(await change(195)).position).toMatchObject({ stopLoss: u(195), takeProfit: u(230) })
    expect(ok(await change(undefined, null)).position).toMatchObject({ stopLoss: u(195), takeProfit: null })
    expect(codeOf(await change(201))).toBe('levels_invalid')
    expect(stage.store.positions.get(position.id)).toMatchObject({ stopLoss: u(195), takeProfit: null })
  })

  it('[T31] while closing is suspended, a level is only removed or moved away from the price', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ stopLoss: p(190) }))
    const change = (stopLoss: number | null, takeProfit?: number) =>
      stage.actor.submit({
        kind: 'change_levels',
        userId: U(1),
        positionId: position.id,
        stopLoss: stopLoss === null ? null : p(stopLoss),
        takeProfit: takeProfit === undefined ? undefined : p(takeProfit),
      })
    await stage.moves(scored(1))
    expect(stage.actor.window(P(1)).status).toBe('SUSPENDED')
    expect(codeOf(await change(191))).toBe('market_suspended')
    expect(codeOf(await change(190, 230))).toBe('market_suspended')
    expect(codeOf(await change(189))).toBe('ok')
    expect(codeOf(await change(null))).toBe('ok')
  })
})

describe('system closes', () => {
  it('[T10] a stop-loss fires on the tick that crosses it, at the price of that tick, within the hold', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ direction: 'short', stopLoss: p(203), lots: lots(u(1)) }))
    await stage.moves(scored(1))
    const close = stage.store.positions.get(position.id)?.close
    expect(close).toMatchObject({ by: 'stop_loss' })
    expect(close?.price).toBeGreaterThan(u(203))
    // One lot short is open: leaving alone costs half of what it moves.
    const prices = stage.events.flatMap((e) => (e.kind === 'price_moved' && e.cause === 'event' ? [e.quote.price] : []))
    expect(prices[0]).toBe((close?.price ?? 0) - u(0.005))
  })

  it('[T10] a take-profit fires on a price that the crowd moved, when leaving alone pays it', async () => {
    const stage = await ActorRig.set({ rules: { levelDistancePpm: 0 } })
    const { position } = ok(await stage.opens({ takeProfit: p(200.1) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(9.75)) }))
    expect(priceOf(stage)).toBe(u(200.0975))
    // The imbalance was 10.25 lots for a moment, and leaving with half a lot pays the middle of that step.
    expect(stage.store.positions.get(position.id)?.close).toMatchObject({ by: 'take_profit', price: u(200.1) })
  })

  it('[T10] a take-profit that leaves alone never fills below its level', async () => {
    const stage = await ActorRig.set({ rules: { levelDistancePpm: 0 } })
    const { position } = ok(await stage.opens({ lots: lots(u(20)), takeProfit: p(200.25) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(14)) }))
    expect(priceOf(stage)).toBeGreaterThan(u(200.25))
    expect(stage.store.positions.get(position.id)?.close).toBeNull()
    ok(await stage.opens({ userId: U(3), lots: lots(u(1)) }))
    expect(stage.store.positions.get(position.id)?.close).toMatchObject({ price: u(200.25) })
  })

  it('[T11] a close moves the price, which may close others: the cascade runs until nothing fires', async () => {
    const stage = await ActorRig.set({ rules: { levelDistancePpm: 0 } })
    const chain = [
      ok(await stage.opens({ lots: lots(u(40)), takeProfit: p(200.5) })),
      ok(await stage.opens({ userId: U(2), lots: lots(u(20)), stopLoss: p(200.4) })),
    ]
    // 11 more lots make leaving worth 200.51 to the first, whose leaving makes it 200.21 for the second.
    const last = ok(await stage.opens({ userId: U(3), lots: lots(u(11)) }))
    const closes = chain.map((t) => stage.store.positions.get(t.position.id)?.close)
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
    const stage = await ActorRig.set({ rules: { levelDistancePpm: 0 }, users: 4 })
    const group = []
    for (const n of [1, 2, 3])
      group.push(ok(await stage.opens({ userId: U(n), lots: lots(u(10)), takeProfit: p(200.4) })))
    ok(await stage.opens({ userId: U(4), lots: lots(u(15)) }))
    const closes = group.map((t) => stage.store.positions.get(t.position.id)?.close)
    // From 45 lots to 15.
    expect(closes.map((close) => close?.price)).toEqual([u(200.3), u(200.3), u(200.3)])
    expect(priceOf(stage)).toBe(u(200.15))
  })

  it('[T12] a position washes out when its loss has eaten the margin, and never loses more', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ direction: 'short', lots: lots(u(2)) }))
    await scores(stage, 4)
    expect(stage.store.positions.get(position.id)?.close).toMatchObject({ by: 'washout', pnl: -position.margin })
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
      const stage = await ActorRig.set({ rules: { levelDistancePpm: 0 } })
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
    expect(stage.store.positions.get(position.id)?.close).toBeNull()
    await stage.moves(scored(1))
    expect(stage.store.positions.get(position.id)?.close?.by).toBe('stop_loss')
  })
})

describe('suspension', () => {
  it('[T20] a goal suspends its scorer until the statistics know it, and no other player', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    stage.world.pass(HOLD_MS)
    const unknown = { ...scored(1), players: [player(1), player(2)] }
    await stage.moves(unknown)
    expect(codeOf(await stage.opens())).toBe('market_suspended')
    expect(codeOf(await stage.closes(position.id))).toBe('market_suspended')
    expect(codeOf(await stage.opens({ instrumentId: P(2) }))).toBe('ok')
    await stage.moves(unknown)
    expect(codeOf(await stage.opens())).toBe('market_suspended')
    await stage.moves(scored(1))
    stage.actor.takeUnpublished()
    expect(codeOf(await stage.opens({ clientPrice: priceOf(stage) }))).toBe('ok')
  })

  it('[T21] a feed older than 25 s suspends a match in play; fresh data reopens it', async () => {
    const stage = await ActorRig.set({ rules: { feedStaleMs: DEFAULT_RULES.feedStaleMs } })
    stage.world.pass(DEFAULT_RULES.feedStaleMs)
    expect(stage.actor.window().status).toBe('OPEN')
    stage.world.pass(1)
    expect(stage.actor.window()).toEqual({ status: 'SUSPENDED', reason: 'the live feed is late' })
    expect(codeOf(await stage.opens())).toBe('market_suspended')
    await stage.moves()
    expect(stage.actor.window().status).toBe('OPEN')
  })
})

describe('the end of a match', () => {
  const over = (state: string) => ({ state, stateId: 5, periods: [] })

  it('[T24] all positions settle at live base + k_mod × imbalance, the mean over the whole book, as it was shown before', async () => {
    const stage = await ActorRig.set()
    ok(await stage.opens({ lots: lots(u(20)) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(10)) }))
    ok(await stage.opens({ userId: U(3), direction: 'short', lots: lots(u(5)), clientPrice: p(200) }))
    expect(priceOf(stage)).toBe(u(200.25))
    const [listed] = [...stage.actor.view.instruments()]
    const settlement = listed === undefined ? null : settlesAt(listed)
    expect(settlement).toBe(u(200.125))
    await stage.moves(over('FINISHED'))
    await stage.actor.stop()
    const closes = [...stage.store.positions.values()].map((position) => position.close)
    expect(closes.map((c) => [c?.by, c?.price])).toEqual(closes.map(() => ['full_time', settlement]))
    expect(stage.actor.view.info.settledAt).not.toBeNull()
    expect(stage.actor.view.instrument(P(1))).toMatchObject({ settlement, imbalance: 0 })
    // They paid each other: the last has gained what the first have lost.
    expect([1, 2, 3].map((n) => stage.store.walletOf(U(n)).balance - u(10_000))).toEqual([u(2.5), u(-6.25), u(3.75)])
    expect(stage.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('[T33] while full time waits to be confirmed the price is what it would settle at, trading stops and nothing fires', async () => {
    const stage = await ActorRig.set({ rules: { levelDistancePpm: 0 } })
    ok(await stage.opens({ lots: lots(u(90)) }))
    const { position } = ok(await stage.opens({ userId: U(2), lots: lots(u(1)), stopLoss: p(200.7) }))
    stage.world.pass(HOLD_MS)
    stage.actor.takeUnpublished()
    await stage.moves(over('FT'))
    expect(stage.actor.takeUnpublished()).toMatchObject([
      { quote: { price: u(200.455), slope: u(0.005) }, cause: 'match' },
    ])
    expect(codeOf(await stage.closes(position.id, U(2)))).toBe('market_closed')
    expect(codeOf(await stage.opens({ userId: U(3) }))).toBe('market_closed')
    await stage.actor.clock()
    expect(stage.store.positions.get(position.id)?.close).toBeNull()
    expect(stage.store.walletOf(U(2)).unrealizedPnl).toBe(u(-2.25))
    // Play goes on: the price is back where it was, above the stop.
    await stage.moves()
    expect(priceOf(stage)).toBe((stage.actor.view.instrument(P(1))?.base ?? 0) + u(0.91))
    expect(stage.store.positions.get(position.id)?.close).toBeNull()
    expect(codeOf(await stage.closes(position.id, U(2)))).toBe('ok')
  })

  it('[T33] what a price reached while full time waited fires when play goes on', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens({ direction: 'short', stopLoss: p(203.5), lots: lots(u(1)) }))
    const still = [
      { id: 1, kind: 'first_half', order: 1, countsFrom: 0, length: 45, elapsedSecs: 20, ticking: false },
    ] as const
    await stage.moves({ ...scored(1), state: 'FT', stateId: 5, periods: still })
    expect(priceOf(stage)).toBeGreaterThan(u(203.5))
    expect(stage.store.positions.get(position.id)?.close).toBeNull()
    await stage.moves({ ...scored(1), state: 'INPLAY_ET', stateId: 6 })
    expect(stage.store.positions.get(position.id)?.close?.by).toBe('stop_loss')
  })

  it('[T23] FT closes the market to opens at once and settles when it has held; play going on cancels it', async () => {
    const stage = await ActorRig.set()
    const { position } = ok(await stage.opens())
    await stage.moves(over('FT'))
    expect(codeOf(await stage.opens({ userId: U(2) }))).toBe('market_closed')
    stage.world.pass(DEFAULT_RULES.settlementConfirmMs - 1)
    await stage.actor.clock()
    expect(stage.store.positions.get(position.id)?.close).toBeNull()
    await stage.moves({ state: 'BREAK', stateId: 4, periods: [] })
    stage.world.pass(DEFAULT_RULES.settlementConfirmMs)
    await stage.actor.clock()
    expect(stage.actor.view.info.settling).toBeNull()
    await stage.moves(over('AET'))
    stage.world.pass(DEFAULT_RULES.settlementConfirmMs)
    await stage.moves(over('AET'))
    await stage.actor.stop()
    expect(stage.store.positions.get(position.id)?.close?.by).toBe('full_time')
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
    await stage.moves({ state: 'ABANDONED', stateId: 15, periods: [] })
    await stage.actor.stop()
    expect(stage.store.positions.get(position.id)?.close).toMatchObject({
      by: 'void',
      pnl: 0,
      price: position.openPrice,
    })
    expect([U(1), U(2)].map((user) => stage.store.walletOf(user).balance)).toEqual([u(10_000), u(10_000)])
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
    const asked = {
      instrumentId: P(1),
      direction: 'long',
      lots: lots(u(10)),
      stopLoss: p(190),
      takeProfit: p(210),
      means: {},
    } as const
    const before = stage.store.ledger.length
    const quoted = ok(stage.actor.quote(asked))
    expect(stage.store.ledger.length).toBe(before)
    const { position } = ok(await stage.opens({ ...asked, clientPrice: p(200) }))
    expect(quoted).toMatchObject({
      fillPrice: position.openPrice,
      exitPrice: position.openPrice,
      settlesAt: u(200.05),
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
    const asked = {
      instrumentId: P(1),
      direction: 'long',
      stopLoss: p(0.01),
      means: {},
    } as const
    const most = { lots: lots(MICROS_MAX), takeProfit: price(MICROS_MAX) }
    const quoted = ok(stage.actor.quote({ ...asked, ...most }))
    expect(quoted.refusal?.code).toBe('lot_size_invalid')
    expect(quoted).toMatchObject({ fillPrice: u(200.5), pnlAtTakeProfit: null })
    expect(ok(stage.actor.quote({ ...asked, ...most, lots: lots(u(100)) })).refusal).toBeNull()
  })

  it('[T19] a quote names the refusal that opening would meet', async () => {
    const stage = await ActorRig.set()
    const asked = {
      instrumentId: P(1),
      direction: 'long',
      lots: lots(u(100)),
      stopLoss: null,
      takeProfit: null,
    } as const
    const { balance: available } = stage.store.walletOf(U(1))
    const poor = { ...asked, means: { main: { available, openPositions: 0 } } }
    expect(ok(stage.actor.quote(poor)).refusal).toMatchObject({
      code: 'insufficient_margin',
      maxLots: u(99.75),
    })
    const holding = (openPositions: number) => ({
      ...asked,
      lots: lots(u(1)),
      means: { main: { available, openPositions }, practice: { available: money(0), openPositions: 0 } },
    })
    const crowded = holding(stage.rules.openPositionsMax)
    expect(ok(stage.actor.quote(crowded)).refusal).toEqual({ code: 'position_limit', max: 100 })
    expect(ok(stage.actor.quote(holding(99))).refusal, 'the other purse is empty').toBeNull()
    stage.rules = { ...stage.rules, feedStaleMs: 0 }
    stage.world.pass(1)
    expect(ok(stage.actor.quote({ ...asked, means: {} })).refusal?.code).toBe('market_suspended')
    expect(stage.actor.matchId).toBe(MATCH)
  })
})
