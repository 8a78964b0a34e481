"""The program of a live session in Python."""
import os
import sys

from touchline import Api, ApiError, Feed, new_key

url, player = sys.argv[1:3]
api = Api(url, os.environ['TOUCHLINE_KEY'])


def say(*words):
    print(*words, flush=True)


def on_account(changes):
    if changes['snapshot']:
        say('account', changes['marker'], 'snapshot')
    for event in changes['events']:
        say('account', event['marker'], event['type'])


feed = Feed(
    api.create_socket_token,
    on_price=lambda f: say('frame', f.flags, f.epoch, f.seq, f.previous_price, f.price),
    on_account=on_account,
    on_state=lambda state: say('state', state),
)
feed.follow({player: api.get_instrument(player)['fixtureId']})
feed.start()

position = None
for line in sys.stdin:
    word, *rest = line.split()
    try:
        if word == 'open':
            price = api.get_instrument(player)['currentPrice']
            order = {'instrumentId': player, 'direction': 'long', 'lotSize': float(rest[0]), 'clientPrice': price}
            position = api.open_position(order, key=new_key())['position']['id']
            say('opened', position)
        elif word == 'close':
            say('closed', api.close_position(position, {}, key=new_key())['position']['closedBy'])
        else:
            break
    except ApiError as error:
        say('refused', error.code)
feed.stop()
