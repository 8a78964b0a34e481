/** Clients of the storm benchmark, in a process of their own: those who stay and time their prices, or the crowd. */
import { connect, type Socket } from 'node:net'
import { PRICE_FRAME_BYTES } from '../../rooms/feed/price-frame.ts'
import { Histogram } from '../rehearse/load/histogram.ts'
import { idOf, sharedNow } from './fanout-market.ts'
import { eachMessage, masked, OPCODE, upgradeRequest } from './raw-messages.ts'
import type { Arrivals, CrowdCommand } from './storm-messages.ts'

const TIME_OFFSET = 32
const SEQ_OFFSET = 8
const FLAGS_OFFSET = 2
const SNAPSHOT_OR_REPLAY = 3
const MICROS_PER_MS = 1_000
/** Between two attempts of a client that was refused, on average. */
const RETRY_MS = 1_000

type Connect = Extract<CrowdCommand, { kind: 'connect' }>

let delays = new Histogram()
let retries = 0
let firstAt = 0
/** When each client had its prices, counted from the first connection. */
let arrivals: number[] = []

/** One read buffer for all sockets. */
const arriving = Buffer.alloc(64 * 1_024)

class Client {
  readonly #number: number
  #order: Connect | null = null
  #socket: Socket | null = null
  #rest: Buffer | null = null
  #isOpen = false
  #hasArrived = false
  /** The newest move it has. */
  #seq = 0

  constructor(n: number) {
    this.#number = n
  }

  /** Comes, or comes back, at a random moment. */
  come(order: Connect): void {
    this.#order = order
    this.#hasArrived = false
    setTimeout(() => this.#connect(), Math.random() * order.withinMs)
  }

  #connect(): void {
    const port = this.#order?.port ?? 0
    const read = (length: number): boolean => {
      this.#read(arriving.subarray(0, length))
      return true
    }
    this.#rest = null
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: arriving, callback: read } })
    this.#socket = socket
    this.#isOpen = false
    socket.once('connect', () => socket.write(upgradeRequest(this.#order?.paths[this.#number] ?? '/')))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (socket !== this.#socket || this.#hasArrived) return
      retries++
      setTimeout(() => this.#connect(), RETRY_MS * (0.5 + Math.random()))
    })
  }

  #read(chunk: Buffer): void {
    let bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk])
    this.#rest = null
    if (!this.#isOpen) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return void (this.#rest = Buffer.from(bytes))
      const status = bytes.toString('latin1', 9, 12)
      if (status !== '101') return void this.#socket?.destroy()
      this.#isOpen = true
      bytes = bytes.subarray(end + 4)
      this.#subscribe()
    }
    const now = sharedNow()
    const at = eachMessage(bytes, (opcode, from, length) => {
      if (opcode === OPCODE.binary) this.#receive(bytes, from, length, now)
      else if (opcode === OPCODE.ping) this.#say('', OPCODE.pong)
      else if (opcode === OPCODE.close) this.#socket?.destroy()
    })
    if (at < bytes.length) this.#rest = Buffer.from(bytes.subarray(at))
  }

  #subscribe(): void {
    const instrumentIds = Array.from({ length: this.#order?.instruments ?? 0 }, (_, n) => idOf(0, n))
    const since = this.#seq === 0 ? undefined : { epoch: 1, seq: this.#seq }
    this.#say(JSON.stringify({ type: 'account', id: 1, since: '0' }), OPCODE.text)
    this.#say(JSON.stringify({ type: 'subscribe', id: 2, instrumentIds, since }), OPCODE.text)
  }

  #receive(bytes: Buffer, from: number, length: number, now: number): void {
    if (length < PRICE_FRAME_BYTES) return
    const frame = from + length - PRICE_FRAME_BYTES
    this.#seq = Math.max(this.#seq, bytes.readUInt32BE(frame + SEQ_OFFSET + 4))
    this.#arrive()
    if ((bytes.readUInt16BE(frame + FLAGS_OFFSET) & SNAPSHOT_OR_REPLAY) !== 0) return
    const time = frame + TIME_OFFSET
    const sentAt = (bytes.readUInt32BE(time) * 2 ** 32 + bytes.readUInt32BE(time + 4)) / MICROS_PER_MS
    delays.record(now - sentAt)
  }

  #arrive(): void {
    if (this.#hasArrived) return
    this.#hasArrived = true
    arrivals.push(performance.now() - firstAt)
  }

  #say(payload: Buffer | string, opcode: number): void {
    this.#socket?.write(masked(payload, opcode))
  }
}

const clients = new Map<number, Client>()
let expected = 0

function connectAll(order: Connect): null {
  ;[arrivals, retries, firstAt, expected] = [[], 0, performance.now(), order.to - order.from]
  for (let n = order.from; n < order.to; n++) {
    const client = clients.get(n) ?? new Client(n)
    clients.set(n, client)
    client.come(order)
  }
  return null
}

async function allArrived(withinMs: number): Promise<Arrivals> {
  const until = performance.now() + withinMs
  while (arrivals.length < expected && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  const sorted = arrivals.toSorted((a, b) => a - b)
  return {
    arrived: sorted.length,
    lastMs: sorted.at(-1) ?? NaN,
    medianMs: sorted[sorted.length >> 1] ?? NaN,
    retries,
  }
}

async function obey(command: CrowdCommand): Promise<unknown> {
  switch (command.kind) {
    case 'connect':
      return connectAll(command)
    case 'arrived':
      return allArrived(command.withinMs)
    case 'delays': {
      const seen = delays.toJSON()
      delays = new Histogram()
      return seen
    }
  }
}

process.once('disconnect', () => process.exit())
process.on('message', (command) => {
  void obey(command as CrowdCommand).then((answer) => process.send?.({ answer }))
})
