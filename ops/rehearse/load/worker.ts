/**
 * A process that runs a share of the simulated users and reports their counts every second. Several workers run at
 * once, because a process has one core and at most 20,000 descriptors.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../../actors/kernel/assert.ts'
import { FeedWatcher, type Instrument, SimulatedUser } from './simulated-user.ts'
import { direct, fromAnywhere } from './addresses.ts'
import type { Watcher } from './reception.ts'
import type { Plan } from './run.ts'
import { Recorder } from './recorder.ts'
import { Rest } from './rest.ts'
import { RoomWatcher } from './room-watcher.ts'
import { isInRoom } from './shares.ts'
import { LoadTally, type LoadTallyJson } from './tally.ts'

/** Of a plan, with the sockets of each user. */
export type Share = Omit<Plan, 'sockets'> & { readonly sockets: readonly number[] }

export type WorkerMessage =
  | { readonly kind: 'here' }
  /** `rooms`: what was received in match rooms. */
  | { readonly kind: 'seen'; readonly tally: LoadTallyJson; readonly rooms: LoadTallyJson }
  /** All sockets are open, or have failed to open. */
  | { readonly kind: 'ready' }
  /** Nothing is sent any more; what was heard is compared with the accounts. */
  | { readonly kind: 'played' }
  | { readonly kind: 'done' }

/** Connections made at the same time. */
const CONNECTING = 40
const HTTP_CONNECTIONS = 64

async function play(share: Share): Promise<void> {
  const rest = new Rest(share.url, HTTP_CONNECTIONS, share.isProxied === true ? fromAnywhere : direct)
  const [tally, rooms] = [new LoadTally(), new LoadTally()]
  const report = (): void => {
    say({ kind: 'seen', tally: tally.toJSON(), rooms: rooms.toJSON() })
    tally.empty()
    rooms.empty()
  }
  const recorder = new Recorder(rest, tally)
  await recorder.begin(share.tradesPerSecond === 0 ? [] : share.tokens)
  const watchers: Watcher[] = []
  const players = share.tokens.map((token, n) => {
    const isSeated = isInRoom(n, share.rooms ?? 0)
    const follows = picked(isSeated ? someMatch(share.instruments) : share.instruments, share.follow)
    const options = { ...share, token, rest, tally, follows, history: recorder.of(token) }
    const own = Array.from({ length: present(share.sockets[n], 'share of sockets') }, (_, socket) =>
      isSeated ? new RoomWatcher({ ...options, tally: rooms }, socket === 0) : new FeedWatcher(options, socket === 0),
    )
    watchers.push(...own)
    return new SimulatedUser(options, own)
  })
  const reporting = setInterval(report, 1_000)
  await connectAll(watchers)
  say({ kind: 'ready' })

  const until = Date.now() + share.seconds * 1_000
  await Promise.all([trade(players, share, until), comeAndGo(watchers, share, until)])
  await pause(500) // messages in flight still count
  say({ kind: 'played' })
  clearInterval(reporting)
  for (const watcher of watchers) watcher.end()
  await recorder.compare()
  await pause(100)
  report()
  rest.close()
  say({ kind: 'done' })
}

async function connectAll(watchers: readonly Watcher[]): Promise<void> {
  const queue = watchers.values()
  const worker = async (): Promise<void> => {
    for (const watcher of queue) await watcher.connect()
  }
  await Promise.all(Array.from({ length: CONNECTING }, worker))
}

/** Orders at random moments, at this average rate however long the answers take: an open loop. */
async function trade(players: readonly SimulatedUser[], { tradesPerSecond }: Share, until: number): Promise<void> {
  if (tradesPerSecond === 0) return
  const underWay = new Set<Promise<void>>()
  let dueAt = Date.now()
  while (dueAt < until) {
    dueAt += (-Math.log(1 - Math.random()) * 1_000) / tradesPerSecond
    const wait = dueAt - Date.now()
    if (wait > 1) await pause(wait)
    const player = present(players[Math.floor(Math.random() * players.length)], 'player')
    const order = player.trade()
    underWay.add(order)
    void order.then(() => underWay.delete(order))
  }
  await Promise.all(underWay)
}

async function comeAndGo(watchers: readonly Watcher[], { dropEverySecs }: Share, until: number): Promise<void> {
  if (dropEverySecs === 0 || watchers.length === 0) return
  const everyMs = (dropEverySecs * 1_000) / watchers.length
  const underWay = new Set<Promise<void>>()
  // A user who drops late still reconnects before the end.
  for (let dueAt = Date.now() + everyMs; dueAt < until - 2_000; dueAt += everyMs) {
    const wait = dueAt - Date.now()
    if (wait > 1) await pause(wait)
    const watcher = present(watchers[Math.floor(Math.random() * watchers.length)], 'watcher')
    if (!watcher.isHere) continue
    watcher.drop()
    const back = pause(100 + Math.random() * 400).then(() => watcher.connect())
    underWay.add(back)
    void back.then(() => underWay.delete(back))
  }
  await Promise.all(underWay)
}

/** The instruments of one match. */
function someMatch(instruments: readonly Instrument[]): Instrument[] {
  const { fixtureId } = present(instruments[Math.floor(Math.random() * instruments.length)], 'an instrument')
  return instruments.filter((instrument) => instrument.fixtureId === fixtureId)
}

function picked(instruments: readonly Instrument[], count: number): Instrument[] {
  const left = [...instruments]
  return Array.from({ length: Math.min(count, left.length) }, () =>
    present(left.splice(Math.floor(Math.random() * left.length), 1)[0], 'an instrument'),
  )
}

// The SDK tells on stdout, which has the report, of each client that comes back.
console.info = () => undefined

const say = (message: WorkerMessage): void => void process.send?.(message)

process.once('disconnect', () => process.exit())
process.once('message', (share) => {
  play(share as Share).then(
    () => process.disconnect(),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
})
say({ kind: 'here' })
