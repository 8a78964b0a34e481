import { describe, expect, it } from 'vitest'
import { fixtureId, instrumentId, positionId } from '../../actors/kernel/ids.ts'
import { lots, money } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { ClosedEvent } from '../../actors/community/committed-event.ts'
import { headlinesOf, noticesOf, spinnerHeadline, spinnerNotices } from '../../actors/community/notices.ts'
import { U, u } from '../support/fixtures.ts'

const at = instant(5)
const closed = (n: number, pnl: number, over: Partial<ClosedEvent> = {}): ClosedEvent => ({
  kind: 'closed',
  positionId: positionId(`p${n}`),
  userId: U(n),
  purse: 'main',
  instrumentId: instrumentId('i'),
  direction: 'short',
  lots: lots(u(1)),
  margin: money(u(100)),
  pnl: money(u(pnl)),
  baseMove: money(u(pnl)),
  openedAt: instant(0),
  by: 'stop_loss',
  voidReason: null,
  ...over,
})
const sentFor = (...events: readonly ClosedEvent[]) =>
  noticesOf({ key: '7:1', matchId: fixtureId(7), at, events }, () => 'A. Striker').map(({ userId, type, body }) => [
    userId,
    type,
    body,
  ])

describe('notices', () => {
  it('report what the system closed, not what the user closed', () => {
    expect(sentFor(closed(1, -12.5), closed(2, 3, { by: 'user' }))).toEqual([
      [U(1), 'position_closed', 'Your short on A. Striker was closed: −12.50.'],
    ])
  })

  it('say in plain words why a close is corrected, and nothing where only the base moved', () => {
    const { voidReason: _, ...close } = closed(1, -4)
    const booked = (pnl: number) =>
      noticesOf(
        {
          key: '7:1',
          matchId: fixtureId(7),
          at,
          events: [{ ...close, kind: 'corrected', before: { pnl: money(u(pnl)), baseMove: money(0) } }],
        },
        () => 'A. Striker',
      )
    expect(booked(6)).toMatchObject([
      {
        type: 'fill_moved',
        title: 'Close moved by news',
        body:
          'News of A. Striker came just after your short closed. It is booked at the price after it: −10.00, which ' +
          'makes −4.00 in all.',
      },
    ])
    expect(booked(-4)).toEqual([])
  })

  it('sum up settled positions in one notice per user', () => {
    const over = { by: 'full_time' } as const
    const events = [closed(1, 5, over), closed(2, -1, over), closed(1, 7, { ...over, positionId: positionId('p3') })]
    expect(sentFor(...events)).toEqual([
      [U(1), 'settlement', '2 positions were settled: +12.00.'],
      [U(2), 'settlement', 'One position was settled: −1.00.'],
    ])
  })

  it('[R15] say first that they are about practice', () => {
    const practised = [closed(1, 5, { by: 'full_time' }), closed(1, -3)].map((event) => ({
      ...event,
      purse: 'practice' as const,
    }))
    const notices = noticesOf({ key: '7:1', matchId: fixtureId(7), at, events: practised }, () => 'A. Striker')
    expect(notices.at(-1)?.data['matchId']).toBe(7)
    expect(notices.map(({ title, data }) => [title, data['purse']])).toEqual([
      ['Practice: Stop-loss reached', 'practice'],
      ['Practice: Full time', 'practice'],
    ])
  })

  it('report big wins and washouts in the activity feed', () => {
    const events = [
      closed(1, 499.99, { by: 'user' }),
      closed(2, 500, { by: 'user' }),
      closed(3, -100, { by: 'washout' }),
    ]
    expect(headlinesOf(events, at, () => 'A. Striker').map(({ userId, type, text }) => [userId, type, text])).toEqual([
      [U(2), 'big_win', 'won 500.00 short on A. Striker'],
      [U(3), 'washout', 'was washed out short on A. Striker'],
    ])
  })

  it('report a draw to all its candidates', () => {
    const notices = spinnerNotices('2026-W47', [U(1), U(2)], U(2), at)
    expect(notices.map(({ userId, title }) => [userId, title])).toEqual([
      [U(1), 'Week 2026-W47 is decided'],
      [U(2), 'You have won week 2026-W47'],
    ])
    expect(spinnerHeadline('2026-W47', U(2), at)).toMatchObject({ userId: U(2), source: 'spinner:2026-W47' })
  })
})
