/**
 * What a strategy is. It sees what a bot sees over the API, with the same names and units, and answers with the orders
 * that a bot would send. So one file is tested over recordings (`npm run ops -- backtest`) and trades on a server
 * (`npm run ops -- trade`).
 */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A player, as `GET /api/instruments` shows them. Prices in units, the imbalance in lots. */
export interface SeenInstrument {
  readonly id: string
  readonly name: string
  /** GK, DEF, MID or FWD. */
  readonly position: string
  readonly currentPrice: number
  readonly live_base_price: number
  readonly net_position_imbalance: number
  readonly tradingStatus: 'OPEN' | 'SUSPENDED' | 'CLOSED'
}

/** An open position of one's own. */
export interface HeldPosition {
  readonly id: string
  readonly instrumentId: string
  readonly direction: 'long' | 'short'
  readonly lotSize: number
  readonly openPrice: number
  readonly margin: number
  /** Milliseconds since 1970. */
  readonly closableAt: number
  readonly unrealizedPnl: number
}

export interface Seen {
  /** Milliseconds since 1970. In a backtest it is the time of the recording. */
  readonly now: number
  readonly instruments: readonly SeenInstrument[]
  readonly positions: readonly HeldPosition[]
  /** What may be spent on margins, in units. */
  readonly freeMargin: number
}

/** A level left out is kept, null removes it. */
export type Order =
  | {
      readonly kind: 'open'
      readonly instrumentId: string
      readonly direction: 'long' | 'short'
      readonly lotSize: number
      readonly stopLoss?: number
      readonly takeProfit?: number
    }
  | {
      readonly kind: 'change'
      readonly positionId: string
      readonly stopLoss?: number | null
      readonly takeProfit?: number | null
    }
  | { readonly kind: 'close'; readonly positionId: string }

export interface TraderTerms {
  /** From 0. Many traders of one strategy should not all do the same. */
  readonly trader: number
  /** From 0 to 1. Repeats in every backtest. */
  readonly random: () => number
}

/** Called once for each trader. What it returns is called with every change of prices. */
export type Strategy = (terms: TraderTerms) => (seen: Seen) => readonly Order[]

/** The strategy that a file exports as its default. Throws when there is none. */
export async function loadStrategy(file: string): Promise<Strategy> {
  // npm changes the directory: a path is meant from where the command was given.
  const path = resolve(process.env['INIT_CWD'] ?? process.cwd(), file)
  const loaded = (await import(pathToFileURL(path).href)) as { readonly default?: unknown }
  if (typeof loaded.default !== 'function') throw new Error(`${file} exports no strategy as its default`)
  return loaded.default as Strategy
}
