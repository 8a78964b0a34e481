import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { ServerRig } from '../support/server-rig.ts'
import { HttpClient, type InstrumentSeen } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'
import { eachDataPlace, onServers, type DataPlace } from '../support/data-place.ts'
import { audit, BALANCED } from '../support/books.ts'

afterEach(killRemaining)

const ADMIN = { ADMIN_EMAILS: 'ann@synthetic.invalid' }
const BOT = '/api/admin/gameplay-bot'

async function open(settle: () => Promise<DataPlace>): Promise<ServerRig> {
  const place = await settle()
  return ServerRig.open({ ...place, env: { ...place.env, ...ADMIN } })
}

async function set(admin: HttpClient, key: string, value: unknown): Promise<void> {
  expect(await admin.request('PUT', `/api/admin/settings/${key}`, { value })).toMatchObject({ status: 200 })
}

const Listed = z.object({ positions: z.array(z.looseObject({ id: z.string() })) })
const Shown = z.object({ ticks: z.array(z.looseObject({ price: z.number() })) })
const Replay = z.looseObject({ id: z.string(), fixtureId: z.string(), matchId: z.int(), state: z.string() })
const Status = z.looseObject({ replays: z.array(Replay) })
const Started = Status.extend({ started: z.string() })

async function start(admin: HttpClient, order: object): Promise<string> {
  const answer = await admin.request('POST', `${BOT}/start`, order)
  expect(answer.status).toBe(200)
  return Started.parse(answer.body).started
}

const replays = async (admin: HttpClient) => (await admin.get(`${BOT}/status`, Status)).replays

/** The players of a replay on the pitch, once its match is in play. */
async function castOf(user: HttpClient, admin: HttpClient, id: string): Promise<readonly InstrumentSeen[]> {
  const { matchId } = present(
    (await replays(admin)).find((replay) => replay.id === id),
    'replay',
  )
  return vi.waitUntil(async () => {
    const cast = (await user.instruments()).filter(
      (seen) => seen['fixtureId'] === matchId && seen.tradingStatus === 'OPEN',
    )
    return cast.length > 0 && cast
  }, PATIENCE)
}

const long = ({ id, currentPrice }: InstrumentSeen) =>
  ({ instrumentId: id, direction: 'long', lotSize: 1, clientPrice: currentPrice }) as const

