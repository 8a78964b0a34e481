/**
 * Live base prices from the state of a match. Everything is recomputed from the current snapshot, in levels rather than
 * increments, so what the provider takes back the price takes back too.
 *
 *   D  = points of goals, assists, cards, goals conceded while on the pitch        Dp = what was expected of them
 *   V  = points of shots, passes, tackles, saves, …                                Vp = what was expected of them
 *   S  = V − Vp and the rating
 *   target = start × e^(bound × tanh(x / bound)),  x = scale × (D − Dp + S) / 100
 *
 * What is known is in the price at once. A smoothed price would show where it goes next.
 */
import type { PlayerId } from '../kernel/ids.ts'
import type { Price } from '../kernel/micros.ts'
import {
  type FixturePeriod,
  type FixturePlayer,
  type FixtureSnapshot,
  matchMinute,
  type PlayerRole,
  type Side,
} from './fixture.ts'
import { counts, type Incident, isGoal, type MatchNews, reconcile, scoringSide } from './incidents.ts'
import {
  type Differences,
  differencesOf,
  excuseFor,
  isNews,
  namedBy,
  type PlayerNews,
  rowsBehind,
  stillExcused,
  type ReportedCounts,
} from './news.ts'
import { type MoveReason, reasonOf } from './move-reason.ts'
import { phaseOf } from './phase.ts'
import {
  EMPTY_BREAK,
  followBreak,
  isBeforeBreak,
  minuteStart,
  playedSecs,
  playedSecsAt,
  type LastBreak,
} from './play-time.ts'
import {
  type Counts,
  type DiscreteAction,
  discretePoints,
  parOffset,
  type ScoringModel,
  STATISTIC,
  volumePoints,
} from './scoring.ts'
import { countsIn, countsNotListed } from './stated-counts.ts'
import { aheadBy, nextBase, type Standing } from './target.ts'

export type { MatchNews } from './incidents.ts'
export type { PlayerNews } from './news.ts'
export { DEFAULT_MODEL, type ScoringModel } from './scoring.ts'

/** A player as last seen, for updates without the player's statistics. */
interface PlayerMemory {
  /** Points of the running statistics. */
  readonly volume: number
  readonly rating: number | null
  /** Discrete actions according to the statistics; used only where the list of events has none. */
  readonly counts: Counts
  /** Discrete actions according to the list of events. */
  readonly listed: Counts
  /** Differences between the two that no longer hold anything up. */
  readonly excused: Differences
}

/** A reading of the match clock: a period, and the seconds played in it. */
interface MatchClock {
  readonly period: number
  readonly elapsedSecs: number
}

/** What pricing remembers between two updates of a match. Plain JSON; with the bases it is all a restart needs. */
export interface PricingMemory {
  /** The match clock in the last accepted update; null before kick-off. */
  readonly clock: MatchClock | null
  /** Consecutive updates whose clock was behind that one but moved forward: the latest clock, and their number. */
  readonly behind: { readonly clock: MatchClock; readonly updates: number } | null
  /** Seconds of play already priced. */
  readonly clockSecs: number
  /** Of the half under way or the break before it: from when, and for how long, no play was priced. */
  readonly lastBreak: LastBreak
  /** Goals that the odds expected of each side before kick-off; null when there were none. */
  readonly expectedGoals: Readonly<Record<Side, number>> | null
  readonly incidents: readonly Incident[]
  readonly players: Readonly<Record<string, PlayerMemory>>
}

export const EMPTY_PRICING: PricingMemory = {
  clock: null,
  behind: null,
  clockSecs: 0,
  lastBreak: EMPTY_BREAK,
  expectedGoals: null,
  incidents: [],
  players: {},
}

export interface PricedPlayer {
  readonly playerId: PlayerId
  readonly side: Side
  readonly role: PlayerRole
  /** The base at the start of the match. */
  readonly start: Price
  /** The base of the last tick. */
  readonly base: Price
}

