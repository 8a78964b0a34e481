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
import { type Beliefs, NO_BELIEFS } from './belief/beliefs.ts'
import { type ClockMemory, isBefore, judgeClock, type RefusedUpdate } from './feed-clock.ts'
import { type FixtureSnapshot, matchMinute, type PlayerRole, type Side } from './fixture.ts'
import { type Around, standingFor, type Told } from './follows.ts'
import { reconcile } from './belief/reconcile.ts'
import { type Incident, isGoal, type MatchNews } from './incidents.ts'
import { excuseFor, type PlayerNews, stillExcused } from './news.ts'
import { type MoveReason, reasonOf } from './move-reason.ts'
import { phaseOf } from './phase.ts'
import { EMPTY_BREAK, followBreak, type LastBreak, playedSecs } from './play-time.ts'
import { type PlayerMemory, refresh, UNSEEN } from './player-memory.ts'
import { discretePoints, parOffset, type ScoringModel, STATISTIC } from './scoring.ts'
import { type Pitch, pitchOf, secsOn, type Spell } from './spells.ts'
import { differencesIn, takenBackOf } from './stated-counts.ts'
import { chanceAfter, type Moment, NOTHING, type Tally, tallyOf, unlistedGoals } from './tally.ts'
import { aheadBy, nextBase } from './target.ts'
import { newsOf } from './update-news.ts'

export type { MatchNews } from './incidents.ts'
export type { PlayerNews } from './news.ts'
export { DEFAULT_MODEL, type ScoringModel } from './scoring.ts'

/** The running statistics of a side: seconds of play at which they moved last, and how often, up to `TOLD_TIMES`. */
interface LastTold {
  readonly secs: number
  readonly times: number
}

/** What pricing remembers between two updates of a match. Plain JSON; with the bases it is all a restart needs. */
export interface PricingMemory extends ClockMemory {
  /** Seconds of play already priced. */
  readonly clockSecs: number
  /** Of the half under way or the break before it: from when, and for how long, no play was priced. */
  readonly lastBreak: LastBreak
  /** Goals that the odds expected of each side before kick-off; null when there were none. */
  readonly expectedGoals: Readonly<Record<Side, number>> | null
  /** What players are worth over a season, by player, where it is not their start price. */
  readonly anchors: Readonly<Record<string, Price>>
  readonly incidents: readonly Incident[]
  readonly told: Readonly<Record<Side, LastTold>>
  /** Seconds of play at which a side was first known to have conceded goals that the list does not tell. */
  readonly conceded: Readonly<Record<Side, readonly number[]>>
  readonly beliefs: Beliefs
  readonly players: Readonly<Record<string, PlayerMemory>>
}

