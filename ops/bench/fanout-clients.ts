/**
 * Clients of the fan-out benchmark, thousands in one process. They time each price by the timestamp in it.
 */
import { connect, type Socket } from 'node:net'
import { Histogram } from '../rehearse/load/histogram.ts'
import { sharedNow } from './fanout-market.ts'
import { eachMessage, masked, OPCODE, upgradeRequest } from './raw-messages.ts'
import { PRICE_FRAME_BYTES } from '../../rooms/feed/price-frame.ts'

export interface ClientsOrder {
  readonly port: number
  readonly clients: readonly ClientPlan[]
  /** How many of them stop reading once all are connected. */
  readonly stalled: number
}

export interface ClientPlan {
  /** The path of the upgrade; null for a plain socket. */
  readonly path: string | null
  /** The first message, once upgraded. */
  readonly greeting: string | null
  /** Prices that come before it is ready. */
  readonly snapshots: number
}

export type ClientsCommand =
  | { readonly kind: 'connect'; readonly order: ClientsOrder }
  | { readonly kind: 'begin' }
  | { readonly kind: 'end' }

export interface ClientsReport {
  readonly deliveries: number
  readonly latency: ReturnType<Histogram['toJSON']>
  /** Sockets that read and were still closed. */
  readonly lost: number
}

const TIME_OFFSET = 32
const MICROS_PER_MS = 1_000
const CONNECTING = 100

let deliveries = 0
let latency = new Histogram()
let lost = 0
let isTiming = false

/** One read buffer for all sockets: one for each read would cost more than the server does. */
const arrivals = Buffer.alloc(64 * 1_024)

class RawClient {
  readonly #plan: ClientPlan
  readonly #socket: Socket
  readonly ready: Promise<void>
  #rest: Buffer | null = null
  #isUpgraded: boolean
  #snapshotsLeft: number
  #isReady: () => void = () => undefined
  isStalled = false

  constructor(port: number, plan: ClientPlan) {
    this.#plan = plan
    this.#isUpgraded = plan.path === null
    this.#snapshotsLeft = plan.snapshots
    const read = (length: number): boolean => {
      this.#read(arrivals.subarray(0, length))
      return true
    }
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: arrivals, callback: read } })
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = resolve
      this.#socket.once('error', reject)
      this.#socket.once('close', () => reject(new Error('closed while connecting')))
    })
    this.#socket.on('connect', () => this.#knock())
    this.#socket.on('close', () => (this.isStalled ? 0 : lost++))
  }

  stall(): void {
    this.isStalled = true
    this.#socket.pause()
  }

  close(): void {
    this.isStalled = true
    this.#socket.destroy()
  }

  #knock(): void {
    const { path } = this.#plan
    if (path === null) return this.#isReady()
    this.#socket.write(upgradeRequest(path))
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = null
    if (!this.#isUpgraded) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return void (this.#rest = Buffer.from(bytes))
      this.#isUpgraded = true
      bytes = bytes.subarray(end + 4)
      if (this.#plan.greeting !== null) this.#say(this.#plan.greeting, OPCODE.text)
      if (this.#snapshotsLeft === 0) this.#isReady()
    }
    const now = isTiming ? sharedNow() : 0
    const at = eachMessage(bytes, (opcode, from, length) => {
      if (opcode === OPCODE.binary) this.#receive(bytes, from, length, now)
      else if (opcode === OPCODE.ping) this.#say('', OPCODE.pong)
    })
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at))
  }

  #receive(bytes: Buffer, from: number, length: number, now: number): void {
    if (length < PRICE_FRAME_BYTES) return
    if (this.#snapshotsLeft > 0 && --this.#snapshotsLeft === 0) this.#isReady()
    if (!isTiming) return
    deliveries++
    const time = from + length - PRICE_FRAME_BYTES + TIME_OFFSET
    const sentAt = (bytes.readUInt32BE(time) * 2 ** 32 + bytes.readUInt32BE(time + 4)) / MICROS_PER_MS
    latency.record(now - sentAt)
  }

  #say(payload: Buffer | string, opcode: number): void {
    this.#socket.write(masked(payload, opcode))
  }
}

const clients: RawClient[] = []

async function connectAll({ port, clients: plans, stalled }: ClientsOrder): Promise<void> {
  const queue = plans.values()
  const worker = async (): Promise<void> => {
    for (const plan of queue) {
      const client = new RawClient(port, plan)
      clients.push(client)
      await client.ready
    }
  }
  await Promise.all(Array.from({ length: CONNECTING }, worker))
  for (const client of clients.slice(0, stalled)) client.stall()
}

process.once('disconnect', () => process.exit())
process.on('message', (command) => {
  const { kind, ...rest } = command as ClientsCommand
  if (kind === 'connect' && 'order' in rest) {
    connectAll(rest.order).then(
      () => process.send?.({ kind: 'connected' }),
      (error: unknown) => {
        process.stderr.write(`clients: ${String(error)}\n`)
        process.exit(1)
      },
    )
  } else if (kind === 'begin') {
    ;[deliveries, latency, lost, isTiming] = [0, new Histogram(), 0, true]
  } else {
    isTiming = false
    process.send?.({ kind: 'report', report: { deliveries, latency: latency.toJSON(), lost } satisfies ClientsReport })
  }
})
