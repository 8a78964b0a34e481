/**
 * Joins the room of a match with the Colyseus SDK:
 *
 *   node ops/examples/match-room.mjs [http://127.0.0.1:3000] [how many prices]
 *
 * The state arrives automatically. Prices arrive as messages for subscribed players. `account` messages report changes
 * to the user's own positions.
 */
import { Client } from '@colyseus/sdk'

const [base = 'http://127.0.0.1:3000', count = 'Infinity'] = process.argv.slice(2)

// 1. Sign in, and choose a match that is in play.
const signedIn = await fetch(`${base}/api/auth/dev`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ displayName: 'Example Room' }),
})
const headers = {
  cookie: signedIn.headers
    .getSetCookie()
    .map((set) => set.split(';')[0])
    .join('; '),
}
const { instruments } = await (await fetch(`${base}/api/instruments`, { headers })).json()
const { fixtureId: matchId } = instruments.find(({ tradingStatus }) => tradingStatus === 'OPEN')

// 2. Join its room. The token is good for a minute, so get it last.
const { token, wsUrl } = await (await fetch(`${base}/api/ws/token`, { method: 'POST', headers })).json()
const room = await new Client(`${wsUrl}/?token=${token}`).join('match', { matchId })

// 3. The synced state: the match, and every player in integers of millionths.
room.onStateChange.once((state) => {
  console.log(`${state.name}, ${state.phase}, ${state.instruments.size} players`)
})

// 4. Prices, in the same 93 bytes that the price feed sends; the price is at byte 40.
let left = Number(count)
room.onMessage('price', (bytes) => {
  if (left <= 0) return
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  console.log(`price ${(Number(view.getBigInt64(40)) / 1e6).toFixed(2)}`)
  if (--left === 0) void room.leave()
})
room.onMessage('account', ({ marker, events }) => console.log(`account at ${marker}, ${events.length} events`))
room.onMessage('notification', ({ notification }) => console.log(notification.title))
room.onMessage('error', ({ code, message }) => console.log(`${code}: ${message}`))
room.onMessage('shutdown', ({ reconnectInMs }) => console.log(`come back in ${reconnectInMs} ms`))

// 5. Subscribe.
const mine = instruments.filter(({ fixtureId }) => fixtureId === matchId).map(({ id }) => id)
const { instrumentIds, rejected } = await room.request('subscribe', { instrumentIds: mine })
console.log(`following ${instrumentIds.length}, rejected ${rejected.length}`)
room.send('account', {})
