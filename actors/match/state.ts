/** What one match owns: the fixture, its instruments, the open positions. Only `apply` changes it. */
import { assert, present } from '../kernel/assert.ts'
import type { InstrumentId, PositionId, UserId } from '../kernel/ids.ts'
import type { Price } from '../kernel/micros.ts'
import { type FixtureSnapshot, matchMinute } from '../market/fixture.ts'
import type { Instrument } from '../market/instrument.ts'
import { phaseOf } from '../market/phase.ts'
import { EMPTY_PRICING, type PricingMemory } from '../market/pricing.ts'
import type { Position } from '../position/position.ts'
import { TriggerBooks } from '../position/triggers.ts'
import { apply, type MatchTarget } from './apply.ts'
import type { MatchEvent, MatchInfo } from './messages.ts'
import type { MatchRecord } from './store.ts'

/** What rules and rooms may read of a match. */
export interface MatchView {
  readonly info: MatchInfo
  readonly pricing: PricingMemory
  instrument(id: InstrumentId): Instrument | undefined
  instruments(): Iterable<Instrument>
  /** An open position; a closed one is not here any more. */
  position(id: PositionId): Position | undefined
  openPositions(): Iterable<Position>
  positionsOf(userId: UserId): readonly Position[]
  /** Open positions of an instrument that a price closes or warns about, earliest opened first. */
  firing(id: InstrumentId, at: Price): readonly Position[]
}

/** A match nobody has traded yet, as its first snapshot describes it. */
export function newMatch(snapshot: FixtureSnapshot, options: { readonly replay: boolean }): MatchRecord {
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
    replay: options.replay,
    feedSeq: 0,
    sourceAt: null,
    endedAt: null,
    endedSeq: null,
    settling: null,
    settledAt: null,
    events: [],
    squad: [],
    teamStats: null,
  }
  return { info, pricing: EMPTY_PRICING, instruments: [], openPositions: [] }
}

/** Those of one instant are closed at one price; which comes first only has to be the same every time. */
const byAge = (a: Position, b: Position): number => a.openedAt - b.openedAt || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/**
 * Whose positions are which. Few each, so lists: a set for every user would be most of what a match takes in memory. Of
 * positions, not of ids: looking one up among 100,000 takes as long as anything else that a trade does.
 */
class PositionsByUser {
  readonly #positions = new Map<UserId, readonly Position[]>()

  of(userId: UserId): readonly Position[] {
    return this.#positions.get(userId) ?? []
  }

  add(position: Position): void {
    this.#positions.set(position.userId, [...this.of(position.userId), position])
  }

  /** In its place. */
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

/** The committed state: a cache of facts that the database has. */
export class MatchState implements MatchView, MatchTarget {
  #info: MatchInfo
  #pricing: PricingMemory
  readonly #instruments = new Map<InstrumentId, Instrument>()
  readonly #positions = new Map<PositionId, Position>()
  readonly #byUser = new PositionsByUser()
  readonly #triggers = new TriggerBooks()

  constructor(record: MatchRecord) {
    this.#info = record.info
    this.#pricing = record.pricing
    for (const instrument of record.instruments) this.putInstrument(instrument)
    for (const position of record.openPositions) this.addPosition(position)
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

  firing(id: InstrumentId, at: Price): Position[] {
    const ids = this.#triggers.firing(id, at)
    return ids.map((p) => present(this.#positions.get(p), `position ${p}`)).toSorted(byAge)
  }

  apply(event: MatchEvent): void {
    apply(this, event)
  }

  /** Remembers what subscribers were told. The one change that needs no commit: a restart tells them again. */
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
    this.#triggers.add(position)
  }

  changePosition(position: Position): void {
    this.#triggers.remove(present(this.#positions.get(position.id), 'position to change'))
    this.#positions.set(position.id, position)
    this.#byUser.change(position)
    this.#triggers.add(position)
  }

  removePosition(id: PositionId): void {
    const position = present(this.#positions.get(id), `position ${id}`)
    this.#positions.delete(id)
    this.#byUser.remove(position)
    this.#triggers.remove(position)
  }
}

/**
 * A batch being decided: the committed state with what the batch would change laid over it. Dropped when the commit is
 * turned down, so that memory is never ahead of the database.
 */
export class Draft implements MatchView, MatchTarget {
  readonly events: MatchEvent[] = []
  readonly #base: MatchView
  #info: MatchInfo
  #pricing: PricingMemory
  readonly #instruments = new Map<InstrumentId, Instrument>()
  /** Opened and changed positions; null for closed ones. */
  readonly #positions = new Map<PositionId, Position | null>()
  /** Of the opened and changed ones: a batch of 500 on one instrument must not look at 500 for each. */
  readonly #triggers = new TriggerBooks()
  /** The same of a user's. */
  readonly #byUser = new PositionsByUser()

  constructor(base: MatchView) {
    this.#base = base
    this.#info = base.info
    this.#pricing = base.pricing
  }

  /** Records what would happen, and lets the rest of the batch see it. */
  emit(event: MatchEvent): void {
    apply(this, event)
    this.events.push(event)
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

  firing(id: InstrumentId, at: Price): Position[] {
    const fired = this.#base.firing(id, at).filter((p) => !this.#positions.has(p.id))
    for (const own of this.#triggers.firing(id, at)) fired.push(present(this.position(own), `position ${own}`))
    return fired.toSorted(byAge)
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

  /** One that is open already has been opened under the same key: the commit turns that down, and this with it. */
  addPosition(position: Position): void {
    this.#put(position.id, position)
  }

  changePosition(position: Position): void {
    present(this.position(position.id), `position ${position.id}`)
    this.#put(position.id, position)
  }

  removePosition(id: PositionId): void {
    present(this.position(id), `position ${id}`)
    this.#put(id, null)
  }

  #put(id: PositionId, position: Position | null): void {
    const before = this.#positions.get(id) ?? null
    if (before !== null) {
      this.#triggers.remove(before)
      this.#byUser.remove(before)
    }
    if (position !== null) {
      this.#triggers.add(position)
      this.#byUser.add(position)
    }
    this.#positions.set(id, position)
  }
}
