/**
 * What is believed of a fixture: the last update, held against what was known. What an update does not say is
 * unchanged. What cannot follow from what was known counts when the next update says it too, so that a glitch of one
 * poll moves no price. Pure.
 */
import type { PlayerId } from '../../kernel/ids.ts'
import type { Instant } from '../../kernel/world.ts'
import { type FixturePlayer, type FixtureSnapshot, type SaidFixture, type Side, SIDES } from '../fixture.ts'
import { type Incident, isListed } from '../incidents.ts'
import type { ReportedEvent } from '../match-report.ts'
import { hasShootout, isOver, phaseOf } from '../phase.ts'
import { STATISTIC } from '../scoring.ts'
import { summedStatistics } from '../statistic-names.ts'
import type { Beliefs, Doubts } from './beliefs.ts'
import { withoutCorrections } from './corrections.ts'
import { type Evidence, evidenceIn } from './evidence.ts'
import { areRatingsMoved, copiedIn, exchangedIn, risenTogether } from './exchanged.ts'
import { otherSide, STARTERS_MAX, toTheOther, withKnownPlayers } from './known-players.ts'
import {
  isShootoutTooEarly,
  withLastRunning,
  withoutReplayed,
  withoutBeyond,
  withoutImpossible,
  withoutOld,
  withoutOneRating,
  withoutOther,
  withUntold,
} from './old-answers.ts'
import { playedIn, withMatchMinutes } from './own-minutes.ts'
import { periodsAfter, stateBeside } from './periods.ts'
import {
  areAnothers,
  canFollow,
  type Details,
  DISCRETE,
  GONE_AFTER,
  hasActed,
  hasNews,
  lackingIn,
  saidIn,
  secsIn,
  startOf,
  toldIn,
  withoutKicks,
} from './plausible.ts'
import { withStatedDismissals } from './rows.ts'
import { scoreAfter } from './score.ts'

/** What was known before an update. A match has all of it. */
export interface Known extends Pick<
  FixtureSnapshot,
  'name' | 'league' | 'startsAt' | 'state' | 'stateId' | 'home' | 'away' | 'teamStats'
> {
  readonly squad: readonly FixturePlayer[]
  readonly events: readonly ReportedEvent[]
  /** The facts that count, or have counted. */
  readonly incidents?: readonly Incident[]
  /** When the last update was. */
  readonly sourceAt?: Instant | null
  /** Of a recording, which may tell of a match at any speed and with any gap. */
  readonly replay?: boolean
}

/** The fixture that a first update describes. One without a start begins at `sourceAt`. */
export function firstBelief(said: SaidFixture): FixtureSnapshot {
  const home = { ...said.home, name: said.home.name ?? 'Home' }
  const away = { ...said.away, name: said.away.name ?? 'Away' }
  return {
    ...said,
    home,
    away,
    name: said.name ?? `${home.name} vs ${away.name}`,
    league: said.league ?? '',
    startsAt: said.startsAt ?? said.sourceAt,
    periods: said.periods.map((period) => ({ ...period, elapsedSecs: playedIn(period, []) ?? 0 })),
    players: said.players.map((player) => ({ ...player, name: player.name ?? unnamed(player.playerId) })),
    teamStats: said.teamStats ?? summedStatistics(said.players),
  }
}

/** A player whom no payload has named yet. */
const unnamed = (id: PlayerId): string => `Player ${id}`

