/** What the processes of the bus benchmark tell each other, and the messages that they send. */
import { fixtureId, instrumentId, positionId, userId } from '../../actors/kernel/ids.ts'
import { lots, money, price } from '../../actors/kernel/micros.ts'
import { done, type Outcome } from '../../actors/kernel/outcome.ts'
import { instant } from '../../actors/kernel/world.ts'
import type { OpenPosition, Trade } from '../../actors/match/messages.ts'
import { NatsPubSub } from '../../db/fast/pub-sub-nats.ts'
import { RedisPubSub } from '../../db/fast/pub-sub-redis.ts'
import type { PubSub } from '../../rooms/cluster/bus.ts'

export type Engine = 'redis' | 'nats'

export interface Address {
  readonly engine: Engine
  readonly url: string
}

/** One end of the bus, in a process of its own. */
export type BusCommand =
  /** Connects `clients` clients. Answers when they listen to prices. */
  | { readonly kind: 'listen'; readonly at: Address; readonly clients: number }
  /** Publishes prices of `bytes` bytes for `ms` milliseconds, as fast as the listeners take them. */
  | { readonly kind: 'publish'; readonly at: Address; readonly bytes: number; readonly ms: number }
  /** What has been received since the last question. */
  | { readonly kind: 'received' }
  /** Runs the match. */
  | { readonly kind: 'serve'; readonly at: Address }
  /** Sends commands to the match for `ms` milliseconds and keeps `underWay` of them unanswered. */
  | { readonly kind: 'trade'; readonly at: Address; readonly underWay: number; readonly ms: number }
  /** Asks again and again whether the process with the match is there, until it is not. */
  | { readonly kind: 'watch'; readonly at: Address }
  /** Echoes whatever arrives on a plain connection. Answers with its port. */
  | { readonly kind: 'echo' }
  /** Sends messages to an echo: their size, how long, and how many are unanswered at a time. */
  | {
      readonly kind: 'hear'
      readonly port: number
      readonly bytes: number
      readonly underWay: number
      readonly ms: number
    }

/** What a process has done, and the processor time that it took. */
export interface Done {
  readonly messages: number
  readonly seconds: number
  readonly cpuSeconds: number
  /** Median milliseconds of one, where each was timed. */
  readonly p50Ms: number
  /** Of both messages of an exchange, where they were counted. */
  readonly bytes: number
}

export const connected = ({ engine, url }: Address): Promise<PubSub> =>
  engine === 'redis'
    ? RedisPubSub.connect({ url, prefix: 'bench:' })
    : NatsPubSub.connect({ urls: [url], prefix: 'bench:' })

export const PRICES = 'prices'
/** Listeners say on this channel how far they are, so that no publisher runs away from them. */
export const PROGRESS = 'progress'
/** Prices between two reports of progress, and how many may be under way. */
export const REPORT_EVERY = 256
export const UNDER_WAY_MAX = 8 * REPORT_EVERY

export const MATCH = fixtureId(90_001)
export const OWNER = 'owner'
/** On which the process with the match can be asked whether it is there. */
export const PULSE = 'pulse'

const USER = userId('0198c0de-0000-7000-8000-00000000beef')
const INSTRUMENT = instrumentId('0198c0de-0000-5000-8000-00000000cafe')
const ID = 'c8f1f1f4-7a0e-4c43-9c39-5a4f1f3f0a11'

export const ORDER: OpenPosition = {
  kind: 'open_position',
  userId: USER,
  instrumentId: INSTRUMENT,
  direction: 'long',
  lots: lots(500_000),
  clientPrice: price(200_000_000),
  stopLoss: price(190_000_000),
  takeProfit: price(220_000_000),
  idempotency: { id: ID, fingerprint: '5f2b8c0d9a7e4f316b2d8c0d9a7e4f31' },
}

export const TRADED: Outcome<Trade> = done({
  position: {
    id: positionId('0198c0de-0000-7000-8000-00000000d00d'),
    userId: USER,
    purse: 'main',
    instrumentId: INSTRUMENT,
    fixtureId: MATCH,
    direction: 'long',
    lots: lots(500_000),
    openPrice: price(200_002_500),
    openBase: price(200_000_000),
    margin: money(50_000_625),
    openedAt: instant(1_787_500_800_000),
    closableAt: instant(1_787_500_980_000),
    stopLoss: price(190_000_000),
    takeProfit: price(220_000_000),
    warned: 0,
    close: null,
  },
  price: price(200_005_000),
  exitPrice: price(200_002_500),
  wallet: { balance: money(9_949_999_375), locked: money(0), marginUsed: money(50_000_625), unrealizedPnl: money(0) },
  repeated: false,
})
