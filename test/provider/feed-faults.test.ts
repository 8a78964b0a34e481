import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FedMatch } from '../support/fed-match.ts'
import {
  AWAY,
  HOME,
  LINEUPS,
  STATS,
  type Row,
  type Said,
  busy,
  counts,
  details,
  event,
  fed,
  goal,
  lineup,
  lineups,
  payload,
  scored,
} from '../support/fed-polls.ts'

describe('an update that errs', () => {
  it.each([
    ['a rating of 0', { ...counts, 118: 0 }],
    ['a rating as text', { ...counts, 118: '0.00' }],
    ['a rating of 69', { ...counts, 118: 69 }],
    ['a rating that leaps', { ...counts, 118: 1.2 }],
    ['only the rating', { 118: 6.9 }],
    ['no passes', { ...counts, 80: undefined }],
    ['zeros', { 80: 0, 86: 0, 116: 0, 117: 0, 118: 0 }],
    ['a negative and a fractional count', { ...counts, 86: -4, 117: 1.5 }],
    ['ten times the passes', { ...counts, 80: 200, 116: 160 }],
  ])('[P21] of one poll moves no price: %s', (_, wrong) => {
    const [right, glitch] = [fed(busy(counts), busy(counts)), fed(busy(counts), busy(wrong))]
    expect(glitch.bases()).toEqual(right.bases())
    expect(fed(busy(counts), busy(wrong), busy(counts)).bases()).toEqual(fed(busy(counts), {}, busy(counts)).bases())
  })

  it('[P22] a fall of a count is believed when the next update says it too, and a rise at once', () => {
    const less = busy({ ...counts, 86: 2 })
    const once = fed(busy(counts), less)
    expect(once.base(4)).toBe(fed(busy(counts), busy(counts)).base(4))
    expect(fed(busy(counts), less, less).base(4)).toBeLessThan(once.base(4) ?? 0)
    expect(fed(busy(counts), busy({ ...counts, 86: 5 })).base(4)).toBeGreaterThan(once.base(4) ?? 0)
  })

  it('[P23] the score vouches for its goals: a list that goes empty cancels none, and a fall of both does', () => {
    const empty: Said = { ...scored, over: { ...scored.over, events: [] } }
    const match = fed(scored, empty, empty, empty)
    expect(match.bases()).toEqual(fed(scored, scored, scored, scored).bases())
    expect(match.events()).toEqual([[1, 4, false]])
    const gone: Said = { over: { events: [] } }
    expect(fed(scored, empty, gone).events()).toEqual([[1, 4, false]])
    const cancelled = fed(scored, empty, gone, gone)
    expect(cancelled.events()).toEqual([[1, 4, true]])
    expect(cancelled.state.info.home.goals).toBe(0)
  })

  it('[P22] counts of a season in up to three answers, or one more for everybody in one, say nothing', () => {
    const rows = (change: (of: Readonly<Record<string, number>>) => object): Said => ({
      over: {
        lineups: LINEUPS.map((row, n) => ({ ...row, details: details({ ...change({ ...STATS, 80: 30 + n }) }) })),
      },
    })
    const right = rows((of) => of)
    const season = rows(({ 80: passes = 0, ...of }) => ({ ...of, 80: 20 * passes }))
    const often = (polls: number) => Array.from({ length: polls }, () => right)
    expect(fed(right, season, season, season, right).bases()).toEqual(fed(...often(5)).bases())
    for (const type of [52, 79, 83, 84, 86]) {
      expect(
        fed(
          right,
          rows((of) => ({ ...of, [type]: 1 })),
          right,
        ).bases(),
      ).toEqual(fed(...often(3)).bases())
    }
  })

  it('[P22] rows vouch for as much as they tell: what a poll counts twice falls back to it', () => {
    const assisted = (assists: number): Said => ({
      score: [1, 0],
      over: {
        events: [event(1, 14, 4, 38, { related_player_id: 3 })],
        lineups: lineups({
          3: { details: details({ ...STATS, 79: assists }) },
          4: { details: details({ ...STATS, 52: 1 }) },
        }),
      },
    })
    const [once, twice] = [assisted(1), assisted(2)]
    expect(fed(once, twice, once, once).bases()).toEqual(fed(once, once, once, once).bases())
  })

  it('[P22] a correction moves a price once: list and statistics follow each other without a step between', () => {
    const rated = { ...STATS, 52: 1 }
    const by = (player: 3 | 4): Said => ({
      score: [1, 0],
      over: { events: [event(1, 14, player, 38)], lineups: lineups({ [player]: { details: details(rated) } }) },
    })
    const corrected = fed(by(4), by(3))
    expect(corrected.base(4)).toBeCloseTo(fed({}, by(3)).base(4) ?? 0, 3)
    expect(corrected.base(3)).toBeCloseTo(fed({}, by(3)).base(3) ?? 0, 3)
    // While the score holds the goal its statistics stand too.
    const silent: Said = { score: [1, 0], over: { events: [] } }
    expect(fed(by(4), silent, silent, silent).base(4)).toBe(fed(by(4), by(4), by(4), by(4)).base(4))
  })

  it('[P13] a shoot-out that is counted in the score leaves it level', () => {
    const kick = (id: number, player: number): Row => event(id, 23, player, 120)
    const kicks = [kick(11, 4), kick(12, 14), kick(13, 4)]
    const over = { events: kicks, periods: [{ id: 5, type_id: 5, ticking: true, minutes: 120, seconds: 5 }] }
    const { home, away } = fed({ score: [1, 1] }, { score: [3, 2], over }, { score: [3, 3], over }).state.info
    expect([home.goals, home.shootout, away.goals, away.shootout]).toEqual([1, 2, 1, 1])
  })

  it('[P13] statistics that count the kicks of a shoot-out move no price, then or at the end', () => {
    const polls = (taker: object, keeper: object): readonly Said[] => {
      const stated = lineups({
        4: { details: details({ ...STATS, ...taker }) },
        11: { details: details({ ...STATS, ...keeper }) },
      })
      const periods = [{ id: 5, type_id: 5, ticking: true, minutes: 120, seconds: 5 }]
      const kicking: Said = { score: [1, 1], over: { lineups: stated, periods, state: { state: 'INPLAY_PENALTIES' } } }
      return [kicking, kicking, { ...kicking, over: { lineups: stated, periods: [], state: { state: 'FT_PEN' } } }]
    }
    const first: Said = { score: [1, 1] }
    const counted = fed(first, ...polls({ 52: 1, 111: 1, 112: 1 }, { 113: 2 }))
    expect(counted.bases()).toEqual(fed(first, ...polls({}, {})).bases())
  })

  it('[P13] a shoot-out that no period tells of moves no price: penalties, and statistics of who came on for it', () => {
    const kick = event(11, 16, 6, 120, { result: '2-1' })
    const stated = lineups({ 6: { details: details({ 52: 1, 111: 1 }) } })
    const change = event(12, 18, 6, 118, { related_player_id: 4 })
    const end = (over: object): Said => ({ score: [1, 1], over: { state: { state: 'FT_PEN' }, periods: [], ...over } })
    const first: Said = { score: [1, 1], over: { events: [change] } }
    const match = fed(first, end({ events: [change, kick], lineups: stated }))
    expect(match.bases()).toEqual(fed(first, end({ events: [change] })).bases())
  })

  it('[P24] a goal under another id and minute is the same goal', () => {
    const again: Said = { ...scored, over: { ...scored.over, events: [event(2, 14, 4, 40)] } }
    const both: Said = { ...scored, over: { ...scored.over, events: [goal, event(2, 14, 4, 39)] } }
    for (const polls of [
      [scored, again],
      [scored, both, again],
    ]) {
      const match = fed(...polls)
      expect(match.bases()).toEqual(fed(...polls.map(() => scored)).bases())
      expect(match.events()).toEqual([[2, 4, false]])
    }
  })

  it('[P24] a row that two lists correct under its id counts for the other player, or as the other kind', () => {
    const corrected = { ...scored, over: { ...scored.over, events: [event(1, 14, 3, 38)] } }
    expect(fed(scored, corrected).events()).toEqual([[1, 4, false]])
    expect(fed(scored, corrected, corrected).events()).toEqual([[1, 3, false]])
    const red = (player: number): Said => ({ over: { events: [event(1, 20, player, 38)] } })
    const match = fed(red(3), red(2), red(2))
    expect(match.events()).toEqual([[1, 2, false]])
    expect(match.playing()).toEqual([1, 3, 4, 11, 12, 13, 14])
    const yellow: Said = { over: { events: [event(1, 19, 3, 38)] } }
    expect(fed(yellow, red(3), red(3)).bases()).toEqual(fed({}, red(3), red(3)).bases())
  })

  const assisted = event(1, 14, 4, 38, { related_player_id: 3 })
  const booked = event(2, 19, 12, 30)
  const change = event(3, 18, 6, 20, { related_player_id: 2 })
  const told = (rows: object[], over: Readonly<Record<number, object>> = {}): Said => ({
    score: [1, 0],
    over: {
      events: rows,
      lineups: lineups({
        3: { details: details({ ...STATS, 79: 1 }) },
        4: { details: details({ ...STATS, 52: 1 }) },
        12: { details: details({ ...STATS, 84: 1 }) },
        ...over,
      }),
    },
  })

  it.each([
    ['its scorer and assist are exchanged', 0, { player_id: 3, related_player_id: 4 }],
    ['a goal has another assist', 0, { related_player_id: 2 }],
    ['a goal is a penalty', 0, { type_id: 16 }],
    ['a goal is a booking', 0, { type_id: 19 }],
    ['a goal is taken back while its scorer has it', 0, { rescinded: true }],
    ['a booking is a dismissal', 1, { type_id: 20 }],
    ['a booking is a teammate’s, under a new id', 1, { id: 9, player_id: 13 }],
    ['a substitution is a goal', 2, { type_id: 14 }],
    ['a substitution names another who leaves', 2, { related_player_id: 3 }],
    ['a substitution is of another minute', 2, { minute: 2 }],
    ['a substitution is taken back', 2, { rescinded: true }],
  ])('[P24] what one poll says of a row moves no price: %s', (_, nth, over) => {
    const rows = [assisted, booked, change]
    const wrong = rows.map((row, n) => (n === nth ? { ...row, ...over } : row))
    const [right, once] = [fed(told(rows), told(rows)), fed(told(rows), told(wrong))]
    expect(once.bases()).toEqual(right.bases())
    expect(once.playing()).toEqual(right.playing())
    const after = [told(rows), told(rows)] as const
    expect(fed(told(rows), told(wrong), ...after).bases()).toEqual(fed(told(rows), told(rows), ...after).bases())
    expect(fed(told(rows), told(wrong), told(wrong), told(wrong)).bases()).not.toEqual(
      fed(told(rows), told(rows), ...after).bases(),
    )
  })

  it('[P24] a correction counts at once where the statistics tell it too', () => {
    const rows = [assisted, booked, change]
    const red = rows.map((row) => (row === booked ? { ...row, type_id: 20 } : row))
    const match = fed(told(rows), told(red, { 12: { details: details({ ...STATS, 83: 1 }) } }))
    expect(match.playing()).toEqual([1, 3, 4, 6, 11, 13, 14])
  })

  it('[P24] a player is booked and sent off once, however many rows say so', () => {
    const cards = (...events: readonly Row[]) => fed({ over: { events } }, { over: { events } })
    const once = cards(event(1, 19, 3, 38))
    expect(cards(event(1, 19, 3, 38), event(2, 19, 3, 39)).bases()).toEqual(once.bases())
    const off = cards(event(1, 19, 3, 20), event(2, 21, 3, 38))
    expect(cards(event(1, 19, 3, 20), event(2, 21, 3, 38), event(3, 20, 3, 38)).bases()).toEqual(off.bases())
  })

  it('[P24] nobody assists their own goal', () => {
    const own = { ...scored, over: { ...scored.over, events: [{ ...goal, related_player_id: 4 }] } }
    expect(fed(own).bases()).toEqual(fed(scored).bases())
  })
})