/** The fixture after an update, and what is remembered for the next. */
export function believe(answer: SaidFixture, match: Known, { doubts, periods: before, ...last }: Beliefs) {
  const payload = withoutReplayed(answer, match, before)
  // A row that only statistics tell vouches for nothing.
  const incidents = match.incidents?.filter(isListed) ?? []
  const known = { ...match, events: match.events.filter(isListed), incidents }
  const dated = withMatchMinutes(onTheirSides(payload, known), known, before)
  const own = withKnownPlayers(withoutOld(dated, known, before), known.squad)
  const isEarly = isShootoutTooEarly(own, before, known, last.withheld)
  const { said: current, withheld: others } = withoutOther(own, known, before, last.withheld)
  const isSilent = current.state === null && current.stateId === null
  // An answer that was emptied, since it is old or of another match, must not confirm the end that it denied.
  const hasState = payload.state !== null || payload.stateId !== null
  const phase = phaseOf(payload)
  const isOtherEnd = (phase === 'off') !== (phaseOf({ ...known, periods: [] }) === 'off')
  const isDenied = isSilent && hasState && (!isOver(phase) || isOtherEnd)
  const { state: name, stateId } = isSilent ? known : current
  const state = stateBeside({ state: name, stateId }, current.periods)
  const { periods: clocked, doubts: clocks } = periodsAfter({ ...current, ...state }, known, before, doubts)
  const periods = isEarly ? withLastRunning(clocked) : clocked
  const minutes = (secsIn(periods) - secsIn(before)) / 60
  const played = periods.length === 0 || known.replay === true ? null : secsIn(periods) / 60
  const rated = withoutOneRating(current, known.squad)
  const { said: summed, untold } = withUntold(rated, known.squad, last.untold, last.withheld)
  const { said: possible, withheld: counts } = withoutImpossible(summed, known.squad, last.withheld, {
    minutes,
    played,
  })
  const whole = withoutBeyond(possible)
  const copied = copiedIn(whole.players, known.squad)
  const doubtful = exchangedIn(whole.players, known.squad, minutes).union(copied)
  const { said, doubts: rows } = withoutCorrections(whole, { ...known, periods: before }, doubts.rows, doubtful)
  const over = isOver(phaseOf({ ...state, periods }))
  const evidence = evidenceIn(said, known.events)
  const isShootout = hasShootout({ ...state, periods })
  const score = scoreAfter(said, known, doubts, { isExplained: evidence.isExplained, isShootout, minutes })
  const lineups = startersAfter(said, known, doubts, over)
  const isExplained = evidence.isExplained || score.hasFallen
  const isBegunAgain = !isEmpty(untold)
  const reasons = { ...evidence, doubts, isExplained, isShootout, minutes, copied, isBegunAgain }
  const players = playersAfter(said, known, reasons, lineups.starters)
  const snapshot: FixtureSnapshot = {
    ...said,
    ...state,
    name: said.name ?? known.name,
    league: said.league ?? known.league,
    startsAt: (secsIn(before) > 0 ? null : said.startsAt) ?? known.startsAt,
    home: teamAfter(said, known, 'home', score.goals.home),
    away: teamAfter(said, known, 'away', score.goals.away),
    periods,
    events: said.events && withStatedDismissals(said.events, players.squad, incidents),
    players: players.squad,
    teamStats: teamStatsAfter(said, known, players.squad),
  }
  const beliefs: Beliefs = {
    doubts: { goals: score.doubts, starters: lineups.doubts, details: players.doubts, clocks, rows },
    periods,
    untold,
    withheld: Math.max(others, counts, isEarly ? last.withheld + 1 : 0),
  }
  return { snapshot, beliefs, isDenied }
}

/** Players keep the sides they were listed on: a provider that exchanges home and away exchanges all it says. */
function onTheirSides(said: SaidFixture, { home, away, squad }: Known): SaidFixture {
  const isExchanged = said.home.id === away.id && said.away.id === home.id && squad.length > 0
  if (!isExchanged) return said
  const other = <T>(sides: Readonly<Record<Side, T>> | null) => sides && { home: sides.away, away: sides.home }
  return {
    ...said,
    home: said.away,
    away: said.home,
    events: said.events?.map((event) => ({ ...event, side: event.side && otherSide(event.side) })) ?? null,
    players: said.players.map(toTheOther),
    teamStats: other(said.teamStats),
    expectedGoals: other(said.expectedGoals),
  }
}

/** A team that players are listed for keeps its id. */
function teamAfter(said: SaidFixture, known: Known, side: Side, goals: number | null): FixtureSnapshot['home'] {
  const [now, before] = [said[side], known[side]]
  const isSame = now.id === before.id
  const shootout = now.shootout ?? before.shootout
  return {
    id: isSame || known.squad.length === 0 ? now.id : before.id,
    name: (isSame || known.squad.length === 0 ? now.name : null) ?? before.name,
    goals,
    ...(shootout === undefined ? {} : { shootout }),
  }
}

interface Lineups {
  readonly starters: Readonly<Record<Side, ReadonlySet<PlayerId> | null>>
  readonly doubts: Doubts['starters']
}

/** A line-up that lacks one starter may have replaced them; of one that lacks more a part is missing. */
const REPLACED = 1

/**
 * The first line-up of a side is believed at once, and so is the rest of one that comes in parts; another one when two
 * updates name it. One of more than eleven has the whole squad as starters: until they are eleven, those who have done
 * something are. After the whistle it is known who has started.
 */
