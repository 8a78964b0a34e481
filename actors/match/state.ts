/** The state of one match: fixture, instruments and open positions. Only `apply` changes it. */
import { assert, present } from '../kernel/assert.ts'
import type { InstrumentId, PositionId, UserId } from '../kernel/ids.ts'
import { type Lots, lots, type Money, money, type Price } from '../kernel/micros.ts'
import type { CommonPurse, WalletKey } from '../kernel/purse.ts'
import { firstBelief } from '../market/belief/believe.ts'
import { matchMinute, type SaidFixture } from '../market/fixture.ts'
import type { Instrument } from '../market/instrument.ts'
import { phaseOf } from '../market/phase.ts'
import { EMPTY_PRICING, type PricingMemory } from '../market/pricing.ts'
import type { Instant } from '../kernel/world.ts'
import type { ClosedPosition, Position } from '../position/position.ts'
import { bookOf, NO_REACH, type Reach, type TriggerBookId, TriggerBooks } from '../position/triggers.ts'
import { apply, type MatchTarget } from './apply.ts'
import type { MatchEvent, MatchInfo } from './messages.ts'
import { type MovableClose, MovableCloses } from './protection/closes.ts'
import type { MatchRecord } from './store.ts'

/** The part of a match that rules and rooms may read. */
export interface MatchView {
  readonly info: MatchInfo
  readonly pricing: PricingMemory
  instrument(id: InstrumentId): Instrument | undefined
  instruments(): Iterable<Instrument>
  /** An open position. Closed positions are not kept. */
  position(id: PositionId): Position | undefined
  openPositions(): Iterable<Position>
  positionsOf(userId: UserId): readonly Position[]
  /** Protection: the closes that news may move. */
  movableCloses(): Iterable<MovableClose>
  /** The largest position whose triggers are in a book, or a larger one that was. */
  largest(book: TriggerBookId): Lots
  /**
   * The open positions of a book whose triggers are within reach and were not within `searched`, found as they are
   * asked for. Nothing may change meanwhile.
   */
  watched(book: TriggerBookId, reach: Reach, searched?: Reach): Iterable<Position>
}

/** Where a new match comes from, and the purse that it is traded with; absent means `main`. */
export interface MatchOrigin {
  readonly replay: boolean
  readonly purse?: CommonPurse
}

/** What is not known of a match before its first update is taken. */
export const UNPLAYED = {
  speed: 1,
  feedSeq: 0,
  sourceAt: null,
  clock: null,
  endedAt: null,
  endedSeq: null,
  kickedOffAt: null,
  settling: null,
  events: [],
  squad: [],
  onPitch: null,
  teamStats: null,
} as const

/** A new match, as its first snapshot describes it. */
export function newMatch(said: SaidFixture, { replay, purse = 'main' }: MatchOrigin): MatchRecord {
  const snapshot = firstBelief(said)
  const info: MatchInfo = {
    matchId: snapshot.fixtureId,
    name: snapshot.name,
    league: snapshot.league,
    startsAt: snapshot.startsAt,
    state: snapshot.state,
    stateId: snapshot.stateId,
    phase: phaseOf(snapshot),
    minute: matchMinute(snapshot.periods),
    home: snapshot.home,
    away: snapshot.away,
    replay,
    purse,
    settledAt: null,
    ...UNPLAYED,
  }
  return { info, pricing: EMPTY_PRICING, instruments: [], openPositions: [] }
}

/**
 * Positions by user, in lists: users hold few each, and a set per user would be most of a match's memory. The lists
 * hold positions, not ids, because a lookup among 100,000 takes as long as the rest of a trade.
 */
class PositionsByUser {
  readonly #positions = new Map<UserId, readonly Position[]>()

  of(userId: UserId): readonly Position[] {
    return this.#positions.get(userId) ?? []
  }

  add(position: Position): void {
    this.#positions.set(position.userId, [...this.of(position.userId), position])
  }

  /** Keeps its place in the list. */
  change(position: Position): void {
    const own = this.of(position.userId).map((one) => (one.id === position.id ? position : one))
    this.#positions.set(position.userId, own)
  }

  remove({ id, userId }: Position): void {
    const left = this.of(userId).filter((one) => one.id !== id)
    if (left.length === 0) this.#positions.delete(userId)
    else this.#positions.set(userId, left)
  }
}

/** The committed state: a cache of facts in the database. */
export class MatchState implements MatchView, MatchTarget {
  #info: MatchInfo
  #pricing: PricingMemory
  readonly #instruments = new Map<InstrumentId, Instrument>()
  readonly #positions = new Map<PositionId, Position>()
  readonly #byUser = new PositionsByUser()
  readonly #triggers = new TriggerBooks()
  readonly #movable = new MovableCloses()

