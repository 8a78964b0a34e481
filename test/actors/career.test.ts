import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { instrumentId, positionId } from '../../actors/kernel/ids.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { BADGES, earnedBadges } from '../../actors/community/badges.ts'
import {
  advance,
  advanceCloseDays,
  advanceDays,
  type Career,
  dayOf,
  levelOf,
  mayHoldRecord,
  NEW_CAREER,
} from '../../actors/community/career.ts'
import type { ClosedEvent, CommittedEvent, VoidedEvent } from '../../actors/community/committed-event.ts'
import { isEarned } from '../../actors/community/referral.ts'
import { U, u } from '../support/fixtures.ts'

const of = {
  positionId: positionId('p'),
  userId: U(1),
  purse: 'main',
  instrumentId: instrumentId('i'),
  direction: 'long',
  lots: lots(u(1)),
  margin: money(u(100)),
} as const
const opened = (): CommittedEvent => ({ kind: 'opened', userId: U(1), purse: 'main' })
const closed = (pnl: number, over: Partial<ClosedEvent> = {}): CommittedEvent => ({
  ...of,
  kind: 'closed',
  pnl: money(u(pnl)),
  baseMove: money(u(pnl)),
  openedAt: instant(0),
  by: 'user',
  voidReason: null,
  ...over,
})
const corrected = (before: Pick<ClosedEvent, 'pnl' | 'baseMove'>, pnl: number): CommittedEvent => ({
  ...of,
  kind: 'corrected',
  before,
  pnl: money(u(pnl)),
  baseMove: money(u(pnl)),
  openedAt: instant(0),
  by: 'user',
})
/** A best win that nothing else of the career shows: it was booked once, and is not forgotten. */
const bestOf = (pnl: number): CommittedEvent => corrected({ pnl: money(u(pnl)), baseMove: money(u(pnl)) }, pnl)
const lived = (...events: readonly CommittedEvent[]): Career =>
  events.reduce((career, event) => advance(career, event), NEW_CAREER)

