/**
 * The quickstart at the head of the API page: a key, a first price, a first trade, and what to do on each refusal.
 * `npm run ops -- quickstart` runs its programs word for word.
 */
import { code, inline, table, text } from './docs-html.ts'

/** The address in the programs. The page shows its own instead. */
const BASE = 'http://127.0.0.1:3000'

const KEY_SH = `export TOUCHLINE_URL=${BASE}
curl -s -o /dev/null -c jar -H 'content-type: application/json' \\
  -d '{"displayName":"First Bot"}' $TOUCHLINE_URL/api/auth/dev
export TOUCHLINE_KEY=$(curl -s -b jar -H 'content-type: application/json' \\
  -d '{"name":"first bot","scopes":["trade"]}' $TOUCHLINE_URL/api/keys | sed 's/.*"secret":"\\([^"]*\\)".*/\\1/')
echo $TOUCHLINE_KEY
`
const KEY_OF_ACCOUNT_SH = `export TOUCHLINE_URL=${BASE}
export TOUCHLINE_KEY=tl_…      # from your account page
`
const PRICE_SH = `curl -s -H "authorization: Bearer $TOUCHLINE_KEY" $TOUCHLINE_URL/api/instruments
`
const PRICE_MJS = `const headers = { authorization: \`Bearer \${process.env.TOUCHLINE_KEY}\` }
const answer = await fetch(\`\${process.env.TOUCHLINE_URL}/api/instruments\`, { headers })
const { instruments, error } = await answer.json()
if (error) throw new Error(error)
const [player] = instruments.filter(({ tradingStatus }) => tradingStatus === 'OPEN')
console.log(player.name, player.currentPrice)
`
const PRICE_PY = `import json, os, urllib.request

headers = {'authorization': f"Bearer {os.environ['TOUCHLINE_KEY']}"}
request = urllib.request.Request(os.environ['TOUCHLINE_URL'] + '/api/instruments', headers=headers)
instruments = json.load(urllib.request.urlopen(request))['instruments']
player = next(one for one in instruments if one['tradingStatus'] == 'OPEN')
print(player['name'], player['currentPrice'])
`
const TRADE_SH = `curl -s -H "authorization: Bearer $TOUCHLINE_KEY" -H 'content-type: application/json' \\
  -H 'idempotency-key: my-first-order' $TOUCHLINE_URL/api/positions/open \\
  -d '{"instrumentId":"<id>","direction":"long","lotSize":0.1,"clientPrice":<currentPrice>}'
`
const TRADE_MJS = `/** The answer of the server, which may be a refusal. A request is repeated under one key: it happens once. */
async function ask(path, body) {
  const headers = {
    authorization: \`Bearer \${process.env.TOUCHLINE_KEY}\`,
    'content-type': 'application/json',
    'idempotency-key': crypto.randomUUID(),
  }
  const request = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
  for (;;) {
    const answer = await fetch(process.env.TOUCHLINE_URL + path, request)
    const wait = answer.headers.get('retry-after')
    if (wait === null) return answer.json()
    await new Promise((resolve) => setTimeout(resolve, 1_000 * wait))
  }
}

const { instruments } = await ask('/api/instruments')
for (const { id, name, currentPrice, tradingStatus } of instruments) {
  if (tradingStatus !== 'OPEN') continue
  const order = { instrumentId: id, direction: 'long', lotSize: 0.1, clientPrice: currentPrice }
  let answer = await ask('/api/positions/open', order)
  if (answer.code === 'PRICE_MOVED')
    answer = await ask('/api/positions/open', { ...order, clientPrice: answer.currentPrice })
  if (answer.code === 'MARKET_SUSPENDED') continue
  if (answer.code) throw new Error(\`\${answer.code}: \${answer.error}\`)
  console.log(\`long \${name} at \${answer.position.openPrice}, \${answer.wallet.balance} units left\`)
  break
}
`
const TRADE_PY = `import json, os, time, urllib.error, urllib.request, uuid

def ask(path, body=None):
    """The answer of the server, which may be a refusal. A request is repeated under one key: it happens once."""
    headers = {
        'authorization': f"Bearer {os.environ['TOUCHLINE_KEY']}",
        'content-type': 'application/json',
        'idempotency-key': str(uuid.uuid4()),
    }
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            answer = urllib.request.urlopen(urllib.request.Request(os.environ['TOUCHLINE_URL'] + path, data, headers))
        except urllib.error.HTTPError as refusal:
            answer = refusal
        if answer.headers['retry-after'] is None:
            return json.load(answer)
        time.sleep(int(answer.headers['retry-after']))

for player in ask('/api/instruments')['instruments']:
    if player['tradingStatus'] != 'OPEN':
        continue
    order = {'instrumentId': player['id'], 'direction': 'long', 'lotSize': 0.1, 'clientPrice': player['currentPrice']}
    answer = ask('/api/positions/open', order)
    if answer.get('code') == 'PRICE_MOVED':
        answer = ask('/api/positions/open', {**order, 'clientPrice': answer['currentPrice']})
    if answer.get('code') == 'MARKET_SUSPENDED':
        continue
    if 'code' in answer:
        raise SystemExit(f"{answer['code']}: {answer['error']}")
    print(f"long {player['name']} at {answer['position']['openPrice']}, {answer['wallet']['balance']} units left")
    break
`