export interface Pricing {
  /** False for an update older than the last one; then memory and bases are unchanged. */
  readonly accepted: boolean
  readonly memory: PricingMemory
  /** The new base of every listed player. */
  readonly bases: ReadonlyMap<PlayerId, Price>
  /** Why each base that moved did. */
  readonly reasons: ReadonlyMap<PlayerId, MoveReason>
  /** What the list of events shows first. */
  readonly news: readonly MatchNews[]
  /** The first ids of events that counted before and no longer do. */
  readonly cancelled: readonly number[]
  /** The players whom the update shows something new about. */
  readonly playerNews: ReadonlyMap<PlayerId, PlayerNews>
  /**
   * The players whose price does not hold yet all that is known: list and statistics disagree, or the tick was capped.
   */
  readonly unsettled: ReadonlySet<PlayerId>
}

/** When a player was on the pitch, in seconds of match clock. */
interface Spell {
  readonly from: number
  readonly to: number
}

/** A clock that went back and then moved forward for this many updates was corrected: the earlier one had jumped. */
const CORRECTED_AFTER = 6

const UNSEEN: PlayerMemory = { volume: 0, rating: null, counts: {}, listed: {}, excused: {} }

/**
 * The bases after this snapshot. Pure: equal arguments give equal bases at any replay speed, and a match that continues
 * from stored memory and bases is priced as if it had never stopped.
 */
export function priceMatch(
  snapshot: FixtureSnapshot,
  players: readonly PricedPlayer[],
  memory: PricingMemory,
  model: ScoringModel,
): Pricing {
  const expectedGoals = oddsBefore(memory, snapshot)
  const bases = new Map(players.map((p) => [p.playerId, p.base]))
  const unchanged = {
    memory,
    bases,
    reasons: new Map(),
    news: [],
    cancelled: [],
    playerNews: new Map(),
    unsettled: new Set<PlayerId>(),
  }
  const phase = phaseOf(snapshot)
  const clock = matchClockOf(snapshot.periods)
  if (isStale(clock, phase === 'scheduled', memory)) {
    const behind = clock === null ? null : countBehind(clock, memory)
    if (behind === null || behind.updates < CORRECTED_AFTER) {
      return { accepted: false, ...unchanged, memory: { ...memory, behind } }
    }
  }
  // There is nothing to price before kick-off, in an unknown state, or without a clock or line-ups.
  const unpriced = phase === 'scheduled' || phase === 'frozen' || phase === 'off'
  if (unpriced || clock === null || snapshot.players.length === 0) {
    return { accepted: true, ...unchanged, memory: { ...memory, expectedGoals, behind: null } }
  }

  // The clock stops in a break even if the payload still ticks; the difference is priced when play resumes.
  const isPaused = phase === 'break' && memory.clock !== null
  const clockSecs = isPaused ? memory.clockSecs : Math.max(memory.clockSecs, playedSecs(snapshot.periods))
  const { incidents, news, cancelled } = reconcile(snapshot, memory.incidents)
  const remembered: Record<string, PlayerMemory> = { ...memory.players }
  const spells = spellsOf(snapshot, incidents, clockSecs)
  const tally = tallyOf(snapshot, incidents, spells, clockSecs)
  const listed = new Map(players.map((p) => [p.playerId, p]))
  const playerNews = new Map<PlayerId, PlayerNews>()
  const unsettled = new Set<PlayerId>()
  const behind = new Set<Side>()
  const reasons = new Map<PlayerId, MoveReason>()
  const spellsBefore = spellsOf(snapshot, memory.incidents, memory.clockSecs)
  const list = { incidents, remembered: memory.incidents, minute: matchMinute(snapshot.periods) ?? 0 }
  const lastBreak = followBreak(memory.lastBreak, isPaused, snapshot.sourceAt)
  for (const seen of snapshot.players) {
    const player = listed.get(seen.playerId)
    const spell = spells.get(seen.playerId)
    if (player === undefined || spell === undefined) continue
    const before = memory.players[seen.playerId] ?? UNSEEN
    const now = refresh(before, seen.details, player.role, model)
    const fromList = tally.get(seen.playerId) ?? {}
    const standing = standingOf({ ...now, listed: fromList }, incidents, spell)
    const usual = discretePoints(model, player.role, model.expected[player.role])
    const expectation = { role: player.role, points: usual + parOffset(model, player, expectedGoals) }
    const x = aheadBy(standing, expectation, model)
    const base = nextBase(player, x, model)
    bases.set(seen.playerId, base)
    const was = standingOf(before, memory.incidents, spellsBefore.get(seen.playerId))
    const move = { ...player, from: player.base, to: base, before: was, now: standing, expectation }
    const reason = reasonOf(move, list, model)
    if (reason !== null) reasons.set(seen.playerId, reason)

    const reported: ReportedCounts = { listed: fromList, stated: now.counts, excused: before.excused }
    const excused = stillExcused(player.role, reported)
    remembered[seen.playerId] = { ...now, listed: fromList, excused }
    const differences = differencesOf(player.role, reported)
    if (differences.conceded !== undefined) behind.add(seen.side)
    if (Object.keys(differences).length > 0 || nextBase({ ...player, base }, x, model) !== base)
      unsettled.add(seen.playerId)
    const named = namedBy(news, seen.playerId)
    if (named === null && !isNews(player.role, { ...before, stated: before.counts }, reported)) continue
    const concerned = { playerId: seen.playerId, role: player.role, side: seen.side }
    const { changed, latest } = rowsBehind(concerned, named, incidents, memory.incidents)
    const [row] = changed
    playerNews.set(seen.playerId, {
      eventId: named?.eventId ?? row?.id ?? latest?.id ?? 0,
      firstIds: changed.map(({ firstId }) => firstId),
      ageSecs: row === undefined ? 0 : clockSecs - minuteStart(row, snapshot.periods, clockSecs),
      pausedMs: row !== undefined && isBeforeBreak(row, snapshot.periods, isPaused) ? lastBreak.ms : 0,
      names: named?.wholeMatch !== true,
    })
  }
  for (const side of behind) {
    const own = snapshot.players.filter((p) => p.side === side && spells.has(p.playerId))
    const ids = (role: PlayerRole) => own.map((p) => p.playerId).filter((id) => listed.get(id)?.role === role)
    waitWithKeeper(ids('GK'), ids('DEF'), playerNews, unsettled)
  }
  return {
    accepted: true,
    memory: { clock, behind: null, clockSecs, lastBreak, expectedGoals, incidents, players: remembered },
    bases,
    reasons,
    news,
    cancelled,
    playerNews,
    unsettled,
  }
}

