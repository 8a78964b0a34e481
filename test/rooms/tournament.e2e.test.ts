/** A tournament from its schedule to its table, with a trader who has seen the recording. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { loadRecording } from '../../src/replays/recordings.ts'
import { disguiseOf } from '../../actors/replay/disguise.ts'
import { ComposedServer, PATIENCE } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'
import { type HttpClient, pick, read } from '../support/http-client.ts'

const SPEED = 120
/** A frame of the recording at that speed. */
const STEP_SECS = 1

const Tournament = z.looseObject({
  id: z.string(),
  state: z.string(),
  matchId: z.int().nullable(),
  commitment: z.string(),
  revealed: z.object({ recording: z.string(), seed: z.string() }).nullable(),
})
const Listed = z.looseObject({ tournaments: z.array(Tournament) })
const Instruments = z.looseObject({
  instruments: z.array(
    z.looseObject({
      id: z.string(),
      fixtureId: z.int(),
      name: z.string(),
      tradingStatus: z.string(),
      live_base_price: z.number(),
    }),
  ),
})
const Table = z.looseObject({
  entries: z.array(z.looseObject({ userId: z.string(), rank: z.int(), value: z.number(), openPositions: z.int() })),
})
const Board = z.looseObject({ entries: z.array(z.unknown()) })
const Profile = z.looseObject({ wallet: z.looseObject({ balance: z.number() }) })

describe('a tournament on a recording', { timeout: 180_000 }, () => {
  let server: ComposedServer
  beforeAll(async () => {
    const settings = { ADMIN_EMAILS: 'operator@synthetic.invalid', JWT_ACCESS_EXPIRY: '7d' }
    server = await ComposedServer.open(await embeddedPlace(), settings)
  }, 60_000)
  afterAll(() => server.close())

  const found = async (client: HttpClient, id: string) =>
    present(
      (await client.get('/api/tournaments', Listed)).tournaments.find((one) => one.id === id),
      'the tournament',
    )

  it('[G6] begins by itself, plays under other names, and pays nobody outside of it', async () => {
    const operator = await server.user('Operator')
    const [seer, other] = [await server.user('Foresight'), await server.user('Other')]
    const before = {
      main: await seer.wallet(),
      practice: await seer.wallet('practice'),
      achievements: await seer.get('/api/achievements', z.unknown()),
      referrals: await seer.get('/api/referrals', z.unknown()),
    }
    const startsAt = new Date(server.now + 60_000).toISOString()
    const wanted = { name: 'Cup', recording: 'slow-burner', startsAt, speed: SPEED }
    const { id, commitment } = read(await operator.request('POST', '/api/admin/tournaments', wanted), 201, Tournament)
    for (const one of [seer, other]) read(await one.request('POST', `/api/tournaments/${id}/enter`), 200, Tournament)
    const order = { direction: 'long', lotSize: 20, purse: id } as const

    server.jump(61)
    await vi.waitUntil(async () => (await found(seer, id)).matchId !== null, PATIENCE)
    const matchId = present((await found(seer, id)).matchId ?? undefined, 'its match')
    const listed = async () =>
      (await seer.get('/api/instruments', Instruments)).instruments.filter(({ fixtureId }) => fixtureId === matchId)
    await vi.waitUntil(async () => (await listed()).some(({ tradingStatus }) => tradingStatus === 'OPEN'), {
      ...PATIENCE,
      timeout: 30_000,
    })

    // Nobody can read from the match which one it is.
    const recording = await loadRecording(new URL('../../ops/replays/slow-burner.jsonl.br', import.meta.url).pathname)
    const shown = JSON.stringify([await listed(), (await seer.request('GET', `/api/matches/${matchId}`)).body])
    const original = JSON.stringify(recording.frames.at(-1))
    const names = [...original.matchAll(/"player_name":"([^"]+)"/g)].map(([, name]) => name ?? '')
    expect(names.length).toBeGreaterThan(20)
    for (const name of [...names, ...recording.fixtureName.split(' vs ')]) expect(shown).not.toContain(name)

    // Who knows how it ends buys the player whose price rises most.
    const instrument = pick((await seer.instruments()).filter((one) => one['fixtureId'] === matchId))
    const opened = await seer.open({ ...order, instrumentId: instrument.id, clientPrice: instrument.live_base_price })
    expect(opened.status, JSON.stringify(opened.body)).toBe(201)

    await vi.waitUntil(
      async () => {
        server.jump(STEP_SECS)
        return (await found(seer, id)).state === 'decided'
      },
      { timeout: 150_000, interval: 80 },
    )
    const over = await found(other, id)
    const { recording: name, seed } = present(over.revealed ?? undefined, 'what was played')
    expect(name).toBe('slow-burner')
    expect(over.commitment).toBe(commitment)
    expect(createHash('sha256').update(`${seed} ${name}`).digest('hex')).toBe(commitment)
    const disguise = disguiseOf(recording, seed, 0)
    expect([...disguise.players.values()].map((player) => player.name)).toContain(instrument['name'])

    const { entries } = await seer.get(`/api/leagues/${id}`, Table)
    expect(entries).toHaveLength(2)
    expect(entries.every(({ openPositions }) => openPositions === 0)).toBe(true)
    expect(entries.map(({ value }) => value).toSorted((a, b) => b - a)).toEqual(entries.map(({ value }) => value))
    expect(new Set(entries.map(({ value }) => value)), 'the trade counted').toHaveProperty('size', 2)

    // The rest of the game has not noticed.
    const after = {
      main: await seer.wallet(),
      practice: await seer.wallet('practice'),
      achievements: await seer.get('/api/achievements', z.unknown()),
      referrals: await seer.get('/api/referrals', z.unknown()),
    }
    expect(after).toEqual(before)
    for (const purse of ['main', 'practice']) {
      for (const board of ['roi/global', 'global']) {
        const { entries: ranked } = await seer.get(`/api/leaderboard/${board}?purse=${purse}`, Board)
        expect(ranked, `${board} of ${purse}`).toEqual([])
      }
    }
    expect(read(await seer.request('GET', '/api/me'), 200, Profile).wallet.balance).toBe(10_000)
  })
})
