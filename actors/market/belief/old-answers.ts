/** Empties answers that are old or of others, and makes whole the statistics that a provider has reset. */
import type { PlayerId } from '../../kernel/ids.ts'
import { type Instant, SECOND_MS } from '../../kernel/world.ts'
import {
  type FixturePeriod,
  type FixturePlayer,
  type FixtureSnapshot,
  type SaidFixture,
  type Side,
  SIDES,
} from '../fixture.ts'
import { isRegularEnd, phaseOf } from '../phase.ts'
import { STATISTIC } from '../scoring.ts'
import { counts, type Incident } from '../incidents.ts'
import {
  canFollow,
  clockCanFollow,
  type Details,
  DISCRETE,
  GAP_MINUTES,
  isBeyond,
  isCount,
  secsIn,
  secsSince,
} from './plausible.ts'
import { textOf } from './exchanged.ts'
import { isSame } from './rows.ts'

/** A half, or extra time, that a provider began by mistake is taken back before this. */
const BEGUN_SECS = 300
const EXTRA_SECS = 60

/**
 * The answer, emptied if it is of another match: if neither its teams nor its players are known. Or if it is old: if it
 * shows a break, or the end of 90 minutes, and lacks a period that has been played since. The clock of an old one does
 * not move, so it does not show its age, and a second such answer would confirm what the first one lacks: goals, cards,
 * statistics. A minute of them would settle the match.
 */
export function withoutOld(said: SaidFixture, known: Met, before: readonly FixturePeriod[]): SaidFixture {
  const { periods } = said
  const last = Math.max(0, ...periods.map(({ order }) => order))
  const isAfter = ({ order, elapsedSecs }: FixturePeriod): boolean => elapsedSecs > BEGUN_SECS && order > last
  const isExtra = ({ kind, elapsedSecs }: FixturePeriod): boolean => kind === 'extra_time' && elapsedSecs > EXTRA_SECS
  const isBreak = phaseOf({ ...said, periods }) === 'break' && before.some(isAfter)
  const isEnd = isRegularEnd(said) && periods.every(({ order }) => order <= REGULAR) && before.some(isExtra)
  const isOld = last > 0 && (isBreak || isEnd)
  return isOld || isOfAnother(said, known) ? emptied(said) : said
}

function emptied(said: SaidFixture): SaidFixture {
  const { home, away } = said
  const silent = { state: null, stateId: null, periods: [], events: null, players: [], teamStats: null }
  return { ...said, ...silent, home: { ...home, goals: null }, away: { ...away, goals: null } }
}

type Met = Pick<FixtureSnapshot, Side> & { readonly squad: readonly Pick<FixturePlayer, 'playerId'>[] }

function isOfAnother({ players, ...said }: SaidFixture, { squad, home, away }: Met): boolean {
  const [teams, ids] = [new Set([home.id, away.id]), new Set(squad.map(({ playerId }) => playerId))]
  const isKnown =
    teams.has(said.home.id) || teams.has(said.away.id) || players.some(({ playerId }) => ids.has(playerId))
  return squad.length > 0 && !isKnown
}

/** What was known of the match, and when. */
interface Seen extends Pick<FixtureSnapshot, Side> {
  readonly incidents?: readonly Incident[]
  readonly sourceAt?: Instant | null
  readonly replay?: boolean
}

/** Rows that are known: fewer may all have been wrong. */
const ROWS_MIN = 2

/**
 * The answer, emptied if it is of another match of the same teams: if it lists rows and none of those that are known,
 * or if it shows an end that play cannot have reached since the last answer. With the score that was known a second
 * answer confirms the end: the clock may have stood still.
 */
export function withoutOther(said: SaidFixture, seen: Seen, before: readonly FixturePeriod[], withheld: number) {
  const isSameScore = SIDES.every((side) => said[side].goals === null || said[side].goals === seen[side].goals)
  const isOther = isOfOtherRows(said, seen) || (isLeapToEnd(said, seen, before) && !(isSameScore && withheld > 0))
  if (!isOther || withheld === WITHHELD_MAX) return { said, withheld: isOther ? withheld : 0 }
  return { said: emptied(said), withheld: withheld + 1 }
}

function isOfOtherRows({ events, players }: SaidFixture, { incidents = [] }: Seen): boolean {
  const rows = events?.filter((row) => players.some(({ playerId }) => playerId === row.playerId)) ?? []
  const known = incidents.filter((fact) => counts(fact) && fact.playerId !== null)
  const isTold = (fact: Incident): boolean => events?.some((row) => row.id === fact.id || isSame(fact, row)) === true
  return known.length >= ROWS_MIN && rows.length > 0 && !known.some(isTold)
}

