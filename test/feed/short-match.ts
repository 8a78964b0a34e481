/**
 * Short and eventful matches in the provider's format, for many of them in little time: seven players a side, 34 polls,
 * and polls in which nothing but the clock moves.
 */
import { type Chance, chanceFrom } from '../../actors/replay/chance.ts'
import { EVENT, STAT } from '../../actors/replay/generator/match-state.ts'
import { sharing } from '../../actors/replay/sharing.ts'
import { isPayload, type Payload } from '../../ops/tools/provider-mock/draft.ts'

/** Real time from poll to poll, and play in it: almost four times as fast as life. */
export const POLL_MS = 50_000
const POLL_PLAY_SECS = 190
const POLLS_OF_A_HALF = 14
const BREAK_POLLS = 2
const POLLS_AFTER_THE_END = 4
/** In this share of polls only the clock moves. */
const QUIET = 0.4
/** No player is rated before. */
const RATED_FROM_SECS = 600
const BENCH = 2
const RATING = 118

const RUNNING = [STAT.offTarget, STAT.fouls, STAT.tackles, STAT.onTarget, STAT.keyPasses] as const
const POSITIONS = [24, 25, 26, 27, 27, 26, 27]

interface Player {
  readonly id: number
  readonly isHome: boolean
  readonly position: number
  readonly starter: boolean
  readonly stats: Map<number, number>
  isOn: boolean
  wasOn: boolean
}

class ShortMatch {
  readonly #chance: Chance
  readonly #fixture: number
  readonly #players: readonly Player[]
  #events: Record<string, unknown>[] = []
  #nextId: number
  #score = { home: 0, away: 0 }
  readonly #elapsed = [0, 0]

