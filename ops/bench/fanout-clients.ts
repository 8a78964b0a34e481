/**
 * Clients of the fan-out benchmark, thousands in one process. They time each price by the timestamp in it. In rooms
 * they speak the protocol of the SDK of Colyseus by hand: thousands of SDKs would take more than the core they have.
 * They do not decode the state that comes beside prices; where it is all that comes, they find prices in its patches.
 */
import { connect, type Socket } from 'node:net'
import { getMessageBytes, Protocol } from '@colyseus/core'
import { z } from 'zod'
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
  /** The path of the upgrade, or of the request for a seat in a room; null for a plain socket. */
  readonly path: string | null
  /** Where prices are: in frames of the feed, in messages of a room, or in patches of a room's state. */
  readonly prices: 'frames' | 'messages' | 'patches'
  /** What it follows once upgraded. */
  readonly instrumentIds: readonly string[]
  /** Prices, or patches, that come before it is ready. */
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
  readonly #path: string | null
  readonly #socket: Socket
  readonly ready: Promise<void>
  #rest: Buffer | null = null
  #isUpgraded: boolean
  #snapshotsLeft: number
  #isReady: () => void = () => undefined
  isStalled = false

  /** `path`: of the upgrade. */
  constructor(port: number, plan: ClientPlan, path: string | null) {
    this.#plan = plan
    this.#path = path
    this.#isUpgraded = path === null
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
    if (this.#path === null) return this.#isReady()
    this.#socket.write(upgradeRequest(this.#path))
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = null
    if (!this.#isUpgraded) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return void (this.#rest = Buffer.from(bytes))
      this.#isUpgraded = true
      bytes = bytes.subarray(end + 4)
      const { prices, instrumentIds } = this.#plan
      if (prices === 'frames') this.#say(JSON.stringify({ type: 'subscribe', instrumentIds }), OPCODE.text)
      if (this.#snapshotsLeft === 0) this.#isReady()
    }
    const now = isTiming ? sharedNow() : 0
    const at = eachMessage(bytes, (opcode, from, length) => {
      if (opcode === OPCODE.binary && this.#plan.prices === 'frames') this.#receive(bytes, from, length, now)
      else if (opcode === OPCODE.binary) this.#receiveInRoom(bytes, from, length, now)
      else if (opcode === OPCODE.ping) this.#say('', OPCODE.pong)
    })
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at))
  }

  #receive(bytes: Buffer, from: number, length: number, now: number): void {
    if (length < PRICE_FRAME_BYTES) return
    if (this.#snapshotsLeft > 0 && --this.#snapshotsLeft === 0) this.#isReady()
    if (!isTiming) return
    const time = from + length - PRICE_FRAME_BYTES + TIME_OFFSET
    this.#time(bytes.readUInt32BE(time) * 2 ** 32 + bytes.readUInt32BE(time + 4), now)
  }

  #receiveInRoom(bytes: Buffer, from: number, length: number, now: number): void {
    const { prices, instrumentIds } = this.#plan
    const kind = bytes[from]
    if (kind === Protocol.JOIN_ROOM) {
      this.#say(Buffer.of(Protocol.JOIN_ROOM), OPCODE.binary)
      this.#say(getMessageBytes.raw(Protocol.ROOM_DATA, 'subscribe', { instrumentIds }), OPCODE.binary)
    } else if (kind === Protocol.ROOM_DATA_BYTES) {
      this.#receive(bytes, from, length, now)
    } else if (kind === Protocol.ROOM_STATE_PATCH && prices === 'patches') {
      if (this.#snapshotsLeft > 0 && --this.#snapshotsLeft === 0) this.#isReady()
      if (isTiming) eachPatched(bytes.subarray(from + 1, from + length), (micros) => this.#time(micros, now))
    }
  }

  #time(micros: number, now: number): void {
    deliveries++
    latency.record(now - micros / MICROS_PER_MS)
  }

  #say(payload: Buffer | string, opcode: number): void {
    this.#socket.write(masked(payload, opcode))
  }
}

/** Each price of a patch in which only prices and bases change. Throws at any other change. */
function eachPatched(patch: Buffer, each: (price: number) => void): void {
  for (let at = 0; at < patch.length; at += PATCHED_BYTES) {
    const isSwitch = patch[at] === SWITCH_TO_STRUCTURE
    at += patch[at + 1] === LONG_REFERENCE ? 4 : 2
    if (!isSwitch || patch[at] !== PRICE_CHANGED || patch[at + 9] !== BASE_CHANGED) throw new Error('another change')
    each(Number(patch.readBigInt64LE(at + 1)))
  }
}
/** As `@colyseus/schema` writes them: an instrument by the number of its reference, then its changed fields. */
const [SWITCH_TO_STRUCTURE, LONG_REFERENCE, PRICE_CHANGED, BASE_CHANGED, PATCHED_BYTES] = [0xff, 0xcd, 0x80, 0x81, 18]

/** Where a client upgrades: in a room, at its seat. */
async function addressOf(port: number, { path, prices }: ClientPlan): Promise<string | null> {
  if (prices === 'frames') return path
  const body = JSON.stringify({ matchId: 1 })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body })
  const { processId, roomId, sessionId } = Seat.parse(await response.json())
  return `/${processId}/${roomId}?sessionId=${sessionId}`
}
const Seat = z.object({ processId: z.string(), roomId: z.string(), sessionId: z.string() })

const clients: RawClient[] = []

async function connectAll({ port, clients: plans, stalled }: ClientsOrder): Promise<void> {
  const queue = plans.values()
  const worker = async (): Promise<void> => {
    for (const plan of queue) {
      const client = new RawClient(port, plan, await addressOf(port, plan))
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
