/** A simulated user's seat in the room of a match, taken and kept as game clients do: by the stock SDK of Colyseus. */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, CloseCode, type Room } from '@colyseus/sdk'
import { z } from 'zod'
import { present } from '../../../actors/kernel/assert.ts'
import { direct, fromAnywhere } from './addresses.ts'
import { CONNECT_MS, Reception, Ticket, type Watcher } from './reception.ts'
import type { UserOptions } from './simulated-user.ts'

const Subscribed = z.looseObject({ rejected: z.array(z.looseObject({ code: z.string() })) })
const Failed = z.looseObject({ code: z.string() })

/** What a client learns of the state from the server. Players it does not follow are not there. */
interface Shown {
  readonly instruments?: { readonly size: number; keys(): Iterable<string> }
}

export class RoomWatcher implements Watcher {
  readonly #options: UserOptions
  readonly #listens: boolean
  readonly #reception: Reception
  readonly #followed: ReadonlySet<string>
  /** Null before the first, and once the SDK has given up. */
  #room: Room<unknown, Shown> | null = null
  #isIn = false
  /** The next first price. */
  #arrival = Promise.withResolvers<number>()
  /** When the connection was asked for, or broke. */
  #beganAt = 0
  #hasBeenIn = false
  #hasPrice = false

  /** `follows` are some instruments of one match; `listens`: also receives account events. */
  constructor(options: UserOptions, listens: boolean) {
    this.#options = options
    this.#listens = listens
    this.#reception = new Reception(options.tally)
    this.#followed = new Set(options.follows.map(({ id }) => id))
  }

  get prices(): ReadonlyMap<string, number> {
    return this.#reception.prices
  }

  get isHere(): boolean {
    return this.#isIn && this.#hasPrice
  }

  async connect(): Promise<void> {
    const { tally } = this.#options
    const isReturn = this.#hasBeenIn
    if (!isReturn) this.#beganAt = performance.now()
    try {
      // The SDK returns a client that was cut off to its seat. A client joins anew when the SDK has given up.
      const joining = this.#room === null ? this.#join() : null
      const late = pause(CONNECT_MS, null, { ref: false }).then(() => Promise.reject(new Error('no price in time')))
      const arrivedAt = await Promise.race([Promise.all([this.#arrival.promise, joining]).then(([at]) => at), late])
      tally.durations[isReturn ? 'return' : 'connect'].record(arrivedAt - this.#beganAt)
      tally.counts[isReturn ? 'returns' : 'connections']++
    } catch (error) {
      tally.fail(`room: ${error instanceof Error ? error.message.slice(0, 60) : 'not joined'}`)
    }
  }

  /** As a device goes offline. */
  drop(): void {
    this.#lose()
    this.#room?.connection.close(CloseCode.MAY_TRY_RECONNECT)
  }

  /** A user who has prices must also have found their players in the state. */
  end(): void {
    const room = this.#room
    if (room === null) return
    if (this.isHere && room.state.instruments?.size !== this.#followed.size) {
      this.#options.tally.fail('room: players are missing in the state')
    }
    room.reconnection.enabled = false
    this.drop()
  }

  async #join(): Promise<void> {
    const { rest, token, tally, follows, isProxied } = this.#options
    const reply = await rest.ask({ method: 'POST', path: '/api/ws/token', token })
    if (reply.status !== 200) throw new Error(`ws token ${reply.status}`)
    const ticket = Ticket.parse(reply.body)
    const headers = { ...(isProxied === true ? fromAnywhere() : direct()) }
    const sdk = new Client(`${ticket.wsUrl}/?token=${ticket.token}`, { headers })
    const matchId = present(follows[0], 'an instrument to follow').fixtureId
    const room = await sdk.join<Shown>('match', { matchId })
    this.#room = room
    // The server keeps a seat for a while: a user who joined anew at once would have two.
    room.reconnection.minUptime = 0
    this.#enter()
    room.onMessage('price', (bytes: Uint8Array) => this.#seePrice(bytes))
    room.onMessage('account', (page: unknown) => this.#reception.seeAccount(page))
    room.onMessage('error', (error: unknown) => tally.fail(`room: ${Failed.parse(error).code}`))
    room.onMessage('*', () => tally.counts.messages++)
    room.onStateChange((state) => this.#seeState(state))
    room.onDrop((code) => this.#lose(`dropped ${code}`))
    room.onLeave((code) => {
      this.#room = null
      this.#lose(`left ${code}`)
      this.#arrival.reject(new Error(`left ${code}`))
    })
    room.onReconnect(() => {
      this.#enter()
      this.#reception.resume()
      queueMicrotask(() => this.#listen(room)) // after the SDK has acknowledged
    })
    this.#listen(room)
    const request = { instrumentIds: [...this.#followed], since: this.#reception.since(matchId) }
    const { rejected } = Subscribed.parse(await room.request('subscribe', request))
    for (const { code } of rejected) tally.fail(`room: ${code}`)
  }

  #listen(room: Room<unknown, Shown>): void {
    if (this.#listens) room.send('account', { since: this.#reception.marker })
  }

  #seePrice(bytes: Uint8Array): void {
    this.#reception.seePrice(bytes)
    if (this.#hasPrice) return
    this.#hasPrice = true
    this.#arrival.resolve(performance.now())
  }

  #seeState({ instruments }: Shown): void {
    const { tally } = this.#options
    tally.counts.states++
    for (const id of instruments?.keys() ?? []) {
      if (!this.#followed.has(id)) tally.fail('room: a player of others in the state')
    }
  }

  #enter(): void {
    ;[this.#isIn, this.#hasBeenIn] = [true, true]
    this.#options.tally.connected++
  }

  /** Counts as a failure of this name; without one it was meant. */
  #lose(failure?: string): void {
    if (!this.#isIn) return
    const { tally } = this.#options
    tally.connected--
    if (failure !== undefined) tally.fail(`room: ${failure}`)
    ;[this.#isIn, this.#hasPrice, this.#beganAt] = [false, false, performance.now()]
    this.#arrival = Promise.withResolvers()
    this.#arrival.promise.catch(() => undefined) // it may have no reader
  }
}
