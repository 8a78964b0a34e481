/** Protection (actors/match/protection) on the databases: the match, its store and what they leave behind. */
import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { playerId, type PositionId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_PROTECTION } from '../../actors/kernel/limits.ts'
import { lots } from '../../actors/kernel/micros.ts'
import { HOUR_MS, MINUTE_MS } from '../../actors/kernel/world.ts'
import type { FixtureSnapshot } from '../../actors/market/fixture.ts'
import type { MatchActor } from '../../actors/match/actor.ts'
import { MatchState, type MatchView } from '../../actors/match/state.ts'
import type { Batch } from '../../actors/match/store.ts'
import { COMMIT_BATCH } from '../../db/postgres/commit-batch.ts'
import { AccountLog } from '../../db/account-log.ts'
import { PositionVoids } from '../../src/features/integrity/store.ts'
import { Wallets } from '../../db/wallets.ts'
import { Voids } from '../../src/features/integrity/voids.ts'
import { systemWorld } from '../../src/system-world.ts'
import { codeOf, ok } from '../support/actor-rig.ts'
import { crowd, eachDatabase } from '../support/databases.ts'
import { GOAL, player, u } from '../support/fixtures.ts'
import { runningMatch, type RunningMatchOptions } from '../support/running-match.ts'
import { seasonOn } from '../support/season.ts'

const RULES = { protection: DEFAULT_PROTECTION, feedStaleMs: HOUR_MS, feedFrozenMs: HOUR_MS }
/** Fills of one player that one piece of news moves, and the users who hold them. */

/** What protection makes a match remember, as its memory and as the database have it. */
const remembered = (view: MatchView) => ({
  open: [...view.openPositions()].toSorted(byId),
  movable: [...view.movableCloses()].toSorted((a, b) => byId(a.position, b.position)),
  news: [...view.instruments()].map(({ base, news }) => ({ base, news })),
})
const byId = (a: { readonly id: PositionId }, b: { readonly id: PositionId }): number => (a.id < b.id ? -1 : 1)

const hasMoves = ({ events }: Batch): boolean => events.some(({ kind }) => kind === 'fill_moved')

