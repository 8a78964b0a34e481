/** Answers that tell a part, the same fact minutes later, or a state that the rest of them denies. */
import { describe, expect, it } from 'vitest'
import { instrumentId } from '../../actors/kernel/ids.ts'
import { instant } from '../../actors/kernel/world.ts'
import { parseFixture } from '../../src/provider/snapshot.ts'
import { FedMatch } from '../support/fed-match.ts'
import {
  AWAY,
  details,
  event,
  fed,
  HOME,
  lineup,
  lineups,
  payload,
  type Row,
  type Said,
  STATS,
} from '../support/fed-polls.ts'

describe('a line-up in parts', () => {
  const ELEVENS = [HOME, AWAY].flatMap((team) =>
    Array.from({ length: 11 }, (_, n) =>
      lineup(4, {
        player_id: team * 100 + n,
        team_id: team,
        player_name: `Player ${team * 100 + n}`,
        jersey_number: n + 1,
      }),
    ),
  )
  const match = (...parts: readonly ((row: Row, n: number) => boolean)[]): FedMatch => {
    const found = new FedMatch()
    for (const [n, part] of parts.entries()) {
      found.poll(payload(n, { over: { lineups: ELEVENS.filter((row, nth) => part(row, nth)) } }))
    }
    return found
  }
  const [all, even, odd] = [() => true, (_: Row, n: number) => n % 2 === 0, (_: Row, n: number) => n % 2 === 1]

  it.each<[string, readonly ((row: Row, n: number) => boolean)[]]>([
    ['halves in turn', [even, odd, even, odd]],
    ['parts that overlap', [(_, n) => n % 3 > 0, (_, n) => n % 3 > 1 || n % 2 === 0, all]],
  ])('[P25] is whole once each has come: %s', (_, parts) => {
    const [whole, told] = [match(all, all, all), match(...parts)]
    expect(told.playing()).toEqual(whole.playing())
    const near = Object.entries(whole.bases()).filter(
      ([id, base]) => Math.abs((told.base(Number(id)) ?? 0) - base) < 0.1,
    )
    expect(near).toHaveLength(22)
  })

  it('[P25] has as starters those with a place in the formation, where it names no known type', () => {
    const found = new FedMatch()
    const typed = ELEVENS.map((row, n) => ({ ...row, type_id: 911, formation_field: n % 11 < 9 ? '2:1' : null }))
    found.poll(payload(0, { over: { lineups: typed } }))
    expect(found.playing()).toHaveLength(18)
  })

  it('[P29] has no more than eleven: more are of another match', () => {
    const others = ELEVENS.map((row) => ({ ...row, player_id: Number(row['player_id']) + 50, player_name: 'Other' }))
    const found = match(all)
    found.poll(payload(1, { over: { lineups: others } }))
    expect(found.playing()).toEqual(match(all).playing())
  })
})

describe('a match that is said to wait for its kick-off', () => {
  const half = (type: number, minutes: number): Row => ({
    id: type,
    type_id: type,
    counts_from: (type - 1) * 45,
    minutes,
    seconds: 0,
    ticking: type === 2,
  })
  const NOT_BEGUN = { state: { state: 'NS' }, state_id: 1 }

  it('[P3] is played where a period has ticked for more than five minutes, from its first answer on', () => {
    const match = new FedMatch()
    match.poll(payload(1, { over: NOT_BEGUN }))
    expect(match.state.info).toMatchObject({ phase: 'live', state: 'INPLAY_1ST_HALF' })
    const parsed = parseFixture(payload(1, { over: NOT_BEGUN }), {
      instrumentIdOf: (id) => instrumentId(`i-${id}`),
      receivedAt: instant(0),
    })
    expect(parsed).toMatchObject({ snapshot: { state: 'INPLAY_1ST_HALF' } })
    const early = new FedMatch()
    early.poll(payload(1, { over: NOT_BEGUN, minute: 4 }))
    expect(early.state.info.phase).toBe('scheduled')
  })

  it('[P3] is in its second half once that ticks', () => {
    const over = { ...NOT_BEGUN, periods: [half(1, 47), half(2, 46)] }
    expect(fed({ over }).state.info).toMatchObject({ state: 'INPLAY_2ND_HALF', minute: 46 })
  })
})

describe('a period without minutes', () => {
  /** When `FedMatch` begins, in seconds. */
  const BEGINS = 1_780_000_000
  const clock = (minutes: unknown, over: Row = {}): number | null => {
    const periods = [{ id: 1, type_id: 1, counts_from: 0, ticking: true, minutes, seconds: null, ...over }]
    const match = fed({ over: { periods } })
    return match.state.pricing.beliefs.periods[0]?.elapsedSecs ?? null
  }

  it.each([null, 40.5, 2_430])('[P21] has lasted since it began: %j', (minutes) => {
    // The third poll is 30 seconds after the beginning.
    expect(clock(minutes, { started: BEGINS - 2_400 })).toBe(2_430)
    expect(clock(minutes, { started: BEGINS - 2_700, ended: BEGINS - 30, ticking: false })).toBe(2_670)
  })

  it('[P21] has no clock where it began another day, or nothing says when', () => {
    for (const started of [BEGINS - 86_400, BEGINS + 3_600, null, -1]) expect(clock(null, { started })).toBe(2_401)
  })
})

