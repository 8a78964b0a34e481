/** Somebody who follows every price over a socket, comes back whenever that breaks, and counts what he was not told. */
import { WebSocket } from 'ws'
import { z } from 'zod'
import { decodePriceFrame } from '../../rooms/price-frame.ts'
import type { Guest, InstrumentSeen } from '../crash/guest.ts'
import { PriceWatch } from '../load/price-watch.ts'

const Token = z.looseObject({ token: z.string(), wsUrl: z.string() })
const AGAIN_MS = 300
/** Ids in one message. */
const IDS_MAX = 100

export class Watcher {
  readonly #guest: Guest
  readonly #watch = new PriceWatch()
  readonly #epochs = new Set<number>()
  #socket: WebSocket | null = null
  #again: NodeJS.Timeout | undefined
  #isOver = false
  frames = 0
  connections = 0

  constructor(guest: Guest) {
    this.#guest = guest
  }

  /** Moves that are missing between two frames of one socket. */
  get gaps(): number {
    return this.#watch.gaps
  }

  /** Owners that he has heard. */
  get epochs(): number {
    return this.#epochs.size
  }

  /** Follows these from now on, whatever breaks. */
  watch(url: string, instruments: readonly InstrumentSeen[]): void {
    void this.#connect(url, instruments)
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#again)
    this.#socket?.terminate()
  }

  async #connect(url: string, instruments: readonly InstrumentSeen[]): Promise<void> {
    const later = (): void => {
      if (!this.#isOver) this.#again = setTimeout(() => void this.#connect(url, instruments), AGAIN_MS)
    }
    const reply = await this.#guest.ask(url, 'POST', '/api/ws/token')
    if (reply === 'lost' || reply.status !== 200 || this.#isOver) return later()
    const { token, wsUrl } = Token.parse(reply.body)
    const socket = new WebSocket(`${wsUrl}/?token=${token}`, 'feed.v1')
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.once('close', later)
    socket.once('open', () => {
      this.connections++
      const ids = instruments.map(({ id }) => id).slice(0, IDS_MAX)
      socket.send(JSON.stringify({ type: 'subscribe', id: 1, instrumentIds: ids }))
    })
    socket.on('message', (data: Buffer, isBinary) => {
      const frame = isBinary ? decodePriceFrame(data) : null
      if (frame === null) return
      this.frames++
      this.#epochs.add(frame.epoch)
      this.#watch.see(frame)
    })
  }
}