  constructor(seed: number) {
    this.#chance = chanceFrom(seed)
    this.#fixture = 10_000 + (seed % 80_000)
    this.#nextId = this.#fixture * 1_000 + 1
    this.#players = [true, false].flatMap((isHome) =>
      POSITIONS.map((position, n) => {
        const starter = n < POSITIONS.length - BENCH
        const id = this.#fixture * 1_000 + (isHome ? 1 : 11) + n
        return { id, isHome, position, starter, stats: new Map(), isOn: starter, wasOn: starter }
      }),
    )
  }

  play(): readonly Payload[] {
    const frames: Payload[] = []
    // Rows that stay the same are parsed once.
    const show = (payload: Payload): void => {
      const shared = sharing(frames.at(-1), payload)
      frames.push(isPayload(shared) ? shared : payload)
    }
    for (const half of [0, 1]) {
      for (let n = 0; n < POLLS_OF_A_HALF; n += 1) {
        this.#elapsed[half] = 5 + n * POLL_PLAY_SECS
        if (n > 0 && !this.#chance.happens(QUIET)) this.#move(half)
        show(this.#payload(half === 0 ? [2, 'INPLAY_1ST_HALF'] : [22, 'INPLAY_2ND_HALF'], half))
      }
      const after = half === 0 ? BREAK_POLLS : POLLS_AFTER_THE_END
      for (let n = 0; n < after; n += 1) show(this.#payload(half === 0 ? [3, 'HT'] : [5, 'FT'], null))
    }
    return frames
  }

  #on(isHome: boolean): readonly Player[] {
    return this.#players.filter((player) => player.isOn && player.isHome === isHome)
  }

  #one(players: readonly Player[]): Player | null {
    return this.#chance.pick(players, () => 1)
  }

  #move(half: number): void {
    const chance = this.#chance
    for (const player of this.#players.filter(({ isOn }) => isOn)) {
      if (!chance.happens(0.6)) continue
      for (const type of RUNNING) if (chance.happens(0.25)) count(player, type)
      count(player, STAT.passes, 1 + chance.below(8))
      count(player, STAT.accuratePasses, chance.below(2) + 1)
      const rating = player.stats.get(RATING)
      if (rating !== undefined) player.stats.set(RATING, rounded(rating + (chance.uniform() - 0.5) * 0.4))
    }
    if (half === 1 || (this.#elapsed[0] ?? 0) >= RATED_FROM_SECS) this.#rate()
    const isHome = chance.happens(0.5)
    if (chance.happens(0.2)) this.#goal(half, isHome)
    if (chance.happens(0.2)) this.#card(half, isHome)
    if (chance.happens(0.2)) this.#substitute(half, isHome)
    if (chance.happens(0.05)) this.#miss(half, isHome)
    if (chance.happens(0.05)) this.#annul()
  }

  #rate(): void {
    for (const { isOn, stats } of this.#players) {
      if (isOn && !stats.has(RATING)) stats.set(RATING, rounded(6 + this.#chance.uniform()))
    }
  }

  #goal(half: number, isHome: boolean): void {
    const scorer = this.#one(this.#on(isHome).filter(({ position }) => position !== POSITIONS[0]))
    if (scorer === null) return
    const assist = this.#chance.happens(0.5) ? this.#one(this.#on(isHome).filter((one) => one !== scorer)) : null
    count(scorer, STAT.goals)
    if (assist !== null) count(assist, STAT.assists)
    this.#keeper(!isHome)?.stats.set(STAT.conceded, this.#goals(isHome) + 1)
    this.#score[isHome ? 'home' : 'away'] += 1
    this.#report(half, { type_id: EVENT.goal, player: scorer, related: assist, result: this.#result() })
  }

  /** The latest goal does not count after all: row, score and statistics are taken back. */
  #annul(): void {
    const goal = this.#events.findLast((row) => row['type_id'] === EVENT.goal)
    if (goal === undefined) return
    const of = (id: unknown): Player | undefined => this.#players.find((one) => one.id === id)
    const [scorer, assist] = [of(goal['player_id']), of(goal['related_player_id'])]
    if (scorer === undefined) return
    count(scorer, STAT.goals, -1)
    if (assist !== undefined) count(assist, STAT.assists, -1)
    this.#score[scorer.isHome ? 'home' : 'away'] -= 1
    this.#keeper(!scorer.isHome)?.stats.set(STAT.conceded, this.#goals(scorer.isHome))
    this.#events = this.#events.filter((row) => row !== goal)
  }

  #card(half: number, isHome: boolean): void {
    const player = this.#one(this.#on(isHome).filter(({ position }) => position !== POSITIONS[0]))
    if (player === null) return
    const booked = player.stats.has(STAT.yellow)
    if (!booked && !this.#chance.happens(0.1)) {
      count(player, STAT.yellow)
      return this.#report(half, { type_id: EVENT.yellow, player })
    }
    count(player, booked ? STAT.secondYellow : STAT.red)
    player.isOn = false
    this.#report(half, { type_id: booked ? EVENT.secondYellow : EVENT.red, player })
  }

  #substitute(half: number, isHome: boolean): void {
    const off = this.#one(this.#on(isHome).filter(({ position }) => position !== POSITIONS[0]))
    const on = this.#players.find((one) => one.isHome === isHome && !one.starter && !one.wasOn)
    if (off === null || on === undefined) return
    off.isOn = false
    on.isOn = on.wasOn = true
    this.#report(half, { type_id: EVENT.substitution, player: on, related: off })
  }

  #miss(half: number, isHome: boolean): void {
    const taker = this.#one(this.#on(isHome))
    if (taker === null) return
    count(taker, STAT.penaltiesMissed)
    this.#report(half, { type_id: EVENT.penaltyMissed, player: taker, addition: 'Missed Penalty' })
  }

  #keeper(isHome: boolean): Player | undefined {
    return this.#on(isHome).find(({ position }) => position === POSITIONS[0])
  }

  #goals(isHome: boolean): number {
    return this.#score[isHome ? 'home' : 'away']
  }

  #result(): string {
    return `${this.#score.home}-${this.#score.away}`
  }

  #report(
    half: number,
    row: { type_id: number; player: Player; related?: Player | null; result?: string; addition?: string },
  ): void {
    const { player, related = null } = row
    this.#events.push({
      id: this.#nextId,
      period_id: this.#fixture * 10 + half + 1,
      detailed_period_id: this.#fixture * 10 + half + 1,
      participant_id: this.#team(player.isHome),
      type_id: row.type_id,
      player_id: player.id,
      player_name: nameOf(player),
      related_player_id: related?.id ?? null,
      related_player_name: related === null ? null : nameOf(related),
      result: row.result ?? null,
      info: null,
      addition: row.addition ?? null,
      minute: half * 45 + Math.floor((this.#elapsed[half] ?? 0) / 60) + 1,
      extra_minute: null,
      rescinded: null,
      sort_order: this.#events.length + 1,
    })
    this.#nextId += 1
  }

  #team(isHome: boolean): number {
    return this.#fixture * 10 + (isHome ? 1 : 2)
  }

  /** `running`: the half whose clock ticks, or null in a break and after the match. */
  #payload([stateId, state]: readonly [number, string], running: number | null): Payload {
    const sides = [true, false] as const
    const periods = this.#elapsed.flatMap((elapsed, half) => (elapsed === 0 ? [] : [this.#period(half, running)]))
    return {
      id: this.#fixture,
      league_id: 8,
      league: { id: 8, name: 'Synthetic League' },
      state_id: stateId,
      state: { id: stateId, state, name: state, short_name: state, developer_name: state },
      name: 'Harbour vs Mill',
      starting_at: '2026-08-22 15:00:00',
      starting_at_timestamp: 1_787_410_800,
      participants: sides.map((isHome) => ({
        id: this.#team(isHome),
        name: isHome ? 'Harbour' : 'Mill',
        meta: { location: isHome ? 'home' : 'away' },
      })),
      scores: sides.map((isHome) => ({
        participant_id: this.#team(isHome),
        description: 'CURRENT',
        score: { goals: this.#goals(isHome), participant: isHome ? 'home' : 'away' },
      })),
      periods,
      events: this.#events.map((row) => ({ ...row })),
      statistics: sides.map((isHome) => ({
        participant_id: this.#team(isHome),
        type_id: STAT.goals,
        data: { value: this.#goals(isHome) },
        type: { name: 'Goals' },
      })),
      lineups: this.#players.map((player, n) => ({
        player_id: player.id,
        team_id: this.#team(player.isHome),
        position_id: player.position,
        type_id: player.starter ? 11 : 12,
        player_name: nameOf(player),
        jersey_number: n + 1,
        details: [...player.stats].map(([type, value]) => ({ type_id: type, data: { value } })),
      })),
    }
  }

  #period(half: number, running: number | null): unknown {
    const elapsed = this.#elapsed[half] ?? 0
    return {
      id: this.#fixture * 10 + half + 1,
      type_id: half + 1,
      counts_from: half * 45,
      ticking: half === running,
      sort_order: half + 1,
      period_length: 45,
      minutes: half * 45 + Math.floor(elapsed / 60),
      seconds: elapsed % 60,
    }
  }
}

const nameOf = ({ id }: Player): string => `Player ${id % 1_000}`
const rounded = (rating: number): number => Math.max(4, Math.min(9.5, Math.round(rating * 100) / 100))

/** A count that falls to nothing stays in the list, as 0. */
function count({ stats }: Player, type: number, by = 1): void {
  stats.set(type, Math.max(0, (stats.get(type) ?? 0) + by))
}

/** The match that a seed gives: its polls. */
export const shortMatch = (seed: number): readonly Payload[] => new ShortMatch(seed).play()