function isLeapToEnd(said: SaidFixture, { replay = false, sourceAt }: Seen, before: readonly FixturePeriod[]): boolean {
  const phase = phaseOf({ ...said, periods: [] })
  if (replay || before.length === 0 || (phase !== 'ended' && phase !== 'final')) return false
  const now = said.periods.map(({ kind, elapsedSecs }) => ({
    elapsedSecs: kind === 'penalties' ? 0 : (elapsedSecs ?? 0),
  }))
  return !clockCanFollow(secsIn(before), secsIn(now), secsSince(said, sourceAt))
}

/** A match that kicks off so much later than it did is played again. */
const AGAIN_SECS = 6 * 3_600

/**
 * The answer, as one that puts the match off, if its first half has begun again at a later kick-off: a match that was
 * stopped may be played from the beginning another day.
 */
export function withoutReplayed(
  said: SaidFixture,
  { startsAt, replay = false }: Pick<FixtureSnapshot, 'startsAt'> & Pick<Seen, 'replay'>,
  before: readonly FixturePeriod[],
): SaidFixture {
  const { periods } = said
  const secs = periods.reduce((sum, { elapsedSecs }) => sum + (elapsedSecs ?? 0), 0)
  const isAgain = periods.length > 0 && periods.every(({ order }) => order === 1) && secs + BEGUN_SECS < secsIn(before)
  const isLater =
    !replay && phaseOf(said) === 'live' && (said.startsAt ?? startsAt) - startsAt >= AGAIN_SECS * SECOND_MS
  return isAgain && isLater ? { ...emptied(said), startsAt, state: 'POSTPONED' } : said
}

/** The halves of 90 minutes. */
const REGULAR = 2

/** A half that is listed up to this much too short may have been played. */
const SHORT_SECS = 600

/** Answers in a row that are not believed when they show the end of a shoot-out too early. */
const EARLY_MAX = 2
const FT_PEN = 8

/**
 * Whether a shoot-out has decided a match whose second half was not played, by this answer or an earlier one: one
 * mistake would settle it.
 */
export function isShootoutTooEarly(
  { periods, state, stateId }: SaidFixture,
  before: readonly FixturePeriod[],
  { replay = false }: Pick<Seen, 'replay'>,
  withheld: number,
): boolean {
  const isDecided = state === null ? stateId === FT_PEN : state === 'FT_PEN'
  const isPlayed = ({ order, length, elapsedSecs }: SaidFixture['periods'][number]): boolean =>
    order >= REGULAR && (elapsedSecs ?? Infinity) >= length * 60 - SHORT_SECS
  const all = [...periods, ...before]
  return !replay && isDecided && all.length > 0 && !all.some(isPlayed) && withheld < EARLY_MAX
}

/** The periods with the last one running: so an end closes the market, and settles nothing. */
export function withLastRunning(periods: readonly FixturePeriod[]): readonly FixturePeriod[] {
  const last = Math.max(...periods.map(({ order }) => order))
  return periods.map((one) => (one.order === last ? { ...one, ticking: true } : one))
}

/** Counts by player that a provider no longer tells: it has begun again at zero. */
export type Untold = Readonly<Record<string, Details>>

type Counted = Pick<FixturePlayer, 'playerId' | 'side' | 'details'>

/** Both teams together: fewer actions than these tell nothing. */
const MANY = 20
/** What a team has done together rises by chance alike in all its players, while it is little. */
const MANY_OF_A_TEAM = 100
/** What a team must have done to begin again. */
const FEW = 5
/** A provider that has begun again tells at most this share of what it told, and of each team twice as much. */
const BEGUN_AGAIN = 0.2
/** And where it has done so for one team alone: more may be of some minutes ago. */
const BEGUN_ALONE = 0.05
/** And at most this many counts a player. */
const BEGUN_MEAN = 10
/** Nearly all of what it had not told. */
const WHOLE = 0.8

