/**
 * Plays one match through the real actor, with its price model and rules, and with strategies that trade in it. There
 * is no server, no clock and no database: time is what the match says, and wallets are in memory.
 */
import { present } from '../../../actors/kernel/assert.ts'
import { type FixtureId, type InstrumentId, type PositionId, userId } from '../../../actors/kernel/ids.ts'
import type { TradingRules } from '../../../actors/kernel/limits.ts'
import { type Lots, lots, type Money, money, MICROS_PER_UNIT, type Price } from '../../../actors/kernel/micros.ts'
import { instant, type Instant, SECOND_MS } from '../../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../../actors/market/fixture.ts'
import { type Instrument, quoteOf } from '../../../actors/market/instrument.ts'
import type { ScoringModel } from '../../../actors/market/pricing.ts'
import type { UserCommand } from '../../../actors/match/messages.ts'
import type { MatchView } from '../../../actors/match/state.ts'
import type { InstrumentHistory } from '../../../actors/match/store.ts'
import type { Position } from '../../../actors/position/position.ts'
import type { Plot } from './plot.ts'
import {
  type Desk,
  type DeskOrder,
  type Foresight,
  type Hands,
  type Order,
  type Strategy,
  UPDATE_MS,
} from './strategy.ts'
import { MatchRun } from '../../../src/match-run/match-run.ts'
import type { Trade } from '../../../src/match-run/till.ts'

/** A match as the provider reported it, and what its players are worth beforehand. */
export interface Fixture {
  readonly id: FixtureId
  readonly snapshots: readonly FixtureSnapshot[]
  /** As the snapshots show it, and as it happened. */
  readonly plot: Plot
  readonly truth: Plot
  readonly histories: ReadonlyMap<InstrumentId, InstrumentHistory>
}

export interface Played {
  /** By name of the strategy. */
  readonly trades: ReadonlyMap<string, readonly Trade[]>
  /** Orders that the rules refused, by name of the strategy. */
  readonly refused: ReadonlyMap<string, number>
  readonly bases: readonly ReadonlyMap<InstrumentId, Price>[]
  readonly instruments: readonly Instrument[]
}

/** Nobody in the battery runs out of money by accident: what a strategy earns is measured on margin. */
const BALANCE: Money = money(100_000_000 * MICROS_PER_UNIT)
/** A size at which a lone trader moves no price worth mentioning. */
const SIZE: Lots = lots(100_000)
/** Updates after the last one, so that full time is confirmed and settles. */
const AFTER_FULL_TIME = 12
/** How long a trader who insists asks again. */
const INSISTS_MS = 300 * SECOND_MS

export interface PlayOptions {
  readonly fixture: Fixture
  readonly model: ScoringModel
  readonly rules: TradingRules
  readonly strategies: readonly Strategy[]
  /** Bases after each update, for strategies that are ahead of the feed. */
  readonly bases: Foresight['bases']
}

export async function play({ fixture, model, rules, strategies, bases: ahead }: PlayOptions): Promise<Played> {
  const { snapshots, plot, truth, histories } = fixture
  const start = present(snapshots[0], 'first update').sourceAt
  const atOf = (index: number): Instant => instant(start + index * UPDATE_MS)
  const market = new Market(fixture, rules, model)
  const foresight: Foresight = { atOf, snapshots, plot, truth, bases: ahead, histories }
  for (const strategy of strategies) strategy.prepare?.(foresight, market.hands(strategy.name))
  const bases: ReadonlyMap<InstrumentId, Price>[] = []
  for (const [index, snapshot] of snapshots.entries()) {
    const now = atOf(index)
    await market.runUntil(now)
    const pricesBefore = market.prices()
    await market.update(snapshot, index + 1, now)
    bases.push(new Map([...market.view.instruments()].map((i) => [i.id, i.base])))
    const floor = { now, index, snapshot, before: snapshots[index - 1] ?? null, view: market.view, pricesBefore }
    const seen = { ...floor, priceOf: market.priceOf, instrumentOf: market.instrumentOf }
    for (const { name, onUpdate } of strategies) {
      onUpdate?.({ ...seen, ...market.hands(name), held: () => market.held(name) }, foresight)
    }
  }
  const last = present(snapshots.at(-1), 'last update')
  for (let n = 0; n < AFTER_FULL_TIME; n += 1) {
    const index = snapshots.length + n
    await market.runUntil(atOf(index))
    await market.update(last, index + 1, atOf(index))
  }
  await market.end()
  return { ...market.outcome(), bases, instruments: [...market.view.instruments()] }
}

interface Due {
  readonly at: Instant
  readonly act: () => Promise<void>
}

/** The match, and the acts that are due later. */
class Market {
  readonly #run: MatchRun
  readonly #refused = new Map<string, number>()
  /** In order of time. */
  readonly #due: Due[] = []

