import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import type { PositionId } from '../../actors/kernel/ids.ts'
import { CONTRACT_SIZE, DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { type Lots, lots, type Price, price, slope } from '../../actors/kernel/micros.ts'
import { exitPrice, quoteOf, slopeFor } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { decide, proceed } from '../../actors/match/decide.ts'
import type { UserCommand } from '../../actors/match/messages.ts'
import type { FeedTerms } from '../../actors/match/feed-updates.ts'
import { Draft, MatchState } from '../../actors/match/state.ts'
import { type Direction, exposureOf, pnlAt, type Position } from '../../actors/position/position.ts'
import { ActorRig, ok } from '../support/actor-rig.ts'
import { instrument, KICK_OFF, openOrder, P, p, record, snapshot, U, u } from '../support/fixtures.ts'

/** A match whose base stands still, for users with unlimited money and patience. */
class Group {
  readonly closed: Position[] = []
  readonly #state: MatchState
  readonly #terms: FeedTerms
  #draft: Draft
  #ids = 0

  constructor(market: { readonly base: Price; readonly k0: number; readonly capPpm: number }) {
    const { base, k0, capPpm } = market
    const one = instrument(1, { base, start: base, published: base, slope: slope(k0), impactCapPpm: capPpm })
    this.#state = new MatchState(record({ instruments: [one] }))
    this.#draft = new Draft(this.#state)
    this.#terms = {
      at: KICK_OFF,
      rules: { ...DEFAULT_RULES, holdMs: 0, lotMax: lots(1e12), impactCapPpm: capPpm },
      newId: () => String(++this.#ids),
      model: DEFAULT_MODEL,
      histories: new Map(),
    }
  }

  get price(): Price {
    return quoteOf(this.#draft.listed(P(1))).price
  }

  get open(): Position[] {
    return [...this.#draft.openPositions()]
  }

  /** The nth open position. Counting wraps around. */
  nth(n: number): Position | undefined {
    const { open } = this
    return open[n % Math.max(1, open.length)]
  }

  opens(
    direction: Direction,
    size: Lots,
    levels: { readonly stopLoss: Price | null; readonly takeProfit: Price | null },
  ) {
    this.#tell(openOrder({ direction, lots: size, clientPrice: this.#draft.listed(P(1)).published, ...levels }))
  }

  closes(id: PositionId): void {
    this.#tell({ kind: 'close_position', userId: U(1), positionId: id, idempotency: null })
  }

  changes(id: PositionId, levels: { readonly stopLoss: Price | null; readonly takeProfit: Price | null }): void {
    this.#tell({ kind: 'change_levels', userId: U(1), positionId: id, ...levels })
  }

  /** Commits what was decided. */
  commits(): void {
    for (const event of this.#draft.events) {
      if (event.kind === 'position_closed') this.closed.push(event.position)
      this.#state.apply(event)
    }
    this.#draft = new Draft(this.#state)
  }

  /** Full time: all leave at the price that stands. */
  whistles(): void {
    this.commits()
    const over = { state: 'FINISHED', stateId: 8, periods: [], players: [] }
    proceed(this.#draft, { kind: 'feed_update', seq: 99, snapshot: snapshot(over) }, this.#terms)
    this.commits()
    while (this.#state.info.settledAt === null) {
      proceed(this.#draft, { kind: 'clock' }, this.#terms)
      this.commits()
    }
  }

  #tell(command: UserCommand): void {
    decide(this.#draft, command, this.#terms)
  }
}

const MARKETS = fc.record({
  base: fc.constantFrom(p(200), p(50), p(0.02), price(123_456_700)),
  k0: fc.constantFrom(1, 333, 1_000, 10_000, 200_000),
  // Below what washes a position out by the crowd alone: there the house bears the gap.
  capPpm: fc.constantFrom(100, 1_000, 5_000, 40_000),
})
/** The distance of a level from the price, in parts per million, on the side where it does not fire at once. */
const LEVELS = fc.option(fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 8_000 })), { freq: 3 })
const SIZES = fc.oneof(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 40_000 })).map((n) => n * 10_000)
type Deed =
  | {
      readonly kind: 'open'
      readonly size: number
      readonly long: boolean
      readonly sl: number | null
      readonly tp: number | null
    }
  /** Many positions whose stops lie one below another, so that each sets off the next. */
  | { readonly kind: 'ladder'; readonly size: number; readonly long: boolean; readonly rungs: number }
  | { readonly kind: 'close'; readonly n: number }
  | { readonly kind: 'levels'; readonly n: number; readonly sl: number | null; readonly tp: number | null }
  | { readonly kind: 'commit' }