eachDataPlace((settle) => {
  describe('an operator', () => {
    it('[A12] changes a rule, and a running match applies it from the next command on', async () => {
      const rig = await open(settle)
      const [ann, bob] = [await rig.user('Ann'), await rig.user('Bob')]
      const order = long(present((await bob.instruments())[0], 'player'))
      await set(ann, 'trading.lot_max', 0.5)
      expect(await bob.open(order)).toMatchObject({ status: 422, body: { error: 'lot size invalid', maxLot: 0.5 } })
      expect(await bob.instrument(order.instrumentId)).toMatchObject({ maxLot: 0.5 })
      await set(ann, 'trading.lot_max', 100)
      await set(ann, 'trading.hold_secs', 0)
      const { position } = await bob.opens(order)

      await set(ann, `trading.mode.instrument.${order.instrumentId}`, 'halted')
      const halted = { status: 409, body: { error: 'market suspended', tradeWindow: { reason: 'trading is halted' } } }
      expect(await bob.open(order)).toMatchObject(halted)
      expect(await bob.close(position.id, 'a')).toMatchObject(halted)
      expect(await bob.instrument(order.instrumentId)).toMatchObject({ tradingStatus: 'SUSPENDED' })
      await set(ann, `trading.mode.instrument.${order.instrumentId}`, 'open')
      await set(ann, 'trading.mode', 'reduce_only')
      expect(await bob.open(order)).toMatchObject({ status: 409, body: { error: 'market suspended' } })
      expect(await bob.close(position.id, 'a')).toMatchObject({ status: 200 })

      const Entry = z.looseObject({ action: z.string() })
      const log = await ann.get('/api/admin/audit', z.object({ entries: z.array(Entry), nextCursor: z.null() }))
      const changes = log.entries.filter(({ action }) => action === 'setting.set')
      expect(changes).toHaveLength(6)
      expect(changes[0]).toMatchObject({ subject: 'trading.mode', before: 'open', after: 'reduce_only' })
      await rig.close()
    })

    it('[R15] a recording that a user may have seen is practice: nothing of the main game follows from it', async () => {
      const rig = await open(settle)
      const [ann, bob] = [await rig.user('Ann'), await rig.user('Bob')]
      await set(ann, 'replays.practice', true)
      await set(ann, 'trading.hold_secs', 0)
      const cast = await castOf(bob, ann, await start(ann, { fixtureId: 'slow-burner', speed: 5 }))
      const main = async () => ({
        wallet: await bob.wallet(),
        ranked: await bob.get('/api/leaderboard/me', z.looseObject({ ranked: z.boolean() })),
        achievements: await bob.get('/api/achievements', z.unknown()),
        referral: await bob.get('/api/referrals', z.unknown()),
        ledger: await bob.get('/api/wallet/ledger', z.unknown()),
      })
      const before = await main()
      const { position } = await bob.opens({ ...long(present(cast[0], 'player')), lotSize: 3 })
      expect(position).toMatchObject({ purse: 'practice' })
      await vi.waitUntil(async () => (await bob.close(position.id, 'sold')).status === 200, PATIENCE)
      const ranked = z.looseObject({ ranked: z.boolean() })
      await vi.waitUntil(async () => (await bob.get('/api/leaderboard/me?purse=practice', ranked)).ranked, PATIENCE)
      const Held = z.looseObject({ realizedPnl: z.number() })
      const held = await bob.get(`/api/positions/${position.id}`, Held)
      const practice = await bob.get('/api/wallet?purse=practice', z.looseObject({ balance: z.number() }))
      expect(practice.balance).toBeCloseTo(10_000 + held.realizedPnl, 6)
      expect(await main()).toEqual(before)
      const lists = await Promise.all(
        ['main', 'practice'].map((purse) => bob.get(`/api/positions?status=all&purse=${purse}`, Listed)),
      )
      expect(lists.map(({ positions }) => positions.map(({ id }) => id))).toEqual([[], [position.id]])
      await rig.close()
    })

    it('[V6] starts replays, even several of one fixture, and stops them settled or void', async () => {
      const rig = await open(settle)
      const [ann, bob] = [await rig.user('Ann'), await rig.user('Bob')]
      const fixtures = z.object({ fixtures: z.array(z.looseObject({ id: z.string(), minutes: z.int() })) })
      const bundled = (await ann.get(`${BOT}/fixtures`, fixtures)).fixtures
      expect(bundled.map(({ id }) => id)).toEqual(['cup-night', 'goal-feast', 'slow-burner'])
      expect(bundled.every(({ minutes }) => minutes >= 90 && minutes < 200)).toBe(true)

      const ids = []
      for (const fixtureId of ['goal-feast', 'goal-feast', 'slow-burner']) ids.push(await start(ann, { fixtureId }))
      const [first = '', second = '', third = ''] = ids
      const casts = await Promise.all(ids.map((id) => castOf(bob, ann, id)))
      expect(new Set(casts.flat().map(({ id }) => id)).size).toBe(casts.flat().length)
      const positions = []
      for (const cast of casts) {
        const player = present(
          cast.find(({ position }) => position === 'FWD'),
          'a forward',
        )
        expect(player).toMatchObject({ replay: true })
        positions.push((await bob.opens(long(player))).position)
      }
      expect(positions).toMatchObject([{ replay: true }, { replay: true }, { replay: true }])
      expect(await replays(ann)).toMatchObject(ids.map((id) => ({ id, state: 'playing', speed: 1, demo: false })))

      await ann.request('POST', `${BOT}/stop`, { id: first })
      await ann.request('POST', `${BOT}/stop`, { id: second, outcome: 'void' })
      await vi.waitUntil(async () => (await replays(ann)).length === 1, PATIENCE)
      const [settled, voided, open_] = await Promise.all(
        positions.map(async ({ id }) => (await bob.positions('all')).find((position) => position.id === id)),
      )
      const shown = await bob.get(`/api/instruments/${present(settled, 'settled').instrumentId}/price-history`, Shown)
      expect(settled).toMatchObject({ closedBy: 'full_time', closePrice: shown.ticks.at(-1)?.price })
      expect(voided).toMatchObject({ closedBy: 'void', realizedPnl: 0 })
      expect(open_).toMatchObject({ status: 'open' })
      expect(await ann.request('POST', `${BOT}/stop`, { id: first })).toMatchObject({ status: 404 })
      expect(await ann.request('POST', `${BOT}/stop`, {})).toMatchObject({ status: 200, body: { stopped: [third] } })
      await vi.waitUntil(async () => (await replays(ann)).length === 0, PATIENCE)
      expect(await ann.request('POST', `${BOT}/stop`, {})).toMatchObject({ status: 200, body: { stopped: [] } })
      // Its players are free for the next replay.
      expect((await castOf(bob, ann, await start(ann, { fixtureId: 'goal-feast' }))).map(({ id }) => id)).toEqual(
        present(casts[0], 'cast').map(({ id }) => id),
      )
      await rig.close()
    })

    it('[H16] ends a match without a feed, settled or void; a match that is over or unknown is refused', async () => {
      const place = await settle()
      const rig = await ServerRig.open({ ...place, env: { ...place.env, ...ADMIN } }, { matches: 2 })
      const [ann, bob] = [await rig.user('Ann'), await rig.user('Bob')]
      const end = (match: number, outcome: string) =>
        ann.request('POST', `/api/admin/matches/${match}/end`, { outcome })
      const listed = await bob.instruments()
      const matches = (await bob.matches()).map(({ id }) => id).toSorted((a, b) => a - b)
      const [first = 0, second = 0] = matches
      for (const match of matches) {
        await bob.opens(
          long(
            present(
              listed.find((seen) => seen['fixtureId'] === match),
              'player',
            ),
          ),
        )
      }
      expect(await end(first, 'settle')).toMatchObject({ status: 200, body: { matchId: first, outcome: 'settle' } })
      expect(await end(second, 'void')).toMatchObject({ status: 200 })
      const closed = await vi.waitUntil(async () => {
        const all = await bob.positions('closed')
        return all.length === 2 && all
      }, PATIENCE)
      const byMatch = new Map(closed.map((position) => [position['fixtureId'], position.closedBy]))
      expect([byMatch.get(first), byMatch.get(second)]).toEqual(['full_time', 'void'])
      expect(await end(first, 'void')).toMatchObject({ status: 409, body: { code: 'MATCH_OVER' } })
      expect(await end(76_999, 'void')).toMatchObject({ status: 404 })
      expect(await end(first, 'forget')).toMatchObject({ status: 400 })
      await rig.close()
    })

    it('a replay continues after the process was killed, and can then be stopped', async () => {
      const place = await settle()
      onTestFinished(() => place.remove())
      const env = { ...place.env, ...ADMIN, DEMO_REPLAY: 'none' }
      const client = async (program: Program, name: string) => HttpClient.of((await program.listening).url, name)
      const first = new Program(env)
      const before = { ann: await client(first, 'Ann'), bob: await client(first, 'Bob') }
      const id = await start(before.ann, { fixtureId: 'slow-burner', speed: 2, traders: 5 })
      const cast = await castOf(before.bob, before.ann, id)
      const player = present(
        cast.find(({ position }) => position === 'MID'),
        'a midfielder',
      )
      const { position } = await before.bob.opens(long(player))
      await first.kill()

      const second = new Program(env)
      const [ann, bob] = [await client(second, 'Ann'), await client(second, 'Bob')]
      expect(await replays(ann)).toMatchObject([{ id, state: 'playing', speed: 2, traders: 5 }])
      const progress = async () => present((await replays(ann))[0], 'replay')['progress']
      const earlier = await progress()
      await vi.waitUntil(async () => Number(await progress()) > Number(earlier), { ...PATIENCE, timeout: 20_000 })
      await ann.request('POST', `${BOT}/stop`, { id })
      await vi.waitUntil(async () => (await replays(ann)).length === 0, PATIENCE)
      expect(await bob.positions('closed')).toMatchObject([{ id: position.id, closedBy: 'full_time' }])
      expect(await second.stop()).toMatchObject({ code: 0, stderr: '' })
      expect(await audit(place)).toMatchObject(BALANCED)
    })
  })
})

