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
  const rig = await RealtimeRig.open()
  closers.push(() => rig.close())
  rig.grant(1)
  await rig.plays()
  return rig
}

const opens = async (rig: RealtimeRig, times = 1): Promise<void> => {
  for (let n = 0; n < times; n++) ok(await rig.desk.submit(openOrder()))
}

interface Page {
  readonly marker: string
  readonly snapshot: boolean
  readonly events: readonly { readonly marker: string }[]
}

const pagesOf = (client: FeedClient): Page[] =>
  client.said.filter((said) => said.type === 'account') as unknown as Page[]
const markersOf = (pages: readonly Page[]): number[] =>
  pages.flatMap(({ events }) => events.map((e) => Number(e.marker)))
const upTo = (n: number, from = 1): number[] => Array.from({ length: n - from + 1 }, (_, i) => from + i)

/** An SDK client that listens to its account. */
async function sdkListener(rig: RealtimeRig, since?: string): Promise<Page[]> {
  const room = await rig.sdk('1').joinById(matchRoomId(MATCH), {}, MatchWire)
  closers.push(() => {
    room.reconnection.enabled = false
    room.connection.close()
  })
  const pages: Page[] = []
  room.onMessage('account', (page: Page) => pages.push(page))
  room.onMessage('error', () => undefined)
  await room.request('account', since === undefined ? {} : { since })
  return pages
}

