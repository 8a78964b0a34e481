import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { money } from '../../actors/kernel/micros.ts'
import { changeLimits, inForce, NO_LIMITS, ownRefusal, pendingOf, readLimits } from '../../actors/kernel/own-limits.ts'
import { HOUR_MS, instant } from '../../actors/kernel/world.ts'
import { u } from '../support/fixtures.ts'

const NOW = instant(Date.UTC(2026, 7, 22, 15))
const later = (hours: number) => instant(NOW + hours * HOUR_MS)
const nextDay = instant(Date.UTC(2026, 7, 23))

describe("a user's own limits", () => {
  it('[L3] a stricter value binds at once, a looser one after 24 hours', () => {
    const strict = changeLimits(NO_LIMITS, { dailyLoss: u(100) }, NOW)
    expect(inForce(strict.dailyLoss, NOW)).toBe(u(100))
    const looser = changeLimits(strict, { dailyLoss: u(300) }, NOW)
    expect([inForce(looser.dailyLoss, later(23.99)), inForce(looser.dailyLoss, later(24))]).toEqual([u(100), u(300)])
    expect(pendingOf(looser.dailyLoss, NOW)).toEqual({ value: u(300), at: later(24) })
    expect(pendingOf(looser.dailyLoss, later(24))).toBeNull()
    const none = changeLimits(strict, { dailyLoss: null }, NOW)
    expect([inForce(none.dailyLoss, NOW), inForce(none.dailyLoss, later(24))]).toEqual([u(100), null])
    expect(changeLimits(looser, { dailyLoss: u(50) }, later(1)).dailyLoss).toEqual({ now: u(50) })
  })

  it('[L3] a pause can be made longer at once, and shorter after 24 hours', () => {
    const paused = changeLimits(NO_LIMITS, { excludedUntil: later(1_000) }, NOW)
    const shorter = changeLimits(paused, { excludedUntil: later(2) }, NOW)
    expect(inForce(shorter.excludedUntil, later(23))).toBe(later(1_000))
    expect(inForce(shorter.excludedUntil, later(24))).toBe(later(2))
    expect(changeLimits(paused, { excludedUntil: later(2_000) }, NOW).excludedUntil).toEqual({ now: later(2_000) })
    // A pause that has ended is none: any other is stricter.
    expect(changeLimits(paused, { excludedUntil: later(1_100) }, later(1_001)).excludedUntil).toEqual({
      now: later(1_100),
    })
  })

  it('[L3] repeating a wish does not put it off, and another limit is left alone', () => {
    const strict = changeLimits(NO_LIMITS, { dailyLoss: u(100), coolOffUntil: later(5) }, NOW)
    const once = changeLimits(strict, { dailyLoss: u(300) }, NOW)
    expect(changeLimits(once, { dailyLoss: u(300) }, later(10))).toEqual(once)
    expect(changeLimits(once, {}, later(10))).toEqual(once)
  })

  it('[L3] no wishes within 24 hours loosen what is in force, whatever their order', () => {
    const wish = fc.record(
      {
        dailyLoss: fc.option(fc.integer({ min: 0, max: 1_000 })),
        excludedUntil: fc.option(fc.integer({ min: NOW + 1, max: NOW + 100 * HOUR_MS })),
      },
      { requiredKeys: [] },
    )
    const life = fc.array(fc.tuple(fc.integer({ min: 0, max: HOUR_MS }), wish), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(life, (wishes) => {
        let [limits, at] = [changeLimits(NO_LIMITS, { dailyLoss: 500, excludedUntil: later(50) }, NOW), NOW]
        for (const [pause, wanted] of wishes) {
          at = instant(at + pause)
          limits = changeLimits(limits, wanted, at)
          expect(inForce(limits.dailyLoss, at) ?? Infinity).toBeLessThanOrEqual(500)
          expect(inForce(limits.excludedUntil, at)).toBeGreaterThanOrEqual(later(50))
          expect(readLimits(JSON.parse(JSON.stringify(limits)), 'limits')).toEqual(limits)
        }
      }),
    )
  })

  it('[L1][L2] a pause refuses before a limit, which counts what is lost and what still could be', () => {
    const bounds = { until: null, dailyLoss: money(u(100)), lostToday: money(u(30)), atStake: money(u(50)) }
    expect(ownRefusal(undefined, money(u(1_000)), NOW)).toBeNull()
    expect(ownRefusal(bounds, money(u(20)), NOW)).toBeNull()
    expect(ownRefusal(bounds, money(u(20) + 1), NOW)).toEqual({
      code: 'limit_reached',
      dailyLoss: u(100),
      lostToday: u(30),
      atStake: u(50),
      required: u(20) + 1,
      freeAt: nextDay,
    })
    expect(ownRefusal(bounds, money(u(45)), NOW, u(25))).toBeNull()
    // A win of the day can be lost again, and is no loss to speak of.
    expect(ownRefusal({ ...bounds, lostToday: money(u(-40)) }, money(u(90)), NOW)).toBeNull()
    expect(ownRefusal({ ...bounds, lostToday: money(u(-40)) }, money(u(91)), NOW)).toMatchObject({ lostToday: 0 })
    const paused = { ...bounds, until: later(1) }
    expect(ownRefusal(paused, money(u(900)), NOW)).toEqual({ code: 'self_excluded', until: later(1) })
    expect(ownRefusal(paused, money(u(20)), later(1))).toBeNull()
  })
})
