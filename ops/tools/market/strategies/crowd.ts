/**
 * What groups of accounts try with whole wallets, each group on a player of its own. Base moves apart, they can only
 * win from one another.
 */
import type { InstrumentId } from '../../../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../../../actors/kernel/limits.ts'
import { decimal, lots, price } from '../../../../actors/kernel/micros.ts'
import { instant, SECOND_MS } from '../../../../actors/kernel/world.ts'
import { quoteOf } from '../../../../actors/market/instrument.ts'
import type { Direction } from '../../../../actors/position/position.ts'
import { isGoal } from '../plot.ts'
import type { Desk, Foresight, Hands, Strategy } from '../strategy.ts'
import { indexAt, kickOffOf } from './bets.ts'

const LOT_MAX = DEFAULT_RULES.lotMax

/** One step of a plot, `after` seconds after it began. */
interface Step {
  readonly after: number
  readonly act: (stage: Stage) => Promise<unknown>
}

/** A group at work on one player. */
class Stage {
  readonly #desk: Desk
  readonly #on: InstrumentId

  constructor(desk: Desk, on: InstrumentId) {
    this.#desk = desk
    this.#on = on
  }

  /** Opens with this part of a new wallet: as many orders as the largest lot size makes of it. */
  async open(account: string, direction: Direction, part = 1): Promise<void> {
    const order = { instrumentId: this.#on, direction }
    for (let left = this.#lots(part); left > 0; left -= LOT_MAX) {
      await this.#desk.open(account, { ...order, lots: lots(Math.min(left, LOT_MAX)) })
    }
  }

  async each(accounts: readonly string[], direction: Direction, part = 1): Promise<void> {
    for (const account of accounts) await this.open(account, direction, part)
  }

  async close(...accounts: readonly string[]): Promise<void> {
    for (const account of accounts) for (const { id } of this.#desk.held(account)) await this.#desk.close(account, id)
  }

  /** Sets a level of all positions of an account at a distance from the price, in parts per million with its sign. */
  async level(account: string, side: 'stopLoss' | 'takeProfit', ppm: number): Promise<void> {
    const instrument = this.#desk.view.instrument(this.#on)
    if (instrument === undefined) return
    const at = quoteOf(instrument).price
    const level = price(Math.round(at * (1 + ppm / 1_000_000)) + (Math.sign(ppm) || 1) * 10_000)
    for (const { id } of this.#desk.held(account)) await this.#desk.change(account, id, { [side]: level })
  }

  /** What a new wallet of 10,000 units pays for, rounded down to a hundredth of a lot. */
  #lots(part: number): number {
    const instrument = this.#desk.view.instrument(this.#on)
    if (instrument === undefined) return 0
    return Math.floor((part * 1_960_000) / decimal(quoteOf(instrument).price)) * 10_000
  }
}

interface Group {
  readonly name: string
  readonly leader: string
  /** The minute at which it begins, and the starter it works on. */
  readonly minute: number
  readonly starter: number
  readonly steps: readonly Step[]
}

const group = ({ name, leader, minute, starter, steps }: Group): Strategy => ({
  name,
  leadSecs: 0,
  leader,
  prepare(foresight, hands) {
    const index = indexAt(foresight, minute)
    const on = foresight.snapshots[kickOffOf(foresight)]?.players.filter((p) => p.starter)[starter]?.instrumentId
    if (index !== -1 && on !== undefined) perform(hands, foresight.atOf(index) / SECOND_MS, on, steps)
  },
})

function perform(hands: Hands, secs: number, on: InstrumentId, steps: readonly Step[]): void {
  for (const { after, act } of steps) {
    hands.later(instant((secs + after) * SECOND_MS), async (desk) => void (await act(new Stage(desk, on))))
  }
}

const named = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, n) => `${name} ${n + 1}`)

/** Seconds after which what was opened at once may be closed. */
const HELD = 184

/**
 * Closes of one account that a push fires together: filled at one unmoved price they would each be paid for the same
 * step.
 */
const nineTakeProfits = group({
  name: 'nine take-profits',
  leader: 'nine',
  minute: 12,
  starter: 1,
  steps: [
    {
      after: 1,
      act: (on) =>
        on.each(
          Array.from({ length: 9 }, () => 'nine'),
          'long',
          0.1,
        ),
    },
    { after: HELD, act: (on) => on.level('nine', 'takeProfit', 0) },
    { after: HELD + 1, act: (on) => on.each(named('pusher', 3), 'long') },
    { after: 2 * HELD, act: (on) => on.close('nine', ...named('pusher', 3)) },
  ],
})

/** A pair that opens and closes where the crowd's part reaches its cap. */
const kink = group({
  name: 'a pair at the kink',
  leader: 'pair',
  minute: 12,
  starter: 2,
  steps: [
    { after: 1, act: (on) => on.each(named('book', 10), 'long') },
    {
      after: 2,
      act: async (on) => {
        for (const direction of ['long', 'short', 'short', 'long'] as const) await on.open('pair', direction, 0.9)
      },
    },
    { after: HELD + 2, act: (on) => on.close('pair') },
    { after: HELD + 3, act: (on) => on.close(...named('book', 10)) },
  ],
})