export const EMPTY_PRICING: PricingMemory = {
  clock: null,
  behind: null,
  clockSecs: 0,
  lastBreak: EMPTY_BREAK,
  expectedGoals: null,
  anchors: {},
  incidents: [],
  told: { home: { secs: 0, times: 0 }, away: { secs: 0, times: 0 } },
  conceded: { home: [], away: [] },
  beliefs: NO_BELIEFS,
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
  /** Why the update was not taken, or null; then memory and bases are unchanged. */
  readonly refused: RefusedUpdate | null
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
  const { refused, clock, behind } = judgeClock(snapshot, memory)
  if (refused !== null) return { refused, ...unchanged, memory: { ...memory, behind } }
  // There is nothing to price before kick-off, in an unknown state, or without a clock or line-ups.
  const unpriced = phase === 'scheduled' || phase === 'frozen' || phase === 'off'
  if (unpriced || snapshot.periods.length === 0 || snapshot.players.length === 0) {
    return { refused, ...unchanged, memory: { ...memory, expectedGoals, behind } }
  }

  // The clock stops in a break even if the payload still ticks; the difference is priced when play resumes.
  const isPaused = phase === 'break' && memory.clock !== null
  // It goes back only where it is the earlier clock that was wrong: a period that has ended says how long it was.
  const isLater = clock !== null && memory.clock !== null && clock.period > memory.clock.period
  const isCorrected = isLater || (clock !== null && memory.clock !== null && isBefore(clock, memory.clock))
  const secs = isCorrected ? playedSecs(snapshot.periods) : Math.max(memory.clockSecs, playedSecs(snapshot.periods))
  const clockSecs = isPaused ? memory.clockSecs : secs
  const { incidents, news, cancelled } = reconcile(snapshot, memory.incidents, clockSecs)
  const isOver = phase === 'ended' || phase === 'final'
  const after = sceneOf({ snapshot, secs: clockSecs, isOver }, incidents, isOver ? memory.incidents : incidents, model)
  const before = sceneOf({ snapshot, secs: memory.clockSecs, isOver: false }, memory.incidents, memory.incidents, model)
  const cast = castOf(after, players, memory, model)
  const told = { home: toldOfSide(cast, 'home', memory, clockSecs), away: toldOfSide(cast, 'away', memory, clockSecs) }
  const earlier = aroundOf(before, { ...memory, cast }, 'before', model)
  const around = aroundOf(after, { ...memory, cast, told }, 'now', model)
  const beforehand = { anchors: memory.anchors, expectedGoals }
  const lastBreak = followBreak(memory.lastBreak, isPaused, snapshot.sourceAt)
  const remembered: Record<string, PlayerMemory> = { ...memory.players }
  const reasons = new Map<PlayerId, MoveReason>()
  const arrived = { snapshot, incidents, remembered: memory.incidents, news, clockSecs, isPaused, lastBreak }
  const { playerNews, unsettled } = newsOf(cast, arrived)
  for (const seen of cast) {
    const { playerId } = seen.player
    remembered[playerId] = seen.now
    const { base, reason, isCapped } = movedOf(seen, { before, after, earlier, around }, beforehand, model)
    bases.set(playerId, base)
    if (reason !== null) reasons.set(playerId, reason)
    if (isCapped) unsettled.add(playerId)
  }
  for (const player of unplayed(after, players)) {
    const base = nextBase(player, 0, model)
    bases.set(player.playerId, base)
    reasons.set(player.playerId, { event: null, byEvent: 0, byMinutes: base - player.base, byStatistics: 0 })
    delete remembered[player.playerId]
  }
  return {
    refused,
    memory: {
      ...memory,
      clock,
      behind,
      clockSecs,
      lastBreak,
      expectedGoals,
      incidents,
      told,
      conceded: around.concededAt,
      players: remembered,
    },
    bases,
    reasons,
    news,
    cancelled,
    playerNews,
    unsettled,
  }
}

/** The list of events as it stood at a moment, and who was on the pitch. */
interface Scene {
  readonly moment: Moment
  readonly incidents: readonly Incident[]
  readonly pitch: Pitch
  readonly tally: ReadonlyMap<PlayerId, Tally>
}

/** `changes` has the substitutions: those that come with the whistle or later move no settlement. */
function sceneOf(
  moment: Moment,
  incidents: readonly Incident[],
  changes: readonly Incident[],
  model: ScoringModel,
): Scene {
  const isChange = ({ kind }: Incident): boolean => kind === 'substitution'
  const rows =
    changes === incidents
      ? incidents
      : [...incidents.filter((row) => !isChange(row)), ...changes.filter((row) => isChange(row))]
  const pitch = pitchOf(moment.snapshot, rows, moment.secs)
  return { moment, incidents, pitch, tally: tallyOf(moment, incidents, pitch, model) }
}

