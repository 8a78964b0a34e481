/** One simulated user: follows prices on one or more connections, loses and regains them, and trades at the prices. */
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { decimal, price } from '../../../actors/kernel/micros.ts'
import { direct, fromAnywhere } from './addresses.ts'
import { CONNECT_MS, Reception, Ticket, type Watcher } from './reception.ts'
import type { Rest } from './rest.ts'
import type { LoadTally } from './tally.ts'
import type { History } from '../rig/history.ts'
import { HONEST_REFUSALS } from '../rig/honest-refusals.ts'
import type { Command, Order } from '../rig/journal.ts'
import { Failure, type PositionSeen, Trade } from '../rig/simulated-client.ts'

/** An instrument of the catalogue. */
export interface Instrument {
  readonly id: string
  readonly fixtureId: number
}

export interface UserOptions {
  readonly token: string
  readonly rest: Rest
  readonly tally: LoadTally
  readonly follows: readonly Instrument[]
  /** Whether it comes through a proxy, each time from another address. */
  readonly isProxied?: boolean
  /** Gets its commands and what was heard of them; null if they are not recorded. */
  readonly history: History | null
}

const Subscribed = z.looseObject({
  type: z.literal('subscribed'),
  rejected: z.array(z.looseObject({ instrumentId: z.string(), code: z.string() })),
})
const Account = z.looseObject({ type: z.literal('account') })

const LOTS = 0.01
const HOLD_MS = 180_000
/** Pause before asking again for busy instruments. */
const BUSY_MS = 1_000

/** A socket at the price feed. */
export class FeedWatcher implements Watcher {
  readonly #options: UserOptions
  readonly #listens: boolean
  readonly #reception: Reception
  #socket: WebSocket | null = null
  #isLeaving = false
  #isHere = false

  /** `listens`: also receives account events. */
  constructor(options: UserOptions, listens: boolean) {
    this.#options = options
    this.#listens = listens
    this.#reception = new Reception(options.tally)
  }

  get prices(): ReadonlyMap<string, number> {
    return this.#reception.prices
  }

  get isHere(): boolean {
    return this.#isHere && this.#socket?.readyState === WebSocket.OPEN
  }

  async connect(): Promise<void> {
    const { rest, token, tally } = this.#options
    const beganAt = performance.now()
    const isReturn = this.#socket !== null
    try {
      const reply = await rest.ask({ method: 'POST', path: '/api/ws/token', token })
      if (reply.status !== 200) return tally.fail(`ws token ${reply.status}`)
      const ticket = Ticket.parse(reply.body)
      await this.#open(`${ticket.wsUrl}/?token=${ticket.token}`)
      tally.durations[isReturn ? 'return' : 'connect'].record(performance.now() - beganAt)
      tally.counts[isReturn ? 'returns' : 'connections']++
    } catch (error) {
      tally.fail(error instanceof Error ? `connect: ${error.message.slice(0, 60)}` : 'connect')
    }
  }

  /** Breaks the connection without a close handshake. */
  drop(): void {
    this.#isLeaving = true
    this.#isHere = false
    this.#socket?.terminate()
  }

  end(): void {
    this.drop()
  }

