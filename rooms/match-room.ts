/** The Colyseus room of one match: lives as long as the match is hosted here, and shows it to SDK clients. */
import { type Client, CloseCode, getMessageBytes, type MessageContext, Protocol } from '@colyseus/core'
import { z } from 'zod'
import { present } from '../actors/kernel/assert.ts'
import { type FixtureId, type InstrumentId, instrumentId, type UserId } from '../actors/kernel/ids.ts'
import { MINUTE_MS } from '../actors/kernel/world.ts'
import type { MatchActor } from '../actors/match/actor.ts'
import type { MatchRecord } from '../actors/match/store.ts'
import { INSTRUMENTS_PER_SOCKET_MAX, type Rejection } from './feed-protocol.ts'
import { MatchHost, type MatchSurroundings } from './match-host.ts'
import { ERROR_MESSAGE, MatchWire, PRICE_MESSAGE } from './match-wire.ts'
import type { PublishedPrice } from './price-board.ts'
import { asSnapshot } from './price-frame.ts'
import { project } from './projection.ts'
import { SafeRoom } from './safe-room.ts'

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
const CLOSE_RESTART = 1012
/** A settled match that nobody watches is let go of after this long. */
const AFTERGLOW_MS = MINUTE_MS

/** A match that runs in this process. */
export interface HostedMatch {
  readonly actor: MatchActor
  /** Set once it is on its way out: resolves when another incarnation may start. */
  readonly leaving: Promise<void> | null
  /** Lets go of it: the actor finishes what it has, the lease goes back, clients are told to come back. */
  retire(): Promise<void>
  disconnectUser(userId: UserId, code: number): void
}

export interface MatchRoomOptions {
  readonly surroundings: MatchSurroundings
  /** Where the room can be found while it lives. */
  readonly hosted: Map<FixtureId, HostedMatch>
  readonly record: MatchRecord
  readonly epoch: number
  /** The match has stopped by itself, though it is still ours to run; the room is gone. */
  readonly onFallen: () => void
}

type MatchClient = Client<{ auth: { userId: UserId }; userData: { readonly follows: Set<InstrumentId> } }>

const Instruments = z.object({ instrumentIds: z.array(z.string().max(64)).min(1).max(INSTRUMENTS_PER_SOCKET_MAX) })

export class MatchRoom extends SafeRoom<{ state: MatchWire; client: MatchClient }> implements HostedMatch {
  override state = new MatchWire()
  override patchRate = PATCH_MS
  override messages = {
    subscribe: (client: MatchClient, payload: unknown, ctx: MessageContext) => this.#subscribe(client, payload, ctx),
    unsubscribe: (client: MatchClient, payload: unknown, ctx: MessageContext) =>
      this.#unsubscribe(client, payload, ctx),
    _: (client: MatchClient, type: unknown) => client.send(ERROR_MESSAGE, wrong(`no such message: ${String(type)}`)),
  }
  #options: MatchRoomOptions | null = null
  #host: MatchHost | null = null
  #leaving: Promise<void> | null = null
  readonly #followers = new Map<InstrumentId, Set<MatchClient>>()

  get actor(): MatchActor {
    return this.#hosting.actor
  }

  get leaving(): Promise<void> | null {
    return this.#leaving
  }

