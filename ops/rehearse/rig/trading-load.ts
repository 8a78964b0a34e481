/** Trading that lasts through restarts: every trader trades while the server is up, and resumes when it returns. */
import { setTimeout as pause } from 'node:timers/promises'
import { Instruments, type SimulatedClient } from './simulated-client.ts'
import type { Market, SimulatedTrader } from './simulated-trader.ts'

/** Few enough instruments that traders move each other's prices. */
const INSTRUMENTS_MAX = 12
const POLL_MS = 200

export interface TradingLoad {
  /** From now on, or no longer, everybody wants the same player. */
  rush(isOn: boolean): void
  /** Rejects with the first Violation that a trader found. */
  stop(): Promise<unknown>
}

/** `observer` reads the instruments for all of them. */
export function startTrading(url: string, traders: readonly SimulatedTrader[], observer: SimulatedClient): TradingLoad {
  const market: Market = { instruments: [], isClosed: false }
  const refresh = async (): Promise<void> => {
    while (market.isClosed !== true) {
      const reply = await observer.ask(url, 'GET', '/api/instruments')
      if (reply !== 'lost' && reply.status === 200) market.instruments = tradeable(reply.body)
      else market.instruments = []
      await pause(POLL_MS)
    }
  }
  const trade = async (trader: SimulatedTrader): Promise<void> => {
    while (market.isClosed !== true) {
      await trader.play(url, market)
      await pause(POLL_MS)
    }
  }
  const ended = Promise.all([refresh(), ...traders.map(trade)])
  // A Violation is reported by `stop`, unless something else ends the run before.
  ended.catch(() => undefined)
  const stop = (): Promise<unknown> => {
    market.isClosed = true
    return ended
  }
  return { stop, rush: (isOn) => void (market.isRushed = isOn) }
}

/** The instruments of an answer that traders use. */
const tradeable = (body: unknown): Market['instruments'] =>
  Instruments.parse(body)
    .instruments.filter(({ tradingStatus }) => tradingStatus === 'OPEN')
    .slice(0, INSTRUMENTS_MAX)
