/** One process of the benchmark of one match: runs the match, orders in it, or follows it. */
import { performance } from 'node:perf_hooks'
import { type FixtureId, fixtureId, type InstrumentId, type UserId, userId } from '../../actors/kernel/ids.ts'
import { price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { present } from '../../actors/kernel/assert.ts'
import type { Publication } from '../../actors/match/actor-options.ts'
import type { MatchEvent } from '../../actors/match/messages.ts'
import { RedisPubSub } from '../../db/fast/pub-sub-redis.ts'
import { connect } from '../../db/postgres/connect.ts'
import { Bus } from '../../rooms/cluster/bus.ts'
import { type ClusterBus, PROTOCOL, priceTopic } from '../../rooms/cluster/protocol.ts'
import { encodePriceFrame } from '../../rooms/feed/price-frame.ts'
import { closedLoop, type Load } from './closed-loop.ts'
import { BenchMatch, smallestOrder } from './matches.ts'

/** The process with the match. */
const OWNER = 'owner'
const COMMAND_MS = 5_000

export type OneMatchCommand =
  /** Runs the stored match, and answers with its instruments and their prices. */
  | { readonly kind: 'own'; readonly redisUrl: string; readonly databaseUrl: string; readonly matchId: number }
  /** What the match has cost since the last question. */
  | { readonly kind: 'cost' }
  /** Subscribes as this many processes do that serve clients. */
  | { readonly kind: 'follow'; readonly redisUrl: string; readonly matchId: number; readonly processes: number }
  /** What the followers have received since the last question. */
  | { readonly kind: 'received' }
  | OrderCommand

/** Orders, and answers with the load. */
export interface OrderCommand {
  readonly kind: 'order'
  readonly redisUrl: string
  readonly name: string
  readonly matchId: number
  readonly listed: readonly Listed[]
  readonly users: readonly string[]
  readonly underWay: number
  readonly seconds: number
}

export interface Listed {
  readonly id: InstrumentId
  readonly price: number
}

/** Of the process that runs the match. */
export interface OwnerCost {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly trades: number
  readonly commits: number
}

export interface Received {
  readonly messages: number
  readonly bytes: number
}

const report = (event: string, error: unknown): void => console.error(event, error)

let since = { at: performance.now(), cpu: process.cpuUsage() }
const done = { trades: 0, commits: 0 }
const received = { messages: 0, bytes: 0 }

async function busAt(url: string, processId: string): Promise<ClusterBus> {
  const bus: ClusterBus = new Bus({
    pubSub: await RedisPubSub.connect({ url, prefix: 'bench:' }),
    processId,
    protocol: PROTOCOL,
    report,
  })
  await bus.open()
  return bus
}

/** As `MatchHost` does: prices twenty times a second, and after each commit the users whose accounts have changed. */
async function own({ redisUrl, databaseUrl, matchId }: Extract<OneMatchCommand, { kind: 'own' }>): Promise<Listed[]> {
  const id = fixtureId(matchId)
  const bus = await busAt(redisUrl, OWNER)
  const connection = await connect({ databaseUrl, dataDir: null })
  let seq = 0
  const match = await BenchMatch.load(connection, id, {
    onPrices: (moves) => {
      if (moves.length > 0)
        bus.publishBytes(priceTopic(id), Buffer.concat(moves.map((move) => frameOf(id, ++seq, move))))
    },
    onCommitted: (events) => {
      const users = ownersOf(events)
      done.commits++
      done.trades += users.size
      if (users.size > 0) bus.publish('accounts', [...users])
    },
  })
  bus.serve('command', ({ command, leftMs }) => match.actor.submit(command, instant(Date.now() + leftMs)))
  return [...match.actor.view.instruments()].map((listed) => ({ id: listed.id, price: listed.published }))
}

const ownersOf = (events: readonly MatchEvent[]): ReadonlySet<UserId> =>
  new Set(events.flatMap((event) => ('position' in event ? [event.position.userId] : [])))

function frameOf(matchId: FixtureId, seq: number, { instrument, quote, previous, cause, at }: Publication): Buffer {
  return encodePriceFrame({
    flags: 0,
    epoch: 1,
    seq,
    instrumentId: instrument.id,
    at,
    price: quote.price,
    base: quote.base,
    imbalance: quote.imbalance,
    previous,
    providerEventId: 0,
    fixtureId: matchId,
    phase: 'live',
    cause,
    minute: 10,
    status: 'OPEN',
  })
}

function cost(): OwnerCost {
  const { user, system } = process.cpuUsage(since.cpu)
  const passed = { seconds: (performance.now() - since.at) / 1_000, cpuSeconds: (user + system) / 1e6, ...done }
  since = { at: performance.now(), cpu: process.cpuUsage() }
  Object.assign(done, { trades: 0, commits: 0 })
  return passed
}

async function follow(command: Extract<OneMatchCommand, { kind: 'follow' }>): Promise<object> {
  const count = (bytes: Buffer): void => {
    received.messages++
    received.bytes += bytes.length
  }
  for (let n = 0; n < command.processes; n++) {
    const bus = await busAt(command.redisUrl, `follower ${n}`)
    await bus.subscribeBytes(priceTopic(fixtureId(command.matchId)), count)
    await bus.subscribeBytes('accounts', count)
  }
  return {}
}

/** Long and short alternate, so prices stay. */
async function order({ redisUrl, name, listed, users, underWay, ...of }: OrderCommand): Promise<Load> {
  const bus = await busAt(redisUrl, name)
  const matchId = fixtureId(of.matchId)
  let turn = 0
  const load = await closedLoop({
    callers: underWay,
    seconds: of.seconds,
    warmUpSeconds: 0,
    ask: async () => {
      const n = turn++
      const { id, price: clientPrice } = present(listed[(n >> 1) % listed.length], 'instrument')
      const user = userId(present(users[n % users.length], 'user'))
      const direction = n % 2 === 0 ? 'long' : 'short'
      const command = smallestOrder(user, { instrument: id, direction, clientPrice: price(clientPrice) })
      const reply = await bus.ask(OWNER, 'command', { matchId, command, leftMs: COMMAND_MS }, COMMAND_MS)
      const isDone = reply.kind === 'answered' && reply.answer?.ok === true
      if (!isDone) throw new Error(`an order ended with ${JSON.stringify(reply)}`)
    },
  })
  await bus.close()
  return load
}

async function work(command: OneMatchCommand): Promise<object> {
  switch (command.kind) {
    case 'own':
      return own(command)
    case 'cost':
      return cost()
    case 'follow':
      return follow(command)
    case 'received': {
      const all: Received = { ...received }
      Object.assign(received, { messages: 0, bytes: 0 })
      return all
    }
    case 'order':
      return order(command)
  }
}

process.on('message', (command: OneMatchCommand) => {
  void work(command).then((answer) => process.send?.(answer))
})
process.on('disconnect', () => process.exit())