  #open(url: string): Promise<void> {
    const { tally, follows, isProxied } = this.#options
    const headers = isProxied === true ? fromAnywhere() : direct()
    const socket = new WebSocket(url, 'feed.v1', { perMessageDeflate: false, handshakeTimeout: CONNECT_MS, headers })
    this.#socket = socket
    this.#isLeaving = false
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('no price in time')), CONNECT_MS)
      const first = (): void => {
        clearTimeout(late)
        this.#isHere = true
        resolve()
      }
      socket.on('error', reject)
      socket.on('open', () => {
        tally.connected++
        this.#ask(socket)
        if (follows.length === 0) first()
      })
      socket.on('close', (code) => {
        if (socket === this.#socket && !this.#isLeaving) tally.fail(`closed ${code}`)
        clearTimeout(late)
        reject(new Error(`closed ${code}`))
      })
      socket.once('open', () => socket.once('close', () => tally.connected--))
      socket.on('message', (data: Buffer, isBinary) => {
        if (isBinary) this.#reception.seePrice(data)
        else this.#receive(socket, data)
        first()
      })
    })
  }

  /** Follows everything, match by match, from the last clock of each. */
  #ask(socket: WebSocket): void {
    const byMatch = Map.groupBy(this.#options.follows, ({ fixtureId }) => fixtureId)
    for (const [fixture, instruments] of byMatch) {
      const since = this.#reception.since(fixture)
      const request = { type: 'subscribe', instrumentIds: instruments.map(({ id }) => id), since }
      socket.send(JSON.stringify(request))
    }
    if (!this.#listens) return
    socket.send(JSON.stringify({ type: 'account', since: this.#reception.marker }))
  }

  #receive(socket: WebSocket, data: Buffer): void {
    const { tally } = this.#options
    tally.counts.messages++
    const message: unknown = JSON.parse(data.toString('utf8'))
    if (Account.safeParse(message).success) return this.#reception.seeAccount(message)
    const failure = z.looseObject({ type: z.literal('error'), code: z.string() }).safeParse(message)
    if (failure.success) tally.fail(`feed ${failure.data.code}`)
    this.#insist(socket, message)
  }

  /** Asks again for instruments that were busy. */
  #insist(socket: WebSocket, message: unknown): void {
    const busy = Subscribed.safeParse(message).data?.rejected.filter(({ code }) => code === 'busy') ?? []
    if (busy.length === 0) return
    setTimeout(() => {
      if (socket.readyState !== WebSocket.OPEN) return
      socket.send(JSON.stringify({ type: 'subscribe', instrumentIds: busy.map(({ instrumentId }) => instrumentId) }))
    }, BUSY_MS)
  }
}

interface Held {
  readonly id: string
  readonly direction: 'long' | 'short'
  /** In micros. */
  readonly openPrice: number
  readonly closableAt: number
}

type Heard = { readonly position: PositionSeen } | { readonly code: string }

export class SimulatedUser {
  readonly #options: UserOptions
  readonly #watchers: readonly Watcher[]
  readonly #held: Held[] = []
  #changes = 0

  /** Trades at the prices that its connections have. */
  constructor(options: UserOptions, watchers: readonly Watcher[]) {
    this.#options = options
    this.#watchers = watchers
  }

  /** Opens a small position, moves a stop, or closes a position past its hold. */
  async trade(): Promise<void> {
    const { tally } = this.#options
    const chance = Math.random()
    const oldest = this.#held[0]
    const beganAt = performance.now()
    try {
      if (oldest !== undefined && oldest.closableAt < Date.now()) await this.#close(oldest)
      else if (oldest !== undefined && chance < 0.2) await this.#change(oldest)
      else if (!(await this.#open())) return
      tally.durations.trade.record(performance.now() - beganAt)
    } catch (error) {
      tally.fail(error instanceof Error ? `trade: ${error.message.slice(0, 60)}` : 'trade')
    }
  }

  async #open(): Promise<boolean> {
    const prices = this.#watchers.flatMap((watcher) => [...watcher.prices])
    const seen = prices[Math.floor(Math.random() * prices.length)]
    if (seen === undefined) return false
    const [instrumentId, clientPrice] = seen
    const direction = Math.random() < 0.5 ? 'long' : 'short'
    const levels = { stopLoss: null, takeProfit: null }
    const order: Order = { instrumentId, direction, lotSize: LOTS, clientPrice: decimal(clientPrice), ...levels }
    const command: Command = { kind: 'open', key: randomUUID(), order }
    const heard = await this.#send(command, 'POST', '/api/positions/open', order)
    if (!('position' in heard)) return this.#judge(heard)
    const { id, openPrice } = heard.position
    this.#options.tally.counts.opened++
    this.#held.push({ id, direction, openPrice, closableAt: Date.now() + HOLD_MS })
    return true
  }

  async #change(position: Held): Promise<void> {
    const factor = position.direction === 'long' ? 0.92 : 1.08
    // Each is another, so that an event identifies its command.
    const stopLoss = decimal(price(Math.round(position.openPrice * factor) + ++this.#changes))
    const levels = { stopLoss, takeProfit: null }
    const command: Command = { kind: 'change', positionId: position.id, levels }
    const heard = await this.#send(command, 'PATCH', `/api/positions/${position.id}`, { stopLoss })
    if ('position' in heard) this.#options.tally.counts.changed++
    else this.#judge(heard, position)
  }

  async #close(position: Held): Promise<void> {
    const command: Command = { kind: 'close', key: randomUUID(), positionId: position.id }
    const heard = await this.#send(command, 'POST', `/api/positions/${position.id}/close`, {})
    if ('position' in heard) {
      this.#options.tally.counts.closed++
      this.#held.shift()
    } else this.#judge(heard, position)
  }

  /** Sends a command, and records it with what is heard of it. */
  async #send(command: Command, method: 'POST' | 'PATCH', path: string, body: unknown): Promise<Heard> {
    const { rest, token, history } = this.#options
    const told = history?.begin(command)
    const key = command.kind === 'change' ? {} : { key: command.key }
    const { status, body: answer } = await rest.ask({ method, path, token, body, ...key })
    if (status === 200 || status === 201) {
      const { position, wallet } = Trade.parse(answer)
      told?.acknowledge(position, { balance: wallet.balance, marginUsed: wallet.marginUsed })
      return { position }
    }
    const { code } = Failure.catch({ code: `HTTP ${status}` }).parse(answer)
    if ((status < 500 && code !== 'KEY_IN_FLIGHT') || code === 'BUSY') told?.refuse()
    return { code }
  }

  /** A refusal by the rules is expected; anything else counts as an error. Always true: an answer came. */
  #judge({ code }: { readonly code: string }, about?: Held): true {
    const { tally } = this.#options
    if (about !== undefined && code !== 'COOLDOWN_ACTIVE') this.#held.splice(this.#held.indexOf(about), 1)
    if (HONEST_REFUSALS.has(code)) tally.refuse(code)
    else tally.fail(code)
    return true
  }
}
