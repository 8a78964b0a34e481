/**
 * What public reports say that football feeds do, one test a case. Prices are held against the same match with the
 * clean form of the news, so a change of the price model changes nothing here.
 */
import { describe, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { DEFAULT_PROTECTION, DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { Position } from '../../actors/position/position.ts'
import { instrumentJson, matchEventsJson } from '../../src/http/json.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import type { Payload } from '../../ops/tools/provider-mock/draft.ts'
import { CASE_NAMES, type CaseStep, otherOf, playerOf, pollsOf, readCase } from './feed-case.ts'
import { type FeedOptions, type Hands, type Played, playFeed, type Poll } from './played-feed.ts'

type Change = (steps: readonly CaseStep[]) => readonly CaseStep[]

/** A case as it is, or with other steps. */
function play(name: string, options: FeedOptions & { readonly clean?: Change } = {}): Promise<Played> {
  const { clean = (steps) => steps, ...how } = options
  const { fixture, steps } = readCase(name)
  return playFeed(pollsOf({ fixture, steps: [...clean(steps)] }), how)
}

/** The steps with some fields of one replaced. */
const withStep =
  (nth: number, change: (step: CaseStep) => Partial<CaseStep>): Change =>
  (steps) =>
    steps.map((step, n) => (n === nth ? { ...step, ...change(step) } : step))

/** Without what a step, or each from one on, changes. */
const without = (nth: number): Change => withStep(nth, ({ label, polls }) => ({ ...NOTHING, label, polls }))
const before =
  (nth: number): Change =>
  (steps) =>
    steps.map((step, n) => (n < nth ? step : { ...step, ...NOTHING }))
const NOTHING = { score: undefined, events: undefined, lineups: undefined, gone: undefined, payload: undefined }

/** A step shows already what a later one shows, and the line-up rows that only the first of them has. */
const atOnce =
  (nth: number, as: number): Change =>
  (steps) =>
    withStep(nth, ({ label, polls, lineups: own = [] }) => {
      const later = steps[as]?.lineups ?? []
      const others = own.filter((row) => !later.some((one) => one['player_id'] === row['player_id']))
      return { ...steps[as], label, polls, lineups: [...others, ...later] }
    })(steps)

const eventsOf = (step: CaseStep): readonly Payload[] => step.events ?? []
const event = (step: CaseStep, nth: number): Payload => present(eventsOf(step)[nth], 'event')

const last = ({ polls }: Played): Poll => present(polls.at(-1), 'last poll')
const num = (name: string, n: number): number => playerOf(readCase(name).fixture, n)
const statusOf = (name: string, played: Played, ...players: number[]) =>
  players.map((n) => last(played).windows.get(num(name, n))?.status)
const baseAt = (name: string, poll: Poll, n: number): number => {
  return present(poll.instruments.get(num(name, n)), `player ${n}`).base
}
const shown = (poll: Poll) => matchEventsJson(poll.info).events
const counted = (poll: Poll) => shown(poll).filter(({ retracted }) => !retracted)

/** Two bases are equal that differ by less than 0.01 %. */
const TOLERANCE = 1e-4

/** Where the bases of players differ, as words; from a poll on, of all players unless some are named. */
function differences(name: string, played: Played, control: Played, from = 0, players?: readonly number[]): string[] {
  expect(played.polls.length).toBe(control.polls.length)
  const names = players?.map((n) => num(name, n))
  return played.polls.slice(from).flatMap(({ instruments }, n) => {
    const there = present(control.polls[from + n], 'poll').instruments
    const compared = names ?? [...new Set([...there.keys(), ...instruments.keys()])]
    return compared.flatMap((player) => {
      const [a, b] = [instruments.get(player)?.base, there.get(player)?.base]
      const isSame = a !== undefined && b !== undefined && Math.abs(a / b - 1) <= TOLERANCE
      return isSame ? [] : [`poll ${from + n}, player ${player % 1_000}: ${a} instead of ${b}`]
    })
  })
}

/** The prices of all players are those of the clean match: after every poll, or from one on. */
async function asClean(name: string, clean: Change, from = 0): Promise<Played> {
  const played = await play(name)
  expect(differences(name, played, await play(name, { clean }), from)).toEqual([])
  return played
}

/** Opens a position before a poll, with a stop so far below the price. */
function opening(name: string, at: number, n: number, stopPct?: number) {
  const opened: Position[] = []
  const between = async (poll: number, hands: Hands): Promise<void> => {
    if (poll !== at) return
    const now = present(hands.price(num(name, n)), 'price')
    const stopLoss = stopPct === undefined ? null : price(Math.round(now * (1 - stopPct / 100)))
    opened.push(present(await hands.open(num(name, n), { stopLoss }), 'position'))
  }
  return { opened, between }
}

/** A position that was opened before a poll is open at the end, and its fill has never moved. */
async function staysOpen(name: string, { at, stopPct, ...how }: FeedOptions & { at: number; stopPct?: number }) {
  const { opened, between } = opening(name, at, 4, stopPct)
  const { open, closed, moves } = await play(name, { ...how, between })
  expect(opened).toHaveLength(1)
  expect([...closed.values()].map(({ close }) => close)).toEqual([])
  expect([...open.keys()]).toEqual(opened.map(({ id }) => id))
  expect(moves).toEqual([])
}

/** News waits eight seconds for the statistics: less than a poll. */
const PROTECTED = { protection: { ...DEFAULT_PROTECTION, newsHoldMs: 8_000 } }

const TESTS: Readonly<Record<string, (name: string) => Promise<void>>> = {
  // What cannot be a measurement, and what is missing
  'rating-zero-washout': async (name) => {
    await asClean(name, without(1))
    await staysOpen(name, { at: 1 })
  },
  'rating-hundred': async (name) => {
    await asClean(name, without(1))
  },
  'partial-washout': async (name) => {
    await asClean(name, before(1))
    await staysOpen(name, { at: 1 })
  },
  'stats-partial': async (name) => {
    await asClean(name, before(1))
  },
  'zeroed-stop-loss': async (name) => {
    await asClean(name, before(1))
    await staysOpen(name, { at: 1, stopPct: 3 })
  },
  'stats-zeroed': async (name) => {
    await asClean(name, before(2))
  },
  'minutes-null': async (name) => {
    const goal = withStep(1, () => ({
      score: [1, 0],
      events: [{ id: 1, participant_id: 1, type_id: 14, player_id: 4, minute: 41, result: '1-0' }],
      lineups: [{ player_id: 4, details: { 52: 1, 80: 20, 116: 16, 118: 6.9 } }],
    }))
    const played = await play(name, { clean: goal })
    expect(counted(last(played))).toEqual([expect.objectContaining({ type: 'goal', playerId: num(name, 4) })])
    expect(last(played).info.home.goals).toBe(1)
    expect(played.polls.map(({ window }) => window.status)).toEqual(played.polls.map(() => 'OPEN'))
    const [first] = played.polls
    expect(baseAt(name, last(played), 4)).toBeGreaterThan(baseAt(name, present(first, 'poll'), 4))
    expect(baseAt(name, last(played), 11)).toBeLessThan(baseAt(name, present(first, 'poll'), 11))
  },
  'scores-missing': async (name) => {
    const played = await asClean(name, before(2))
    const scores = played.polls.slice(3).map(({ info }) => [info.home.goals, info.away.goals])
    expect(scores).toEqual(scores.map(() => [1, 0]))
  },
  'minute-forms': async (name) => {
    const played = await play(name)
    const minutes = (id: number) => {
      const row = present(
        counted(last(played)).find((one) => one.id === num(name, id)),
        `row ${id}`,
      )
      return [row.minute, row.extraMinute]
    }
    expect([1, 2, 3, 4, 5, 6].map(minutes)).toEqual([
      [45, 2],
      [null, null],
      [33, null],
      [90, 4],
      [45, 2],
      [null, null],
    ])
  },
  'minute-null-void': async (name) => {
    const opened: Position[] = []
    const between = async (poll: number, hands: Hands): Promise<void> => {
      // The goal comes with poll 12: one position is 100 s old by then, one 20 s.
      if (poll === 2 || poll === 10) opened.push(present(await hands.open(num(name, 4)), 'position'))
    }
    const { polls, open, closed, moves } = await play(name, { rules: PROTECTED, between })
    expect([...closed.keys()]).toEqual([])
    expect(new Set(open.keys())).toEqual(new Set(opened.map(({ id }) => id)))
    expect(new Set(moves.map(({ position }) => position.id))).toEqual(new Set([opened[1]?.id]))
    expect(present(polls.at(-1), 'poll').info.events.map(({ minute }) => minute)).toEqual([null])
  },

  // Nothing is stored that the reader refuses: `playFeed` reads back what each poll leaves
  'poison-fractional-minute': async (name) => {
    expect((await play(name)).polls.map(({ window }) => window.status)).toEqual(['OPEN', 'OPEN', 'OPEN'])
  },
  'poison-fractional-player-id': async (name) => {
    await asClean(
      name,
      withStep(0, () => ({ events: [] })),
    )
  },
  'poison-fractional-event-related': async (name) => {
    await asClean(
      name,
      withStep(0, (step) => ({ events: [{ ...event(step, 0), related_player_id: null }] })),
    )
  },
  'poison-score-fraction': async (name) => {
    const played = await asClean(
      name,
      withStep(0, () => ({ score: [null, 0] })),
    )
    expect(last(played).info.home.goals).toBeNull()
  },
  'poison-score-negative': async (name) => {
    const played = await asClean(
      name,
      withStep(0, () => ({ score: [null, 0] })),
    )
    expect(last(played).info.home.goals).toBeNull()
  },
  'poison-nul-player-name': async (name) => {
    expect(last(await play(name)).instruments.get(num(name, 4))?.name).toBe('Nul Four')
  },
  'poison-nul-event-player-name': async (name) => {
    expect(shown(last(await play(name))).map(({ playerName }) => playerName)).toEqual(['ab'])
  },
  'poison-timestamp-ms-ns': async (name) => {
    const parsed = read(present(pollsOf(readCase(name))[0], 'poll'))
    // Read as what it must be, or skipped by its number: a date in the year 58,871 is neither.
    if (parsed.ok) expect(parsed.snapshot.startsAt).toBe(Date.UTC(2026, 10, 25, 18, 33, 4))
    else expect(parsed.reason).toContain(String(readCase(name).fixture))
  },
  names: async (name) => {
    const { instruments, info } = last(await play(name))
    const names = [...instruments.values()].map((one) => one.name)
    expect(names).toHaveLength(12)
    for (const text of [...names, info.name, info.home.name, info.away.name]) {
      expect(text).toMatch(/^\S(.*\S)?$/)
      expect(text).not.toMatch(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u)
    }
    expect(instruments.get(num(name, 4))?.name).toBe(`Player ${num(name, 4)}`)
    expect(info.away.name).toBe('Away')
  },

  // One fact counts once
  'assist-is-scorer': async (name) => {
    await asClean(
      name,
      withStep(1, (step) => ({ events: [{ ...event(step, 0), related_player_id: null }] })),
    )
  },
  'booking-moved': async (name) => {
    const played = await asClean(name, atOnceEvents(1, 2), 7)
    expect(shown(last(played))).toEqual([
      expect.objectContaining({ type: 'yellow', playerId: num(name, 2), retracted: false }),
    ])
  },
  'card-twice': async (name) => {
    const played = await asClean(
      name,
      withStep(1, (step) => ({ events: [event(step, 0)] })),
    )
    expect(counted(last(played))).toHaveLength(1)
  },
  'dismissed-three-rows': async (name) => {
    const played = await asClean(
      name,
      withStep(1, (step) => ({ events: [event(step, 0), event(step, 1)] })),
    )
    expect(statusOf(name, played, 3)).toEqual(['CLOSED'])
  },
  'late-close-reissue': async (name) => {
    const leaving = async (clean?: Change) => {
      const held: Position[] = []
      const played = await play(name, {
        rules: PROTECTED,
        ...(clean === undefined ? {} : { clean }),
        between: async (poll, hands) => {
          if (poll === 1) held.push(present(await hands.open(num(name, 4)), 'position'))
          // The goal comes with poll 9.
          if (poll === 9) await hands.close(present(held[0], 'position'))
        },
      })
      return { played, booked: played.moves.map(({ amount }) => amount) }
    }
    const { played, booked } = await leaving()
    expect(booked.every((amount) => amount >= 0)).toBe(true)
    const all = (amounts: readonly number[]): number => amounts.reduce((a, b) => a + b, 0)
    expect(all(booked)).toBeGreaterThan(0)
    expect(all(booked)).toBe(all((await leaving(before(2))).booked))
    expect(shown(last(played))).toEqual([expect.objectContaining({ type: 'goal', retracted: false })])
  },
  reissue: async (name) => {
    const played = await asClean(name, before(2))
    expect(shown(last(played))).toEqual([expect.objectContaining({ type: 'goal', retracted: false })])
  },
  'scorer-corrected-same-id': async (name) => {
    const played = await asClean(name, atOnce(1, 2), 7)
    expect(shown(last(played))).toEqual([
      expect.objectContaining({ type: 'goal', playerId: num(name, 3), retracted: false }),
    ])
  },
  'red-corrected-same-id': async (name) => {
    const played = await asClean(name, atOnce(1, 2), 7)
    expect(shown(last(played))).toEqual([
      expect.objectContaining({ type: 'red', playerId: num(name, 2), retracted: false }),
    ])
    expect(statusOf(name, played, 2, 3)).toEqual(['CLOSED', 'OPEN'])
  },
  'scorer-named-late': async (name) => {
    await asClean(name, atOnce(1, 2), 6)
  },
  'goal-never-named': async (name) => {
    const named = (step: CaseStep): Partial<CaseStep> => ({
      events: eventsOf(step).map((row) => ({ ...row, player_id: row['player_id'] ?? 4 })),
    })
    const clean: Change = (steps) => withStep(2, named)(withStep(1, named)(steps))
    const [played, control] = [await play(name), await play(name, { clean })]
    for (const poll of [18, 34]) {
      const at = { ...played, polls: played.polls.slice(0, poll + 1) }
      const there = { ...control, polls: control.polls.slice(0, poll + 1) }
      expect(differences(name, at, there, poll, [1, 2, 11, 12, 13, 14])).toEqual([])
    }
  },
  'events-empty-stop-loss': async (name) => {
    const played = await asClean(name, before(2))
    for (const poll of played.polls.slice(3)) {
      expect(shown(poll)).toEqual([expect.objectContaining({ type: 'goal', retracted: false })])
    }
    await staysOpen(name, { at: 8, stopPct: 2 })
    const movedBy = async (how: { clean?: Change } = {}) => {
      const { moves } = await play(name, { ...how, rules: PROTECTED, between: opening(name, 8, 4).between })
      return moves.map(({ position }) => position.openPrice)
    }
    expect(await movedBy()).toEqual(await movedBy({ clean: before(2) }))
  },
  'goal-vanishes-score-later': async (name) => {
    const played = await asClean(name, before(1), 9)
    expect(shown(last(played))).toEqual([expect.objectContaining({ type: 'goal', retracted: true })])
  },
  'miss-typed-goal': async (name) => {
    const [played, control] = [await play(name), await play(name, { clean: before(1) })]
    expect(counted(last(played)).filter(({ type }) => type.endsWith('goal'))).toEqual([])
    // A miss may cost its taker something, and moves nobody else.
    expect(differences(name, played, control, 0, [1, 2, 3, 11, 12, 13, 14])).toEqual([])
    expect(baseAt(name, last(played), 4)).toBeLessThanOrEqual(baseAt(name, last(control), 4))
  },
  'more-goals-than-score': async (name) => {
    await asClean(
      name,
      withStep(1, (step) => ({ events: [event(step, 0)] })),
    )
  },
  'own-goal-listed-twice': async (name) => {
    await asClean(
      name,
      withStep(1, (step) => ({ events: [event(step, 0)] })),
    )
  },
  'event-of-another-match': async (name) => {
    await asClean(name, without(1))
  },
  'shootout-in-current': async (name) => {
    const { home, away } = last(await play(name)).info
    expect([home, away]).toEqual([
      expect.objectContaining({ goals: 1, shootout: 4 }),
      expect.objectContaining({ goals: 1, shootout: 3 }),
    ])
  },

  // Who is on the pitch
  'sub-null-on': async (name) => {
    const clean = withStep(1, (step) => ({ events: [{ ...event(step, 0), player_id: 6 }] }))
    const [played, control] = [await play(name), await play(name, { clean })]
    expect(statusOf(name, played, 4)).toEqual(['CLOSED'])
    expect(differences(name, played, control, 0, [1, 2, 3, 4, 11, 12, 13, 14])).toEqual([])
  },
  'sub-swapped': async (name) => {
    const right = { player_id: 6, related_player_id: 4, player_name: 'Home 6', related_player_name: 'Home 4' }
    const played = await asClean(
      name,
      withStep(1, (step) => ({ events: [{ ...event(step, 0), ...right }] })),
    )
    expect(statusOf(name, played, 4, 6)).toEqual(['CLOSED', 'OPEN'])
    expect(last(played).info.events.at(-1)).toMatchObject({ playerName: 'Home 6', relatedPlayerName: 'Home 4' })
  },
  'sub-returns': async (name) => {
    const noGoal = withStep(1, () => ({ score: [0, 0], events: [], lineups: [] }))
    const noGoalThen = withStep(2, (step) => ({ events: eventsOf(step).slice(1) }))
    const base = async (clean: Change): Promise<number> => baseAt(name, last(await play(name, { clean })), 2)
    const [goal, nothing] = [await base(before(2)), await base((steps) => noGoal(before(2)(steps)))]
    const [returned, unscored] = [await base((steps) => steps), await base((steps) => noGoal(noGoalThen(steps)))]
    // The goal conceded costs as much as if the player had stayed.
    expect(goal / nothing).toBeLessThan(0.995)
    expect(Math.abs(returned / unscored / (goal / nothing) - 1)).toBeLessThan(1e-3)
    expect(statusOf(name, await play(name), 2, 6)).toEqual(['OPEN', 'CLOSED'])
  },
  'lineup-replaced': async (name) => {
    const played = await play(name)
    expect(statusOf(name, played, 4, 7)).toEqual(['CLOSED', 'OPEN'])
    expect(last(played).windows.get(num(name, 4))).toMatchObject({ reason: expect.stringContaining('pitch') })
    expect(last(played).info.onPitch).toHaveLength(8)
  },
  'lineup-to-bench': async (name) => {
    expect(statusOf(name, await play(name), 4, 6)).toEqual(['CLOSED', 'OPEN'])
  },
  'listed-twice': async (name) => {
    const once: Change = withStep(0, ({ payload }) => ({ payload: { lineups: present(payload, 'rows')['lineups'] } }))
    const rows = (steps: readonly CaseStep[]): readonly CaseStep[] =>
      once(steps).map((step) => {
        const { lineups } = step.payload ?? {}
        return Array.isArray(lineups) ? { ...step, payload: { ...step.payload, lineups: lineups.slice(1) } } : step
      })
    expect(statusOf(name, await asClean(name, rows), 4)).toEqual(['OPEN'])
  },
  'line-ups-late': async (name) => {
    const played = await play(name)
    const control = await play(name, { clean: withStep(1, () => ({ score: [0, 0], events: [] })) })
    expect(last(played).instruments.size).toBe(12)
    expect(last(played).window.status).toBe('OPEN')
    expect(baseAt(name, last(played), 4)).toBeGreaterThan(
      present(last(played).instruments.get(num(name, 4)), 'player 4').start,
    )
    expect(last(control).instruments.size).toBe(12)
  },
  'one-lineup': async (name) => {
    const played = await play(name)
    expect(last(played).instruments.size).toBe(7)
    expect(last(played).window.status).toBe('OPEN')
  },
  'home-away-swapped': async (name) => {
    const played = await play(name)
    const { instruments, info } = last(played)
    const teams = [4, 14].map((n) => {
      const instrument = present(instruments.get(num(name, n)), `player ${n}`)
      const listing = { instrument, match: info, price: instrument.published, changePpm: 0 }
      return instrumentJson(listing, instant(0), DEFAULT_RULES).team.name
    })
    expect(teams).toEqual(['Harbour', 'Mill'])
    // A match keeps the sides that its players were listed on.
    expect([info.home.name, info.home.goals, info.away.name, info.away.goals]).toEqual(['Harbour', 1, 'Mill', 0])
    const clean = withStep(1, () => ({ payload: undefined, score: [1, 0] as [number, number] }))
    expect(differences(name, played, await play(name, { clean }), 5)).toEqual([])
  },

  // State and clock
  'state-case': async (name) => {
    const { polls } = await play(name)
    expect(polls.map(({ window, info }) => [window.status, info.settling])).toEqual([
      ...Array.from({ length: 6 }, () => ['OPEN', null]),
      ['CLOSED', null],
      ...Array.from({ length: 2 }, () => ['CLOSED', 'void']),
    ])
  },
  'detailed-lags': async (name) => {
    const { polls } = await play(name)
    expect(polls.map(({ window }) => window.status)).toEqual(polls.map(() => 'OPEN'))
    expect(polls.at(-1)?.info.minute).toBeGreaterThanOrEqual(85)
  },
  'starts-at': async (name) => {
    const { others, ...first } = readCase(name)
    const payloads = [present(pollsOf(first)[0], 'poll'), ...others.map(otherOf)]
    const startsAt = (receivedAt: number) =>
      payloads.map((payload) => {
        const parsed = read(payload, receivedAt)
        return parsed.ok ? parsed.snapshot.startsAt : parsed.reason
      })
    const [zoned, utc, unknown] = startsAt(1_000)
    expect([zoned, utc]).toEqual([Date.UTC(2026, 10, 28, 18), Date.UTC(2026, 10, 28, 18)])
    // It does not move with each poll.
    expect(startsAt(2_000)[2]).toBe(unknown)
  },
  'postponed-before-kick-off': async (name) => {
    const played = await play(name)
    expect(last(played).window.status).toBe('OPEN')
    expect(last(played).info.settling).toBeNull()
  },
  'pre-match-postponed': async (name) => {
    const { polls } = await play(name, { rules: { preMatch: true } })
    const at = (n: number): Poll => present(polls[n], `poll ${n}`)
    expect(at(2).window.status).toBe('OPEN')
    expect([at(5).window.status, at(5).info.settling]).toEqual(['CLOSED', null])
    expect([at(8).info.state, at(8).info.startsAt]).toEqual(['NS', 1_796_240_382_000])
    expect(at(11).window.status).toBe('OPEN')
  },
  // The new playing is another match, which this harness of one match does not make
  'postponed-then-played': async (name) => {
    const { opened, between } = opening(name, 1, 4)
    const { closed, polls } = await play(name, { between })
    expect(polls[5]?.info.settling).toBe('void')
    expect(closed.get(present(opened[0], 'position').id)?.close).toMatchObject({ by: 'void', pnl: 0 })
  },
}

/** A step shows the events of a later one already. */
function atOnceEvents(nth: number, as: number): Change {
  return (steps) => withStep(nth, () => ({ events: steps[as]?.events }))(steps)
}

const read = (payload: Payload, receivedAt = 1_000) =>
  parseFixture(payload, { instrumentIdOf: (id) => instrumentIdFor('feed', id), receivedAt: instant(receivedAt) })

describe('a feed that errs', () => {
  for (const [name, test] of Object.entries(TESTS)) it(name, () => test(name))

  it('is tried with every case', () => {
    expect(Object.keys(TESTS).toSorted()).toEqual(CASE_NAMES.toSorted())
  })
})