  override onCreate(options: MatchRoomOptions): void {
    this.#options = options
    const { surroundings, hosted, record, epoch, onFallen } = options
    this.roomId = matchRoomId(record.info.matchId)
    this.#host = new MatchHost({
      surroundings,
      record,
      epoch,
      onPrices: (prices) => this.#publish(prices),
      onStopped: (reason, error) => {
        if (reason !== 'fenced') surroundings.report(`room ${this.roomId}: the actor stopped (${reason})`, error)
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
    client.userData = { follows: new Set() }
    this.expectArrival(client)
  }

  override onDrop(client: MatchClient, code?: number): void {
    this.#letGo(client)
    if (!BROKEN.has(code)) return
    const back = this.allowReconnection(client, RECONNECT_SECS)
    back.catch(() => undefined) // he did not come back: `onLeave` follows
  }

  /** The returning client is a new object; sending to the old one would vanish silently. */
  override onReconnect(client: MatchClient): void {
    this.expectArrival(client)
    for (const id of follows(client)) this.#followersOf(id).add(client)
  }

  override onLeave(client: MatchClient): void {
    this.#letGo(client)
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
    this.#leaving ??= this.disconnect(CLOSE_RESTART).then(() => undefined)
    return this.#leaving
  }

  disconnectUser(userId: UserId, code: number): void {
    for (const client of this.clients) if (client.auth?.userId === userId) client.leave(code, 'signed out')
  }

  protected override report(where: string, error: unknown): void {
    this.#options?.surroundings.report(where, error)
  }

  get #hosting(): MatchHost {
    return present(this.#host, 'host of the room')
  }

  #tick(): void {
    this.#hosting.tick()
    this.#show()
    const { settledAt } = this.actor.view.info
    const { world } = present(this.#options, 'options of the room').surroundings
    if (settledAt !== null && this.clients.length === 0 && world.now() - settledAt > AFTERGLOW_MS) void this.retire()
  }

  async #renew(): Promise<void> {
    if (!(await this.#hosting.renew())) await this.retire()
  }

  #show(): void {
    const { actor } = this.#hosting
    const { rules } = present(this.#options, 'options of the room').surroundings
    const window = actor.window.bind(actor)
    project({ view: actor.view, impactCapPpm: rules().impactCapPpm, window }, this.state)
  }

  #publish(prices: readonly PublishedPrice[]): void {
    this.#show()
    for (const price of prices) {
      const followers = this.#followers.get(price.instrumentId)
      if (followers === undefined) continue
      const message = priceMessage(price.frame)
      for (const client of followers) client.enqueueRaw(message)
    }
  }

  /** Answers a request with what was accepted; a plain message hears of trouble only. The current prices follow at once. */
  #subscribe(client: MatchClient, payload: unknown, ctx: MessageContext): unknown {
    const request = Instruments.safeParse(payload)
    if (!request.success) return refuse(client, ctx, request.error)
    const accepted: string[] = []
    const rejected: Rejection[] = []
    for (const id of new Set(request.data.instrumentIds.map((text) => instrumentId(text.toLowerCase())))) {
      const price = this.#hosting.price(id)
      if (price === undefined) {
        rejected.push({ instrumentId: id, code: 'not_found' })
        continue
      }
      follows(client).add(id)
      this.#followersOf(id).add(client)
      accepted.push(id)
      client.enqueueRaw(priceMessage(asSnapshot(price.frame)))
    }
    if (ctx.id === undefined && rejected.length > 0) {
      client.send(ERROR_MESSAGE, wrong(`not in this match: ${rejected.map((r) => r.instrumentId).join(', ')}`))
    }
    return { instrumentIds: accepted, rejected }
  }

  #unsubscribe(client: MatchClient, payload: unknown, ctx: MessageContext): unknown {
    const request = Instruments.safeParse(payload)
    if (!request.success) return refuse(client, ctx, request.error)
    const ids = request.data.instrumentIds.map((text) => instrumentId(text.toLowerCase()))
    for (const id of ids) {
      follows(client).delete(id)
      this.#followers.get(id)?.delete(client)
    }
    return { instrumentIds: ids }
  }

  #followersOf(id: InstrumentId): Set<MatchClient> {
    let followers = this.#followers.get(id)
    if (followers === undefined) {
      followers = new Set()
      this.#followers.set(id, followers)
    }
    return followers
  }

  #letGo(client: MatchClient): void {
    for (const id of follows(client)) this.#followers.get(id)?.delete(client)
  }
}

const follows = (client: MatchClient): Set<InstrumentId> => present(client.userData, 'data of a joined client').follows

const wrong = (message: string) => ({ code: 'bad_message', message })

function refuse(client: MatchClient, ctx: MessageContext, error: z.ZodError): unknown {
  const answer = wrong(z.prettifyError(error))
  if (ctx.id === undefined) client.send(ERROR_MESSAGE, answer)
  return ctx.reject(answer)
}

/** The frame as Colyseus sends bytes, built once for all followers. */
const priceMessage = (frame: Buffer): Uint8Array =>
  getMessageBytes.raw(Protocol.ROOM_DATA_BYTES, PRICE_MESSAGE, undefined, frame)