const kind = <Kind extends Deed['kind']>(name: Kind) => fc.constant(name)
const DEEDS: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: kind('open'), size: SIZES, long: fc.boolean(), sl: LEVELS, tp: LEVELS }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: kind('ladder'),
      size: SIZES,
      long: fc.boolean(),
      rungs: fc.integer({ min: 2, max: 12 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: kind('close'), n: fc.nat(60) }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('levels'), n: fc.nat(60), sl: LEVELS, tp: LEVELS }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('commit') }) },
)

function levelsAt(at: Price, direction: Direction, sl: number | null, tp: number | null) {
  const sign = direction === 'long' ? 1 : -1
  const level = (ppm: number | null, side: number): Price | null =>
    ppm === null ? null : price(Math.max(1, at + side * Math.ceil((at * ppm) / 1e6)))
  return { stopLoss: level(sl, -sign), takeProfit: level(tp, sign) }
}

function live(group: Group, deeds: readonly Deed[]): void {
  for (const deed of deeds) {
    switch (deed.kind) {
      case 'open': {
        const direction = deed.long ? 'long' : 'short'
        group.opens(direction, lots(deed.size), levelsAt(group.price, direction, deed.sl, deed.tp))
        break
      }
      case 'ladder': {
        const direction = deed.long ? 'long' : 'short'
        for (let rung = 1; rung <= deed.rungs; rung++) {
          group.opens(direction, lots(deed.size), levelsAt(group.price, direction, rung * 20, null))
        }
        break
      }
      case 'close': {
        const found = group.nth(deed.n)
        if (found !== undefined) group.closes(found.id)
        break
      }
      case 'levels': {
        const found = group.nth(deed.n)
        if (found !== undefined) group.changes(found.id, levelsAt(group.price, found.direction, deed.sl, deed.tp))
        break
      }
      case 'commit':
        group.commits()
    }
  }
}

/** The tolerance for rounding: a micro of price for every position, either way. */
const roundingOf = (closed: readonly Position[]): number =>
  closed.reduce((sum, position) => sum + (position.lots * CONTRACT_SIZE) / 1e6 + 1, 0)

/** The earnings of all positions. */
const earned = (closed: readonly Position[]): number =>
  closed.reduce((sum, position) => sum + pnlAt(position, present(position.close, 'close').price), 0)

describe('while the base stands still', () => {
  it('[T34] no sequence of opens, closes, levels and what they fire makes any group richer than it began', () => {
    let fired = 0
    fc.assert(
      fc.property(MARKETS, fc.array(DEEDS, { minLength: 3, maxLength: 60 }), (market, deeds) => {
        const group = new Group(market)
        live(group, deeds)
        while (group.open.length > 0) for (const { id } of group.open) group.closes(id)
        group.commits()
        expect(Math.abs(earned(group.closed))).toBeLessThanOrEqual(roundingOf(group.closed))
        fired += group.closed.filter(({ close }) => close?.by !== 'user').length
      }),
      { numRuns: 300 },
    )
    expect(fired).toBeGreaterThan(200)
  })

  it('[T24] full time pays a one-sided crowd at most half of what it moved the price by, and never asks for more', () => {
    fc.assert(
      fc.property(MARKETS, fc.array(DEEDS, { minLength: 3, maxLength: 60 }), (market, deeds) => {
        const group = new Group(market)
        live(group, deeds)
        const moved = Math.abs(group.price - market.base)
        const net = Math.abs(group.open.reduce((sum, position) => sum + exposureOf(position), 0))
        group.whistles()
        expect(group.open).toEqual([])
        const [gained, rounding] = [earned(group.closed), roundingOf(group.closed)]
        expect(gained).toBeGreaterThanOrEqual(-rounding)
        // The price shown is the nearest micro: half of one more for each lot that is open.
        const shown = (net * CONTRACT_SIZE) / 1e6 / 2
        expect(gained).toBeLessThanOrEqual((net * moved * CONTRACT_SIZE) / 1e6 / 2 + rounding + shown)
      }),
      { numRuns: 200 },
    )
  })
})

/**
 * Ways in which users have exploited the market, over the real actor. Levels may be near, so fills alone must prevent
 * them.
 */