/** An answer with the counts that each team no longer tells: a provider may begin again with one alone. */
export function withUntold(said: SaidFixture, squad: readonly Counted[], untold: Untold, withheld: number) {
  const told = pairsIn(said, squad).filter(({ isTold }) => isTold)
  const since = told.reduce((sum, { playerId, type, before }) => sum + before - (untold[playerId]?.[type] ?? 0), 0)
  const share = sumOf(told, 'now') <= BEGUN_AGAIN * since ? 2 * BEGUN_AGAIN : BEGUN_ALONE
  const sideOf = new Map(squad.map(({ playerId, side }) => [playerId, side]))
  const teams = SIDES.map((side) => {
    const players = said.players.filter((one) => (sideOf.get(one.playerId) ?? one.side) === side)
    const known = squad.filter((one) => one.side === side)
    const own = known.flatMap(({ playerId }) => (untold[playerId] === undefined ? [] : [[playerId, untold[playerId]]]))
    return withUntoldOf({ ...said, players }, known, Object.fromEntries(own) as Untold, {
      share,
      whole: withheld === WITHHELD_MAX ? 0 : WHOLE,
    })
  })
  const heard = new Map(teams.flatMap((team) => team.said.players.map((one) => [one.playerId, one])))
  const players = said.players.map((one) => heard.get(one.playerId) ?? one)
  return { said: { ...said, players }, untold: Object.assign({}, ...teams.map((team) => team.untold)) as Untold }
}

/** The same of one team. The first answer that begins again says nothing of its counts. */
function withUntoldOf(
  said: SaidFixture,
  squad: readonly Counted[],
  untold: Untold,
  { share, whole: limit }: { readonly share: number; readonly whole: number },
) {
  const isBegun = Object.keys(untold).length > 0
  const told = pairsIn(said, squad).filter(({ isTold }) => isTold)
  const [was, is] = [sumOf(told, 'before'), sumOf(told, 'now')]
  const own = ({ playerId, type }: Pair): number => untold[playerId]?.[type] ?? 0
  const from = told.reduce((sum, pair) => sum + own(pair), 0)
  const since = was - from
  // A provider that tells nothing at all for a while has not begun once more, nor one that tells of all players alike.
  const isLittle = is <= share * since && is <= BEGUN_MEAN * said.players.length
  if (since >= FEW && isLittle && !(isBegun && is === 0) && !areAlike(said)) {
    const idsOf = (pairs: readonly Pair[]) => new Set(pairs.map(({ playerId }) => playerId))
    const fallen = idsOf(told.filter(({ before, now }) => now < before))
    const stays = idsOf(told.filter(({ playerId, before }) => before > 0 && !fallen.has(playerId)))
    const begun = squad.flatMap(({ playerId, details }) =>
      details === null || stays.has(playerId) ? [] : [[playerId, countsOf(details)]],
    )
    return { said: withoutCounts(said, squad), untold: Object.fromEntries(begun) as Untold }
  }
  // Where all is told again, adding takes it further from what is known by nearly as much.
  const further = told.reduce(
    (sum, pair) => sum + Math.abs(pair.now + own(pair) - pair.before) - Math.abs(pair.now - pair.before),
    0,
  )
  if (!isBegun || further > limit * from) return { said, untold: {} }
  if (is === 0) return { said: withoutCounts(said, squad), untold }
  const whole = (details: Details, playerId: PlayerId): Details => {
    const sums = Object.entries(details).map(([type, n]) => [type, n + (untold[playerId]?.[Number(type)] ?? 0)])
    return { ...factsOf(untold[playerId] ?? {}), ...Object.fromEntries(sums) }
  }
  return { said: withDetails(said, whole), untold }
}

/** No more players than these do the same. */
const ALIKE_MAX = 4

function areAlike({ players }: SaidFixture): boolean {
  const told = players.map(({ details }) => textOf(details ?? {})).filter((text) => text !== '')
  return told.length > ALIKE_MAX && new Set(told).size === 1
}

const TIMES_MIN = 1.4
/** Together, counts that were multiplied are so far from it: a provider rounds, and play has gone on. */
const APART = 0.15
/** After a gap, or a review of the match, it may all be true: at most this many answers in a row say nothing. */
const WITHHELD_MAX = 3

/** The first statistics tell at most so much a minute, and of as many minutes more: others are of an earlier match. */
const [FIRST_A_MINUTE, FIRST_MINUTES] = [100, 5]

/** In one answer the counts of this many players do not fall, by MANY together, nor leap. */
const FALLEN_MIN = 5

/**
 * An answer without what cannot be right: counts of all or of a team that are the same times what they were, because a
 * provider has joined its rows twice, and the rows of players many of whom did more before, or much less, because they
 * are old, of others, or of a season.
 * @param minutes of play since the last answer, and `played` in all, null where no period tells.
 */