  constructor(record: MatchRecord) {
    this.#info = record.info
    this.#pricing = record.pricing
    for (const instrument of record.instruments) this.putInstrument(instrument)
    for (const position of record.openPositions) this.addPosition(position)
    for (const { position, until } of record.movableCloses ?? []) this.putMovable(position, until)
  }

  get info(): MatchInfo {
    return this.#info
  }

  get pricing(): PricingMemory {
    return this.#pricing
  }

  instrument(id: InstrumentId): Instrument | undefined {
    return this.#instruments.get(id)
  }

  instruments(): Iterable<Instrument> {
    return this.#instruments.values()
  }

  position(id: PositionId): Position | undefined {
    return this.#positions.get(id)
  }

  openPositions(): Iterable<Position> {
    return this.#positions.values()
  }

  positionsOf(userId: UserId): readonly Position[] {
    return this.#byUser.of(userId)
  }

  movableCloses(): Iterable<MovableClose> {
    return this.#movable
  }

  putMovable(position: ClosedPosition, until: Instant): void {
    this.#movable.put({ position, until })
  }

  forgetMovable(id: PositionId): void {
    this.#movable.forget(id)
  }

  largest(book: TriggerBookId): Lots {
    return this.#triggers.of(book)?.largest ?? lots(0)
  }

  watched(book: TriggerBookId, reach: Reach, searched?: Reach): Iterable<Position> {
    return this.#triggers.of(book)?.within(reach, searched) ?? []
  }

  apply(event: MatchEvent): void {
    apply(this, event)
  }

  /** Records the price last published. The one change without a commit: after a restart it is published again. */
  markPublished(id: InstrumentId, price: Price): void {
    this.#instruments.set(id, { ...this.listed(id), published: price })
  }

  setInfo(info: MatchInfo, pricing: PricingMemory): void {
    this.#info = info
    this.#pricing = pricing
  }

  putInstrument(instrument: Instrument): void {
    this.#instruments.set(instrument.id, instrument)
  }

