/**
 * A client of the price feed. It connects, subscribes to players and to the account, and resumes after every break.
 * Missed prices are requested by the last sequence number of their match, account events by the last marker, so that
 * nothing is lost and nothing is reported twice.
 */
import { decodePriceFrame, FLAG, type PriceFrame } from './price-frame.ts'
import type { AccountChanges } from './wire.ts'

/** `live`: messages arrive. `waiting`: the connection is lost and will be retried. `stopped`: it will not. */
export type FeedState = 'connecting' | 'live' | 'waiting' | 'stopped'

export interface FeedOptions {
  /** A fresh token for each connection, and where to use it. Rejects while the server issues no token. */
  readonly token: () => Promise<{ readonly token: string; readonly wsUrl: string }>
  readonly onPrice?: (frame: PriceFrame) => void
  /** Events of the user's positions; a snapshot replaces what was known. */
  readonly onAccount?: (changes: AccountChanges) => void
  /** Any other message for the user. */
  readonly onNotice?: (notice: Readonly<Record<string, unknown>>) => void
  readonly onState?: (state: FeedState) => void
  /** The server's clock, in milliseconds since 1970, each time it arrives. */
  readonly onServerTime?: (at: number) => void
}

export interface Followed {
  readonly instrumentId: string
  readonly fixtureId: number
}

interface Rejection {
  readonly instrumentId: string
  readonly code: string
}

interface Since {
  readonly epoch: number
  readonly seq: number
}

const SUBPROTOCOL = 'feed.v1'
/** The server sends a heartbeat every ten seconds. */
const SILENCE_MS = 25_000
/** How soon it answers a ping. */
const CHECK_MS = 3_000
/** Clients of a lost server reconnect at random moments within this, and then within twice as long. */
const FIRST_WAIT_MS = 2_000
const LONGEST_WAIT_MS = 15_000
/** The same after a restart that was not announced, and when there was no room. */
const RESTART_WAIT_MS = 5_000
/** Pause before busy players are requested again: a match changes owners within seconds. */
const RETRY_MS = 1_500
/** Ids in one message. */
const IDS_MAX = 400
/** Messages a second. The server closes a connection that sends more than ten. */
const MESSAGES_MAX = 5
const [RESTART, NO_ROOM, ADMINS_ONLY, TOO_MANY] = [1012, 1013, 4003, 4029]

export class Feed {
  readonly #options: FeedOptions
  readonly #followed = new Map<string, number>()
  /** The newest move seen of each match. */
  readonly #newest = new Map<number, Since>()
  /** Players whose price is as new as the newest move seen of their match; the others need a snapshot. */
  readonly #current = new Set<string>()
  /** Players that were refused when last requested: no match published them, or there was no more room. */
  readonly #absent = new Set<string>()
  /** Players whose prices follow the last answer. Any other message means that all of them have arrived. */
  #arriving: readonly string[] = []
  #marker: string | null = null
  #socket: WebSocket | null = null
  #state: FeedState = 'stopped'
  #failures = 0
  /** When the current attempt began, by the clock of the device, which goes on in a sleep. */
  #beganAt = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Messages beyond those that may be sent in this second. */
  #outbox: string[] = []
  #maySend = MESSAGES_MAX
  #second: ReturnType<typeof setTimeout> | undefined
  /** Distinguishes the current attempt from abandoned ones. */
  #attempt = 0

  constructor(options: FeedOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#state === 'stopped') void this.#connect()
  }

  /** Forgets everything. */
  stop(): void {
    this.#attempt++
    this.#drop()
    this.#followed.clear()
    this.#newest.clear()
    this.#current.clear()
    this.#absent.clear()
    this.#marker = null
    this.#enter('stopped')
  }

