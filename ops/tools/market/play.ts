/**
 * Plays one match through the real parser, price model and rules, with strategies that trade in it. No server, no clock and
 * no database: a decision is applied at once, as if its commit had succeeded.
 */
import { present } from '../../../actors/kernel/assert.ts'
import {
  type FixtureId,
  type InstrumentId,
  type PlayerId,
  type PositionId,
  userId,
} from '../../../actors/kernel/ids.ts'
import type { TradingRules } from '../../../actors/kernel/limits.ts'
import { type Lots, lots, type Price } from '../../../actors/kernel/micros.ts'
import { type Instant, instant, SECOND_MS } from '../../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../../actors/market/fixture.ts'
import { type Instrument, quoteOf } from '../../../actors/market/instrument.ts'
import type { ScoringModel } from '../../../actors/market/pricing.ts'
import { decide, proceed } from '../../../actors/match/decide.ts'
import type { MatchEvent, UserCommand } from '../../../actors/match/messages.ts'
import { Draft, type MatchView, MatchState, newMatch } from '../../../actors/match/state.ts'
import type { InstrumentHistory } from '../../../actors/match/store.ts'
import type { ClosedBy, Direction, Position } from '../../../actors/position/position.ts'
import { parseFixture } from '../../../src/provider/snapshot.ts'

/** A match as the provider reported it, and what its players are worth beforehand. */
export interface Fixture {
  readonly id: FixtureId
  readonly snapshots: readonly FixtureSnapshot[]
  readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
}

/** What a trader wants at an instant. An order that the rules refuse is counted and forgotten. */
export interface Order {
  readonly at: Instant
  readonly instrumentId: InstrumentId
  readonly direction: Direction
  /** How long it is held after it may be closed; null until full time. */
  readonly heldForMs: number | null
  readonly stopLoss?: Price
  readonly takeProfit?: Price
}

/** Closes a position that the trader holds, at an instant. */
export interface Exit {
  readonly at: Instant
  readonly positionId: PositionId
}

/** What a strategy sees after each update, and how it acts. */
export interface Floor {
  readonly now: Instant
  /** Index of the update. */
  readonly index: number
  readonly snapshot: FixtureSnapshot
  readonly before: FixtureSnapshot | null
  readonly view: MatchView
  /** Prices before this update, by instrument. */
  readonly pricesBefore: ReadonlyMap<InstrumentId, Price>
  priceOf(id: InstrumentId): Price
  instrumentOf(player: PlayerId | null): Instrument | undefined
  /** The trader's own open positions. */
  held(): readonly Position[]
  open(order: Order): void
  close(exit: Exit): void
}

/** What is about to happen, for strategies that are ahead of the feed. */
export interface Foresight {
  /** When the update at this index is received. */
  readonly atOf: (index: number) => Instant
  readonly snapshots: readonly FixtureSnapshot[]
  /** Bases after each update of a match without trades. */
  readonly bases: readonly ReadonlyMap<InstrumentId, Price>[]
}

export interface Strategy {
  readonly name: string
  /** What it knows that the feed has not shown: nothing, the pitch (by seconds of lead), or the whole recording. */
  readonly knows: 'public' | 'courtside' | 'recording'
  /** Called once before kick-off; orders may be placed for any later instant. */
  readonly prepare?: (foresight: Foresight, floor: Pick<Floor, 'open' | 'close'>) => void
  readonly onUpdate?: (floor: Floor, foresight: Foresight) => void
}

/** A position that has ended, as its owner's books show it. */
export interface Trade {
  readonly strategy: string
  readonly margin: number
  readonly pnl: number
  readonly closedBy: ClosedBy
  readonly openedAt: Instant
}

export interface Played {
  readonly trades: readonly Trade[]
  /** Orders that the rules refused, by strategy. */
  readonly refused: ReadonlyMap<string, number>
  readonly bases: readonly ReadonlyMap<InstrumentId, Price>[]
  readonly instruments: readonly Instrument[]
  /** Minutes on the pitch, by instrument: until the player went off, or the end. */
  readonly minutes: ReadonlyMap<InstrumentId, number>
}