describe('what has been tried', () => {
  const HOLD_MS = DEFAULT_RULES.holdMs
  const K0 = slopeFor(p(200), true)

  const market = (users: number, over: Parameters<typeof instrument>[1] = {}) =>
    ActorRig.set({
      record: record({ instruments: [instrument(1, { slope: K0, impactCapPpm: 5_000, ...over })] }),
      rules: { impactCapPpm: 5_000 },
      users,
    })
  const won = (rig: ActorRig, users: number): number =>
    Array.from({ length: users }, (_, n) => rig.store.walletOf(U(n + 1)).balance - u(10_000)).reduce((a, b) => a + b, 0)
  const published = (rig: ActorRig): Price => present(rig.actor.takeUnpublished().at(-1)?.quote.price, 'a price')

  it('[T34] nine take-profits that the tenth order sets off mint nothing', async () => {
    const rig = await market(1)
    const size = lots(u(9.9))
    // What leaving alone pays one of them once there are ten.
    const top = price(u(200) + Math.round((9.5 * size * K0) / 1e6))
    for (let n = 1; n <= 9; n++) {
      ok(await rig.opens({ lots: size, takeProfit: price(top - 5), clientPrice: n === 1 ? p(200) : published(rig) }))
    }
    const last = ok(await rig.opens({ lots: size, clientPrice: published(rig) }))
    expect([...rig.actor.view.openPositions()].map(({ id }) => id)).toEqual([last.position.id])
    rig.world.pass(HOLD_MS)
    ok(await rig.closes(last.position.id))
    expect(won(rig, 1)).toBeLessThanOrEqual(10 * u(0.00005))
  })

  it('[T34] twenty stops a micro below the top leave for what they have moved, no more', async () => {
    const rig = await market(21)
    const size = lots(u(49))
    for (let n = 1; n <= 20; n++) ok(await rig.opens({ userId: U(n), lots: size, clientPrice: price(200_000_000) }))
    for (const position of Array.from(rig.actor.view.openPositions())) {
      const exit = exitPrice(present(rig.actor.view.instrument(P(1)), 'instrument'), exposureOf(position))
      const levels = { stopLoss: price(exit - 1), takeProfit: undefined }
      const { userId, id } = position
      ok(await rig.changes(id, levels, userId))
    }
    const trigger = ok(await rig.opens({ userId: U(21), direction: 'short', lots: lots(u(0.01)), clientPrice: p(200) }))
    expect([...rig.actor.view.openPositions()]).toHaveLength(1)
    rig.world.pass(HOLD_MS)
    ok(await rig.closes(trigger.position.id, U(21)))
    expect(Math.abs(won(rig, 21))).toBeLessThanOrEqual(21 * u(0.001))
  })

  it('[T34] two accounts at the bend of the curve take nothing from it', async () => {
    const crowd = lots(u(1_000))
    const rig = await market(30)
    // Ten wallets bring the crowd to where the cap bends the curve.
    for (let n = 3; n <= 13; n++) ok(await rig.opens({ userId: U(n), lots: lots(u(91)), clientPrice: p(200) }))
    expect(rig.actor.view.instrument(P(1))?.imbalance).toBeGreaterThanOrEqual(crowd)
    const before = won(rig, 2)
    for (let round = 0; round < 3; round++) {
      const long = ok(await rig.opens({ userId: U(1), lots: lots(u(90)), clientPrice: p(200) }))
      const short = ok(await rig.opens({ userId: U(2), lots: lots(u(90)), direction: 'short', clientPrice: p(200) }))
      rig.world.pass(HOLD_MS)
      ok(await rig.closes(long.position.id, U(1)))
      ok(await rig.closes(short.position.id, U(2)))
    }
    expect(won(rig, 2) - before).toBeLessThanOrEqual(6 * u(0.0005))
  })

  it('[T34] ten followers lose to their leader what the leader gains, at most half the cap of each’s price, and the house nothing', async () => {
    const rig = await market(11, { slope: slopeFor(p(200), false), starter: false })
    const size = lots(u(95))
    const leader = ok(await rig.opens({ userId: U(1), lots: size }))
    for (let n = 2; n <= 11; n++) ok(await rig.opens({ userId: U(n), lots: size, clientPrice: p(200) }))
    rig.world.pass(HOLD_MS)
    const { position } = ok(await rig.closes(leader.position.id, U(1)))
    // 0.5 % of the price is 5 % of the margin.
    expect(position.close?.pnl).toBeLessThanOrEqual(position.margin * 0.05)
    for (const { id, userId } of Array.from(rig.actor.view.openPositions())) ok(await rig.closes(id, userId))
    expect(Math.abs(won(rig, 11))).toBeLessThanOrEqual(11 * u(0.0005))
  })
})
