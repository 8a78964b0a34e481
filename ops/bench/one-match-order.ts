/** What the processes of the one-match benchmark tell each other. */
import { fixtureId, type InstrumentId, type UserId } from '../../actors/kernel/ids.ts'
import { lots, type Price } from '../../actors/kernel/micros.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import type { OpenPosition } from '../../actors/match/messages.ts'
import { SignedPubSub } from '../../db/fast/signed-pub-sub.ts'
import type { PubSub } from '../../rooms/cluster/bus.ts'
import { commandId } from '../../src/http/command-ids.ts'
import { systemWorld } from '../../src/system-world.ts'
import { type Address, connected } from './bus-order.ts'
import { closedLoop, type Load } from './closed-loop.ts'
import { openLoop } from './open-loop.ts'

export const MATCH = fixtureId(90_001)
export const OWNER = 'owner'
/** For an answer; no command may take this long. */
export const COMMAND_MS = 5_000

/** A player, and the price that an order names. */
export interface Listed {
  readonly id: InstrumentId
  readonly price: Price
}

/** Openings of users in turn, so that none waits for their own wallet. */
export interface Orders {
  readonly users: readonly UserId[]
  readonly listed: readonly Listed[]
}

/** How orders are sent. */
export interface Pressure {
  readonly seconds: number
  /** The most that are unanswered. */
  readonly underWay: number
  /** So many a second, whatever the answers do; null: each caller sends the next when it has its answer. */
  readonly rate: number | null
}

export type OwnerCommand =
  /** Runs the match. Commits go to the database, or are encoded and acknowledged after `delayMs` milliseconds. */
  | { readonly kind: 'own'; readonly at: Address; readonly databaseUrl: string; readonly delayMs: number | null }
  /** Submits orders inside this process, without the bus. */
  | { readonly kind: 'submit'; readonly orders: Orders; readonly pressure: Pressure }
  /** What it has used since the last question. */
  | { readonly kind: 'used' }
  /** Stops the match. */
  | { readonly kind: 'stop' }

export type OthersCommand =
  /** Connects clients that follow the prices of the match and hear whose account logs have grown, as processes do. */
  | { readonly kind: 'follow'; readonly at: Address; readonly connections: number }
  /** What the followers have received since the last question. */
  | { readonly kind: 'followed' }
  /** Connects processes that send orders, as the version before does if so. */
  | { readonly kind: 'join'; readonly at: Address; readonly processes: number; readonly isOld: boolean }
  /** Sends orders through those processes. */
  | { readonly kind: 'trade'; readonly orders: Orders; readonly pressure: Pressure }
  | { readonly kind: 'leave' }

export interface Used {
  readonly cpuSeconds: number
  readonly commits: number
  /** Messages with prices, and the prices in them. */
  readonly publications: number
  readonly prices: number
}

/** The answers to openings; a refusal ends the run. */
export interface Traded extends Load {
  readonly cpuSeconds: number
  /** Orders whose outcome is unknown: on a busy machine the broker may be late. They are among the answered. */
  readonly unknown: number
}

const KEY = 'a key that all processes of the benchmark share'
const world = systemWorld()

/** One end of the bus, whose messages are signed as in production. */
export async function signed(at: Address): Promise<PubSub> {
  const onRefused = (why: string, channel: string): never => {
    throw new Error(`a message on ${channel} is ${why}`)
  }
  return new SignedPubSub({ pubSub: await connected(at), keys: [KEY], world, onRefused })
}

/** The processor time of this process since the last call. */
export function cpuSeconds(): number {
  const { user, system } = process.cpuUsage(from)
  from = process.cpuUsage()
  return (user + system) / 1e6
}
let from = process.cpuUsage()

/** Asks under this pressure. */
export const loaded = ({ seconds, underWay, rate }: Pressure, ask: () => Promise<void>): Promise<Load> =>
  rate === null
    ? closedLoop({ callers: underWay, seconds, warmUpSeconds: 0, ask })
    : openLoop({ rate, seconds, underWayMax: underWay, ask })

const FINGERPRINT = world.secret(16)
const RUN = world.secret(2)
let turn = 0

/** The smallest opening, with a key. Long and short alternate, so prices stay. */
export function nextOrder({ users, listed }: Orders): OpenPosition {
  const n = turn++
  const user = users[n % users.length]
  const instrument = listed[(n >> 1) % listed.length]
  if (user === undefined || instrument === undefined) throw new Error('there are no users or no players')
  return {
    kind: 'open_position',
    userId: user,
    instrumentId: instrument.id,
    direction: n % 2 === 0 ? 'long' : 'short',
    lots: lots(DEFAULT_RULES.lotMin),
    clientPrice: instrument.price,
    stopLoss: null,
    takeProfit: null,
    idempotency: { id: commandId(user, 'open', `${RUN}-${n}`), fingerprint: FINGERPRINT },
  }
}
