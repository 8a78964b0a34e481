import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fixtureId, type FixtureId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { DAY_MS, type Instant, instant } from '../../actors/kernel/world.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL, type ScoringModel } from '../../actors/market/pricing.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import { type MatchView, newMatch } from '../../actors/match/state.ts'
import type { MatchStore } from '../../actors/match/store.ts'
import type { Recording } from '../../actors/replay/recording.ts'
import { setAnchors } from '../../db/anchors.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { Journal } from '../../db/journal.ts'
import { SqlLeases } from '../../db/leases.ts'
import { Recordings } from '../../db/recordings.ts'
import { seedDistricts } from '../../db/seed.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { Rederivation } from '../../ops/verify/rederive.ts'
import { momentOf } from '../../ops/verify/moment.ts'
import { parserOfReplays } from '../../src/compose/replays.ts'
import { instrumentIdFor } from '../../src/provider/instrument-ids.ts'
import { loadRecording } from '../../src/replays/recordings.ts'
import { Users } from '../../db/users.ts'
import { Archive } from '../../db/archive.ts'
import { Leagues } from '../../src/features/leagues/store.ts'
import { eachDatabase } from '../support/databases.ts'
import { TestWorld } from '../support/test-world.ts'
import { committing } from '../support/committing.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const FRAME_MS = 10_000
let matches = 81_000
let recording: Recording | null = null

