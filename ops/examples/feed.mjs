/**
 * Follows the prices of one match with nothing but what browsers and Node 22 include:
 *
 *   npm exec -- node ops/examples/feed.mjs [http://127.0.0.1:3000] [how many prices]
 *
 * Takes a key from TOUCHLINE_KEY or signs in, gets a token, subscribes, decodes frames, and resumes after a disconnect.
 */
if (typeof WebSocket === 'undefined') throw new Error('this needs Node 22 or newer')
const [base = 'http://127.0.0.1:3000', count = 'Infinity'] = process.argv.slice(2)

// 1. Programs use a personal key, with the scope `read`. Without one we sign in by the development route.
const key = process.env.TOUCHLINE_KEY
const headers = key ? { authorization: `Bearer ${key}` } : { cookie: await signInAs('Example Feed') }

// 2. Choose what to follow.
const { instruments, error } = await (await fetch(`${base}/api/instruments`, { headers })).json()
if (error) throw new Error(error)
const open = instruments.filter(({ tradingStatus }) => tradingStatus === 'OPEN')
const followed = open.filter(({ fixtureId }) => fixtureId === open[0]?.fixtureId)
const names = new Map(followed.map(({ id, name }) => [id, name]))

// 3. Listen. `since` is the newest move we have: epoch and number, both of the match.
let since
let left = Number(count)
let failures = 0

async function listen() {
  // A token is good for a minute.
  const answer = await fetch(`${base}/api/ws/token`, { method: 'POST', headers })
  const { token, wsUrl, error: refusal } = await answer.json()
  if (answer.status === 401) return console.log(`closed: ${refusal}`)
  const socket = new WebSocket(`${wsUrl}/?token=${token}`, 'feed.v1')
  socket.binaryType = 'arraybuffer'
  let wait
  const subscribe = (instrumentIds, from) => {
    if (socket.readyState === 1) socket.send(JSON.stringify({ type: 'subscribe', id: 1, instrumentIds, since: from }))
  }
  socket.addEventListener('open', () => subscribe([...names.keys()], since))
  socket.addEventListener('message', ({ data }) => {
    failures = 0
    if (typeof data === 'string') {
      const message = JSON.parse(data)
      if (message.type === 'shutdown') wait = message.reconnectInMs
      // A match that moves to another process is busy for some seconds.
      const busy = message.rejected?.filter(({ code }) => code === 'busy').map(({ instrumentId }) => instrumentId) ?? []
      if (busy.length > 0) setTimeout(() => subscribe(busy), 1_000 + Math.random() * 1_000)
      return console.log(data)
    }
    const frame = decode(data)
    if (frame === null || left <= 0) return
    // Between snapshots the connection may break and leave some out: then all of them are needed again.
    since = frame.flags.includes('SNAPSHOT') ? undefined : { epoch: frame.epoch, seq: frame.seq }
    console.log(`${names.get(frame.instrumentId)} ${frame.price.toFixed(2)} ${frame.flags.join(' ')}`.trim())
    if (--left === 0) socket.close()
  })
  // 4. After a disconnect get a new token; `since` asks for what was missed. Only a token refused with 401 is the end.
  socket.addEventListener('close', () => {
    if (left > 0) setTimeout(again, wait ?? nextWait())
  })
}

// At a random moment, within a longer and longer time: thousands of others have lost the same server.
const nextWait = () => Math.random() * Math.min(15_000, 2_000 * 2 ** failures++)
// The server may be unavailable for longer than one attempt.
const again = () => listen().catch(() => setTimeout(again, nextWait()))
await again()

/** A price: 93 bytes, big-endian, quantities in millionths. Other messages are ignored. */
function decode(bytes) {
  const view = new DataView(bytes)
  if (bytes.byteLength !== 93 || view.getUint8(0) !== 1 || view.getUint8(1) !== 1) return null
  const flags = view.getUint16(2)
  const hex = [...new Uint8Array(bytes, 16, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return {
    flags: ['SNAPSHOT', 'REPLAY', 'CONFLATED', 'STALE', 'SUSPENDED', 'FINAL'].filter((_, bit) => flags & (1 << bit)),
    epoch: view.getUint32(4),
    seq: Number(view.getBigUint64(8)),
    instrumentId: hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'),
    price: Number(view.getBigInt64(40)) / 1e6,
  }
}

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
