/**
 * The owner of the one-match benchmark: one match as a process of role `rooms` runs it, with its desk, its room's host,
 * its fan-out and the bus.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { present } from '../../actors/kernel/assert.ts'
import type { FixtureId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES, LEASE_TTL_MS } from '../../actors/kernel/limits.ts'
import { HOUR_MS, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { quoteOf } from '../../actors/market/instrument.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { SqlLeases } from '../../db/leases.ts'
import { SqlMatchStore } from '../../db/match-store.ts'
import { connect, type Connection } from '../../db/postgres/connect.ts'
import { WalletCache } from '../../db/wallet-cache.ts'
import { Bus } from '../../rooms/cluster/bus.ts'
import { Peers } from '../../rooms/cluster/peers.ts'
import { PROTOCOL } from '../../rooms/cluster/protocol.ts'
import { RemotePrices } from '../../rooms/cluster/remote-prices.ts'
import { AccountStream } from '../../rooms/feed/account-stream.ts'
import { FanOut } from '../../rooms/feed/fan-out.ts'
import type { PublishedPrice } from '../../rooms/feed/price-board.ts'
import { FairShare } from '../../rooms/match/fair-share.ts'
import { MatchDesk } from '../../rooms/match/match-desk.ts'
import { type MatchContext, MatchHost, type Relay } from '../../rooms/match/match-host.ts'
import type { HostedMatch, MatchRoomOptions } from '../../rooms/match/match-room.ts'
import { WriteDeadline } from '../../rooms/sockets/write-deadline.ts'
import { systemWorld } from '../../src/system-world.ts'
import { snapshotAt } from './matches.ts'
import {
  COMMAND_MS,
  cpuSeconds,
  loaded,
  MATCH,
  nextOrder,
  OWNER,
  type OwnerCommand,
  signed,
  type Traded,
  type Used,
} from './one-match-order.ts'

const world = systemWorld()
/** Feed lateness and the hold are off: they would only make a benchmark wait. Users trade as often as it takes. */
const RULES = { ...DEFAULT_RULES, feedStaleMs: HOUR_MS, holdMs: 0, openPositionsMax: 100_000 }

const report = (event: string, error: unknown): void => console.error(event, error)
const rethrow = (error: unknown): never => {
  throw error
}

let commits = 0
let publications = 0
let prices = 0

/** Counts commits; with a delay they are acknowledged after it, and not sent. */
function counted(connection: Connection, delayMs: number | null): Pick<Connection, 'db' | 'call' | 'arrays'> {
  const { db, arrays } = connection
  return {
    db,
    arrays,
    call: async <Row extends object>(name: string, args: Parameters<Connection['call']>[1]) => {
      commits++
      if (delayMs === null) return connection.call<Row>(name, args)
      await pause(delayMs)
      // The number of elements, in the header of a binary array.
      const users = args['w_user']
      const count = Buffer.isBuffer(users) && users.length > 12 ? users.readInt32BE(12) : 0
      const all = (value: string): string => `{${Array.from({ length: count }, () => value).join(',')}}`
      const found = { balances: '9949999375', margins: '50000625', worths: '0', versions: '2', lockeds: '0' }
      const row = Object.fromEntries(Object.entries(found).map(([part, value]) => [part, all(value)]))
      return [{ verdict: 'committed', ...row }] as unknown as readonly Row[]
    },
  }
}

/** The same prices, counted. */
const countedRelay = (relay: Relay): Relay => ({
  ...relay,
  prices: (moved: readonly PublishedPrice[]) => {
    publications++
    prices += moved.length
    relay.prices(moved)
  },
})

