/** Ends of a match that its provider shows by mistake, for some polls. */
import { describe, expect, it } from 'vitest'
import { event, fed, type Said } from '../support/fed-polls.ts'

const FIRST = { id: 1, type_id: 1, counts_from: 0, sort_order: 1, minutes: 47, seconds: 10, ticking: false }
const SECOND = { id: 2, type_id: 2, counts_from: 45, sort_order: 2, minutes: 70, seconds: 0, ticking: false }
const RUNNING = { id: 1, type_id: 1, counts_from: 0, sort_order: 1, minutes: 41, seconds: 0, ticking: true }

const shows = (state: string, ...periods: readonly object[]): Said => ({ over: { state: { state }, periods } })
const often = (polls: number, said: Said): readonly Said[] => Array.from({ length: polls }, () => said)

describe('an end by mistake', () => {
  it.each(['FT', 'AET'])('[T23] %s at half time settles once it has held five times as long', (state) => {
    const [halfTime, end] = [shows('HT', FIRST), shows(state, FIRST)]
    const before = fed(halfTime, ...often(30, end)).state.info
    expect(before).toMatchObject({ phase: 'ended', settling: null })
    const playedOn = shows('INPLAY_2ND_HALF', FIRST, { ...SECOND, minutes: 46, ticking: true })
    expect(fed(halfTime, ...often(30, end), playedOn).state.info).toMatchObject({ phase: 'live', settling: null })
    expect(fed(halfTime, ...often(31, end)).state.info.settling).toBe('full_time')
    // With a second half, or within the first, nothing waits.
    expect(fed(halfTime, playedOn, ...often(10, shows(state, FIRST, SECOND))).state.info.settling).toBe('full_time')
    expect(fed(...often(7, shows(state, { ...RUNNING, ticking: false }))).state.info.settling).toBe('full_time')
  })

  it.each(['ABANDONED', 'POSTPONED'])('[T25] %s while the clock runs voids with the third answer', (state) => {
    const off = shows(state, RUNNING)
    expect(fed({}, ...often(2, off)).state.info).toMatchObject({ phase: 'off', settling: null })
    expect(fed({}, ...often(2, off), {}).state.info).toMatchObject({ phase: 'live', settling: null })
    expect(fed({}, ...often(3, off)).state.info.settling).toBe('void')
    expect(fed({}, ...often(2, shows(state))).state.info.settling).toBe('void')
  })

  it('[T23][T25] an answer that is too old to be believed confirms no end that it denies', () => {
    const play = shows('INPLAY_2ND_HALF', FIRST, { ...SECOND, ticking: true })
    const old = shows('HT', FIRST)
    const played = often(3, play)
    expect(fed(...played, shows('ABANDONED'), old).state.info).toMatchObject({ phase: 'off', settling: null })
    const end = shows('FT', FIRST, SECOND)
    expect(fed(...played, end, ...often(12, old)).state.info).toMatchObject({ phase: 'ended', settling: null })
    expect(fed(...played, end, ...often(12, old), ...often(2, end)).state.info.settling).toBe('full_time')
    const leap = shows('FT', FIRST, { ...SECOND, minutes: 93 })
    expect(fed(...played, shows('ABANDONED', FIRST, SECOND), leap).state.info).toMatchObject({
      phase: 'off',
      settling: null,
    })
  })

  it('[T25] a match that was stopped is void where its first half begins again at a later kick-off', () => {
    const play = shows('INPLAY_2ND_HALF', FIRST, { ...SECOND, ticking: true })
    const stopped = [...often(3, play), ...often(3, shows('SUSPENDED', FIRST, SECOND))]
    const tomorrow = (state: string, ...periods: readonly object[]): Said => ({
      over: { ...shows(state, ...periods).over, starting_at_timestamp: Date.parse('2026-12-02T18:00:00Z') / 1_000 },
    })
    const again = tomorrow('INPLAY_1ST_HALF', { ...RUNNING, minutes: 1 })
    const halfTime = tomorrow('HT', FIRST)
    expect(fed(...stopped, tomorrow('NS'), again).state.info).toMatchObject({ phase: 'off', settling: null })
    expect(fed(...stopped, again, again).state.info.settling).toBe('void')
    // Also where the new kick-off is known before.
    const dated = often(3, tomorrow('INTERRUPTED', FIRST, SECOND))
    expect(fed(...stopped, ...dated, again, again).state.info.settling).toBe('void')
    // One that is played to its end another day goes on.
    for (const resumed of [tomorrow('INPLAY_2ND_HALF', FIRST, { ...SECOND, ticking: true }), halfTime]) {
      expect(fed(...stopped, ...often(4, resumed)).state.info).toMatchObject({ settling: null })
    }
  })

  it('[T23] full time settles a match whose clock has gone back and stands', () => {
    const at = (minutes: number): Said => shows('INPLAY_2ND_HALF', FIRST, { ...SECOND, minutes, ticking: true })
    const end = shows('FT', FIRST, { ...SECOND, minutes: 93 })
    const news = { over: { ...at(48).over, events: [event(1, 18, 6, 48, { related_player_id: 4 })] } }
    expect(fed(at(60), at(70), news, ...often(12, end)).state.info).toMatchObject({
      phase: 'ended',
      settling: 'full_time',
    })
  })

  it('[T23] a period that ticks denies an end, but not for ever once its clock stands', () => {
    const play = shows('INPLAY_2ND_HALF', FIRST, { ...SECOND, minutes: 93, ticking: true })
    const end = shows('FT', FIRST, { ...SECOND, minutes: 93, ticking: true })
    const running = Array.from({ length: 60 }, (_, n) =>
      shows('FT', FIRST, { ...SECOND, minutes: 93 + Math.floor(n / 6), seconds: (n % 6) * 10, ticking: true }),
    )
    expect(fed(...often(4, play), ...often(10, end)).state.info).toMatchObject({ phase: 'live', settling: null })
    expect(fed(play, ...often(30, end)).state.info.settling).toBe('full_time')
    expect(fed(play, ...often(10, play), ...running).state.info).toMatchObject({ phase: 'live', settling: null })
  })
})