  constructor({ snapshots, histories }: Fixture, rules: TradingRules, model: ScoringModel) {
    const first = present(snapshots[0], 'first update')
    this.#run = new MatchRun({ first, histories, rules: () => rules, model: () => model, balance: BALANCE })
  }

  get view(): MatchView {
    return this.#run.view
  }

  readonly priceOf = (id: InstrumentId): Price => quoteOf(present(this.view.instrument(id), 'instrument')).price

  readonly instrumentOf = (player: Instrument['playerId'] | null): Instrument | undefined =>
    [...this.view.instruments()].find((i) => i.playerId === player)

  prices(): ReadonlyMap<InstrumentId, Price> {
    return new Map([...this.view.instruments()].map((i) => [i.id, quoteOf(i).price]))
  }

  /** The open positions of an account: the strategy's name, or one behind it. */
  held(account: string): readonly Position[] {
    return this.view.positionsOf(userId(account))
  }

  hands(strategy: string): Hands {
    return {
      open: (order) => this.#plan(order.at, () => this.#open(strategy, order, instant(order.at + INSISTS_MS))),
      close: (at, id) => this.#plan(at, () => this.#close(strategy, id)),
      later: (at, act) => this.#plan(at, () => act(this.#desk(strategy))),
    }
  }

  async update(snapshot: FixtureSnapshot, seq: number, at: Instant): Promise<void> {
    this.#run.passTo(at)
    await this.#run.update(snapshot, seq)
  }

  /** Does what is due before an instant, in order of time. */
  async runUntil(until: Instant): Promise<void> {
    for (let next = this.#due[0]; next !== undefined && next.at < until; next = this.#due[0]) {
      this.#due.shift()
      this.#run.passTo(next.at)
      await next.act()
    }
  }

  end(): Promise<void> {
    return this.#run.end()
  }

  outcome(): Pick<Played, 'trades' | 'refused'> {
    const trades = Map.groupBy(this.#run.trades, ({ account }) => account.split('/', 1)[0] ?? '')
    return { trades, refused: this.#refused }
  }

  #plan(at: Instant, act: () => Promise<void>): void {
    const after = this.#due.findLastIndex((due) => due.at <= at)
    this.#due.splice(after + 1, 0, { at, act })
  }

  #desk(strategy: string): Desk {
    const named = (account: string): string => `${strategy}/${account}`
    return {
      now: this.#run.now,
      view: this.view,
      held: (account) => this.held(named(account)),
      open: (account, order) => this.#ask(strategy, this.#opening(named(account), order)),
      close: async (account, id) => (await this.#ask(strategy, closing(named(account), id))) !== null,
      change: async (account, id, { stopLoss, takeProfit }) => {
        const command = { kind: 'change_levels', positionId: id, stopLoss, takeProfit } as const
        return (await this.#ask(strategy, { ...command, userId: userId(named(account)) })) !== null
      },
    }
  }

  #opening(account: string, { instrumentId, direction, lots: size, stopLoss, takeProfit }: DeskOrder): UserCommand {
    return {
      kind: 'open_position',
      userId: userId(account),
      instrumentId,
      direction,
      lots: size,
      clientPrice: present(this.view.instrument(instrumentId), 'instrument').published,
      stopLoss: stopLoss ?? null,
      takeProfit: takeProfit ?? null,
      idempotency: null,
    }
  }

  async #open(strategy: string, order: Order, until: Instant): Promise<void> {
    if (this.view.instrument(order.instrumentId) === undefined) return
    const command = this.#opening(strategy, { ...order, lots: SIZE })
    const isHeld = this.#run.window(order.instrumentId).status === 'SUSPENDED'
    if (order.insists === true && isHeld && this.#run.now < until) {
      return this.#plan(instant(this.#run.now + UPDATE_MS), () => this.#open(strategy, order, until))
    }
    const opened = await this.#ask(strategy, command)
    if (opened === null || order.heldForMs === null) return
    this.#plan(instant(opened.closableAt + order.heldForMs), () => this.#close(strategy, opened.id))
  }

  /** A close that is refused for the moment is asked for again with the next update. */
  async #close(strategy: string, id: PositionId): Promise<void> {
    if (this.view.position(id) === undefined || this.view.info.settling !== null) return
    const { ok } = await this.#run.submit(closing(strategy, id))
    if (!ok) this.#plan(instant(this.#run.now + UPDATE_MS), () => this.#close(strategy, id))
  }

  async #ask(strategy: string, command: UserCommand): Promise<Position | null> {
    const outcome = await this.#run.submit(command)
    if (outcome.ok) return outcome.value.position
    this.#refused.set(strategy, (this.#refused.get(strategy) ?? 0) + 1)
    return null
  }
}

const closing = (account: string, id: PositionId): UserCommand => ({
  kind: 'close_position',
  userId: userId(account),
  positionId: id,
  idempotency: null,
})
