/** A plain socket on the price feed: control messages are JSON text, prices are bytes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { brief, note, notesOfCheck } from './notes.ts'
import { type PriceFrame, readPriceFrame } from './price-frame.ts'

export type Message = Readonly<Record<string, unknown>> & { readonly type: string }

const PATIENCE_MS = 30_000
const LOOK_MS = 5
/** Before what was "busy" is asked for again, with an id of its own. */
const BUSY_MS = 1_000
const LATER = 1_000

const Rejections = z.array(z.looseObject({ instrumentId: z.string(), code: z.string() }))

export class FeedSocket {
  readonly ws: WebSocket
  readonly messages: Message[] = []
  readonly frames: PriceFrame[] = []
  /** The size of a price in bytes, as received. */
  readonly weights: number[] = []
  /** When each price was received, in seconds, by instrument. */
  readonly #arrivals = new Map<string, number[]>()
  closeCode: number | null = null
  readonly #notes = notesOfCheck()

  private constructor(ws: WebSocket) {
    this.ws = ws
    ws.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return this.#hear(JSON.parse(data.toString('utf8')) as Message)
      const frame = readPriceFrame(data)
      this.weights.push(data.length)
      this.frames.push(frame)
      const { instrumentId } = frame
      this.#arrivals.set(instrumentId, [...(this.#arrivals.get(instrumentId) ?? []), performance.now() / 1_000])
      note(this.#notes, 'WebSocket', `price ${brief(frame)}`, 'price')
    })
    ws.on('close', (code) => {
      this.closeCode = code
      note(this.#notes, 'WebSocket', `closed ${code}`)
    })
    ws.on('error', () => undefined) // a 'close' follows
  }

  /** Rejects with the HTTP status when the upgrade is refused. */
  static async open(
    address: string,
    token: string | null,
    protocols = ['feed.v1'],
    headers: Readonly<Record<string, string>> = {},
  ): Promise<FeedSocket> {
    const query = token === null ? '' : `?token=${encodeURIComponent(token)}`
    const ws = new WebSocket(`${address}/${query}`, protocols, { headers })
    const socket = new FeedSocket(ws)
    const refused = new Promise<never>((_, reject) => {
      ws.on('unexpected-response', (_request, response) => {
        reject(new UpgradeRefused(response.statusCode ?? 0))
        ws.terminate()
      })
      ws.on('error', reject)
    })
    await Promise.race([once(ws, 'open'), refused])
    return socket
  }

  /** The code that a connection is closed with which is refused; fails if it is sent anything before that. */
  static async refusal(
    address: string,
    token: string | null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const socket = await FeedSocket.open(address, token, ['feed.v1'], headers)
    const code = await socket.closed()
    assert.deepEqual([socket.messages, socket.frames], [[], []], 'a refused socket was sent something')
    return code
  }

  #hear(message: Message): void {
    this.messages.push(message)
    note(this.#notes, 'WebSocket', brief(message))
  }

  say(message: object | string): void {
    note(this.#notes, `WebSocket ${brief(message)}`, '', '')
    this.ws.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /**
   * Sends a request with this id and waits for the answer to it. Players whose match is just being taken up, or of
   * which a socket has asked for too many at once, are "busy": they are asked for again.
   */
  async ask(message: Readonly<Record<string, unknown>> & { readonly id: number }): Promise<Message> {
    this.say(message)
    const answer = await this.message(
      `the answer to ${JSON.stringify(message).slice(0, 200)}`,
      ({ id }) => id === message.id,
    )
    const rejected = Rejections.safeParse(answer['rejected']).data ?? []
    const busy = rejected.flatMap(({ instrumentId, code }) => (code === 'busy' ? [instrumentId] : []))
    if (busy.length === 0) return answer
    await pause(BUSY_MS)
    const later = await this.ask({ ...message, id: message.id + LATER, instrumentIds: busy })
    return {
      ...answer,
      instrumentIds: [answer['instrumentIds'], later['instrumentIds']].flat(),
      rejected: [...rejected.filter(({ code }) => code !== 'busy'), later['rejected']].flat(),
    }
  }

  /** The first message of this kind, once there is one. */
  message(what: string, isWanted: (message: Message) => boolean, patienceMs = PATIENCE_MS): Promise<Message> {
    return waitFor(what, () => this.messages.find(isWanted), patienceMs)
  }

  /** The first price of this kind, once there is one. */
  frame(what: string, isWanted: (frame: PriceFrame) => boolean, patienceMs = PATIENCE_MS): Promise<PriceFrame> {
    return waitFor(what, () => this.frames.find(isWanted), patienceMs)
  }

  /** Seconds between the prices of this instrument, as they were received. */
  gaps(instrumentId: string): number[] {
    const times = this.#arrivals.get(instrumentId) ?? []
    return times.slice(1).map((at, n) => at - (times[n] ?? 0))
  }

  closed(patienceMs = PATIENCE_MS): Promise<number> {
    return waitFor('the socket to be closed', () => this.closeCode ?? undefined, patienceMs)
  }

  close(): void {
    this.ws.terminate()
  }
}

/** The upgrade was answered with a plain HTTP status. */
class UpgradeRefused extends Error {
  override name = 'UpgradeRefused'
  readonly status: number

  constructor(status: number) {
    super(`the upgrade was answered ${status}`)
    this.status = status
  }
}

/** The result of `look`, once there is one. */
export async function waitFor<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  for (const until = Date.now() + patienceMs; ; await pause(LOOK_MS)) {
    const found = await look()
    if (found !== undefined) return found
    assert(Date.now() < until, `waited ${patienceMs / 1_000} s in vain for ${what}`)
  }
}
