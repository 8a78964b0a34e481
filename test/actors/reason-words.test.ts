import { describe, expect, it } from 'vitest'
import { closeWords, percentWords, tickReason } from '../../actors/market/reason-words.ts'
import type { MoveReason } from '../../actors/market/move-reason.ts'

const booked: MoveReason = {
  event: { kind: 'yellow', minute: 34, extraMinute: null, undone: false },
  byEvent: -900,
  byMinutes: -100,
  byStatistics: 200,
}
const quiet: MoveReason = { event: null, byEvent: 0, byMinutes: -100, byStatistics: 20 }

describe('the reason of a tick', () => {
  it('is its largest part, and orders count among them', () => {
    expect(tickReason('match', booked)).toMatchObject({ kind: 'event', words: 'Booked in the 34th minute' })
    expect(tickReason('match', quiet)).toMatchObject({ kind: 'minutes', event: null })
    expect(tickReason('match', { ...quiet, byStatistics: 400 }).kind).toBe('statistics')
    expect(tickReason('match', quiet, -5_000).kind).toBe('crowd')
    expect(tickReason('trade', null).kind).toBe('crowd')
  })

  it('is the event of a tick that an event caused, however many stops it set off', () => {
    expect(tickReason('event', booked, -5_000).kind).toBe('event')
    expect(tickReason('event', quiet).kind).toBe('minutes')
  })

  it('is the cause where the base has stood still', () => {
    for (const cause of ['listing', 'rules', 'settlement'] as const) expect(tickReason(cause, null).kind).toBe(cause)
    expect(tickReason('match', null).kind).toBe('whistle')
  })

  it.each([
    [{ minute: 1 }, 'Booked in the 1st minute'],
    [{ minute: 2 }, 'Booked in the 2nd minute'],
    [{ minute: 3 }, 'Booked in the 3rd minute'],
    [{ minute: 11 }, 'Booked in the 11th minute'],
    [{ minute: 13 }, 'Booked in the 13th minute'],
    [{ minute: 62 }, 'Booked in the 62nd minute'],
    [{ minute: 111 }, 'Booked in the 111th minute'],
    [{ minute: 45, extraMinute: 2 }, 'Booked in minute 45+2'],
    [{ undone: true }, 'Booking of the 34th minute taken back'],
    [{ kind: 'conceded', minute: 90, extraMinute: 4, undone: true }, 'Conceded goal of minute 90+4 taken back'],
    [{ kind: 'penalty_goal' }, 'Penalty scored in the 34th minute'],
  ] as const)('%j reads as people say it', (over, words) => {
    const event = { kind: 'yellow', minute: 34, extraMinute: null, undone: false, ...over } as const
    expect(tickReason('event', { ...booked, event }).words).toBe(words)
  })
})

describe('sentences', () => {
  it('show a move with a proper minus, and a small one with two decimals', () => {
    const shown = [98.8, 101.2, 100.04, 99.96, 100].map((to) => percentWords(100, to))
    expect(shown).toEqual(['−1.2 %', '+1.2 %', '+0.04 %', '−0.04 %', '0.00 %'])
  })

  it('name the rule that closed a position, each in its own words', () => {
    const by = ['user', 'stop_loss', 'take_profit', 'washout', 'full_time', 'admin', 'void'] as const
    const all = by.map((one) => closeWords({ by: one, voidReason: null, at: '151.20' }))
    expect(all[1]).toBe('your stop at 151.20 was reached')
    const taken = closeWords({ by: 'void', voidReason: 'operator', at: '151.20' })
    expect(new Set([...all, taken]).size).toBe(8)
  })
})