describe('who is on the pitch', () => {
  const change = (over: Row): Said => ({
    over: { events: [event(1, 18, null, 20, { participant_id: HOME, ...over })] },
  })

  it.each([
    ['on and off', { player_id: 6, related_player_id: 4 }, [1, 2, 3, 6]],
    ['exchanged', { player_id: 4, related_player_id: 6 }, [1, 2, 3, 6]],
    ['only off', { related_player_id: 4 }, [1, 2, 3]],
    ['only off, exchanged', { player_id: 4 }, [1, 2, 3]],
    ['only on', { player_id: 6 }, [1, 2, 3, 4, 6]],
  ])('[P25] follows a substitution that names %s', (_, row, home) => {
    expect(fed(change(row)).playing()).toEqual([...home, 11, 12, 13, 14])
  })

  it('[P25] a review beside a substitution says nothing of it, where one list leaves it out', () => {
    const subbed = event(1, 18, 6, 20, { related_player_id: 2 })
    const review = event(2, 10, null, 21, { addition: 'Goal Disallowed' })
    const lists = [[subbed], [subbed, review], [review]].map((events): Said => ({ over: { events } }))
    expect(fed(...lists).playing()).toEqual([1, 3, 4, 6, 11, 12, 13, 14])
  })

  it('[P25] a substitution of two who have started ends with the lists that tell of it', () => {
    const wrong: Said = { over: { events: [event(1, 18, 3, 20, { related_player_id: 4 })] } }
    const other: Said = { over: { events: [event(2, 19, 12, 30)] } }
    expect(fed(wrong, other, other).playing()).toEqual([1, 2, 3, 4, 11, 12, 13, 14])
    expect(fed(wrong, other, other).bases()).toEqual(fed(other, other, other).bases())
  })

  it('[P25] follows a chain in one minute by its order, and who returns has two spells', () => {
    const off = event(1, 18, 6, 10, { related_player_id: 2, sort_order: 1 })
    const back = event(2, 18, 2, 10, { related_player_id: 6, sort_order: 2 })
    expect(fed({ over: { events: [back, off] } }).playing()).toEqual([1, 2, 3, 4, 11, 12, 13, 14])
    const conceded = event(3, 14, 14, 5)
    const before: Said = { score: [0, 1], over: { events: [conceded] } }
    const later = { ...before, over: { events: [conceded, off, { ...back, minute: 11 }] } }
    expect(Math.abs((fed(before, later).base(2) ?? 0) - (fed(before, before).base(2) ?? 0))).toBeLessThan(0.5)
  })

  it('[P25] changes with a line-up that two updates name; a row that is missing says nothing', () => {
    const replaced: Said = {
      over: { lineups: [...LINEUPS.filter((row) => row['player_id'] !== 4), lineup(6, { type_id: 11 })] },
    }
    const missing: Said = { over: { lineups: LINEUPS.filter((row) => row['player_id'] !== 4) } }
    expect(fed(replaced).playing()).toContain(4)
    expect(fed(replaced, replaced).playing()).toEqual([1, 2, 3, 6, 11, 12, 13, 14])
    expect(fed(missing, missing, missing).playing()).toContain(4)
  })

  it('[P25] keeps who has started where the line-up follows the substitutions', () => {
    const left = event(1, 18, 6, 20, { related_player_id: 4 })
    const changed = (rows: readonly object[]): Said => ({ over: { events: [left], lineups: rows } })
    const [right, wrong] = [changed(LINEUPS), changed(lineups({ 4: { type_id: 12 }, 6: { type_id: 11 } }))]
    const match = fed(right, wrong, wrong, wrong)
    expect(match.bases()).toEqual(fed(right, right, right, right).bases())
    expect(match.playing()).toEqual([1, 2, 3, 6, 11, 12, 13, 14])
  })

  it('[P25] has a player once who is listed twice: who starts in one row has started', () => {
    const bench = lineup(4, { type_id: 12, details: [] })
    const match = new FedMatch()
    match.poll(payload(1, { over: { lineups: [bench, ...LINEUPS] } }))
    expect(match.playing()).toContain(4)
    expect(match.state.info.squad.find(({ playerId }) => playerId === 4)?.details).toMatchObject({ 80: 20 })
  })

  it('[P26] a substitution that comes with the whistle shows who played, and moves no settlement', () => {
    const over = { state_id: 5, state: { state: 'FT' } }
    const ended = (events: readonly Row[]): Said => ({ over: { ...over, events, periods: [] } })
    const sub = event(1, 18, 6, 10, { related_player_id: 4 })
    const [late, plain] = [fed({}, ended([sub])), fed({}, ended([]))]
    expect(late.bases()).toEqual(plain.bases())
    expect(late.playing()).toContain(6)
  })
})

