/** Reads the stored memory of the price model. */
import { SIDES } from './fixture.ts'
import { playerId } from '../kernel/ids.ts'
import { price } from '../kernel/micros.ts'
import { instant } from '../kernel/world.ts'
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
import { readBeliefs } from './belief/beliefs.ts'
import type { Incident } from './incidents.ts'
import { EMPTY_PRICING, type PricingMemory } from './pricing.ts'

const INCIDENT_KINDS: Readonly<Record<Incident['kind'], true>> = {
  goal: true,
  own_goal: true,
  penalty_goal: true,
  penalty_missed: true,
  substitution: true,
  yellow: true,
  red: true,
  second_yellow: true,
  var: true,
  var_card: true,
}

/** Fields that an older version did not write are as before the first update. */
export const readPricing: Reader<PricingMemory> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    clock: field('clock', or(nullable(readClock), EMPTY_PRICING.clock)),
    behind: field('behind', nullable(readBehind)),
    clockSecs: field('clockSecs', or(number, EMPTY_PRICING.clockSecs)),
    lastBreak: field('lastBreak', or(readBreak, EMPTY_PRICING.lastBreak)),
    expectedGoals: field('expectedGoals', nullable(readGoals)),
    anchors: field('anchors', or(recordOf(as(integer, price)), EMPTY_PRICING.anchors)),
    incidents: field('incidents', or(listOf(readIncident), EMPTY_PRICING.incidents)),
    told: field('told', or(readTold, EMPTY_PRICING.told)),
    conceded: field('conceded', or(readConceded, EMPTY_PRICING.conceded)),
    beliefs: field('beliefs', or(readBeliefs, EMPTY_PRICING.beliefs)),
    players: field('players', or(recordOf(readPlayer), EMPTY_PRICING.players)),
  }
}

const readBreak: Reader<PricingMemory['lastBreak']> = (value, path) => {
  const field = fieldsOf(value, path)
  return { playedAt: field('playedAt', nullable(as(integer, instant))), ms: field('ms', number) }
}

const readGoals: Reader<NonNullable<PricingMemory['expectedGoals']>> = (value, path) => {
  const field = fieldsOf(value, path)
  return { home: field('home', number), away: field('away', number) }
}

const readLastTold: Reader<PricingMemory['told']['home']> = (value, path) => {
  const field = fieldsOf(value, path)
  return { secs: field('secs', number), times: field('times', integer) }
}

const readTold: Reader<PricingMemory['told']> = (value, path) => {
  const field = fieldsOf(value, path)
  return { home: field('home', readLastTold), away: field('away', readLastTold) }
}

const readConceded: Reader<PricingMemory['conceded']> = (value, path) => {
  const field = fieldsOf(value, path)
  return { home: field('home', listOf(number)), away: field('away', listOf(number)) }
}

const readClock: Reader<NonNullable<PricingMemory['clock']>> = (value, path) => {
  const field = fieldsOf(value, path)
  return { period: field('period', integer), elapsedSecs: field('elapsedSecs', number) }
}

const readBehind: Reader<NonNullable<PricingMemory['behind']>> = (value, path) => {
  const field = fieldsOf(value, path)
  return { clock: field('clock', readClock), updates: field('updates', integer) }
}

const readIncident: Reader<Incident> = (value, path) => {
  const field = fieldsOf(value, path)
  const player = nullable(as(integer, playerId))
  const id = field('id', integer)
  return {
    id,
    firstId: field('firstId', or(integer, id)),
    kind: field('kind', keyOf(INCIDENT_KINDS)),
    minute: field('minute', nullable(integer)),
    extraMinute: field('extraMinute', nullable(integer)),
    period: field('period', nullable(integer)),
    sortOrder: field('sortOrder', nullable(integer)),
    side: field('side', nullable(oneOf(SIDES))),
    playerId: field('playerId', player),
    relatedPlayerId: field('relatedPlayerId', player),
    addition: field('addition', nullable(text)),
    listedAt: field('listedAt', or(number, 0)),
    isRelatedLost: field('isRelatedLost', or(boolean, false)),
    standing: field('standing', oneOf(['seen', 'counted', 'missing', 'cancelled'])),
  }
}

const readFirst: Reader<NonNullable<PricingMemory['players'][string]['first']>> = (value, path) => {
  const field = fieldsOf(value, path)
  return { rating: field('rating', number), minutes: field('minutes', number) }
}

const readPlayer: Reader<PricingMemory['players'][string]> = (value, path) => {
  const field = fieldsOf(value, path)
  return {
    volume: field('volume', number),
    rating: field('rating', nullable(number)),
    first: field('first', or(nullable(readFirst), null)),
    counts: field('counts', or(recordOf(number), {})),
    listed: field('listed', or(recordOf(number), {})),
    takenBack: field('takenBack', or(recordOf(number), {})),
    excused: field('excused', or(recordOf(number), {})),
  }
}
