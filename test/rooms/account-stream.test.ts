import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  type AccountListener,
  type AccountPage,
  AccountStream,
  type ReadAccounts,
} from '../../rooms/feed/account-stream.ts'
import { matchRoomId } from '../../rooms/match/match-room.ts'
import { MatchWire } from '../../rooms/match/match-wire.ts'
import { MATCH, openOrder, U } from '../support/fixtures.ts'
import { ok } from '../support/actor-rig.ts'
import { RealtimeRig, type FeedClient, PAGE, until } from './realtime-rig.ts'

const closers: (() => void | Promise<void>)[] = []
afterEach(async () => {
  vi.useRealTimers()
  for (const close of closers.splice(0).toReversed()) await close()
})

async function openRealtimeRig(): Promise<RealtimeRig> {
  const arena = await RealtimeRig.open()
  closers.push(() => arena.close())
  arena.grant(1)
  await arena.plays()
  return arena
}

const opens = async (arena: RealtimeRig, times = 1): Promise<void> => {
  for (let n = 0; n < times; n++) ok(await arena.desk.submit(openOrder()))
}

interface Told {
  readonly marker: string
  readonly snapshot: boolean
  readonly events: readonly { readonly marker: string }[]
}

const toldTo = (client: FeedClient): Told[] =>
  client.said.filter((said) => said.type === 'account') as unknown as Told[]
const markersOf = (told: readonly Told[]): number[] => told.flatMap(({ events }) => events.map((e) => Number(e.marker)))
const upTo = (n: number, from = 1): number[] => Array.from({ length: n - from + 1 }, (_, i) => from + i)

/** An SDK client that listens to its account. */
async function sdkListener(arena: RealtimeRig, since?: string): Promise<Told[]> {
  const room = await arena.sdk('1').joinById(matchRoomId(MATCH), {}, MatchWire)
  closers.push(() => {
    room.reconnection.enabled = false
    room.connection.close()
  })
  const told: Told[] = []
  room.onMessage('account', (page: Told) => told.push(page))
  room.onMessage('error', () => undefined)
  await room.request('account', since === undefined ? {} : { since })
  return told
}

describe('the account stream', () => {
  it('[D8] tells what came after a marker, then what is committed, in order and once, through both doors', async () => {
    const arena = await openRealtimeRig()
    await opens(arena, 2 * PAGE)
    const client = await arena.feedClient('1')
    client.ask({ type: 'account', id: 9, since: '1' })
    const told = await sdkListener(arena, '1')
    await until('what is missed is told', () => markersOf(toldTo(client)).length === 2 * PAGE - 1)
    await opens(arena, 3)
    const last = 2 * PAGE + 3
    await until('all is told', () => markersOf(toldTo(client)).at(-1) === last && markersOf(told).at(-1) === last)
    expect(markersOf(toldTo(client))).toEqual(upTo(last, 2))
    expect(markersOf(told)).toEqual(upTo(last, 2))
    expect(client.said.map((said) => said['id'])).toEqual([9, ...client.said.slice(1).map(() => undefined)])
  })

  it('[D9] begins with a snapshot without a marker, or with one that cannot be gone on from', async () => {
    const arena = await openRealtimeRig()
    await opens(arena)
    const client = await arena.feedClient('1')
    client.ask({ type: 'account', id: 1 })
    await until('the snapshot', () => toldTo(client).length === 1)
    await opens(arena)
    await until('the event', () => toldTo(client).length === 2)
    expect(toldTo(client)).toMatchObject([
      { marker: '1', snapshot: true },
      { marker: '2', snapshot: false, events: [{ marker: '2' }] },
    ])
    const told = await sdkListener(arena, '7')
    await until('another snapshot', () => told.length === 1)
    expect(told).toMatchObject([{ marker: '2', snapshot: true }])
  })

  it('[D8] whoever comes back with his marker is told what he missed, across connections, owners and restarts', async () => {
    const arena = await openRealtimeRig()
    const seen: number[] = []
    /** Listens from the last marker until `last` has been told, then breaks the connection. */
    const visit = async (last: number): Promise<void> => {
      const client = await arena.feedClient('1')
      client.ask({ type: 'account', since: String(seen.at(-1) ?? 0) })
      await until(`event ${last}`, () => Number(toldTo(client).at(-1)?.marker) === last)
      seen.push(...markersOf(toldTo(client)))
      client.ws.terminate()
    }
    await opens(arena, 2)
    await visit(2)
    await opens(arena, 4)
    await visit(6)
    await arena.store.acquire(MATCH) // another owner: the next command fails, the one after it finds the match again
    await expect(arena.desk.submit(openOrder())).rejects.toThrow()
    await until('it is gone', () => arena.desk.view(MATCH) === undefined)
    await opens(arena, 2)
    await visit(8)
    await arena.realTime.stop()
    await arena.boot()
    await opens(arena, 1)
    await visit(9)
    expect(seen).toEqual(upTo(9))
  })

  it('asking again begins anew; more than once a second is refused', async () => {
    const arena = await openRealtimeRig()
    await opens(arena, 2)
    const client = await arena.feedClient('1')
    client.ask({ type: 'account', id: 1, since: '0' })
    await until('it is told', () => toldTo(client).length === 1)
    client.ask({ type: 'account', id: 2, since: '0' })
    await until('it is refused', () => client.said.length === 2)
    expect(client.said[1]).toMatchObject({ type: 'error', id: 2, code: 'busy' })
    arena.world.pass(1_000)
    client.ask({ type: 'account', id: 3, since: '1' })
    await until('it is told', () => toldTo(client).length === 2)
    await opens(arena)
    await until('the next event', () => toldTo(client).length === 3)
    expect(markersOf(toldTo(client))).toEqual([1, 2, 2, 3])
  })

  it('a notice reaches whoever listens to the account, and nobody else', async () => {
    const arena = await openRealtimeRig()
    const [listener, deaf, other] = [
      await arena.feedClient('1'),
      await arena.feedClient('1'),
      await arena.feedClient('2'),
    ]
    listener.ask({ type: 'account' })
    other.ask({ type: 'account' })
    await until('he listens', () => listener.said.length === 1)
    arena.realTime.account.publish(U(1), { type: 'notification', title: 'Hello' })
    await until('he is told', () => listener.said.length === 2)
    for (const client of [deaf, other]) client.ask({ type: 'ping' })
    await until('the others are answered', () => [deaf, other].every((c) => c.said.at(-1)?.type === 'pong'))
    expect(listener.said[1]).toEqual({ type: 'notification', title: 'Hello' })
    expect([...deaf.said, ...other.said].filter(({ type }) => type === 'notification')).toEqual([])
  })
})