describe('what is not said', () => {
  it('[P21] is as it was: score, clock, names, state', () => {
    const silent: Said = {
      over: { scores: [], state: null, state_id: null, name: null, periods: [{ type_id: 1, ticking: true }] },
    }
    const { info } = fed(scored, silent).state
    expect(info).toMatchObject({ home: { goals: 1 }, name: 'Harbour vs Mill', phase: 'live', minute: 40 })
  })

  it('[P21] a minute that is counted from its half is dated by the first listing of its row', () => {
    const first = { id: 1, type_id: 1, counts_from: 0, ticking: false, minutes: 47, seconds: 0 }
    const second = { id: 2, type_id: 2, counts_from: 45, ticking: true, minutes: 46, seconds: 0 }
    const at = (minute: number, n: number): Said => ({
      over: {
        state: { state: 'INPLAY_2ND_HALF' },
        periods: [first, { ...second, minutes: n }],
        events: [event(1, 18, 6, minute, { related_player_id: 4, period_id: 2 })],
      },
    })
    const bases = (minute: number) => fed(at(minute, 50), at(minute, 54)).bases()
    expect(bases(6)[6]).toBeCloseTo(bases(51)[6] ?? 0, 0)
    expect(bases(6)[4]).toBeCloseTo(bases(51)[4] ?? 0, 0)
  })

  it('[P21] a goal without a minute is shown without one, and one whose minute is lost keeps it', () => {
    const undated: Said = { ...scored, over: { ...scored.over, events: [event(1, 14, 4, null)] } }
    expect(fed(undated).state.info.events[0]?.minute).toBeNull()
    expect(fed(scored, undated).state.info.events[0]?.minute).toBe(38)
  })

  it('[P27] teams keep the sides that their players are listed on', () => {
    const exchanged = [
      { id: HOME, name: 'Harbour', meta: { location: 'away' } },
      { id: AWAY, name: 'Mill', meta: { location: 'home' } },
    ]
    const match = fed(scored, { ...scored, over: { ...scored.over, participants: exchanged } })
    expect(match.state.info).toMatchObject({ home: { name: 'Harbour', goals: 1 }, away: { name: 'Mill', goals: 0 } })
    expect(match.bases()).toEqual(fed(scored, scored).bases())
  })
})

