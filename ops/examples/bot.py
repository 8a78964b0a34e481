"""A bot with a personal key, in plain Python. It buys a player who has just risen by 1 %, with a stop-loss:

    TOUCHLINE_KEY=tl_… python3 ops/examples/bot.py [http://127.0.0.1:3000] [how many orders]

Create the key on the account page; it needs the scope `trade`. The account is marked as a bot from its first order.
"""
import json, os, secrets, sys, time, urllib.error, urllib.request

base, count = (sys.argv[1:] + ['http://127.0.0.1:3000', 'inf'][len(sys.argv) - 1 :])[:2]
headers = {'authorization': f"Bearer {os.environ['TOUCHLINE_KEY']}", 'content-type': 'application/json'}

def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    key = {} if body is None else {'idempotency-key': secrets.token_hex(16)}
    try:
        return json.load(urllib.request.urlopen(urllib.request.Request(base + path, data, {**headers, **key})))
    except urllib.error.HTTPError as refusal:
        if refusal.code in (401, 403): raise
        time.sleep(int(refusal.headers['retry-after'] or 0))
        return json.load(refusal)

before, left = {}, float(count)
while left > 0:
    for player in ask('/api/instruments').get('instruments', []):
        price = player['currentPrice']
        has_risen = price > 1.01 * before.get(player['id'], price)
        before[player['id']] = price
        if not has_risen or player['tradingStatus'] != 'OPEN' or left <= 0: continue
        order = {'instrumentId': player['id'], 'direction': 'long', 'lotSize': 0.1, 'clientPrice': price}
        answer = ask('/api/positions/open', {**order, 'stopLoss': round(price * 0.95, 2)})
        done = f"long {player['name']} at {answer['position']['openPrice']}" if 'position' in answer else None
        print(done or f"{player['name']}: {answer['error']}", flush=True)
        left -= 1
    time.sleep(1)
