/** The rooms of the fan-out benchmark: the match room, and its baselines, rooms of Colyseus with a `StateView`. */
import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Client, LocalDriver, LocalPresence, matchMaker, Room } from '@colyseus/core'
import { Encoder, StateView } from '@colyseus/schema'
import { WebSocketTransport } from '@colyseus/ws-transport'
import { assert, present } from '../../actors/kernel/assert.ts'
import { fixtureId, playerId, sessionId, userId } from '../../actors/kernel/ids.ts'
import { DEFAULT_RULES } from '../../actors/kernel/limits.ts'
import { instant, SECOND_MS } from '../../actors/kernel/world.ts'
import { DEFAULT_MODEL } from '../../actors/market/pricing.ts'
import { startRealTime } from '../../rooms/boot.ts'
import { MATCH_ROOM } from '../../rooms/match/match-room.ts'
import { InstrumentWire, MatchWire, PRICE_MESSAGE } from '../../rooms/match/match-wire.ts'
import { systemWorld } from '../../src/system-world.ts'
import { player, snapshot } from '../../test/support/fixtures.ts'
import { MemoryMatchStore } from '../../test/support/memory-store.ts'
import { frameOf, idOf, listen, type Publisher, type ServerOrder, sharedNow } from './fanout-market.ts'

/** Of play: before the first tick, and between two. */
const [BEGUN_SECS, PLAYED_SECS] = [600, 5]
const MICROS_PER_MS = 1_000
/** As often as the match room does. */
const PATCH_MS = 500

// The views of 5,000 clients need 1 MB. Every encoder would grow to it while clients join, 16 kB at a time.
Encoder.BUFFER_SIZE = 2 * 1_024 * 1_024

/**
 * The product: the room of one match, whose actor reads each tick as an update of the provider, prices and commits it.
 * That work counts, and its baseline does without.
 */
export async function startMatchRoom({ matches, instruments, port }: ServerOrder): Promise<Publisher> {
  assert(matches === 1, 'one match')
  const world = systemWorld(sharedNow)
  const store = new MemoryMatchStore()
  const server = createServer()
  const realTime = await startRealTime({
    server,
    verify: async (token) => ({ userId: userId(token), sessionId: sessionId(token) }),
    doorLimits: { admitsAddress: async () => true, admitsUser: async () => true },
    directory: { matchOfInstrument: async () => null, matchOfPosition: async () => null },
    ownership: store,
    cluster: null,
    runsMatches: true,
    publicAddress: null,
    readAccounts: async (asked) => asked.map(() => null),
    limits: { connectionsMax: 30_000, perUserMax: 30_000 },
    store,
    quarantine: (matchId, reason) => store.quarantine(matchId, reason),
    leases: store,
    leaseTtlMs: 30_000,
    world,
    rules: () => DEFAULT_RULES,
    model: () => DEFAULT_MODEL,
    rulesWith: () => null,
    report: (event, error) => void process.stderr.write(`${event}: ${String(error)}\n`),
    warn: (event, facts) => void process.stderr.write(`${event}: ${JSON.stringify(facts)}\n`),
    replay: { parse: () => null, enrol: async () => [] },
    provider: null,
  })
  answer(server, (request) => realTime.matchmake(request))
  const startsAt = instant(world.now() - BEGUN_SECS * SECOND_MS)
  const players = Array.from({ length: instruments }, (_, n) =>
    player(n + 1, { playerId: playerId(n + 1), instrumentId: idOf(0, n) }),
  )
  let seq = 0
  const play = (): Promise<unknown> => {
    const elapsedSecs = BEGUN_SECS + ++seq * PLAYED_SECS
    const half = { id: 1, kind: 'first_half', order: 1, countsFrom: 0, length: 45, elapsedSecs, ticking: true } as const
    const update = snapshot({ fixtureId: MATCH, startsAt, players, periods: [half], sourceAt: world.now() })
    return realTime.desk.feed({ kind: 'feed_update', seq, snapshot: update }, { replay: false })
  }
  await play()
  return { port: await listen(server, port), publish: () => void play() }
}