/** What the price of a player follows; a player who was not on the pitch has played no minutes. */
const standingOf = (
  { counts: stated, listed, volume, rating }: PlayerMemory,
  incidents: readonly Incident[],
  spell: Spell | undefined,
): Standing => ({
  counts: { ...countsNotListed(incidents, stated), ...listed },
  volume,
  rating,
  minutes: spell === undefined ? 0 : (spell.to - spell.from) / 60,
})

/** The odds as they were at kick-off. Odds of a match in play would be news. */
const oddsBefore = (memory: PricingMemory, snapshot: FixtureSnapshot): PricingMemory['expectedGoals'] =>
  memory.clock === null ? (snapshot.expectedGoals ?? memory.expectedGoals) : memory.expectedGoals

/** A side concedes together, and the statistics tell of its keeper only: its defenders wait with them. */
function waitWithKeeper(
  keepers: readonly PlayerId[],
  defenders: readonly PlayerId[],
  playerNews: Map<PlayerId, PlayerNews>,
  unsettled: Set<PlayerId>,
): void {
  const news = keepers.map((id) => playerNews.get(id)).find((one) => one !== undefined)
  for (const id of defenders) {
    unsettled.add(id)
    if (news !== undefined && !playerNews.has(id)) playerNews.set(id, news)
  }
}

/** The memory in which nothing waits any longer for the statistics of these players to agree with the list. */
export function excuse(
  memory: PricingMemory,
  players: readonly Pick<PricedPlayer, 'playerId' | 'role'>[],
): PricingMemory {
  const remembered = { ...memory.players }
  for (const { playerId, role } of players) {
    const player = remembered[playerId]
    if (player === undefined) continue
    const excused = excuseFor(role, { listed: player.listed, stated: player.counts })
    remembered[playerId] = { ...player, excused }
  }
  return { ...memory, players: remembered }
}

