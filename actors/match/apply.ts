/** Event → state: the only code that changes a match, both the committed state and the draft. */
import { present, unreachable } from '../kernel/assert.ts'
import type { InstrumentId, PositionId } from '../kernel/ids.ts'
import { lots } from '../kernel/micros.ts'
import type { Instrument } from '../market/instrument.ts'
import type { PricingMemory } from '../market/pricing.ts'
import type { Instant } from '../kernel/world.ts'
import { type ClosedPosition, exposureOf, type Position } from '../position/position.ts'
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
  /** Remembers a close that news may move, until it stands. */
  putMovable(position: ClosedPosition, until: Instant): void
  forgetMovable(id: PositionId): void
}

export function apply(target: MatchTarget, event: MatchEvent): void {
  switch (event.kind) {
    case 'match_updated':
      return target.setInfo(event.info, event.pricing)
    case 'instrument_listed':
      return target.putInstrument(event.instrument)
    case 'curve_changed': {
      const { instrumentId, impactCapPpm, endedImbalance } = event
      return target.putInstrument({ ...target.listed(instrumentId), impactCapPpm, endedImbalance })
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
    case 'position_split':
      target.changePosition(event.position)
      return target.addPosition(event.part)
    case 'levels_changed':
    case 'margin_warned':
      return target.changePosition(event.position)
    case 'position_closed':
      target.removePosition(event.position.id)
      if (event.movableUntil !== undefined) target.putMovable(event.position, event.movableUntil)
      return addImbalance(target, event.position, -1)
    case 'news_changed':
      return target.putInstrument({ ...target.listed(event.instrumentId), news: event.news })
    case 'fill_moved': {
      const { position, movableUntil } = event
      if (event.rest !== undefined) target.changePosition(event.rest)
      if (position.close === null) return target.changePosition(position)
      return target.putMovable({ ...position, close: position.close }, present(movableUntil, 'end of a close'))
    }
    case 'close_forgotten':
      return target.forgetMovable(event.positionId)
    default:
      return unreachable(event)
  }
}

function addImbalance(target: MatchTarget, position: Position, times: 1 | -1): void {
  const instrument = target.listed(position.instrumentId)
  target.putInstrument({ ...instrument, imbalance: lots(instrument.imbalance + times * exposureOf(position)) })
}
