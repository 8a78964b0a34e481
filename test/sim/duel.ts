/** The game's match and the naive market, given the same messages and compared after each. */
import { deepEqual } from 'node:assert/strict'
import { present } from '../../actors/kernel/assert.ts'
import { positionId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { lots, money, type Price, price, slope } from '../../actors/kernel/micros.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import { exitPrice, quoteOf } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import type { Trade } from '../../actors/match/messages.ts'
import { exposureOf, type Position } from '../../actors/position/position.ts'
import { type Chance, chanceFrom } from '../../actors/replay/chance.ts'
import { ActorRig, codeOf } from '../support/actor-rig.ts'
import { instrument, openOrder, P, player, record, U } from '../support/fixtures.ts'
import { NaiveMarket, type NaivePosition } from './naive-market.ts'

const USERS = 6
const MILLION = 1_000_000

/** A model under which statistics move prices by tens of per cent, so that positions wash out. */
const WILD = {
  ...DEFAULT_MODEL,
  base: Object.fromEntries(Object.entries(DEFAULT_MODEL.base).map(([action, points]) => [action, points * 12])),
  bound: 0.6,
  tickCap: 0.2,
} as typeof DEFAULT_MODEL

export class Duel {
  readonly #chance: Chance
  readonly #rig: ActorRig
  readonly #naive: NaiveMarket
  /** No user runs out of money: then commands may also be committed together. */
  readonly #isRich: boolean
  readonly #shots: Record<number, number> = {}
  #whistled = false
  #fired = 0

  private constructor(chance: Chance, rig: ActorRig, naive: NaiveMarket, isRich: boolean) {
    this.#chance = chance
    this.#rig = rig
    this.#naive = naive
    this.#isRich = isRich
  }

  static async between(seed: number): Promise<Duel> {
    const chance = chanceFrom(seed)
    const oneOf = (...values: readonly number[]): number => present(values[chance.below(values.length)], 'choice')
    const isRich = chance.happens(0.5)
    const rules = {
      ...DEFAULT_RULES,
      feedStaleMs: 1e12,
      feedFrozenMs: 1e12,
      settlementConfirmMs: 1e12,
      holdMs: oneOf(0, 1_000, 180_000),
      impactCapPpm: oneOf(200, 1_000, 5_000, 50_000),
      // Counted when a batch is written, so that only lone commands are comparable.
      openPositionsMax: isRich ? 100 : oneOf(100, 7),
    }
    const balance = money(isRich ? 1e13 : oneOf(10_000, 100_000) * MILLION)
    const at = {
      base: price(oneOf(200_000_000, 123_456_700, 10_000, 75_000)),
      slope: slope(oneOf(1_000, 1, 333, 40_000)),
    }
    const one = instrument(1, { ...at, start: at.base, published: at.base, impactCapPpm: rules.impactCapPpm })
    const rig = await ActorRig.set({
      record: record({ instruments: [one] }),
      rules,
      users: USERS,
      balance,
      model: WILD,
    })
    const naive = new NaiveMarket(at.base, at.slope, rules)
    for (let n = 1; n <= USERS; n++) naive.wallets.set(U(n), balance)
    return new Duel(chance, rig, naive, isRich)
  }

  /** How many positions levels and washouts have closed. */
  get fired(): number {
    return this.#fired
  }

  async step(): Promise<void> {
    const draw = this.#chance.below(100)
    if (this.#whistled && draw < 40) await this.#whistle()
    else if (draw < 45) await this.#open()
    else if (draw < 58) await this.#close()
    else if (draw < 70) await this.#change()
    else if (draw < 82) await this.#feed()
    else if (draw < 86) this.#rig.world.pass(this.#chance.below(300_000))
    else if (draw < 97) this.#publish()
    else if (draw < 98) await this.#recap()
    else await this.#whistle()
    this.#compare()
  }

  /** Full time for good: everybody is paid. */
  async end(): Promise<void> {
    await this.#rig.moves({ ...this.#snapshot(), state: 'FINISHED', stateId: 8, periods: this.#rig.whistled() })
    await this.#rig.actor.stop()
    this.#naive.moveBase(this.#instrument.base)
    if (!this.#whistled) this.#naive.whistle()
    this.#naive.settle()
    this.#comparePositions()
  }

  get #instrument() {
    return present(this.#rig.actor.view.instrument(P(1)), 'instrument')
  }

  async #open(): Promise<void> {
    const users = this.#someUsers()
    const orders = users.map((userId) => {
      const { published } = this.#instrument
      const off = this.#chance.happens(0.9) ? 0 : this.#chance.below(60_000) - 30_000
      const odd = this.#chance.happens(0.02) ? 1 : 0
      const direction = this.#chance.happens(0.6) ? 'long' : 'short'
      const sign = direction === 'long' ? 1 : -1
      return openOrder({
        userId,
        direction,
        lots: lots(this.#size() + odd),
        clientPrice: price(Math.max(1, published + Math.round((published * off) / 1e6))),
        stopLoss: this.#level(published, -sign),
        takeProfit: this.#level(published, sign),
      })
    })
    const at = this.#rig.world.now()
    const outcomes = await Promise.all(orders.map((order) => this.#rig.actor.submit(order)))
    for (const [n, order] of orders.entries()) {
      const outcome = present(outcomes[n], 'outcome')
      const id = outcome.ok ? outcome.value.position.id : positionId(`refused ${n}`)
      this.#agree(outcome, this.#naive.place(order, id, at))
    }
  }

  async #close(): Promise<void> {
    const open = [...this.#rig.actor.view.openPositions()]
    const all = [...this.#rig.store.positions.values()]
    const from = this.#chance.happens(0.9) && open.length > 0 ? open : all
    const position = from[this.#chance.below(Math.max(1, from.length))]
    if (position === undefined) return
    const user = this.#chance.happens(0.95) ? position.userId : U(1 + this.#chance.below(USERS))
    const at = this.#rig.world.now()
    this.#agree(await this.#rig.closes(position.id, user), this.#naive.leave(user, position.id, at))
  }

  async #change(): Promise<void> {
    const open = [...this.#rig.actor.view.openPositions()]
    const position = open[this.#chance.below(Math.max(1, open.length))]
    if (position === undefined) return
    const { published } = this.#instrument
    const sign = position.direction === 'long' ? 1 : -1
    const keeps = (): boolean => this.#chance.happens(0.3)
    const stopLoss = keeps() ? undefined : this.#level(published, -sign)
    const takeProfit = keeps() ? undefined : this.#level(published, sign)
    const { id, userId } = position
    const outcome = await this.#rig.actor.submit({
      kind: 'change_levels',
      userId,
      positionId: id,
      stopLoss,
      takeProfit,
    })
    this.#agree(outcome, this.#naive.change(userId, id, { stopLoss, takeProfit }))
  }

  async #feed(): Promise<void> {
    await this.#rig.moves({
      ...this.#snapshot(),
      ...(this.#whistled ? { state: 'FT', periods: this.#rig.whistled() } : {}),
    })
    this.#naive.moveBase(this.#instrument.base)
  }

  /** Full time is shown, or play goes on after all. */
  async #whistle(): Promise<void> {
    this.#whistled = !this.#whistled
    await this.#rig.moves({
      ...this.#snapshot(),
      ...(this.#whistled ? { state: 'FT', periods: this.#rig.whistled() } : {}),
    })
    if (!this.#whistled) this.#naive.playOn()
    this.#naive.moveBase(this.#instrument.base)
    if (this.#whistled) this.#naive.whistle()
  }

  #publish(): void {
    this.#rig.actor.takeUnpublished()
    this.#naive.publish()
  }

  async #recap(): Promise<void> {
    const impactCapPpm = [200, 1_000, 5_000, 50_000][this.#chance.below(4)] ?? 5_000
    this.#rig.rules = { ...this.#rig.rules, impactCapPpm }
    await this.#rig.actor.clock()
    this.#naive.recap(impactCapPpm)
  }

  #snapshot() {
    this.#shots[86] = (this.#shots[86] ?? 0) + this.#chance.below(3)
    this.#shots[80] = (this.#shots[80] ?? 0) + this.#chance.below(3)
    return { players: [player(1, { details: { ...this.#shots, 118: 4 + this.#chance.below(60) / 10 } })] }
  }

  #someUsers(): UserId[] {
    const first = this.#chance.below(USERS)
    const many = this.#isRich ? 1 + this.#chance.below(4) : 1
    return Array.from({ length: many }, (_, n) => U(1 + ((first + n) % USERS)))
  }

  /** A price on one side of another, mostly; near enough for the crowd to reach it, or for a tick. */
  #level(at: number, side: number): Price | null {
    if (this.#chance.happens(0.4)) return null
    const away = this.#chance.happens(0.95) ? side : -side
    const ppm = this.#chance.below(this.#chance.happens(0.5) ? 2_000 : 40_000)
    return price(Math.max(1, at + away * Math.round((at * ppm) / 1e6)))
  }

  #size(): number {
    if (this.#chance.happens(0.03)) return 100_010_000
    const most = this.#chance.happens(0.4) ? 10_000 : 300
    return (1 + this.#chance.below(most)) * 10_000
  }

  #agree(outcome: Outcome<Trade>, refusal: string | null): void {
    deepEqual(codeOf(outcome), refusal ?? 'ok')
  }

  #compare(): void {
    const now = this.#instrument
    const naive = this.#naive
    deepEqual([now.imbalance, quoteOf(now).price], [naive.imbalance, naive.price])
    for (const position of this.#rig.actor.view.openPositions()) {
      const same = present(naive.positions.get(position.id), 'the same position')
      deepEqual(exitPrice(now, exposureOf(position)), naive.exitOf(same))
    }
    this.#comparePositions()
  }

  #comparePositions(): void {
    const { store } = this.#rig
    const positions = [...store.positions.values()].map(seen).toSorted(byId)
    deepEqual(positions, [...this.#naive.positions.values()].toSorted(byId))
    for (const [user, balance] of this.#naive.wallets) {
      deepEqual(store.walletOf(user).balance, balance)
    }
    this.#fired = positions.filter(
      ({ close }) => close !== null && close.by !== 'user' && close.by !== 'full_time',
    ).length
  }
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1)

/** What the naive market knows of a position. */
const seen = ({ close, ...p }: Position): NaivePosition => ({
  id: p.id,
  userId: p.userId,
  direction: p.direction,
  lots: p.lots,
  openPrice: p.openPrice,
  margin: p.margin,
  closableAt: p.closableAt,
  stopLoss: p.stopLoss,
  takeProfit: p.takeProfit,
  warned: p.warned,
  close: close === null ? null : { price: close.price, pnl: close.pnl, by: close.by },
})
