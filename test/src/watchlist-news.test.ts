import { expect, it } from 'vitest'
import { instrumentId, userId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { newsOf, noticeOf } from '../../src/features/watchlist/news.ts'
import { GOAL, info, player } from '../support/fixtures.ts'

it('a name is shown as it is, whatever it means to a replacement', () => {
  const one = instrumentId('01900000-0000-7000-8000-000000000001')
  const news = { match: 'Harbour 1–0 Mill', isKickOff: false }
  const goal = { what: 'goal', instrumentId: one, player: "Cash $& Co $'", minute: 3 } as const
  const follower = { userId: userId(one), instruments: [one], kinds: ['goal'], isReminded: false } as const
  const notice = noticeOf({ ...news, items: [goal] }, follower, { matchId: 1, id: 1, at: instant(0) })
  expect(notice?.title).toBe("Goal: Cash $& Co $'")
})

it('[R29] [R32] what is seen of a playing that was void hides nothing of the next', () => {
  const squad = [player(1)]
  const events = [{ ...GOAL, playerId: squad[0]?.playerId ?? null, retracted: false }]
  const first = newsOf(info({ squad, events, kickedOffAt: instant(1_000) }), {}, instant(2_000))
  const again = newsOf(info({ squad, kickedOffAt: null }), first.seen, instant(9_000_000))
  expect(again).toMatchObject({ news: { items: [], isKickOff: false }, seen: {} })
  const kickedOffAt = instant(10_000_000)
  const { news } = newsOf(info({ squad, events, kickedOffAt }), again.seen, kickedOffAt)
  expect([news.isKickOff, news.items.map(({ what }) => what)]).toEqual([true, ['goal', 'starts']])
  // Its first update may show it in play already.
  const direct = newsOf(info({ squad, events, kickedOffAt }), first.seen, kickedOffAt)
  expect(direct).toEqual({ news, seen: { 'goal:1': 1, kickoff: kickedOffAt } })
  expect(newsOf(info({ squad, events, kickedOffAt }), direct.seen, kickedOffAt).news.items, 'once').toEqual([])
})

it('[R29] a match that began before the time of a kick-off was kept goes on', () => {
  const squad = [player(1)]
  const events = [{ ...GOAL, playerId: squad[0]?.playerId ?? null, retracted: false }]
  const kickedOffAt = instant(1_000)
  const { news, seen } = newsOf(info({ squad, events, kickedOffAt }), { 'goal:1': 1, kickoff: 1 }, instant(2_000))
  expect([news.isKickOff, news.items, seen]).toEqual([false, [], { 'goal:1': 1, kickoff: kickedOffAt }])
})
