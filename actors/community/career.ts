/**
 * What a user has done so far, in counts. Each count is a sum, a maximum, a minimum or the size of a set, so the career
 * does not depend on the order in which matches are processed, and after every rebuild.
 */
import { assert, unreachable } from '../kernel/assert.ts'
import { XP_FIRST_TRADE_OF_DAY, XP_PER_OPEN, XP_PER_WIN } from '../kernel/limits.ts'
import { type Lots, lots, MICROS_MAX, type Money, money } from '../kernel/micros.ts'
import { isCommon } from '../kernel/purse.ts'
import { DAY_MS, type Instant } from '../kernel/world.ts'
import {
  type CommittedEvent,
  type CorrectedEvent,
  counted,
  type Earned,
  isCountedClose,
  type VoidedEvent,
} from './committed-event.ts'

/** The counts that leaderboards use. */
export interface Tally {
  readonly closed: number
  /** Closes with a profit. */
  readonly wins: number
  readonly pnl: Money
  /** Σ of what the match alone made of the closed positions, and Σ of their margin: the ROI follows from the two. */
  readonly baseMoves: Money
  readonly margin: Money
  /** When the earliest of the closed positions was opened. */
  readonly firstTradeAt: Instant | null
}

export interface Career {
  readonly opened: number
  readonly main: Tally
  /** Of the practice purse. Nothing else here counts its trades. */
  readonly practice: Tally
  /** Σ of the profits, losses excluded. */
  readonly won: Money
  readonly bestWin: Money
  readonly largestLots: Lots
  readonly shortWins: number
  readonly takeProfits: number
  readonly stopLosses: number
  readonly washouts: number
  /** Positions held to full time. */
  readonly settled: number
  /** Days (UTC) with at least one opening. */
  readonly days: number
  /** Days (UTC) with at least one close. */
  readonly closeDays: number
  /** Referred users who have been credited. */
  readonly referrals: number
  readonly xp: number
}

const NEW_TALLY: Tally = {
  closed: 0,
  wins: 0,
  pnl: money(0),
  baseMoves: money(0),
  margin: money(0),
  firstTradeAt: null,
}

export const NEW_CAREER: Career = {
  opened: 0,
  main: NEW_TALLY,
  practice: NEW_TALLY,
  won: money(0),
  bestWin: money(0),
  largestLots: lots(0),
  shortWins: 0,
  takeProfits: 0,
  stopLosses: 0,
  washouts: 0,
  settled: 0,
  days: 0,
  closeDays: 0,
  referrals: 0,
  xp: 0,
}

/**
 * The career after one more event of this user. The close of a void position takes back what its opening
 * counted for, and a void afterwards takes back what its opening and its close did. A correction replaces what its
 * close counted for. Practice counts on its own boards alone, and a league only in the league.
 */ // R14, R15
export function advance(before: Career, committed: CommittedEvent): Career {
  const event = counted(committed)
  if (event === null) return before
  if (event.kind !== 'match_settled' && !isCommon(event.purse)) return before
  if (event.kind !== 'match_settled' && event.purse === 'practice') {
    return { ...before, practice: tallied(before.practice, event) }
  }
  const career = { ...before, main: tallied(before.main, event) }
  switch (event.kind) {
    case 'opened':
      return {
        ...career,
        opened: career.opened + 1,
        xp: career.xp + XP_PER_OPEN,
      }
    case 'closed': {
      if (event.by === 'void') return { ...career, opened: career.opened - 1, xp: career.xp - XP_PER_OPEN }
      const won = event.pnl > 0
      const by = (closer: typeof event.by): number => (event.by === closer ? 1 : 0)
      return {
        ...career,
        won: won ? total(career.won, event.pnl) : career.won,
        bestWin: event.pnl > career.bestWin ? event.pnl : career.bestWin,
        largestLots: event.lots > career.largestLots ? event.lots : career.largestLots,
        shortWins: career.shortWins + (won && event.direction === 'short' ? 1 : 0),
        takeProfits: career.takeProfits + by('take_profit'),
        stopLosses: career.stopLosses + by('stop_loss'),
        washouts: career.washouts + by('washout'),
        settled: career.settled + by('full_time'),
        xp: career.xp + (won ? XP_PER_WIN : 0),
      }
    }
    case 'corrected': {
      const { wins, won, pnl } = correctedBy(event)
      return {
        ...career,
        won: total(career.won, won),
        bestWin: pnl > career.bestWin ? pnl : career.bestWin,
        shortWins: career.shortWins + (event.direction === 'short' ? wins : 0),
        xp: career.xp + wins * XP_PER_WIN,
      }
    }
    case 'voided': {
      const { closed, wins, won } = takenBack(event)
      const by = (closer: typeof event.by): number => (event.by === closer ? 1 : 0)
      return {
        ...career,
        opened: career.opened - closed,
        won: total(career.won, -won),
        shortWins: career.shortWins - (event.direction === 'short' ? wins : 0),
        takeProfits: career.takeProfits - by('take_profit'),
        stopLosses: career.stopLosses - by('stop_loss'),
        washouts: career.washouts - by('washout'),
        settled: career.settled - by('full_time'),
        xp: career.xp - closed * XP_PER_OPEN - wins * XP_PER_WIN,
      }
    }
    case 'margin_warned':
    case 'fill_moved':
    case 'match_settled':
      return career
    default:
      return unreachable(event)
  }
}

