/** A tournament from its schedule to its table, and to the seed with which anybody makes its match again. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { present } from '../../actors/kernel/assert.ts'
import { ComposedServer, PATIENCE } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'
import { type HttpClient, pick, read } from '../support/http-client.ts'
import { scratchFolder } from '../support/scratch-folder.ts'

const SPEED = 120
/** An update of the match at that speed. */
const STEP_SECS = 1

const Tournament = z.looseObject({
  id: z.string(),
  state: z.string(),
  matchId: z.int().nullable(),
  commitment: z.string(),
  seed: z.string().nullable(),
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
const Described = z.looseObject({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })
const Board = z.looseObject({ entries: z.array(z.unknown()) })
const Profile = z.looseObject({ wallet: z.looseObject({ balance: z.number() }) })

describe('a tournament', () => {
  let server: ComposedServer
  beforeAll(async () => {
    const settings = { ADMIN_EMAILS: 'operator@synthetic.invalid', JWT_ACCESS_EXPIRY: '7d' }
    server = await ComposedServer.open(await embeddedPlace(), settings)
  })
  afterAll(() => server.close())

  const found = async (client: HttpClient, id: string) =>
    present(
      (await client.get('/api/tournaments', Listed)).tournaments.find((one) => one.id === id),
      'the tournament',
    )

  /** Every answer of the API to a `GET`, about these ids where an address has one. */
  async function everything(client: HttpClient, ids: readonly (string | number)[]): Promise<string> {
    const { paths } = await client.get('/api/openapi.json', Described)
    const addresses = Object.entries(paths)
      .filter(([path, methods]) => 'get' in methods && !path.includes('picture') && !path.includes('card'))
      .flatMap(([path]) => (path.includes('{') ? ids.map((id) => path.replaceAll(/\{\w+\}/g, String(id))) : [path]))
    const headers = { cookie: `game_access=${client.cookie('game_access')}` }
    const answers: string[] = []
    for (const address of addresses) {
      // Some never end.
      const answer = await fetch(server.url + address, { headers, signal: AbortSignal.timeout(1_000) })
        .then(async (one) => (one.headers.get('content-type')?.includes('json') ? one.text() : ''))
        .catch(() => '')
      answers.push(`${address} ${answer}`)
    }
    return answers.join('\n')
  }

  it('[G6] begins by itself, tells nothing beforehand, pays nobody outside of it, and can be made again', async () => {
    const operator = await server.user('Operator')
    const [seer, other] = [await server.user('Seer'), await server.user('Other')]
    const before = {
      main: await seer.wallet(),
      practice: await seer.wallet('practice'),
      achievements: await seer.get('/api/achievements', z.unknown()),
      referrals: await seer.get('/api/referrals', z.unknown()),
    }
    const startsAt = new Date(server.now + 60_000).toISOString()
    const wanted = { name: 'Cup', startsAt, speed: SPEED }
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

    const instrument = pick((await seer.instruments()).filter((one) => one['fixtureId'] === matchId))
    const ids = [matchId, id, instrument.id, 'Seer']
    const told = [await everything(seer, ids), await everything(operator, ids)].join('\n')
    expect(told).toContain(commitment)
    expect(told).toContain(`/api/matches/${matchId} {`)
    expect(await seer.request('GET', `/api/public/tape/${matchId}/recording`)).toMatchObject({ status: 404 })
    expect(await operator.request('GET', `/api/admin/recordings/${matchId}`)).toMatchObject({ status: 404 })

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
    const seed = present(over.seed ?? undefined, 'the seed')
    expect(over.commitment).toBe(commitment)
    expect(createHash('sha256').update(seed).digest('hex')).toBe(commitment)
    expect(told).not.toContain(seed)
    expect(server.lines.join('\n')).not.toContain(seed)

    // Anybody makes it again, from what is public.
    const path = join(scratchFolder(), 'match.jsonl')
    const recording = () => fetch(`${server.url}/api/public/tape/${matchId}/recording`)
    await vi.waitUntil(async () => {
      server.jump(STEP_SECS)
      return (await recording()).ok
    }, PATIENCE)
    await writeFile(path, await (await recording()).text())
    const again = (from: string) => {
      const { status, stdout } = spawnSync(process.execPath, ['ops/main.ts', 'tournament-match', from, path])
      return [status, String(stdout)]
    }
    expect(again(seed)).toEqual([
      0,
      expect.stringMatching(new RegExp(`^commitment ${commitment}\n[^]*all \\d{3} updates`)),
    ])
    expect(again(seed.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toEqual([
      1,
      expect.stringContaining('update 1 of'),
    ])

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
