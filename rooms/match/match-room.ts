/** The Colyseus room of one match: lives as long as the match is hosted here, and shows it to SDK clients. */
import {
  type Client,
  ClientState,
  CloseCode,
  Deferred,
  getMessageBytes,
  type MessageContext,
  Protocol,
} from '@colyseus/core'
import { WebSocketClient } from '@colyseus/ws-transport'
import { z } from 'zod'
import { assert, present } from '../../actors/kernel/assert.ts'
import { type FixtureId, type InstrumentId, instrumentId, type UserId } from '../../actors/kernel/ids.ts'
import { instant, MINUTE_MS, SECOND_MS } from '../../actors/kernel/world.ts'
import type { MatchActor } from '../../actors/match/actor.ts'
import type { MatchRecord } from '../../actors/match/store.ts'
import { CLOSE } from '../sockets/close-codes.ts'
import { Follow, ListenToAccount, type Rejection, Unfollow } from '../feed/feed-protocol.ts'
import { MatchHost, type MatchContext } from './match-host.ts'
import { ACCOUNT_MESSAGE, ERROR_MESSAGE, MatchWire, PRICE_MESSAGE, SHUTDOWN_MESSAGE } from './match-wire.ts'
import { asMessage } from '../feed/price-frame.ts'
import { project } from './projection.ts'
import { SafeRoom } from './safe-room.ts'
import { Subscriber } from '../feed/subscriber.ts'
import type { Slot } from '../sockets/connection-limit.ts'
import type { Report } from '../report.ts'

export const MATCH_ROOM = 'match'
/** Where a match can be joined, by everybody and always the same. */
export const matchRoomId = (id: FixtureId): string => `${MATCH_ROOM}-${id}`

/** Prices come as messages; the synced state may be half a second late. */
const PATCH_MS = 500
/** A prime, so that matches which started together do not march in step. */
const TICK_MS = 997
/** How long a seat is kept for a client whose connection broke. */
const RECONNECT_SECS = 20
/** The ends of a connection after which the SDK comes back by itself. */
const BROKEN: ReadonlySet<number | undefined> = new Set([
  CloseCode.GOING_AWAY,
  CloseCode.NO_STATUS_RECEIVED,
  CloseCode.ABNORMAL_CLOSURE,
  CloseCode.MAY_TRY_RECONNECT,
])
/** A settled match that nobody watches is let go of after this long. */
const AFTERGLOW_MS = MINUTE_MS

/** A match that runs in this process. */
export interface HostedMatch {
  readonly actor: MatchActor
  /** Set once it is on its way out: resolves when another incarnation may start. */
  readonly leaving: Promise<void> | null
  /** Where its prices come from. */
  readonly source: MatchHost
  /** Clients that are connected to it. */
  readonly guests: number
  /** Lets go of it: the actor finishes what it has, the lease goes back, clients are told to come back. */
  retire(): Promise<void>
  /** Somebody has been given a seat. Its slot is released when the seat is free again. */
  expect(sessionId: string, slot: Slot): void
  /** Sends away every client of a user, those who are on their way back too, and takes back the seats he was given. */
  disconnectUser(userId: UserId): void
  /** Tells every client when to come back, each at another time within this. */
  announceStop(spreadMs: number): void
}

export interface MatchRoomOptions {
  readonly surroundings: MatchContext
  /** Where the room can be found while it lives. */
  readonly hosted: Map<FixtureId, HostedMatch>
  readonly record: MatchRecord
  readonly epoch: number
  /** The match has stopped by itself, though it is still ours to run; the room is gone. */
  readonly onFallen: () => void
}

type MatchClient = Client<{ auth: { userId: UserId }; userData: { readonly follows: Set<InstrumentId> } }>

/** A client that is connected. */
interface Guest {
  readonly client: MatchClient
  readonly subscriber: Subscriber
  stopListening: () => void
  accountAskedAt: number
}

export class MatchRoom extends SafeRoom<{ state: MatchWire; client: MatchClient }> implements HostedMatch {
  override state = new MatchWire()
  override patchRate = PATCH_MS
  override messages = {
    subscribe: (client: MatchClient, payload: unknown, ctx: MessageContext) => this.#subscribe(client, payload, ctx),
    unsubscribe: (client: MatchClient, payload: unknown, ctx: MessageContext) =>
      this.#unsubscribe(client, payload, ctx),
    account: (client: MatchClient, payload: unknown, ctx: MessageContext) => this.#listen(client, payload, ctx),
    _: (client: MatchClient, type: unknown) => client.send(ERROR_MESSAGE, wrong(`no such message: ${String(type)}`)),
  }
  #options: MatchRoomOptions | null = null
  #host: MatchHost | null = null
  #leaving: Promise<void> | null = null
  /** By session: who has a seat that he has not taken yet. */
  readonly #expected = new Map<string, Slot>()
  /** By session: who has taken his seat, though he may be away for a moment. */
  readonly #seated = new Map<string, Slot>()
  readonly #guests = new Map<string, Guest>()
  /** By session: who may come back. Rejecting it is saying that he may not. */
  readonly #away = new Map<string, Deferred>()