eachDatabase((open) => {
  const world = new TestWorld()

  /** One match that plays the bundled recording, its owner replaced at will. */
  async function stage() {
    recording ??= await loadRecording(join(import.meta.dirname, '../../ops/replays/slow-burner.jsonl.br'))
    const { frames, anchors } = recording
    const connection = open()
    const matchId = fixtureId(++matches)
    const cast = `journal-${matchId}`
    const players = `replay/${cast}`
    const starts = Object.entries(anchors).map(
      ([player, units]) => [instrumentIdFor(players, Number(player) as never), price(units * 1_000_000)] as const,
    )
    await setAnchors(connection.db, new Map(starts))
    const parse = parserOfReplays(world)
    const updateOf = (frame: number): FeedUpdate => {
      const payload = frames[frame]
      const parsed = parse(payload, matchId, cast)
      if (parsed === null) throw new Error(`frame ${frame} cannot be parsed`)
      const snapshot = { ...parsed, sourceAt: world.now() }
      return { kind: 'feed_update', seq: frame + 1, snapshot, speed: 20, source: { payload, players } }
    }
    const terms: { rules: TradingRules; model: ScoringModel } = { rules: DEFAULT_RULES, model: DEFAULT_MODEL }
    const own = async (
      wrap: (store: MatchStore) => MatchStore = (store) => store,
      id = matchId,
    ): Promise<MatchActor> => {
      const cache = new WalletCache(new FastMemory(world), () => undefined)
      cache.timeline = await timelineOf(connection.db)
      const store = wrap(new SqlMatchStore(connection, cache, world))
      const epoch = await new SqlLeases(connection.db, { owner: world.newId(), ttlMs: 5_000, alone: true }).acquire(id)
      const record = (await store.load(id)) ?? newMatch({ ...updateOf(0).snapshot, fixtureId: id }, { replay: true })
      return new MatchActor({
        record,
        epoch: epoch ?? 0,
        store,
        world,
        rules: () => terms.rules,
        model: () => terms.model,
        pause: () => Promise.resolve(),
        onCommitted: () => undefined,
        onStopped: () => undefined,
      })
    }
    const play = async (actor: MatchActor, from: number, to: number): Promise<void> => {
      for (let frame = from; frame < to; frame++) {
        world.pass(FRAME_MS)
        await actor.feed(updateOf(frame))
      }
    }
    return { connection, matchId, frames, terms, own, play, updateOf }
  }

  const basesOf = async (matchId: FixtureId) => {
    const rows = await open()
      .db.selectFrom('instruments')
      .select(['id', 'base_micros'])
      .where('match_id', '=', matchId)
      .execute()
    return Object.fromEntries(rows.map((row) => [row.id, row.base_micros]))
  }

  it('[J1] a journal is what the match heard, payload by payload, across owners that died in mid-commit', async () => {
    const { connection, matchId, frames, own, play } = await stage()
    const heard: number[] = []
    let frame = 0
    for (const upTo of [40, 43, 90, 130, 170, 210]) {
      // The commit of the last frame is written, or not, and its owner never learns which.
      let commits = upTo - frame
      const dies = (store: MatchStore): MatchStore =>
        committing(store, async (batch) => {
          if (--commits > 0) return store.commit(batch)
          if (upTo % 20 === 0) await store.commit(batch)
          throw new Error('killed')
        })
      const actor = await own(dies)
      expect(actor.view.info.feedSeq).toBe(heard.at(-1) ?? 0)
      await play(actor, frame, upTo - 1)
      await expect(play(actor, upTo - 1, upTo)).rejects.toThrow('killed')
      for (let seq = frame + 1; seq < upTo; seq++) heard.push(seq)
      if (upTo % 20 === 0) heard.push(upTo)
      frame = heard.at(-1) ?? 0
    }
    const updates: { seq: unknown; payload: unknown }[] = []
    const epochs = new Set<number>()
    for await (const { epoch, lines } of new Journal(connection.db).read(matchId)) {
      if (!epochs.has(epoch)) expect(lines[0]?.kind).toBe('rules')
      epochs.add(epoch)
      for (const line of lines) if (line.kind === 'update') updates.push({ seq: line['seq'], payload: line['payload'] })
    }
    expect(updates.map(({ seq }) => seq)).toEqual(heard)
    expect(epochs.size).toBe(6)
    for (const { seq, payload } of updates) {
      expect(JSON.stringify(payload)).toBe(JSON.stringify(frames[Number(seq) - 1]))
    }
  })

  it('[J2] every base comes out of the journal again to the micro, through new owners and new rules', async () => {
    const { connection, matchId, terms, own, play } = await stage()
    await play(await own(), 0, 60)
    const second = await own()
    await play(second, 60, 100)
    terms.model = { ...DEFAULT_MODEL, scale: DEFAULT_MODEL.scale * 1.1 }
    await play(second, 100, 140)
    terms.rules = { ...DEFAULT_RULES, impactCapPpm: 4_000 }
    await second.clock()
    await play(second, 140, 150)
    terms.model = { ...terms.model, bound: terms.model.bound * 0.9 }
    await play(await own(), 150, 200)
    const ticks = await connection.db
      .selectFrom('ticks')
      .select(['instrument_id', 'at', 'base_micros'])
      .where('instrument_id', 'in', Object.keys(await basesOf(matchId)))
      .where('cause', '<>', 'rules')
      .orderBy('at')
      .execute()
    const again = new Rederivation(matchId)
    const derived = new Map<string, Set<number>>()
    for await (const { epoch, lines } of new Journal(connection.db).read(matchId)) {
      for (const line of lines) {
        for (const move of again.hear(line, epoch)) {
          const key = `${move.instrumentId} ${move.at}`
          derived.set(key, (derived.get(key) ?? new Set()).add(move.base))
        }
      }
    }
    expect(Object.fromEntries(again.bases)).toEqual(await basesOf(matchId))
    // What stands still is stored once a minute all the same.
    const last = new Map<string, number>()
    const moved = ticks.filter(({ instrument_id: id, base_micros: base }) => {
      const stood = last.get(id) === base
      last.set(id, base)
      return !stood
    })
    const missed = moved.filter(
      (tick) => !(derived.get(`${tick.instrument_id} ${tick.at.getTime()}`)?.has(tick.base_micros) ?? false),
    )
    expect(ticks.length).toBeGreaterThan(1_000)
    expect(missed).toEqual([])
  })

  it('[V7] two runs at the anchors have the same bases, though the first has moved the last prices', async () => {
    const { matchId, own, updateOf } = await stage()
    const run = async (id: FixtureId): Promise<Record<string, number>> => {
      const actor = await own((store) => store, id)
      for (let frame = 0; frame < 120; frame++) {
        world.pass(FRAME_MS)
        const update = updateOf(frame)
        await actor.feed({ ...update, snapshot: { ...update.snapshot, fixtureId: id }, atAnchors: true })
      }
      const bases = await basesOf(id)
      await actor.end('full_time')
      await actor.stop()
      return bases
    }
    const first = await run(matchId)
    expect(new Set(Object.values(first)).size).toBeGreaterThan(20)
    expect(await run(fixtureId(++matches))).toEqual(first)
  })

  it('[J5] a settled match is a recording that plays the same updates from the same prices', async () => {
    const { connection, matchId, frames, own, play } = await stage()
    const recordings = new Recordings(connection.db)
    const actor = await own()
    await play(actor, 0, 30)
    expect(await recordings.find(matchId)).toBeNull()
    await actor.end('full_time')
    await actor.clock()
    await actor.stop()
    const info = await recordings.find(matchId)
    if (info === null) throw new Error('the match is not listed')
    const [listed] = await recordings.list(1, null)
    expect(listed?.info.matchId).toBe(matchId)
    expect(listed?.commits).toBeGreaterThanOrEqual(30)
    const path = join(scratchFolder(), 'match.jsonl')
    await writeFile(path, (await Array.fromAsync(recordings.lines(info))).join(''))
    const again = await loadRecording(path)
    expect(again.name).toBe(`match-${matchId}`)
    expect(JSON.stringify(again.frames)).toBe(JSON.stringify(frames.slice(0, 30)))
    expect(Object.keys(again.anchors).length).toBeGreaterThan(20)
    expect(recording?.anchors).toMatchObject(again.anchors)
  })

  it('[J3] a payload that is too deep or too large for the journal is kept as the snapshot that it gave', async () => {
    const { connection, matchId, own, play, updateOf } = await stage()
    const actor = await own()
    await play(actor, 0, 3)
    let deep: unknown = 1
    for (let n = 0; n < 50_000; n++) deep = [deep]
    const large = Array.from({ length: 200_000 }, (_, n) => `${n * 7_919}`)
    for (const [n, payload] of [deep, large].entries()) {
      await actor.feed({ ...updateOf(3 + n), source: { payload, players: 'replay/any' } })
    }
    await play(actor, 5, 7)
    const found: string[] = []
    for await (const { lines } of new Journal(connection.db).read(matchId)) {
      for (const line of lines) if (line.kind === 'update') found.push('payload' in line ? 'payload' : 'snapshot')
    }
    expect(found).toEqual(['payload', 'payload', 'payload', 'snapshot', 'snapshot', 'payload', 'payload'])
  })

  it('[J3] bases come out of a journal of snapshots too, from the first update to the last', async () => {
    const { connection, matchId, own, play, updateOf } = await stage()
    const actor = await own()
    const large = Array.from({ length: 200_000 }, (_, n) => `${n * 7_919}`)
    for (let frame = 0; frame < 120; frame++) {
      world.pass(FRAME_MS)
      const update = updateOf(frame)
      // The first has no source at all, some have a payload too large to keep.
      if (frame === 0) await actor.feed({ ...update, source: undefined })
      else if (frame % 20 === 0) await actor.feed({ ...update, source: { payload: large, players: 'replay/any' } })
      else await actor.feed(update)
    }
    await play(actor, 120, 130)
    const again = new Rederivation(matchId)
    let snapshots = 0
    for await (const { epoch, lines } of new Journal(connection.db).read(matchId)) {
      for (const line of lines) {
        if ('snapshot' in line) snapshots++
        again.hear(line, epoch)
      }
    }
    expect(snapshots).toBe(6)
    const stored = await basesOf(matchId)
    expect(Object.fromEntries(again.bases)).toEqual(stored)
    expect(new Set(Object.values(stored)).size).toBeGreaterThan(20)
  })

  it('[J7] a match is shown as it was at any moment of its past, its prices to the micro', async () => {
    const { connection, matchId, own, updateOf } = await stage()
    await seedDistricts(connection.db)
    const users = new Users(connection.db, world)
    const trader = (await users.createSyntheticMany([`t-${matchId}`]))[0]?.user.id
    if (trader === undefined) throw new Error('no trader')
    const founding = await new Leagues(connection.db, world).found(trader, {
      name: 'Friends',
      startsAt: instant(world.now() - 1),
      endsAt: instant(world.now() + DAY_MS),
      startingBalance: money(1_000_000_000),
      matches: 'all',
    })
    if (founding.kind !== 'joined') throw new Error(founding.kind)
    const { league } = founding
    const shown = (view: MatchView) => ({
      phase: view.info.phase,
      minute: view.info.minute,
      goals: [view.info.home.goals, view.info.away.goals],
      players: Object.fromEntries(
        Array.from(view.instruments(), (one) => {
          const { base, imbalance, price: published } = quoteOf(one)
          return [one.id, { base, imbalance, price: published }]
        }),
      ),
    })
    const moments = new Map<number, { at: Instant; shown: ReturnType<typeof shown> }>()
    const note = async (actor: MatchActor): Promise<void> => {
      const { n } = await connection.db
        .selectFrom('journal')
        .select((row) => row.fn.max('n').as('n'))
        .where('match_id', '=', matchId)
        .executeTakeFirstOrThrow()
      moments.set(n ?? 0, { at: world.now(), shown: shown(actor.view) })
    }
    const trade = async (actor: MatchActor): Promise<void> => {
      for (const [n, { id, published }] of [...actor.view.instruments()].entries()) {
        if (n % 3 !== 0) continue
        const order = { instrumentId: id, direction: n % 2 === 0 ? 'long' : 'short', lots: lots(100_000) } as const
        const levels = { stopLoss: null, takeProfit: null, clientPrice: published, idempotency: null }
        await actor.submit({ kind: 'open_position', userId: trader, ...order, ...levels })
        if (n === 0) await actor.submit({ kind: 'open_position', userId: trader, league, ...order, ...levels })
      }
      for (const { id, closableAt } of actor.view.positionsOf(trader).slice(0, 3)) {
        if (closableAt <= world.now()) {
          await actor.submit({ kind: 'close_position', userId: trader, positionId: id, idempotency: null })
        }
      }
    }
    for (let from = 300; from < 480; from += 60) {
      const actor = await own()
      for (let frame = from; frame < from + 60; frame++) {
        world.pass(FRAME_MS)
        await actor.feed({ ...updateOf(frame), speed: 1 })
        if (frame % 10 === 5) await trade(actor)
        if (frame % 30 === 5) await note(actor)
        world.pass(1)
      }
      await actor.stop()
    }
    const last = await own()
    await last.end('full_time')
    await last.clock()
    expect(last.view.info.settledAt).not.toBeNull()
    await last.stop()
    await sql`
      insert into outbox_cursors (match_id, seq) select match_id, max(seq) from outbox where match_id = ${matchId}
       group by match_id on conflict (match_id) do update set seq = excluded.seq`.execute(connection.db)
    const archived = await new Archive(connection.db, { now: () => instant(world.now() + DAY_MS) }, () => 0).run(10_000)
    expect(archived.positions).toBeGreaterThan(50)
    const { inLeague } = await connection.db
      .selectFrom('all_positions')
      .select((row) => row.fn.countAll().as('inLeague'))
      .where('match_id', '=', matchId)
      .where('purse', '=', league)
      .executeTakeFirstOrThrow()
    expect(inLeague).toBeGreaterThan(0)
    let imbalanced = 0
    for (const [n, { at, shown: was }] of moments) {
      for (const until of n % 7 === 0 ? [{ n }, { at }] : [{ at }]) {
        const found = await momentOf(connection.db, matchId, until)
        if (found === null) throw new Error(`nothing at row ${n}`)
        expect(found).toMatchObject({ n, phase: was.phase, minute: was.minute, settled: false })
        expect([found.home.goals, found.away.goals]).toEqual(was.goals)
        for (const one of found.instruments) {
          const [base, imbalance, then] = [one.base, one.imbalance, one.price].map((units) => Math.round(units * 1e6))
          expect({ [one.id]: { base, imbalance, price: then } }).toEqual({
            [one.id]: was.players[one.id],
          })
          imbalanced += imbalance === 0 ? 0 : 1
        }
      }
    }
    expect(imbalanced).toBeGreaterThan(50)
    const end = await momentOf(connection.db, matchId, { at: world.now() })
    expect(end).toMatchObject({ settled: true, window: { status: 'CLOSED' } })
    const settled = await connection.db
      .selectFrom('instruments')
      .select(['id', 'settlement_micros'])
      .where('match_id', '=', matchId)
      .execute()
    const prices = end?.instruments.map((one) => [one.id, Math.round(one.price * 1e6)])
    expect(Object.fromEntries(prices ?? [])).toEqual(
      Object.fromEntries(settled.map((row) => [row.id, row.settlement_micros])),
    )
    await expect(momentOf(connection.db, matchId, { n: 100_000 })).rejects.toThrow('ends with row')
    expect(await momentOf(connection.db, fixtureId(79_999), { n: 1 })).toBeNull()
  })
})
