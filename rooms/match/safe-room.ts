/** The base of every room: patches nobody can corrupt, throws that stay in the room, and clients that must really arrive. */
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

/** A client that has not acknowledged its join by then is sent away: until it does, all it is sent queues up in memory. */
const JOIN_DEADLINE_MS = 5_000
/** Between reserving a seat over HTTP and opening the socket. */
const SEAT_SECS = 10

/**
 * The encoder returns views of one buffer that it reuses, and the room hands them to `ws.send`: while a client's socket is
 * backed up, its queued patch is overwritten by the next one (266 of 400 measured frames were wrong). One copy a patch,
 * shared by all clients, ends that.
 */
class CopyingSerializer<T extends Schema> extends SchemaSerializer<T> {
  override reset(state: T): void {
    super.reset(state)
    const { encoder } = this
    const encode = encoder.encode.bind(encoder)
    const encodeAll = encoder.encodeAll.bind(encoder)
    encoder.encode = (...args) => new Uint8Array(encode(...args))
    encoder.encodeAll = (...args) => new Uint8Array(encodeAll(...args))
  }
}

export abstract class SafeRoom<O extends RoomOptions = RoomOptions> extends Room<O> {
  /** Rooms are owned by the desk, not by whoever happens to watch. */
  override autoDispose = false
  override seatReservationTimeout = SEAT_SECS

  /** Ends the room, and with it the seats that nobody has taken yet: by itself it would wait until they expire. */
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

  /** Without this hook a throwing handler or timer would be an uncaught exception of the whole process. */
  override onUncaughtException(error: RoomException, where: RoomMethodName): void {
    this.report('room_handler_failed', error.cause ?? error, { roomId: this.roomId, handler: where })
  }

  /** To be called from `onJoin`. */
  protected expectArrival(client: Client): void {
    this.clock.setTimeout(() => {
      if (client.state === ClientState.JOINING) client.leave(CloseCode.WITH_ERROR, 'join not acknowledged')
    }, JOIN_DEADLINE_MS)
  }
}
