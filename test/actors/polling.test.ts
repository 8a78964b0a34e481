import { describe, expect, it } from 'vitest'
import { HOUR_MS, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { followClock, type RunningClock } from '../../actors/market/feed-clock.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import { canAffordMore, type Pace, pauseMs } from '../../actors/market/polling.ts'
import { half, KICK_OFF, snapshot } from '../support/fixtures.ts'

const pace = (over: Partial<Pace> = {}): Pace => ({
  pollMs: 10_000,
  failures: 0,
  retryAfterMs: null,
  allowance: null,
  ...over,
})

describe('the next poll', () => {
  it('[V2] comes soon after a failure, then later, shortened by chance by up to half', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map((failures) => pauseMs(pace({ failures }), 0))).toEqual([
      10_000, 2_500, 5_000, 10_000, 15_000, 15_000, 15_000,
    ])
    expect(pauseMs(pace({ failures: 3 }), 0.5)).toBe(7_500)
    expect(pauseMs(pace(), 0.5)).toBe(10_000)
  })

  it('[V2] waits as long as the provider asks, but never longer than an hour', () => {
    expect(pauseMs(pace({ failures: 1, retryAfterMs: 60_000 }), 0.9)).toBe(60_000)
    expect(pauseMs(pace({ failures: 1, retryAfterMs: 99 * HOUR_MS }), 0)).toBe(HOUR_MS)
    expect(pauseMs(pace({ failures: 5, retryAfterMs: 1_000 }), 0)).toBe(15_000)
  })

  it('[V2] is delayed until the quota lasts', () => {
    const left = (remaining: number) => pace({ allowance: { remaining, resetsInSecs: 1_800 } })
    expect([500, 180, 90, 1, 0].map((remaining) => pauseMs(left(remaining), 0))).toEqual([
      10_000, 10_000, 20_000, 1_800_000, 1_800_000,
    ])
    expect([181, 180].map((remaining) => canAffordMore(left(remaining), null))).toEqual([true, false])
    expect(canAffordMore(pace(), null)).toBe(true)
  })

  it('[V4] a quota that never lasts for all polls still has calls for those whose turn it is', () => {
    const left = (remaining: number) => pace({ allowance: { remaining, resetsInSecs: 3_600 } })
    expect([180, 12, 11, 0].map((remaining) => canAffordMore(left(remaining), 1))).toEqual([true, true, false, false])
  })
})

describe('the match clock', () => {
  /** After how many seconds the clock last moved, for updates ten seconds apart; null where none has to run. */
  function movedAt(...updates: readonly Partial<FixtureSnapshot>[]) {
    let clock: RunningClock | null = null
    return updates.map((over, n) => {
      clock = followClock(snapshot(over), clock, instant(KICK_OFF + 10 * SECOND_MS * n))
      return clock === null ? null : (clock.movedAt - KICK_OFF) / SECOND_MS
    })
  }
  const at = (elapsedSecs: number, over: Partial<FixtureSnapshot['periods'][number]> = {}) => ({
    periods: half(elapsedSecs).map((period) => ({ ...period, ...over })),
  })

  it('[T21] is remembered with the time of its last movement', () => {
    expect(movedAt(at(5), at(15), at(15), at(15), at(16), at(14))).toEqual([0, 10, 10, 10, 40, 50])
  })

  it('[T21] stands still while a match in play has no period', () => {
    const untold = { periods: [] }
    expect(movedAt(untold, untold, at(5), { ...untold, state: 'HT' })).toEqual([0, 0, 20, null])
  })

  it('[T21] stands still in a match in play whose periods have all ended, but in a shoot-out', () => {
    const ended = at(2_700, { ticking: false })
    expect(movedAt(at(2_700), ended, ended)).toEqual([0, 0, 0])
    expect(movedAt(at(2_700), { ...ended, state: 'INPLAY_PENALTIES' })).toEqual([0, null])
  })

  it('[T21] need not run in a break, in a shoot-out and after the end', () => {
    const halfTime = { ...at(2_700, { ticking: false }), state: 'HT' }
    const shootout = { ...at(0, { kind: 'penalties' }), state: 'INPLAY_PENALTIES' }
    expect(movedAt(at(2_700), halfTime, halfTime, at(2_700))).toEqual([0, null, null, 30])
    expect(movedAt(shootout, { ...halfTime, state: 'FT' })).toEqual([null, null])
  })
})