/** Runs the match in `hosted`, as its room would. */
function openRoom({ context, hosted, record, epoch }: MatchRoomOptions): void {
  const source = new MatchHost({
    context,
    record,
    epoch,
    onPrices: () => undefined,
    onStopped: (_reason, error) => rethrow(error),
  })
  const clock = setInterval(() => source.tick(), SECOND_MS)
  const match: HostedMatch = {
    actor: source.actor,
    source,
    leaving: null,
    connections: 0,
    retire: async () => {
      clearInterval(clock)
      await source.close()
      hosted.delete(record.info.matchId)
    },
    expect: () => undefined,
    visitors: () => [],
    disconnectVisitors: () => undefined,
    announceStop: () => undefined,
  }
  hosted.set(record.info.matchId, match)
}

type Own = Extract<OwnerCommand, { kind: 'own' }>

async function own({ at, databaseUrl, delayMs }: Own) {
  const connection = await connect({ databaseUrl, dataDir: null })
  const leases = new SqlLeases(connection.db, { owner: OWNER, ttlMs: LEASE_TTL_MS, alone: true })
  const bus = new Bus({ pubSub: await signed(at), processId: OWNER, protocol: PROTOCOL, report })
  const peers = new Peers({ bus, ownership: leases, world })
  const fanOut = new FanOut({ world, report })
  const account = new AccountStream({ read: async (questions) => questions.map(() => null), report })
  const hosted = new Map<FixtureId, HostedMatch>()
  const isHere = (matchId: FixtureId): boolean => hosted.has(matchId)
  const remote = new RemotePrices({ bus, peers, fanOut, isHere, logAppended: () => undefined, report })
  const context: MatchContext = {
    store: new SqlMatchStore(counted(connection, delayMs), new WalletCache(null, rethrow), world),
    leases,
    leaseTtlMs: LEASE_TTL_MS,
    world,
    rules: () => RULES,
    model: () => DEFAULT_MODEL,
    fanOut,
    account,
    relay: countedRelay(remote.relay),
    deadline: new WriteDeadline(),
    share: new FairShare(world),
    report,
  }
  const desk = new MatchDesk({
    context,
    directory: { matchOfInstrument: async () => MATCH, matchOfPosition: async () => null },
    ownership: leases,
    hosted,
    openRoom: async (room) => openRoom(room),
    runsMatches: true,
    peers,
    rulesWith: () => null,
    followRemote: async () => false,
  })
  await bus.open()
  await remote.open((matchId) => hosted.get(matchId)?.source)
  await peers.open(desk)
  await desk.feedHere({ kind: 'feed_update', seq: 1, snapshot: snapshotAt(MATCH, 10) }, { replay: false })
  const { actor } = present(hosted.get(MATCH), 'match')
  const stop = async (): Promise<void> => {
    await desk.stop()
    await hosted.get(MATCH)?.retire()
    fanOut.stop()
    account.stop()
    await bus.close()
    await connection.close()
  }
  return { actor, desk, stop }
}

let running: Awaited<ReturnType<typeof own>> | null = null

async function carryOut(command: OwnerCommand): Promise<unknown> {
  if (command.kind === 'own') {
    running = await own(command)
    return [...running.actor.view.instruments()].map((one) => ({ id: one.id, price: quoteOf(one).price }))
  }
  const { desk, stop } = present(running, 'match')
  switch (command.kind) {
    case 'submit': {
      const { orders, pressure } = command
      cpuSeconds()
      const load = await loaded(pressure, async () => {
        const outcome = await desk.submitHere(MATCH, nextOrder(orders), instant(world.now() + COMMAND_MS))
        if (outcome?.ok !== true) throw new Error(`refused: ${JSON.stringify(outcome)}`)
      })
      return { ...load, cpuSeconds: cpuSeconds(), unknown: 0 } satisfies Traded
    }
    case 'used': {
      const used: Used = { cpuSeconds: cpuSeconds(), commits, publications, prices }
      commits = publications = prices = 0
      return used
    }
    case 'stop':
      await stop()
      return {}
  }
}

process.on('message', (command: OwnerCommand) => {
  void carryOut(command).then((result) => process.send?.(result))
})
process.on('disconnect', () => process.exit())