function matchClockOf(periods: readonly FixturePeriod[]): PricingMemory['clock'] {
  const current = periods.find((p) => p.ticking) ?? periods.at(-1)
  return current === undefined ? null : { period: current.order, elapsedSecs: current.elapsedSecs }
}

/** Whether the clock went back: within a period, to an earlier one, or to before kick-off. */
function isStale(now: PricingMemory['clock'], scheduled: boolean, { clock: last }: PricingMemory): boolean {
  if (last === null) return false
  if (now === null) return scheduled
  return now.period < last.period || (now.period === last.period && now.elapsedSecs < last.elapsedSecs)
}

/** Counts an update whose clock is behind. A repeated old payload does not move forward, so it counts as the first. */
function countBehind(clock: MatchClock, { behind }: PricingMemory): NonNullable<PricingMemory['behind']> {
  const last = behind?.clock
  const movesForward =
    last !== undefined &&
    (clock.period > last.period || (clock.period === last.period && clock.elapsedSecs > last.elapsedSecs))
  return { clock, updates: movesForward ? (behind?.updates ?? 0) + 1 : 1 }
}

/** Starters from the first second, substitutes from when they came on; until they left, or now. */
function spellsOf(snapshot: FixtureSnapshot, incidents: readonly Incident[], now: number): Map<PlayerId, Spell> {
  const spells = new Map<PlayerId, Spell>()
  for (const p of snapshot.players) if (p.starter) spells.set(p.playerId, { from: 0, to: now })
  const leave = (id: PlayerId | null, at: number): void => {
    const spell = id === null ? undefined : spells.get(id)
    if (id !== null && spell !== undefined)
      spells.set(id, { ...spell, to: Math.max(spell.from, Math.min(spell.to, at)) })
  }
  const changes = incidents
    .filter((i) => counts(i) && (i.kind === 'substitution' || i.kind === 'red' || i.kind === 'second_yellow'))
    .map((i) => ({ ...i, at: playedSecsAt(i, snapshot.periods, now) }))
    .toSorted((a, b) => a.at - b.at)
  for (const change of changes) {
    if (change.kind === 'substitution') {
      leave(change.relatedPlayerId, change.at)
      if (change.playerId !== null) spells.set(change.playerId, { from: change.at, to: now })
    } else leave(change.playerId, change.at)
  }
  return spells
}

/** Actions per player according to the list of events. All players on the pitch concede a goal together. */
function tallyOf(
  snapshot: FixtureSnapshot,
  incidents: readonly Incident[],
  spells: ReadonlyMap<PlayerId, Spell>,
  now: number,
): ReadonlyMap<PlayerId, Counts> {
  const tally = new Map<PlayerId, Partial<Record<DiscreteAction, number>>>()
  const add = (id: PlayerId | null, action: DiscreteAction): void => {
    if (id === null) return
    const own = tally.get(id) ?? {}
    tally.set(id, { ...own, [action]: (own[action] ?? 0) + 1 })
  }
  for (const incident of incidents.filter(counts)) {
    const { kind } = incident
    if (kind === 'substitution' || kind === 'var' || kind === 'var_card') continue
    add(incident.playerId, kind)
    if (!isGoal(kind)) continue
    if (kind === 'goal') add(incident.relatedPlayerId, 'assist')
    const at = playedSecsAt(incident, snapshot.periods, now)
    const scoredBy = scoringSide(incident)
    for (const { playerId, side } of snapshot.players) {
      const spell = spells.get(playerId)
      if (side !== scoredBy && spell !== undefined && spell.from <= at && at <= spell.to) add(playerId, 'conceded')
    }
  }
  return tally
}

/** The player after an update. Without new statistics nothing changes, and a rating once given stays. */
function refresh(
  before: PlayerMemory,
  details: FixturePlayer['details'],
  role: PlayerRole,
  model: ScoringModel,
): PlayerMemory {
  if (details === null) return before
  return {
    ...before,
    volume: rounded(volumePoints(model, role, details)),
    rating: details[STATISTIC.rating] ?? before.rating,
    counts: countsIn(details, role),
  }
}

/** Rounds to millionths of a point, so that stored memory is short and equals the values used. */
const rounded = (points: number): number => Math.round(points * 1e6) / 1e6