const pump = group({
  name: 'pump with followers',
  leader: 'leader',
  minute: 12,
  starter: 3,
  steps: [
    { after: 1, act: (on) => on.open('leader', 'long') },
    { after: 2, act: (on) => on.each(named('follower', 20), 'long') },
    { after: HELD, act: (on) => on.close('leader') },
    { after: HELD + 2, act: (on) => on.close(...named('follower', 20)) },
  ],
})

/** Throw-away accounts push a price down before a friend opens, and up before he closes. */
const sybils = group({
  name: 'sybils for a rank',
  leader: 'friend',
  minute: 25,
  starter: 4,
  steps: [
    { after: 1, act: (on) => on.each(named('down', 10), 'short') },
    { after: 2, act: (on) => on.open('friend', 'long') },
    { after: HELD, act: (on) => on.close(...named('down', 10)) },
    { after: HELD + 1, act: (on) => on.each(named('up', 10), 'long') },
    { after: HELD + 2, act: (on) => on.close('friend') },
    { after: 2 * HELD + 2, act: (on) => on.close(...named('up', 10)) },
  ],
})

/** Stops of others in a ladder below the price, and a trader who pushes the price down them. */
const stopLadder = group({
  name: 'stop ladder',
  leader: 'hunter',
  minute: 25,
  starter: 5,
  steps: [
    { after: 1, act: (on) => on.each(named('prey', 10), 'long', 0.3) },
    {
      after: HELD,
      act: async (on) => {
        for (const [n, prey] of named('prey', 10).entries()) await on.level(prey, 'stopLoss', -500 * (n + 1))
      },
    },
    {
      after: HELD + 1,
      act: (on) =>
        on.each(
          Array.from({ length: 5 }, () => 'hunter'),
          'short',
        ),
    },
    { after: 2 * HELD + 1, act: (on) => on.close('hunter', ...named('prey', 10)) },
  ],
})

export const WHISTLE = 'the whistle, one-sided book'
/** A full book of longs to which one short comes in the last minute. */
const whistle = group({
  name: WHISTLE,
  leader: 'contrarian',
  minute: 75,
  // The keeper: seldom substituted.
  starter: 0,
  steps: [
    { after: 1, act: (on) => on.each(named('book', 20), 'long') },
    { after: 13 * 60, act: (on) => on.open('contrarian', 'short') },
  ],
})

/** Accounts that open just before a goal, for a holder who leaves at the price that they have pushed. */
const latePump: Strategy = {
  name: 'late accounts for an old holder',
  leadSecs: 20,
  leader: 'holder',
  isLeaderLucky: true,
  prepare(foresight, hands) {
    const goal = foresight.plot.shown.find(({ event, index }) => isGoal(event) && index > indexAt(foresight, 12))
    const on = goal === undefined ? undefined : listedAs(goal, foresight)
    if (goal === undefined || on === undefined) return
    const listedAt = foresight.atOf(goal.index) / SECOND_MS
    perform(hands, listedAt - 400, on, [
      { after: 1, act: (stage) => stage.open('holder', 'long') },
      { after: 380, act: (stage) => stage.each(named('late', 10), 'long') },
      { after: 421, act: (stage) => stage.close('holder') },
      { after: 451, act: (stage) => stage.close('holder') },
      { after: 651, act: (stage) => stage.close(...named('late', 10)) },
    ])
  },
}

const listedAs = (goal: Foresight['plot']['shown'][number], { snapshots }: Foresight): InstrumentId | undefined =>
  snapshots[goal.index]?.players.find((p) => p.playerId === goal.event.playerId)?.instrumentId

/** Friends push the keeper of a holder through their stop before a goal that they see coming. */
const firedStop: Strategy = {
  name: 'a stop that friends fire, 20 s ahead',
  leadSecs: 20,
  leader: 'keeper’s holder',
  prepare(foresight, hands) {
    const goal = foresight.plot.shown.find(({ event, index }) => isGoal(event) && index > indexAt(foresight, 12))
    const players = goal === undefined ? [] : (foresight.snapshots[goal.index]?.players ?? [])
    const scorer = players.find((p) => p.playerId === goal?.event.playerId)
    const keeper = players.find((p) => p.starter && p.role === 'GK' && p.side !== scorer?.side)
    if (goal === undefined || scorer === undefined || keeper === undefined) return
    perform(hands, foresight.atOf(goal.index) / SECOND_MS - 400, keeper.instrumentId, [
      { after: 1, act: (stage) => stage.open('keeper’s holder', 'long', 0.3) },
      { after: 379, act: (stage) => stage.level('keeper’s holder', 'stopLoss', -1_000) },
      { after: 380, act: (stage) => stage.each(named('friend', 10), 'short') },
      { after: 651, act: (stage) => stage.close('keeper’s holder', ...named('friend', 10)) },
    ])
  },
}

export const CROWD: readonly Strategy[] = [
  nineTakeProfits,
  kink,
  pump,
  sybils,
  stopLadder,
  whistle,
  latePump,
  firedStop,
]
