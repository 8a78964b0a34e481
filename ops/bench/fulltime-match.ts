/** A match with many holders goes to full time, while others trade in another match of the same process. */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId, PositionId, UserId } from '../../actors/kernel/ids.ts'
import { money } from '../../actors/kernel/micros.ts'
import { isClosing } from '../../actors/match/shared-step.ts'
import { BoardsMemory } from '../../db/boards-memory.ts'
import { Careers } from '../../db/careers.ts'
import { Outbox } from '../../db/outbox.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { BoardKeeper } from '../../src/reactions/board-keeper.ts'
import { react } from '../../src/reactions/react.ts'
import { Reactor } from '../../src/reactions/reactor.ts'
import { systemWorld } from '../../src/system-world.ts'
import { type BenchDatabase, reset } from './bench-database.ts'
import { BenchMatch, snapshotAt } from './matches.ts'
import { smallPosition, stock } from './stock.ts'

/** Positions of one insert: more would exceed the statement timeout. */
const CHUNK = 20_000
/** The interval between trades in the other match, in ms: a hundred openings and a hundred closes a second. */
const TRADE_EVERY_MS = 5
const CALM_MS = 10_000
const WARM_UP_MS = 2_000
const LOOK_EVERY_MS = 20
const SHOW_EVERY_MS = 1_000

export interface Latency {
  readonly trades: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface FullTime {
  readonly holders: number
  readonly settledMs: number
  readonly reactedMs: number
  readonly shownMs: number
  readonly calm: Latency
  readonly meanwhile: Latency
  readonly longestTurnMs: number
  readonly setAside: number
}

export interface Held {
  readonly popular: FixtureId
  readonly other: FixtureId
  readonly holders: number
}

/** One position per holder in one match, and an empty match. */
export async function prepareHolders(database: BenchDatabase, holders: number): Promise<Held> {
  await reset(database)
  const { db } = database.connection
  const [popular, other] = await BenchMatch.start(database.connection, 2)
  await Promise.all([popular?.stop(), other?.stop()])
  const { actor } = present(popular, 'match')
  const instruments = [...actor.view.instruments()]
  for (let from = 0; from < holders; from += CHUNK) {
    const users = database.users.slice(from, Math.min(from + CHUNK, holders))
    // At prices of the market, or the first update would close those whose loss is a margin.
    const positions = users.map((_, n) =>
      smallPosition(present(instruments[(n >> 1) % instruments.length], 'instrument'), n % 2 === 0 ? 1 : -1),
    )
    await stock(database, actor.matchId, positions, users)
  }
  // What their openings left has been reacted to.
  await sql`update outbox_cursors set seq = (select max(seq) from outbox o where o.match_id = outbox_cursors.match_id)`.execute(
    db,
  )
  return { popular: actor.matchId, other: present(other, 'match').actor.matchId, holders }
}

const whistle = (match: BenchMatch): Promise<boolean> =>
  match.actor.feed({
    kind: 'feed_update',
    seq: 2,
    snapshot: snapshotAt(match.actor.matchId, 20, { state: 'FINISHED', stateId: 5, periods: [] }),
  })

async function settled(match: BenchMatch): Promise<void> {
  while (match.actor.view.info.settledAt === null && match.fault === null) {
    await match.actor.clock() // what a price fires at the whistle leaves before the rest is settled
    await pause(LOOK_EVERY_MS)
  }
  if (match.fault !== null) throw match.fault
}

export async function measureFullTime(database: BenchDatabase, held: Held): Promise<FullTime> {
  const { connection, users } = database
  const [popular, other] = [
    await BenchMatch.load(connection, held.popular),
    await BenchMatch.load(connection, held.other),
  ]
  const community = new Community(database, () => isClosing(popular.actor.view))
  community.start()
  const load = new Trading(other, users.slice(held.holders))
  await pause(WARM_UP_MS)
  load.take()
  await pause(CALM_MS)
  const calm = load.take()

  const turns = monitorEventLoopDelay({ resolution: 1 })
  turns.enable()
  const begun = performance.now()
  const since = (): number => performance.now() - begun
  await whistle(popular)
  await settled(popular)
  const settledMs = since()
  await community.reacted(held.popular)
  const reactedMs = since()
  await community.shown(users.slice(0, held.holders))
  const shownMs = since()
  turns.disable()
  const meanwhile = load.take()

  await load.stop()
  await Promise.all([popular.stop(), other.stop(), community.stop()])
  const setAside = await expectAll(database, held)
  return {
    holders: held.holders,
    settledMs,
    reactedMs,
    shownMs,
    calm,
    meanwhile,
    longestTurnMs: turns.max / 1e6,
    setAside,
  }
}

/** The reactions and the boards of one process. */
class Community {
  readonly #db: BenchDatabase['connection']['db']
  readonly #reactor: Reactor
  readonly #boards = { main: new BoardsMemory(), practice: new BoardsMemory() }
  readonly #keeper: BoardKeeper
  #showing: Promise<void> | null = null
  #stopped = false

