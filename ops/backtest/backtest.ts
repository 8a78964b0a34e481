/**
 * Plays a recording with traders that all follow one strategy. Fills, holds, levels and refusals are those of the real
 * actor, and every trader's orders move the prices that the others see.
 */
import { present } from '../../actors/kernel/assert.ts'
import { instrumentId, positionId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import { decimal, lots, microsNearest, type Price, price } from '../../actors/kernel/micros.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import { instant, MINUTE_MS } from '../../actors/kernel/world.ts'
import { exitPrice, quoteOf } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { holdingsOf } from '../../actors/match/holdings.ts'
import type { Trade, UserCommand } from '../../actors/match/messages.ts'
import { exposureOf, type Position, realisedPnl } from '../../actors/position/position.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { FRAME_MS } from '../../actors/replay/recording.ts'
import { MatchRun } from '../../src/match-run/match-run.ts'
import { type RecordedMatch, RUN_STARTS_AT } from '../../src/match-run/recorded-match.ts'
import type { HeldPosition, Order, Seen, SeenInstrument, Strategy } from './strategy.ts'

/** Amounts in units. */
export interface BacktestResult {
  readonly traders: number
  readonly opened: number
  /** Orders that the rules refused, by code; `invalid` for numbers that no order can have. */
  readonly refused: Readonly<Record<string, number>>
  /** Ended positions, by what closed them. */
  readonly closedBy: Readonly<Record<string, number>>
  /** What the house has won from all traders. */
  readonly house: number
  /** By trader, a value for each minute of the recording: balance, margins, and what closing everything would bring. */
  readonly equity: readonly (readonly number[])[]
}

/** Updates after the last one, so that full time is confirmed and settles. */
const AFTER_FULL_TIME = 12
/** Orders that are submitted together: fewer than a mailbox takes. */
const TOGETHER = 500
/** Orders of one trader at one moment; more are refused as `too_many`. */
const ORDERS_MAX = 20

interface TraderRun {
  readonly user: UserId
  readonly decide: (seen: Seen) => readonly Order[]
  readonly equity: number[]
}

/** Rejects with the first error that the strategy throws. */
export async function backtest(match: RecordedMatch, strategy: Strategy, count: number): Promise<BacktestResult> {
  const first = present(match.snapshots[0], 'readable update')
  const run = new MatchRun({
    first: { ...first, sourceAt: RUN_STARTS_AT },
    histories: match.histories,
    rules: () => DEFAULT_RULES,
    model: () => DEFAULT_MODEL,
    balance: STARTING_BALANCE,
  })
  const traders = Array.from({ length: count }, (_, trader): TraderRun => {
    const chance = chanceFrom(trader + 1)
    const decide = strategy({ trader, random: () => chance.uniform() })
    return { user: userId(`trader/${trader}`), decide, equity: [] }
  })
  const refused: Record<string, number> = {}
  const refuse = (code: string): void => void (refused[code] = (refused[code] ?? 0) + 1)
  let opened = 0
  const last = match.snapshots.length - 1
  for (let index = 0; index <= last + AFTER_FULL_TIME; index++) {
    run.passTo(instant(RUN_STARTS_AT + index * FRAME_MS))
    await run.update(present(match.snapshots[Math.min(index, last)], 'update'), index + 1)
    if ((index * FRAME_MS) % MINUTE_MS === 0)
      for (const trader of traders) trader.equity.push(worthOf(run, trader.user))
    if (index > last || run.view.info.settling !== null) continue
    const commands = commandsOf(run, traders, refuse)
    for (let from = 0; from < commands.length; from += TOGETHER) {
      const outcomes = await Promise.all(commands.slice(from, from + TOGETHER).map((command) => run.submit(command)))
      for (const [n, outcome] of outcomes.entries()) {
        if (!outcome.ok) refuse(outcome.refusal.code)
        else if (isOpening(commands[from + n], outcome)) opened++
      }
    }
  }
  await run.conclude()
  await run.end()
  for (const trader of traders) trader.equity.push(worthOf(run, trader.user))
  const closedBy: Record<string, number> = {}
  for (const trade of run.trades) closedBy[trade.closedBy] = (closedBy[trade.closedBy] ?? 0) + 1
  return {
    traders: count,
    opened,
    refused,
    closedBy,
    house: -run.trades.reduce((sum, { pnl }) => sum + pnl, 0) / 1e6,
    equity: traders.map(({ equity }) => equity),
  }
}

const isOpening = (command: UserCommand | undefined, outcome: Outcome<Trade>): boolean =>
  outcome.ok && command?.kind === 'open_position'

/** What a trader would have after closing every position alone. */
function worthOf(run: MatchRun, user: UserId): number {
  const { balance, margin } = run.funds(user)
  const [holding] = holdingsOf(run.view, [{ userId: user, purse: run.view.info.purse }])
  return (balance + margin + (holding?.unrealizedPnl ?? 0)) / 1e6
}

/** What all traders want now. All of them see the same prices. */
function commandsOf(run: MatchRun, traders: readonly TraderRun[], refuse: (code: string) => void): UserCommand[] {
  const instruments = Array.from(run.view.instruments(), (one): SeenInstrument => {
    const { base, imbalance, price: current } = quoteOf(one)
    return {
      id: one.id,
      name: one.name,
      position: one.role,
      currentPrice: decimal(current),
      live_base_price: decimal(base),
      net_position_imbalance: decimal(imbalance),
      tradingStatus: run.window(one.id).status,
    }
  })
  const commands: UserCommand[] = []
  for (const { user, decide } of traders) {
    const positions = run.view.positionsOf(user).map((position) => heldOf(run, position))
    const orders = decide({ now: run.now, instruments, positions, freeMargin: decimal(run.funds(user).free) })
    for (const [n, order] of orders.entries()) {
      const command = n < ORDERS_MAX ? commandOf(run, user, order) : 'too_many'
      if (typeof command === 'string') refuse(command)
      else commands.push(command)
    }
  }
  return commands
}

function heldOf(run: MatchRun, position: Position): HeldPosition {
  const instrument = present(run.view.instrument(position.instrumentId), 'instrument')
  return {
    id: position.id,
    instrumentId: position.instrumentId,
    direction: position.direction,
    lotSize: decimal(position.lots),
    openPrice: decimal(position.openPrice),
    margin: decimal(position.margin),
    closableAt: position.closableAt,
    unrealizedPnl: decimal(realisedPnl(position, exitPrice(instrument, exposureOf(position)))),
  }
}

/** The command of an order, or why there is none. The price that a trader has seen is the current one. */
function commandOf(run: MatchRun, user: UserId, order: Order): UserCommand | string {
  if (order.kind === 'close') {
    return { kind: 'close_position', userId: user, positionId: positionId(order.positionId), idempotency: null }
  }
  const levels = { stopLoss: levelOf(order.stopLoss), takeProfit: levelOf(order.takeProfit) }
  if (levels.stopLoss === 'invalid' || levels.takeProfit === 'invalid') return 'invalid'
  if (order.kind === 'change') {
    const { stopLoss, takeProfit } = levels
    return { kind: 'change_levels', userId: user, positionId: positionId(order.positionId), stopLoss, takeProfit }
  }
  const instrument = run.view.instrument(instrumentId(order.instrumentId))
  if (instrument === undefined) return 'not_found'
  if (!(order.lotSize > 0 && order.lotSize < 1e6)) return 'invalid'
  return {
    kind: 'open_position',
    userId: user,
    instrumentId: instrument.id,
    direction: order.direction,
    lots: lots(microsNearest(order.lotSize)),
    clientPrice: quoteOf(instrument).price,
    stopLoss: levels.stopLoss ?? null,
    takeProfit: levels.takeProfit ?? null,
    idempotency: null,
  }
}

function levelOf(level: number | null | undefined): Price | null | undefined | 'invalid' {
  if (level === null || level === undefined) return level
  const micros = level > 0 && level < 1e9 ? microsNearest(level) : 0
  return micros > 0 ? price(micros) : 'invalid'
}