describe('rows that tell the same', () => {
  const brace: Said = {
    score: [2, 0],
    over: { lineups: lineups({ 4: { details: details({ ...STATS, 52: 2 }) } }) },
  }
  const told = (said: Said, events: readonly Row[]): Said => ({ ...said, over: { ...said.over, events } })
  const scored = (id: number, minute: number): Row => event(id, 14, 4, minute)
  const one: Said = { score: [1, 0], over: { lineups: lineups({ 4: { details: details({ ...STATS, 52: 1 }) } }) } }

  it('[P24] three minutes apart are one goal, also once its player scores again', () => {
    const twice = [scored(1, 20), scored(2, 23)]
    const polls = [told(one, [scored(1, 20)]), told(one, twice), told(brace, [...twice, scored(3, 38), scored(4, 41)])]
    const counted = fed(...polls).state.pricing.incidents.filter(({ standing }) => standing === 'counted')
    expect(counted.map(({ minute }) => minute)).toEqual([20, 38])
  })

  it('[P24] are of when they come where an earlier one of their player was taken back', () => {
    const rescinded = event(1, 20, 4, 20, { rescinded: true })
    const red = (...others: readonly Row[]): Said => ({ over: { events: [...others, event(2, 20, 4, 40)] } })
    const match = (...others: readonly Row[]) => fed({ over: { events: others } }, red(...others))
    expect(Math.abs((match(rescinded).base(4) ?? 0) - (match().base(4) ?? 0))).toBeLessThan(0.1)
  })

  it.each(['Goal Disallowed - Offside', 'Goal cancelled (foul)'])(
    '[P24] of a goal may say why it is none: %s',
    (addition) => {
      const review = event(2, 10, 4, 39, { addition })
      const taken = (text: Row): Said => told(one, [scored(1, 38), { ...review, ...text }])
      const match = (text: Row) => fed(told(one, [scored(1, 38)]), taken(text))
      expect(match({}).bases()).toEqual(match({ addition: 'Goal Disallowed' }).bases())
    },
  )

  it('[P24] may have minutes with a fraction of none', () => {
    const match = fed(told(one, [{ ...scored(1, 38), minute: '38.0' }]))
    expect(match.state.info.events.map(({ minute }) => minute)).toEqual([38])
  })

  it('[P25] with a minute that is far ahead are of when they came', () => {
    const off = (minute: number): Said => ({
      over: { events: [event(1, 18, 6, minute, { related_player_id: 4 })] },
      minute: 40,
    })
    const later = (minute: number): Said => ({ ...off(minute), minute: 55 })
    const match = (minute: number) => fed(off(minute), later(minute))
    const apart = (player: number) => Math.abs((match(90).base(player) ?? 0) - (match(41).base(player) ?? 0))
    expect(Math.max(apart(4), apart(6))).toBeLessThan(1)
  })
})

describe('a substitution that no row tells', () => {
  const OTHERS = [1, 2, 3, 4, 11, 12, 13, 14] as const
  const bench = lineup(6, { player_id: 7, player_name: 'Player 7', jersey_number: 7 })
  const told = (minutes: Readonly<Record<number, number>>, ...events: readonly Row[]): Said => {
    const of = Object.entries({ ...Object.fromEntries(OTHERS.map((id) => [id, 40])), ...minutes })
    const rows = Object.fromEntries(of.map(([id, n]) => [id, { details: details({ ...STATS, 119: n }) }]))
    return { over: { events, lineups: [...lineups(rows), { ...bench, ...rows[7] }] } }
  }
  const playing = (...polls: readonly Said[]): readonly number[] => fed(...polls).playing()
  const change = (over: Row): Row => event(1, 18, 6, 25, { related_player_id: 4, ...over })
  const AFTER = [1, 2, 3, 6, 11, 12, 13, 14]

  it('[P25] is told by the minutes of both: one has stood still since, the other has the rest', () => {
    const [untold, listed] = [told({ 4: 25, 6: 15 }), told({ 4: 25, 6: 15 }, change({}))]
    expect(playing(untold)).toEqual(AFTER)
    const apart = [4, 6].map((id) => Math.abs((fed(untold).base(id) ?? 0) - (fed(listed).base(id) ?? 0)))
    expect(Math.max(...apart)).toBeLessThan(0.2)
  })

  it.each<[string, Said]>([
    ['of minutes that are not those of one match', told({ 4: 25, 6: 38 })],
    ['of the last minutes, of which a row may come', told({ 4: 37, 6: 3 })],
    ['of a player who was sent off', told({ 4: 25, 6: 15 }, event(1, 20, 4, 25))],
  ])('[P25] is none %s', (_, said) => {
    expect(playing(said, said)).not.toContain(6)
  })

  it('[P25] is of whose minutes tell it, where a row names one of two', () => {
    expect(playing(told({ 4: 25, 6: 15 }, change({ related_player_id: null })))).toEqual(AFTER)
    expect(playing(told({ 4: 25, 6: 15, 7: 0 }, change({ player_id: null, player_name: null })))).toEqual(AFTER)
    const halves = [change({ related_player_id: null }), event(2, 18, 4, 25)]
    expect(playing(told({ 4: 25, 6: 15 }, ...halves))).toEqual(AFTER)
    expect(playing(told({ 4: 25, 6: 15 }, change({}), event(2, 18, 4, 25)))).toEqual(AFTER)
  })
})
