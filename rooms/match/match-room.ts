/** The Colyseus room of one match: lives as long as the match runs in this process, and shows it to SDK clients. */
import { type Client, ClientState, CloseCode, Deferred, type MessageContext } from '@colyseus/core'
import { Encoder, StateView } from '@colyseus/schema'
import { WebSocketClient } from '@colyseus/ws-transport'
import type { z } from 'zod'
import { assert, present } from '../../actors/kernel/assert.ts'
import type { FixtureId, InstrumentId, UserId } from '../../actors/kernel/ids.ts'
import { isPending, MINUTE_MS } from '../../actors/kernel/world.ts'
import type { MatchActor } from '../../actors/match/actor.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import { Follow, FollowAccount, problemsIn, Unfollow } from '../feed/feed-protocol.ts'
import { Subscriber } from '../feed/subscriber.ts'
import { instrumentsIn, Subscriptions } from '../feed/subscriptions.ts'
import type { Report } from '../report.ts'
import type { Visitor } from '../sockets/admission.ts'
import { CLOSE, type Closing } from '../sockets/close-codes.ts'
import type { Slot } from '../sockets/connection-limit.ts'
import { MatchHost, type MatchContext } from './match-host.ts'
import { ACCOUNT_MESSAGE, ERROR_MESSAGE, type InstrumentWire, MatchWire, SHUTDOWN_MESSAGE } from './match-wire.ts'
import { priceMessage } from './message-frame.ts'
import { project } from './projection.ts'
import { SafeRoom } from './safe-room.ts'

export const MATCH_ROOM = 'match'
/** The same for all clients, in all processes. */
export const matchRoomId = (id: FixtureId): string => `${MATCH_ROOM}-${id}`

/** Prices are sent as messages; the synced state may lag by half a second. */
const PATCH_MS = 500
/** Enough for the views of 1,000 clients. Beyond it the encoder grows by as much, and says so on the console. */
const VIEWS_BYTES = 256 * 1_024
/** A prime, so that matches which started together do not tick together. */
const TICK_MS = 997
/** How long a seat is kept for a client whose connection broke. */
const RECONNECT_SECS = 20
/**
 * The close codes after which the SDK reconnects, and the one by which Colyseus ends a connection whose client is back
 * before the break was noticed, as between two networks.
 */
const BROKEN: ReadonlySet<number | undefined> = new Set([
  CloseCode.WITH_ERROR,
  CloseCode.GOING_AWAY,
  CloseCode.NO_STATUS_RECEIVED,
  CloseCode.ABNORMAL_CLOSURE,
  CloseCode.MAY_TRY_RECONNECT,
])
/** A settled match without clients is retired after this time. */
const RETIRE_AFTER_MS = MINUTE_MS

Encoder.BUFFER_SIZE = VIEWS_BYTES

/** A match that runs in this process. */
export interface HostedMatch {
  readonly actor: MatchActor
  /** Set once the match is being retired; resolves when another incarnation may start. */
  readonly leaving: Promise<void> | null
  /** Resolves when everything is released, including its lease. */
  readonly closed: Promise<void>
  /** The source of its prices. */
  readonly source: MatchHost
  /** The number of connected clients. */
  readonly connections: number
  /** Stops the match here: the actor finishes what it has, the lease is released, clients are asked to reconnect. */
  retire(): Promise<void>
  /** A seat has been reserved. The room releases the slot when the seat is free again. */
  expect(sessionId: string, slot: Slot): void
  /** The bearers of all its seats. */
  visitors(): readonly Visitor[]
  /** Disconnects the clients of these visitors, and frees the seats that they have not taken or may return to. */
  disconnectVisitors(isGone: (visitor: Visitor) => boolean, closing: Closing): void
  /** Sends each client a random time within this to reconnect at. */
  announceStop(spreadMs: number): void
}

export interface MatchRoomOptions {
  readonly context: MatchContext
  /** The matches of this process; the room adds and removes itself. */
  readonly hosted: Map<FixtureId, HostedMatch>
  readonly record: MatchRecord
  readonly epoch: number
  /** The match stopped itself although this process still owns it. The room is gone. */
  readonly onFallen: () => void
}

