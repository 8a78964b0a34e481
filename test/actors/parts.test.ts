import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { positionId } from '../../actors/kernel/ids.ts'
import { type Lots, lots, money, type Price, price } from '../../actors/kernel/micros.ts'
import { advance, NEW_CAREER } from '../../actors/community/career.ts'
import type { CommittedEvent } from '../../actors/community/committed-event.ts'
import { readCommittedEvents } from '../../actors/community/read-committed-event.ts'
import { recapOf } from '../../src/features/recaps/recap.ts'
import { committedEvents } from '../../actors/match/committed-events.ts'
import {
  baseMoveOf,
  type ClosedPosition,
  type Direction,
  marginFor,
  pnlAt,
  type Position,
  realisedPnl,
  split,
} from '../../actors/position/position.ts'
import { ActorRig, codeOf, ok } from '../support/actor-rig.ts'
import { closeOrder, P, p, trade, U, u } from '../support/fixtures.ts'

const closePart = (id: string, size: number, key: string | null = null) =>
  ({
    ...closeOrder(positionId(id)),
    kind: 'close_part',
    lots: lots(size),
    idempotency: key === null ? null : { id: key, fingerprint: key },
  }) as const

/** A match in which user 1 has held a long of 0.5 lots for longer than the hold. */
async function held(options: Parameters<typeof ActorRig.set>[0] = {}) {
  const rig = await ActorRig.set(options)
  const whole = ok(await rig.opens({ stopLoss: p(150) })).position
  rig.world.pass(181_000)
  return { rig, whole }
}

const closesIn = (rig: ActorRig): ClosedPosition[] =>
  rig.events.flatMap((event) => (event.kind === 'position_closed' ? [event.position] : []))

describe('[T38] closing in parts', () => {
  it('a part is a closed position of its own, and the rest keeps id, entry, hold and levels', async () => {
    const { rig, whole } = await held()
    const { position, rest, wallet } = ok(await rig.actor.submit(closePart(whole.id, u(0.2))))
    expect(position).toMatchObject({ partOf: whole.id, lots: u(0.2), openPrice: whole.openPrice })
    expect(position.close).toMatchObject({ by: 'user' })
    expect(position.id).not.toBe(whole.id)
    const { parted: _, ...left } = present(rest, 'rest').position
    expect(left).toEqual({ ...whole, lots: u(0.3), margin: whole.margin - position.margin })
    expect(wallet.marginUsed).toBe(left.margin)
    expect(rig.actor.view.instrument(P(1))?.imbalance).toBe(u(0.3))
    expect(ok(await rig.closes(whole.id)).position).toMatchObject({ id: whole.id, lots: u(0.3) })
    expect(rig.actor.view.instrument(P(1))?.imbalance).toBe(0)
    expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('a part is whole lot steps, and leaves at least one; of all of it nothing is left', async () => {
    const { rig, whole } = await held()
    for (const size of [0, 0.005, 0.495, 0.51, -0.1]) {
      const refused = await rig.actor.submit(closePart(whole.id, u(size)))
      expect(refused, `${size} lots`).toMatchObject({
        refusal: { code: 'lot_size_invalid', min: u(0.01), max: u(0.5), step: u(0.01) },
      })
    }
    const all = ok(await rig.actor.submit(closePart(whole.id, u(0.5))))
    expect(all.position.id).toBe(whole.id)
    expect(all.rest).toBeUndefined()
  })

  it('the hold, the owner and the window bind a part as they bind the whole', async () => {
    const rig = await ActorRig.set()
    const whole = ok(await rig.opens()).position
    expect(codeOf(await rig.actor.submit(closePart(whole.id, u(0.2))))).toBe('cooldown_active')
    rig.world.pass(181_000)
    expect(codeOf(await rig.actor.submit({ ...closePart(whole.id, u(0.2)), userId: U(2) }))).toBe('not_found')
  })

  it('[A5] a retry under the same key closes no second part, before and after a new owner', async () => {
    const { rig, whole } = await held()
    const first = ok(await rig.actor.submit(closePart(whole.id, u(0.2), 'key')))
    for (const isNewOwner of [false, true]) {
      if (isNewOwner) await rig.load()
      const again = ok(await rig.actor.submit(closePart(whole.id, u(0.2), 'key')))
      expect(again).toEqual({ ...first, repeated: true })
    }
    expect(closesIn(rig)).toHaveLength(1)
  })

  it('of two parts at once that together are too much one is refused', async () => {
    const { rig, whole } = await held()
    const both = await Promise.all([
      rig.actor.submit(closePart(whole.id, u(0.3), 'a')),
      rig.actor.submit(closePart(whole.id, u(0.3), 'b')),
    ])
    expect(both.map(codeOf).toSorted()).toEqual(['lot_size_invalid', 'ok'])
    expect(rig.store.audit()).toEqual({ imbalance: 0, mismatched: [] })
  })

  it('a new owner knows what the parts came to', async () => {
    const { rig, whole } = await held()
    await rig.actor.submit(closePart(whole.id, u(0.2)))
    const before = rig.actor.view.position(whole.id)
    await rig.load()
    expect(rig.actor.view.position(whole.id)).toEqual(before)
  })

  it('any way of closing in parts pays what one close pays, but for less than a micro a part', () => {
    const drawn = fc.record({
      direction: fc.constantFrom('long' as const, 'short' as const),
      open: fc.integer({ min: 10_000, max: 900_000_000 }),
      move: fc.double({ min: -0.0999, max: 0.3, noNaN: true }),
      steps: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 12 }),
    })
    fc.assert(
      fc.property(drawn, ({ direction, open, move, steps }) => {
        const size = lots(steps.reduce((sum, one) => sum + one, 0) * 10_000)
        const openPrice = price(open)
        const sign = direction === 'long' ? 1 : -1
        const at = price(Math.max(10_000, Math.round(open * (1 + sign * move))))
        const whole = wholeOf({ direction, openPrice, size })
        let [rest, paid, margins]: [Position, number, number] = [whole, 0, 0]
        let isNearWashout = false
        for (const one of steps.slice(0, -1)) {
          const { part, rest: left } = split(rest, positionId('part'), lots(one * 10_000))
          // Within the last micro of its margin a part is cut off there, as the whole is at its washout.
          isNearWashout ||= pnlAt(part, at) < -part.margin
          paid += part.margin + realisedPnl(part, at)
          margins += part.margin
          rest = left
        }
        paid += rest.margin + realisedPnl(rest, at)
        expect(margins + rest.margin, 'margins add up to the micro').toBe(whole.margin)
        expect(rest.margin, 'the rest can pay its washout').toBeGreaterThanOrEqual(marginFor(openPrice, rest.lots))
        if (isNearWashout) return
        const once = whole.margin + realisedPnl(whole, at)
        expect(once - paid).toBeGreaterThanOrEqual(0)
        expect(once - paid).toBeLessThan(steps.length)
      }),
      { numRuns: 500 },
    )
  })
})