function startersAfter(
  said: SaidFixture,
  { squad, events }: Known,
  { starters: waiting }: Doubts,
  over: boolean,
): Lineups {
  const changes = events.filter(({ kind, retracted }) => kind === 'substitution' && !retracted)
  const starters: Record<Side, ReadonlySet<PlayerId> | null> = { home: null, away: null }
  const doubts: Record<Side, readonly PlayerId[] | null> = { home: null, away: null }
  const sideOf = new Map(squad.map(({ playerId, side }) => [playerId, side]))
  for (const side of SIDES) {
    const before = squad.filter((player) => player.side === side && player.starter).map(({ playerId }) => playerId)
    const rows = said.players.filter((player) => (sideOf.get(player.playerId) ?? player.side) === side)
    // One that names who plays now, instead of who has started, repeats the substitutions.
    const hasStarted = ({ playerId: id, starter }: (typeof rows)[number]): boolean =>
      changes.some((row) => id === (starter ? row.playerId : row.relatedPlayerId)) ? before.includes(id) : starter
    // A list with several on the bench who have done something without coming on says nothing.
    const isDenied = ({ playerId: id, details, starter }: FixturePlayer): boolean =>
      starter && hasActed(details) && rows.some((row) => row.playerId === id && !hasStarted(row))
    const isSwapped = squad.filter((one) => one.side === side && isDenied(one)).length > 1
    const isSquad = rows.filter(hasStarted).length > STARTERS_MAX
    const isWhole = before.length >= STARTERS_MAX
    const isNamed = !isSwapped && !(isSquad && isWhole) && rows.some(({ starter }) => starter)
    const isStarter = (row: (typeof rows)[number]): boolean => hasStarted(row) && (!isSquad || hasActed(row.details))
    const named = rows.filter((row) => isNamed && isStarter(row)).map(({ playerId }) => playerId)
    const listed = new Set(rows.map(({ playerId }) => playerId))
    const missing = before.filter((id) => !listed.has(id))
    const isRest =
      missing.length !== REPLACED &&
      named.length + missing.length <= STARTERS_MAX &&
      named.every((id) => before.includes(id) || !sideOf.has(id))
    // A row that is missing says nothing, unless another player starts instead.
    const silent = isRest || named.length < before.length ? missing : []
    const now = [...named, ...silent].toSorted((a, b) => a - b)
    const isChanged =
      before.length > 0 &&
      named.length > 0 &&
      !(isRest && before.every((id) => now.includes(id))) &&
      !isSameList(
        now,
        before.toSorted((a, b) => a - b),
      )
    if (isChanged && (over || !isSameList(now, waiting[side] ?? []))) doubts[side] = over ? null : now
    else if (named.length > 0) starters[side] = new Set(now)
    else doubts[side] = waiting[side]
  }
  return { starters, doubts }
}

const isSameList = (a: readonly PlayerId[], b: readonly PlayerId[]): boolean =>
  a.length === b.length && a.every((id, n) => id === b[n])

/** What lets a count fall. */
interface Reasons extends Evidence {
  readonly doubts: Doubts
  /** There is a shoot-out, or has been. */
  readonly isShootout: boolean
  /** Of play since the last update. */
  readonly minutes: number
  readonly copied: ReadonlySet<PlayerId>
  /** The provider tells only what has happened since it began again. */
  readonly isBegunAgain: boolean
}

/** The squad with its statistics. */
function playersAfter(
  said: SaidFixture,
  { squad }: Known,
  { doubts, isExplained, isShootout, corrected, takenBack, vouchedFor, minutes, copied, isBegunAgain }: Reasons,
  starters: Lineups['starters'],
) {
  const players = new Map(squad.map((player) => [player.playerId, player]))
  const waiting: Record<string, Details> = { ...doubts.details }
  const unexplained = said.players.filter(({ playerId }) => !isExplained && !corrected.has(playerId))
  const exchanged = exchangedIn(unexplained, squad, minutes)
  const together = risenTogether(said.players, squad, minutes)
  if (areRatingsMoved(said.players, squad, minutes)) together.add(STATISTIC.rating)
  // Where others have statistics, those of a player begin at nothing: what they did before, it would have said.
  const first = squad.some(({ details }) => details !== null) ? {} : null
  const told = isBegunAgain ? new Set<string>() : toldIn(said.players, squad)
  for (const row of said.players) {
    const before = players.get(row.playerId)
    const details =
      row.details === null || copied.has(row.playerId)
        ? null
        : detailsAfter(
            isShootout ? withoutKicks(row.details, before?.details ?? {}) : row.details,
            before?.details ?? first,
            {
              waiting: waiting[row.playerId] ?? {},
              minutes,
              isExplained: isExplained || corrected.has(row.playerId),
              isTakenBack: takenBack.has(row.playerId) || corrected.has(row.playerId),
              vouchedFor: (type) => vouchedFor(row.playerId, type),
              isDoubtful: (type) => exchanged.has(row.playerId) || together.has(type),
              told,
            },
          )
    if (details?.doubts) waiting[row.playerId] = details.doubts
    else if (details !== null) delete waiting[row.playerId]
    players.set(row.playerId, {
      ...row,
      name: row.name ?? before?.name ?? unnamed(row.playerId),
      side: sideAfter(row, before),
      role: row.role ?? before?.role ?? null,
      jersey: row.jersey ?? before?.jersey ?? null,
      starter: before?.starter ?? false,
      details: details === null || isEmpty(details.believed) ? (before?.details ?? null) : details.believed,
    })
  }
  const started = (player: FixturePlayer): FixturePlayer => {
    const starter = starters[player.side]?.has(player.playerId) ?? player.starter
    return starter === player.starter ? player : { ...player, starter }
  }
  return { squad: [...players.values()].map(started), doubts: waiting }
}

