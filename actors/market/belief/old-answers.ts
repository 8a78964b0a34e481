/** Empties answers that were true long ago, and makes whole the statistics that a provider has reset. */
import type { PlayerId } from '../../kernel/ids.ts'
import type { FixturePeriod, FixturePlayer, SaidFixture } from '../fixture.ts'
import { isRegularEnd, phaseOf } from '../phase.ts'
import { type Details, DISCRETE, isCount } from './plausible.ts'

/** A half, or extra time, that a provider began by mistake is taken back before this. */
const BEGUN_SECS = 300
const EXTRA_SECS = 60

/**
 * The answer, emptied if it is old: if it shows a break, or the end of 90 minutes, and lacks a period that has been
 * played since. Its clock stands still, so it does not show its age, and a second such answer would confirm what the
 * first one lacks: goals, cards, statistics. A minute of them would settle the match.
 */
export function withoutOld(said: SaidFixture, before: readonly FixturePeriod[]): SaidFixture {
  const { home, away, periods } = said
  const last = Math.max(0, ...periods.map(({ order }) => order))
  const isAfter = ({ order, elapsedSecs }: FixturePeriod): boolean => elapsedSecs > BEGUN_SECS && order > last
  const isExtra = ({ kind, elapsedSecs }: FixturePeriod): boolean => kind === 'extra_time' && elapsedSecs > EXTRA_SECS
  const isBreak = phaseOf({ ...said, periods }) === 'break' && before.some(isAfter)
  const isEnd = isRegularEnd(said) && periods.every(({ order }) => order <= REGULAR) && before.some(isExtra)
  const isOld = last > 0 && (isBreak || isEnd)
  if (!isOld) return said
  const silent = { state: null, stateId: null, periods: [], events: null, players: [], teamStats: null }
  return { ...said, ...silent, home: { ...home, goals: null }, away: { ...away, goals: null } }
}

/** The halves of 90 minutes. */
const REGULAR = 2

/** Counts by player that a provider no longer tells: it has begun again at zero. */
export type Untold = Readonly<Record<string, Details>>

type Counted = Pick<FixturePlayer, 'playerId' | 'details'>

/** Both teams together: fewer actions than these tell nothing. */
const MANY = 20
/** A provider that has begun again tells no more than this share of what was known. */
const BEGUN_AGAIN = 0.2
/** It tells all of them again where more than this share has not fallen. */
const WHOLE = 0.9

/** An answer with the counts that it no longer tells. The first that begins again says nothing of them. */
export function withUntold(said: SaidFixture, squad: readonly Counted[], untold: Untold) {
  const told = pairsIn(said, squad).filter(({ isTold }) => isTold)
  const [was, is] = [sumOf(told, 'before'), sumOf(told, 'now')]
  const fromIn = (pairs: readonly Pair[]): number =>
    pairs.reduce((sum, { playerId, type }) => sum + (untold[playerId]?.[type] ?? 0), 0)
  const isWhole = fromIn(told.filter(({ before, now }) => now >= before)) > WHOLE * fromIn(told)
  if (isWhole || Object.keys(untold).length === 0) {
    if (was < MANY || is > BEGUN_AGAIN * was) return { said, untold: {} }
    const known = squad.flatMap(({ playerId, details }) => (details === null ? [] : [[playerId, countsOf(details)]]))
    return { said: withDetails(said, uncounted), untold: Object.fromEntries(known) as Untold }
  }
  const whole = (details: Details, playerId: PlayerId): Details => {
    const own = untold[playerId] ?? {}
    const facts = Object.entries(own).filter(([type]) => DISCRETE.has(Number(type)))
    const sums = Object.entries(details).map(([type, n]) => [type, n + (own[Number(type)] ?? 0)])
    return { ...Object.fromEntries(facts), ...Object.fromEntries(sums) }
  }
  return { said: withDetails(said, is === 0 ? uncounted : whole), untold }
}

const TIMES_MIN = 1.4
/** Together, counts that were multiplied are so far from it: a provider rounds, and play has gone on. */
const APART = 0.15

/** An answer without its counts where all are the same times what they were: a provider has joined its rows twice. */
export function withoutMultiplied(said: SaidFixture, squad: readonly Counted[]): SaidFixture {
  const pairs = pairsIn(said, squad)
  const [was, is] = [sumOf(pairs, 'before'), sumOf(pairs, 'now')]
  const times = is / was
  if (was < MANY || times < TIMES_MIN || is - was < MANY) return said
  const apart = pairs.reduce((sum, { before, now }) => sum + Math.abs(now / times - before), 0)
  return apart > APART * was ? said : withDetails(said, uncounted)
}

interface Pair {
  readonly playerId: PlayerId
  readonly type: number
  readonly before: number
  /** As before where nothing is told. */
  readonly now: number
  readonly isTold: boolean
}

/** Each count of the players who are listed, as it was known and as it is told. */
function pairsIn({ players }: SaidFixture, squad: readonly Counted[]): readonly Pair[] {
  const known = new Map(squad.map(({ playerId, details }) => [playerId, details]))
  return players.flatMap(({ playerId, details }) => {
    const last = known.get(playerId) ?? {}
    return Object.keys(countsOf({ ...last, ...details })).map((key): Pair => {
      const type = Number(key)
      const [before, now] = [last[type] ?? 0, details?.[type]]
      return { playerId, type, before, now: now ?? before, isTold: now !== undefined }
    })
  })
}

const sumOf = (pairs: readonly Pair[], of: 'before' | 'now'): number => pairs.reduce((sum, pair) => sum + pair[of], 0)

function withDetails(said: SaidFixture, change: (details: Details, playerId: PlayerId) => Details): SaidFixture {
  const players = said.players.map((one) => ({ ...one, details: one.details && change(one.details, one.playerId) }))
  return { ...said, players }
}

const isOfCount = ([type]: readonly [type: string, value: number]): boolean => isCount(Number(type))
const countsOf = (details: Details): Details => Object.fromEntries(Object.entries(details).filter(isOfCount))
const uncounted = (details: Details): Details =>
  Object.fromEntries(Object.entries(details).filter((entry) => !isOfCount(entry)))