  /** The network is back, or the user: reconnects at once instead of waiting, unless a connection soon shows life. */
  reconnectNow(): void {
    if (this.#state === 'stopped') return
    if (this.#state === 'live') return this.check()
    this.#failures = 0
    if (this.#state !== 'connecting') void this.#connect()
    // Only one that slept is older; any other may be slow.
    else if (Date.now() - this.#beganAt >= SILENCE_MS) this.#expectMessage(CHECK_MS)
  }

  /** The network is gone: the device says so. Waits for `reconnectNow`, and tries from time to time. */
  networkGone(): void {
    if (this.#state !== 'stopped') this.#lose(LONGEST_WAIT_MS)
  }

  /** Something else has failed: asks for a sign of life, which a connection that lives gives soon. */
  check(): void {
    if (this.#state !== 'live' || this.#socket?.readyState !== WebSocket.OPEN) return
    this.#send({ type: 'ping', id: 1 })
    this.#expectMessage(CHECK_MS)
  }

  /** Follows exactly these players from now on. Requests again those that no match published. */
  follow(wanted: readonly Followed[]): void {
    const kept = new Set(wanted.map(({ instrumentId }) => instrumentId))
    const gone = [...this.#followed.keys()].filter((id) => !kept.has(id))
    const fresh = wanted
      .filter(({ instrumentId: id, fixtureId }) => this.#followed.get(id) !== fixtureId || this.#absent.has(id))
      .map(({ instrumentId }) => instrumentId)
    for (const id of gone) this.#followed.delete(id)
    for (const { instrumentId, fixtureId } of wanted) this.#followed.set(instrumentId, fixtureId)
    this.#forget([...gone, ...fresh])
    if (this.#socket?.readyState !== WebSocket.OPEN) return
    for (const instrumentIds of portions(gone)) this.#send({ type: 'unsubscribe', instrumentIds })
    this.#subscribe(fresh)
  }

  #forget(ids: readonly string[]): void {
    for (const id of ids) {
      this.#current.delete(id)
      this.#absent.delete(id)
    }
  }

  #subscribe(ids: readonly string[], since?: Since): void {
    this.#forget(ids)
    for (const instrumentIds of portions(ids)) {
      this.#send({ type: 'subscribe', instrumentIds, ...(since === undefined ? {} : { since }) })
    }
  }

  async #connect(): Promise<void> {
    const attempt = ++this.#attempt
    this.#beganAt = Date.now()
    this.#drop()
    // Before the caller is told, who may stop: no timer is left behind.
    this.#expectMessage()
    this.#enter('connecting')
    if (attempt !== this.#attempt) return
    try {
      const { token, wsUrl } = await this.#options.token()
      if (attempt !== this.#attempt) return
      const socket = new WebSocket(`${wsUrl}/?token=${encodeURIComponent(token)}`, SUBPROTOCOL)
      socket.binaryType = 'arraybuffer'
      // An abandoned socket may still send for a moment; the next one requests the same again.
      socket.addEventListener('open', () => {
        if (attempt === this.#attempt) this.#resume()
      })
      socket.addEventListener('message', ({ data }) => {
        if (attempt === this.#attempt) this.#receive(data)
      })
      socket.addEventListener('close', ({ code }) => {
        if (attempt === this.#attempt) this.#lose(this.#nextWait(code))
      })
      this.#socket = socket
    } catch {
      if (attempt === this.#attempt) this.#lose(this.#nextWait())
    }
  }

  /** Subscribes to everything followed before: match by match from the last move seen, and to the others together. */
  #resume(): void {
    this.#send({ type: 'account', ...(this.#marker === null ? {} : { since: this.#marker }) })
    const byMatch = Map.groupBy(this.#followed, ([id, fixtureId]) => (this.#current.has(id) ? fixtureId : null))
    for (const [fixtureId, followed] of byMatch) {
      const since = fixtureId === null ? undefined : this.#newest.get(fixtureId)
      this.#subscribe(
        followed.map(([id]) => id),
        since,
      )
    }
  }

  #receive(data: unknown): void {
    this.#failures = 0
    const attempt = this.#attempt
    this.#expectMessage()
    // Not when the connection opens: the server also opens a refused one, and then closes it with the reason.
    this.#enter('live')
    if (attempt !== this.#attempt) return
    if (data instanceof ArrayBuffer) return this.#receivePrice(data)
    this.#arrived()
    const message: { readonly [field: string]: unknown } = JSON.parse(String(data))
    switch (String(message['type'])) {
      case 'account':
        return this.#receiveAccount(message as unknown as AccountChanges)
      case 'heartbeat':
      case 'pong':
        return this.#options.onServerTime?.(Date.parse(String(message['serverTime'])))
      case 'shutdown':
        return this.#lose(Number(message['reconnectInMs']) || this.#nextWait(RESTART))
      case 'subscribed':
        this.#arriving = message['instrumentIds'] as readonly string[]
        return this.#takeRejected(message['rejected'] as readonly Rejection[])
      case 'error':
        // The request is lost; a new connection repeats all of them from the last move of each match.
        return message['code'] === 'bad_message' ? undefined : this.#lose(aboutMs(RETRY_MS))
      case 'unsubscribed':
        return
      default:
        return this.#options.onNotice?.(message)
    }
  }

  /** Requests busy players again, without `since`, so that they come with a snapshot. Absent ones wait for `follow`. */
  #takeRejected(rejected: readonly Rejection[]): void {
    for (const { instrumentId, code } of rejected) if (code !== 'busy') this.#absent.add(instrumentId)
    const busy = rejected.filter(({ code }) => code === 'busy').map(({ instrumentId }) => instrumentId)
    if (busy.length === 0) return
    const attempt = this.#attempt
    setTimeout(() => {
      if (attempt !== this.#attempt) return
      this.#subscribe(busy.filter((id) => this.#followed.has(id)))
    }, aboutMs(RETRY_MS))
  }

  #receivePrice(bytes: ArrayBuffer): void {
    const frame = decodePriceFrame(bytes)
    if (frame === null) return
    if ((frame.flags & (FLAG.snapshot | FLAG.replay)) === 0) this.#arrived()
    const last = this.#newest.get(frame.fixtureId)
    const isNewer =
      last === undefined || frame.epoch > last.epoch || (frame.epoch === last.epoch && frame.seq > last.seq)
    if (isNewer) this.#newest.set(frame.fixtureId, { epoch: frame.epoch, seq: frame.seq })
    this.#options.onPrice?.(frame)
  }

  #arrived(): void {
    for (const id of this.#arriving) if (this.#followed.has(id)) this.#current.add(id)
    this.#arriving = []
  }

  /** Markers only grow, so a repeated event is recognised by its marker. */
  #receiveAccount(changes: AccountChanges): void {
    const known = Number(this.#marker ?? -1)
    const events = changes.snapshot ? [] : changes.events.filter(({ marker }) => Number(marker) > known)
    this.#marker = changes.marker
    if (changes.snapshot || events.length > 0) this.#options.onAccount?.({ ...changes, events })
  }

  #send(message: Readonly<Record<string, unknown>>): void {
    this.#outbox.push(JSON.stringify(message))
    this.#flush()
  }

  #flush(): void {
    const due = this.#outbox.splice(0, this.#maySend)
    this.#maySend -= due.length
    for (const message of due) this.#socket?.send(message)
    if (due.length === 0) return
    this.#second ??= setTimeout(() => {
      this.#second = undefined
      this.#maySend = MESSAGES_MAX
      this.#flush()
    }, 1_000)
  }

  /** A connection that is silent for too long, or does not open, is dead, whatever the operating system reports. */
  #expectMessage(withinMs = SILENCE_MS): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#lose(this.#nextWait()), withinMs)
  }

  /** Drops the connection and reconnects after this long. */
  #lose(waitMs: number): void {
    this.#attempt++
    this.#drop()
    this.#timer = setTimeout(() => void this.#connect(), waitMs)
    this.#enter('waiting')
  }

  #drop(): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#second)
    this.#second = undefined
    this.#maySend = MESSAGES_MAX
    this.#outbox = []
    this.#socket?.close()
    this.#socket = null
    this.#arriving = []
  }

  /** Longer each time, and at random from nothing on, so that a returning server is not overrun. */
  #nextWait(code?: number): number {
    if (code === TOO_MANY || code === ADMINS_ONLY) return aboutMs(LONGEST_WAIT_MS)
    const first = code === RESTART || code === NO_ROOM ? RESTART_WAIT_MS : FIRST_WAIT_MS
    return Math.random() * Math.min(LONGEST_WAIT_MS, first * 2 ** this.#failures++)
  }

  #enter(state: FeedState): void {
    if (state === this.#state) return
    this.#state = state
    this.#options.onState?.(state)
  }
}

/** Half as long to one and a half times as long. */
const aboutMs = (ms: number): number => ms * (0.5 + Math.random())

const portions = (ids: readonly string[]): readonly (readonly string[])[] =>
  Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, n) => ids.slice(n * IDS_MAX, (n + 1) * IDS_MAX))