/** A player keeps their side. One who was listed in both teams has that of the row which first says what they did. */
function sideAfter(row: SaidFixture['players'][number], before: FixturePlayer | undefined): Side {
  if (before === undefined) return row.side
  return row.details !== null && before.details === null && !before.starter ? row.side : before.side
}

interface DetailReasons {
  readonly waiting: Details
  readonly minutes: number
  readonly isExplained: boolean
  readonly isTakenBack: boolean
  readonly vouchedFor: (type: number) => number
  /** The row may be another player's, or many players' count or rating of this type wrong. */
  readonly isDoubtful: (type: number) => boolean
  /** See `toldIn`. */
  readonly told: ReadonlySet<string>
}

/** Statistics by type: what is not said stays, and what cannot follow waits. */
function detailsAfter(
  row: Details,
  before: Details | null,
  { waiting, minutes, isExplained, isTakenBack: isLess, vouchedFor, isDoubtful, told }: DetailReasons,
): { readonly believed: Details; readonly doubts: Details | null } {
  if (before === null) return { believed: row, doubts: null }
  const now = saidIn(row, before, isLess)
  const between = { withNews: hasNews(before, now), minutes }
  const believed: Record<number, number> = {}
  const doubts: Record<number, number> = {}
  let isSudden = false
  for (const [key, value] of Object.entries(now)) {
    const type = Number(key)
    const last = before[type] ?? startOf(type, value)
    const first = (waiting[type] ?? -1) < 0 ? undefined : waiting[type]
    const follows = (from: number): boolean => canFollow(type, from, value, between)
    const isLower = value < last
    const isRepeated = first !== undefined && follows(first) && !(isLower && value < vouchedFor(type))
    const isBelieved = isRepeated || (!isDoubtful(type) && (follows(last) || (isExplained && isLower)))
    if (isBelieved) believed[type] = value
    else doubts[type] = value
    isSudden ||= !isBelieved && isLower && first === undefined && DISCRETE.has(type)
  }
  for (const [key, value] of Object.entries(waiting)) if (now[Number(key)] === undefined) doubts[Number(key)] = value
  // Counted below zero while it waits.
  const isAnothers = areAnothers(before, believed)
  for (const type of lackingIn(now, before, told, isAnothers)) {
    const answers = isAnothers ? GONE_AFTER : Math.max(0, -(waiting[type] ?? 0)) + 1
    if (answers < GONE_AFTER) doubts[type] = -answers
    else {
      delete doubts[type]
      believed[type] = 0
    }
  }
  // The rating that goes with a fall of goals waits for it: the price holds what is taken back until then. It may not
  // be said again, so it counts as soon as it need not wait. A first one has held nothing.
  const [known, rating] = [before[STATISTIC.rating], believed[STATISTIC.rating] ?? doubts[STATISTIC.rating]]
  const isUsual =
    rating !== undefined && canFollow(STATISTIC.rating, known ?? rating, rating, { withNews: false, minutes })
  if (isSudden && known !== undefined && rating !== undefined) {
    delete believed[STATISTIC.rating]
    doubts[STATISTIC.rating] = rating
  } else if (isUsual && !isDoubtful(STATISTIC.rating)) {
    delete doubts[STATISTIC.rating]
    believed[STATISTIC.rating] = rating
  }
  return { believed: { ...before, ...believed }, doubts: isEmpty(doubts) ? null : doubts }
}

const isEmpty = (details: object): boolean => Object.keys(details).length === 0

/** Statistics of the teams. A match whose provider has sent none has the sums of its players. */
function teamStatsAfter(
  { teamStats: now }: SaidFixture,
  { teamStats, squad }: Known,
  players: readonly FixturePlayer[],
): FixtureSnapshot['teamStats'] {
  const before = isSummed(teamStats, summedStatistics(squad)) ? null : teamStats
  if (now !== null) return { home: { ...before?.home, ...now.home }, away: { ...before?.away, ...now.away } }
  return before ?? summedStatistics(players)
}

const isSummed = (stats: FixtureSnapshot['teamStats'], sums: FixtureSnapshot['teamStats']): boolean =>
  SIDES.every((side) => Object.entries(stats?.[side] ?? {}).every(([name, value]) => sums?.[side][name] === value))