/** The players whose prices the update can move. */
function castOf(
  { moment: { snapshot }, pitch, tally }: Scene,
  players: readonly PricedPlayer[],
  memory: PricingMemory,
  model: ScoringModel,
): readonly Seen[] {
  const listed = new Map(players.map((p) => [p.playerId, p]))
  return snapshot.players.flatMap(({ playerId, side, details }) => {
    const [player, spells] = [listed.get(playerId), pitch.spells.get(playerId)]
    if (player === undefined || spells === undefined) return []
    const before = memory.players[playerId] ?? UNSEEN
    // No more errors have led to a goal than there were goals.
    const goals = snapshot[side === 'home' ? 'away' : 'home'].goals ?? Infinity
    const errors = Math.min(details?.[STATISTIC.errors] ?? 0, goals)
    const possible = details && { ...details, [STATISTIC.errors]: errors }
    const stated = refresh(before, possible, { role: player.role, minutes: secsOn(spells) / 60 }, model)
    const fromList = (tally.get(playerId) ?? NOTHING).listed
    const now = { ...stated, listed: fromList, takenBack: takenBackOf(before, fromList, stated.counts) }
    const excused = stillExcused(player.role, { listed: fromList, stated: now.counts, excused: before.excused })
    return [{ player: { ...player, side }, spells, before, now: { ...now, excused } }]
  })
}

/** Those who have moved, and turn out not to have played: the list or the line-up that brought them on was wrong. */
function unplayed({ moment, pitch }: Scene, players: readonly PricedPlayer[]): readonly PricedPlayer[] {
  const isRated = (id: PlayerId): boolean =>
    moment.snapshot.players.some(
      ({ playerId, details }) => playerId === id && details?.[STATISTIC.rating] !== undefined,
    )
  return players.filter((one) => one.base !== one.start && !pitch.spells.has(one.playerId) && !isRated(one.playerId))
}

type When = 'before' | 'now'

function toldOf({ tally }: Scene, seen: Seen, when: When): Told {
  const { role, side, playerId } = seen.player
  const { volume, rating, first, counts: stated, takenBack } = seen[when]
  const own = tally.get(playerId) ?? NOTHING
  const rated =
    rating === null || first === null ? null : { value: rating, first: first.rating, firstMinutes: first.minutes }
  return { role, side, volume, rated, tally: own, takenBack, differences: differencesIn(own, stated, takenBack) }
}

/** When the running statistics of a side moved last. */
function toldOfSide(cast: readonly Seen[], of: Side, { told }: PricingMemory, secs: number): LastTold {
  const isMoved = ({ before, now }: Seen): boolean => now.volume !== before.volume || now.rating !== before.rating
  const isTold = cast.some((seen) => seen.player.side === of && isMoved(seen))
  return isTold ? { secs, times: Math.min(TOLD_TIMES, told[of].times + 1) } : told[of]
}

/** Statistics that have moved so often are told as play goes on, not now and then. */
const TOLD_TIMES = 30
/** No side plays for so long without a pass, a duel or a rating that moves: its statistics are told no longer. */
const TOLD_FOR_SECS = 300

