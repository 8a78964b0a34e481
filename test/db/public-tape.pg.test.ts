import { hash } from 'node:crypto'
import { deflateRawSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { fixtureId, type FixtureId, positionId, type UserId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, type TradingRules } from '../../actors/kernel/limits.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { MatchActor } from '../../actors/match/actor.ts'
import type { FeedUpdate } from '../../actors/match/messages.ts'
import { newMatch } from '../../actors/match/state.ts'
import type { MatchStore } from '../../actors/match/store.ts'
import { type Instant, instant } from '../../actors/kernel/world.ts'
import { chanceFrom } from '../../actors/replay/chance.ts'
import { HABITS, nextAction, type TraderAction, type TraderView } from '../../actors/replay/traders.ts'
import { FastMemory } from '../../db/fast/fast-memory.ts'
import { Journal } from '../../db/journal.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { type Checkpoint, PublicTape, type TapeKey, type Unsigned } from '../../db/public-tape.ts'
import { DICTIONARY, unpacked } from '../../db/tape-lines.ts'
import { Recordings } from '../../db/recordings.ts'
import { seedDistricts } from '../../db/seed.ts'
import { Users } from '../../db/users.ts'
import { timelineOf, WalletCache } from '../../db/wallet-cache.ts'
import { Wallets } from '../../db/wallets.ts'
import { loadOrCreateKeys, newPrivateKeyPem } from '../../src/auth/keys.ts'
import { TapeSigner } from '../../src/features/tape/signer.ts'
import { parserOfReplays } from '../../src/compose/replays.ts'
import { type Proven, verify } from '../../src/verify/verify.ts'
import { eachDatabase } from '../support/databases.ts'
import { shortRecording } from '../support/short-recordings.ts'
import { TestWorld } from '../support/test-world.ts'
import { committing } from '../support/committing.ts'

const FRAME_MS = 10_000
const TRADERS = 24
const sha256 = (text: string): string => hash('sha256', text, 'hex')
let matches = 83_000

eachDatabase((open) => {
  const world = new TestWorld()

  /** Plays a recording with traders; owners are killed in the commits of these frames, which are written or not. */
  async function play(
    kills: readonly number[],
  ): Promise<{ readonly matchId: FixtureId; readonly users: readonly UserId[] }> {
    const { frames } = await shortRecording('goal-feast')
    const connection = open()
    const matchId = fixtureId(++matches)
    const players = `replay/taped-${matchId}`
    await seedDistricts(connection.db)
    const made = await new Users(connection.db, world).createSyntheticMany(
      Array.from({ length: TRADERS }, (_, n) => `Taped ${matchId} ${n}`),
    )
    const users = made.map(({ user }) => user.id)
    const wallets = new Wallets(connection.db, new WalletCache(null, () => undefined))
    const parse = parserOfReplays(world)
    const chance = chanceFrom(matchId)
    let rules: TradingRules = DEFAULT_RULES
    let dying = false
    const own = async (): Promise<MatchActor> => {
      const cache = new WalletCache(new FastMemory(world), () => undefined)
      cache.timeline = await timelineOf(connection.db)
      const stored = new SqlMatchStore(connection, cache, world)
      const store: MatchStore = committing(stored, async (batch) => {
        if (!dying) return stored.commit(batch)
        if (chance.happens(0.5)) await stored.commit(batch)
        throw new Error('killed')
      })
      const epoch = await new SqlLeases(connection.db, { owner: world.newId(), ttlMs: 5_000, alone: true }).acquire(
        matchId,
      )
      const record = (await store.load(matchId)) ?? newMatch(updateOf(0).snapshot, { replay: true })
      const actor: MatchActor = new MatchActor({
        record,
        epoch: present(epoch, 'epoch'),
        store,
        world,
        rules: () => rules,
        model: () => DEFAULT_MODEL,
        batchMax: () => 20,
        pause: () => Promise.resolve(),
        onCommitted: () => void actor.takeUnpublished(),
        onStopped: () => undefined,
      })
      return actor
    }
    const updateOf = (frame: number): FeedUpdate => {
      const payload = frames[frame]
      const snapshot = { ...present(parse(payload, matchId, `taped-${matchId}`), 'snapshot'), sourceAt: world.now() }
      return { kind: 'feed_update', seq: frame + 1, snapshot, speed: 20, source: { payload, players } }
    }
    let actor = await own()
    for (let frame = 0; frame < frames.length; frame++) {
      world.pass(FRAME_MS)
      dying = kills.includes(frame)
      if (frame === 25) rules = { ...DEFAULT_RULES, impactCapPpm: 4_000 }
      // Drawn one after another, so that the play does not depend on which query a server answers first.
      const actions: TraderAction[] = []
      for (const [n, userId] of users.entries()) {
        if (chance.below(4) > 0) continue
        const action = nextAction(
          { userId, habit: present(HABITS[n % HABITS.length], 'habit') },
          await viewOf(actor, userId, wallets),
          (below) => chance.below(below),
        )
        if (action !== null) actions.push(action)
      }
      const heard = actor.feed(updateOf(frame)).catch(() => undefined)
      const orders = actions.map((action) => actor.submit(action).catch(() => undefined))
      await Promise.allSettled([heard, ...orders])
      if (!dying) continue
      dying = false
      actor = await own()
      await actor.feed(updateOf(frame))
    }
    if (actor.view.info.settling === null) await actor.end('full_time')
    while (actor.view.info.settledAt === null) await actor.clock()
    return { matchId, users }
  }

  async function viewOf(actor: MatchActor, userId: UserId, wallets: Wallets): Promise<TraderView> {
    return {
      now: world.now(),
      balance: present((await wallets.find(userId)) ?? undefined, 'wallet').balance,
      instruments: [...actor.view.instruments()].map((one) => ({
        instrumentId: one.id,
        price: quoteOf(one).price,
        base: one.base,
        start: one.start,
        suspended: actor.window(one.id).status !== 'OPEN',
      })),
      positions: actor.view.positionsOf(userId),
    }
  }

  async function proven(matchId: FixtureId): Promise<Proven & { readonly tape: string; readonly recording: string }> {
    const { db } = open()
    const tapes = new PublicTape(db)
    const keys = await loadOrCreateKeys({ dataDir: '/nowhere', privateKeyPem: await newPrivateKeyPem(), keyId: null })
    await new TapeSigner(keys, tapes, world).signAll()
    const last = present((await tapes.last(matchId, world.now())) ?? undefined, 'checkpoint')
    expect(last.isEnd).toBe(true)
    const lines = await Array.fromAsync(tapes.lines(matchId, last.n))
    const info = present((await new Recordings(db).find(matchId)) ?? undefined, 'recording')
    const recording = (await Array.fromAsync(new Recordings(db).lines(info))).join('')
    const found = await verify(
      {
        tape: lines.join(''),
        recording,
        checkpoints: await tapes.checkpoints(matchId),
        keys: new Map((await tapes.keys()).map(({ kid, publicKey }) => [kid, publicKey])),
        proof: null,
      },
      { digest: sha256 },
    )
    return { ...found, tape: lines.join(''), recording }
  }

  it('[H29] the newest checkpoint is one from before an instant, of a match that had settled by then the last', async () => {
    const { db } = open()
    const tapes = new PublicTape(db)
    const [running, settled] = [fixtureId(70_001), fixtureId(70_002)]
    for (const [matchId, ended] of [
      [running, null],
      [settled, new Date(3_000)],
    ] as const) {
      await sql`insert into matches select * from jsonb_populate_record(null::matches, (
        select to_jsonb(m) || jsonb_build_object('id', ${Number(matchId)}::bigint, 'settled_at', ${ended}::timestamptz)
          from matches m limit 1))`.execute(db)
      for (const n of [1, 2, 3]) {
        await tapes.sign({ matchId, n, hash: 'aa', at: instant(n * 1_000), kid: 'k', signature: '' })
      }
    }
    const lastOf = async (matchId: FixtureId, at: number) => (await tapes.last(matchId, instant(at)))?.n ?? null
    expect([await lastOf(running, 999), await lastOf(running, 2_999), await lastOf(running, 3_000)]).toEqual([
      null,
      2,
      3,
    ])
    expect([await lastOf(settled, 999), await lastOf(settled, 2_999), await lastOf(settled, 3_000)]).toEqual([
      null,
      2,
      3,
    ])
    const isEnd = async (at: number) => (await tapes.last(settled, instant(at)))?.isEnd
    expect([await isEnd(2_999), await isEnd(3_000)]).toEqual([false, true])
    // One that was void may come back, unless it is a replay.
    const isEndOfVoid = async (replay: boolean) => {
      await sql`update matches set replay = ${replay}, info = info || '{"settling": "void"}' where id = ${settled}::bigint`.execute(
        db,
      )
      return isEnd(3_000)
    }
    expect([await isEndOfVoid(false), await isEndOfVoid(true)]).toEqual([false, true])
    await sql`delete from matches where id in (70001, 70002)`.execute(db)
  })

  let match: Awaited<ReturnType<typeof play>>
  beforeAll(async () => {
    match = await play([5, 10, 23, 43, 66])
  })

  it('[J8] after five kills in mid-commit a match is proved from its tape and its recording, line for line', async () => {
    const { matchId } = match
    const { counts, isWhole, tape } = await proven(matchId)
    expect(isWhole).toBe(true)
    expect(counts['open']).toBeGreaterThan(50)
    const { rows } = await sql<{ opened: number; closed: number; pnl: number }>`
      select count(*)::integer as opened, count(closed_at)::integer as closed, sum(pnl_micros)::bigint as pnl
        from positions where match_id = ${matchId}`.execute(open().db)
    expect([counts['open'], counts['close']]).toEqual([rows[0]?.opened, rows[0]?.closed])
    // The PnL of each position is that of its last line.
    const pnls = new Map(
      [...tape.matchAll(/"kind":"(?:close|correct)","id":"(\w+)".*?"pnl":(-?\d+)/g)].map(([, id, pnl]) => [
        id,
        Number(pnl),
      ]),
    )
    expect([...pnls.values()].reduce((sum, pnl) => sum + pnl, 0)).toBe(rows[0]?.pnl)
    const epochs = new Set<number>()
    for await (const { epoch } of new Journal(open().db).read(matchId)) epochs.add(epoch)
    expect(epochs.size).toBe(6)
  })

  it('[J11] the last lines of a tape that found no signer for days are signed by the first process that can', async () => {
    const { db } = open()
    const { matchId } = match
    const tapes = new PublicTape(db)
    await sql`update matches set settled_at = settled_at - interval '3 days' where id = ${matchId}::bigint`.execute(db)
    await sql`delete from tape_checkpoints where match_id = ${matchId}::bigint`.execute(db)
    const pem = await newPrivateKeyPem()
    const keys = await loadOrCreateKeys({ dataDir: '/nowhere', privateKeyPem: pem, keyId: null })
    let isAway = true
    const tapesAtFirst = {
      unsigned: (...times: Parameters<PublicTape['unsigned']>) => tapes.unsigned(...times),
      endOf: async (tape: Unsigned) => {
        if (isAway) throw new Error('away')
        return tapes.endOf(tape)
      },
      sign: (checkpoint: Checkpoint) => tapes.sign(checkpoint),
      addKey: (key: TapeKey) => tapes.addKey(key),
    }
    const signer = new TapeSigner(keys, tapesAtFirst, world)
    await expect(signer.signAll()).rejects.toThrow('away')
    isAway = false
    expect(await signer.signAll()).toBe(1)
    expect(await signer.signAll()).toBe(0)
    expect(await tapes.last(matchId, world.now())).toMatchObject({ isEnd: true })
    // From then on it looks at what ended lately.
    await sql`delete from tape_checkpoints where match_id = ${matchId}::bigint`.execute(db)
    expect(await signer.signAll()).toBe(0)
    expect(await new TapeSigner(keys, tapes, world).signAll()).toBe(1)
  })

  it('a tape that cannot be read keeps no other unsigned, and is tried a bounded number of times', async () => {
    const [broken, whole] = [fixtureId(1), fixtureId(2)]
    const signed: number[] = []
    const asked: Instant[] = []
    const tapes = {
      unsigned: async (_last: Instant, ended: Instant) => {
        asked.push(ended)
        return [broken, whole].map((matchId) => ({ matchId, hasEnded: true, signed: { n: 0, hash: '' } }))
      },
      endOf: async ({ matchId }: Unsigned) => {
        if (matchId === broken) throw new Error('a line is missing')
        return { n: 1, hash: 'aa' }
      },
      sign: async ({ matchId }: Checkpoint) => void signed.push(matchId),
      addKey: async () => {},
    }
    const keys = await loadOrCreateKeys({ dataDir: '/nowhere', privateKeyPem: await newPrivateKeyPem(), keyId: null })
    const signer = new TapeSigner(keys, tapes, world)
    for (let look = 0; look < 30; look++) await expect(signer.signAll()).rejects.toThrow('a line is missing')
    expect(signed).toEqual(Array.from({ length: 30 }, () => whole))
    expect(asked.filter((ended) => ended === 0)).toHaveLength(20)
  })

  it('[J10] the owner of a position gets its proof, and nobody else does', async () => {
    const { matchId, users } = match
    const { tape, recording } = await proven(matchId)
    const tapes = new PublicTape(open().db)
    const rows = await open()
      .db.selectFrom('positions')
      .select(['id', 'user_id', 'pnl_micros'])
      .where('match_id', '=', matchId)
      .limit(12)
      .execute()
    expect(rows).toHaveLength(12)
    for (const { id, user_id: owner, pnl_micros: pnl } of rows) {
      const proof = present((await tapes.proofOf(owner, positionId(id))) ?? undefined, 'proof')
      const { position } = await verify(
        { tape, recording: null, checkpoints: [], keys: new Map(), proof },
        { digest: sha256 },
      )
      expect(position.findLast((line) => 'pnl' in line)?.['pnl']).toBe(pnl)
      const other = present(
        users.find((one) => one !== owner),
        'user',
      )
      expect(await tapes.proofOf(other, positionId(id))).toBeNull()
    }
    for (const user of users) expect(`${tape}${recording}`).not.toContain(user)
    for (const { id } of rows) expect(tape).not.toContain(id)
  })

  it('[J11] a row that was changed in the database is not published', async () => {
    const { matchId } = match
    const tapes = new PublicTape(open().db)
    const { rows } = await sql<{ first_n: number; lines: Uint8Array }>`
      select first_n, lines from tape where match_id = ${matchId} and first_n > 300 limit 1`.execute(open().db)
    const { first_n: changed, lines } = present(rows[0], 'row')
    const text = unpacked(lines)
      .join('\n')
      .replace(/"room":\d+/, '"room":7')
    const forged = deflateRawSync(text, { dictionary: DICTIONARY })
    await sql`update tape set lines = ${forged} where match_id = ${matchId} and first_n = ${changed}`.execute(open().db)
    await expect(Array.fromAsync(tapes.lines(matchId))).rejects.toThrow(/is not the one that was signed/)
    await sql`delete from tape where match_id = ${matchId} and first_n > 1 and first_n < 600`.execute(open().db)
    await expect(Array.fromAsync(tapes.lines(matchId))).rejects.toThrow(/lacks line \d+$/)
  })
})