const UPDATE_MS = 10 * SECOND_MS
/** A size at which a lone trader moves no price worth mentioning. */
const SIZE: Lots = lots(100_000)
/** Updates after the last one, so that full time is confirmed and settles. */
const AFTER_FULL_TIME = 12

export interface PlayOptions {
  readonly fixture: Fixture
  readonly model: ScoringModel
  readonly rules: TradingRules
  readonly strategies: readonly Strategy[]
}

/** The match with these strategies, each trading alone with a small size. */
export function play(options: PlayOptions): Played {
  const { fixture, strategies } = options
  const { snapshots } = fixture
  const start = present(snapshots[0], 'first update').sourceAt
  const atOf = (index: number): Instant => instant(start + index * UPDATE_MS)
  const alone = strategies.length === 0 ? [] : play({ ...options, strategies: [] }).bases
  const foresight: Foresight = { atOf, snapshots, bases: alone }
  const book = new Book(options)
  for (const strategy of strategies) strategy.prepare?.(foresight, book.hands(strategy))
  const bases: ReadonlyMap<InstrumentId, Price>[] = []
  for (const [index, snapshot] of snapshots.entries()) {
    const now = atOf(index)
    book.runUntil(now)
    const pricesBefore = book.prices()
    book.update(snapshot, index + 1, now)
    bases.push(new Map([...book.view.instruments()].map((i) => [i.id, i.base])))
    const floor = { now, index, snapshot, before: snapshots[index - 1] ?? null, view: book.view, pricesBefore }
    for (const strategy of strategies) strategy.onUpdate?.({ ...floor, ...book.hands(strategy) }, foresight)
  }
  const last = present(snapshots.at(-1), 'last update')
  for (let n = 0; n < AFTER_FULL_TIME; n += 1) {
    const index = snapshots.length + n
    book.runUntil(atOf(index))
    book.update({ ...last, sourceAt: atOf(index) }, index + 1, atOf(index))
    book.tick(atOf(index))
  }
  const instruments = [...book.view.instruments()]
  return { trades: book.trades, refused: book.refused, bases, instruments, minutes: minutesOf(bases) }
}

/** A base that stands still for the rest of the match is that of a player who has left it. */
function minutesOf(bases: readonly ReadonlyMap<InstrumentId, Price>[]): ReadonlyMap<InstrumentId, number> {
  const last = bases.at(-1) ?? new Map<InstrumentId, Price>()
  return new Map(
    [...last].map(([id, base]) => [id, ((bases.findLastIndex((b) => b.get(id) !== base) + 1) * UPDATE_MS) / 60_000]),
  )
}

interface Due {
  readonly at: Instant
  readonly run: () => void
}

/** The match, the orders that are due later, and what has been closed. */
class Book {
  readonly trades: Trade[] = []
  readonly refused = new Map<string, number>()
  readonly #options: PlayOptions
  readonly #state: MatchState
  #due: Due[] = []
  #ids = 0

  constructor(options: PlayOptions) {
    this.#options = options
    this.#state = new MatchState(newMatch(present(options.fixture.snapshots[0], 'first update'), { replay: false }))
  }

  get view(): MatchView {
    return this.#state
  }

