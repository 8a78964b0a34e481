/**
 * A second, naive implementation of the trading rules, in BigInt and straight from the specification, to compare with
 * the real one. It shares no arithmetic with the game.
 */
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { ClosedBy, Position } from '../../actors/position/position.ts'

const MILLION = 1_000_000n
const CONTRACT = 5n
const LEVERAGE = 10n
const LOWEST_PRICE = 10_000n

type Bet = Pick<Position, 'direction' | 'lots' | 'openPrice'>

function floorOf(a: bigint, b: bigint): bigint {
  return a % b !== 0n && a < 0n ? a / b - 1n : a / b
}

const ceilOf = (a: bigint, b: bigint): bigint => -floorOf(-a, b)

function nearestOf(a: bigint, b: bigint): bigint {
  return a < 0n ? -nearestOf(-a, b) : floorOf(2n * a + b, 2n * b)
}

/** base + k0 × imbalance, the crowd's part at most `capPpm` of the base, never below 0.01. */
export function oraclePrice(base: number, imbalance: number, k0: number, capPpm: number): number {
  const cap = floorOf(BigInt(base) * BigInt(capPpm), MILLION)
  let impact = nearestOf(BigInt(imbalance) * BigInt(k0), MILLION)
  if (impact > cap) impact = cap
  if (impact < -cap) impact = -cap
  const price = BigInt(base) + impact
  return Number(price < LOWEST_PRICE ? LOWEST_PRICE : price)
}

/** price × lots × 5 ÷ 10, up. */
export const oracleMargin = (price: number, lots: number): number =>
  Number(ceilOf(BigInt(price) * BigInt(lots) * CONTRACT, LEVERAGE * MILLION))

/** sign × (close − open) × lots × 5, down, never worse than −margin. */
export function oraclePnl(bet: Bet & Pick<Position, 'margin'>, close: number): number {
  const move = BigInt(close) - BigInt(bet.openPrice)
  const signed = bet.direction === 'long' ? move : -move
  const pnl = Number(floorOf(signed * BigInt(bet.lots) * CONTRACT, MILLION))
  return pnl < -bet.margin ? -bet.margin : pnl
}

export const oracleExposure = (bet: Pick<Bet, 'direction' | 'lots'>): number =>
  bet.direction === 'long' ? bet.lots : 0 - bet.lots

/** True if the price is within a micro of the level at which this percentage of the margin is lost, or beyond it. */
export function oracleLost(bet: Bet, price: number, percent: number): boolean {
  const [open, now, tenths] = [BigInt(bet.openPrice), BigInt(price) * 1000n, BigInt(percent)]
  return bet.direction === 'long' ? now < open * (1000n - tenths) + 1000n : now > open * (1000n + tenths) - 1000n
}

/** Per cent of the margin lost at which an owner is warned. */
export const ORACLE_WARNINGS = [50, 80] as const

/** What closes this position at this price. */
export function oracleTrigger(p: Position, price: number): ClosedBy | null {
  const up = p.direction === 'long'
  const lost = (level: number | null): boolean => level !== null && (up ? price <= level : price >= level)
  const won = (level: number | null): boolean => level !== null && (up ? price >= level : price <= level)
  if (p.openPrice === 0) return null
  if (lost(p.stopLoss)) return 'stop_loss'
  if (oracleLost(p, price, 100)) return 'washout'
  return won(p.takeProfit) ? 'take_profit' : null
}

/** Long: stop-loss < price < take-profit. Short: take-profit < price < stop-loss. */
export function oracleLevels(p: Pick<Position, 'direction' | 'stopLoss' | 'takeProfit'>, price: number): boolean {
  const [low, high] = p.direction === 'long' ? [p.stopLoss, p.takeProfit] : [p.takeProfit, p.stopLoss]
  return (low === null || low < price) && (high === null || price < high)
}

export function oracleLots(lots: number, rules: TradingRules): boolean {
  return lots >= rules.lotMin && lots <= rules.lotMax && lots % rules.lotStep === 0
}

/** Whether the client's price is within `guardPpm` of what was last published. */
export const oracleGuard = (client: number, published: number, guardPpm: number): boolean => {
  const off = client > published ? client - published : published - client
  return BigInt(off) * MILLION <= BigInt(published) * BigInt(guardPpm)
}

/** Everything that decides whether users may trade an instrument at a moment. */
export interface Moment {
  readonly info: MatchInfo
  readonly suspendedUntil: number | null
  readonly at: number
  readonly rules: TradingRules
}

function playing({ info, at, rules }: Moment): boolean {
  if (info.settling !== null || info.settledAt !== null) return false
  if (info.phase === 'scheduled') return rules.preMatch
  if (info.phase !== 'live' && info.phase !== 'break') return false
  return info.sourceAt !== null && at - info.sourceAt <= rules.feedStaleMs
}

/** An in-game event holds the instrument back. */
const heldBack = ({ suspendedUntil, at }: Moment): boolean => suspendedUntil !== null && at < suspendedUntil

export const oracleMayOpen = (moment: Moment): boolean => playing(moment) && !heldBack(moment)

export function oracleMayClose(moment: Moment): boolean {
  const { info } = moment
  const waiting = (info.phase === 'ended' || info.phase === 'scheduled') && info.settling === null
  return (playing(moment) || waiting) && !heldBack(moment)
}