describe('the reading of logs', () => {
  /** A stream over logs that are as long as the test says. */
  function stream(read?: ReadAccounts) {
    const lengths = new Map([[U(1), 0]])
    const log: ReadAccounts = async (questions) =>
      questions.map(({ userId, since }) => {
        const marker = lengths.get(userId) ?? 0
        return { marker, more: false, isEmpty: marker === since, body: { from: since, marker } }
      })
    const reports: unknown[] = []
    const account = new AccountStream({ read: read ?? log, report: (_event, error) => reports.push(error) })
    closers.push(() => account.stop())
    return { account, lengths, log, reports }
  }

  function listener(told: AccountPage[], isReady = () => true): AccountListener {
    return { userId: U(1), isReady, page: (page) => told.push(page), notice: () => undefined }
  }

  it('a log that grew unnoticed is told at the next look', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { account, lengths } = stream()
    const told: AccountPage[] = []
    account.listen(listener(told), 0)
    await until('he is answered', () => told.length === 1)
    lengths.set(U(1), 4)
    vi.advanceTimersByTime(20_000)
    await until('he is told', () => told.length === 2)
    vi.advanceTimersByTime(20_000)
    await new Promise(setImmediate)
    expect(told.map(({ body }) => body)).toEqual([
      { from: 0, marker: 0 },
      { from: 0, marker: 4 },
    ])
  })

  it('a reading that failed is repeated, and nothing is told twice or left out', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let isAway = true
    const { account, lengths, log, reports } = stream((questions) =>
      isAway ? Promise.reject(new Error('away')) : log(questions),
    )
    const told: AccountPage[] = []
    account.listen(listener(told), 0)
    await vi.waitUntil(() => reports.length === 1)
    lengths.set(U(1), 2)
    account.logAppended(U(1))
    isAway = false
    await vi.advanceTimersByTimeAsync(1_000)
    await vi.waitUntil(() => told.length === 1)
    expect(told.map(({ body }) => body)).toEqual([{ from: 0, marker: 2 }])
  })

  it('nothing is read for a listener whose network is busy, and others do not wait for him', async () => {
    const { account, lengths } = stream()
    const [slow, fast]: [AccountPage[], AccountPage[]] = [[], []]
    let isReady = false
    account.listen(
      listener(slow, () => isReady),
      0,
    )
    account.listen(listener(fast), 0)
    await until('the other is answered', () => fast.length === 1)
    lengths.set(U(1), 3)
    account.logAppended(U(1))
    await until('the other is told', () => fast.length === 2)
    expect(slow).toEqual([])
    isReady = true
    await until('he is told', () => slow.length === 1)
    expect(slow.map(({ body }) => body)).toEqual([{ from: 0, marker: 3 }])
  })
})
