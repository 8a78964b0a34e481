/** Real matches under load: a MatchActor each, on the real store, with 44 instruments listed by a feed update. */
import { present } from '../../actors/kernel/assert.ts'
import {
  type FixtureId,
  fixtureId,
  type InstrumentId,
  instrumentId,
  playerId,
  type PositionId,
  type UserId,
} from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, PUBLISH_INTERVAL_MS, type TradingRules } from '../../actors/kernel/limits.ts'
import { lots, type Price } from '../../actors/kernel/micros.ts'
import type { Outcome } from '../../actors/kernel/outcome.ts'
import { HOUR_MS } from '../../actors/kernel/world.ts'
import type { FixturePlayer, FixtureSnapshot } from '../../actors/market/fixture.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import type { Publication } from '../../actors/match/actor-options.ts'
import type { MatchEvent, OpenPosition, Trade } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import type { Direction } from '../../actors/position/position.ts'
import { commandId } from '../../src/http/command-ids.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { FairShare } from '../../rooms/match/fair-share.ts'
import { systemWorld } from '../../src/system-world.ts'

const PLAYERS = 44
const ROLES = ['GK', 'DEF', 'DEF', 'DEF', 'DEF', 'MID', 'MID', 'MID', 'MID', 'FWD', 'FWD'] as const

/** Feed lateness and the hold are off: they would only make a benchmark wait. */
const RULES: TradingRules = { ...DEFAULT_RULES, feedStaleMs: HOUR_MS, feedFrozenMs: HOUR_MS, holdMs: 0 }

const world = systemWorld()
/** Between all matches of the benchmark: they run in one process. */
const share = new FairShare(world)

/** The nth second of a match's first half. `details` are the statistics of a player, by player number. */
export function snapshotAt(
  id: FixtureId,
  elapsedSecs: number,
  over: Partial<FixtureSnapshot> & { readonly details?: (player: number) => FixturePlayer['details'] } = {},
): FixtureSnapshot {
  const { details = () => null, ...rest } = over
  return {
    fixtureId: id,
    name: 'Harbour vs Mill',
    league: 'League 1',
    startsAt: world.now(),
    state: 'INPLAY_1ST_HALF',
    stateId: 2,
    home: { id: 1, name: 'Harbour', goals: 0 },
    away: { id: 2, name: 'Mill', goals: 0 },
    periods: [{ id: 1, kind: 'first_half', order: 1, countsFrom: 0, length: 45, elapsedSecs, ticking: true }],
    events: [],
    players: Array.from({ length: PLAYERS }, (_, n) => player(id, n, details(n))),
    teamStats: null,
    expectedGoals: null,
    sourceAt: world.now(),
    ...rest,
  }
}

function player(id: FixtureId, n: number, details: FixturePlayer['details']): FixturePlayer {
  return {
    playerId: playerId(id * 100 + n),
    instrumentId: instrumentId(`00000000-0000-5000-8000-${(id * 100 + n).toString().padStart(12, '0')}`),
    name: `Player ${n}`,
    side: n % 2 === 0 ? 'home' : 'away',
    role: present(ROLES[(n >> 1) % ROLES.length], 'role'),
    jersey: n + 1,
    starter: true,
    details,
  }
}

/** What a match publishes. */
export interface BenchOutlet {
  readonly onPrices: (moves: readonly Publication[]) => void
  readonly onCommitted: (events: readonly MatchEvent[]) => void
}

const NOWHERE: BenchOutlet = { onPrices: () => undefined, onCommitted: () => undefined }

/** An actor as a host would run it: it owns a lease, and its prices are published twenty times a second. */
export class BenchMatch {
  readonly actor: MatchActor
  readonly #instruments: readonly ReturnType<typeof instrumentId>[]
  readonly #publishing: NodeJS.Timeout
  #turn = 0
  /** Why the actor stopped unasked, if it did. */
  fault: unknown = null

