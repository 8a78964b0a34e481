import { expect, it } from 'vitest'
import { instrumentId, userId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { noticeOf } from '../../src/features/watchlist/news.ts'

it('a name is shown as it is, whatever it means to a replacement', () => {
  const one = instrumentId('01900000-0000-7000-8000-000000000001')
  const news = { match: 'Harbour 1–0 Mill', isKickOff: false }
  const goal = { what: 'goal', instrumentId: one, player: "Cash $& Co $'", minute: 3 } as const
  const follower = { userId: userId(one), instruments: [one], kinds: ['goal'], isReminded: false } as const
  const notice = noticeOf({ ...news, items: [goal] }, follower, { matchId: 1, id: 1, at: instant(0) })
  expect(notice?.title).toBe("Goal: Cash $& Co $'")
})
