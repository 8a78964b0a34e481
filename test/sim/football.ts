/** Short and eventful football matches, one snapshot after the other, as an unreliable provider would send them. */
import { fixtureId, type FixtureId, type InstrumentId, instrumentId, playerId } from '../../actors/kernel/ids.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import type {
  FixtureEvent,
  FixturePeriod,
  FixturePlayer,
  FixtureSnapshot,
  PeriodKind,
  PlayerRole,
} from '../../actors/market/fixture.ts'
import type { Chance } from '../../actors/replay/chance.ts'

/** Something the provider shows for a number of updates; null as state is a bare number. */
interface Stage {
  readonly state: string | null
  readonly stateId: number
  readonly plays?: PeriodKind
  readonly updates: number
}

const PERIODS: Readonly<Record<PeriodKind, Omit<FixturePeriod, 'elapsedSecs' | 'ticking' | 'kind'>>> = {
  first_half: { id: 1, order: 1, countsFrom: 0, length: 45 },
  second_half: { id: 2, order: 2, countsFrom: 45, length: 45 },
  extra_time: { id: 3, order: 3, countsFrom: 90, length: 30 },
  penalties: { id: 5, order: 5, countsFrom: 120, length: 0 },
}

const ROLES: readonly PlayerRole[] = ['GK', 'DEF', 'MID', 'FWD']
/** The last stage stays until the match has settled. */
const FOR_EVER = 1_000_000

const stage = (state: string | null, stateId: number, updates: number, plays?: PeriodKind): Stage =>
  plays === undefined ? { state, stateId, updates } : { state, stateId, updates, plays }

/** The same footballers play in every match of a slot, so that their instruments move from one to the next. */
export const instrumentOf = (player: number): InstrumentId =>
  instrumentId(`aaaaaaaa-0000-5000-8000-${player.toString().padStart(12, '0')}`)

export class Football {
  readonly fixtureId: FixtureId
  readonly #chance: Chance
  readonly #players: readonly number[]
  readonly #countsGoals: boolean
  /** Goals that the statistics show with the next update. */
  #uncounted: FixtureEvent[] = []
  readonly #stages: Stage[]
  readonly #periods = new Map<PeriodKind, number>()
  readonly #stats = new Map<number, Record<number, number>>()
  #events: FixtureEvent[] = []
  #score = { home: 0, away: 0 }
  #eventIds = 0
  #shown = 0

  constructor(options: {
    readonly fixtureId: number
    readonly players: readonly number[]
    readonly chance: Chance
    /** Whether the statistics follow the list of events, as protection waits for. */
    readonly countsGoals: boolean
  }) {
    this.#countsGoals = options.countsGoals
    this.fixtureId = fixtureId(options.fixtureId)
    this.#players = options.players
    this.#chance = options.chance
    this.#stages = script(options.chance)
  }

  /** The provider's next snapshot. */
  next(at: Instant): FixtureSnapshot {
    const now = this.#advance()
    if (now.plays !== undefined) this.#play(now.plays)
    return this.#tell(now, at)
  }

