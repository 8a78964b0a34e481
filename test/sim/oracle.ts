/**
 * A second, naive implementation of the trading rules, in BigInt and straight from the specification, to compare with
 * the real one. It shares no arithmetic with the game.
 */
import type { TradingRules } from '../../actors/kernel/limits.ts'
import type { MatchInfo } from '../../actors/match/messages.ts'
import type { NewsMemory } from '../../actors/market/news-memory.ts'
import type { ClosedBy, Position } from '../../actors/position/position.ts'

const MILLION = 1_000_000n
const CONTRACT = 5n
const LEVERAGE = 10n
const LOWEST_PRICE = 10_000n
export const LOWEST = Number(LOWEST_PRICE)

type Bet = Pick<Position, 'direction' | 'lots' | 'openPrice' | 'moved'>

function floorOf(a: bigint, b: bigint): bigint {
  return a % b !== 0n && a < 0n ? a / b - 1n : a / b
}

const ceilOf = (a: bigint, b: bigint): bigint => -floorOf(-a, b)

function nearestOf(a: bigint, b: bigint): bigint {
  return a < 0n ? -nearestOf(-a, b) : floorOf(2n * a + b, 2n * b)
}

/** What the price of a player is made of. */
export interface Market {
  readonly base: number
  readonly k0: number
  readonly capPpm: number
}

/** base + k0 × imbalance, the crowd's part at most `capPpm` of the base, never below 0.01. */
export function oraclePrice(market: Market, imbalance: number): number {
  const { foot } = bounds(market)
  return Number(foot + nearestOf(pushedAt(market, BigInt(imbalance) * BigInt(market.k0)), MILLION))
}

/** The mean of the price on the way from one imbalance to another, down for longs and up for shorts. */
export function oracleMean(market: Market, from: number, to: number): number {
  if (from === to) return oraclePrice(market, from)
  const { foot } = bounds(market)
  const parts = 2n * BigInt(Math.abs(from - to)) * BigInt(market.k0) * MILLION
  const twice = oracleArea(market, from, to)
  return Number(foot + (from > to ? floorOf(twice, parts) : ceilOf(twice, parts)))
}

/**
 * Twice the area between the base and the price on the way from the lower imbalance to the higher, in millionths of
 * millionths: what that way costs the one who goes up it, besides the base. Cut where a cap begins, a trapezium each.
 */
export function oracleArea(market: Market, a: number, b: number): bigint {
  const { rise, fall } = bounds(market)
  const k0 = BigInt(market.k0)
  const [low, high] = [BigInt(Math.min(a, b)) * k0, BigInt(Math.max(a, b)) * k0]
  const ends = [low, ...[-fall, rise].filter((cut) => low < cut && cut < high), high]
  return ends.slice(1).reduce((sum, to, n) => {
    const from = ends[n] ?? 0n
    return sum + (pushedAt(market, from) + pushedAt(market, to)) * (to - from)
  }, 0n)
}

function bounds({ base, capPpm }: Market) {
  const foot = BigInt(base) < LOWEST_PRICE ? LOWEST_PRICE : BigInt(base)
  const rise = floorOf(foot * BigInt(capPpm), MILLION) * MILLION
  const room = (foot - LOWEST_PRICE) * MILLION
  return { foot, rise, fall: room < rise ? room : rise }
}

function pushedAt(market: Market, pushed: bigint): bigint {
  const { rise, fall } = bounds(market)
  if (pushed > rise) return rise
  return pushed < -fall ? -fall : pushed
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

/** The opening price that the margin was paid for: the one before news moved it. */
const pressed = ({ moved = [], openPrice }: Pick<Bet, 'moved' | 'openPrice'>): bigint =>
  BigInt(moved.find(({ fill }) => fill === 'open')?.from ?? openPrice)

/** No close fills beyond the price at which the whole margin is lost. */
export function oracleWithin(bet: Bet, price: number): number {
  const [open, most] = [BigInt(bet.openPrice), floorOf(pressed(bet), 10n)]
  if (bet.direction === 'short') return Number(least(BigInt(price), open + most))
  const washout = open - most
  return washout < LOWEST_PRICE ? price : Number(-least(-BigInt(price), -washout))
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** Whether a position trades beside the market, in a league. */
export const oracleAside = ({ purse }: Pick<Position, 'purse'>): boolean => purse !== 'main' && purse !== 'practice'

/** What a league trades at. */
export const oracleLeaguePrice = ({ base }: Pick<Market, 'base'>): number => Math.max(Number(LOWEST_PRICE), base)

export function oracleExposure(bet: Pick<Position, 'purse' | 'direction' | 'lots'>): number {
  if (oracleAside(bet)) return 0
  return bet.direction === 'long' ? bet.lots : 0 - bet.lots
}

/** True if the price is within a micro of the level at which this percentage of the margin is lost, or beyond it. */
export function oracleLost(bet: Bet, price: number, percent: number): boolean {
  const [open, now, lost] = [BigInt(bet.openPrice) * 1000n, BigInt(price) * 1000n, pressed(bet) * BigInt(percent)]
  return bet.direction === 'long' ? now < open - lost + 1000n : now > open + lost - 1000n
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
  /** Whether the player is playing just now. */
  readonly isOnPitch: boolean
  /** Levels that fired together are being closed. */
  readonly isLeaving: boolean
  /** Protection: what is remembered of news of the player. */
  readonly news: NewsMemory | null
  readonly at: number
  readonly rules: TradingRules
}

function playing({ info, at, rules }: Moment): boolean {
  if (info.settling !== null || info.settledAt !== null) return false
  if (info.phase === 'scheduled') return rules.preMatch
  if (info.phase !== 'live' && info.phase !== 'break') return false
  const stands = info.clock === null ? 0 : at - info.clock.movedAt
  return info.sourceAt !== null && at - info.sourceAt <= rules.feedStaleMs && stands <= rules.feedFrozenMs
}

export const oracleMayOpen = (moment: Moment): boolean =>
  playing(moment) && !moment.isLeaving && moment.isOnPitch && !isHeld(moment, 'opensFrom')

function isHeld({ news, at, rules }: Moment, from: 'opensFrom' | 'closesFrom'): boolean {
  const held = rules.protection === null ? null : (news?.hold ?? null)
  return held !== null && at < held[from]
}

/** A hold that would last more than twice its length was begun by a clock that has been put back since. */
export const oracleHeld = (openedAt: number, closableAt: number, at: number): boolean =>
  at < closableAt && at >= 2 * openedAt - closableAt

/** Also before kick-off, put off or not, and from the end of a match until its settlement begins. */
export function oracleMayClose(moment: Moment): boolean {
  const { phase, settling, kickedOffAt } = moment.info
  const isAwaited = phase === 'scheduled' || (phase === 'off' && kickedOffAt === null)
  const waits = settling === null && (isAwaited || phase === 'ended' || phase === 'final')
  return (playing(moment) || waits) && !moment.isLeaving && !isHeld(moment, 'closesFrom')
}