  get actor(): MatchActor {
    return this.#hosting.actor
  }

  get source(): MatchHost {
    return this.#hosting
  }

  get leaving(): Promise<void> | null {
    return this.#leaving
  }

  get guests(): number {
    return this.#guests.size
  }

  override onCreate(options: MatchRoomOptions): void {
    this.#options = options
    const { surroundings, hosted, record, epoch, onFallen } = options
    this.roomId = matchRoomId(record.info.matchId)
    this.#host = new MatchHost({
      surroundings,
      record,
      epoch,
      onPrices: () => this.#show(),
      onStopped: (reason, error) => {
        if (reason !== 'fenced') this.report('match_actor_stopped', error, { reason })
        // Not in the middle of the turn that is still creating the room.
        setImmediate(() => void this.retire().then(reason === 'fenced' ? undefined : onFallen))
      },
    })
    this.#show()
    this.clock.setInterval(() => this.#tick(), TICK_MS)
    this.clock.setInterval(() => void this.#renew(), surroundings.leaseTtlMs / 3)
    hosted.set(record.info.matchId, this)
  }

  override onJoin(client: MatchClient): void {
    const slot = this.#expected.get(client.sessionId)
    // He has signed out between asking for the seat and taking it.
    if (slot === undefined) return client.leave(CLOSE.unauthorised, 'signed out')
    this.#expected.delete(client.sessionId)
    this.#seated.set(client.sessionId, slot)
    client.userData = { follows: new Set() }
    this.expectArrival(client)
    this.#welcome(client)
  }

  override onDrop(client: MatchClient, code?: number): void {
    this.#letGo(client)
    if (!BROKEN.has(code) || !this.#seated.has(client.sessionId)) return
    const back: unknown = this.allowReconnection(client, RECONNECT_SECS)
    const forget = (): void => void this.#away.delete(client.sessionId)
    // A client that never joined gets a rejected promise of another kind; if he does not come back, `onLeave` follows.
    if (back instanceof Deferred) this.#away.set(client.sessionId, back)
    void Promise.resolve(back).then(forget, forget)
  }

  /** The returning client is a new object; sending to the old one would vanish silently. */
  override onReconnect(client: MatchClient): void {
    this.expectArrival(client)
    this.#surroundings.fanOut.resume(this.#welcome(client).subscriber, follows(client))
  }

  override onLeave(client: MatchClient): void {
    this.#letGo(client)
    this.#seated.get(client.sessionId)?.release()
    this.#seated.delete(client.sessionId)
  }

  override onBeforeShutdown(): void {
    void this.retire()
  }

  override async onDispose(): Promise<void> {
    const { hosted } = present(this.#options, 'options of the room')
    try {
      await this.#host?.close()
    } finally {
      if (this.#host !== null && hosted.get(this.#host.matchId) === this) hosted.delete(this.#host.matchId)
    }
  }

  retire(): Promise<void> {
    this.#leaving ??= this.disconnect(CLOSE.restart).then(() => undefined)
    return this.#leaving
  }

  expect(sessionId: string, slot: Slot): void {
    this.#expected.set(sessionId, slot)
  }

  disconnectUser(userId: UserId): void {
    for (const [sessionId, slot] of this.#expected) if (slot.userId === userId) this.#giveUp(sessionId)
    for (const [sessionId, slot] of this.#seated) {
      if (slot.userId !== userId) continue
      this.#guests.get(sessionId)?.client.leave(CLOSE.unauthorised, 'signed out')
      this.#away.get(sessionId)?.reject()
    }
  }

  announceStop(spreadMs: number): void {
    for (const client of this.clients) {
      client.send(SHUTDOWN_MESSAGE, { reconnectInMs: this.#surroundings.world.randomInt(spreadMs) })
    }
  }

  protected override report(...failure: Parameters<Report>): void {
    const report = this.#host?.report ?? this.#options?.surroundings.report
    report?.(...failure)
  }

  get #hosting(): MatchHost {
    return present(this.#host, 'host of the room')
  }

  get #surroundings(): MatchContext {
    return present(this.#options, 'options of the room').surroundings
  }

  #tick(): void {
    this.#hosting.tick()
    this.#show()
    for (const sessionId of this.#expected.keys()) if (!this.hasReservedSeat(sessionId)) this.#giveUp(sessionId)
    const { settledAt } = this.actor.view.info
    const now = this.#surroundings.world.now()
    if (settledAt !== null && this.clients.length === 0 && now - settledAt > AFTERGLOW_MS) void this.retire()
  }

  async #renew(): Promise<void> {
    if (!(await this.#hosting.renew())) await this.retire()
  }

  #show(): void {
    const { actor } = this.#hosting
    const window = actor.window.bind(actor)
    project({ view: actor.view, impactCapPpm: this.#surroundings.rules().impactCapPpm, window }, this.state)
  }

  /** The seat was not taken, or may not be. */
  #giveUp(sessionId: string): void {
    this.#expected.get(sessionId)?.release()
    this.#expected.delete(sessionId)
  }

  #welcome(client: MatchClient): Guest {
    assert(client instanceof WebSocketClient, 'clients come over WebSockets')
    const { deadline, fanOut } = this.#surroundings
    const subscriber = new Subscriber({
      ws: client.ref,
      socket: deadline.socketOf(client.ref),
      deadline,
      traffic: fanOut.traffic,
      pack: priceMessage,
      hasArrived: () => client.state === ClientState.JOINED,
    })
    const guest = { client, subscriber, stopListening: () => undefined, accountAskedAt: instant(0) }
    this.#guests.set(client.sessionId, guest)
    return guest
  }

  #letGo(client: MatchClient): void {
    const guest = this.#guests.get(client.sessionId)
    if (guest?.client !== client) return
    guest.stopListening()
    this.#surroundings.fanOut.forget(guest.subscriber)
    this.#guests.delete(client.sessionId)
  }

  #guestOf(client: MatchClient): Guest {
    return present(this.#guests.get(client.sessionId), 'a client that is here')
  }

  /** Answers a request with what was accepted; a plain message hears of trouble only. The current prices follow at once. */
  #subscribe(client: MatchClient, payload: unknown, ctx: MessageContext): unknown {
    const request = Follow.safeParse(payload)
    if (!request.success) return refuse(client, ctx, request.error)
    const { fanOut } = this.#surroundings
    const { subscriber } = this.#guestOf(client)
    const accepted: InstrumentId[] = []
    const rejected: Rejection[] = []
    fanOut.bringUpToDate(subscriber)
    for (const id of new Set(request.data.instrumentIds.map((text) => instrumentId(text.toLowerCase())))) {
      const refusal = fanOut.publishes(id, this.#hosting.matchId) ? fanOut.follow(subscriber, id) : 'not_found'
      if (refusal === null) accepted.push(id)
      else rejected.push({ instrumentId: id, code: refusal })
    }
    for (const id of accepted) follows(client).add(id)
    subscriber.write(fanOut.catchUp(accepted, subscriber.pack, request.data.since))
    if (ctx.id === undefined && rejected.length > 0) {
      client.send(ERROR_MESSAGE, wrong(`not in this match: ${rejected.map((r) => r.instrumentId).join(', ')}`))
    }
    return { instrumentIds: accepted, rejected }
  }

  #unsubscribe(client: MatchClient, payload: unknown, ctx: MessageContext): unknown {
    const request = Unfollow.safeParse(payload)
    if (!request.success) return refuse(client, ctx, request.error)
    const ids = new Set(request.data.instrumentIds.map((text) => instrumentId(text.toLowerCase())))
    this.#surroundings.fanOut.unfollow(this.#guestOf(client).subscriber, ids)
    for (const id of ids) follows(client).delete(id)
    return { instrumentIds: [...ids] }
  }

  /** Until the connection ends; whoever comes back asks anew, with the last marker he has got. */
  #listen(client: MatchClient, payload: unknown, ctx: MessageContext): unknown {
    const request = ListenToAccount.safeParse(payload ?? {})
    if (!request.success) return refuse(client, ctx, request.error)
    const { account, world } = this.#surroundings
    const guest = this.#guestOf(client)
    const { subscriber } = guest
    if (world.now() < guest.accountAskedAt + SECOND_MS) return ctx.reject({ code: 'busy', message: 'once a second' })
    guest.accountAskedAt = world.now()
    guest.stopListening()
    guest.stopListening = account.listen(
      {
        userId: present(client.auth, 'whose seat it is').userId,
        isReady: () => subscriber.isReady,
        tell: ({ body }) => client.send(ACCOUNT_MESSAGE, body),
        notify: ({ type, ...fields }) => client.send(type, fields),
      },
      request.data.since === undefined ? null : Number(request.data.since),
    )
    return {}
  }
}

const follows = (client: MatchClient): Set<InstrumentId> => present(client.userData, 'data of a joined client').follows

const wrong = (message: string) => ({ code: 'bad_message', message })

function refuse(client: MatchClient, ctx: MessageContext, error: z.ZodError): unknown {
  const answer = wrong(z.prettifyError(error))
  if (ctx.id === undefined) client.send(ERROR_MESSAGE, answer)
  return ctx.reject(answer)
}

/** The frame as Colyseus sends bytes, made once for all followers. */
const priceMessage = (frame: Buffer): Buffer =>
  asMessage(Buffer.from(getMessageBytes.raw(Protocol.ROOM_DATA_BYTES, PRICE_MESSAGE, undefined, frame)))