describe('the account stream', () => {
  it('[D8] sends the events after a marker, then each one committed, in order and once, at both endpoints', async () => {
    const rig = await openRealtimeRig()
    await opens(rig, 2 * PAGE)
    const client = await rig.feedClient('1')
    client.ask({ type: 'account', id: 9, since: '1' })
    const pages = await sdkListener(rig, '1')
    await until('the missed events', () => markersOf(pagesOf(client)).length === 2 * PAGE - 1)
    await opens(rig, 3)
    const last = 2 * PAGE + 3
    await until('all events', () => markersOf(pagesOf(client)).at(-1) === last && markersOf(pages).at(-1) === last)
    expect(markersOf(pagesOf(client))).toEqual(upTo(last, 2))
    expect(markersOf(pages)).toEqual(upTo(last, 2))
    expect(client.said.map((said) => said['id'])).toEqual([9, ...client.said.slice(1).map(() => undefined)])
  })

  it('[D9] begins with a snapshot if the marker is missing or cannot be continued from', async () => {
    const rig = await openRealtimeRig()
    await opens(rig)
    const client = await rig.feedClient('1')
    client.ask({ type: 'account', id: 1 })
    await until('the snapshot', () => pagesOf(client).length === 1)
    await opens(rig)
    await until('the event', () => pagesOf(client).length === 2)
    expect(pagesOf(client)).toMatchObject([
      { marker: '1', snapshot: true },
      { marker: '2', snapshot: false, events: [{ marker: '2' }] },
    ])
    const pages = await sdkListener(rig, '7')
    await until('another snapshot', () => pages.length === 1)
    expect(pages).toMatchObject([{ marker: '2', snapshot: true }])
  })

  it('[D8] a client that returns with its marker gets what it missed, across connections, owners and restarts', async () => {
    const rig = await openRealtimeRig()
    const seen: number[] = []
    /** Listens from the last marker until `last` has arrived, then breaks the connection. */
    const visit = async (last: number): Promise<void> => {
      const client = await rig.feedClient('1')
      client.ask({ type: 'account', since: String(seen.at(-1) ?? 0) })
      await until(`event ${last}`, () => Number(pagesOf(client).at(-1)?.marker) === last)
      seen.push(...markersOf(pagesOf(client)))
      client.ws.terminate()
    }
    await opens(rig, 2)
    await visit(2)
    await opens(rig, 4)
    await visit(6)
    await rig.store.acquire(MATCH) // another owner: the next command fails, the one after it finds the match again
    await expect(rig.desk.submit(openOrder())).rejects.toThrow()
    await until('it is gone', () => rig.desk.view(MATCH) === undefined)
    await opens(rig, 2)
    await visit(8)
    await rig.restart()
    await opens(rig, 1)
    await visit(9)
    expect(seen).toEqual(upTo(9))
  })

  it('[W11] a match room tells a client that asks for its account again within a second', async () => {
    const rig = await openRealtimeRig()
    const room = await rig.sdk('1').joinById(matchRoomId(MATCH), {}, MatchWire)
    const errors: unknown[] = []
    room.onMessage('account', () => undefined)
    room.onMessage('error', (error) => errors.push(error))
    room.send('account', {})
    room.send('account', {})
    await until('it is refused', () => errors.length === 1)
    expect(errors).toMatchObject([{ code: 'busy' }])
    await room.leave()
  })

  it('a second request starts over; more than one a second is refused', async () => {
    const rig = await openRealtimeRig()
    await opens(rig, 2)
    const client = await rig.feedClient('1')
    client.ask({ type: 'account', id: 1, since: '0' })
    await until('the page', () => pagesOf(client).length === 1)
    client.ask({ type: 'account', id: 2, since: '0' })
    await until('it is refused', () => client.said.length === 2)
    expect(client.said[1]).toMatchObject({ type: 'error', id: 2, code: 'busy' })
    rig.world.pass(1_000)
    client.ask({ type: 'account', id: 3, since: '1' })
    await until('the page', () => pagesOf(client).length === 2)
    await opens(rig)
    await until('the next event', () => pagesOf(client).length === 3)
    expect(markersOf(pagesOf(client))).toEqual([1, 2, 2, 3])
  })

  it('a notice reaches only the clients that listen to the account', async () => {
    const rig = await openRealtimeRig()
    const [listener, deaf, other] = [await rig.feedClient('1'), await rig.feedClient('1'), await rig.feedClient('2')]
    listener.ask({ type: 'account' })
    other.ask({ type: 'account' })
    await until('the answer', () => listener.said.length === 1)
    rig.realTime.account.publish(U(1), { type: 'notification', title: 'Hello' })
    await until('the page', () => listener.said.length === 2)
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

  function listener(pages: AccountPage[], isReady = () => true): AccountListener {
    return { userId: U(1), isReady, page: (page) => pages.push(page), notice: () => undefined }
  }

  it('a log that grew without a hint is read in the next sweep', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const { account, lengths } = stream()
    const pages: AccountPage[] = []
    account.listen(listener(pages), 0)
    await until('the answer', () => pages.length === 1)
    lengths.set(U(1), 4)
    vi.advanceTimersByTime(20_000)
    await until('the page', () => pages.length === 2)
    vi.advanceTimersByTime(20_000)
    await new Promise(setImmediate)
    expect(pages.map(({ body }) => body)).toEqual([
      { from: 0, marker: 0 },
      { from: 0, marker: 4 },
    ])
  })

  it('a failed query is repeated, and no event is sent twice or left out', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    let isAway = true
    const { account, lengths, log, reports } = stream((questions) =>
      isAway ? Promise.reject(new Error('away')) : log(questions),
    )
    const pages: AccountPage[] = []
    account.listen(listener(pages), 0)
    await vi.waitUntil(() => reports.length === 1, { timeout: 30_000 })
    lengths.set(U(1), 2)
    account.logAppended(U(1))
    isAway = false
    await vi.advanceTimersByTimeAsync(1_000)
    await vi.waitUntil(() => pages.length === 1, { timeout: 30_000 })
    expect(pages.map(({ body }) => body)).toEqual([{ from: 0, marker: 2 }])
  })

  it('nothing is read for a listener that is not ready, and the others do not wait for it', async () => {
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
    await until('the page of the other', () => fast.length === 2)
    expect(slow).toEqual([])
    isReady = true
    await until('the page', () => slow.length === 1)
    expect(slow.map(({ body }) => body)).toEqual([{ from: 0, marker: 3 }])
  })
})
