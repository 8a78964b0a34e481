/** A process full of hostile clients that all attack in the same way. It reports how their connections ended. */
import { createECDH } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { z } from 'zod'
import { newKeySecret } from '../../../src/auth/key-secret.ts'
import { systemWorld } from '../../../src/system-world.ts'
import { fromAnywhere, fromOne, type Headers } from './addresses.ts'
import { type AttackOrder, FLOODS } from './attacks.ts'
import { listen } from '../conformance/listen.ts'
import { Rest } from './rest.ts'

const Ticket = z.looseObject({ token: z.string(), wsUrl: z.string() })
const Seat = z.looseObject({ processId: z.string(), roomId: z.string(), sessionId: z.string() })
const Players = z.object({ instruments: z.array(z.looseObject({ id: z.string(), currentPrice: z.number() })) })
type Player = z.output<typeof Players>['instruments'][number]
const [LEAST_LOTS, MOST_LOTS] = [0.01, 100]
const TEN_MIB = Buffer.alloc(10 * 1024 * 1024, 'x')

/** 64 KiB of a body without a declared length. */
const CHUNK = `10000\r\n${'x'.repeat(65_536)}\r\n`

/** Masking ten megabytes would load the attackers' processor more than the server's, and they share one machine. */
const noMask = (mask: Buffer): void => void mask.fill(0)

const world = systemWorld()
const ends = new Map<string, number>()
const end = (how: string): void => void ends.set(how, (ends.get(how) ?? 0) + 1)
let isOver = false
/** The connections of a flood. */
let http: Rest | undefined

type SocketTicket = z.output<typeof Ticket>
/** These attacks need an address, and no valid token. */
const WITHOUT_TOKEN: ReadonlySet<string> = new Set(['seats, no user', 'probes', 'keys, made up', 'handshakes, refused'])
const ON_HTTP = ['tapes, HEAD', 'tapes, unread', 'uploads, no user', 'sign-ins, slow', 'push, hanging'] as const
type HttpAttack = (typeof ON_HTTP)[number]
const isOnHttp = (attack: AttackOrder['attack']): attack is HttpAttack => ON_HTTP.some((each) => each === attack)

/** A match may have no tape yet: the answer is then a 404, which costs the server a look. */
const tapeOf = (fixtureId: number): string => `/api/public/tape/${fixtureId}`
let kept: Promise<SocketTicket> | undefined
let player: { readonly at: number; readonly found: Promise<Player> } | undefined

class Attacker {
  readonly #order: AttackOrder
  readonly #rest: Rest
  readonly #token: string

  constructor(order: AttackOrder, rest: Rest, n: number) {
    this.#order = order
    this.#rest = rest
    const isOneUser = order.attack in FLOODS && order.attack !== 'seats, not taken'
    this.#token = order.tokens[isOneUser ? 0 : n % order.tokens.length] ?? ''
  }

