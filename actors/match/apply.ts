/** Event → state: the only code that changes a match, both the committed state and the draft. */
import { unreachable } from '../kernel/assert.ts'
import type { InstrumentId, PositionId } from '../kernel/ids.ts'
import { lots } from '../kernel/micros.ts'
import type { Instrument } from '../market/instrument.ts'
import type { PricingMemory } from '../market/pricing.ts'
import { exposureOf, type Position } from '../position/position.ts'
import { isAwaited, type RecentClose } from '../position/recent-close.ts'
import type { MatchEvent, MatchInfo } from './messages.ts'

/** The changes that applying an event can make to a state. */
export interface MatchTarget {
  setInfo(info: MatchInfo, pricing: PricingMemory): void
  putInstrument(instrument: Instrument): void
  /** Throws InvariantBroken when the instrument was never listed. */
  listed(id: InstrumentId): Instrument
  addPosition(position: Position): void
  changePosition(position: Position): void
  removePosition(id: PositionId): void
  /** Remembers a close for late news. Replaces what was remembered of it before. */
  putClose(close: RecentClose): void
  forgetClose(id: PositionId): void
}

export function apply(target: MatchTarget, event: MatchEvent): void {
  switch (event.kind) {
    case 'match_updated':
      return target.setInfo(event.info, event.pricing)
    case 'instrument_listed':
      return target.putInstrument(event.instrument)
    case 'news_changed':
      return target.putInstrument({ ...target.listed(event.instrumentId), news: event.news })
    case 'curve_changed': {
      const { instrumentId, impactCapPpm, awaitsSettlement } = event
      return target.putInstrument({ ...target.listed(instrumentId), impactCapPpm, awaitsSettlement })
    }
    case 'leaving_changed':
      return target.putInstrument({ ...target.listed(event.instrumentId), leavingFrom: event.leavingFrom })
    case 'instrument_settled':
      return target.putInstrument({ ...target.listed(event.instrumentId), settlement: event.price })
    case 'price_moved': {
      const instrument = target.listed(event.instrumentId)
      const { base } = event.quote
      // After a trade only the imbalance has moved, after a new cap neither has. Both still count as a touch.
      return target.putInstrument(instrument.base === base ? instrument : { ...instrument, base })
    }
    case 'position_opened':
      target.addPosition(event.position)
      return addImbalance(target, event.position, 1)
    case 'levels_changed':
    case 'margin_warned':
      return target.changePosition(event.position)
    case 'position_closed':
      target.removePosition(event.position.id)
      if (event.locks.length > 0) {
        target.putClose({ position: event.position, awaited: isAwaited(event.locks), corrections: [] })
      }
      return addImbalance(target, event.position, -1)
    case 'close_corrected': {
      const { position, awaited, corrections } = event
      return target.putClose({ position, awaited, corrections })
    }
    case 'close_forgotten':
      return target.forgetClose(event.positionId)
    default:
      return unreachable(event)
  }
}

function addImbalance(target: MatchTarget, position: Position, times: 1 | -1): void {
  const instrument = target.listed(position.instrumentId)
  target.putInstrument({ ...instrument, imbalance: lots(instrument.imbalance + times * exposureOf(position)) })
}