type MatchClient = Client<{ auth: { userId: UserId } }>

/** A seat and the client it is for. It holds the connection slot of its user from the reservation to the end. */
type Seat =
  /** Reserved; the client has not connected yet. */
  | { readonly state: 'reserved'; readonly slot: Slot }
  | {
      readonly state: 'connected'
      readonly slot: Slot
      readonly client: MatchClient
      readonly subscriptions: Subscriptions
    }
  /** The connection has ended. Rejecting `returning` ends the seat; null: it ends anyway. */
  | {
      readonly state: 'away'
      readonly slot: Slot
      readonly follows: readonly InstrumentId[]
      readonly returning: Deferred | null
    }

export class MatchRoom extends SafeRoom<{ state: MatchWire; client: MatchClient }> implements HostedMatch {
  override state = new MatchWire()
  override patchRate = PATCH_MS
  override messages = {
    subscribe: (client: MatchClient, payload: unknown, ctx: MessageContext) => this.#subscribe(client, payload, ctx),
    unsubscribe: (client: MatchClient, payload: unknown, ctx: MessageContext) =>
      this.#unsubscribe(client, payload, ctx),
    account: (client: MatchClient, payload: unknown, ctx: MessageContext) => this.#followAccount(client, payload, ctx),
    // A message of the type `*` comes without it.
    _: (client: MatchClient, type: unknown) =>
      client.send(ERROR_MESSAGE, invalid(`no such message: ${isName(type) ? type : '*'}`)),
  }
  /** Colyseus constructs a room without its options, so both are null until `onCreate`. */
  #options: MatchRoomOptions | null = null
  #host: MatchHost | null = null
  #leaving: Promise<void> | null = null
  readonly #closing = Promise.withResolvers<void>()
  #renewing = false
  /** By session id. */
  readonly #seats = new Map<string, Seat>()
  /** Whom the server has sent away: they may not return. The code with which a connection ends is the client's word. */
  readonly #dismissed = new WeakSet<MatchClient>()

  get actor(): MatchActor {
    return this.source.actor
  }