eachDatabase((open) => {
  const world = systemWorld()
  const season = seasonOn(open, world)
  let matches = 87_000

  const wallets = () => new Wallets(open().db, season.cache, open().db, () => true)

  /** A match of one player, of whom the feed tells nothing, or a goal that the statistics do not show yet, or do. */
  async function play(options: RunningMatchOptions = {}) {
    const n = ++matches
    const match = await runningMatch(open(), world, n, { rules: RULES, ...options })
    const goal = { ...GOAL, playerId: playerId(n % 10_000), side: n % 2 === 0 ? 'away' : 'home' } as const
    const score = { id: 1, name: 'Harbour', goals: 1 }
    const scored: Partial<FixtureSnapshot> = goal.side === 'home' ? { home: score } : { away: { ...score, id: 2 } }
    const known: Partial<FixtureSnapshot> = {
      ...scored,
      events: [goal],
      players: [player(n % 10_000, { details: { 52: 1 } })],
    }
    let seq = 1
    const feed = (actor: MatchActor, over: Partial<FixtureSnapshot> = {}) =>
      actor.feed({ kind: 'feed_update', seq: ++seq, snapshot: { ...match.first, sourceAt: world.now(), ...over } })
    const isRemembered = async (actor: MatchActor) =>
      expect(remembered(new MatchState(await match.load()))).toEqual(remembered(actor.view))
    return { ...match, feed, scored: { ...scored, events: [goal] }, known, isRemembered }
  }

  const closing = (userId: UserId, positionId: PositionId) =>
    ({ kind: 'close_position', userId, positionId, idempotency: null }) as const

  it('[N6] whatever news does, the database has what the match remembers, and a new owner goes on from there', async () => {
    const { actor, order, feed, scored, known, isRemembered, takeOver } = await play()
    const [stays, leaves, parts] = [await season.player(), await season.player(), await season.player()]
    const held = ok(await actor.submit(order(stays))).position
    const left = ok(await actor.submit(order(leaves))).position
    const whole = ok(await actor.submit(order(parts, { direction: 'short', lots: lots(u(2)) }))).position
    ok(await actor.submit(closing(leaves, left.id)))
    ok(await actor.submit({ ...closing(parts, whole.id), kind: 'close_part', lots: lots(u(0.7)) }))
    await isRemembered(actor)
    const { base } = present([...actor.view.instruments()][0], 'player')
    await feed(actor, scored)
    await isRemembered(actor)
    const next = await takeOver()
    expect(remembered(next.view)).toEqual(remembered(actor.view))
    await feed(next, known)
    await isRemembered(next)
    const by = present([...next.view.instruments()][0], 'player').base - base
    expect(next.view.position(held.id)?.openPrice).toBe(held.openPrice + by)
    expect([...next.view.movableCloses()].map(({ position: { moved = [] } }) => moved.map(({ fill }) => fill))).toEqual(
      Array.from({ length: 2 }, () => ['open', 'close']),
    )
    await feed(next)
    await feed(next)
    await isRemembered(next)
    await season.booksBalance()
    // Every event of an owner has its marker, and none is missing.
    const changes = await new AccountLog(open().db, world).changes(leaves, 0, 99)
    const events = changes?.kind === 'events' ? changes.events : []
    expect(events.map(({ marker }) => marker)).toEqual(events.map((_, n) => n + 1))
    expect(events.slice(0, 2).map(({ kind }) => kind)).toEqual(['opened', 'closed'])
  })

  it('[N4] what a close pays opens nothing in another match either, however the two commits meet', async () => {
    const { db, kind } = open()
    const user = await season.player()
    const [one, other] = [await play(), await play()]
    const { id } = ok(await one.actor.submit(one.order(user, { lots: lots(u(60)) }))).position
    const both: Promise<unknown>[] = []
    let opening: ReturnType<MatchActor['submit']> | undefined
    await db.transaction().execute(async (tx) => {
      await sql`select from wallets where user_id = ${user} for update`.execute(tx)
      const isWaiting = async (count: number): Promise<boolean> => {
        if (kind !== 'postgres') return true // one after the other
        const { rows } = await sql`
          select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
        return rows.length === count
      }
      both.push(one.actor.submit(closing(user, id)))
      await vi.waitUntil(() => isWaiting(1), { timeout: 30_000 })
      both.push((opening = other.actor.submit(other.order(user, { lots: lots(u(60)) }))))
      await vi.waitUntil(() => isWaiting(2), { timeout: 30_000 })
    })
    await Promise.all(both)
    expect(codeOf(await present(opening, 'an opening'))).toBe('insufficient_margin')
    expect([one.stopped, other.stopped]).toEqual([[], []])
    await season.booksBalance()
  })

  it('[N4] a match is loaded without the closes that stand', async () => {
    const { actor, order, load } = await play()
    const closes: PositionId[] = []
    for (const user of [await season.player(), await season.player(), await season.player()]) {
      const { id } = ok(await actor.submit(order(user))).position
      ok(await actor.submit(closing(user, id)))
      closes.push(id)
    }
    const movable = async () => (await load()).movableCloses?.map(({ position }) => position.id)
    expect(await movable()).toEqual(closes)
    const standFrom = (id: PositionId | undefined, ms: number) =>
      sql`update positions set movable_until = ${new Date(world.now() + ms)}::timestamptz where id = ${id}::uuid`.execute(
        open().db,
      )
    await standFrom(closes[0], -MINUTE_MS)
    await standFrom(closes[1], -MINUTE_MS / 4) // the clock of who has committed it may be behind
    expect(await movable()).toEqual(closes.slice(1))
  })

  it('[N6] a close of the rest remembers what its parts have paid', async () => {
    const { actor, order, isRemembered } = await play()
    const user = await season.player()
    const { id } = ok(await actor.submit(order(user, { lots: lots(u(2)) }))).position
    ok(await actor.submit({ ...closing(user, id), kind: 'close_part', lots: lots(u(0.7)) }))
    ok(await actor.submit(closing(user, id)))
    await isRemembered(actor)
  })

  it.each(['before', 'after'] as const)(
    '[N6] a fault %s the commit of the moves: the next owner moves each fill once',
    async (when) => {
      let isBroken = true
      const { actor, order, feed, known, isRemembered, takeOver, stopped } = await play({
        [when]: async (batch: Batch) => {
          if (isBroken && hasMoves(batch)) throw new Error('the connection is lost')
        },
      })
      const [stays, leaves] = [await season.player(), await season.player()]
      const held = ok(await actor.submit(order(stays))).position
      const left = ok(await actor.submit(order(leaves))).position
      ok(await actor.submit(closing(leaves, left.id)))
      const { base } = present([...actor.view.instruments()][0], 'player')
      await expect(feed(actor, known)).rejects.toThrow('the connection is lost')
      expect(stopped).toHaveLength(1)
      isBroken = false
      const next = await takeOver()
      await feed(next, known)
      await isRemembered(next)
      const by = present([...next.view.instruments()][0], 'player').base - base
      expect(by).toBeGreaterThan(0)
      expect(next.view.position(held.id)).toMatchObject({ openPrice: held.openPrice + by })
      await season.booksBalance()
    },
  )

  it('[N1] the fills of a crowd on one player move with one piece of news, at once and in one commit', async () => {
    const fills = crowd(open(), 10_000)
    const holders = fills / 20
    const moves: number[] = []
    const { actor, order, feed, known, isRemembered } = await play({
      after: async (batch) => {
        if (hasMoves(batch)) moves.push(batch.events.filter(({ kind }) => kind === 'fill_moved').length)
      },
    })
    const usernames = Array.from({ length: holders }, (_, n) => `Holder ${n} of ${matches}`)
    const users = (await season.users.createSyntheticMany(usernames)).map(({ user }) => user.id)
    const held: PositionId[] = []
    for (let round = 0; round < fills / holders; round++) {
      // On both sides, so that the price stays near what each has seen.
      const orders = users.map((user, n) =>
        order(user, { direction: n % 2 === 0 ? 'long' : 'short', lots: lots(u(0.01)) }),
      )
      const trades = await Promise.all(orders.map((one) => actor.submit(one)))
      held.push(...trades.map((trade) => ok(trade).position.id))
    }
    for (let half = 0; half < fills / 2; half += holders) {
      await Promise.all(users.map((user, n) => actor.submit(closing(user, present(held[half + n], 'position')))))
    }
    await feed(actor, known)
    expect(moves).toEqual([fills])
    await isRemembered(actor)
    await season.booksBalance()
  })

  it('[N1] with protection off a goal leaves no trace of it: no line of its SQL, no value in any row', async () => {
    const lines = COMMIT_BATCH.statement.split('\n').filter((line) => !line.trimStart().startsWith('--'))
    const ofProtection =
      /\b(?:\w_movable|movable_until|held_back|unsettled_proceeds|\w_locked|locked_micros|f_\w+|i_news)\b/
    expect(lines.filter((line) => ofProtection.test(line))).toEqual([])
    const batches: Batch[] = []
    const { actor, order, feed, known, load } = await play({
      rules: { ...RULES, protection: null },
      after: async (batch) => void batches.push(batch),
    })
    const [stays, leaves] = [await season.player(), await season.player()]
    const held = [ok(await actor.submit(order(stays))).position, ok(await actor.submit(order(leaves))).position]
    ok(await actor.submit(closing(leaves, present(held[1], 'position').id)))
    await feed(actor, known)
    await feed(actor)
    expect(batches.filter((batch) => batch.protected === true || hasMoves(batch))).toEqual([])
    const { db } = open()
    const positions = await db
      .selectFrom('positions')
      .select(['moved', 'movable_until', 'answer_locked_micros'])
      .where(
        'id',
        'in',
        held.map(({ id }) => id),
      )
      .execute()
    const nothing = { moved: null, movable_until: null, answer_locked_micros: null }
    expect(positions).toEqual([nothing, nothing])
    const { instruments } = await load()
    expect(instruments.map(({ news }) => news)).toEqual([null])
    const kinds = db.selectFrom('ledger_entries').select('kind').where('user_id', 'in', [stays, leaves]).distinct()
    expect((await kinds.execute()).map(({ kind }) => kind)).not.toContain('moved')
  })

  it('[C4] what an operator voids after its close is free, and news moves it no more', async () => {
    const { actor, order, feed, known, takeOver } = await play()
    const [user, admin] = [await season.player(), await season.player()]
    const held = ok(await actor.submit(order(user))).position
    ok(await actor.submit(closing(user, held.id)))
    expect((await wallets().find(user))?.locked).toBe(held.margin)
    const voids = new Voids({
      voids: new PositionVoids(open().db, season.cache, world),
      desk: { ask: async (_, { positionId: id }) => ((await actor.void(id)) ? 'voided' : 'closed') },
    })
    const request = { positionId: held.id, commandId: null, by: admin, reason: 'seen beside the pitch' }
    expect(await voids.void(request)).toMatchObject({ kind: 'voided' })
    expect((await wallets().find(user))?.locked).toBeUndefined()
    expect([...actor.view.movableCloses()]).toEqual([])
    await feed(actor, known)
    expect([...(await takeOver()).view.movableCloses()]).toEqual([])
    await season.booksBalance()
  })
})
