/** Users who trade in separate matches on the real store, and the reactions to their commits. */
import { sql } from 'kysely'
import { beforeAll, expect } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, instrumentId, type LeagueId, positionId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, REPLAY_FIXTURES_FROM } from '../../actors/kernel/limits.ts'
import { lots, type Money, money } from '../../actors/kernel/micros.ts'
import type { CommonPurse } from '../../actors/kernel/purse.ts'
import { instant, type World } from '../../actors/kernel/world.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import { EMPTY_PRICING } from '../../actors/market/pricing.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { type ClosedBy, type Direction, type Position, realisedPnl } from '../../actors/position/position.ts'
import { BoardsMemory } from '../../db/boards-memory.ts'
import type { Boards } from '../../db/boards.ts'
import { Careers } from '../../db/careers.ts'
import type { Connection } from '../../db/postgres/connection.ts'
import type { Notification } from '../../db/announcements.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { Months } from '../../db/months.ts'
import { Outbox } from '../../db/outbox.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { BoardKeeper } from '../../src/reactions/board-keeper.ts'
import { react } from '../../src/reactions/react.ts'
import { Reactor } from '../../src/reactions/reactor.ts'
import { BALANCED } from './books.ts'
import { held, info, instrument, p, u } from './fixtures.ts'
import { TestWorld } from './test-world.ts'

let fixtures = 64_000

type PositionClosed = Extract<MatchEvent, { kind: 'position_closed' }>

interface SeasonOptions {
  readonly roiFloor?: () => Money
  readonly ranksBots?: () => boolean
}

/** A season on the database of a suite, there before its first test. */
export function seasonOn(open: () => Connection, world: World, options: SeasonOptions = {}): Season {
  const season = {} as Season
  beforeAll(async () => void Object.assign(season, await openSeason(open(), world, options)))
  return season
}

export type Season = Awaited<ReturnType<typeof openSeason>>
/** A match that commits any events a test passes. */
export type Fixture = Awaited<ReturnType<Season['match']>>

/** What a position is opened with by a test. */
interface Bet {
  readonly lots?: number
  readonly direction?: Direction
  readonly league?: LeagueId
}

export async function openSeason(connection: Connection, world: World, options: SeasonOptions = {}) {
  const { db } = connection
  await seedDistricts(db)
  const fast = new FastMemory(world)
  const cache = new WalletCache(fast, () => undefined)
  cache.timeline = await timelineOf(db)
  const wallets = new Wallets(db, cache)
  const users = new Users(db, world)
  const roiFloor = options.roiFloor ?? (() => money(0))
  const ranksBots = options.ranksBots ?? (() => false)
  const careers = new Careers(db, roiFloor, ranksBots)
  const outbox = new Outbox(db, cache, world)
  const boards = { main: new BoardsMemory(), practice: new BoardsMemory() }
  const keeper = new BoardKeeper({ boards, careers, roiFloor, ranksBots })
  const pushed: Notification[] = []
  const reports: string[] = []
  const reactor = new Reactor({
    outbox,
    reaction: react,
    tell: (notifications) => pushed.push(...notifications),
    report: (event) => reports.push(event),
    isSettling: () => false,
  })
  const store = new SqlMatchStore(connection, cache, new TestWorld())
  const leases = new SqlLeases(db, { owner: world.newId(), ttlMs: 60_000, alone: true })
  const enrol = async (name: string) => present((await users.createSyntheticMany([name]))[0], 'user').user.id
  let names = 0
  return {
    outbox,
    careers,
    keeper,
    reactor,
    cache,
    wallets,
    fast,
    users,
    boards: boards as Readonly<Record<CommonPurse, Boards>>,
    /** The notifications that were pushed after they were stored. */
    pushed,
    reports,
    user: enrol,
    /** A user whose name does not matter. */
    player: () => enrol(`Player ${++names}`),
    /** `referee` was invited by `referrer`, and has registered. */
    refer: async (referrer: UserId, referee: UserId) => {
      await sql`insert into referrals (id, referrer_id, referee_id, created_at, registered_at)
        values (${world.newId()}, ${referrer}, ${referee}, now(), now())`.execute(db)
    },
    /** All commits are reacted to, and the boards show it. */
    settle: async () => {
      await reactor.drain()
      await keeper.show()
    },
    /** The ledger adds up to zero, entry by entry. */
    booksBalance: async () => {
      expect(await wallets.auditLedger()).toMatchObject(BALANCED)
    },
    /** A match in play with one player, worth 200. */
    match: async ({ purse = 'main' }: { readonly purse?: CommonPurse } = {}) => {
      const replay = purse === 'practice'
      const id = fixtureId((replay ? REPLAY_FIXTURES_FROM : 0) + ++fixtures)
      const epoch = present(await leases.acquire(id), 'lease')
      await new Months(db, world).make()
      const listed = instrument(1, { id: instrumentId(world.newId()), name: 'A. Striker' })
      const match = info({ matchId: id, replay, purse })
      const commitNow = async (events: readonly MatchEvent[]) => {
        const verdict = await store.commit({
          id: world.newId(),
          matchId: id,
          epoch,
          at: world.now(),
          events,
          instruments: [{ instrument: listed, price: quoteOf(listed).price }],
          ticks: [],
          keyed: [],
          watch: [],
          openPositionsMax: DEFAULT_RULES.openPositionsMax,
        })
        if (verdict.kind !== 'committed') throw new Error(`not committed: ${verdict.kind}`)
      }
      // One after another, as the owner of a match commits.
      let last: Promise<void> = Promise.resolve()
      const commit = (events: readonly MatchEvent[]) => {
        const done = last.then(() => commitNow(events))
        last = done.catch(() => undefined)
        return done
      }
      await commit([
        { kind: 'match_updated', info: match, pricing: EMPTY_PRICING },
        { kind: 'instrument_listed', instrument: listed },
      ])
      /** The base moves with the price, unless it is given. */
      const closed = (position: Position, at: number, by: ClosedBy = 'user', base = at): PositionClosed => {
        const pnl = by === 'washout' ? money(-position.margin) : realisedPnl(position, by === 'void' ? p(200) : p(at))
        const close = { price: p(at), base: p(base), pnl, at: world.now(), by, voidReason: null }
        return { kind: 'position_closed', position: { ...position, close } }
      }
      /** A position to be opened by the caller. */
      const positionOf = (user: UserId, over: Bet = {}) => {
        const of = { id: positionId(world.newId()), userId: user, instrumentId: listed.id, fixtureId: id }
        return held({
          ...of,
          purse: over.league ?? purse,
          direction: over.direction ?? 'long',
          lots: lots(u(over.lots ?? 1)),
          openedAt: world.now(),
          closableAt: instant(world.now() + DEFAULT_RULES.holdMs),
        })
      }
      return {
        id,
        commit,
        closed,
        position: positionOf,
        open: async (user: UserId, over: Bet = {}) => {
          const position = positionOf(user, over)
          await commit([{ kind: 'position_opened', position }])
          return position
        },
        close: (...close: Parameters<typeof closed>) => commit([closed(...close)]),
        /** A match that was void is played again, by the same player. */
        playAgain: () =>
          commit([
            { kind: 'match_updated', info: match, pricing: EMPTY_PRICING },
            { kind: 'instrument_listed', instrument: listed },
          ]),
        settle: () =>
          commit([{ kind: 'match_updated', info: { ...match, settledAt: world.now() }, pricing: EMPTY_PRICING }]),
      }
    },
  }
}
