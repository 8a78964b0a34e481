import { describe, expect, it } from 'vitest'
import { lots } from '../../actors/kernel/micros.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { MatchEvent, PriceMoved } from '../../actors/match/messages.ts'
import { movePpm } from '../../actors/match/rule-change.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { ActorRig, ok } from '../support/actor-rig.ts'
import { GOAL, instrument, P, p, record, U, u } from '../support/fixtures.ts'

const scored = (goals: number): Partial<FixtureSnapshot> =>
  goals === 0 ? {} : { events: [GOAL], home: { id: 1, name: 'Harbour', goals } }
const isMove = (event: MatchEvent): event is PriceMoved => event.kind === 'price_moved'
/** The moves of one player since `from`, as cause and price. */
const movesOf = (stage: ActorRig, from: number, player = P(1)) =>
  stage.events
    .slice(from)
    .filter(isMove)
    .filter(({ instrumentId }) => instrumentId === player)
    .map(({ cause, quote }) => [cause, Number(quote.price)] as const)

/** A model in which a goal is worth `factor` times as much. */
const goalsTimes = (factor: number) => ({
  ...DEFAULT_MODEL,
  base: { ...DEFAULT_MODEL.base, goal: DEFAULT_MODEL.base.goal * factor },
})

describe('a change of the rules', () => {
  it('[T22] gives its ticks the cause rules, and they are always stored', async () => {
    const stage = await ActorRig.set()
    ok(await stage.opens({ lots: lots(u(90)) }))
    const from = stage.events.length
    stage.rules = { ...stage.rules, impactCapPpm: 1_000 }
    await stage.actor.clock()
    expect(movesOf(stage, from)).toEqual([['rules', u(200.2)]])
    expect(stage.store.ticks.at(-1)).toMatchObject({ cause: 'rules' })
  })

  it('[T22] what the match did and what a new model does are ticks of their own', async () => {
    const [changed, before, after] = [await ActorRig.set(), await ActorRig.set(), await ActorRig.set()]
    after.model = goalsTimes(1.5)
    for (const stage of [changed, before, after]) await stage.moves(scored(0))
    const from = changed.events.length
    changed.model = after.model
    await changed.moves(scored(1))
    await before.moves(scored(1))
    await after.moves(scored(1))
    const priceOf = (stage: ActorRig) => movesOf(stage, from).at(-1)?.[1]
    const [byMatch, byRules] = movesOf(changed, from)
    expect([byMatch, byRules?.[0]]).toEqual([['event', priceOf(before)], 'rules'])
    expect(Math.abs((byRules?.[1] ?? 0) - (priceOf(after) ?? 0))).toBeLessThan(u(0.01))
    const later = changed.events.length
    await changed.moves(scored(1))
    expect(new Set(movesOf(changed, later).map(([cause]) => cause))).toEqual(new Set(['match']))
  })
})

describe('the effect of a change', () => {
  it('[H17] of the cap is predicted to the micro, with what it closes, and nothing happens', async () => {
    const impactCapPpm = 5_000
    const instruments = [instrument(1, { impactCapPpm })]
    const stage = await ActorRig.set({ rules: { impactCapPpm }, record: record({ instruments }) })
    ok(await stage.opens({ lots: lots(u(90)) }))
    ok(await stage.opens({ userId: U(2), lots: lots(u(1)), stopLoss: p(200.5) }))
    const from = stage.events.length
    const rules = { ...stage.rules, impactCapPpm: 1_000 }
    const effect = stage.actor.effectOf({ rules, model: stage.model })
    expect(effect).toMatchObject({
      known: true,
      closes: 1,
      moves: [{ instrumentId: P(1), from: u(200.91), to: u(200.2) }],
    })
    expect(effect.moves.map(movePpm)).toEqual([3_534])
    expect([stage.events.length, [...stage.actor.view.openPositions()].length]).toEqual([from, 2])
    stage.rules = rules
    await stage.actor.clock()
    expect(movesOf(stage, from)[0]).toEqual(['rules', u(200.2)])
    expect([...stage.actor.view.openPositions()]).toHaveLength(1)
  })

  it('[H17] of a model is the whole of its move, known from the first update on', async () => {
    const stage = await ActorRig.set()
    const next = { rules: stage.rules, model: goalsTimes(10) }
    expect(stage.actor.effectOf(next)).toMatchObject({ known: false, moves: [] })
    await stage.moves(scored(1))
    const effect = stage.actor.effectOf(next)
    const scorer = effect.moves.find(({ instrumentId }) => instrumentId === P(1))
    expect(effect.known).toBe(true)
    expect(scorer === undefined ? 0 : movePpm(scorer)).toBeGreaterThan(100_000)
    expect(stage.actor.effectOf({ rules: stage.rules, model: { ...stage.model } }).moves).toEqual([])
  })

  it('[H17] a new model that would wash users out says so', async () => {
    const stage = await ActorRig.set()
    await stage.moves(scored(1))
    ok(await stage.opens({ userId: U(2), instrumentId: P(2), direction: 'short', lots: lots(u(1)) }))
    await stage.moves(scored(1))
    const model = {
      ...DEFAULT_MODEL,
      par: { ...DEFAULT_MODEL.par, GK: -20, DEF: -20, MID: -20, FWD: -20 },
      volumeGain: 50,
    }
    const { moves, closes } = stage.actor.effectOf({ rules: stage.rules, model })
    expect(closes).toBe(moves.some((move) => move.instrumentId === P(2) && movePpm(move) > 100_000) ? 1 : 0)
  })
})