  prices(): Map<InstrumentId, Price> {
    return new Map([...this.#state.instruments()].map((i) => [i.id, this.#priceOf(i)]))
  }

  hands({ name }: Strategy): Omit<Floor, 'now' | 'index' | 'snapshot' | 'before' | 'view' | 'pricesBefore'> {
    const user = userId(name)
    return {
      priceOf: (id) => this.#priceOf(this.#state.listed(id)),
      instrumentOf: (player) => [...this.#state.instruments()].find((i) => i.playerId === player),
      held: () => this.#state.positionsOf(user),
      open: (order) => this.#plan(order.at, () => this.#open(name, order)),
      close: ({ at, positionId }) =>
        this.#plan(at, () => {
          if (this.#state.position(positionId) === undefined) return
          this.#ask(name, { kind: 'close_position', userId: user, positionId, idempotency: null }, at)
        }),
    }
  }

  update(snapshot: FixtureSnapshot, seq: number, at: Instant): void {
    this.#proceed({ kind: 'feed_update', seq, snapshot: { ...snapshot, sourceAt: at } }, at)
  }

  tick(at: Instant): void {
    this.#proceed({ kind: 'clock' }, at)
  }

  /** Carries out what is due before an instant, in order of time. */
  runUntil(until: Instant): void {
    for (;;) {
      this.#due.sort((a, b) => a.at - b.at)
      const next = this.#due[0]
      if (next === undefined || next.at >= until) return
      this.#due.shift()
      next.run()
    }
  }

  #plan(at: Instant, run: () => void): void {
    this.#due.push({ at, run })
  }

  #open(name: string, order: Order): void {
    const { at, instrumentId, direction, heldForMs, stopLoss = null, takeProfit = null } = order
    const instrument = this.#state.instrument(instrumentId)
    if (instrument === undefined) return
    const trader = userId(name)
    const opened = this.#ask(
      name,
      {
        kind: 'open_position',
        userId: trader,
        instrumentId,
        direction,
        lots: SIZE,
        clientPrice: instrument.published,
        stopLoss,
        takeProfit,
        idempotency: null,
      },
      at,
    )
    if (opened === null || heldForMs === null) return
    this.hands({ name, knows: 'public' }).close({
      at: instant(opened.closableAt + heldForMs),
      positionId: opened.id,
    })
  }

  /** Null when the rules refuse it. A close that is refused for the moment is asked for again with the next update. */
  #ask(name: string, command: UserCommand, at: Instant): Position | null {
    const draft = new Draft(this.#state)
    const { rules } = this.#options
    const outcome = decide(draft, command, { at, rules, newId: () => this.#newId() })
    if (outcome.ok) {
      this.#commit(draft.events)
      return outcome.value.position
    }
    if (command.kind === 'close_position' && outcome.refusal.code !== 'not_found') {
      const again = instant(at + UPDATE_MS)
      if (this.#state.info.settling === null) this.#plan(again, () => this.#retry(name, command, again))
    } else this.refused.set(name, (this.refused.get(name) ?? 0) + 1)
    return null
  }

  #retry(name: string, command: UserCommand & { kind: 'close_position' }, at: Instant): void {
    if (this.#state.position(command.positionId) !== undefined) this.#ask(name, command, at)
  }

  #proceed(command: Parameters<typeof proceed>[1], at: Instant): void {
    const draft = new Draft(this.#state)
    const { rules, model, fixture } = this.#options
    proceed(draft, command, { at, rules, newId: () => this.#newId(), model, histories: fixture.histories })
    this.#commit(draft.events)
  }

  #commit(events: readonly MatchEvent[]): void {
    for (const event of events) {
      this.#state.apply(event)
      if (event.kind === 'price_moved') this.#state.markPublished(event.instrumentId, event.quote.price)
      if (event.kind !== 'position_closed') continue
      const { userId: strategy, margin, close, openedAt } = event.position
      const { pnl, by } = present(close, 'close')
      this.trades.push({ strategy, margin, pnl, closedBy: by, openedAt })
    }
  }

  #priceOf(instrument: Instrument): Price {
    return quoteOf(instrument).price
  }

  #newId(): string {
    this.#ids += 1
    return `00000000-0000-7000-8000-${String(this.#ids).padStart(12, '0')}`
  }
}

/** The updates of a match from its payloads; one that makes no sense is left out. */
export function snapshotsOf(
  payloads: readonly unknown[],
  instrumentIdOf: (player: PlayerId) => InstrumentId,
  start: Instant,
): readonly FixtureSnapshot[] {
  return payloads.flatMap((payload, index) => {
    const parsed = parseFixture(payload, { instrumentIdOf, receivedAt: instant(start + index * UPDATE_MS) })
    return parsed.ok ? [parsed.snapshot] : []
  })
}