  /** Attacks repeatedly until the run is over. */
  async attack(): Promise<void> {
    while (!isOver) {
      await this.#once().catch((error: unknown) => end(String(error).slice(0, 60)))
      if (!(this.#order.attack in FLOODS)) await pause(20)
    }
  }

  async #once(): Promise<void> {
    const { attack, instrumentIds, fixtureId } = this.#order
    if (attack === 'orders, one player') return this.#orders(LEAST_LOTS)
    if (attack === 'orders, unpayable') return this.#orders(MOST_LOTS)
    if (isOnHttp(attack)) return this.#onHttp(attack)
    const { token, wsUrl } = await this.#ticket()
    const address = `${wsUrl}/?token=${token}`
    const subscribe = JSON.stringify({ type: 'subscribe', instrumentIds })
    switch (attack) {
      case 'never read':
        return this.#open(address, (ws) => {
          ws.send(subscribe)
          ws.pause()
        })
      case 'half-open':
        return raw(address, async (socket) => {
          socket.write(`${upgradeOf(address)}\r\n`)
          socket.resume() // to notice a closed connection; the server never answers
          while (!isOver && !socket.destroyed) await pause(50)
        })
      case 'a byte a second':
        return raw(address, async (socket) => {
          socket.write(`${upgradeOf(address)}\r\n`)
          socket.write(masked(subscribe))
          for (; !isOver && !socket.destroyed; await pause(1_000)) socket.read(1)
        })
      case 'no acknowledgement': {
        const seats = new Rest(httpOf(wsUrl), 1, fromAnywhere)
        const { status, body } = await seats.ask({ method: 'POST', path: seatPath(fixtureId, token), body: {} })
        seats.close()
        if (status !== 200) return end(`seat ${status}`)
        const seat = Seat.parse(body)
        return this.#open(`${wsUrl}/${seat.processId}/${seat.roomId}?sessionId=${seat.sessionId}`, () => undefined)
      }
      case 'a thousand requests':
        return this.#flood(address, (ws) => ws.send(subscribe))
      case 'pings':
        return this.#flood(address, (ws) => {
          ws.pause()
          ws.ping(TEN_MIB.subarray(0, 125))
        })
      case 'unknown players':
        return this.#flood(
          address,
          (ws) =>
            ws.send(
              JSON.stringify({
                type: 'subscribe',
                instrumentIds: Array.from({ length: 400 }, () => crypto.randomUUID()),
              }),
            ),
          110,
        )
      case 'ten megabytes':
        return this.#open(address, (ws) => ws.send(TEN_MIB))
      case 'garbage':
        return raw(address, async (socket) => {
          socket.write(`${upgradeOf(address)}\r\n`)
          const noise = crypto.getRandomValues(new Uint8Array(4_096))
          for (; !isOver && !socket.destroyed; await pause(5)) socket.write(noise)
        })
      case 'false tokens': {
        const tokens = [this.#token, `${token.slice(0, -3)}abc`, 'made up', '']
        for (const each of tokens) await this.#open(`${wsUrl}/?token=${each}`, () => undefined)
        return
      }
      case 'seats, one user':
        return this.#asks(wsUrl, seatPath(1 + Math.floor(Math.random() * 1e9), token), fromAnywhere)
      case 'seats, no user':
        return this.#asks(wsUrl, seatPath(fixtureId, ''), fromOne)
      case 'seats, not taken':
        return this.#asks(wsUrl, seatPath(fixtureId, token), fromAnywhere)
      case 'probes':
        return this.#asks(wsUrl, '/ready', fromOne, 'GET')
      case 'keys, made up':
        return this.#asks(this.#order.url, '/api/wallet', fromOne, 'GET', newKeySecret(world))
      case 'handshakes, one user':
        return this.#open(address, () => undefined)
      case 'handshakes, refused':
        return this.#open(`${wsUrl}/?token=${token.slice(0, -3)}abc`, () => undefined)
      case 'slow handshake':
        return raw(address, async (socket) => {
          socket.resume()
          for (const byte of upgradeOf(address)) {
            if (isOver || socket.destroyed) return
            socket.write(byte)
            await pause(1_000)
          }
        })
    }
  }

  /** A token opens one socket, so that each attempt needs its own. */
  #ticket(): Promise<SocketTicket> {
    if (!WITHOUT_TOKEN.has(this.#order.attack)) return this.#issued()
    kept ??= this.#issued()
    kept.catch(() => (kept = undefined))
    return kept
  }

  async #issued(): Promise<SocketTicket> {
    const { status, body } = await this.#rest.ask({ method: 'POST', path: '/api/ws/token', token: this.#token })
    if (status !== 200) throw new Error(`ticket ${status}`)
    return Ticket.parse(body)
  }

  #onHttp(attack: HttpAttack): Promise<void> {
    const { url, fixtureId } = this.#order
    const json = 'Content-Type: application/json'
    switch (attack) {
      case 'tapes, HEAD':
        return this.#asks(url, tapeOf(fixtureId), fromAnywhere, 'HEAD')
      case 'tapes, unread':
        return this.#sendSlowly(attack, [
          `GET ${Math.random() < 0.5 ? tapeOf(fixtureId) : '/api/openapi.json'} HTTP/1.1`,
        ])
      case 'uploads, no user':
        return this.#sendSlowly(attack, ['POST /api/admin/uploads?name=x HTTP/1.1', 'Transfer-Encoding: chunked'])
      case 'sign-ins, slow':
        return this.#sendSlowly(attack, ['POST /api/auth/google HTTP/1.1', 'Content-Length: 500', json])
      case 'push, hanging':
        return this.#hangingPush()
    }
  }

  /** A request that is never completed, or whose answer is never read. */
  async #sendSlowly(attack: HttpAttack, head: readonly string[]): Promise<void> {
    const { url } = this.#order
    const from = `X-Forwarded-For: ${fromAnywhere()['x-forwarded-for']}`
    await raw(url, async (socket) => {
      socket.write(`${[...head, 'Host: here', from].join('\r\n')}\r\n\r\n`)
      const isUpload = attack === 'uploads, no user'
      if (attack !== 'tapes, unread') socket.resume() // to notice a closed connection
      for (; !isOver && !socket.destroyed; await pause(isUpload ? 50 : 1_000)) {
        if (isUpload) socket.write(CHUNK)
        else if (attack === 'sign-ins, slow') socket.write('{')
      }
    })
  }

  /** A browser of this account whose push service hangs; its messages come from the positions that fall. */
  async #hangingPush(): Promise<void> {
    tarpit ??= openTarpit()
    const pair = createECDH('prime256v1')
    const keys = { p256dh: pair.generateKeys('base64url'), auth: 'BTBZMqHH6r4Tts7J_aSIgg' }
    const endpoint = `http://127.0.0.1:${await tarpit}/${crypto.randomUUID()}`
    const body = { endpoint, keys, kinds: ['stop', 'washout', 'warning', 'settlement'] }
    const { status } = await this.#rest.ask({ method: 'PUT', path: '/api/push', token: this.#token, body })
    end(`registered ${status}`)
    const { id, currentPrice } = await this.#firstPlayer()
    const order = { instrumentId: id, direction: 'long', lotSize: 0.01, clientPrice: currentPrice }
    const close = { ...order, stopLoss: Math.round(currentPrice * 99_900) / 100_000 }
    await this.#rest.ask({ method: 'POST', path: '/api/positions/open', token: this.#token, body: close })
  }

  /** One order of the first player, by any of the accounts. */
  async #orders(lotSize: number): Promise<void> {
    const { url, tokens } = this.#order
    const token = tokens[Math.floor(Math.random() * tokens.length)] ?? ''
    const { id, currentPrice } = await this.#firstPlayer()
    http ??= new Rest(url, FLOODS[this.#order.attack] ?? 1, fromAnywhere)
    const body = { instrumentId: id, direction: 'long', lotSize, clientPrice: currentPrice }
    const key = crypto.randomUUID()
    const { status } = await http.ask({ method: 'POST', path: '/api/positions/open', token, body, key })
    end(`answered ${status}`)
  }

  /** As of the last second. */
  async #firstPlayer(): Promise<Player> {
    const now = Date.now()
    if (player === undefined || now - player.at > 1_000) player = { at: now, found: this.#lookForPlayer() }
    return player.found
  }

  async #lookForPlayer(): Promise<Player> {
    const { body } = await this.#rest.ask({ method: 'GET', path: '/api/instruments', token: this.#token })
    const wanted = Players.parse(body).instruments.find(({ id }) => id === this.#order.instrumentIds[0])
    if (wanted === undefined) throw new Error('the player is gone')
    return wanted
  }

  /** One request to the WebSocket address. */
  async #asks(
    url: string,
    path: string,
    origin: () => Headers,
    method: 'GET' | 'HEAD' | 'POST' = 'POST',
    key?: string,
  ): Promise<void> {
    http ??= new Rest(httpOf(url), FLOODS[this.#order.attack] ?? 1, origin)
    const credentials = key === undefined ? {} : { token: key }
    const { status } = await http.ask({ method, path, ...credentials, ...(method === 'POST' ? { body: {} } : {}) })
    end(`answered ${status}`)
  }

  /** Resolves when the server closes the connection or the run is over. */
  #open(address: string, onOpen: (ws: WebSocket) => void): Promise<void> {
    const headers = fromAnywhere()
    const ws = new WebSocket(address, 'feed.v1', { perMessageDeflate: false, generateMask: noMask, headers })
    return new Promise((resolve) => {
      const late = setInterval(() => {
        if (!isOver) return
        clearInterval(late)
        end('still there')
        ws.terminate()
      }, 50)
      ws.on('open', () => onOpen(ws))
      ws.on('unexpected-response', (_request, response) => {
        end(`refused ${response.statusCode}`)
        ws.terminate()
      })
      ws.on('error', () => undefined)
      ws.on('close', (code) => {
        clearInterval(late)
        if (!isOver && code !== 1006) end(`closed ${code}`)
        resolve()
      })
    })
  }

  /** Sends the same message repeatedly, a thousand times a second by default. */
  #flood(address: string, once: (ws: WebSocket) => void, everyMs = 1): Promise<void> {
    let flood: NodeJS.Timeout | undefined
    return this.#open(address, (ws) => {
      flood = setInterval(() => {
        if (ws.readyState === WebSocket.OPEN) once(ws)
        else clearInterval(flood)
      }, everyMs)
    }).finally(() => clearInterval(flood))
  }
}

