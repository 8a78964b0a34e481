/**
 * A user's account, derived from its events: open positions, closed positions, and what follows from both for each
 * purse.
 */
import { STARTING_BALANCE } from '../../../actors/kernel/limits.ts'
import { lots, money, price } from '../../../actors/kernel/micros.ts'
import { purseNamed, isCommon } from '../../../actors/kernel/purse.ts'
import { realisedPnl } from '../../../actors/position/position.ts'
import type { EventSeen, PositionSeen } from './simulated-client.ts'

/** Something holds that must never hold. */
export class Violation extends Error {
  override name = 'Violation'
}

/** Throws a Violation unless it holds. */
export function demand(holds: boolean, otherwise: () => string): void {
  if (!holds) throw new Violation(otherwise())
}

/** What a purse holds, in micros. */
export interface Holding {
  /** The start − Σ margins of open positions + Σ realised PnL of closed ones. */
  balance: number
  marginUsed: number
}

/** What a purse held after an event. */
interface Moment extends Readonly<Holding> {
  readonly purse: string
  readonly marker: number
}

/** Far fewer events than this follow before an answer is compared. */
const MOMENTS_MAX = 10_000

export class Account {
  readonly open = new Map<string, PositionSeen>()
  readonly closed = new Map<string, PositionSeen>()
  /** The last event that was read. */
  marker = 0
  readonly #holdings = new Map<string, Holding>()
  /** In the order of the events. */
  readonly #moments: Moment[] = []

  /** What is in a purse. Every purse begins with 10,000 units. */
  holding(purse: string): Holding {
    let holding = this.#holdings.get(purse)
    if (holding === undefined) this.#holdings.set(purse, (holding = { balance: STARTING_BALANCE, marginUsed: 0 }))
    return holding
  }

  /** Whether a purse held this much after the event of this marker, or after a later one. */
  hasHeldSince(purse: string, marker: number, { balance, marginUsed }: Readonly<Holding>): boolean {
    const matches = (then: Moment): boolean =>
      then.purse === purse && then.balance === balance && then.marginUsed === marginUsed
    // Markers have no gaps, and an answer shows what was soon after its event.
    for (let n = Math.max(0, marker - (this.#moments[0]?.marker ?? marker)); n < this.#moments.length; n++) {
      const then = this.#moments[n]
      if (then !== undefined && matches(then)) return true
    }
    return false
  }

  /** Applies the next event. Throws a Violation if one is missing, repeated, or contradicts those before. */
  apply(event: EventSeen): void {
    this.#take(event)
    const { purse } = event.position
    this.#moments.push({ purse, marker: event.marker, ...this.holding(purse) })
    if (this.#moments.length > MOMENTS_MAX) this.#moments.shift()
  }

  #take(event: EventSeen): void {
    const { marker, type, position } = event
    demand(marker === this.marker + 1, () => `event ${marker} follows event ${this.marker}`)
    this.marker = marker
    const known = this.open.get(position.id)
    if (type === 'opened') {
      demand(known === undefined && !this.closed.has(position.id), () => `position ${position.id} opens twice`)
      this.open.set(position.id, position)
      const holding = this.holding(position.purse)
      holding.balance -= position.margin
      holding.marginUsed += position.margin
      return
    }
    if (known === undefined) throw new Violation(`event ${marker}: ${type}, but position ${position.id} is not open`)
    demand(sameTerms(known, position), () => `position ${position.id} opened as ${brief(known)}, is ${brief(position)}`)
    if (type === 'closed') this.#close(position)
    else this.open.set(position.id, position)
  }

  /** Σ signed lots of open positions that count for prices, by instrument. */
  addExposureTo(exposure: Map<string, number>): void {
    for (const { instrumentId: id, purse, direction, lotSize } of this.open.values()) {
      if (isLeague(purse)) continue
      exposure.set(id, (exposure.get(id) ?? 0) + (direction === 'long' ? lotSize : -lotSize))
    }
  }

  #close(position: PositionSeen): void {
    const { id, purse, margin, closePrice, realizedPnl, closedBy } = position
    if (closePrice === null || realizedPnl === null) throw new Violation(`position ${id} is closed without a price`)
    // A match that is called off gives back the margin.
    const isOff = closedBy === 'void'
    const due = isOff ? 0 : realisedPnl(termsOf(position), price(closePrice))
    demand(realizedPnl === due, () => `position ${id} paid ${realizedPnl} instead of ${due}: ${brief(position)}`)
    this.open.delete(id)
    this.closed.set(id, position)
    const holding = this.holding(purse)
    holding.balance += margin + realizedPnl
    holding.marginUsed -= margin
  }
}

/** What is traded in a league moves no price. */
export function isLeague(name: string): boolean {
  const purse = purseNamed(name)
  return purse !== null && !isCommon(purse)
}

/** Whether two readings of a position agree on how it was opened. */
export function sameTerms(a: PositionSeen, b: PositionSeen): boolean {
  return (
    a.id === b.id &&
    a.purse === b.purse &&
    a.instrumentId === b.instrumentId &&
    a.direction === b.direction &&
    a.lotSize === b.lotSize &&
    a.openPrice === b.openPrice &&
    a.margin === b.margin
  )
}

/** Whether they agree on how it was closed, if it was, and on what that paid. */
export function sameClose(a: PositionSeen, b: PositionSeen): boolean {
  return sameExit(a, b) && a.realizedPnl === b.realizedPnl
}

const sameExit = (a: PositionSeen, b: PositionSeen): boolean =>
  a.closePrice === b.closePrice && a.closedBy === b.closedBy

export function brief(p: PositionSeen): string {
  const { id, purse, direction, lotSize, openPrice, margin, closePrice, realizedPnl, closedBy } = p
  return JSON.stringify({ id, purse, direction, lotSize, openPrice, margin, closePrice, realizedPnl, closedBy })
}

function termsOf({ direction, lotSize, openPrice, margin }: PositionSeen) {
  return { direction, lots: lots(lotSize), openPrice: price(openPrice), margin: money(margin) }
}
