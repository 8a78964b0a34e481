/**
 * Founds a private league for a day, trades once with its money, and shows its table and the link to share:
 *
 *   TOUCHLINE_KEY=tl_… npm exec -- node ops/examples/league.mjs [http://127.0.0.1:3000] [name]
 *
 * Create the key on the account page; it needs the scope `trade`. With a code in place of the name it joins a league.
 */
const [base = 'http://127.0.0.1:3000', name = 'Friends'] = process.argv.slice(2)
const headers = { authorization: `Bearer ${process.env.TOUCHLINE_KEY}`, 'content-type': 'application/json' }
const ask = async (path, body) => {
  const response = await fetch(
    base + path,
    body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
  )
  const answer = await response.json()
  if (!response.ok) throw new Error(`${path}: ${answer.error}`)
  return answer
}

const { instruments } = await ask('/api/instruments')
const player = instruments.find(({ tradingStatus }) => tradingStatus === 'OPEN')
if (player === undefined) throw new Error('no player can be traded now')
const match = await ask(`/api/matches/${player.fixtureId}`)

const endsAt = new Date(Date.now() + 86_400_000).toISOString()
const league = /^[0-9a-f]{12}$/.test(name)
  ? await ask('/api/leagues/join', { code: name })
  : await ask('/api/leagues', { name, endsAt, matches: match.purse === 'main' ? 'all' : 'practice' })
console.log(`${league.name}: join with ${league.code} or at ${new URL(league.url, base)}`)

// In a league one trades at the price that the match makes, and moves nothing.
const order = { instrumentId: player.id, direction: 'long', lotSize: 1, clientPrice: player.live_base_price }
const { position, wallet } = await ask('/api/positions/open', { ...order, purse: league.id })
console.log(`long ${player.name} at ${position.openPrice}; ${wallet.balance} left`)

const { entries } = await ask(`/api/leagues/${league.id}`)
for (const { rank, username, value, gainPct } of entries) console.log(`${rank} ${username} ${value} (${gainPct} %)`)