interface Drawn {
  readonly direction: Direction
  readonly openPrice: Price
  readonly size: Lots
}

const wholeOf = ({ direction, openPrice, size }: Drawn): Position => ({
  ...trade().position,
  direction,
  openPrice,
  openBase: openPrice,
  lots: size,
  margin: marginFor(openPrice, size),
})

describe('[R24] a position that is closed in parts counts once', () => {
  const eventsOf = (rig: ActorRig): readonly CommittedEvent[] =>
    readCommittedEvents(JSON.parse(JSON.stringify(committedEvents(rig.events))), 'events')
  const careerOf = (events: readonly CommittedEvent[]) => events.reduce(advance, NEW_CAREER)

  it('when its last part closes, with the sums of all', async () => {
    const { rig, whole } = await held()
    await rig.actor.submit(closePart(whole.id, u(0.2)))
    expect(careerOf(eventsOf(rig))).toMatchObject({ opened: 1, main: { closed: 0, pnl: 0, margin: 0 } })
    await rig.moves()
    await rig.actor.submit(closePart(whole.id, u(0.1)))
    await rig.closes(whole.id)
    const closes = closesIn(rig)
    expect(closes).toHaveLength(3)
    const sum = (of: (one: ClosedPosition) => number) => closes.reduce((all, one) => all + of(one), 0)
    expect(careerOf(eventsOf(rig))).toMatchObject({
      opened: 1,
      largestLots: u(0.5),
      main: {
        closed: 1,
        pnl: sum(({ close }) => close.pnl),
        baseMoves: sum((one) => baseMoveOf(one, one.close.base)),
        margin: whole.margin,
      },
    })
    const recap = recapOf(money(0), closes)
    expect(recap).toMatchObject({
      trades: 1,
      result: sum(({ close }) => close.pnl),
      best: { id: whole.id, lots: u(0.5) },
    })
  })

  it('a void rest leaves the closed parts booked and counted, as closed by their owner', async () => {
    const { rig, whole } = await held()
    await rig.actor.submit(closePart(whole.id, u(0.2)))
    expect(await rig.actor.void(whole.id)).toBe(true)
    const [part] = closesIn(rig)
    expect(careerOf(eventsOf(rig))).toMatchObject({
      opened: 1,
      main: { closed: 1, pnl: part?.close.pnl, margin: part?.margin },
    })
  })

  it('a void part afterwards takes back its own, and the last of all the position', async () => {
    const { rig, whole } = await held()
    await rig.actor.submit(closePart(whole.id, u(0.2)))
    await rig.closes(whole.id)
    const before = careerOf(eventsOf(rig))
    const [part, last] = closesIn(rig)
    const voidOf = (one: ClosedPosition | undefined, others: number | null): CommittedEvent => {
      const { id, userId, purse, instrumentId, direction, lots: size, margin, openedAt, close } = present(one, 'close')
      const of = { positionId: id, userId, purse, instrumentId, direction, lots: size, margin, openedAt }
      const earned = { pnl: close.pnl, baseMove: money(0) }
      const left = others === null ? {} : { others: money(others) }
      return { kind: 'voided', ...of, by: close.by, closedAt: close.at, before: earned, ...left }
    }
    const once = advance(before, voidOf(part, present(last, 'last').close.pnl))
    expect(once).toMatchObject({ opened: 1, main: { closed: 1, pnl: last?.close.pnl, margin: last?.margin } })
    const gone = advance(once, voidOf(last, null))
    expect(gone).toMatchObject({ opened: 0, xp: 0, main: { closed: 0, wins: 0, pnl: 0, margin: 0 } })
  })
})
