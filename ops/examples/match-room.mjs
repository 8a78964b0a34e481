/**
 * Joins the room of a match with the Colyseus SDK:
 *
 *   npm exec -- node ops/examples/match-room.mjs [http://127.0.0.1:3000] [how many prices]
 *
 * The state arrives automatically; of the players it shows those subscribed to. Prices arrive as messages for the same.
 * `account` messages report changes to the user's own positions. The SDK reconnects to the room by itself; after a
 * restart of the server we join again.
 */
import { Client } from '@colyseus/sdk'

const [base = 'http://127.0.0.1:3000', count = 'Infinity'] = process.argv.slice(2)

// 1. Programs use a personal key, with the scope `read`. Without one we sign in by the development route. Then choose
// a match that is in play.
const key = process.env.TOUCHLINE_KEY
const headers = key ? { authorization: `Bearer ${key}` } : { cookie: await signInAs('Example Room') }
const { instruments, error } = await (await fetch(`${base}/api/instruments`, { headers })).json()
if (error) throw new Error(error)
const { fixtureId: matchId } = instruments.find(({ tradingStatus }) => tradingStatus === 'OPEN') ?? {}
if (!matchId) throw new Error('No match is open for trading now. Start a replay, or try again after the next kick-off.')
const mine = instruments.filter(({ fixtureId }) => fixtureId === matchId).map(({ id }) => id)

let left = Number(count)
let failures = 0
let isJoined = false
/** Of the last account event that we have. */
let marker

async function join() {
  isJoined = false
  // 2. Join its room. The token is good for a minute, so get it last.
  const answer = await fetch(`${base}/api/ws/token`, { method: 'POST', headers })
  const { token, wsUrl, error: refusal } = await answer.json()
  if (answer.status === 401) return console.log(`closed: ${refusal}`)
  const room = await new Client(`${wsUrl}/?token=${token}`).join('match', { matchId })
  ;[failures, isJoined] = [0, true]
  // When a server loses everybody, all come back at once unless each waits for a random time.
  room.reconnection.backoff = (attempt, delay) => Math.random() * delay * 2 ** attempt

  // 3. The synced state: the match, and every subscribed player in integers of millionths.
  room.onStateChange.once((state) => {
    console.log(`${state.name}, ${state.phase}, minute ${state.minute}`)
  })

  // 4. Prices, in the same 93 bytes that the price feed sends; the price is at byte 40.
  room.onMessage('price', (bytes) => {
    if (left <= 0) return
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    console.log(`price ${(Number(view.getBigInt64(40)) / 1e6).toFixed(2)}`)
    if (--left === 0) void room.leave()
  })
  room.onMessage('account', (changes) => {
    marker = changes.marker
    console.log(`account at ${marker}, ${changes.events.length} events`)
  })
  room.onMessage('notification', ({ notification }) => console.log(notification.title))
  room.onMessage('error', ({ code, message }) => console.log(`${code}: ${message}`))

  // 5. Join again after a restart, which says when, or when the seat is lost. Only a token refused with 401 is the end.
  let wait
  room.onMessage('shutdown', ({ reconnectInMs }) => (wait = reconnectInMs))
  room.onLeave(() => {
    if (left > 0) setTimeout(again, wait ?? nextWait())
  })

  // 6. Subscribe. The SDK's reconnection keeps `subscribe` in force, but not `account`.
  const followAccount = () => room.send('account', marker === undefined ? {} : { since: marker })
  room.onReconnect(followAccount)
  followAccount()
  const { instrumentIds, rejected } = await room.request('subscribe', { instrumentIds: mine })
  console.log(`following ${instrumentIds.length}, rejected ${rejected.length}`)
}

const nextWait = () => Math.random() * Math.min(15_000, 2_000 * 2 ** failures++)
// Once the room is joined, `onLeave` says when it is over.
const again = () => join().catch(({ message }) => (isJoined ? console.log(message) : setTimeout(again, nextWait())))
await again()

/** The session is in two cookies; a browser keeps them automatically. Production has no such route. */
async function signInAs(displayName) {
  const signedIn = await fetch(`${base}/api/auth/dev`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ displayName }),
  })
  return signedIn.headers
    .getSetCookie()
    .map((set) => set.split(';')[0])
    .join('; ')
}
