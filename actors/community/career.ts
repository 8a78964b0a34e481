/**
 * What a user has done so far, in counts. Each count is a sum, a maximum, a minimum or the size of a set, so the career
 * does not depend on the order in which matches are processed, and after every rebuild.
 */
import { assert, unreachable } from '../kernel/assert.ts'
import { XP_FIRST_TRADE_OF_DAY, XP_PER_OPEN, XP_PER_WIN } from '../kernel/limits.ts'
import { type Lots, lots, type Money, money } from '../kernel/micros.ts'
import { HOUR_MS, type Instant } from '../kernel/world.ts'
import { type CommittedEvent, isCountedClose } from './committed-event.ts'

/** The counts that leaderboards use. */
export interface Tally {
  readonly closed: number
  /** Closes with a profit. */
  readonly wins: number
  readonly pnl: Money
  /** Σ of what the match alone made of the closed positions, and Σ of their margin: the ROI follows from the two. */
  readonly baseMoves: Money
  readonly margin: Money
  readonly firstTradeAt: Instant | null
}

export interface Career {
  readonly opened: number
  readonly all: Tally
  /** The same without replays. */
  readonly live: Tally
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
  all: NEW_TALLY,
  live: NEW_TALLY,
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

/** When an event was committed, and whether in a replay. */
export interface Circumstances {
  readonly at: Instant
  readonly replay: boolean
}

/** The career after one more event of this user. A void position was none: its close counts nowhere. */ // R14
export function advance(before: Career, event: CommittedEvent, circumstances: Circumstances): Career {
  const career = {
    ...before,
    all: tallied(before.all, event, circumstances.at),
    live: circumstances.replay ? before.live : tallied(before.live, event, circumstances.at),
  }
  switch (event.kind) {
    case 'opened':
      return {
        ...career,
        opened: career.opened + 1,
        largestLots: event.lots > career.largestLots ? event.lots : career.largestLots,
        xp: career.xp + XP_PER_OPEN,
      }
    case 'closed': {
      if (event.by === 'void') return career
      const won = event.pnl > 0
      const by = (closer: typeof event.by): number => (event.by === closer ? 1 : 0)
      return {
        ...career,
        won: won ? money(career.won + event.pnl) : career.won,
        bestWin: event.pnl > career.bestWin ? event.pnl : career.bestWin,
        shortWins: career.shortWins + (won && event.direction === 'short' ? 1 : 0),
        takeProfits: career.takeProfits + by('take_profit'),
        stopLosses: career.stopLosses + by('stop_loss'),
        washouts: career.washouts + by('washout'),
        settled: career.settled + by('full_time'),
        xp: career.xp + (won ? XP_PER_WIN : 0),
      }
    }
    case 'margin_warned':
    case 'match_settled':
      return career
    default:
      return unreachable(event)
  }
}

function tallied(tally: Tally, event: CommittedEvent, at: Instant): Tally {
  if (event.kind === 'opened') {
    const first = tally.firstTradeAt === null || at < tally.firstTradeAt
    return first ? { ...tally, firstTradeAt: at } : tally
  }
  if (!isCountedClose(event)) return tally
  return {
    ...tally,
    closed: tally.closed + 1,
    wins: tally.wins + (event.pnl > 0 ? 1 : 0),
    pnl: money(tally.pnl + event.pnl),
    baseMoves: money(tally.baseMoves + event.baseMove),
    margin: money(tally.margin + event.margin),
  }
}

/** The career after `days` more days with a first opening. */
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

const DAY_MS = 24 * HOUR_MS

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