const MATCH = fixtureId(1)

class ViewRoom extends Room<{ state: MatchWire }> {
  override state = new MatchWire()
  override autoDispose = false
  /** Of each instrument, if prices are also sent as messages. */
  readonly followers = new Map<string, Client[]>()
  readonly current = new Map<string, Buffer>()
  override messages = {
    subscribe: (client: Client, { instrumentIds }: { readonly instrumentIds: readonly string[] }) => {
      client.view ??= new StateView()
      for (const id of instrumentIds) {
        client.view.add(present(this.state.instruments.get(id), 'instrument'))
        this.followers.get(id)?.push(client)
        const current = this.current.get(id)
        if (current !== undefined) client.sendBytes(PRICE_MESSAGE, current)
      }
    },
  }
}

/**
 * The least that Colyseus does for the same clients: the same state, of which each sees by `StateView` what it follows,
 * patched at the rate that Colyseus chooses. Prices are of the same size; each is the time at which it was made.
 */
export async function startStateView({ instruments, port }: ServerOrder): Promise<Publisher> {
  const { wires, server } = await openViewRoom(instruments)
  return { port: await listen(server, port), publish: (_match, moved) => change(wires, moved) }
}

/** What Colyseus does for clients that get what those of the match room get: also each price as a message, at once. */
export async function startStateViewAndMessages({ instruments, port }: ServerOrder): Promise<Publisher> {
  const { room, wires, server } = await openViewRoom(instruments)
  room.patchRate = PATCH_MS
  for (const id of room.state.instruments.keys()) room.followers.set(id, [])
  const send = (moved: readonly number[]): void => {
    // All of a tick is decided before any of it is written, as in a match.
    const prices = moved.map((n) => ({ id: idOf(0, n), frame: frameOf(0, n).frame }))
    for (const { id, frame } of prices) {
      room.current.set(id, frame)
      for (const client of room.followers.get(id) ?? []) client.sendBytes(PRICE_MESSAGE, frame)
    }
  }
  send([...wires.keys()])
  return {
    port: await listen(server, port),
    publish: (_match, moved) => {
      change(wires, moved)
      send(moved)
    },
  }
}

async function openViewRoom(instruments: number) {
  matchMaker.setHealthChecksEnabled(false)
  await matchMaker.setup(new LocalPresence(), new LocalDriver(), undefined, async () => matchMaker.processId)
  await matchMaker.accept()
  matchMaker.defineRoomType(MATCH_ROOM, ViewRoom)
  const { roomId } = await matchMaker.createRoom(MATCH_ROOM, {})
  const room = matchMaker.getLocalRoomById(roomId)
  assert(room instanceof ViewRoom, 'the room is here')
  const wires = Array.from({ length: instruments }, (_, n) => {
    const wire = new InstrumentWire()
    Object.assign(wire, { price: 0, base: 0, imbalance: 0, trading: 'OPEN' })
    room.state.instruments.set(idOf(0, n), wire)
    return wire
  })
  const server = createServer()
  new WebSocketTransport({ noServer: true, pingInterval: 0 }).attachToServer(server)
  answer(server, async () => Response.json(await matchMaker.joinById(roomId, {})))
  return { room, wires, server }
}

function change(wires: readonly InstrumentWire[], moved: readonly number[]): void {
  for (const n of moved) {
    const wire = present(wires[n], 'instrument')
    wire.price = Math.round(sharedNow() * MICROS_PER_MS)
    wire.base = wire.price - 1
  }
}

/** Requests for seats. */
function answer(server: Server, handler: (request: Request) => Promise<Response>): void {
  const listener = getRequestListener(handler)
  server.on('request', (request, response) => void listener(request, response))
}
