/** What the processes of the fan-out benchmark have in common: their orders, their clock, and a market of made-up prices. */
import type { Server } from 'node:http'
import type { AddressInfo, Server as PlainServer } from 'node:net'
import { fixtureId, type InstrumentId, instrumentId } from '../../actors/kernel/ids.ts'
import { lots, price } from '../../actors/kernel/micros.ts'
import { instant } from '../../actors/kernel/world.ts'
import { encodePriceFrame } from '../../rooms/feed/price-frame.ts'

/** Milliseconds of a clock that all processes of the machine share. */
export const sharedNow = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000

export type Variant = 'floor' | 'feed' | 'broadcast' | 'view'

export interface ServerOrder {
  readonly variant: Variant
  readonly matches: number
  /** Of each match. */
  readonly instruments: number
  /** Seats to reserve, where seats are needed. */
  readonly sockets: number
  /** Instruments a socket follows: those from its number on, round and round. */
  readonly follow: number
  /** To share with another server; 0 for any. */
  readonly port: number
}

export interface Beat {
  /** Ticks a second, of one match after the other. */
  readonly hz: number
  readonly seconds: number
  /** Instruments of a match that change with a tick. */
  readonly changing: number
}

export interface Listening {
  readonly port: number
  /** Where each client connects. */
  readonly paths: readonly string[] | null
}

export interface ServerReport {
  readonly cpuMs: number
  readonly ticks: number
  /** 99 of 100 turns of the loop in which there was something to do took no more milliseconds of the processor. */
  readonly turnP99: number
}

export type ServerCommand =
  | { readonly kind: 'listen'; readonly order: ServerOrder }
  | { readonly kind: 'play'; readonly beat: Beat }
  | { readonly kind: 'weigh' }

/** One way to bring prices to many. */
export interface Publisher {
  readonly listening: Listening
  /** These instruments of a match have moved. */
  readonly publish: (match: number, moved: readonly number[]) => void
}

export const idOf = (match: number, n: number): InstrumentId =>
  instrumentId(`${match.toString(16).padStart(8, '0')}-0000-5000-8000-${n.toString(16).padStart(12, '0')}`)

let seq = 0

/** A move of an instrument that happens now: its sequence number, and the frame. */
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