  get source(): MatchHost {
    return present(this.#host, 'host of the room')
  }

  get leaving(): Promise<void> | null {
    return this.#leaving
  }

  get connections(): number {
    return [...this.#seats.values()].filter(({ state }) => state === 'connected').length
  }

  override onCreate(options: MatchRoomOptions): void {
    this.#options = options
    const { context, hosted, record, epoch, onFallen } = options
    this.roomId = matchRoomId(record.info.matchId)
    this.#host = new MatchHost({
      context,
      record,
      epoch,
      onPrices: () => this.#show(),
      onStopped: (reason, error) => {
        if (reason !== 'fenced') this.report('match_actor_stopped', error, { reason })
        // In a later turn: this one may still be creating the room.
        setImmediate(() => void this.retire().then(reason === 'fenced' ? undefined : onFallen))
      },
    })
    this.#show()
    this.clock.setInterval(() => this.#tick(), TICK_MS)
    this.clock.setInterval(() => void this.#renew(), context.leaseTtlMs / 3)
    hosted.set(record.info.matchId, this)
  }

  override onJoin(client: MatchClient): void {
    const seat = this.#seats.get(client.sessionId)
    // The session has ended since the seat was reserved.
    if (seat === undefined) return client.leave(CLOSE.unauthorised, 'no such seat')
    this.expectAck(client)
    this.#connect(client, seat.slot)
  }

  override onDrop(client: MatchClient, code?: number): void {
    assert(client instanceof WebSocketClient, 'clients come over WebSockets')
    const { ref } = client
    // One that returns while its former connection lives would otherwise be a second client that no limit counts.
    setImmediate(() => ref.close(CloseCode.MAY_TRY_RECONNECT))
    const seat = this.#endConnection(client)
    if (seat === undefined || this.#dismissed.has(client) || !BROKEN.has(code)) return
    const returning: unknown = this.allowReconnection(client, RECONNECT_SECS)
    // A client that never acknowledged its join gets a promise that is no Deferred, and already rejected.
    if (returning instanceof Deferred) this.#seats.set(client.sessionId, { ...seat, returning })
    Promise.resolve(returning).catch(() => undefined) // `onLeave` follows
  }

  /** The returning client is a new object; messages to the old one would be lost. */
  override onReconnect(client: MatchClient): void {
    const seat = present(this.#seats.get(client.sessionId), 'seat of a returning client')
    this.expectAck(client)
    const follows = seat.state === 'away' ? seat.follows : []
    this.#connect(client, seat.slot).resume(follows)
    this.#reveal(client, follows)
  }

  override onLeave(client: MatchClient): void {
    this.#endConnection(client)
    this.#free(client.sessionId)
  }

  override onBeforeShutdown(): void {
    void this.retire()
  }

  get closed(): Promise<void> {
    return this.#closing.promise
  }

  override async onDispose(): Promise<void> {
    const { hosted } = present(this.#options, 'options of the room')
    try {
      await this.#host?.close()
    } finally {
      for (const sessionId of this.#seats.keys()) this.#free(sessionId) // reserved, and never taken
      if (this.#host !== null && hosted.get(this.#host.matchId) === this) hosted.delete(this.#host.matchId)
      this.#closing.resolve()
    }
  }

  retire(): Promise<void> {
    this.#leaving ??= this.disconnect(CLOSE.restart).then(() => undefined)
    return this.#leaving
  }

  expect(sessionId: string, slot: Slot): void {
    this.#seats.set(sessionId, { state: 'reserved', slot })
  }

  visitors(): readonly Visitor[] {
    return [...this.#seats.values()].map(({ slot }) => slot)
  }

  disconnectVisitors(isGone: (visitor: Visitor) => boolean, { code, reason }: Closing): void {
    for (const [sessionId, seat] of this.#seats) {
      if (!isGone(seat.slot)) continue
      if (seat.state === 'reserved') this.#free(sessionId)
      else if (seat.state === 'away') seat.returning?.reject()
      else {
        this.#dismissed.add(seat.client)
        seat.client.leave(code, reason)
      }
    }
  }

  announceStop(spreadMs: number): void {
    for (const client of this.clients) {
      client.send(SHUTDOWN_MESSAGE, { reconnectInMs: this.#context.world.randomInt(spreadMs) })
    }
  }

  protected override report(...failure: Parameters<Report>): void {
    const report = this.#host?.report ?? this.#options?.context.report
    report?.(...failure)
  }

  get #context(): MatchContext {
    return present(this.#options, 'options of the room').context
  }

  #tick(): void {
    this.source.tick()
    this.#show()
    for (const [sessionId, { state }] of this.#seats) {
      if (state === 'reserved' && !this.hasReservedSeat(sessionId)) this.#free(sessionId)
    }
    const { settledAt } = this.actor.view.info
    if (settledAt === null || this.clients.length > 0) return
    if (!isPending(settledAt + RETIRE_AFTER_MS, this.#context.world.now(), RETIRE_AFTER_MS)) void this.retire()
  }

  /** One at a time: while the database stalls, the renewals of all matches would queue up there. */
  async #renew(): Promise<void> {
    if (this.#renewing) return
    this.#renewing = true
    const isOurs = await this.source.renew()
    this.#renewing = false
    if (!isOurs) await this.retire()
  }

  #show(): void {
    const { actor } = this.source
    const window = actor.window.bind(actor)
    project({ view: actor.view, window }, this.state)
  }

  #connect(client: MatchClient, slot: Slot): Subscriptions {
    assert(client instanceof WebSocketClient, 'clients come over WebSockets')
    const { account, deadline, fanOut, world } = this.#context
    const subscriber = new Subscriber({
      ws: client.ref,
      socket: deadline.socketOf(client.ref),
      deadline,
      traffic: fanOut.traffic,
      pack: priceMessage,
      hasJoined: () => client.state === ClientState.JOINED,
    })
    const subscriptions = new Subscriptions({ subscriber, userId: slot.userId, fanOut, account, clock: world.steady })
    this.#seats.set(client.sessionId, { state: 'connected', slot, client, subscriptions })
    return subscriptions
  }

  /** Undefined if this client has no seat. */
  #endConnection(client: MatchClient): Extract<Seat, { state: 'away' }> | undefined {
    const seat = this.#seats.get(client.sessionId)
    if (seat?.state !== 'connected' || seat.client !== client) return undefined
    const { slot, subscriptions } = seat
    const away = { state: 'away', slot, follows: subscriptions.instruments, returning: null } as const
    subscriptions.end()
    client.view?.dispose()
    delete client.view
    this.#seats.set(client.sessionId, away)
    return away
  }

  #free(sessionId: string): void {
    this.#seats.get(sessionId)?.slot.release()
    this.#seats.delete(sessionId)
  }

  #subscriptionsOf(client: MatchClient): Subscriptions {
    const seat = this.#seats.get(client.sessionId)
    assert(seat?.state === 'connected', 'only connected clients send messages')
    return seat.subscriptions
  }

  /** A request is answered with what was accepted; a plain message only with errors. The current prices follow. */
  #subscribe(client: MatchClient, payload: unknown, ctx: MessageContext): unknown {
    const request = Follow.safeParse(payload)
    if (!request.success) return refuse(client, ctx, request.error)
    const subscriptions = this.#subscriptionsOf(client)
    const terms = { since: request.data.since, matchId: this.source.matchId }
    const { instrumentIds, rejected, catchUp } = subscriptions.follow(instrumentsIn(request.data), terms)
    subscriptions.subscriber.write(catchUp)
    this.#reveal(client, instrumentIds)
    if (ctx.id === undefined && rejected.length > 0) {
      client.send(ERROR_MESSAGE, invalid(`not in this match: ${rejected.map((r) => r.instrumentId).join(', ')}`))
    }
    return { instrumentIds, rejected }
  }

  #unsubscribe(client: MatchClient, payload: unknown, ctx: MessageContext): unknown {
    const request = Unfollow.safeParse(payload)
    if (!request.success) return refuse(client, ctx, request.error)
    const ids = instrumentsIn(request.data)
    this.#subscriptionsOf(client).unfollow(ids)
    this.#conceal(client, ids)
    return { instrumentIds: [...ids] }
  }

  /**
   * The client sees these instruments in the state from the next patch on. A client that follows none has no view, and
   * shares its patches with all others of its kind.
   */
  #reveal(client: MatchClient, ids: Iterable<InstrumentId>): void {
    for (const wire of this.#wiresOf(ids)) {
      client.view ??= new StateView()
      if (!client.view.has(wire)) client.view.add(wire)
    }
  }

  #conceal({ view }: MatchClient, ids: Iterable<InstrumentId>): void {
    for (const wire of this.#wiresOf(ids)) if (view?.has(wire) === true) view.remove(wire)
  }

  #wiresOf(ids: Iterable<InstrumentId>): InstrumentWire[] {
    return Array.from(ids, (id) => this.state.instruments.get(id)).filter((wire) => wire !== undefined)
  }

  /** Until the connection ends. A client that reconnects asks again, with the last marker it has. */
  #followAccount(client: MatchClient, payload: unknown, ctx: MessageContext): unknown {
    const request = FollowAccount.safeParse(payload ?? {})
    if (!request.success) return refuse(client, ctx, request.error)
    const isAccepted = this.#subscriptionsOf(client).followAccount(request.data, {
      page: ({ body }) => client.send(ACCOUNT_MESSAGE, body),
      notice: ({ type, ...fields }) => client.send(type, fields),
    })
    return isAccepted ? {} : turnDown(client, ctx, TOO_SOON)
  }
}

const isName = (type: unknown): type is string | number => typeof type === 'string' || typeof type === 'number'
const invalid = (message: string) => ({ code: 'bad_message', message })
const TOO_SOON = { code: 'busy', message: 'ask for the account once a second at most' }

const refuse = (client: MatchClient, ctx: MessageContext, error: z.ZodError): unknown =>
  turnDown(client, ctx, invalid(problemsIn(error)))

function turnDown(client: MatchClient, ctx: MessageContext, answer: ReturnType<typeof invalid>): unknown {
  if (ctx.id === undefined) client.send(ERROR_MESSAGE, answer)
  return ctx.reject(answer)
}