describe('a career', () => {
  it('awards XP for opening, more for a profitable close, a daily bonus, and nothing for a loss', () => {
    expect(lived(opened()).xp).toBe(10)
    expect(lived(opened(), closed(5)).xp).toBe(35)
    expect(lived(opened(), closed(-5), closed(0)).xp).toBe(10)
    expect(advanceDays(NEW_CAREER, 2)).toMatchObject({ days: 2, xp: 100 })
    expect([dayOf(instant(86_399_999)), dayOf(instant(86_400_000))]).toEqual([0, 1])
  })

  it('the level advances with XP, each level taking 100 more than the one before', () => {
    const bounds: readonly (readonly [number, number])[] = [
      [0, 1],
      [99, 1],
      [100, 2],
      [299, 2],
      [300, 3],
      [600, 4],
      [4_500, 10],
    ]
    for (const [xp, level] of bounds) expect(levelOf(xp), String(xp)).toBe(level)
    for (let level = 2; level <= 4_000; level++) {
      const begins = 50 * level * (level - 1)
      expect([levelOf(begins - 1), levelOf(begins)]).toEqual([level - 1, level])
    }
  })

  it('counts opened, closed, won and lost positions, and how they closed', () => {
    const career = lived(
      opened(),
      opened(),
      closed(30, { direction: 'short', by: 'take_profit', lots: lots(u(12)), openedAt: instant(1_000) }),
      closed(-20, { by: 'stop_loss', openedAt: instant(2_000) }),
      closed(-100, { by: 'washout', openedAt: instant(2_000) }),
      closed(5, { by: 'full_time', openedAt: instant(2_000) }),
    )
    expect(career).toMatchObject({
      opened: 2,
      main: { closed: 4, wins: 2, pnl: u(-85), baseMoves: u(-85), margin: u(400), firstTradeAt: 1_000 },
      won: u(35),
      bestWin: u(30),
      largestLots: u(12),
      shortWins: 1,
      takeProfits: 1,
      stopLosses: 1,
      washouts: 1,
      settled: 1,
    })
  })

  it('sums over years may pass what a wallet holds, and end where quantities do', () => {
    const most = money(u(1_000_000_000))
    const career = lived(closed(0, { margin: most }), closed(0, { margin: most }))
    expect(career.main).toMatchObject({ closed: 2, margin: most })
  })

  it('only a void that may have taken a record back has them read again', () => {
    const career = lived(
      closed(30, { lots: lots(u(2)), openedAt: instant(1_000) }),
      closed(5, { lots: lots(u(9)), openedAt: instant(5_000) }),
    )
    const later = { lots: lots(u(1)), openedAt: instant(6_000) }
    const mayHold = (pnl: number, over: Partial<VoidedEvent> = {}) => {
      const before = { pnl: money(u(pnl)), baseMove: money(u(pnl)) }
      const event = { ...of, kind: 'voided', by: 'user', closedAt: instant(9_000), before, ...later } as const
      return mayHoldRecord(career, { ...event, ...over })
    }
    expect([mayHold(29), mayHold(-4)]).toEqual([false, false])
    expect([
      mayHold(30),
      mayHold(1, { lots: lots(u(9)) }),
      mayHold(1, { openedAt: instant(1_000) }),
      mayHold(1, { others: money(u(1)) }),
    ]).toEqual([true, true, true, true])
    expect(mayHold(99, { purse: 'practice', openedAt: instant(1) })).toBe(true)
  })

  it('[R15] practice has a tally of its own, and changes nothing else', () => {
    const events = [opened(), closed(7), closed(-3, { by: 'washout' }), closed(9, { by: 'void' })]
    const practised = events.map((event) => ({ ...event, purse: 'practice' }) as CommittedEvent)
    const practice = { closed: 2, wins: 1, pnl: u(4), baseMoves: u(4), margin: u(200), firstTradeAt: 0 }
    expect(lived(...practised)).toEqual({ ...NEW_CAREER, practice })
    expect(lived(...practised, opened(), closed(7))).toEqual({ ...lived(opened(), closed(7)), practice })
  })

  it('[R14] a void position counts nowhere', () => {
    const taken = { by: 'void', voidReason: 'operator' } as const
    expect(lived(opened(), closed(3, taken), opened(), closed(7, { by: 'void' }))).toEqual(NEW_CAREER)
  })

  it('a corrected close counts as what it is then, and no more than once', () => {
    const was = { pnl: money(u(30)), baseMove: money(u(30)) }
    expect(lived(opened(), closed(30), corrected(was, -20))).toEqual(lived(opened(), closed(-20), bestOf(30)))
    expect(lived(opened(), closed(-20), corrected({ pnl: money(u(-20)), baseMove: money(u(-20)) }, 30))).toEqual(
      lived(opened(), closed(30)),
    )
  })

  it('[R10] a referral is earned by a first trade, and by more where more is asked for', () => {
    const plain = { closesMin: 0, daysMin: 0, weeklyMax: 10 }
    expect(isEarned(NEW_CAREER, plain)).toBe(false)
    expect(isEarned(lived(opened()), plain)).toBe(true)
    expect(isEarned(advance(NEW_CAREER, { kind: 'opened', userId: U(1), purse: 'practice' }), plain)).toBe(false)
    const terms = { closesMin: 5, daysMin: 2, weeklyMax: 10 }
    const after = (closes: number, days: number) =>
      isEarned(advanceCloseDays(lived(...Array.from({ length: closes }, () => closed(1))), days), terms)
    expect([after(4, 2), after(5, 1), after(5, 2), after(90, 1)]).toEqual([false, false, true, false])
  })

  it('is the same in whatever order events are processed', () => {
    const event = fc.oneof(
      fc.integer({ min: 1, max: 20 }).map(opened),
      fc
        .tuple(
          fc.integer({ min: -100, max: 2_000 }),
          fc.constantFrom('user', 'washout', 'full_time', 'stop_loss', 'void'),
        )
        .map(([pnl, by]) => closed(pnl, { by })),
      fc
        .tuple(fc.integer({ min: -100, max: 2_000 }), fc.integer({ min: -100, max: 2_000 }))
        .map(([was, is]) => corrected({ pnl: money(u(was)), baseMove: money(u(was)) }, is)),
    )
    const histories = fc.array(fc.tuple(event, fc.integer({ min: 0, max: 9 }), fc.boolean()), { maxLength: 30 })
    const tell = (events: readonly (readonly [CommittedEvent, number, boolean])[]) =>
      events.reduce((career, [what, , practice]) => {
        const purse = practice ? 'practice' : 'main'
        return advance(career, { ...what, purse } as CommittedEvent)
      }, NEW_CAREER)
    fc.assert(
      fc.property(histories, (events) => {
        expect(tell(events.toReversed())).toEqual(tell(events))
      }),
    )
  })
})

describe('badges', () => {
  it('there are at least fifteen, each with its own id and a target that a new user has not reached', () => {
    expect(BADGES.length).toBeGreaterThanOrEqual(15)
    expect(new Set(BADGES.map(({ id }) => id)).size).toBe(BADGES.length)
    expect(new Set(BADGES.map(({ name }) => name)).size).toBe(BADGES.length)
    expect(earnedBadges(NEW_CAREER)).toEqual([])
  })

  it.each(BADGES.map((badge) => [badge.id, badge] as const))(
    '%s is earned at its target and not before',
    (_id, badge) => {
      const all = (n: number): Career => ({
        ...NEW_CAREER,
        opened: n,
        main: { ...NEW_CAREER.main, wins: n },
        won: money(n * 1_000_000),
        bestWin: money(n * 1_000_000),
        largestLots: lots(n * 1_000_000),
        shortWins: n,
        takeProfits: n,
        stopLosses: n,
        washouts: n,
        settled: n,
        days: n,
        referrals: n,
        xp: 50 * n * (n - 1),
      })
      expect(earnedBadges(all(badge.target))).toContain(badge)
      expect(earnedBadges(all(badge.target - 1))).not.toContain(badge)
    },
  )
})
