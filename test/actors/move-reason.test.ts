import { describe, expect, it } from 'vitest'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { info } from '../support/fixtures.ts'
import { present } from '../../actors/kernel/assert.ts'
import { instrumentId, playerId } from '../../actors/kernel/ids.ts'
import { lots, type Price, price } from '../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { firstBelief } from '../../actors/market/belief/believe.ts'
import type { Incident } from '../../actors/market/incidents.ts'
import {
  type BaseMove,
  joined,
  type MoveReason,
  reasonOf,
  reasonText,
  readReason,
} from '../../actors/market/move-reason.ts'
import { DEFAULT_MODEL, EMPTY_PRICING, priceMatch } from '../../actors/market/pricing.ts'
import { aheadBy, nextBase, type Standing } from '../../actors/market/target.ts'
import type { PriceMoved } from '../../actors/match/messages.ts'
import { TickKeeper } from '../../actors/match/tick-keeper.ts'
import { recordedMatch } from '../../src/match-run/recorded-match.ts'
import { loadRecording } from '../../src/replays/recordings.ts'
import { shortFiles } from '../support/short-recordings.ts'

const recordings = await shortFiles()

const START = price(150_000_000)
const RATED = { value: 6.6, first: 6.4, firstMinutes: 10 }
const EVEN: Standing = { counts: {}, volume: 1, rating: RATED, minutes: 30, uneven: 0 }
const expectation = { role: 'FWD', points: 2 } as const
const at = (standing: Standing): number => aheadBy(standing, expectation, DEFAULT_MODEL)

function moveOf(before: Standing, now: Standing, from: Price = settled(before)): BaseMove {
  const to = nextBase({ start: START, base: from }, at(now), DEFAULT_MODEL)
  return { playerId: playerId(9), side: 'home', start: START, from, to, before, now, expectation }
}

/** Where the price stands once no cap holds it. */
const settled = (standing: Standing): Price =>
  nextBase({ start: START, base: START }, at(standing), { ...DEFAULT_MODEL, tickCap: 1_000 })

const row = (kind: Incident['kind'], minute: number, over: Partial<Incident> = {}): Incident => ({
  id: minute,
  firstId: minute,
  kind,
  minute,
  sortOrder: null,
  isRelatedLost: false,
  extraMinute: null,
  period: 1,
  side: 'home',
  playerId: playerId(9),
  relatedPlayerId: null,
  addition: null,
  listedAt: 60 * minute,
  standing: 'counted',
  ...over,
})
const NONE = { incidents: [], remembered: [], minute: 31 }

describe('the reason of a move', () => {
  it('is the booking, in its minute, and beside it what one more minute cost', () => {
    const now = { ...EVEN, counts: { yellow: 1 }, minutes: 31 }
    const move = moveOf(EVEN, now)
    const reason = present(reasonOf(move, { ...NONE, incidents: [row('yellow', 30)] }, DEFAULT_MODEL), 'reason')
    expect(reason.event).toEqual({ kind: 'yellow', minute: 30, extraMinute: null, undone: false })
    expect(reason.byEvent + reason.byMinutes + reason.byStatistics).toBe(move.to - move.from)
    // Each part is what it would have moved alone, but for the bend of the curve and the rounding of the price.
    const alone = moveOf(EVEN, { ...EVEN, counts: { yellow: 1 } })
    expect(Math.abs(reason.byEvent / (alone.to - alone.from) - 1)).toBeLessThan(0.02)
    const idle = moveOf(EVEN, { ...EVEN, minutes: 31 })
    expect(idle.to - idle.from).toBeLessThan(0)
    expect(Math.abs(reason.byMinutes / (idle.to - idle.from) - 1)).toBeLessThan(0.02)
    expect(Math.abs(reason.byStatistics)).toBeLessThanOrEqual(100)
  })

  it('is what statistics and rating say, apart from minutes', () => {
    const move = moveOf(EVEN, { ...EVEN, volume: 2, rating: { ...RATED, value: 7 } })
    const reason = present(reasonOf(move, NONE, DEFAULT_MODEL), 'reason')
    expect(reason).toEqual({ event: null, byEvent: 0, byMinutes: 0, byStatistics: move.to - move.from })
  })

  it('takes back a goal that no longer counts', () => {
    const scored = { ...EVEN, counts: { goal: 1 } }
    const cancelled = row('goal', 29, { standing: 'cancelled' })
    const list = { ...NONE, incidents: [cancelled], remembered: [row('goal', 29)] }
    const reason = present(reasonOf(moveOf(scored, EVEN), list, DEFAULT_MODEL), 'reason')
    expect(reason.event).toEqual({ kind: 'goal', minute: 29, extraMinute: null, undone: true })
    expect(reason.byEvent).toBeLessThan(0)
  })

  it('stays a goal while the cap on single ticks holds the rest of it back', () => {
    const scored = { ...EVEN, counts: { goal: 1 } }
    const list = { ...NONE, incidents: [row('goal', 30)] }
    const model = { ...DEFAULT_MODEL, tickCap: 0.02 }
    const to = nextBase({ start: START, base: settled(EVEN) }, at(scored), model)
    const capped = { ...moveOf(EVEN, scored), to }
    expect(present(reasonOf(capped, list, model), 'reason').byEvent).toBe(capped.to - capped.from)
    const rest = { ...capped, before: scored, from: to, to: nextBase({ start: START, base: to }, at(scored), model) }
    expect(rest.to).toBeGreaterThan(rest.from)
    const reason = present(reasonOf(rest, list, model), 'reason')
    expect(reason.event?.kind).toBe('goal')
    expect(reason.byEvent).toBe(rest.to - rest.from)
    // Later than that nobody would look for the goal behind it.
    expect(reasonOf(rest, { ...list, minute: 40 }, model)?.event).toBeNull()
  })

  it('is read from the text that it is stored as, and from no other', () => {
    const plain: MoveReason = { event: null, byEvent: 0, byMinutes: -1_200, byStatistics: 400 }
    const event = { kind: 'conceded', minute: 45, extraMinute: 2, undone: true } as const
    for (const reason of [plain, { ...plain, event, byEvent: -9 }]) {
      expect(readReason(reasonText(reason), 'why')).toEqual(reason)
      expect(reasonText(reason).length).toBeLessThan(60)
    }
    for (const broken of ['[1,2]', '{}', '[1,2,3,"dance",4,null,0]', '[1,2,"3"]', '[0.5,1,1]'])
      expect(() => readReason(broken, 'why'), broken).toThrow(/why is/)
  })
})

