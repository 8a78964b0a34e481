/** A user who follows every price over a socket, reconnects when it breaks, and counts missing moves. */
import { performance } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { microsFromDecimal } from '../../../actors/kernel/micros.ts'
import { decodePriceFrame } from '../../../rooms/feed/price-frame.ts'
import { demand } from './account.ts'
import { type SimulatedClient, type InstrumentSeen, Instruments } from './simulated-client.ts'
import { PriceWatch } from './price-watch.ts'

const Token = z.looseObject({ token: z.string(), wsUrl: z.string() })
const Subscribed = z.looseObject({
  type: z.literal('subscribed'),
  rejected: z.array(z.looseObject({ instrumentId: z.string(), code: z.string() })),
})
type Priced = Pick<InstrumentSeen, 'id' | 'currentPrice'>
const Failed = z.looseObject({ type: z.literal('error') })
const AGAIN_MS = 300
/** The pause before asking again for busy instruments. */
const BUSY_MS = 1_000
const LOOK_MS = 100
const PATIENCE_MS = 60_000
/** Ids in one message. */
const IDS_MAX = 100

export class Watcher {
  readonly #client: SimulatedClient
  readonly #watch = new PriceWatch()
  readonly #epochs = new Set<number>()
  #socket: WebSocket | null = null
  #again: NodeJS.Timeout | undefined
  #isOver = false
  #followed: readonly string[] = []
  /** What was missed: moves between two frames, frames of a former owner, a new owner's without a snapshot. */
  readonly gaps: string[] = []
  frames = 0
  connections = 0

  constructor(client: SimulatedClient) {
    this.#client = client
  }

  /** Owners whose frames arrived. */
  get epochs(): number {
    return this.#epochs.size
  }

  /** Throws a Violation unless each followed price is found to be the true one at some look. */
  isUpToDate(url: string): Promise<void> {
    const sees = ({ id, currentPrice }: Priced) => microsFromDecimal(currentPrice) === this.#watch.priceOf(id)
    return areUpToDate(() => this.#client.read(url, '/api/instruments', Instruments), this.#followed, [sees])
  }

  /** Follows these from now on, through every disconnect. */
  watch(url: string, instruments: readonly InstrumentSeen[]): void {
    this.#followed = instruments.map(({ id }) => id).slice(0, IDS_MAX)
    void this.#connect(url)
  }

  stop(): void {
    this.#isOver = true
    clearTimeout(this.#again)
    this.#socket?.terminate()
  }

  async #connect(url: string): Promise<void> {
    const later = (): void => {
      if (!this.#isOver) this.#again = setTimeout(() => void this.#connect(url), AGAIN_MS)
    }
    const reply = await this.#client.ask(url, 'POST', '/api/ws/token')
    if (reply === 'lost' || reply.status !== 200 || this.#isOver) return later()
    const { token, wsUrl } = Token.parse(reply.body)
    const socket = new WebSocket(`${wsUrl}/?token=${token}`, 'feed.v1')
    this.#socket = socket
    socket.on('error', () => undefined)
    socket.once('close', later)
    socket.once('open', () => {
      this.connections++
      subscribe(socket, this.#followed)
    })
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return insist(socket, JSON.parse(data.toString()))
      const frame = decodePriceFrame(data)
      if (frame === null) return
      this.frames++
      this.#epochs.add(frame.epoch)
      const before = this.#watch.gaps
      this.#watch.see(frame)
      if (this.#watch.gaps > before) this.gaps.push(this.#watch.lastGap)
    })
  }
}

/** Throws a Violation unless each socket, at some look, sees that each of these prices is the true one. */
export async function areUpToDate(
  read: () => Promise<{ readonly instruments: readonly Priced[] }>,
  followed: readonly string[],
  sockets: readonly ((instrument: Priced) => boolean)[],
  withinMs = PATIENCE_MS,
): Promise<void> {
  const until = performance.now() + withinMs
  const waiting = sockets.map((sees) => ({ sees, behind: new Set(followed) }))
  for (;;) {
    const { instruments } = await read()
    const current = new Map(instruments.map((instrument) => [instrument.id, instrument]))
    for (const { sees, behind } of waiting) {
      for (const id of behind) {
        const instrument = current.get(id)
        // A trader whose match is over gets no prices.
        if (instrument === undefined || sees(instrument)) behind.delete(id)
      }
    }
    const [late, ...others] = waiting.filter(({ behind }) => behind.size > 0)
    if (late === undefined) return
    demand(
      performance.now() < until,
      () => `${others.length + 1} sockets do not get the current prices, one of ${[...late.behind].join(', ')}`,
    )
    await pause(LOOK_MS)
  }
}

function subscribe(socket: WebSocket, instrumentIds: readonly string[]): void {
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: 'subscribe', id: 1, instrumentIds }))
}

/** Asks again for what was not available; on a new connection if nothing was. */
function insist(socket: WebSocket, message: unknown): void {
  if (Failed.safeParse(message).success) return socket.terminate()
  const busy = Subscribed.safeParse(message).data?.rejected.filter(({ code }) => code === 'busy') ?? []
  const ids = busy.map(({ instrumentId }) => instrumentId)
  if (ids.length > 0) setTimeout(() => subscribe(socket, ids), BUSY_MS)
}