onServers((settle) => {
  it('[Q14] a setting changed in one process is in force in the matches of another', async () => {
    const rig = await open(settle)
    const bob = await rig.user('Bob')
    const other = new Program({ ...rig.env, ...ADMIN, DEMO_REPLAY: 'none' })
    const ann = await HttpClient.of((await other.listening).url, 'Ann')
    const order = long(present((await bob.instruments())[0], 'player'))
    await set(ann, 'trading.mode', 'halted')
    await vi.waitUntil(async () => (await bob.open(order)).status === 409, PATIENCE)
    await set(ann, 'trading.mode', 'open')
    await vi.waitUntil(async () => (await bob.open(order)).status === 201, PATIENCE)

    // A replay started in the other process is stopped here, wherever it runs.
    const id = await start(ann, { fixtureId: 'goal-feast' })
    await bob.opens(long(present((await castOf(bob, ann, id))[0], 'player')))
    const here = await rig.user('Ann')
    await here.request('POST', `${BOT}/stop`, {})
    await vi.waitUntil(async () => (await replays(here)).length === 0, PATIENCE)
    expect(await bob.positions('closed')).toMatchObject([{ replay: true, closedBy: 'full_time' }])
    expect(await other.stop()).toMatchObject({ code: 0, stderr: '' })
    await rig.close()
  })
})