const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    0,
    -1,
    33.5,
    1e9,
    1e300,
    '45+2',
    '1,5',
    '\u0000',
    'a\u0000\ud800b',
    true,
    [],
    {},
    NaN,
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

/** A payload in which some values are something else. */
function spoilt(value: unknown, hits: readonly (readonly [number, unknown])[]): unknown {
  let n = 0
  const at = new Map(hits)
  const walk = (one: unknown): unknown => {
    n += 1
    if (at.has(n)) return at.get(n)
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, walk(item)]))
  }
  return walk(value)
}

describe('any payload', () => {
  it('[P28] whatever it says, what is stored of it can be read', () => {
    const hits = fc.array(fc.tuple(fc.nat(600), junk), { maxLength: 12 })
    fc.assert(
      fc.property(fc.array(hits, { minLength: 1, maxLength: 4 }), (polls) => {
        const match = new FedMatch()
        for (const [n, wrong] of polls.entries()) match.poll(spoilt(payload(n, scored), wrong))
        // A junk score that was higher than the right one is given up once a second answer shows that.
        for (const n of [50, 51]) match.poll(payload(n, scored))
        expect(JSON.stringify(match.state.info)).not.toMatch(/\\u0000|\\ud[89a-f]/i)
        expect(match.state.info.home.goals).toBe(1)
      }),
      { numRuns: 300 },
    )
  })
})
