import { expect, it } from 'vitest'
import { rowsBehind } from '../../actors/market/news.ts'
import type { Incident } from '../../actors/market/incidents.ts'
import { playerId } from '../../actors/kernel/ids.ts'

const scorer = { playerId: playerId(9), role: 'FWD', side: 'home' } as const

const goal = (id: number, minute: number, extraMinute: number | null): Incident => ({
  id,
  firstId: id,
  kind: 'goal',
  minute,
  extraMinute,
  period: null,
  sortOrder: null,
  side: 'home',
  playerId: scorer.playerId,
  relatedPlayerId: null,
  addition: null,
  listedAt: 0,
  isRelatedLost: false,
  standing: 'counted',
})

it('[N1] the news of a player begins with the earliest row: 45+4 is before 47', () => {
  const { changed, latest } = rowsBehind(scorer, null, [goal(1, 47, null), goal(2, 45, 4), goal(3, 45, 1)], [])
  expect(changed.map(({ id }) => id)).toEqual([3, 2, 1])
  expect(latest?.id).toBe(1)
})
