/** Who may hold a socket, and how often who may knock, on processes of the real program. */
import { setTimeout as pause } from 'node:timers/promises'
import { Client as Sdk } from '@colyseus/sdk'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { present } from '../../actors/kernel/assert.ts'
import { matchRoomId } from '../../rooms/match/match-room.ts'
import { fixtureId } from '../../actors/kernel/ids.ts'
import { FeedClient } from '../rooms/realtime-rig.ts'
import { embeddedPlace, type DataPlace, onServers } from '../support/data-place.ts'
import { HttpClient } from '../support/http-client.ts'
import { killRemaining, PATIENCE, Program } from '../support/process.ts'

afterEach(killRemaining)

const ADMIN = { ADMIN_EMAILS: 'ann@synthetic.invalid' }
const UNKNOWN_MATCH = 4_000_000_000

const signedIn = async (program: Program, name: string): Promise<HttpClient> =>
  HttpClient.of((await program.listening).url, name)

async function feedOf(client: HttpClient): Promise<FeedClient> {
  const feed = new FeedClient(await client.socketUrl())
  await feed.opened
  feed.ask({ type: 'ping', id: 1 })
  await vi.waitUntil(() => feed.said.length > 0, PATIENCE)
  return feed
}

/** The status of a request for a seat. */
async function seat(at: string, matchId: number): Promise<number> {
  const url = new URL(at.replace(/^ws/, 'http'))
  url.pathname = `/matchmake/joinById/match-${matchId}`
  return (await fetch(url, { method: 'POST' })).status
}

/** The flag is set through the first process, and the socket is at the last. */
async function comingSoon(programs: readonly Program[]): Promise<void> {
  const [first, last] = [present(programs[0], 'process'), present(programs.at(-1), 'process')]
  const [ann, ada] = [await signedIn(first, 'Ann'), await signedIn(last, 'Ada')]
  const annElsewhere = await signedIn(last, 'Ann')
  const [hers, annHere, annThere] = [await feedOf(ada), await feedOf(ann), await feedOf(annElsewhere)]
  const players = await vi.waitUntil(async () => {
    const all = await ada.instruments()
    return all.length > 0 && all
  }, PATIENCE)
  const matchId = present(players[0], 'player').fixtureId
  // The first process runs the match, and has its room.
  const room = await new Sdk(await (await signedIn(first, 'Ada')).socketUrl()).joinById(matchRoomId(fixtureId(matchId)))
  const left = new Promise<number>((resolve) => room.onLeave((code) => resolve(code)))
  const [late, later, annsLate] = [await ada.socketUrl(), await ada.socketUrl(), await annElsewhere.socketUrl()]

  const flag = { enabled: true }
  expect(await ann.request('PUT', '/api/admin/flags/coming_soon', flag)).toMatchObject({ status: 200 })
  expect([await hers.closed, await left]).toEqual([4003, 4003])
  expect(await new FeedClient(late).closed).toBe(4003)
  expect([await seat(later, matchId), await seat(annsLate, matchId)]).toEqual([503, 200]) // wherever the match runs
  for (const feed of [annHere, annThere]) {
    const before = feed.said.length
    feed.ask({ type: 'ping', id: 2 })
    await vi.waitUntil(() => feed.said.length > before, PATIENCE)
  }
}

const start = (place: DataPlace, settings: Readonly<Record<string, string>>): Program => {
  onTestFinished(() => place.remove())
  return new Program({ ...place.env, ...settings })
}

describe('on one process', () => {
  it('[W20] coming_soon closes the sockets and seats of everybody but admins, and refuses new ones', async () => {
    await comingSoon([start(await embeddedPlace(), ADMIN)])
  })

  it('[W20] a socket ends when its session expires; a socket of another session stays', async () => {
    const program = start(await embeddedPlace(), { JWT_REFRESH_EXPIRY: '6s', JWT_ACCESS_EXPIRY: '5s' })
    const ada = await signedIn(program, 'Ada')
    const expiring = await feedOf(ada)
    const refreshed = await signedIn(program, 'Ada')
    const staying = await feedOf(refreshed)
    let isOver = false
    const refreshing = (async () => {
      for (; !isOver; await pause(1_000)) await refreshed.request('POST', '/api/auth/refresh')
    })()
    const code = await expiring.closed
    isOver = true
    await refreshing
    expect(code).toBe(4001)
    expect(staying.ws.readyState).toBe(staying.ws.OPEN)
  })

  it('[W18] where rate limits are off, as in a load test, one user may hold more than ten sockets', async () => {
    const ada = await signedIn(start(await embeddedPlace(), { RATE_LIMIT_PER_MIN: '0' }), 'Ada')
    const feeds = await Promise.all(Array.from({ length: 12 }, () => feedOf(ada)))
    expect(feeds.map(({ ws }) => ws.readyState)).toEqual(feeds.map(({ ws }) => ws.OPEN))
  })

  it('[W19] a user is limited in seats and handshakes, and slows nobody else; so is an address', async () => {
    const program = start(await embeddedPlace(), { TRUSTED_PROXIES: '1', RATE_LIMIT_PER_MIN: '200' })
    const [eve, ada] = [await signedIn(program, 'Eve'), await signedIn(program, 'Ada')]
    const other = await ada.socketUrl()
    const hers = await Promise.all(Array.from({ length: 100 }, () => eve.socketUrl()))
    const knocks = await Promise.all(hers.map((at, n) => seat(at, UNKNOWN_MATCH + n)))
    expect(knocks.filter((status) => status === 429)).toHaveLength(40)
    expect(await new FeedClient(await eve.socketUrl()).closed).toBe(4029)
    expect(await seat(other, UNKNOWN_MATCH)).toBe(404)

    const { wsUrl } = await program.listening
    const from = (address: string, path: string, method = 'GET'): Promise<number> =>
      fetch(`${wsUrl.replace(/^ws/, 'http')}${path}`, { method, headers: { 'x-forwarded-for': address } }).then(
        ({ status }) => status,
      )
    const many = async (path: string, method = 'GET'): Promise<number[]> =>
      Promise.all(Array.from({ length: 250 }, () => from('203.0.113.7', path, method)))
    expect((await many('/matchmake/join/match', 'POST')).filter((status) => status === 429)).toHaveLength(50)
    expect((await many('/nowhere')).every((status) => status === 429)).toBe(true)
    // No crowd behind the address of a prober takes the process out of service.
    expect((await many('/ready')).every((status) => status === 200)).toBe(true)
  })
})

onServers((settle) => {
  it('[W20] coming_soon closes the sockets and seats of everybody but admins, at every process', async () => {
    const place = await settle()
    const first = start(place, ADMIN)
    await first.listening
    await comingSoon([first, new Program({ ...place.env, ...ADMIN, DEMO_REPLAY: 'none' })])
  })
})
