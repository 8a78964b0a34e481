/** The suite's own provider of match data: scripted fixtures in the provider's format. */
import { createServer, type Server } from 'node:http'
import { listen } from './listen.ts'

export type Side = 'home' | 'away'
export type Role = 'GK' | 'DEF' | 'MID' | 'FWD'

export interface Footballer {
  readonly id: number
  readonly name: string
  readonly side: Side
  readonly role: Role
  readonly jersey: number
  readonly starter: boolean
}

/** The provider's states by name: their ids, and the period that ticks in them. */
const STATES: Readonly<Record<string, { readonly id: number; readonly period?: number }>> = {
  NS: { id: 1 },
  INPLAY_1ST_HALF: { id: 2, period: 1 },
  HT: { id: 3 },
  BREAK: { id: 4 },
  FT: { id: 5 },
  INPLAY_ET: { id: 6, period: 5_314 },
  AET: { id: 7 },
  FT_PEN: { id: 8 },
  INPLAY_PENALTIES: { id: 9, period: 5 },
  POSTPONED: { id: 10 },
  SUSPENDED: { id: 11 },
  CANCELLED: { id: 12 },
  ABANDONED: { id: 15 },
  INTERRUPTED: { id: 18 },
  INPLAY_2ND_HALF: { id: 22, period: 2 },
  INPLAY_ET_2ND_HALF: { id: 23, period: 39 },
  PEN_BREAK: { id: 25 },
  FINISHED: { id: 5 },
}
const COUNTS_FROM: Readonly<Record<number, number>> = { 1: 0, 2: 45, 5314: 90, 39: 105, 5: 120 }
const EVENT = { var: 10, goal: 14, ownGoal: 15, yellow: 19, red: 20 } as const
const POSITION_ID = { GK: 24, DEF: 25, MID: 26, FWD: 27 } as const
/** How many players there are of each role, and how many of them start. */
const LINE_UP: readonly (readonly [Role, number, number])[] = [
  ['GK', 1, 1],
  ['DEF', 4, 4],
  ['MID', 10, 3],
  ['FWD', 5, 3],
]
/** A period starts seven seconds in: a clock at a whole minute could be one without seconds. */
const KICK_OFF_MS = 7_000
const TOKEN = 'conformance'
const BASE = '/v3/football'

interface Period {
  readonly type: number
  readonly startedAt: number
  endedAt: number | null
}

interface EventRow {
  readonly id: number
  readonly type: number
  readonly player: Footballer
  readonly minute: number
  readonly result: string | null
}

/** One fixture. A change is visible in the provider's next answer. */
export class Fixture {
  readonly id: number
  readonly name: string
  readonly players: readonly Footballer[]
  /** The provider's statistics of both teams; null if it has none for this fixture. */
  teamStats: Readonly<Record<Side, Readonly<Record<string, number>>>> | null = null
  /** Statistics of single players, by type. */
  readonly details = new Map<Footballer, Readonly<Record<number, number>>>()
  /** Whether the state has its name; otherwise it is a bare number. */
  isNamed = true
  /** Whether the provider still knows of it. */
  isListed = true
  #state = 'NS'
  #stateId = 1
  #periods: Period[] = []
  #events: EventRow[] = []
  /** Events so far, those that were taken back included: no number is given twice. */
  #happened = 0
  #stoppedAt: number | null = null
  #behindSecs = 0
  readonly #startsAt = Date.now()

  constructor(id: number, firstPlayer: number) {
    this.id = id
    this.name = `Conformance ${id} vs Touchline ${id}`
    this.players = (['home', 'away'] as const).flatMap((side, s) =>
      LINE_UP.flatMap(([role, count, starters]) =>
        Array.from({ length: count }, (_, n) => ({ role, starter: n < starters })),
      ).map((player, n) => {
        const playerId = firstPlayer + s * 50 + n
        return { id: playerId, name: `Player ${playerId}`, side, jersey: n + 1, ...player }
      }),
    )
  }

  /** Changes the state of play. */
  enters(state: string): void {
    const known = STATES[state] ?? { id: 0 }
    const now = Date.now()
    for (const period of this.#periods) period.endedAt ??= now
    const { period } = known
    if (period !== undefined) this.#periods.push({ type: period, startedAt: now - KICK_OFF_MS, endedAt: null })
    this.#state = state
    this.#stateId = known.id
  }

  /** From now on the state is only this number; no period ticks in the ids of completed states. */
  entersNumber(id: number): void {
    this.isNamed = false
    this.#stateId = id
    for (const period of this.#periods) period.endedAt ??= Date.now()
  }

  /** The provider still answers, but its clock stops; null restarts it. */
  stopClock(stopped: boolean): void {
    this.#stoppedAt = stopped ? Date.now() : null
  }

  /** From now on the clock is this many seconds behind what it has been, as when the length of a half is restated. */
  clockBehind(secs: number): void {
    this.#behindSecs = secs
  }

  /** One more shot on target, in the statistics only. */
  shoots(player: Footballer): void {
    this.details.set(player, { ...this.details.get(player), 86: (this.details.get(player)?.[86] ?? 0) + 1 })
  }

  goal(player: Footballer): number {
    return this.#happens(EVENT.goal, player)
  }

  ownGoal(player: Footballer): number {
    return this.#happens(EVENT.ownGoal, player)
  }

  yellow(player: Footballer): number {
    return this.#happens(EVENT.yellow, player)
  }

  red(player: Footballer): number {
    return this.#happens(EVENT.red, player)
  }

  /** The review takes a goal back: its row and its effect on the score are removed. */
  takeBack(eventId: number): void {
    const event = this.#events.find(({ id }) => id === eventId)
    this.#events = this.#events.filter(({ id }) => id !== eventId)
    if (event !== undefined) this.#happens(EVENT.var, event.player)
  }

  get score(): Readonly<Record<Side, number>> {
    const goals = (side: Side): number =>
      this.#events.filter(({ type, player }) =>
        type === EVENT.goal ? player.side === side : type === EVENT.ownGoal && player.side !== side,
      ).length
    return { home: goals('home'), away: goals('away') }
  }

  #happens(type: number, player: Footballer): number {
    this.#happened += 1
    const id = this.id * 1_000 + this.#happened
    const [home, away] = [this.score.home, this.score.away]
    const counts = type === EVENT.goal || type === EVENT.ownGoal
    const forHome = (player.side === 'home') === (type === EVENT.goal)
    const result = counts ? `${home + (forHome ? 1 : 0)}-${away + (forHome ? 0 : 1)}` : null
    this.#events.push({ id, type, player, minute: 1, result })
    return id
  }

