/**
 * Colyseus's own reconnection as a baseline: a room that keeps the seats of lost clients, gives them back by the
 * matchmaker's `reconnect`, and sends each who returns the whole state. Prices are broadcast as bytes.
 */
import { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Client, matchMaker, Room } from '@colyseus/core'
import { schema, type SchemaType, t } from '@colyseus/schema'
import { WebSocketClient } from '@colyseus/ws-transport'
import { OFFSET } from '../../rooms/feed/price-frame.ts'
import { openRoom } from './colyseus-room.ts'
import { idOf, listen } from './fanout-market.ts'
import type { StormOrder } from './storm-messages.ts'
import type { StormServer } from './storm-server.ts'

const Quote = schema({ price: t.int64(), base: t.int64(), imbalance: t.int64() }, 'Quote')
const Market = schema({ quotes: t.map(Quote) }, 'Market')
type Market = SchemaType<typeof Market>

/** How long a seat is kept: longer than any run. */
const SEAT_SECS = 600
const PRICE = 'price'

class MarketRoom extends Room<{ state: Market }> {
  override state = new Market()
  override autoDispose = false
  override patchRate = null
  override seatReservationTimeout = SEAT_SECS

  override onCreate({ instruments }: StormOrder): void {
    for (let n = 0; n < instruments; n++) this.state.quotes.set(idOf(0, n), new Quote())
  }

  override onDrop(client: Client): void {
    void Promise.resolve(this.allowReconnection(client, SEAT_SECS)).catch(() => undefined)
  }
}

/** In the order of their seats: that of their session ids. */
export async function startRoom(order: StormOrder): Promise<StormServer> {
  const server = createServer((request, response) => {
    void answerTo(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
  })
  const { room, roomId, path, sessions } = await openRoom(server, MarketRoom, { options: order, seats: order.clients })
  /** Reconnection tokens by session, noted when their clients are cut. */
  const kept = new Map<string, string>()
  return {
    port: await listen(server, 0),
    seats: { paths: sessions.map((sessionId) => `${path}?sessionId=${sessionId}`) },
    publish: (prices) => {
      for (const { instrumentId, frame } of prices) {
        const quote = room.state.quotes.get(instrumentId)
        if (quote !== undefined) quote.price = Number(frame.readBigInt64BE(OFFSET.price))
        room.broadcastBytes(PRICE, frame, {})
      }
    },
    cut: (staying) => {
      const stay = new Set(sessions.slice(0, staying))
      for (const client of room.clients) {
        if (stay.has(client.sessionId)) continue
        kept.set(client.sessionId, client.reconnectionToken)
        if (client instanceof WebSocketClient) client.ref.terminate()
      }
    },
    returning: () => {
      const tokenOf = (sessionId: string): string => kept.get(sessionId) ?? ''
      return {
        paths: sessions.map((id) => `${path}?sessionId=${id}&reconnectionToken=${tokenOf(id)}`),
        reservations: sessions.map((id) => ({
          path: `/matchmake/reconnect/${roomId}`,
          body: JSON.stringify({ reconnectionToken: tokenOf(id) }),
        })),
      }
    },
  }
}

/** `POST /matchmake/reconnect/:room`, as Colyseus's own route answers it. */
async function answerTo(request: IncomingMessage): Promise<{ readonly status: number; readonly body: string }> {
  try {
    const roomId = request.url?.split('/').at(-1) ?? ''
    const options: { reconnectionToken: string } = JSON.parse(await text(request))
    return { status: 200, body: JSON.stringify(await matchMaker.reconnect(roomId, options)) }
  } catch (error) {
    return { status: 409, body: JSON.stringify({ error: String(error) }) }
  }
}
