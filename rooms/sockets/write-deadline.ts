/** The write deadline of every socket of both doors: who cannot drain what he is sent is closed, so that he delays nobody. */
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'
import { present } from '../../actors/kernel/assert.ts'
import { CLOSE } from './close-codes.ts'
import { MESSAGE_BYTES_MAX } from './limits.ts'

/** What a write may take to leave for the kernel. */
export const WRITE_DEADLINE_MS = 100
/** Missed in a row, this many deadlines close a socket. */
export const STRIKES_MAX = 3
/** Bytes that may wait for one socket. */
export const QUEUED_BYTES_MAX = 1024 * 1024
/** How long a closed socket may take to read why, before it is cut. */
const FAREWELL_MS = 1_000
/** The same for one that broke the protocol: long enough for the farewell to be on its way. */
const SHORT_FAREWELL_MS = 100

interface Watch {
  /** Everything up to this byte must have drained at the next look. */
  mark: number
  strikes: number
}

/**
 * Looks every 100 ms at the sockets that had not drained after a write, and at no others: one that keeps up costs nothing.
 * The kernel's send buffer hides the first part of a stall; bound it with `net.ipv4.tcp_notsent_lowat` where that matters.
 */
export class WriteDeadline {
  readonly #sockets = new WeakMap<WebSocket, Socket>()
  readonly #watched = new Map<WebSocket, Watch>()
  #timer: NodeJS.Timeout | undefined
  #closed = 0

  /** Makes a socket known, once, before the first `check`. */
  guard(ws: WebSocket, socket: Socket): void {
    this.#sockets.set(ws, socket)
    ws.once('error', () => stopReading(socket))
  }

  /** The connection under a socket that is guarded. */
  socketOf(ws: WebSocket): Socket {
    return present(this.#sockets.get(ws), 'connection of a guarded socket')
  }

  /** How many sockets it has closed. */
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
    setTimeout(() => ws.terminate(), FAREWELL_MS).unref()
  }
}

/**
 * For somebody who broke the protocol, such as by a header that announces too much. `ws` has said goodbye, but would go on
 * reading and throwing away what he still sends, for as long as he may take to read it: that would be work for nothing.
 */
function stopReading(socket: Socket): void {
  process.nextTick(() => socket.pause()) // after `ws` has resumed it, which is its next step
  setTimeout(() => socket.destroy(), SHORT_FAREWELL_MS).unref()
}

type Sent = Parameters<WebSocket['send']>

/** How every WebSocket server of ours is set up: nobody is compressed for, waited for, or written to without a deadline. */
export const socketOptions = (deadline: WriteDeadline) => ({
  noServer: true as const,
  maxPayload: MESSAGE_BYTES_MAX,
  perMessageDeflate: false, // prices are written past it
  closeTimeout: FAREWELL_MS, // unknown to the types of `ws`
  WebSocket: deadlineSocket(deadline),
})

/**
 * A server-side socket class that reports each of its own writes to a deadline, answers to pings too: a client may ask for
 * thousands of them and read none.
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