  payload(): object {
    const team = (side: Side): number => this.id * 2 + (side === 'home' ? 0 : 1)
    const sides = ['home', 'away'] as const
    const state = { id: this.#stateId, state: this.#state, developer_name: this.#state, name: this.#state }
    const periods = this.#periods.map((period, n) => this.#periodRow(period, n))
    return {
      id: this.id,
      league_id: 1,
      league: { id: 1, name: 'Conformance League' },
      name: this.name,
      state_id: this.#stateId,
      ...(this.isNamed ? { state } : {}),
      starting_at_timestamp: Math.floor(this.#startsAt / 1_000),
      participants: sides.map((side) => ({ id: team(side), name: `Team ${team(side)}`, meta: { location: side } })),
      scores: sides.map((side) => ({
        description: 'CURRENT',
        participant_id: team(side),
        score: { goals: this.score[side], participant: side },
      })),
      periods,
      detailedperiods: periods,
      events: this.#events.map(({ id, type, player, minute, result }) => ({
        id,
        type_id: type,
        period_id: this.id * 10,
        detailed_period_id: this.id * 10,
        participant_id: team(player.side),
        player_id: player.id,
        player_name: player.name,
        related_player_id: null,
        related_player_name: null,
        minute,
        extra_minute: null,
        result,
        addition: type === EVENT.var ? 'Goal Disallowed' : null,
        rescinded: false,
      })),
      statistics: sides.flatMap((side, s) =>
        Object.entries(this.teamStats?.[side] ?? {}).map(([name, value], n) => ({
          id: this.id * 100 + s * 50 + n,
          type_id: 900 + n,
          participant_id: team(side),
          data: { value },
          type: { id: 900 + n, name },
        })),
      ),
      lineups: this.players.map((player) => ({
        player_id: player.id,
        team_id: team(player.side),
        position_id: POSITION_ID[player.role],
        type_id: player.starter ? 11 : 12,
        player_name: player.name,
        jersey_number: player.jersey,
        details: Object.entries(this.details.get(player) ?? {}).map(([type, value]) => ({
          type_id: Number(type),
          data: { value },
        })),
      })),
    }
  }

  #periodRow({ type, startedAt, endedAt }: Period, n: number): object {
    const now = this.#stoppedAt ?? Date.now()
    const elapsed = Math.max(0, Math.floor(((endedAt ?? now) - startedAt) / 1_000) - this.#behindSecs)
    const from = COUNTS_FROM[type] ?? 0
    return {
      id: this.id * 10 + n,
      type_id: type,
      counts_from: from,
      period_length: type === 5 ? 0 : type > 2 ? 15 : 45,
      ticking: endedAt === null,
      sort_order: n + 1,
      minutes: from + Math.floor(elapsed / 60),
      seconds: elapsed % 60,
    }
  }
}

export class Football {
  readonly url: string
  readonly token = TOKEN
  readonly #server: Server
  readonly #fixtures: Fixture[]
  /** Ids of its own for every run, because a settled match is never reopened. */
  readonly #run = Math.floor(Date.now() / 1_000) % 900_000

  private constructor(server: Server, port: number, fixtures: Fixture[]) {
    this.#server = server
    this.url = `http://127.0.0.1:${port}${BASE}`
    this.#fixtures = fixtures
  }

  static async start(port: number): Promise<Football> {
    const fixtures: Fixture[] = []
    const server = createServer((request, response) => {
      const send = (status: number, body: object): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      if (request.headers.authorization !== TOKEN) return send(401, { message: 'Unauthenticated.' })
      const found = wanted(new URL(request.url ?? '/', 'http://provider').pathname, fixtures)
      send(200, found.length === 0 ? { message: 'No result(s) found.' } : { data: found.map((one) => one.payload()) })
    })
    return new Football(server, await listen(server, port), fixtures)
  }

  /** A new fixture. It is not listed as in play until it starts. */
  fixture(): Fixture {
    const n = this.#fixtures.length
    const fixture = new Fixture(100_000_000 + this.#run * 1_000 + n, 1_000_000_000 + this.#run * 100_000 + n * 100)
    this.#fixtures.push(fixture)
    return fixture
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** The fixtures of a path: all in play, by id, or by days of the calendar. */
function wanted(path: string, all: readonly Fixture[]): readonly Fixture[] {
  const fixtures = all.filter(({ isListed }) => isListed)
  if (path === `${BASE}/livescores/inplay`) return fixtures
  const ids = /^\/v3\/football\/fixtures\/(?:multi\/)?([\d,]+)$/.exec(path)?.[1]?.split(',')
  if (ids !== undefined) return fixtures.filter(({ id }) => ids.includes(String(id)))
  return /\/fixtures\/between\//.test(path) ? fixtures : []
}