/** What a bot does about each refusal of an order, in the order in which it will meet them. */
const REFUSALS: readonly (readonly [codes: readonly string[], advice: string])[] = [
  [
    ['RATE_LIMITED', 'BUSY', 'UNAVAILABLE', 'COMING_SOON', 'UNKNOWN_OUTCOME'],
    'Wait for the seconds of `Retry-After`, then send the same again **with the same key**: it may have happened.',
  ],
  [['KEY_IN_FLIGHT'], 'The first request with this key is still under way. Send the same again in a second.'],
  [['PRICE_MOVED'], 'Look at `currentPrice`. If you still want it, send the order with it and a new key.'],
  [
    ['MARKET_SUSPENDED'],
    'Data is late, play is interrupted or news is being priced. Try again in some seconds, with a new key, or another player.',
  ],
  [
    ['MARKET_CLOSED'],
    'The match is not in play, or the player is off the pitch. Choose one whose `tradingStatus` is `OPEN`.',
  ],
  [['COOLDOWN_ACTIVE'], 'Too early to close: wait `retry_after_secs`. A stop-loss or take-profit closes at any time.'],
  [['INSUFFICIENT_MARGIN'], 'Order at most `maxLotSize`, or close something.'],
  [['LOT_SIZE_INVALID', 'LEVELS_INVALID'], 'Change the order; the answer contains the limits, or the current price.'],
  [['POSITION_LIMIT'], 'Close something first.'],
  [['PURSE_MISMATCH', 'LEAGUE_NOT_RUNNING'], 'Leave out `purse`, or trade a match of that league while it runs.'],
  [['POSITION_NOT_OPEN'], 'It is closed already, maybe by its stop-loss. The answer contains it.'],
  [['UNAUTHORIZED'], 'The key is wrong, expired or deleted. Stop, and create another.'],
  [['SCOPE_MISSING'], 'The key lacks the scope `trade`. Stop, and create one that has it.'],
  [
    ['ACCOUNT_FROZEN', 'SELF_EXCLUDED', 'LIMIT_REACHED'],
    'Stop: an operator has frozen the account, or its own limits are reached.',
  ],
  [
    ['VALIDATION_FAILED', 'MALFORMED_JSON', 'NOT_FOUND', 'KEY_REUSED', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'],
    'A mistake in the bot: repeating the request does not help. `issues` names the field.',
  ],
  [['ORIGIN_NOT_ALLOWED'], 'Only pages of other sites get it. A bot sends no `Origin`.'],
  [['POSITION_CORRUPT', 'INTERNAL'], 'A fault of the server. Tell the operators the `requestId`.'],
]

/** `isDemo`: any name can sign in, so that a key needs no page. */
export function quickstartSection({ isDemo }: { readonly isDemo: boolean }): string {
  const key = isDemo
    ? `<p>This is a demo: any name is an account. Elsewhere, sign in on <a href="/">the page</a> and create a key with the
  scope <code>trade</code> under Account. A key is shown once.</p>
  ${snippet('curl', isDemo ? 'key.sh' : null, KEY_SH)}`
    : `<p>Sign in on <a href="/">the page</a> and create a key with the scope <code>trade</code> under Account. It is
  shown once.</p>
  ${snippet('shell', null, KEY_OF_ACCOUNT_SH)}`
  const rows = REFUSALS.map(([codes, advice]) => [
    codes.map((one) => `<a href="#error-${one}"><code>${one}</code></a>`).join('<br>'),
    inline(advice).replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>'),
  ])
  return `<section id="quickstart">
  <h1>A bot in five minutes</h1>
  <p>With curl, or a file of JavaScript (Node 22) or Python 3 and nothing to install.</p>
  <h2 class="part">1. A key</h2>
  ${key}
  <h2 class="part">2. A first price</h2>
  ${snippet('curl', null, PRICE_SH)}
  <div class="body">${snippet('JavaScript', 'price.mjs', PRICE_MJS)}${snippet('Python', 'price.py', PRICE_PY)}</div>
  <h2 class="part">3. A first trade</h2>
  ${snippet('curl', null, TRADE_SH)}
  <div class="body">${snippet('JavaScript', 'trade.mjs', TRADE_MJS)}${snippet('Python', 'trade.py', TRADE_PY)}</div>
  <p>It can be closed 180 seconds later: <code>POST /api/positions/{id}/close</code>.
  <code>GET /api/positions</code> shows it until then.</p>
  <h2 class="part">4. What to do when the answer is no</h2>
  ${table(['code', 'what a bot does'], rows)}
  <h2 class="part">5. Live</h2>
  <p>A bot that asks for prices is late. <a href="#socket">The WebSocket</a> sends them as they move, and after a
  break those that you missed. The clients for TypeScript and Python (<code>src/clients</code> of the source) do this
  for you, and call every operation on this page.</p>
</section>`
}

const snippet = (language: string, file: string | null, source: string): string =>
  `<div class="snippet"><h3>${language}${file === null ? '' : ` <span class="dim">${file}</span>`}</h3>
  ${code(source).replace('<code>', `<code${file === null ? '' : ` data-file="${text(file)}"`}>`)}</div>`
