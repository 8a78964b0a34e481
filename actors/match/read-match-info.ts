/** Reads the stored description of a match. */
import { fixtureId, instrumentId, playerId } from '../kernel/ids.ts'
import {
  as,
  boolean,
  fieldsOf,
  integer,
  keyOf,
  listOf,
  nullable,
  number,
  oneOf,
  or,
  type Reader,
  recordOf,
  text,
} from '../kernel/read.ts'
import { PURSES } from '../kernel/purse.ts'
import { instant } from '../kernel/world.ts'
import { EVENT_KINDS, type FixturePlayer, type FixtureTeam, ROLES, SIDES } from '../market/fixture.ts'
import type { ReportedEvent } from '../market/match-report.ts'
import { PHASE_CODE } from '../market/phase.ts'
import type { MatchInfo } from './messages.ts'

const readInstant = as(integer, instant)
const readPlayerId = as(integer, playerId)
const readSide = oneOf(SIDES)

/** Reads one field of a match. */
type Field = <K extends StoredField>(name: K, read: Reader<MatchInfo[K]>) => MatchInfo[K]
type StoredField = Exclude<keyof MatchInfo, 'quarantine'>

/**
 * Without its identity, teams, phase and start a match cannot be run; what else an older version did not write is
 * empty.
 */
export const readMatchInfo: Reader<MatchInfo> = (value, path) => infoOf(fieldsOf(value, path))

/** What can be read of a match, and of what cannot, what is `known` of it otherwise. Never throws. */
export const rescueMatchInfo = (value: unknown, known: MatchInfo): MatchInfo =>
  infoOf((name, read) => {
    try {
      return fieldsOf(value, 'info')(name, read)
    } catch {
      return known[name]
    }
  })

function infoOf(field: Field): MatchInfo {
  return {
    matchId: field('matchId', as(integer, fixtureId)),
    name: field('name', text),
    league: field('league', text),
    startsAt: field('startsAt', readInstant),
    state: field('state', nullable(text)),
    stateId: field('stateId', nullable(integer)),
    phase: field('phase', keyOf(PHASE_CODE)),
    minute: field('minute', nullable(integer)),
    home: field('home', readTeam),
    away: field('away', readTeam),
    replay: field('replay', or(boolean, false)),
    purse: field('purse', or(oneOf(PURSES), 'main')),
    speed: field('speed', or(number, 1)),
    feedSeq: field('feedSeq', or(integer, 0)),
    sourceAt: field('sourceAt', nullable(readInstant)),
    clock: field('clock', nullable(readClock)),
    endedAt: field('endedAt', nullable(readInstant)),
    endedSeq: field('endedSeq', nullable(integer)),
    kickedOffAt: field('kickedOffAt', nullable(readInstant)),
    settling: field('settling', nullable(oneOf(['full_time', 'void']))),
    settledAt: field('settledAt', nullable(readInstant)),
    events: field('events', or(listOf(readEvent), [])),
    squad: field('squad', or(listOf(readPlayer), [])),
    onPitch: field('onPitch', nullable(listOf(readPlayerId))),
    teamStats: field('teamStats', nullable(readTeamStats)),
  }
}

const readClock: Reader<NonNullable<MatchInfo['clock']>> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    period: field('period', integer),
    elapsedSecs: field('elapsedSecs', number),
    movedAt: field('movedAt', readInstant),
  }
}

export const readTeam: Reader<FixtureTeam> = (value, path) => {
  const field = fieldsOf(value, path)
  const shootout = field('shootout', or(integer, null))
  return {
    id: field('id', integer),
    name: field('name', text),
    goals: field('goals', nullable(integer)),
    ...(shootout === null ? {} : { shootout }),
  }
}

const sortOrderOf = (sortOrder: number | null) => (sortOrder === null ? {} : { sortOrder })

const readEvent: Reader<ReportedEvent> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    id: field('id', integer),
    kind: field('kind', oneOf(EVENT_KINDS)),
    minute: field('minute', nullable(integer)),
    extraMinute: field('extraMinute', nullable(integer)),
    period: field('period', nullable(integer)),
    ...sortOrderOf(field('sortOrder', nullable(integer))),
    side: field('side', nullable(readSide)),
    playerId: field('playerId', nullable(readPlayerId)),
    playerName: field('playerName', nullable(text)),
    relatedPlayerId: field('relatedPlayerId', nullable(readPlayerId)),
    relatedPlayerName: field('relatedPlayerName', nullable(text)),
    result: field('result', nullable(text)),
    addition: field('addition', nullable(text)),
    rescinded: field('rescinded', or(boolean, false)),
    retracted: field('retracted', or(boolean, false)),
  }
}

const readPlayer: Reader<FixturePlayer> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    playerId: field('playerId', readPlayerId),
    instrumentId: field('instrumentId', as(text, instrumentId)),
    name: field('name', text),
    side: field('side', readSide),
    role: field('role', nullable(oneOf(ROLES))),
    jersey: field('jersey', nullable(integer)),
    starter: field('starter', boolean),
    details: field('details', nullable(recordOf(number))),
  }
}

const readTeamStats: Reader<NonNullable<MatchInfo['teamStats']>> = (value, path) => {
  const field = fieldsOf(value, path)
  return { home: field('home', recordOf(number)), away: field('away', recordOf(number)) }
}