/** What the match says around each player. */
function aroundOf(
  scene: Scene,
  { cast, told, conceded: known }: { readonly cast: readonly Seen[] } & Pick<PricingMemory, 'told' | 'conceded'>,
  when: When,
  model: ScoringModel,
): Around {
  const { snapshot, isOver } = scene.moment
  const conceded = { home: { owed: 0, takenBack: 0, ahead: 0 }, away: { owed: 0, takenBack: 0, ahead: 0 } }
  const missed = { home: { all: 0, owed: 0 }, away: { all: 0, owed: 0 } }
  const assists = { home: { listed: 0, ahead: 0 }, away: { listed: 0, ahead: 0 } }
  for (const seen of cast) {
    const { side, role } = seen.player
    const { differences, takenBack, tally } = toldOf(scene, seen, when)
    missed[side].owed += differences.owed.penalty_missed ?? 0
    missed[side].all += (tally.listed.penalty_missed ?? 0) + (differences.ahead.penalty_missed ?? 0)
    assists[side].listed += tally.listed.assist ?? 0
    assists[side].ahead += differences.ahead.assist ?? 0
    if (role !== 'GK') continue
    conceded[side].owed += differences.owed.conceded ?? 0
    conceded[side].takenBack += takenBack.conceded ?? 0
    conceded[side].ahead += differences.ahead.conceded ?? 0
  }
  const unlisted = (side: Side): number => unlistedGoals(snapshot, side, scene.incidents)
  const concededAt = (side: Side): readonly number[] => {
    const goals = Math.min(conceded[side].ahead, unlisted(side === 'home' ? 'away' : 'home'))
    return Array.from({ length: goals }, (_, n) => known[side][n] ?? scene.moment.secs)
  }
  const unassisted = (side: Side): number => {
    const { listed, ahead } = assists[side]
    return ahead > (snapshot[side].goals ?? Infinity) - listed ? 0 : ahead
  }
  const toldUntil = (side: Side): number => (told[side].times < TOLD_TIMES ? Infinity : told[side].secs + TOLD_FOR_SECS)
  return {
    isStated: cast.some((seen) => seen[when].volume !== 0),
    toldUntil: { home: toldUntil('home'), away: toldUntil('away') },
    concededAt: { home: concededAt('home'), away: concededAt('away') },
    unlisted: { home: unlisted('home'), away: unlisted('away') },
    // A list that never shows goals will not take one back.
    standsUnlisted: isOver || !scene.incidents.some(({ kind }) => isGoal(kind)) ? 1 : chanceAfter(0, model.review),
    conceded,
    missed,
    assists: { home: unassisted('home'), away: unassisted('away') },
  }
}

/** A player who is or was on the pitch, with what is known of them before and after an update. */
interface Seen {
  readonly player: PricedPlayer
  readonly spells: readonly Spell[]
  readonly before: PlayerMemory
  readonly now: PlayerMemory
}

interface Scenes {
  readonly before: Scene
  readonly after: Scene
  readonly earlier: Around
  readonly around: Around
}

/** Where the base of a player goes, and why. */
function movedOf(
  seen: Seen,
  { before, after, earlier, around }: Scenes,
  { anchors, expectedGoals }: Pick<PricingMemory, 'anchors' | 'expectedGoals'>,
  model: ScoringModel,
) {
  const { player } = seen
  const { role, side, playerId, start } = player
  const standing = standingFor(toldOf(after, seen, 'now'), around, seen.spells, after.pitch.men, model)
  const usual = discretePoints(model, role, model.expected[role])
  const anchor = anchors[playerId] ?? start
  const expectation = { role, points: usual + parOffset(model, { role, side, anchor }, expectedGoals) }
  const x = aheadBy(standing, expectation, model)
  const base = nextBase(player, x, model)
  const spells = before.pitch.spells.get(playerId) ?? []
  const was = standingFor(toldOf(before, seen, 'before'), earlier, spells, before.pitch.men, model)
  const minute = matchMinute(after.moment.snapshot.periods) ?? 0
  const list = { incidents: after.incidents, remembered: before.incidents, minute }
  const move = { ...player, from: player.base, to: base, before: was, now: standing, expectation }
  return { base, reason: reasonOf(move, list, model), isCapped: nextBase({ ...player, base }, x, model) !== base }
}

/** The memory with what newly listed players are worth over a season. */
export function withAnchors(memory: PricingMemory, anchors: PricingMemory['anchors']): PricingMemory {
  return Object.keys(anchors).length === 0 ? memory : { ...memory, anchors: { ...memory.anchors, ...anchors } }
}

/** The odds as they were at kick-off. Odds of a match in play would be news. */
const oddsBefore = (memory: PricingMemory, snapshot: FixtureSnapshot): PricingMemory['expectedGoals'] =>
  memory.clock === null ? (snapshot.expectedGoals ?? memory.expectedGoals) : memory.expectedGoals

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