  listed(id: InstrumentId): Instrument {
    return present(this.#instruments.get(id), `instrument ${id}`)
  }

  addPosition(position: Position): void {
    const before = this.#positions.size
    this.#positions.set(position.id, position)
    assert(this.#positions.size > before, `position ${position.id} is open already`)
    this.#byUser.add(position)
    this.#triggers.add(position, this.listed(position.instrumentId).slope)
  }

  changePosition(position: Position): void {
    this.#triggers.remove(present(this.#positions.get(position.id), 'position to change'))
    this.#positions.set(position.id, position)
    this.#byUser.change(position)
    this.#triggers.add(position, this.listed(position.instrumentId).slope)
  }

  removePosition(id: PositionId): void {
    const position = present(this.#positions.get(id), `position ${id}`)
    this.#positions.delete(id)
    this.#byUser.remove(position)
    this.#triggers.remove(position)
  }
}

/** How far a batch has searched the committed triggers of an instrument, and what it found that is as it was. */
interface Search {
  reach: Reach
  readonly found: Map<PositionId, Position>
}

/**
 * A batch being decided: the committed state under the batch's own changes. It is dropped when the commit is rejected,
 * so memory is never ahead of the database.
 */
export class Draft implements MatchView, MatchTarget {
  readonly events: MatchEvent[] = []
  room: number
  readonly #base: MatchView
  #info: MatchInfo
  #pricing: PricingMemory
  readonly #instruments = new Map<InstrumentId, Instrument>()
  /** Opened and changed positions; null marks a closed one. */
  readonly #positions = new Map<PositionId, Position | null>()
  /** Triggers of opened and changed positions: a batch of 500 on one instrument must not scan all 500 for each. */
  readonly #triggers = new TriggerBooks()
  /** A cascade looks at each committed trigger once, however many rounds it takes. */
  readonly #searches = new Map<TriggerBookId, Search>()
  /** Opened and changed positions by user. */
  readonly #byUser = new PositionsByUser()
  /** Movable closes that the batch has made or changed; null marks one that is forgotten. */
  readonly #movable = new Map<PositionId, MovableClose | null>()

  /** `room`: how many positions triggers may still close or warn about in this batch. */
  constructor(base: MatchView, room = Number.POSITIVE_INFINITY) {
    this.#base = base
    this.room = room
    this.#info = base.info
    this.#pricing = base.pricing
  }

  /** Records an event and shows it to the rest of the batch. */
  emit(event: MatchEvent): void {
    apply(this, event)
    this.events.push(event)
  }

  /** A position that this batch has closed; undefined for any other. */
  closed(id: PositionId): ClosedPosition | undefined {
    for (const event of this.events)
      if (event.kind === 'position_closed' && event.position.id === id) return event.position
    return undefined
  }

  /** What this batch has done for a wallet so far: micros that can be used again, and positions it has closed. */
  givenBackTo({ userId, purse }: WalletKey<UserId>): { readonly freed: Money; readonly closed: number } {
    let [freed, closed] = [0, 0]
    for (const event of this.events) {
      if (event.kind !== 'position_closed') continue
      const { position } = event
      if (position.userId !== userId || position.purse !== purse) continue
      if (event.movableUntil === undefined) freed += position.margin + position.close.pnl
      if (position.partOf === undefined) closed += 1
    }
    return { freed: money(freed), closed }
  }

  /** The instruments this batch lists or changes. */
  get touched(): Iterable<Instrument> {
    return this.#instruments.values()
  }

  get info(): MatchInfo {
    return this.#info
  }

  get pricing(): PricingMemory {
    return this.#pricing
  }

  instrument(id: InstrumentId): Instrument | undefined {
    return this.#instruments.get(id) ?? this.#base.instrument(id)
  }

  *instruments(): Iterable<Instrument> {
    for (const instrument of this.#base.instruments()) yield this.#instruments.get(instrument.id) ?? instrument
    for (const [id, instrument] of this.#instruments) if (this.#base.instrument(id) === undefined) yield instrument
  }

  position(id: PositionId): Position | undefined {
    const own = this.#positions.get(id)
    return own === undefined ? this.#base.position(id) : (own ?? undefined)
  }

  *openPositions(): Iterable<Position> {
    for (const position of this.#base.openPositions()) if (!this.#positions.has(position.id)) yield position
    for (const position of this.#positions.values()) if (position !== null) yield position
  }

  positionsOf(userId: UserId): Position[] {
    const held = this.#base.positionsOf(userId).filter((position) => !this.#positions.has(position.id))
    return [...held, ...this.#byUser.of(userId)]
  }

  *movableCloses(): Iterable<MovableClose> {
    for (const close of this.#base.movableCloses()) if (!this.#movable.has(close.position.id)) yield close
    for (const close of this.#movable.values()) if (close !== null) yield close
  }

  putMovable(position: ClosedPosition, until: Instant): void {
    this.#movable.set(position.id, { position, until })
  }

  forgetMovable(id: PositionId): void {
    this.#movable.set(id, null)
  }

  largest(book: TriggerBookId): Lots {
    return lots(Math.max(this.#base.largest(book), this.#triggers.of(book)?.largest ?? 0))
  }

  *watched(book: TriggerBookId, reach: Reach): Generator<Position> {
    const search = this.#searches.get(book) ?? { reach: NO_REACH, found: new Map() }
    this.#searches.set(book, search)
    yield* search.found.values()
    for (const position of this.#base.watched(book, reach, search.reach)) {
      if (this.#positions.has(position.id) || search.found.has(position.id)) continue
      search.found.set(position.id, position)
      yield position
    }
    // A caller that stops early has not searched this far, so the reach is recorded only now.
    search.reach = { down: Math.min(reach.down, search.reach.down), up: Math.max(reach.up, search.reach.up) }
    yield* this.#triggers.of(book)?.within(reach) ?? []
  }

  setInfo(info: MatchInfo, pricing: PricingMemory): void {
    this.#info = info
    this.#pricing = pricing
  }

  putInstrument(instrument: Instrument): void {
    this.#instruments.set(instrument.id, instrument)
  }

  listed(id: InstrumentId): Instrument {
    return present(this.instrument(id), `instrument ${id}`)
  }

  /**
   * Does not check for a duplicate: a position already open was opened under the same key, which the commit rejects.
   */
  addPosition(position: Position): void {
    this.#put(position.id, position)
  }

  changePosition(position: Position): void {
    this.#forget(position.id)
    this.#put(position.id, position)
  }

  removePosition(id: PositionId): void {
    this.#forget(id)
    this.#put(id, null)
  }

  #forget(id: PositionId): void {
    const book = bookOf(present(this.position(id), `position ${id}`))
    this.#searches.get(book)?.found.delete(id)
  }

  #put(id: PositionId, position: Position | null): void {
    const before = this.#positions.get(id) ?? null
    if (before !== null) {
      this.#triggers.remove(before)
      this.#byUser.remove(before)
    }
    if (position !== null) {
      this.#triggers.add(position, this.listed(position.instrumentId).slope)
      this.#byUser.add(position)
    }
    this.#positions.set(id, position)
  }
}