let tarpit: Promise<number> | undefined

/** A port that accepts every connection and never answers. */
function openTarpit(): Promise<number> {
  return listen(createServer((socket) => void socket.on('error', () => undefined)).unref(), 0)
}

/** A connection without a WebSocket library at this end. Resolves when it is closed or the run is over. */
async function raw(address: string, use: (socket: Socket) => Promise<void>): Promise<void> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  socket.pause()
  socket.on('error', () => undefined)
  const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('cut')))
  await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
  await use(socket)
  end(socket.destroyed ? await closed : 'still there')
  socket.destroy()
}

function upgradeOf(address: string): string {
  const { pathname, search, host } = new URL(address)
  return [
    `GET ${pathname}${search} HTTP/1.1`,
    `Host: ${host}`,
    `X-Forwarded-For: ${fromAnywhere()['x-forwarded-for']}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '',
  ].join('\r\n')
}

const httpOf = (wsUrl: string): string => wsUrl.replace(/^ws/, 'http')
const seatPath = (match: number, token: string): string => `/matchmake/joinById/match-${match}?token=${token}`

/** A text message as clients send it, masked with zeros. */
function masked(text: string): Buffer {
  const head = Buffer.from([0x81, 0x80 | 126, 0, 0, 0, 0, 0, 0])
  head.writeUInt16BE(Buffer.byteLength(text), 2)
  return Buffer.concat([head, Buffer.from(text)])
}

process.once('disconnect', () => process.exit())
process.on('message', (message) => {
  if (message === 'over') {
    isOver = true
    setTimeout(() => process.send?.(Object.fromEntries(ends)), 1_200)
    return
  }
  const order = message as AttackOrder
  const rest = new Rest(order.url, 8, fromAnywhere)
  for (let n = 0; n < (FLOODS[order.attack] ?? order.attackers); n++) void new Attacker(order, rest, n).attack()
})
