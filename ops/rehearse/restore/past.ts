/** What the traders know of the time before a restore, and whether the restored database agrees with it. */
import { isDeepStrictEqual } from 'node:util'
import { demand } from '../rig/account.ts'
import type { EventSeen } from '../rig/simulated-client.ts'
import { type Acknowledged, lasting, type SimulatedTrader } from '../rig/simulated-trader.ts'

/** The moment to which the database was set back, seen from outside, by `performance.now`. */
export interface Moment {
  /** What was acknowledged before this must be there. */
  readonly from: number
  /** What was first sent after this must not. */
  readonly to: number
}

export interface Compared {
  /** Trades acknowledged before the moment; each is there once. */
  readonly kept: number
  /** Trades that began after it; none is there. */
  readonly gone: number
  /** Trades that were under way, and how many of them are there. */
  readonly underWay: number
  readonly underWayKept: number
  /** Account events that are there, and that there were. */
  readonly events: number
  readonly eventsBefore: number
}

export class Past {
  readonly #trades = new Map<SimulatedTrader, Acknowledged[]>()
  readonly #events = new Map<SimulatedTrader, readonly EventSeen[]>()

  /** Notes from now on what these traders are told. */
  constructor(traders: readonly SimulatedTrader[]) {
    for (const trader of traders) {
      const trades: Acknowledged[] = []
      this.#trades.set(trader, trades)
      trader.onAcknowledged = (trade) => void trades.push(trade)
    }
  }

  /** Reads the accounts as they are now, later than the moment. */
  async read(url: string): Promise<void> {
    await Promise.all([...this.#trades.keys()].map(async (one) => this.#events.set(one, await one.events(url))))
  }

  /**
   * Sets the traders back to what the restored database says. Throws a Violation if that is not what was at the moment.
   */
  async compare(url: string, moment: Moment): Promise<Compared> {
    const all = await Promise.all([...this.#trades.keys()].map((trader) => this.#compareOne(url, trader, moment)))
    const total = (count: (one: Compared) => number): number => all.reduce((sum, one) => sum + count(one), 0)
    return {
      kept: total(({ kept }) => kept),
      gone: total(({ gone }) => gone),
      underWay: total(({ underWay }) => underWay),
      underWayKept: total(({ underWayKept }) => underWayKept),
      events: total(({ events }) => events),
      eventsBefore: total(({ eventsBefore }) => eventsBefore),
    }
  }

  async #compareOne(url: string, trader: SimulatedTrader, moment: Moment): Promise<Compared> {
    const before = this.#events.get(trader) ?? []
    const restored = await trader.rewind(url)
    const { name } = trader.client
    restored.forEach((event, n) => {
      const is = isDeepStrictEqual(shown(event), shown(before[n]))
      demand(is, () => `event ${n + 1} of ${name} is ${JSON.stringify(event)}, was ${JSON.stringify(before[n])}`)
    })
    const found = new Map<string, number>()
    for (const { type, position } of restored) {
      const trade = `${type} ${position.id}`
      found.set(trade, (found.get(trade) ?? 0) + 1)
    }
    const counts = { kept: 0, gone: 0, underWay: 0, underWayKept: 0 }
    for (const [trade, { begunAt, doneAt }] of distinct(this.#trades.get(trader) ?? [])) {
      const times = found.get(trade) ?? 0
      if (doneAt < moment.from) {
        demand(times === 1, () => `${name}: ${trade} was acknowledged before the moment, and is there ${times} times`)
        counts.kept++
      } else if (begunAt > moment.to) {
        demand(times === 0, () => `${name}: ${trade} began after the moment, and is there ${times} times`)
        counts.gone++
      } else {
        demand(times <= 1, () => `${name}: ${trade} is there ${times} times`)
        counts.underWay++
        counts.underWayKept += times
      }
    }
    return { ...counts, events: restored.length, eventsBefore: before.length }
  }
}

/** A repeated command is answered again; its trade is one, acknowledged by the first answer. */
function distinct(trades: readonly Acknowledged[]): ReadonlyMap<string, Acknowledged> {
  const first = new Map<string, Acknowledged>()
  for (const trade of trades) {
    const key = `${trade.what} ${trade.positionId}`
    if (!first.has(key)) first.set(key, trade)
  }
  return first
}

const shown = (event: EventSeen | undefined) =>
  event === undefined ? null : { marker: event.marker, type: event.type, position: lasting(event.position) }
