/** What the processes of the fan-out benchmark share: their orders, their clock, and a market of made-up prices. */
import type { Server } from 'node:http'
import type { AddressInfo, Server as PlainServer } from 'node:net'
import { fixtureId, type InstrumentId, instrumentId } from '../../actors/kernel/ids.ts'
import { lots, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { encodePriceFrame } from '../../rooms/feed/price-frame.ts'

/** Milliseconds of a clock that all processes of the machine share. */
export const sharedNow = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000

export type Variant = 'floor' | 'feed' | 'room' | 'view' | 'messages'

export interface ServerOrder {
  readonly variant: Variant
  readonly matches: number
  /** Of each match. */
  readonly instruments: number
  /** Instruments per socket: consecutive ones from the socket's number on, wrapping round. */
  readonly follow: number
  /** The port shared with another server; 0 for any. */
  readonly port: number
}

export interface Beat {
  /** Ticks per second, taking the matches in turn. */
  readonly hz: number
  readonly seconds: number
  /** Instruments of a match that change in a tick. */
  readonly changing: number
}

export interface ServerReport {
  readonly cpuMs: number
  readonly ticks: number
  /** The p99 processor time of busy event-loop turns, in milliseconds. */
  readonly turnP99: number
}

export type ServerCommand =
  | { readonly kind: 'listen'; readonly order: ServerOrder }
  | { readonly kind: 'play'; readonly beat: Beat }
  | { readonly kind: 'weigh' }

/** One way to deliver prices to many clients. */
export interface Publisher {
  readonly port: number
  /** These instruments of a match have moved. */
  readonly publish: (match: number, moved: readonly number[]) => void
}

export const idOf = (match: number, n: number): InstrumentId =>
  instrumentId(`${match.toString(16).padStart(8, '0')}-0000-5000-8000-${n.toString(16).padStart(12, '0')}`)

let seq = 0

/** A move of an instrument now: its sequence number, and the frame. */
export function frameOf(match: number, n: number): { readonly seq: number; readonly frame: Buffer } {
  const frame = encodePriceFrame({
    flags: 0,
    epoch: 1,
    seq: ++seq,
    instrumentId: idOf(match, n),
    at: instant(Math.round(sharedNow())),
    price: price(200_000_000 + seq),
    base: price(200_000_000),
    imbalance: lots(0),
    previous: price(200_000_000),
    providerEventId: 0,
    fixtureId: fixtureId(match + 1),
    phase: 'live',
    cause: 'match',
    minute: 1,
    status: 'OPEN',
  })
  return { seq, frame }
}

export function listen(server: Server | PlainServer, port: number): Promise<number> {
  return new Promise((resolve) => {
    server.listen({ port, host: '127.0.0.1', backlog: 4_096, reusePort: port !== 0 }, () => {
      resolve((server.address() as AddressInfo).port)
    })
  })
}
