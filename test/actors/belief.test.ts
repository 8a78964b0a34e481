/** What is believed of lists and line-ups that contradict what was known. */
import { describe, expect, it } from 'vitest'
import { fixtureId, instrumentId, playerId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { NO_BELIEFS } from '../../actors/market/belief/beliefs.ts'
import { believe } from '../../actors/market/belief/believe.ts'
import { evidenceIn } from '../../actors/market/belief/evidence.ts'
import { reconcile } from '../../actors/market/belief/reconcile.ts'
import type { FixtureEvent, FixturePeriod, FixturePlayer, FixtureSnapshot } from '../../actors/market/fixture.ts'
import { counts, type Incident } from '../../actors/market/incidents.ts'
import { STATISTIC } from '../../actors/market/scoring.ts'
import { pitchOf } from '../../actors/market/spells.ts'

const MINUTE = 60

const player = (id: number, over: Partial<FixturePlayer> = {}): FixturePlayer => ({
  playerId: playerId(id),
  instrumentId: instrumentId(`instrument-${id}`),
  name: `Player ${id}`,
  side: id < 10 ? 'home' : 'away',
  role: 'MID',
  jersey: id,
  starter: id % 10 < 5,
  details: null,
  ...over,
})
const SQUAD = [1, 2, 5, 6, 11, 12].map((id) => player(id))

const row = (
  id: number,
  kind: FixtureEvent['kind'],
  minute: number | null,
  by: number,
  related?: number,
): FixtureEvent => ({
  id,
  kind,
  minute,
  extraMinute: null,
  period: null,
  side: by < 10 ? 'home' : 'away',
  playerId: playerId(by),
  playerName: null,
  relatedPlayerId: related === undefined ? null : playerId(related),
  relatedPlayerName: null,
  result: null,
  addition: null,
  rescinded: false,
})

const at = (secs: number, over: Partial<FixtureSnapshot> = {}): FixtureSnapshot => ({
  fixtureId: fixtureId(7),
  name: 'Harbour vs Mill',
  league: 'League',
  startsAt: instant(0),
  state: 'INPLAY_1ST_HALF',
  stateId: 2,
  home: { id: 1, name: 'Harbour', goals: 0 },
  away: { id: 2, name: 'Mill', goals: 0 },
  periods: [{ id: 71, kind: 'first_half', order: 1, countsFrom: 0, length: 45, elapsedSecs: secs, ticking: true }],
  events: [],
  players: SQUAD,
  teamStats: null,
  expectedGoals: null,
  sourceAt: instant(0),
  ...over,
})

interface Told {
  readonly events: readonly FixtureEvent[]
  readonly goals?: number
  readonly players?: readonly FixturePlayer[]
}

/** The incidents after lists that come a minute apart, from the tenth on. */
function heard(lists: readonly Told[]): readonly Incident[] {
  return lists.reduce<readonly Incident[]>((remembered, { events, goals = 0, players = SQUAD }, n) => {
    const secs = (10 + n) * MINUTE
    const home = { id: 1, name: 'Harbour', goals }
    return reconcile(at(secs, { events, home, players }), remembered, secs).incidents
  }, [])
}

const counting = (lists: readonly Told[]): readonly number[] =>
  heard(lists)
    .filter(counts)
    .map(({ id }) => id)

describe('a list of events', () => {
  const cards = [row(1, 'yellow', 3, 1), row(2, 'penalty_missed', 8, 11)]

  it('[P8] that has lost several facts at once is no list, however long', () => {
    expect(counting([{ events: cards }, { events: [] }, { events: [] }, { events: [] }])).toEqual([1, 2])
    const strange = { ...row(9, 'red', 4, 99), side: null }
    expect(counting([{ events: cards }, { events: [strange] }, { events: [strange] }])).toEqual([1, 2])
    // One alone that two lists leave out has been taken back.
    expect(counting([{ events: cards.slice(0, 1) }, { events: [] }, { events: [] }])).toEqual([])
  })

  const brace = [player(1, { details: { [STATISTIC.goals]: 2 } }), ...SQUAD.slice(1)]
  const [goal, twin, second] = [row(1, 'goal', 10, 1), row(2, 'goal', 11, 1), row(3, 'goal', 13, 1)]

  it('[P24] may list a goal twice before its player scores again', () => {
    const before = { events: [goal, twin], goals: 1 }
    expect(counting([before, { events: [goal, twin, second], goals: 2, players: brace }])).toEqual([1, 3])
    const corrected = { ...second, playerId: playerId(2) }
    expect(counting([before, { events: [goal, twin, corrected], goals: 2, players: brace }])).toEqual([1, 3])
  })

  it('[P24] that leaves out a goal does not give its place to the twin of another', () => {
    const lists = [
      { events: [goal, { ...twin, minute: 12 }, { ...second, minute: 14 }], goals: 2, players: brace },
      { events: [goal, { ...twin, minute: 12 }], goals: 2, players: brace },
    ]
    expect(counting([{ events: [goal, { ...twin, minute: 11 }], goals: 1 }, ...lists.slice(0, 1)])).toEqual([1, 3])
    const [first, , last] = heard([
      { events: [goal, { ...twin, minute: 11 }], goals: 1 },
      { events: [goal, { ...twin, minute: 11 }, { ...second, minute: 13 }], goals: 2, players: brace },
      { events: [goal, { ...twin, minute: 11 }], goals: 2, players: brace },
    ])
    expect(first?.standing).toBe('counted')
    expect(last).toMatchObject({ id: 3, standing: 'missing' })
  })

  it('[P11] that adds a goal before the score does keeps the one that counts, whatever their minutes', () => {
    const stranger = row(2, 'goal', 4, 99)
    expect(
      counting([
        { events: [goal], goals: 1 },
        { events: [goal, stranger], goals: 1 },
      ]),
    ).toEqual([1])
  })

  it('[P23] that leaves out a missed penalty does not take it back while the statistics have it', () => {
    const players = [player(1, { details: { [STATISTIC.penaltiesMissed]: 1 } }), ...SQUAD.slice(1)]
    const [missed, other] = [row(1, 'penalty_missed', 8, 1), row(2, 'yellow', 3, 11)]
    const without = { events: [other], players }
    expect(counting([{ events: [missed, other], players }, without, without, without])).toContain(1)
    // Those of another penalty say nothing of it.
    const again = { events: [row(3, 'penalty_missed', 20, 1), other], players }
    expect(counting([{ events: [missed, ...again.events], players }, again, again])).toEqual([3, 2])
  })

  it('[P25] that names a player who came on once more does not take two off', () => {
    const players = SQUAD.map((one) => (one.playerId === 5 ? player(5, { details: { [STATISTIC.passes]: 9 } }) : one))
    const [change, wrong] = [row(1, 'substitution', 9, 5, 1), row(2, 'substitution', 10, 5, 2)]
    const right = { events: [change], players }
    expect(counting([right, { events: [change, { ...wrong, minute: 14 }], players }, right, right])).toEqual([1])
  })

  it('[P24] that exchanges the names of a substitution tells the same one', () => {
    expect(
      heard([{ events: [row(1, 'substitution', 9, 5, 1)] }, { events: [row(1, 'substitution', 9, 1, 5)] }]),
    ).toEqual([expect.objectContaining({ id: 1, standing: 'counted' })])
  })

  it('[P9] that takes a goal back and gives it again has the goal', () => {
    const review = (id: number, minute: number, addition: string) => ({ ...row(id, 'var', minute, 1), addition })
    const [no, yes] = [review(2, 11, 'Goal Disallowed'), review(3, 11, 'Goal confirmed')]
    const taken = [{ events: [goal], goals: 1 }, { events: [goal, no], goals: 1 }, { events: [no] }]
    expect(counting(taken)).not.toContain(1)
    expect(counting([...taken, { events: [no, goal, yes], goals: 1 }])).toContain(1)
    expect(
      counting([
        { events: [goal, yes], goals: 1 },
        { events: [goal, yes, { ...no, id: 4 }], goals: 1 },
      ]),
    ).not.toContain(1)
    // Without a second review list and score together decide, five minutes after the first.
    const again = { events: [no, goal], goals: 1 }
    expect(counting([...taken, again, again])).not.toContain(1)
    expect(counting([...taken, again, again, again, again, again])).toContain(1)
    const without = { ...again, goals: 0 }
    expect(counting([...taken, without, without, without, without, without])).not.toContain(1)
    // Of two goals that were taken back as many as the score has.
    const other = row(5, 'goal', 12, 2)
    const both = { events: [goal, no, other, { ...no, id: 6, minute: 13, playerId: playerId(2) }], goals: 1 }
    const counted = counting([both, both, both, both, both, both, both])
    expect(counted.filter((id) => id === 1 || id === 5)).toHaveLength(1)
  })

  it('[P9] that corrects the minute of a goal makes it neither older nor younger', () => {
    const ages = [8, 10, 12].map((minute) => {
      const lists = [
        { events: [row(1, 'goal', 10, 1)], goals: 1 },
        { events: [row(1, 'goal', minute, 1)], goals: 1 },
      ]
      return heard(lists)[0]?.listedAt
    })
    expect(new Set(ages)).toEqual(new Set([10 * MINUTE]))
  })
})

describe('who is on the pitch', () => {
  const playing = (...events: FixtureEvent[]) => [
    ...pitchOf(at(30 * MINUTE), heard(events.map((_, n) => ({ events: events.slice(0, n + 1) }))), 30 * MINUTE).playing,
  ]

  it('[P25] half a row about a player who came on says once more that they did, and later that they left', () => {
    expect(playing(row(1, 'substitution', 7, 5, 1), row(2, 'substitution', 8, 5))).toContain(5)
    expect(playing(row(1, 'substitution', 7, 5, 1), row(2, 'substitution', 20, 5))).not.toContain(5)
  })

  it('[P25] a substitute who is sent off in the minute they came on leaves a man short, in whatever order', () => {
    const rows = [row(2, 'red', 7, 5), row(1, 'substitution', 7, 5, 1)]
    for (const events of [rows, rows.toReversed()]) {
      const pitch = pitchOf(at(30 * MINUTE), heard([{ events }]), 30 * MINUTE)
      expect(pitch.playing.has(playerId(5))).toBe(false)
      expect(pitch.men.at(-1)).toMatchObject({ home: 10, away: 11 })
    }
  })

  it('[P25] an opponent does not leave for a substitute, whatever the row says', () => {
    expect(playing(row(1, 'substitution', 7, 5, 11))).toEqual([1, 2, 11, 12, 5].map(playerId))
  })

  it('[P27] the side of a player listed in both teams is that of the row which first says what they did', () => {
    const known = { ...at(0), squad: [...SQUAD, player(7, { side: 'away', starter: false })], events: [] }
    const said = { ...at(MINUTE), players: [...SQUAD, player(7, { starter: false, details: { 80: 3 } })] }
    const { snapshot } = believe(said, known, NO_BELIEFS)
    expect(snapshot.players.find(({ playerId: id }) => id === playerId(7))?.side).toBe('home')
  })
})

describe('counts', () => {
  it('[P22] that rise faster than players can act wait for the next poll', () => {
    const told = (n: number) => ({
      players: [player(1, { details: { 86: 1 + n, 56: 3 + n, 571: n } }), ...SQUAD.slice(1)],
    })
    const known = { ...at(0), squad: told(0).players, events: [] }
    const detailsOf = ({ snapshot }: ReturnType<typeof believe>) => snapshot.players[0]?.details
    expect(detailsOf(believe(at(10, told(4)), known, NO_BELIEFS))).toEqual({ 86: 5, 56: 7, 571: 4 })
    const once = believe(at(10, told(7)), known, NO_BELIEFS)
    expect(detailsOf(once)).toEqual({ 86: 1, 56: 3, 571: 0 })
    expect(detailsOf(believe(at(20, told(7)), known, once.beliefs))).toEqual({ 86: 8, 56: 10, 571: 7 })
    // A recording may tell of a match every four minutes.
    const early = { ...NO_BELIEFS, periods: at(0).periods }
    expect(detailsOf(believe(at(240, told(7)), known, early))).toMatchObject({ 86: 8, 56: 10 })
  })
})

describe('the first answer after half an hour of play', () => {
  const told = (details: Record<number, number>) => [player(1, { details }), ...SQUAD.slice(1)]
  const [before, now] = [
    { 80: 30, 78: 5, 118: 6.2 },
    { 80: 62, 78: 10, 88: 3, 118: 7.9 },
  ]
  const heardAt = (secs: number) => {
    const known = { ...at(600), squad: told(before), events: [], sourceAt: instant(0) }
    const home = { id: 1, name: 'Harbour', goals: 4 }
    const said = at(secs, { players: told(now), home, sourceAt: instant((secs - 600) * 1_000) })
    return believe(said, known, { ...NO_BELIEFS, periods: at(600).periods }).snapshot
  }

  it('[P22] may have twice as much of everything, and goals: it may be the last before the settlement', () => {
    const { home, players } = heardAt(2_640)
    expect([home.goals, players[0]?.details]).toEqual([4, now])
    const soon = heardAt(660)
    expect([soon.home.goals, soon.players[0]?.details]).toEqual([0, before])
  })
})

describe('statistics of two players that are exchanged', () => {
  const [busy, idle] = [
    { 80: 40, 78: 3, 118: 7.4 },
    { 80: 6, 56: 1, 118: 6.2 },
  ]
  const told = (first: Record<number, number>, second: Record<number, number>) => ({
    players: [player(1, { details: first }), player(2, { details: second }), ...SQUAD.slice(2)],
  })
  const detailsOf = ({ snapshot }: ReturnType<typeof believe>) => snapshot.players.slice(0, 2).map((p) => p.details)
  const known = { ...at(0), squad: told(busy, idle).players, events: [] }

  it('[P22] move no price, also where both players have gone on meanwhile', () => {
    const once = believe(at(10, told({ ...idle, 80: 7 }, { ...busy, 80: 41 })), known, NO_BELIEFS)
    expect(detailsOf(once)).toEqual([busy, idle])
    const again = believe(at(20, told({ ...busy, 80: 42 }, { ...idle, 80: 7 })), known, once.beliefs)
    expect(detailsOf(again)).toEqual([
      { ...busy, 80: 42 },
      { ...idle, 80: 7 },
    ])
  })

  it('[P22] count when a second update says so, too', () => {
    const once = believe(at(10, told(idle, busy)), known, NO_BELIEFS)
    const again = believe(at(20, told(idle, busy)), known, once.beliefs)
    expect(detailsOf(again)).toEqual([
      { ...busy, ...idle },
      { ...idle, ...busy },
    ])
  })
})

describe('statistics of several players', () => {
  const rows = {
    1: { 80: 40, 78: 3, 118: 7.4 },
    2: { 80: 52, 117: 2, 118: 7.1 },
    5: { 80: 26, 56: 1, 118: 6.4 },
    11: { 80: 48, 86: 1, 118: 6.8 },
  }
  const said = (of: Readonly<Record<number, Record<number, number>>>) => ({
    players: SQUAD.map((one) => ({ ...one, details: of[one.playerId] ?? null })),
  })
  const detailsOf = ({ snapshot }: ReturnType<typeof believe>) =>
    Object.fromEntries(
      snapshot.players.flatMap(({ playerId: id, details }) => (details === null ? [] : [[id, details]])),
    )
  const known = { ...at(0), squad: said(rows).players, events: [] }
  const times = (n: number) =>
    Object.fromEntries(
      Object.entries(rows).map(([id, of]) => [
        id,
        Object.fromEntries(Object.entries(of).map(([type, count]) => [type, type === '118' ? count : count * n])),
      ]),
    )

  it.each([
    ['pass from one to the next', { 1: rows[2], 2: rows[5], 5: rows[11], 11: rows[1] }],
    ['pass among three', { 1: rows[5], 2: rows[1], 5: rows[2] }],
    ['are twice as many of one', { ...rows, 2: { 80: 104, 117: 4, 118: 7.1 } }],
    ['are of another time of one', { ...rows, 2: { 80: 47, 117: 3, 118: 7.3 } }],
  ])('[P22] that %s in one update move no price, and count in a second', (_, wrong: Record<number, object>) => {
    const update = at(10, said(wrong as Record<number, Record<number, number>>))
    const once = believe(update, known, NO_BELIEFS)
    expect(detailsOf(once)).toEqual(rows)
    const after = { ...known, squad: once.snapshot.players }
    expect(detailsOf(believe(at(20, said(rows)), after, once.beliefs))).toEqual(rows)
    expect(detailsOf(believe(update, after, once.beliefs))).toMatchObject(wrong)
  })

  type Rows = Parameters<typeof said>[0]
  type Heard = ReturnType<typeof believe>
  const heardNext = (before: Heard, secs: number, of: Rows): Heard =>
    believe(at(secs, said(of)), { ...known, squad: before.snapshot.players }, before.beliefs)
  /** After updates that each say this, ten seconds apart. */
  const heardAll = (first: Rows, ...others: readonly Rows[]): Heard =>
    others.reduce<Heard>(
      (before, of, n) => heardNext(before, 20 + 10 * n, of),
      believe(at(10, said(first)), known, NO_BELIEFS),
    )
  const passes = (one: number, two: number, five: number, eleven: number): Rows => ({
    1: { 80: one, 118: 7.4 },
    2: { 80: two, 118: 7.1 },
    5: { 80: five, 118: 6.4 },
    11: { 80: eleven, 118: 6.8 },
  })

  it('[P22] leave a card alone while those of everybody are zero', () => {
    const squad = said({ ...rows, 2: { 84: 1 } }).players
    const zero = at(10, said({ ...times(0), 2: { 84: 0 } }))
    const once = believe(zero, { ...known, squad }, NO_BELIEFS)
    const twice = believe(zero, { ...known, squad: once.snapshot.players }, once.beliefs)
    expect(detailsOf(twice)).toEqual({ ...rows, 2: { 84: 1 } })
  })

  it('[P22] that were at zero for an update are not added, though a review has taken some', () => {
    const reviewed = { ...rows, 2: { ...rows[2], 80: 50 }, 5: { ...rows[5], 80: 25 } }
    const last = heardAll(times(0), reviewed, reviewed, { ...reviewed, 1: { ...rows[1], 80: 44 } })
    expect(detailsOf(last)).toEqual({ ...reviewed, 1: { ...rows[1], 80: 44 } })
    expect(last.beliefs.untold).toEqual({})
  })

  it('[P22] that begin again twice go on from what they were then', () => {
    const once = [passes(0, 0, 0, 0), passes(5, 4, 5, 4), passes(10, 8, 11, 9)]
    const last = heardAll(passes(1, 0, 0, 1), ...once, passes(0, 0, 0, 0), passes(0, 1, 0, 1), passes(2, 1, 0, 2))
    expect(detailsOf(last)).toEqual({
      1: { 80: 52, 78: 3, 118: 7.4 },
      2: { 80: 61, 117: 2, 118: 7.1 },
      5: { 80: 37, 56: 1, 118: 6.4 },
      11: { 80: 59, 86: 1, 118: 6.8 },
    })
  })

  it('[P22] that begin again, but not for one player, are not added for them', () => {
    const told = (n: number): Rows => ({ ...passes(n, n, n, n), 5: { 80: 26 + n, 56: 1, 118: 6.4 } })
    const few = { ...known, squad: said({ ...rows, 5: { 80: 6, 56: 1, 118: 6.4 } }).players }
    const hear = (before: Heard | null, n: number): Heard => {
      const update = at(10 + 10 * n, said({ ...told(n), 5: { 80: 6 + n, 56: 1, 118: 6.4 } }))
      const squad = before?.snapshot.players ?? few.squad
      return believe(update, { ...few, squad }, before?.beliefs ?? NO_BELIEFS)
    }
    const last = [0, 1, 2, 3].reduce<Heard | null>(hear, null)
    expect(last && detailsOf(last)).toMatchObject({ 1: { 80: 43 }, 2: { 80: 55 }, 5: { 80: 9, 56: 1 } })
  })

  it('[P22] that begin again at zero for everybody go on from what they were, until all are told again', () => {
    const [begun, later, whole] = [
      { 1: { 80: 2, 118: 7.4 }, 2: { 80: 1, 118: 7.1 }, 5: { 80: 0, 118: 6.4 }, 11: { 80: 3, 118: 6.8 } },
      { 1: { 80: 5, 118: 7.4 }, 2: { 80: 1, 118: 7.1 }, 5: { 80: 4, 56: 1, 118: 6.4 }, 11: { 80: 6, 118: 6.8 } },
      {
        1: { 80: 47, 78: 3, 118: 7.4 },
        2: { 80: 53, 117: 2, 118: 7.1 },
        5: { 80: 31, 56: 2, 118: 6.4 },
        11: { 80: 54, 86: 1, 118: 6.8 },
      },
    ]
    const first = believe(at(10, said(begun)), known, NO_BELIEFS)
    expect(detailsOf(first), 'the first says nothing').toEqual(rows)
    const second = heardNext(first, 20, later)
    expect(detailsOf(second)).toEqual({
      1: { 80: 45, 78: 3, 118: 7.4 },
      2: { 80: 53, 117: 2, 118: 7.1 },
      5: { 80: 30, 56: 2, 118: 6.4 },
      11: { 80: 54, 86: 1, 118: 6.8 },
    })
    const third = heardNext(second, 30, whole)
    expect(detailsOf(third)).toEqual(whole)
    expect(third.beliefs.untold).toEqual({})
  })

  const oneOf = (...players: readonly FixturePlayer[]) => believe(at(20, { players }), known, NO_BELIEFS)
  const squadOf = ({ snapshot }: ReturnType<typeof believe>) =>
    snapshot.players.map(({ playerId: id, side, starter }) => [id, side, starter])
  const asKnown = known.squad.map(({ playerId: id, side, starter }) => [id, side, starter])

  it('[P29] are those of a known player under another id, and of none in the line-up of another match', () => {
    const renamed = known.squad.map((one) =>
      one.playerId === 2
        ? { ...player(902), side: one.side, jersey: one.jersey, name: one.name, details: { 80: 55 } }
        : one,
    )
    const events = [row(1, 'yellow', 8, 902)]
    const once = believe(at(20, { players: renamed, events }), known, NO_BELIEFS)
    expect(squadOf(once)).toEqual(asKnown)
    expect(detailsOf(once)).toMatchObject({ 2: { 80: 55 } })
    expect(once.snapshot.events?.[0]?.playerId).toBe(2)
    expect(squadOf(oneOf(...known.squad.map((one) => player(one.playerId + 900))))).toEqual(asKnown)
    const ofOthers = {
      home: { id: 8, name: 'Dale', goals: 3 },
      away: { id: 9, name: 'Ford', goals: 1 },
      state: 'FT',
      players: known.squad.map((one) => player(one.playerId + 900)),
    }
    const { snapshot } = believe(at(20, ofOthers), known, NO_BELIEFS)
    expect([snapshot.state, snapshot.home, snapshot.away]).toEqual([known.state, known.home, known.away])
    // Another player with that number is another player.
    const [, , ...others] = known.squad
    expect(oneOf(...others, player(902, { jersey: 2, side: 'home' })).snapshot.players).toHaveLength(SQUAD.length + 1)
  })

  it('[P21] are no news where they are those of another player as well, however often', () => {
    const told = { 56: 2, 78: 3, 80: 60, 116: 50 }
    const squad = known.squad.map((one) =>
      one.playerId === 1
        ? { ...one, details: told }
        : one.playerId === 2
          ? { ...one, details: { 80: 12, 116: 10 } }
          : one,
    )
    const copied = squad.map((one) => (one.playerId === 2 ? { ...one, details: told } : one))
    let last: Heard = { snapshot: at(1_200), beliefs: NO_BELIEFS, isDenied: false }
    for (let n = 0; n < 5; n += 1) {
      last = believe(at(1_200 + n * 10, { players: copied }), { ...known, squad }, last.beliefs)
      expect(detailsOf(last)).toMatchObject({ 1: told, 2: { 80: 12, 116: 10 } })
    }
  })

  it('[P24] wait where a new card is of a time that was told without it', () => {
    const beliefs = { ...NO_BELIEFS, periods: at(1_200).periods }
    const listed = (card: FixtureEvent, players = known.squad, last = beliefs) =>
      believe(at(1_210, { events: [card], players }), known, last)
    const late = listed(row(1, 'red', 10, 1))
    expect(late.snapshot.events).toEqual([])
    expect(listed(row(1, 'red', 10, 1), known.squad, late.beliefs).snapshot.events).toHaveLength(1)
    expect(listed(row(1, 'red', 20, 1)).snapshot.events).toHaveLength(1)
    const booked = { ...known, incidents: heard([{ events: [row(2, 'yellow', 20, 1)] }]) }
    const both = [row(2, 'yellow', 20, 1), row(1, 'red', 20, 1)]
    expect(believe(at(1_210, { events: both }), booked, beliefs).snapshot.events).toHaveLength(1)
    const stated = [player(1, { details: { [STATISTIC.red]: 1 } }), ...known.squad.slice(1)]
    expect(listed(row(1, 'red', 10, 1), stated).snapshot.events).toHaveLength(1)
  })

  it('[P24] agree with no corrected row where they may be those of another', () => {
    const [one, two] = [
      { 80: 60, 116: 50, [STATISTIC.yellow]: 1 },
      { 80: 30, 116: 22 },
    ]
    const with12 = (first: FixturePlayer['details'], second: FixturePlayer['details']) => [
      player(1, { details: first }),
      player(2, { details: second }),
      ...known.squad.slice(2),
    ]
    const card = row(1, 'yellow', 20, 1)
    const before = { ...known, squad: with12(one, two), incidents: heard([{ events: [card] }]) }
    const beliefs = { ...NO_BELIEFS, periods: at(1_500).periods }
    const rescinded = (players: readonly FixturePlayer[], last = beliefs) =>
      believe(at(1_510, { events: [{ ...card, rescinded: true }], players }), before, last)
    const exchanged = rescinded(with12(two, one))
    expect(exchanged.snapshot.events?.[0]?.rescinded).toBe(false)
    expect(rescinded(with12(two, one), exchanged.beliefs).snapshot.events?.[0]?.rescinded).toBe(true)
    expect(rescinded(with12({ 80: 60, 116: 50 }, two)).snapshot.events?.[0]?.rescinded).toBe(true)
  })

  it('[P29] say nothing in three answers that show another list, or an end that play cannot have reached', () => {
    const incidents = heard([{ events: [row(1, 'yellow', 3, 1), row(2, 'penalty_missed', 8, 11)] }])
    const before = { ...known, incidents, sourceAt: instant(0) }
    const whistle = (elapsedSecs: number) => ({
      ...at(elapsedSecs, { state: 'FT', away: { id: 2, name: 'Mill', goals: 3 } }),
      periods: at(elapsedSecs).periods.map((period) => ({ ...period, ticking: false })),
      events: null,
    })
    const answers: readonly FixtureSnapshot[] = [
      whistle(5_400),
      at(1_230, { events: [row(8, 'goal', 2, 2), row(9, 'red', 7, 12)], home: { id: 1, name: 'Harbour', goals: 3 } }),
    ]
    for (const answer of answers) {
      let last = { snapshot: at(1_200), beliefs: { ...NO_BELIEFS, periods: at(1_200).periods } }
      for (let n = 0; n < 3; n += 1) {
        last = believe(answer, before, last.beliefs)
        expect([last.snapshot.state, last.snapshot.home.goals, last.snapshot.away.goals]).toEqual([known.state, 0, 0])
      }
      expect(believe(answer, before, last.beliefs).snapshot.state).toBe(answer.state)
    }
    const beliefs = { ...NO_BELIEFS, periods: at(1_200).periods }
    expect(believe(whistle(1_700), before, beliefs).snapshot.state).toBe('FT')
    expect(believe(whistle(5_400), { ...before, replay: true }, beliefs).snapshot.state).toBe('FT')
    const reissued = at(1_230, { events: [row(8, 'penalty_missed', 9, 11), row(9, 'yellow', 20, 2)] })
    expect(believe(reissued, before, beliefs).snapshot.events).toHaveLength(2)
  })

  it('[P27] move no player to the other side or the bench, where the line-up exchanges all', () => {
    const other = known.squad.map((one) => ({ ...one, side: one.side === 'home' ? 'away' : 'home' }) as const)
    expect(squadOf(oneOf(...other))).toEqual(asKnown)
    const bench = { players: known.squad.map((one) => ({ ...one, starter: !one.starter })) }
    const once = believe(at(20, bench), known, NO_BELIEFS)
    const after = { ...known, squad: once.snapshot.players }
    expect(squadOf(believe(at(30, bench), after, once.beliefs))).toEqual(asKnown)
  })

  it('[P25] say nothing of who has started where a line-up has more than eleven starters', () => {
    const [bench, eleven] = [player(30, { side: 'home', starter: false }), Array.from({ length: 11 }, (_, n) => 40 + n)]
    const squad = [...eleven.map((id) => player(id, { side: 'home', starter: true })), bench]
    const players = squad.map((one) => ({ ...one, starter: true }))
    const once = believe(at(20, { players }), { ...known, squad }, NO_BELIEFS)
    const again = believe(at(30, { players }), { ...known, squad: once.snapshot.players }, once.beliefs)
    expect(again.snapshot.players.find(({ playerId: id }) => id === bench.playerId)?.starter).toBe(false)
  })

  it('[P22] wait where the first row of a player has more than they can have done', () => {
    const late = [...known.squad.filter((one) => one.playerId !== 6), player(6, { details: { 80: 70, 78: 4 } })]
    const once = oneOf(...late)
    expect(detailsOf(once)).toMatchObject({ 6: { 78: 4 } })
    expect(detailsOf(once)[6]).not.toHaveProperty('80')
    const after = { ...known, squad: once.snapshot.players }
    expect(detailsOf(believe(at(30, { players: late }), after, once.beliefs))).toMatchObject({ 6: { 80: 70 } })
  })

  it('[P22] hold a score that falls by two goals at once', () => {
    const goals = { [STATISTIC.goals]: 1 }
    const squad = known.squad.map((one) => (one.side === 'home' ? { ...one, details: goals } : one))
    const before = { ...known, squad, home: { id: 1, name: 'Harbour', goals: 2 } }
    const scoreAfter = (players: readonly FixturePlayer[]) => {
      const once = believe(at(20, { players }), before, NO_BELIEFS)
      const { home, players: listed } = once.snapshot
      return believe(at(30, { players }), { ...before, home, squad: listed }, once.beliefs).snapshot.home.goals
    }
    expect(scoreAfter(squad)).toBe(2)
    expect(scoreAfter([])).toBe(2)
    expect(scoreAfter(squad.map((one) => ({ ...one, details: { [STATISTIC.goals]: 0, 80: 59 } })))).toBe(0)
  })

  it.each([
    ['half as many again', { ...times(1.5), 5: rows[5] }],
    ['twice as many', times(2)],
    ['four times as many', times(4)],
    ['three times as many, after a pass', { ...times(3), 1: { ...rows[1], 80: 123, 78: 9 } }],
  ])('[P21] are none where everybody has %s in up to three updates', (_, wrong: Record<number, object>) => {
    const three = [wrong, wrong, wrong] as Rows[]
    const more = { ...rows, 1: { ...rows[1], 80: 45 } }
    expect(detailsOf(heardAll(wrong as Rows, ...three.slice(1)))).toEqual(rows)
    expect(detailsOf(heardAll(wrong as Rows, ...three.slice(1), more))).toEqual(more)
    // After a gap in the feed it may be true.
    expect(detailsOf(heardAll(wrong as Rows, ...three, wrong as Rows))).toEqual(wrong)
  })

  const six: Rows = { ...rows, 6: { 80: 22, 107: 2, 118: 6.1 }, 12: { 80: 35, 101: 4, 118: 6.9 } }
  const fewer = Object.fromEntries(
    Object.entries(six).map(([id, of], n) => [id, { ...of, 80: 15, 118: 6.5 + n / 10, 78: 4 }]),
  )
  it.each([
    ['shifted by one', { 2: six[11], 11: six[1], 1: six[12], 12: six[5], 5: six[6] }],
    ['of one of them', Object.fromEntries(Object.keys(six).map((id, n) => [id, { ...six[6], 118: 6.1 + n / 10 }]))],
    ['of another time', fewer],
  ])('[P21] are none where those of many fall: rows are %s in up to three updates', (_, wrong) => {
    const squad = said(six).players
    const hear = (...told: readonly unknown[]) =>
      told.reduce<Heard>(
        (before, of, n) =>
          believe(at(20 + 10 * n, said(of as Rows)), { ...known, squad: before.snapshot.players }, before.beliefs),
        believe(at(10, said(six)), { ...known, squad }, NO_BELIEFS),
      )
    const more = { ...six, 1: { ...six[1], 80: 45 } }
    expect(detailsOf(hear(wrong, wrong, wrong))).toEqual(six)
    expect(detailsOf(hear(wrong, wrong, wrong, more))).toEqual(more)
    // A provider may have corrected them all.
    expect(detailsOf(hear(wrong, wrong, wrong, wrong, wrong))).toMatchObject(wrong)
  })

  it('[P21] have no rating that is the same for all, however often', () => {
    const right = { ...six, 11: { ...six[11], 80: 50 } }
    const alike = Object.fromEntries(Object.entries(right).map(([id, of]) => [id, { ...of, 118: 6 }]))
    const once = believe(at(10, said(alike)), { ...known, squad: said(six).players }, NO_BELIEFS)
    expect(detailsOf(heardNext(once, 20, alike))).toEqual(right)
  })

  it('[P21] are none where those of everybody are zero, however often', () => {
    const reset = at(10, said(times(0)))
    const once = believe(reset, known, NO_BELIEFS)
    const twice = believe(reset, { ...known, squad: once.snapshot.players }, once.beliefs)
    expect(detailsOf(believe(reset, { ...known, squad: twice.snapshot.players }, twice.beliefs))).toEqual(rows)
    const one = at(10, said({ ...rows, 2: { ...rows[2], 80: 0, 117: 0 } }))
    const first = believe(one, known, NO_BELIEFS)
    const second = believe(one, { ...known, squad: first.snapshot.players }, first.beliefs)
    expect(detailsOf(second)).toEqual({ ...rows, 2: { ...rows[2], 80: 0, 117: 0 } })
  })
})

describe('a rating', () => {
  it('[P22] waits for the fall of goals it goes with, and counts then without being said again', () => {
    const told = (details: Record<number, number>) => ({ players: [player(1, { details }), ...SQUAD.slice(1)] })
    const after = (before: Record<number, number>, ...updates: readonly Record<number, number>[]) => {
      let [squad, beliefs] = [told(before).players as readonly FixturePlayer[], NO_BELIEFS]
      return updates.map((details) => {
        const believed = believe(at(10, told(details)), { ...at(0), squad, events: [] }, beliefs)
        ;[squad, beliefs] = [believed.snapshot.players, believed.beliefs]
        return squad[0]?.details
      })
    }
    const [before, fallen] = [
      { 52: 1, 80: 9, 118: 7.8 },
      { 80: 9, 118: 7.1 },
    ]
    expect(after(before, fallen, fallen)).toEqual([before, { 52: 0, 80: 9, 118: 7.1 }])
    expect(after(before, fallen, { 52: 1, 80: 9 })).toEqual([before, { 52: 1, 80: 9, 118: 7.1 }])
    // A first one has held nothing.
    expect(after({ 52: 1, 80: 9 }, fallen)).toEqual([{ 52: 1, 80: 9, 118: 7.1 }])
    // One that leaps waits until it is said again.
    expect(after(before, { ...before, 118: 5 }, { 52: 1, 80: 9 }, { ...before, 118: 5 })).toEqual([
      before,
      before,
      { 52: 1, 80: 9, 118: 5 },
    ])
  })
})

describe('the clock', () => {
  const half = (order: number, elapsedSecs: number, ticking: boolean): FixturePeriod => ({
    id: 70 + order,
    kind: order === 1 ? 'first_half' : 'second_half',
    order,
    countsFrom: 45 * (order - 1),
    length: 45,
    elapsedSecs,
    ticking,
  })
  /** The periods as they are believed after each update. */
  const believed = (...updates: readonly Partial<FixtureSnapshot>[]) => believedOf({}, ...updates)
  const believedOf = (how: { readonly replay?: boolean }, ...updates: readonly Partial<FixtureSnapshot>[]) => {
    let beliefs = NO_BELIEFS
    let { sourceAt } = at(0)
    return updates.map((over) => {
      const after = believe(at(0, over), { ...at(0), ...how, sourceAt, squad: SQUAD, events: [] }, beliefs)
      sourceAt = after.snapshot.sourceAt
      beliefs = after.beliefs
      return after.snapshot.periods.map(({ elapsedSecs, ticking }) => (ticking ? elapsedSecs : -elapsedSecs))
    })
  }

  it('[P22] that leaps in one update stands until the next one confirms it', () => {
    const [now, leapt] = [{ periods: [half(1, 2_400, true)] }, { periods: [half(1, 12_000, true)] }]
    expect(believed(now, leapt, { periods: [half(1, 2_420, true)] })).toEqual([[2_400], [2_400], [2_420]])
    expect(believed(now, leapt, { periods: [half(1, 12_010, true)] })).toEqual([[2_400], [2_400], [12_010]])
    // A half of 45 minutes that is counted from 0 for once.
    const second = (secs: number) => ({ periods: [half(1, 2_820, false), half(2, secs, true)] })
    expect(believed(second(180), second(2_880), second(200)).at(-2)).toEqual([-2_820, 180])
  })

  it('[P22] may go as far as time has passed, and of a recording and in a second update as far as it likes', () => {
    const [now, later] = [{ periods: [half(1, 600, true)] }, { periods: [half(1, 2_400, true)] }]
    const { sourceAt } = at(0)
    expect(believed(now, { ...later, sourceAt: instant(sourceAt + 1_200_000) }).at(-1)).toEqual([2_400])
    expect(believed(now, { ...later, sourceAt: instant(sourceAt + 1_199_000) }).at(-1)).toEqual([600])
    expect(believedOf({ replay: true }, now, later).at(-1)).toEqual([2_400])
    const fast = [600, 1_500, 2_400].map((secs) => ({ periods: [half(1, secs, true)] }))
    expect(believed(...fast)).toEqual([[600], [600], [2_400]])
  })

  it('[P22] is believed at once where it is the first, and where two answers say that the match is over', () => {
    expect(believed({ periods: [half(1, 2_400, true)] })).toEqual([[2_400]])
    const ended = { state: 'FT', stateId: 5, periods: [half(1, 2_820, false), half(2, 2_900, false)] }
    const [, once, twice] = believed({ periods: [half(1, 600, true)] }, ended, ended)
    expect([once, twice]).toEqual([[600], [-2_820, -2_900]])
    const late = { periods: [half(1, 2_820, false), half(2, 2_300, true)] }
    expect(believed(late, ended).at(-1)).toEqual([-2_820, -2_900])
  })

  it('[I8] of a half that is over stops, although the feed lets it tick', () => {
    expect(believed({ periods: [half(1, 2_820, true), half(2, 60, true)] })).toEqual([[-2_820, 60]])
    const ended = { state: 'FT', stateId: 5 }
    expect(believed({ ...ended, periods: [half(1, 2_820, true), half(2, 2_900, false)] })).toEqual([[-2_820, -2_900]])
    expect(believed({ ...ended, periods: [half(1, 2_820, false), half(2, 3_900, true)] })).toEqual([[-2_820, 3_900]])
    expect(believed({ ...ended, periods: [half(1, 2_820, false), half(2, 3_901, true)] })).toEqual([[-2_820, -3_901]])
  })
})

describe('evidence', () => {
  it('[P22] that a goal was another player’s says nothing of who assisted it', () => {
    const reported = { ...row(1, 'goal', 9, 1, 2), retracted: false }
    const { corrected } = evidenceIn({ events: [row(1, 'goal', 9, 5, 2)] }, [reported])
    expect(corrected).toEqual(new Set([playerId(1)]))
    expect(evidenceIn({ events: [row(1, 'goal', 9, 1, 5)] }, [reported]).corrected).toEqual(new Set([playerId(2)]))
  })
})
