/** The simulated traders of one replay: each in turn looks at the published prices and may trade. */
import type { FixtureId, UserId } from '../../actors/kernel/ids.ts'
import { STARTING_BALANCE } from '../../actors/kernel/limits.ts'
import type { Money } from '../../actors/kernel/micros.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import type { World } from '../../actors/kernel/world.ts'
import type { Trade } from '../../actors/match/messages.ts'
import type { MatchView } from '../../actors/match/state.ts'
import { HABITS, nextAction, type SeenInstrument, type Trader } from '../../actors/replay/traders.ts'
import type { MatchDesk } from '../match/match-desk.ts'

/** The traders take turns in this many groups. */
const GROUPS = 5

export class SimulatedTraders {
  readonly #traders: readonly Trader[]
  readonly #desk: MatchDesk
  readonly #world: World
  /** As of each trader's last answer. A system close adds to it unseen, so the true balance may be higher. */
  readonly #balances = new Map<UserId, Money>()
  #group = 0

  constructor(users: readonly UserId[], desk: MatchDesk, world: World) {
    // All habits, evenly spread; the nth user has the same habit after a restart.
    this.#traders = users.map((userId, n) => ({ userId, habit: HABITS[n % HABITS.length] ?? 'idle' }))
    this.#desk = desk
    this.#world = world
  }

  /** Lets the next group trade on a match that runs here. Returns at once; refusals are part of the game. */
  takeTurn(matchId: FixtureId): void {
    const view = this.#desk.view(matchId)
    this.#group = (this.#group + 1) % GROUPS
    if (view === undefined) return
    const instruments = this.#seen(view)
    for (const [n, trader] of this.#traders.entries()) {
      if (n % GROUPS === this.#group) this.#act(trader, view, instruments)
    }
  }

  #act(trader: Trader, view: MatchView, instruments: readonly SeenInstrument[]): void {
    const sight = {
      now: this.#world.now(),
      balance: this.#balances.get(trader.userId) ?? STARTING_BALANCE,
      instruments,
      positions: view.positionsOf(trader.userId),
    }
    const action = nextAction(trader, sight, (below) => this.#world.randomInt(below))
    if (action === null) return
    this.#desk.submit(action).then(
      (outcome) => this.#remember(trader.userId, outcome),
      () => undefined, // a fault stops the match, which reports it
    )
  }

  #remember(userId: UserId, outcome: Outcome<Trade>): void {
    if (outcome.ok) this.#balances.set(userId, outcome.value.wallet.balance)
    else if (outcome.refusal.code === 'insufficient_margin') this.#balances.set(userId, outcome.refusal.available)
  }

  /** The market as clients see it: published prices. */
  #seen(view: MatchView): readonly SeenInstrument[] {
    return [...view.instruments()].map(({ id, published, base, start }) => ({
      instrumentId: id,
      price: published,
      base,
      start,
      suspended: this.#desk.window(view.info.matchId, id)?.status !== 'OPEN',
    }))
  }
}
