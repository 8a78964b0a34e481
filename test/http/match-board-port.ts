/** The table of a match as the routes see it: Alice is second of 300, and of two friends. It has two pages. */
import { districtId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import type { TableRow } from '../../src/features/match-board/store.ts'
import type { FeaturePorts } from './feature-parts.ts'

const BOB = userId('0197f2a0-0000-7000-8000-00000000000b')

export function matchBoardPort(alice: UserId, now: Instant): FeaturePorts['matchBoards'] {
  const row = (rank: number, user: UserId, units: number): TableRow => ({
    rank,
    standing: {
      userId: user,
      districtId: districtId(1),
      pnl: money(units * 1_000_000),
      baseMoves: money(units * 1_000_000),
      stake: money(1_000_000_000),
      closed: 4,
      wins: 3,
      firstTradeAt: instant(now - 1_000),
      version: 0,
    },
    user: { username: user === alice ? 'alice' : 'bob', isBot: false },
  })
  return {
    table: async ({ group, user, after }) => {
      const rows = [row(1, BOB, 250), row(2, alice, 125)]
      const mine = user === alice && group.kind !== 'district'
      const total = group.kind === 'everybody' ? 300 : 2
      const [page, end] = after?.place === 2 ? [[row(3, BOB, 100)], null] : [rows, { place: 2, rank: 2 }]
      return { total, page, end, me: mine ? row(2, alice, 125) : null, around: mine ? rows : [], isFinal: false }
    },
    leagueMates: async (user) => [user, BOB],
  }
}