  private constructor(actor: (onStopped: (error: unknown) => void) => MatchActor, onPrices = NOWHERE.onPrices) {
    this.actor = actor((error) => {
      this.fault = error
    })
    this.#instruments = [...this.actor.view.instruments()].map((i) => i.id)
    this.#publishing = setInterval(() => onPrices(this.actor.takeUnpublished()), PUBLISH_INTERVAL_MS)
  }

  /**
   * This many new matches, made by their first feed update and then loaded again as their next owner would.
   */
  static async start(connection: Connection, count: number): Promise<BenchMatch[]> {
    const host = hostOn(connection)
    const ids = Array.from({ length: count }, (_, n) => fixtureId(90_000 + n))
    for (const id of ids) {
      const first = (await host(id))(() => undefined)
      await first.feed({ kind: 'feed_update', seq: 1, snapshot: snapshotAt(id, 10) })
    }
    return Promise.all(ids.map(async (id) => new BenchMatch(await host(id))))
  }

  /** A match as stored in the database. */
  static async load(connection: Connection, id: FixtureId, outlet = NOWHERE): Promise<BenchMatch> {
    return new BenchMatch(await hostOn(connection, outlet)(id), outlet.onPrices)
  }

  /** Opens the smallest position, with a key, as a client does. Long and short alternate, so prices stay. */
  async open(user: UserId): Promise<PositionId> {
    const turn = this.#turn++
    const instrument = present(this.#instruments[(turn >> 1) % this.#instruments.length], 'instrument')
    const { published } = present(this.actor.view.instrument(instrument), 'instrument')
    const order = { instrument, direction: turn % 2 === 0 ? 'long' : 'short', clientPrice: published } as const
    return accepted(await this.actor.submit(smallestOrder(user, order))).position.id
  }

  async close(user: UserId, position: PositionId): Promise<void> {
    const idempotency = keyed(user, 'close')
    accepted(await this.actor.submit({ kind: 'close_position', userId: user, positionId: position, idempotency }))
  }

  async stop(): Promise<void> {
    clearInterval(this.#publishing)
    await this.actor.stop()
    if (this.fault !== null) throw this.fault
  }
}

/** Opens the smallest position, with a new key. */
export function smallestOrder(
  user: UserId,
  order: { readonly instrument: InstrumentId; readonly direction: Direction; readonly clientPrice: Price },
): OpenPosition {
  return {
    kind: 'open_position',
    userId: user,
    instrumentId: order.instrument,
    direction: order.direction,
    lots: lots(RULES.lotMin),
    clientPrice: order.clientPrice,
    stopLoss: null,
    takeProfit: null,
    idempotency: keyed(user, 'open'),
  }
}

/** The dependencies of one process: its matches share a store and a cache of balances. */
function hostOn(connection: Connection, { onCommitted } = NOWHERE) {
  const store = new SqlMatchStore(connection, new WalletCache(null, rethrow), world)
  const leases = new SqlLeases(connection.db, { owner: world.newId(), ttlMs: HOUR_MS, alone: true })
  return async (id: FixtureId) => {
    const epoch = present(await leases.acquire(id), 'lease')
    const record = (await store.load(id)) ?? newMatch(snapshotAt(id, 0), { replay: false })
    return (onStopped: (error: unknown) => void): MatchActor =>
      new MatchActor({
        record,
        epoch,
        store,
        world,
        rules: () => RULES,
        model: () => DEFAULT_MODEL,
        batchMax: (waiting) => share.batchMax(id, waiting),
        pause: () => new Promise(setImmediate),
        onCommitted,
        onStopped: (_reason, error) => onStopped(error),
      })
  }
}

/** Stands for the HTTP layer's idempotency key: as long as a real one, with a digest. */
function keyed(user: UserId, route: 'open' | 'close') {
  return {
    id: commandId(user, route, `00000000-0000-4000-8000-${(++keys).toString().padStart(12, '0')}`),
    fingerprint: FINGERPRINT,
  }
}
let keys = 0
const FINGERPRINT = world.secret(16)

function accepted(outcome: Outcome<Trade>): Trade {
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome.refusal)}`)
  return outcome.value
}

function rethrow(error: unknown): never {
  throw error
}
