/**
 * The rounds of the probe: what a user does, from outside, with the personal key of an account of its own. A round asks
 * whether the server is ready, reads the wallet, follows a price, and opens the smallest position or closes the one
 * that an earlier round opened, once its hold is over. Its position costs the account some cents a day at most.
 */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'

const STEPS = ['ready', 'wallet', 'feed', 'open', 'close'] as const
export type Step = (typeof STEPS)[number]

/** `skipped`: no match is open, or no position can be closed yet. */
export type StepEnd = 'ok' | 'skipped' | 'failed'

export interface StepResult {
  readonly step: Step
  readonly end: StepEnd
  readonly ms: number
  /** Why it failed. */
  readonly reason?: string
}

const Instruments = z.object({
  instruments: z.array(z.object({ id: z.string(), currentPrice: z.number(), tradingStatus: z.string() })),
})
const Positions = z.object({ positions: z.array(z.object({ id: z.string() })) })
const Ticket = z.object({ token: z.string(), wsUrl: z.string() })
const Refusal = z.object({ error: z.string(), code: z.string() })

/** A step that takes longer has failed: a user would have left. */
const STEP_MS = 10_000
/** Orders are tried again under the same key, so that a lost answer cannot open two positions. */
const TRIES = 3
const BETWEEN_TRIES_MS = 500
/** Refusals that say something of the market and nothing of the server. */
const MARKET = new Set(['MARKET_CLOSED', 'MARKET_SUSPENDED', 'PRICE_MOVED', 'COOLDOWN_ACTIVE', 'POSITION_NOT_OPEN'])

export interface ProbeOptions {
  /** The REST address. */
  readonly url: string
  readonly key: string
}

export class Probe {
  readonly #options: ProbeOptions

  constructor(options: ProbeOptions) {
    this.#options = options
  }

  /** Takes every step once and never rejects. Later steps are tried even when one has failed. */
  async round(): Promise<readonly StepResult[]> {
    const results: StepResult[] = []
    for (const step of STEPS) results.push(await this.#timed(step))
    return results
  }

  async #timed(step: Step): Promise<StepResult> {
    const from = performance.now()
    const signal = AbortSignal.timeout(STEP_MS)
    try {
      const end = await this.#take(step, signal)
      return { step, end, ms: performance.now() - from }
    } catch (error) {
      return { step, end: 'failed', ms: performance.now() - from, reason: reasonOf(error) }
    }
  }

  async #take(step: Step, signal: AbortSignal): Promise<StepEnd> {
    switch (step) {
      case 'ready':
        return await this.#ask('GET', '/ready', signal).then(() => 'ok')
      case 'wallet':
        return await this.#ask('GET', '/api/wallet', signal).then(() => 'ok')
      case 'feed':
        return await this.#followOne(signal)
      case 'open':
        return await this.#open(signal)
      case 'close':
        return await this.#close(signal)
    }
  }

  async #followOne(signal: AbortSignal): Promise<StepEnd> {
    const { instruments } = Instruments.parse(await this.#ask('GET', '/api/instruments', signal))
    const [one] = instruments
    if (one === undefined) return 'skipped'
    const { token, wsUrl } = Ticket.parse(await this.#ask('POST', '/api/ws/token', signal, {}))
    const socket = new WebSocket(`${wsUrl}/?token=${token}`, 'feed.v1')
    socket.binaryType = 'arraybuffer'
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error(`no price within ${STEP_MS} ms`)))
        socket.addEventListener('close', ({ code, reason }) => reject(new Error(`closed with ${code} ${reason}`)))
        socket.addEventListener('open', () =>
          socket.send(JSON.stringify({ type: 'subscribe', id: 1, instrumentIds: [one.id] })),
        )
        socket.addEventListener('message', ({ data }) => {
          if (data instanceof ArrayBuffer) resolve()
        })
      })
      return 'ok'
    } finally {
      socket.close()
    }
  }

  async #open(signal: AbortSignal): Promise<StepEnd> {
    if ((await this.#positions(signal)).length > 0) return 'skipped'
    const { instruments } = Instruments.parse(await this.#ask('GET', '/api/instruments', signal))
    const one = instruments.find(({ tradingStatus }) => tradingStatus === 'OPEN')
    if (one === undefined) return 'skipped'
    const order = { instrumentId: one.id, direction: 'long', lotSize: 0.01, clientPrice: one.currentPrice }
    return this.#order('/api/positions/open', order, signal)
  }

  async #close(signal: AbortSignal): Promise<StepEnd> {
    const [held] = await this.#positions(signal)
    if (held === undefined) return 'skipped'
    return this.#order(`/api/positions/${held.id}/close`, {}, signal)
  }

  async #positions(signal: AbortSignal) {
    return Positions.parse(await this.#ask('GET', '/api/positions', signal)).positions
  }

  async #order(path: string, body: object, signal: AbortSignal): Promise<StepEnd> {
    const key = randomUUID()
    for (let left = TRIES; ; left--) {
      try {
        await this.#ask('POST', path, signal, body, key)
        return 'ok'
      } catch (error) {
        if (error instanceof Refused && MARKET.has(error.code)) return 'skipped'
        if (left === 1 || signal.aborted || (error instanceof Refused && error.status < 500)) throw error
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_TRIES_MS))
      }
    }
  }

  async #ask(method: string, path: string, signal: AbortSignal, body?: object, key?: string): Promise<unknown> {
    const response = await fetch(new URL(path, this.#options.url), {
      method,
      signal,
      headers: {
        authorization: `Bearer ${this.#options.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer: unknown = await response.json().catch(() => null)
    if (response.ok) return answer
    const { error, code } = Refusal.safeParse(answer).data ?? { error: 'no error body', code: 'NONE' }
    throw new Refused(`${method} ${path}: ${response.status} ${error}`, { status: response.status, code })
  }
}

/** `fetch` names its reason only in the cause. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}

class Refused extends Error {
  override name = 'Refused'
  readonly status: number
  readonly code: string

  constructor(message: string, { status, code }: { readonly status: number; readonly code: string }) {
    super(message)
    this.status = status
    this.code = code
  }
}
