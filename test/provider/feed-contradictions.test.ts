import { describe, expect, it } from 'vitest'
import {
  AWAY,
  details,
  event,
  fed,
  goal,
  HOME,
  lineup,
  LINEUPS,
  lineups,
  scored,
  STATS,
  type Said,
} from '../support/fed-polls.ts'

const FIRST = { id: 1, type_id: 1, counts_from: 0, sort_order: 1, minutes: 47, seconds: 10, ticking: false }
const SECOND = { id: 2, type_id: 2, counts_from: 45, sort_order: 2, minutes: 47, seconds: 10, ticking: true }
const secondHalf = (...periods: readonly object[]): Said => ({
  over: { state: { state: 'INPLAY_2ND_HALF' }, state_id: 22, periods },
})

describe('rows that contradict one another', () => {
  it('[P24] of two current scores of a side the one that was made last counts', () => {
    const row = (id: number, team: number, goals: number) => ({
      id,
      participant_id: team,
      score: { goals },
      description: 'CURRENT',
    })
    const scores = [row(1, HOME, 0), row(3, HOME, 1), row(2, AWAY, 2), row(4, AWAY, 1)]
    for (const said of [scores, scores.toReversed()]) {
      const { home, away } = fed({ over: { scores: said } }, { over: { scores: said } }).state.info
      expect([home.goals, away.goals]).toEqual([1, 1])
    }
  })

  it.each([
    [
      'listed twice, an old row first',
      secondHalf({ ...SECOND, minutes: 46 }, { ...SECOND, ticking: false }, FIRST, SECOND),
    ],
    ['numbered alike', secondHalf(FIRST, { ...SECOND, sort_order: 1 })],
    ['numbered the wrong way round', secondHalf({ ...FIRST, sort_order: 2 }, { ...SECOND, sort_order: 1 })],
  ])('[P24] a period is one, in its order: %s', (_, said) => {
    const match = fed(secondHalf(FIRST, { ...SECOND, minutes: 46 }), said)
    expect(match.bases()).toEqual(fed(secondHalf(FIRST, { ...SECOND, minutes: 46 }), secondHalf(FIRST, SECOND)).bases())
    expect(match.state.info.minute).toBe(47)
  })

  it('[P3] a half whose clock runs on in the break, and beside the next half, is played no longer', () => {
    const halfTime = (over: object): Said => ({
      over: { state: { state: 'HT' }, state_id: 3, periods: [{ ...FIRST, ...over }] },
    })
    const polls = (...first: readonly object[]): readonly Said[] => [
      halfTime({}),
      halfTime(first[0] ?? {}),
      secondHalf({ ...FIRST, ...first[1] }, { ...SECOND, minutes: 46 }),
      secondHalf({ ...FIRST, ...first[2] }, SECOND),
    ]
    const match = fed(...polls({ minutes: 60, ticking: true }, { minutes: 62, ticking: true }, { minutes: 63 }))
    expect(match.bases()).toEqual(fed(...polls()).bases())
    expect(match.state.info.minute).toBe(47)
  })

  const listing = (...events: readonly object[]): Said => ({ over: { events } })
  const change = event(1, 18, 6, 20, { related_player_id: 4 })
  const corrected = { ...change, player_id: 5, player_name: 'Player 5' }

  it.each([
    ['a substitution that is taken back', [listing(change), listing(), listing()]],
    ['one that is corrected', [listing(change), listing(corrected), listing(corrected)]],
    [
      'a line-up that is taken back',
      [11, 11, 12, 12].map((type_id) => ({
        over: { lineups: LINEUPS.map((row) => ({ ...row, type_id: row['player_id'] === 6 ? type_id : 11 })) },
      })),
    ],
  ])('[P4] who has not played after all is worth what they were: %s', (_, polls) => {
    const prices = polls.map((_poll, n) => fed(...polls.slice(0, n + 1)).base(6) ?? 0)
    expect(Math.min(...prices)).toBeLessThan(249)
    expect(prices.at(-1)).toBe(250)
  })

  it('[P24] a goal without a name is one, under whatever id it comes', () => {
    const nameless = (id: number, minute = 38): Said => ({
      score: [1, 0],
      over: { events: [event(id, 14, null, minute)] },
    })
    const match = fed(nameless(1), nameless(2, 39), nameless(3))
    expect(match.events()).toEqual([[3, null, false]])
    expect(match.bases()).toEqual(fed(nameless(1), nameless(1), nameless(1)).bases())
  })

  it('[P27] a row of the other team says nothing of a player whose own team has one', () => {
    const other = lineup(4, { team_id: AWAY, type_id: 12, details: details({ ...STATS, 52: 1, 83: 1 }) })
    const twice: Said = { ...scored, over: { ...scored.over, lineups: [...LINEUPS, other] } }
    const once: Said = { ...scored, over: { ...scored.over, lineups: LINEUPS } }
    expect(fed(scored, twice, twice).bases()).toEqual(fed(scored, once, once).bases())
  })

  it('[P24] a period whose number changes is the same one, and one that a poll has told too early has not begun', () => {
    const first = { ...FIRST, minutes: 40, ticking: true }
    const polls = (...periods: readonly object[]): Said => ({ over: { periods } })
    const right = fed({}, ...Array.from({ length: 8 }, () => polls(first)))
    for (const wrong of [
      [{ ...first, sort_order: 2 }],
      [
        { ...first, ticking: false },
        { ...SECOND, minutes: 46 },
      ],
    ]) {
      const match = fed(
        {},
        polls(...wrong),
        ...Array.from({ length: 7 }, (_, n) => polls({ ...first, seconds: 10 + n })),
      )
      expect(match.base(4)).toBeCloseTo(right.base(4) ?? 0, 1)
      expect(match.state.pricing.beliefs.periods).toHaveLength(1)
    }
  })

  it('[P24] a review that one list leaves out is shown as it was, and a substitution that comes twice once', () => {
    const review = event(2, 10, null, 21, { addition: 'Goal confirmed', participant_id: HOME })
    expect(fed(listing(review), listing(), listing(review)).events()).toEqual([[2, null, false]])
    const rows: Said['over'] = { lineups: lineups({ 6: { details: details(STATS) } }) }
    const twice: Said = { over: { ...rows, events: [change, { ...change, id: 2, minute: 25 }] } }
    const once: Said = { over: { ...rows, events: [change] } }
    expect(
      fed(twice, once, once, once)
        .events()
        .filter(([, , retracted]) => !retracted),
    ).toEqual([[1, 6, false]])
  })

  it.each([
    ['in play', {}],
    ['before kick-off', { state: { state: 'NS' }, state_id: 1 }],
  ])('[P7] a clock that is reset for a poll, %s, moves no price and stops no match', (_, state) => {
    const scoredAt = { ...scored, over: { ...scored.over, events: [goal, change] } }
    const reset = { ...scoredAt.over, ...state, periods: [{ ...FIRST, minutes: 0 }] }
    const match = fed(scoredAt, { ...scoredAt, over: reset }, scoredAt, scoredAt)
    expect(match.bases()).toEqual(fed(scoredAt, scoredAt, scoredAt, scoredAt).bases())
    expect(match.state.info).toMatchObject({ phase: 'live', minute: 40 })
    expect(fed(scoredAt, { ...scoredAt, over: reset }).bases()).toEqual(fed(scoredAt).bases())
  })

  const still = (state: string): Said => ({ over: { state: { state }, periods: [FIRST] } })
  it.each([
    ['the next half begins', [still('HT'), still('HT'), secondHalf(FIRST, SECOND)]],
    ['the match ends', [still('FT')]],
  ])('[P7] a clock that two polls set half an hour ahead leaves nothing behind when %s', (_, end) => {
    const ahead: Said = { minute: 70 }
    const [right, wrong] = [fed({}, {}, {}, {}, ...end), fed(ahead, ahead, {}, {}, ...end)]
    expect(fed(ahead, ahead, {}, {}).base(4)).toBeLessThan(fed({}, {}, {}, {}).base(4) ?? 0)
    expect(wrong.bases()).toEqual(right.bases())
  })

  it('[P24] periods that may follow and are listed already have not begun', () => {
    const later = [2, 3, 5].map((type) => ({ id: type, type_id: type, ticking: false, minutes: null, seconds: null }))
    const half = { ...FIRST, minutes: 41, ticking: true }
    // Only the score tells of the goal: in a shoot-out it would be a kick.
    const right: Said = { score: [1, 0], over: { periods: [half] } }
    const wrong: Said = { score: [1, 0], over: { periods: [half, ...later] } }
    expect(fed(wrong, wrong).bases()).toEqual(fed(right, right).bases())
    expect(fed(wrong).state.info).toMatchObject({ minute: 41, home: { goals: 1 } })
  })

  it('[P7] a break that is told again in the next half says nothing, however often', () => {
    const at = (minutes: number): Said => ({
      ...scored,
      over: { ...scored.over, ...secondHalf(FIRST, { ...SECOND, minutes }).over },
    })
    const [begun, later] = [[at(46), at(51)], at(52)]
    const match = fed(still('HT'), ...begun, still('HT'), still('HT'), still('HT'))
    expect(match.bases()).toEqual(fed(still('HT'), ...begun).bases())
    expect(match.state.info).toMatchObject({ phase: 'live', minute: 51, home: { goals: 1 } })
    const after = fed(still('HT'), ...begun, still('HT'), still('HT'), later)
    expect(after.bases()).toEqual(fed(still('HT'), ...begun, at(51), at(51), later).bases())
  })

  const FULL = { ...SECOND, minutes: 94, ticking: false }
  const ended = (state: string, ...periods: readonly object[]): Said => ({ over: { state: { state }, periods } })
  const extra = (minutes: number, ticking = true) => ({ id: 3, type_id: 3, counts_from: 90, minutes, ticking })
  const inExtra = (minutes: number): Said => ended('INPLAY_ET', FIRST, FULL, extra(minutes))
  const often = (said: Said): readonly Said[] => Array.from({ length: 8 }, () => said)

  it('[T23] full time that is told again in extra time settles nothing, however often', () => {
    const begun = [ended('FT', FIRST, FULL), inExtra(91), inExtra(92)]
    const match = fed(...begun, ...often(ended('FT', FIRST, FULL)))
    expect(match.bases()).toEqual(fed(...begun).bases())
    expect(match.state.info).toMatchObject({ phase: 'live', minute: 92, settling: null })
  })

  it.each([
    ['that a poll has begun by mistake', [inExtra(90), ...often(ended('FT', FIRST, FULL))]],
    ['that is over', [inExtra(92), ...often(ended('AET', FIRST, FULL))]],
    ['that is listed', [inExtra(92), ...often(ended('FT', FIRST, FULL, extra(92, false)))]],
  ])('[T23] an end settles after extra time %s', (_, polls) => {
    expect(fed(...polls).state.info.settling).toBe('full_time')
  })

  it.each([
    [
      'beside the one that goes on',
      [
        { ...FIRST, minutes: 40, seconds: 3, ticking: false },
        { ...SECOND, minutes: 46 },
      ],
    ],
    ['alone', [{ ...SECOND, minutes: 46 }]],
  ])('[P7] a half that one poll tells too early is taken back by the next: %s', (_, periods) => {
    const match = fed({}, { over: { periods } }, {})
    expect(match.bases()).toEqual(fed({}, {}, {}).bases())
    expect(match.state.info.minute).toBe(40)
  })

  it('[P7] a feed that tells the match from its beginning once more takes nothing back, however often', () => {
    const right = [still('HT'), secondHalf(FIRST, { ...SECOND, minutes: 46 }), secondHalf(FIRST, SECOND)]
    const again = Array.from({ length: 10 }, (_, n): Said => ({ over: { events: [] }, minute: n }))
    const match = fed(...right, ...again)
    expect(match.bases()).toEqual(fed(...right).bases())
    expect(match.state.info.minute).toBe(47)
  })

  it('[P7] a cache that is minutes behind and goes on takes no goal back, however often', () => {
    const at = (minutes: number, said: Said): Said => ({ ...said, minute: minutes })
    const right = [at(40, {}), at(41, scored), at(42, scored)]
    const behind = Array.from({ length: 12 }, () => at(37, {}))
    const match = fed(...right, ...behind)
    const bases = match.bases()
    expect(bases).toEqual(fed(...right).bases())
    expect(match.state.info).toMatchObject({ minute: 42, home: { goals: 1 } })
    // One that has all the facts was corrected, and so was one that stays behind for long.
    expect(fed(...right, ...behind.map(() => at(38, scored))).state.info.minute).toBe(38)
    expect(fed(...right, ...behind, ...behind, ...behind).state.info).toMatchObject({ minute: 37, home: { goals: 0 } })
  })

  it('[P24] a goal that was taken back, and is listed for ever, takes no later goal of its side', () => {
    const withGoals = (events: readonly object[], of: Readonly<Record<number, number>>): Said => ({
      score: [Object.keys(of).length, 0],
      over: {
        events,
        lineups: lineups(
          Object.fromEntries(Object.entries(of).map(([id, n]) => [id, { details: details({ ...STATS, 52: n }) }])),
        ),
      },
    })
    const other = event(2, 14, 3, 40)
    const gone = withGoals([goal], {})
    const wrong = withGoals([goal, other], { 3: 1 })
    const match = fed(scored, gone, gone, wrong, wrong)
    expect(match.events()).toEqual([
      [1, 4, true],
      [2, 3, false],
    ])
  })

  it('[P22] counts that all players have alike have not begun again', () => {
    const acting = LINEUPS.map((row, n) => ({ ...row, details: details({ ...STATS, 80: 20 + n }) }))
    const alike = LINEUPS.map((row) => ({ ...row, details: details({ 80: 2 }) }))
    const [right, wrong] = [{ over: { lineups: acting } }, { over: { lineups: alike } }] as const
    expect(fed(right, right, wrong, wrong, right).bases()).toEqual(fed(right, right, right, right, right).bases())
  })

  it('[P24] many cards at once count when a second list or the statistics tell them', () => {
    const [booked, cards] = [[2, 3, 4, 12] as const, { ...STATS, 84: 1 }]
    const rows = booked.map((player, n) => event(n + 1, 19, player, 40))
    const list: Said = { over: { events: rows } }
    const stated = lineups(Object.fromEntries(booked.map((player) => [player, { details: details(cards) }])))
    expect(fed(list).bases()).toEqual(fed({}).bases())
    expect(fed(list, list).bases()).not.toEqual(fed({}, {}).bases())
    expect(fed({ over: { events: rows, lineups: stated } }).bases()).not.toEqual(fed({}).bases())
    expect(fed({ over: { events: rows.slice(1) } }).bases()).not.toEqual(fed({}).bases())
  })

  it('[P22] ratings that move together count when a second answer has them', () => {
    const rated = (by: number): Said => ({
      over: {
        lineups: LINEUPS.map((row, n) => ({ ...row, details: details({ ...STATS, 118: 6.5 + n / 10 + by }) })),
      },
    })
    const [right, other] = [rated(0), rated(0.9)]
    expect(fed(right, right, other).bases()).toEqual(fed(right, right, right).bases())
    expect(fed(right, right, other, right).bases()).toEqual(fed(right, right, right, right).bases())
    expect(fed(right, right, other, other).bases()).not.toEqual(fed(right, right, right, right).bases())
  })

  it.each([
    ['has no goals', [0, 0]],
    ['is that of the other side', [0, 1]],
  ] as const)('[P22] a score that %s says nothing while list and statistics have the goal', (_, score) => {
    const wrong: Said = { ...scored, score }
    const match = fed(scored, wrong, wrong, wrong)
    expect(match.bases()).toEqual(fed(scored, scored, scored, scored).bases())
    expect([match.state.info.home.goals, match.state.info.away.goals]).toEqual([1, 0])
    // Once the list has lost it, too, two polls take it back.
    const gone: Said = { score, over: { events: [] } }
    expect(fed(scored, wrong, gone, gone).state.info.home.goals).toBe(0)
  })

  it('[P9] a goal that is called something else stands while the score has it', () => {
    const called = (type_id: number, score: Said['score'] = [1, 0]): Said => ({
      ...scored,
      score,
      over: { ...scored.over, events: [{ ...goal, type_id }] },
    })
    const right = fed(scored, scored, scored)
    expect(fed(scored, called(15), called(15)).bases()).toEqual(right.bases())
    expect(fed(scored, called(19), called(19)).base(11)).toBe(right.base(11))
    const own = fed(scored, called(15, [0, 1]), called(15, [0, 1]), called(15, [0, 1]))
    expect(own.base(11)).toBeGreaterThan(right.base(11) ?? 0)
  })

  it.each([
    ['a saved penalty that no opponent has missed', 11, [0, 0], { 113: 2 }],
    ['an assist without a goal', 4, [0, 0], { 79: 1 }],
    ['errors that led to more goals than there are', 12, [0, 1], { 571: 3 }],
  ] as const)('[P16] %s moves no price beyond what the score allows', (_, player, score, stated) => {
    const told = (of: object): Said => ({
      score,
      over: { lineups: lineups({ [player]: { details: details({ ...STATS, ...of }) } }) },
    })
    const allowed = fed(told({}), told({}), told({}))
    const match = fed(told({}), told(stated), told(stated))
    expect(match.base(player)).toBe(allowed.base(player))
  })

  it('[P16] a keeper is credited with a saved penalty once its taker, or the list, has missed one', () => {
    const keeper = { 11: { details: details({ ...STATS, 113: 1 }) } }
    const alone: Said = { over: { lineups: lineups(keeper) } }
    const both: Said = { over: { lineups: lineups({ ...keeper, 4: { details: details({ ...STATS, 112: 1 }) } }) } }
    const listed: Said = { over: { lineups: lineups(keeper), events: [event(1, 17, 4, 39)] } }
    for (const said of [both, listed]) expect(fed(said).base(11)).toBeGreaterThan((fed(alone).base(11) ?? 0) + 1)
  })

  it('[P24] no opponent gives an assist', () => {
    const assisted: Said = { ...scored, over: { ...scored.over, events: [{ ...goal, related_player_id: 12 }] } }
    expect(fed(assisted, assisted).bases()).toEqual(fed(scored, scored).bases())
  })

  it('[P24] an assist for a goal of long ago counts when a second list or the statistics tell it', () => {
    const early = event(1, 14, 4, 20)
    const old: Said = { ...scored, over: { ...scored.over, events: [early] } }
    const assisted: Said = { ...old, over: { ...old.over, events: [{ ...early, related_player_id: 3 }] } }
    const stated: Said = {
      ...assisted,
      over: {
        ...assisted.over,
        lineups: lineups({
          3: { details: details({ ...STATS, 79: 1 }) },
          4: { details: details({ ...STATS, 52: 1 }) },
        }),
      },
    }
    expect(fed(old, assisted).base(3)).toBe(fed(old, old).base(3))
    for (const polls of [
      [old, assisted, assisted],
      [old, stated],
    ])
      expect(fed(...polls).base(3)).toBeGreaterThan((fed(old, old).base(3) ?? 0) + 1)
  })

  it('[P22] a count that four rows with the others lack, and others have, is none', () => {
    const told = (of: object): Said => ({
      over: {
        lineups: lineups({
          3: { details: details({ ...STATS, 117: 1 }) },
          4: { details: details({ ...STATS, 56: 1, 78: 2, ...of }) },
        }),
      },
    })
    const right = Array.from({ length: 4 }, () => told({}))
    expect(fed(told({}), told({ 117: 4 }), ...right).bases()).toEqual(fed(told({}), told({}), ...right).bases())
    const held = fed(told({}), told({ 117: 4 }), ...right.slice(1))
    expect(held.base(4)).toBeGreaterThan(fed(told({}), told({}), ...right.slice(1)).base(4) ?? 0)
  })

  it('[P29] a shoot-out before the second half closes the market, and ends the match with the third answer', () => {
    const over: Said = {
      over: { state: { state: 'FT_PEN' }, state_id: 8, periods: [{ ...FIRST, minutes: 40, ticking: false }] },
    }
    expect(fed({}, over).state.info).toMatchObject({ phase: 'ended', settling: null })
    const playedOn: Said = { over: { periods: [{ ...FIRST, minutes: 41 }] } }
    expect(fed({}, over, playedOn).state.info).toMatchObject({ phase: 'live', settling: null })
    expect(fed({}, over, over).state.info).toMatchObject({ phase: 'ended', settling: null })
    expect(fed({}, over, over, over).state.info.settling).toBe('full_time')
    const byNumber: Said = { over: { ...over.over, state: null } }
    expect(fed({}, byNumber).state.info.settling).toBeNull()
    // Nor is it certain where the first half had ended, or no period is listed.
    const half: Said = { over: { ...over.over, periods: [FIRST] } }
    for (const one of [half, { over: { ...over.over, periods: [] } }]) {
      expect(fed(still('HT'), still('HT'), one).state.info.settling).toBeNull()
      expect(fed(still('HT'), one, secondHalf(FIRST, { ...SECOND, minutes: 46 })).state.info.phase).toBe('live')
    }
    const whole: Said = { over: { ...over.over, periods: [FIRST, { ...SECOND, minutes: 91, ticking: false }] } }
    const late = secondHalf(FIRST, { ...SECOND, minutes: 91 })
    expect(fed(secondHalf(FIRST, SECOND), late, late, whole).state.info.settling).toBe('full_time')
  })
})
