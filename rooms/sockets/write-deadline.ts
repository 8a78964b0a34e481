/** The write deadline of all sockets: one that does not drain is closed, so that it delays no other. */
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import { present } from '../../actors/kernel/assert.ts'
import { CLOSE } from './close-codes.ts'
import { MESSAGE_BYTES_MAX } from './limits.ts'

/** For a write to reach the kernel. */
export const WRITE_DEADLINE_MS = 100
/** A socket is closed after this many missed deadlines in a row. */
export const STRIKES_MAX = 3
/** Bytes that may wait for one socket. */
export const QUEUED_BYTES_MAX = 1024 * 1024
/** For the client to answer the close frame, before its connection is cut. */
const CLOSE_MS = 1_000
/** The same after a protocol error: enough for the close frame to leave. */
const ERROR_CLOSE_MS = 100

interface Watch {
  /** All bytes up to this one must have drained by the next check. */
  mark: number
  strikes: number
}

/**
 * Every 100 ms checks the sockets that had not drained after a write; a socket that keeps up costs nothing. The
 * kernel's send buffer hides the first part of a stall; limit it with `net.ipv4.tcp_notsent_lowat` where that matters.
 */
export class WriteDeadline {
  readonly #sockets = new WeakMap<WebSocket, Socket>()
  readonly #watched = new Map<WebSocket, Watch>()
  #timer: NodeJS.Timeout | undefined
  #closed = 0

  /** To be called before the first `check`, and again if the listeners of errors were removed. */
  guard(ws: WebSocket, socket: Socket): void {
    this.#sockets.set(ws, socket)
    ws.once('error', () => stopReading(socket))
  }

  /** The connection under a guarded socket. */
  socketOf(ws: WebSocket): Socket {
    return present(this.#sockets.get(ws), 'connection of a guarded socket')
  }

  /** The number of sockets it has closed. */
  get closed(): number {
    return this.#closed
  }

  /** To be called after every write. */
  check(ws: WebSocket): void {
    if (ws.bufferedAmount === 0 || this.#watched.has(ws)) return
    const socket = this.#sockets.get(ws)
    if (socket === undefined) return
    this.#watched.set(ws, { mark: socket.bytesWritten, strikes: 0 })
    this.#timer ??= setInterval(() => this.#look(), WRITE_DEADLINE_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#watched.clear()
  }

  #look(): void {
    for (const [ws, watch] of this.#watched) {
      const socket = this.#sockets.get(ws)
      if (socket === undefined || ws.readyState !== WebSocket.OPEN || ws.bufferedAmount === 0) this.#watched.delete(ws)
      else this.#judge(ws, socket, watch)
    }
    if (this.#watched.size === 0) this.stop()
  }

  #judge(ws: WebSocket, socket: Socket, watch: Watch): void {
    const drained = socket.bytesWritten - socket.writableLength
    watch.strikes = drained < watch.mark ? watch.strikes + 1 : 0
    if (watch.strikes < STRIKES_MAX && ws.bufferedAmount <= QUEUED_BYTES_MAX) {
      if (watch.strikes === 0) watch.mark = socket.bytesWritten
      return
    }
    this.#watched.delete(ws)
    this.#closed++
    ws.close(CLOSE.tooSlow, 'too slow')
    setTimeout(() => ws.terminate(), CLOSE_MS).unref()
  }
}

/**
 * After a protocol error, such as a header that announces too many bytes. `ws` has sent a close frame, but would
 * continue to read and discard what the client sends until the client answers.
 */
function stopReading(socket: Socket): void {
  process.nextTick(() => socket.pause()) // after `ws` has resumed it, which is its next step
  setTimeout(() => socket.destroy(), ERROR_CLOSE_MS).unref()
}

type Sent = Parameters<WebSocket['send']>

/** The options of every WebSocket server here. */
export const socketOptions = (deadline: WriteDeadline) => ({
  noServer: true as const,
  maxPayload: MESSAGE_BYTES_MAX,
  perMessageDeflate: false, // prices are written past it
  closeTimeout: CLOSE_MS, // unknown to the types of `ws`
  WebSocket: deadlineSocket(deadline),
})

/**
 * A server-side socket that checks the deadline after each of its own writes, pongs included: a client may send
 * thousands of pings and read no answer.
 */
function deadlineSocket(deadline: WriteDeadline): typeof WebSocket {
  return class extends WebSocket {
    override send(data: Sent[0], options?: Sent[1] | Sent[2], callback?: Sent[2]): void {
      if (typeof options === 'function') super.send(data, options)
      else super.send(data, options ?? {}, callback)
      deadline.check(this)
    }

    override pong(...args: Parameters<WebSocket['pong']>): void {
      super.pong(...args)
      deadline.check(this)
    }
  }
}