  #advance(): Stage {
    const [now, next] = this.#stages
    if (now === undefined) throw new Error('the script is empty')
    if (next !== undefined && this.#shown >= now.updates) {
      this.#stages.shift()
      this.#shown = 0
      return this.#advance()
    }
    this.#shown++
    return now
  }

  #play(period: PeriodKind): void {
    const chance = this.#chance
    this.#periods.set(period, (this.#periods.get(period) ?? 0) + 60 + chance.below(540))
    for (const player of this.#players) {
      const stats = this.#stats.get(player) ?? {}
      // Shots, passes, fouls and a rating: enough to move every player a little, sometimes a lot.
      for (const type of [86, 116, 80, 56]) stats[type] = (stats[type] ?? 0) + chance.below(4)
      stats[118] = 5 + chance.below(40) / 10
      this.#stats.set(player, stats)
    }
    for (const goal of this.#uncounted) this.#count(goal, 1)
    this.#uncounted = []
    if (period === 'penalties') return
    if (chance.happens(0.2)) this.#goal(period)
    if (chance.happens(0.08)) this.#happen(period, chance.happens(0.5) ? 'red' : 'yellow')
    if (chance.happens(0.1)) this.#takeBack(period)
  }

  #goal(period: PeriodKind): void {
    const own = this.#chance.happens(0.1)
    const event = this.#happen(period, own ? 'own_goal' : 'goal')
    this.#score[event.side === 'home' ? 'home' : 'away'] += 1
    if (this.#countsGoals && !own) this.#uncounted.push(event)
  }

  /** The goal of the scorer, and what the other keeper has conceded. */
  #count({ playerId: scorer, side }: FixtureEvent, by: 1 | -1): void {
    const add = (player: number, type: number): void => {
      const stats = this.#stats.get(player) ?? {}
      this.#stats.set(player, { ...stats, [type]: Math.max(0, (stats[type] ?? 0) + by) })
    }
    if (scorer !== null) add(scorer, 52)
    for (const n of this.#players) if (ROLES[n % 4] === 'GK' && this.#side(n) !== side) add(n, 88)
  }

  #happen(period: PeriodKind, kind: FixtureEvent['kind'], addition: string | null = null, of?: number): FixtureEvent {
    const player = of ?? this.#players[this.#chance.below(this.#players.length)] ?? 0
    const gains = (side: 'home' | 'away'): 'home' | 'away' => (side === 'home' ? 'away' : 'home')
    const { order, countsFrom } = PERIODS[period]
    const event: FixtureEvent = {
      id: ++this.#eventIds,
      kind,
      minute: countsFrom + 1 + Math.floor((this.#periods.get(period) ?? 0) / 60),
      extraMinute: null,
      period: order,
      side: kind === 'own_goal' ? gains(this.#side(player)) : this.#side(player),
      // A goal is sometimes there before its scorer is known.
      playerId: kind === 'goal' && this.#chance.happens(0.1) ? null : playerId(player),
      playerName: `Player ${player}`,
      relatedPlayerId: null,
      relatedPlayerName: null,
      result: null,
      addition,
      rescinded: false,
    }
    this.#events.push(event)
    return event
  }

  /** The last goal does not count after all: with a VAR row, or by silently vanishing. */
  #takeBack(period: PeriodKind): void {
    const goal = this.#events.findLast((e) => e.kind === 'goal' || e.kind === 'own_goal')
    if (goal === undefined) return
    if (this.#chance.happens(0.5)) this.#happen(period, 'var', 'Goal Disallowed', Number(goal.playerId ?? 0))
    this.#events = this.#events.filter((e) => e !== goal)
    if (this.#uncounted.includes(goal)) this.#uncounted = this.#uncounted.filter((e) => e !== goal)
    else if (this.#countsGoals && goal.kind === 'goal') this.#count(goal, -1)
    this.#score[goal.side === 'home' ? 'home' : 'away'] -= 1
  }

  #side(player: number): 'home' | 'away' {
    return player % 2 === 0 ? 'away' : 'home'
  }

  #tell({ state, stateId, plays }: Stage, at: Instant): FixtureSnapshot {
    const periods = [...this.#periods].map(([kind, elapsedSecs]) => {
      return { ...PERIODS[kind], kind, elapsedSecs, ticking: kind === plays }
    })
    return {
      fixtureId: this.fixtureId,
      name: 'Harbour vs Mill',
      league: 'League 1',
      startsAt: instant(at - 60_000),
      state,
      stateId,
      home: { id: 1, name: 'Harbour', goals: this.#score.home },
      away: { id: 2, name: 'Mill', goals: this.#score.away },
      periods,
      events: this.#chance.happens(0.05) ? null : this.#events.map((event) => ({ ...event })),
      players: this.#chance.happens(0.03) ? [] : this.#players.map((player) => this.#line(player)),
      teamStats: null,
      expectedGoals: null,
      sourceAt: at,
    }
  }

  #line(player: number): FixturePlayer {
    return {
      playerId: playerId(player),
      instrumentId: instrumentOf(player),
      name: `Player ${player}`,
      side: this.#side(player),
      role: ROLES[player % 4] ?? null,
      jersey: player,
      starter: player % 5 !== 0,
      details: this.#chance.happens(0.1) ? null : { ...this.#stats.get(player) },
    }
  }
}

/** The course of a match: sometimes with extra time, sometimes abandoned. */
function script(chance: Chance): Stage[] {
  const half = (): number => 3 + chance.below(8)
  const stages = [
    stage('NS', 1, 1 + chance.below(2)),
    stage('INPLAY_1ST_HALF', 2, half(), 'first_half'),
    stage('HT', 3, 1 + chance.below(2)),
    stage(chance.happens(0.2) ? null : 'INPLAY_2ND_HALF', 22, half(), 'second_half'),
    ...ending(chance, half),
  ]
  if (chance.happens(0.25)) {
    // The state is unknown for a while; then the match continues.
    const at = 1 + chance.below(stages.length - 1)
    stages.splice(at, 0, stage(chance.happens(0.5) ? 'INTERRUPTED' : 'AWAITING_UPDATES', 18, 1 + chance.below(2)))
  }
  if (chance.happens(0.2)) {
    const called = ['ABANDONED', 'POSTPONED', 'CANCELLED'][chance.below(3)] ?? 'ABANDONED'
    const before = stages.slice(0, 1 + chance.below(stages.length))
    // Put off before it has kicked off, a match waits for another day: until it is called off.
    const waits = called === 'POSTPONED' && before.every(({ state }) => state === null || !state.startsWith('INPLAY'))
    return [
      ...before,
      ...(waits ? [stage(called, 10, 2), stage('CANCELLED', 10, FOR_EVER)] : [stage(called, 10, FOR_EVER)]),
    ]
  }
  return stages
}

function ending(chance: Chance, half: () => number): Stage[] {
  switch (chance.below(6)) {
    case 0:
    case 1:
      return [stage('FT', 5, FOR_EVER)]
    case 2:
      return [stage('FINISHED', 8, FOR_EVER)]
    case 3:
      return [stage(null, 5, FOR_EVER)]
    case 4:
      // Full time for a moment, then extra time.
      return [
        stage('FT', 5, 1 + chance.below(2)),
        stage('EXTRA_TIME_BREAK', 4, 1),
        stage('INPLAY_ET', 6, half(), 'extra_time'),
        stage('AET', 7, FOR_EVER),
      ]
    default:
      return [
        stage('FT', 5, 1),
        stage('INPLAY_ET', 6, 2, 'extra_time'),
        stage('PEN_BREAK', 25, 1),
        stage('INPLAY_PENALTIES', 9, 2, 'penalties'),
        stage('FT_PEN', 8, FOR_EVER),
      ]
  }
}
