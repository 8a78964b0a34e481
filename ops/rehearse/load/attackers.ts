/** A process full of hostile clients that all attack in the same way. It reports how their connections ended. */
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { z } from 'zod'
import type { AttackOrder } from './attacks.ts'
import { Rest } from './rest.ts'

const Ticket = z.looseObject({ token: z.string(), wsUrl: z.string() })
const Seat = z.looseObject({ processId: z.string(), roomId: z.string(), sessionId: z.string() })
const TEN_MIB = Buffer.alloc(10 * 1024 * 1024, 'x')

/** Masking ten megabytes would load the attackers' processor more than the server's, and they share one machine. */
const noMask = (mask: Buffer): void => void mask.fill(0)

const ends = new Map<string, number>()
const end = (how: string): void => void ends.set(how, (ends.get(how) ?? 0) + 1)
let isOver = false

class Attacker {
  readonly #order: AttackOrder
  readonly #rest: Rest
  readonly #token: string

  constructor(order: AttackOrder, rest: Rest, n: number) {
    this.#order = order
    this.#rest = rest
    this.#token = order.tokens[n % order.tokens.length] ?? ''
  }

  /** Attacks repeatedly until the run is over. */
  async attack(): Promise<void> {
    while (!isOver) {
      await this.#once().catch((error: unknown) => end(String(error).slice(0, 60)))
      await pause(20)
    }
  }

  async #once(): Promise<void> {
    const { attack, instrumentIds, fixtureId } = this.#order
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
        const http = new Rest(wsUrl.replace(/^ws/, 'http'), 1)
        const path = `/matchmake/joinById/match-${fixtureId}?token=${token}`
        const { status, body } = await http.ask({ method: 'POST', path, body: {} })
        http.close()
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

  async #ticket(): Promise<z.output<typeof Ticket>> {
    const { status, body } = await this.#rest.ask({ method: 'POST', path: '/api/ws/token', token: this.#token })
    if (status !== 200) throw new Error(`ticket ${status}`)
    return Ticket.parse(body)
  }

  /** Resolves when the server closes the connection or the run is over. */
  #open(address: string, onOpen: (ws: WebSocket) => void): Promise<void> {
    const ws = new WebSocket(address, 'feed.v1', { perMessageDeflate: false, generateMask: noMask })
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
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '',
  ].join('\r\n')
}

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
  const rest = new Rest(order.url, 8)
  for (let n = 0; n < order.attackers; n++) void new Attacker(order, rest, n).attack()
})
