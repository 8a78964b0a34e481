/** The synced state of a match room as a function of the match's committed state. */
import type { InstrumentId } from '../../actors/kernel/ids.ts'
import type { TradeWindow } from '../../actors/kernel/outcome.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import type { MatchView } from '../../actors/match/state.ts'
import { InstrumentWire, type MatchWire } from './match-wire.ts'

export interface Shown {
  readonly view: MatchView
  /** The trade window of the match, or of one instrument. */
  window(id?: InstrumentId): TradeWindow
}

/**
 * Writes the match into the state. Setting a field to its current value is no change, so this can be called whenever
 * something may have changed.
 */
export function project(shown: Shown, state: MatchWire): void {
  const { info } = shown.view
  const window = shown.window()
  state.matchId = info.matchId
  state.name = info.name
  state.replay = info.replay
  state.state = info.state ?? ''
  state.phase = info.phase
  state.minute = info.minute ?? -1
  state.homeName = info.home.name
  state.awayName = info.away.name
  state.homeGoals = info.home.goals ?? -1
  state.awayGoals = info.away.goals ?? -1
  state.homeShootout = info.home.shootout ?? -1
  state.awayShootout = info.away.shootout ?? -1
  state.trading = window.status
  state.tradingReason = window.reason ?? ''
  for (const instrument of shown.view.instruments()) {
    let wire = state.instruments.get(instrument.id)
    if (wire === undefined) {
      wire = new InstrumentWire()
      state.instruments.set(instrument.id, wire)
    }
    const quote = quoteOf(instrument)
    wire.price = quote.price
    wire.base = quote.base
    wire.imbalance = quote.imbalance
    wire.trading = shown.window(instrument.id).status
  }
}
