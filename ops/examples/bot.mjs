/**
 * A bot with a personal key. It buys a player who has just risen by 1 %, with a stop-loss, and nothing else:
 *
 *   TOUCHLINE_KEY=tl_… npm exec -- node ops/examples/bot.mjs [http://127.0.0.1:3000] [how many orders]
 *
 * Create the key on the account page; it needs the scope `trade`. The account is marked as a bot from its first order.
 */
const [base = 'http://127.0.0.1:3000', count = 'Infinity'] = process.argv.slice(2)
const headers = { authorization: `Bearer ${process.env.TOUCHLINE_KEY}`, 'content-type': 'application/json' }
const ask = async (path, body) => {
  const response = await fetch(
    base + path,
    body
      ? { method: 'POST', headers: { ...headers, 'idempotency-key': crypto.randomUUID() }, body: JSON.stringify(body) }
      : { headers },
  )
  if (response.status === 401 || response.status === 403) throw new Error((await response.json()).error)
  if (response.status === 429) await sleep(1_000 * Number(response.headers.get('retry-after')))
  return response.json()
}
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const before = new Map()
for (let left = Number(count); left > 0; await sleep(1_000)) {
  const { instruments = [] } = await ask('/api/instruments')
  for (const { id, name, currentPrice, tradingStatus } of instruments) {
    const hasRisen = currentPrice > 1.01 * (before.get(id) ?? currentPrice)
    before.set(id, currentPrice)
    if (!hasRisen || tradingStatus !== 'OPEN' || left <= 0) continue
    const order = { instrumentId: id, direction: 'long', lotSize: 0.1, clientPrice: currentPrice }
    const { position, error } = await ask('/api/positions/open', {
      ...order,
      stopLoss: Math.round(currentPrice * 95) / 100,
    })
    console.log(position ? `long ${name} at ${position.openPrice}` : `${name}: ${error}`)
    left--
  }
}
