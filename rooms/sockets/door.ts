/**
 * The door of the WebSocket address. Every handshake passes it: it counts against its address, waits its turn when many
 * come at once, and gets the reason when it is refused.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { UserId } from '../../actors/kernel/ids.ts'
import { type Clock, type Instant, instant, SECOND_MS } from '../../actors/kernel/world.ts'
import type { Report } from '../report.ts'
import { CLOSE, type CloseCode, type Closing } from './close-codes.ts'
import { MESSAGE_BYTES_MAX, SUBPROTOCOL } from './limits.ts'
import { Pacer } from './pacer.ts'
import { refusalText } from './refusal-text.ts'

/** Refused clients that get the reason as a close code, per second. The others get a plain HTTP status. */
const REASONS_PER_SECOND_MAX = 100
/** How long a refused client may take to answer the close frame. */
const CLOSE_ANSWER_MS = 1_000

/** The limits of the installation on who may knock how often. Both count one handshake or request for a seat. */
export interface DoorLimits {
  /** False when the client's address has exceeded its limit. */
  readonly admitsAddress: (request: IncomingMessage) => Promise<boolean>
  /** False when the user has exceeded theirs. */
  readonly admitsUser: (user: UserId) => Promise<boolean>
}

export interface DoorOptions {
  readonly limits: DoorLimits
  readonly clock: Clock
  readonly report: Report
}

/** The HTTP answer to a client without WebSockets, and to those beyond REASONS_PER_SECOND_MAX. */
const STATUS: Readonly<Record<CloseCode, number>> = {
  [CLOSE.restart]: 503,
  [CLOSE.full]: 503,
  [CLOSE.unauthorised]: 401,
  [CLOSE.forbidden]: 403,
  [CLOSE.tooSlow]: 503,
  [CLOSE.tooMany]: 429,
}

export class Door {
  readonly #options: DoorOptions
  readonly #pacer: Pacer
  /** Accepts refused connections to close them with a reason, and reads nothing from them. */
  readonly #refusing = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MESSAGE_BYTES_MAX,
    handleProtocols: (offered) => (offered.has(SUBPROTOCOL) ? SUBPROTOCOL : false),
  })
  #reasons = 0
  #reasonsUntil: Instant = instant(0)

  constructor(options: DoorOptions) {
    this.#options = options
    this.#pacer = new Pacer(options.clock)
  }

  /** Resolves true when a handshake may go on. Otherwise it has been refused, or its client has gone. */
  async admits(request: IncomingMessage): Promise<boolean> {
    const { socket } = request
    const abandon = (): void => void socket.destroy()
    socket.on('error', abandon) // until the next one listens
    try {
      // A proxy may have read the other one.
      if ((request.headersDistinct['host'] ?? []).length > 1) return refuseUpgrade(socket, 400)
      // Without a close code: to accept these would cost more than to read them.
      if (!(await this.#options.limits.admitsAddress(request))) return refuseUpgrade(socket, 429)
      if (!(await this.#pacer.turn())) return refuseUpgrade(socket, 503)
      return !socket.destroyed
    } catch (error) {
      this.#options.report('handshake_failed', error)
      return refuseUpgrade(socket, 503)
    } finally {
      socket.off('error', abandon)
    }
  }

  /** Whether this user may open one more socket or take one more seat. */
  admitsUser(user: UserId): Promise<boolean> {
    return this.#options.limits.admitsUser(user)
  }

  /** Resolves when it is this request's turn; false when too many wait. */
  turn(): Promise<boolean> {
    return this.#pacer.turn()
  }

  /**
   * Refuses a handshake. A browser learns nothing from an HTTP status, so the connection is accepted, closed with the
   * code, and cut if the client does not answer: a hundred times a second. Beyond that the HTTP status has to do.
   */
  refuse(request: IncomingMessage, head: Buffer, { code, reason }: Closing): void {
    const { socket } = request
    if (socket.destroyed) return
    if (!this.#mayTell()) return void refuseUpgrade(socket, STATUS[code])
    const late = setTimeout(() => socket.destroy(), CLOSE_ANSWER_MS)
    socket.once('close', () => clearTimeout(late))
    this.#refusing.handleUpgrade(request, socket, head, (ws) => {
      ws.on('error', () => socket.destroy())
      ws.close(code, reason)
    })
  }

  /** Ends all waiting. */
  stop(): void {
    this.#pacer.stop()
  }

  #mayTell(): boolean {
    const now = this.#options.clock.now()
    if (now >= this.#reasonsUntil) {
      this.#reasonsUntil = instant(now + SECOND_MS)
      this.#reasons = 0
    }
    return ++this.#reasons <= REASONS_PER_SECOND_MAX
  }
}

/**
 * Answers an upgrade request with a plain HTTP status and closes the connection, whether its client does or not. Always
 * false.
 */
export function refuseUpgrade(socket: Duplex, status: number): false {
  socket.on('error', () => socket.destroy()) // the client may have reset it
  socket.once('finish', () => socket.destroy())
  socket.end(refusalText(status))
  return false
}