/** What a void takes back of closes, wins and profits. A position counts until all of its parts are void. */ // R24
export function takenBack({ before, others }: VoidedEvent) {
  const left = { pnl: others ?? money(0) }
  const whole = { pnl: money(before.pnl + left.pnl) }
  return {
    closed: others === undefined ? 1 : 0,
    wins: winsOf(whole) - winsOf(left),
    won: Math.max(0, whole.pnl) - Math.max(0, left.pnl),
  }
}

/**
 * What a correction changes of wins and profits. Of a part that closed before the last the whole is not known: what it
 * was won or lost by stays.
 */
export function correctedBy({ pnl, before, partOf, parted }: CorrectedEvent) {
  if (partOf !== undefined) return { wins: 0, won: 0, pnl: money(0) }
  const others = parted?.pnl ?? 0
  const [was, is] = [{ pnl: money(before.pnl + others) }, { pnl: money(pnl + others) }]
  return { wins: winsOf(is) - winsOf(was), won: Math.max(0, is.pnl) - Math.max(0, was.pnl), pnl: is.pnl }
}

/** A sum over years ends where quantities do: it may be more than any wallet holds. */
const total = (sum: Money, by: number): Money => money(Math.max(-MICROS_MAX, Math.min(MICROS_MAX, sum + by)))

const winsOf = ({ pnl }: Pick<Earned, 'pnl'>): number => (pnl > 0 ? 1 : 0)

function tallied(tally: Tally, event: CommittedEvent): Tally {
  if (event.kind === 'corrected') {
    const { pnl, baseMove, before } = event
    return {
      ...tally,
      wins: tally.wins + correctedBy(event).wins,
      pnl: total(tally.pnl, pnl - before.pnl),
      baseMoves: total(tally.baseMoves, baseMove - before.baseMove),
    }
  }
  if (event.kind === 'voided') {
    const { before, margin } = event
    const { closed, wins } = takenBack(event)
    return {
      ...tally,
      closed: tally.closed - closed,
      wins: tally.wins - wins,
      pnl: total(tally.pnl, -before.pnl),
      baseMoves: total(tally.baseMoves, -before.baseMove),
      margin: total(tally.margin, -margin),
    }
  }
  if (!isCountedClose(event)) return tally
  const isFirst = tally.firstTradeAt === null || event.openedAt < tally.firstTradeAt
  return {
    ...tally,
    firstTradeAt: isFirst ? event.openedAt : tally.firstTradeAt,
    closed: tally.closed + 1,
    wins: tally.wins + winsOf(event),
    pnl: total(tally.pnl, event.pnl),
    baseMoves: total(tally.baseMoves, event.baseMove),
    margin: total(tally.margin, event.margin),
  }
}

/** The maxima and minima over what a user has closed. A void may have taken one back: they are then counted again. */
export interface Records {
  readonly bestWin: Money
  readonly largestLots: Lots
  readonly firstTradeAt: Instant | null
  readonly practiceFirstTradeAt: Instant | null
}

/**
 * Whether a void may have taken a record back. Only then are all closes read again: months of them may be detached, and
 * what was best in one would be lost. Of a position that closed in parts the whole is not known.
 */
export function mayHoldRecord(career: Career, { before, others, partOf, lots: size, openedAt, purse }: VoidedEvent) {
  if (others !== undefined || partOf !== undefined) return true
  const { firstTradeAt } = purse === 'practice' ? career.practice : career.main
  const isFirst = firstTradeAt === null || openedAt <= firstTradeAt
  return isFirst || (purse === 'main' && (before.pnl >= career.bestWin || size >= career.largestLots))
}

export const withRecords = (career: Career, records: Records): Career => ({
  ...career,
  bestWin: records.bestWin,
  largestLots: records.largestLots,
  main: { ...career.main, firstTradeAt: records.firstTradeAt },
  practice: { ...career.practice, firstTradeAt: records.practiceFirstTradeAt },
})

/** The career after `days` more days with an opening; fewer when the only one of a day was void. */
export const advanceDays = (career: Career, days: number): Career => ({
  ...career,
  days: career.days + days,
  xp: career.xp + days * XP_FIRST_TRADE_OF_DAY,
})

/** The career after `days` more days with a first close. */
export const advanceCloseDays = (career: Career, days: number): Career => ({
  ...career,
  closeDays: career.closeDays + days,
})

/** The day of an instant, counted from 1970 in UTC. */
export const dayOf = (at: Instant): number => Math.floor(at / DAY_MS)

/** The XP at which a level begins: 0, 100, 300, 600, 1,000, … Each level takes 100 more than the one before. */
const xpAtLevel = (level: number): number => 50 * level * (level - 1)

/** The level, from 1 upwards. */
export function levelOf(xp: number): number {
  assert(Number.isSafeInteger(xp) && xp >= 0, `not an amount of XP: ${xp}`)
  const near = Math.max(1, Math.floor((1 + Math.sqrt(1 + xp / 12.5)) / 2))
  // The square root may be off by an ulp at a boundary.
  if (xpAtLevel(near + 1) <= xp) return near + 1
  return xpAtLevel(near) > xp ? near - 1 : near
}
