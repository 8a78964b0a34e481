/**
 * The base of every room: patches that cannot be corrupted, exceptions that stay in the room, joins with a deadline, an
 * answer to what cannot be read.
 */
import {
  type Client,
  ClientState,
  CloseCode,
  Room,
  type RoomException,
  type RoomMethodName,
  type RoomOptions,
  SchemaSerializer,
  type Serializer,
} from '@colyseus/core'
import type { Schema } from '@colyseus/schema'
import type { Report } from '../report.ts'
import { ERROR_MESSAGE } from './match-wire.ts'
import { readable } from './message-frame.ts'

/** For a client to acknowledge its join: until it does, everything sent to it is queued in memory. */
const ACK_DEADLINE_MS = 5_000
/** From the reservation of a seat over HTTP to the connection. */
const SEAT_SECS = 10

/**
 * The encoder returns views of one reused buffer, which the room passes to `ws.send`: while a client's socket is backed
 * up, the next patch overwrites its queued one (266 of 400 measured frames were wrong). One copy of each patch, shared
 * by all clients without a `StateView`, prevents that; the others get bytes of their own anyway.
 */
class CopyingSerializer<T extends Schema> extends SchemaSerializer<T> {
  override reset(state: T): void {
    super.reset(state)
    const { encoder } = this
    const encode = encoder.encode.bind(encoder)
    const encodeAll = encoder.encodeAll.bind(encoder)
    encoder.encode = (it, view, ...rest) => {
      const bytes = encode(it, view, ...rest)
      return view === undefined ? new Uint8Array(bytes) : bytes
    }
    encoder.encodeAll = (...args) => new Uint8Array(encodeAll(...args))
  }
}

let isReading = false

/** Whether a room reads a message now. What Colyseus then logs as an error is that a client's payload is unreadable. */
export const readsMessage = (): boolean => isReading

export abstract class SafeRoom<O extends RoomOptions = RoomOptions> extends Room<O> {
  /** A room lives as long as its match or replay, with or without clients. */
  override autoDispose = false
  override seatReservationTimeout = SEAT_SECS

  constructor() {
    super()
    const receive: (client: Client, frame: Buffer) => void = this['_onMessage'].bind(this)
    this['_onMessage'] = (client: Client, frame: Buffer): void => {
      isReading = true
      try {
        receive(client, readable(frame))
      } finally {
        isReading = false
      }
    }
  }

  /**
   * Ends the room together with the seats that have not been taken; Colyseus would wait until they expire. Its public
   * API (core 0.18.17) can reserve a seat and ask for one, but not cancel it.
   */
  override disconnect(closeCode?: number): Promise<unknown> {
    const expiries: Record<string, NodeJS.Timeout> = this['_reservedSeatTimeouts']
    for (const [sessionId, expiry] of Object.entries(expiries)) {
      clearTimeout(expiry)
      delete expiries[sessionId]
      delete this['_reservedSeats'][sessionId]
    }
    return super.disconnect(closeCode)
  }

  /** Must not throw. */
  protected abstract report(...failure: Parameters<Report>): void

  override setSerializer(serializer: Serializer<NonNullable<O['state']>>): void {
    super.setSerializer(serializer instanceof SchemaSerializer ? new CopyingSerializer() : serializer)
  }

  /** Without this hook, an exception in a handler or timer would be one of the whole process. */
  override onUncaughtException(error: RoomException, where: RoomMethodName): void {
    this.report('room_handler_failed', error.cause ?? error, { roomId: this.roomId, handler: where })
  }

  /** To be called from `onJoin` and `onReconnect`. */
  protected expectAck(client: Client): void {
    // Colyseus (core 0.18.17) would end the connection of what is not MessagePack; it has no hook for that.
    const leave = client.leave.bind(client)
    client.leave = (code, data) => {
      if (isReading) client.send(ERROR_MESSAGE, { code: 'bad_message', message: 'not MessagePack' })
      else leave(code, data)
    }
    this.clock.setTimeout(() => {
      if (client.state === ClientState.JOINING) client.leave(CloseCode.WITH_ERROR, 'join not acknowledged')
    }, ACK_DEADLINE_MS)
  }
}
