/** The library of recordings in the whole program: an upload is played twice, and then the ended match itself. */
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { loadRecording } from '../../src/replays/recordings.ts'
import { ComposedServer } from '../support/composed-server.ts'
import { embeddedPlace } from '../support/data-place.ts'
import type { HttpClient } from '../support/http-client.ts'

const UPLOADS = '/api/admin/uploads'
const UPDATES = 24
const PATIENCE = { timeout: 60_000, interval: 20 }

describe('the library of recordings', () => {
  let server: ComposedServer
  let boss: HttpClient
  beforeAll(async () => {
    const place = await embeddedPlace()
    server = await ComposedServer.open({
      ...place,
      env: { ...place.env, ADMIN_EMAILS: 'boss@synthetic.invalid', JWT_ACCESS_EXPIRY: '7d' },
    })
    boss = await server.user('Boss')
  })
  afterAll(() => server.close())

  const send = (name: string, body: Uint8Array<ArrayBuffer>) =>
    fetch(`${server.url}${UPLOADS}?name=${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', cookie: `game_access=${boss.cookie('game_access')}` },
      body,
    })

  /** Plays a recording without loss, and waits until its match has settled. */
  async function played(fixtureId: string): Promise<number> {
    const body = { fixtureId, speed: 120, traders: 0, lossless: true }
    const started = z
      .object({ started: z.string(), replays: z.array(z.looseObject({ id: z.string(), matchId: z.number() })) })
      .parse((await boss.request('POST', '/api/admin/gameplay-bot/start', body)).body)
    const { matchId } = z
      .looseObject({ matchId: z.number() })
      .parse(started.replays.find(({ id }) => id === started.started))
    await vi.waitUntil(async () => {
      server.jump(5)
      const { recordings } = await boss.get(
        '/api/admin/recordings',
        z.object({ recordings: z.array(z.looseObject({ matchId: z.number() })), nextCursor: z.string().nullable() }),
      )
      return recordings.some((one) => one.matchId === matchId)
    }, PATIENCE)
    return matchId
  }

  /** Every base of every player that the tape of a match tells, in order. */
  async function bases(matchId: number): Promise<readonly string[]> {
    const address = `${server.url}/api/public/tape/${matchId}`
    await vi.waitUntil(async () => {
      server.jump(60)
      return (await (await fetch(address)).text()).includes('"kind":"settle"')
    }, PATIENCE)
    const Line = z.looseObject({ kind: z.string() })
    const lines = (await (await fetch(address)).text()).trim().split('\n')
    const names = new Map<unknown, unknown>()
    return lines.flatMap((text) => {
      const line = Line.parse(JSON.parse(text))
      if (line.kind === 'listed') names.set(line['player'], line['playerId'])
      return line.kind === 'price' ? [`${String(names.get(line['player']))} ${String(line['base'])}`] : []
    })
  }

  it('[J13] plays an upload twice at once, and the ended match once more, at the same prices to the micro', async () => {
    const file = join(import.meta.dirname, '../../ops/replays/goal-feast.jsonl.br')
    const { title, anchors, frames } = await loadRecording(file)
    const lines = [{ recording: { title, anchors } }, ...frames.slice(19, 19 + UPDATES)]
    const text = lines.map((line) => JSON.stringify(line)).join('\n')
    const kept = await send('half-feast', Uint8Array.from(gzipSync(text)))
    expect([kept.status, await kept.json()]).toMatchObject([201, { name: 'half-feast', updates: UPDATES }])
    expect((await send('half-feast', Uint8Array.from(gzipSync(text)))).status).toBe(409)

    // Something else keeps the process busy.
    const busy = setInterval(() => {
      const until = performance.now() + 40
      while (performance.now() < until);
    }, 90)
    onTestFinished(() => clearInterval(busy))
    const [one, two] = await Promise.all([played('half-feast'), played('half-feast')])
    clearInterval(busy)
    const [first, second] = [await bases(one), await bases(two)]
    expect(first.length).toBeGreaterThan(200)
    expect(second).toEqual(first)

    expect(await bases(await played(`match-${one}`))).toEqual(first)
    const { chart } = await boss.get(
      `/api/admin/recordings/${one}/chart`,
      z.object({ chart: z.array(z.object({ name: z.string(), prices: z.array(z.number()) })) }),
    )
    // How much of a match an even distance of time holds depends on the load: what it holds is of the tape, in order.
    const told = Map.groupBy(first, (line) => line.split(' ')[0])
    const paths = [...told.values()].map((said) => said.map((line) => Number(line.split(' ')[1]) / 1_000_000))
    expect(chart.map(({ prices }) => [prices.length, paths.filter((path) => isDrawn(prices, path)).length])).toEqual([
      [49, 1],
      [49, 1],
      [49, 1],
    ])
    expect(new Set(chart.map(({ name }) => name)).size).toBe(3)
  })

  it('[J12] refuses a hostile file in words, and keeps nothing of it', async () => {
    const hostile = await send('bomb', Uint8Array.from(gzipSync(Buffer.alloc(150_000_000))))
    expect([hostile.status, await hostile.json()]).toMatchObject([
      400,
      { code: 'VALIDATION_FAILED', issues: [{ path: 'body', message: expect.stringMatching(/more than/) }] },
    ])
    const { body } = await boss.request('GET', UPLOADS)
    expect(body).toMatchObject({ uploads: [{ name: 'half-feast' }] })
    expect((await boss.request('DELETE', `${UPLOADS}/half-feast`)).status).toBe(200)
    expect((await boss.request('DELETE', `${UPLOADS}/half-feast`)).status).toBe(404)
  })
})

/** Whether a chart ends as a path does, and shows nothing but what the path was, one after another. */
function isDrawn(chart: readonly number[], path: readonly number[]): boolean {
  let at = 0
  for (const price of chart) {
    at = path.indexOf(price, at)
    if (at === -1) return false
  }
  return chart.at(-1) === path.at(-1)
}
