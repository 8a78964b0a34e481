/** The baseline of the fan-out: one Colyseus room that broadcasts bytes, or keeps a view of its state per client. */
import { createServer } from 'node:http'
import { type Client, Room } from '@colyseus/core'
import { schema, type SchemaType, StateView, t } from '@colyseus/schema'
import { present } from '../../actors/kernel/assert.ts'
import { openRoom } from './colyseus-room.ts'
import { frameOf, idOf, listen, type Publisher, type ServerOrder } from './fanout-market.ts'

const Quote = schema({ price: t.int64(), base: t.int64(), imbalance: t.int64() }, 'Quote')
type Quote = SchemaType<typeof Quote>
const Market = schema({ quotes: t.map(Quote).view() }, 'Market')
type Market = SchemaType<typeof Market>

/** The wire name of a message that carries a price. */
const PRICE = 'price'

class MarketRoom extends Room<{ state: Market }> {
  override state = new Market()
  override autoDispose = false
  override patchRate = null
  override seatReservationTimeout = 600
  order: ServerOrder | null = null
  #arrived = 0

  override onCreate(order: ServerOrder): void {
    this.order = order
    for (let n = 0; n < order.instruments; n++) this.state.quotes.set(idOf(0, n), new Quote())
  }

  override onJoin(client: Client): void {
    const { variant, instruments, follow } = present(this.order, 'order')
    const first = this.#arrived++
    if (variant !== 'view') return
    client.view = new StateView()
    for (let n = 0; n < follow; n++) client.view.add(this.quote((first + n) % instruments))
  }

  quote(n: number): Quote {
    return present(this.state.quotes.get(idOf(0, n)), 'quote')
  }
}

export async function startColyseus(order: ServerOrder): Promise<Publisher> {
  const server = createServer()
  const { room, path, sessions } = await openRoom(server, MarketRoom, { options: order, seats: order.sockets })
  const paths = sessions.map((sessionId) => `${path}?sessionId=${sessionId}`)
  let turn = 0
  return {
    listening: { port: await listen(server, order.port), paths },
    publish: (match, moved) => {
      if (order.variant === 'broadcast') {
        const frames = moved.map((n) => frameOf(match, n).frame)
        for (const frame of frames) room.broadcastBytes(PRICE, frame, {})
        return
      }
      turn++
      for (const n of moved) {
        const quote = room.quote(n)
        quote.price = 200_000_000 + turn
        quote.imbalance = turn
      }
      room.broadcastPatch()
    },
  }
}