  constructor({ connection }: BenchDatabase, isSettling: () => boolean) {
    this.#db = connection.db
    const roiFloor = () => money(0)
    const careers = new Careers(this.#db, roiFloor)
    this.#keeper = new BoardKeeper({ boards: this.#boards, careers, roiFloor })
    this.#reactor = new Reactor({
      outbox: new Outbox(this.#db, new WalletCache(null, () => undefined), systemWorld()),
      reaction: react,
      tell: () => undefined,
      report: (event, error) => console.error(event, error),
      isSettling,
    })
  }

  start(): void {
    this.#reactor.start()
    this.#showing = (async () => {
      while (!this.#stopped) {
        await this.#keeper.show()
        await pause(SHOW_EVERY_MS)
      }
    })()
  }

  async reacted(match: FixtureId): Promise<void> {
    const look = () =>
      sql<{ finished: boolean }>`select finished from outbox_cursors where match_id = ${match}`.execute(this.#db)
    while ((await look()).rows[0]?.finished !== true) await pause(LOOK_EVERY_MS)
  }

  /** Resolves when the boards show all of these users. */
  async shown(users: readonly UserId[]): Promise<void> {
    const look = async () => (await this.#boards.main.top({ by: 'roi', districtId: null }, 1)).total >= users.length
    while (!(await look())) await pause(LOOK_EVERY_MS)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all([this.#reactor.stop(), this.#showing])
  }
}

/** Trades at a fixed pace, whether or not the ones before were answered. */
export class Trading {
  #tookMs: number[] = []
  readonly #held = new Map<UserId, PositionId | null>()
  readonly #timer: NodeJS.Timeout
  readonly #underWay = new Set<Promise<void>>()
  #failure: unknown = null

  constructor(match: BenchMatch, users: readonly UserId[]) {
    let next = 0
    let due = performance.now()
    this.#timer = setInterval(() => {
      // A late turn of the event loop sends what it has missed: those clients have waited since they were due.
      for (; due <= performance.now(); due += TRADE_EVERY_MS) {
        const trade = this.#trade(match, present(users[next++ % users.length], 'user'), due)
        this.#underWay.add(trade)
        void trade.finally(() => this.#underWay.delete(trade))
      }
    }, 1)
  }

  /** The latencies since the last call. Throws when a trade has failed. */
  take(): Latency {
    if (this.#failure !== null) throw this.#failure
    const sorted = Float64Array.from(this.#tookMs).toSorted()
    this.#tookMs = []
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return { trades: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#underWay)
  }

  async #trade(match: BenchMatch, user: UserId, dueAt: number): Promise<void> {
    const held = this.#held.get(user)
    if (held === null) return // its last trade is still under way
    this.#held.set(user, null)
    try {
      if (held === undefined) this.#held.set(user, await match.open(user))
      else {
        await match.close(user, held)
        this.#held.delete(user)
      }
      this.#tookMs.push(performance.now() - dueAt)
    } catch (error) {
      this.#failure ??= error
    }
  }
}

/** Throws unless every holder was paid and has every reaction once. Returns how many rows were set aside. */
async function expectAll({ connection: { db } }: BenchDatabase, { popular, holders }: Held): Promise<number> {
  const { rows } = await sql<Record<'open' | 'settled' | 'careers' | 'notices' | 'aside', number>>`
    select (select count(*) from positions where match_id = ${popular} and closed_at is null) as open,
           (select count(*) from positions where match_id = ${popular} and closed_by = 'full_time') as settled,
           (select count(*) from careers where settled = 1) as careers,
           (select count(*) from notifications where type = 'settlement') as notices,
           (select count(*) from outbox_failures) as aside`.execute(db)
  const { aside, ...found } = present(rows[0], 'counts')
  const expected = { open: 0, settled: holders, careers: holders, notices: holders }
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`found ${JSON.stringify(found)}`)
  const books = await new Wallets(db, new WalletCache(null, () => undefined)).auditLedger()
  if (books.imbalanceMicros + books.unbalancedTransactions + books.mismatchedWallets !== 0) {
    throw new Error(`the books: ${JSON.stringify(books)}`)
  }
  return aside
}