describe('the reasons of real matches', () => {
  it.each(recordings)('add up to every move of $name, and name its events', async ({ path }) => {
    const { snapshots } = recordedMatch(await loadRecording(path), 'why')
    let [memory, moves, alone] = [EMPTY_PRICING, 0, 0]
    const bases = new Map<number, Price>()
    const kinds = new Set<string>()
    for (const snapshot of snapshots.map(firstBelief)) {
      const players = snapshot.players.map(({ playerId: who, side, role }) => ({
        playerId: who,
        side,
        role: role ?? 'MID',
        start: START,
        base: bases.get(who) ?? START,
      }))
      const pricing = priceMatch(snapshot, players, memory, DEFAULT_MODEL)
      for (const { playerId: who, base } of players) {
        const to = present(pricing.bases.get(who), 'base')
        const reason = pricing.reasons.get(who)
        expect(reason === undefined).toBe(to === base)
        if (reason === undefined) continue
        const { event, byEvent, byMinutes, byStatistics } = reason
        expect(byEvent + byMinutes + byStatistics).toBe(to - base)
        expect(event === null && byEvent !== 0).toBe(false)
        if (event !== null) kinds.add(event.kind)
        if (Math.abs(byMinutes) > START * 0.02) alone += 1
        moves += 1
        bases.set(who, to)
      }
      memory = pricing.memory
    }
    expect(moves).toBeGreaterThan(1_000)
    // A minute costs a fraction of a per cent.
    expect(alone).toBe(0)
    expect([...kinds]).toEqual(expect.arrayContaining(['goal', 'assist', 'conceded', 'yellow']))
  })
})

describe('a stored tick', () => {
  const one = instrumentId('one')
  const move = (t: number, over: Partial<PriceMoved>): PriceMoved => ({
    kind: 'price_moved',
    instrumentId: one,
    quote: { price: START, base: START, imbalance: lots(0) },
    previous: START,
    cause: 'trade',
    providerEventId: 0,
    at: instant(t),
    ...over,
  })
  const keep = (keeper: TickKeeper, events: readonly PriceMoved[], t: Instant): readonly PriceMoved[] => {
    const terms = { events, view: { info: info(), instruments: () => [] }, at: t, rules: DEFAULT_RULES }
    const chosen = keeper.choose(terms)
    keeper.committed(chosen)
    return chosen.ticks
  }
  const booked = { kind: 'yellow', minute: 3, extraMinute: null, undone: false } as const

  it('tells of every move since the one before it, stored or not', () => {
    const keeper = new TickKeeper()
    keep(keeper, [move(0, {})], instant(0))
    const early = move(100, { cause: 'match', reason: { event: null, byEvent: 0, byMinutes: -5, byStatistics: 2 } })
    expect(keep(keeper, [early], instant(100))).toEqual([])
    const event = { event: booked, byEvent: -50, byMinutes: -1, byStatistics: 0 }
    const kept = keep(keeper, [move(200, { cause: 'event', reason: event }), move(200, {})], instant(200))
    expect(kept).toHaveLength(1)
    expect(kept[0]).toMatchObject({
      cause: 'event',
      reason: { event: booked, byEvent: -50, byMinutes: -6, byStatistics: 2 },
    })
    // And of none of them twice.
    expect(keep(keeper, [move(5_000, {})], instant(5_000))[0]).not.toHaveProperty('reason')
  })

  it('names the event that counts more', () => {
    const reason = (byEvent: number, kind: 'yellow' | 'goal') => ({
      event: { ...booked, kind },
      byEvent,
      byMinutes: 0,
      byStatistics: 0,
    })
    expect(joined(reason(-5, 'yellow'), reason(90, 'goal'))?.event?.kind).toBe('goal')
    expect(joined(reason(90, 'goal'), reason(-5, 'yellow'))?.event?.kind).toBe('goal')
  })
})