export function withoutImpossible(
  said: SaidFixture,
  squad: readonly Counted[],
  withheld: number,
  { minutes, played }: { readonly minutes: number; readonly played: number | null },
) {
  const pairs = pairsIn(said, squad)
  const isOfTeam = (side: Side): boolean =>
    isMultiplied(
      pairs.filter((pair) => pair.side === side),
      MANY_OF_A_TEAM,
    )
  const areMultiplied = minutes <= GAP_MINUTES && (isMultiplied(pairs, MANY) || SIDES.some(isOfTeam))
  const fallen = pairs.filter(({ before, now }) => now < before)
  const fall = sumOf(fallen, 'before') - sumOf(fallen, 'now')
  const known = new Set(squad.flatMap(({ playerId, details }) => (details === null ? [] : [playerId])))
  const leapt = pairs.filter(
    ({ playerId, type, before, now }) =>
      now > before && known.has(playerId) && !canFollow(type, before, now, { withNews: true, minutes }),
  )
  const areMany = (of: readonly Pair[]): boolean => new Set(of.map(({ playerId }) => playerId)).size >= FALLEN_MIN
  const isFirst = played !== null && squad.every(({ details }) => details === null)
  const areTooMany = isFirst && sumOf(pairs, 'now') > FIRST_A_MINUTE * (played + FIRST_MINUTES)
  const isOfOthers = areTooMany || (areMany(fallen) && fall >= MANY) || (areMany(leapt) && minutes <= GAP_MINUTES)
  if (!areMultiplied && !isOfOthers) return { said, withheld: 0 }
  if (withheld === WITHHELD_MAX) return { said, withheld }
  return { said: isOfOthers ? withDetails(said, () => null) : withoutCounts(said, squad), withheld: withheld + 1 }
}

/** An answer without the rows that tell of more than a player can do in a match. */
export const withoutBeyond = (said: SaidFixture): SaidFixture =>
  said.players.some(({ details }) => isBeyond(details ?? {}))
    ? withDetails(said, (details) => (isBeyond(details) ? null : details))
    : said

function isMultiplied(pairs: readonly Pair[], least: number): boolean {
  const [was, is] = [sumOf(pairs, 'before'), sumOf(pairs, 'now')]
  const times = is / was
  const apart = pairs.reduce((sum, { before, now }) => sum + Math.abs(now / times - before), 0)
  return was >= least && times >= TIMES_MIN && is - was >= MANY && apart <= APART * was
}

/** An answer without its ratings where all players have the same, who had others: it rates none of them. */
export function withoutOneRating(said: SaidFixture, squad: readonly Counted[]): SaidFixture {
  const [now, before] = [said.players, squad].map((players: readonly Pick<Counted, 'details'>[]) =>
    players.flatMap(({ details }) => details?.[STATISTIC.rating] ?? []),
  )
  const isOne = (now?.length ?? 0) > ALIKE_MAX && new Set(now).size === 1 && new Set(before).size > 1
  return isOne ? withDetails(said, (details) => pick(details, (type) => type !== STATISTIC.rating)) : said
}

interface Pair {
  readonly playerId: PlayerId
  readonly side: Side
  readonly type: number
  readonly before: number
  /** As before where nothing is told. */
  readonly now: number
  readonly isTold: boolean
}

/** Each count of the players who are listed, as it was known and as it is told. */
function pairsIn({ players }: SaidFixture, squad: readonly Counted[]): readonly Pair[] {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details]))
  return players.flatMap(({ playerId, side, details }) => {
    const last = known.get(playerId) ?? {}
    return Object.keys(countsOf({ ...last, ...details })).map((key): Pair => {
      const type = Number(key)
      const [before, now] = [last[type] ?? 0, details?.[type]]
      return { playerId, side, type, before, now: now ?? before, isTold: now !== undefined }
    })
  })
}

const sumOf = (pairs: readonly Pair[], of: 'before' | 'now'): number => pairs.reduce((sum, pair) => sum + pair[of], 0)

/** Goals and cards stay: a row without them would take them back. */
function withoutCounts(said: SaidFixture, squad: readonly Counted[]): SaidFixture {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details]))
  return withDetails(said, (details, playerId) => ({
    ...factsOf(known.get(playerId) ?? {}),
    ...pick(details, (type) => !isCount(type)),
  }))
}

function withDetails(said: SaidFixture, change: (details: Details, playerId: PlayerId) => Details | null): SaidFixture {
  const players = said.players.map((one) => ({ ...one, details: one.details && change(one.details, one.playerId) }))
  return { ...said, players }
}

const pick = (details: Details, isWanted: (type: number) => boolean): Details =>
  Object.fromEntries(Object.entries(details).filter(([type]) => isWanted(Number(type))))
const countsOf = (details: Details): Details => pick(details, isCount)
const factsOf = (details: Details): Details => pick(details, (type) => DISCRETE.has(type))
