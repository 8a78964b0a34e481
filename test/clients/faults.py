"""What the client does when things go wrong: prints the outcomes as JSON."""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import touchline.feed
from touchline import Api, ApiError, Feed


class Scripted:
    """Stands in for the connection: keeps what is sent, and receives nothing but one answer."""

    sent = []
    first = '{"type": "heartbeat"}'

    def __init__(self, *_):
        self.closed = threading.Event()
        self.answers = [Scripted.first]

    def send(self, text):
        Scripted.sent.append((time.monotonic(), json.loads(text)))

    def receive(self, _):
        if self.answers:
            return self.answers.pop()
        self.closed.wait()
        raise OSError()

    def close(self):
        self.closed.set()


def wait_until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, 'in time'
        time.sleep(0.01)


def follows_many():
    live = threading.Event()
    feed = Feed(lambda: {'wsUrl': '', 'token': ''}, on_price=print,
                on_state=lambda state: live.set() if state == 'live' else None)
    players = {f'player {n}': n for n in range(12)}
    feed.follow(players)
    feed.start()
    live.wait()
    for n in range(1, 13):
        feed.follow({player: match + 100 * n for player, match in players.items()})
    wait_until(lambda: len(Scripted.sent) == 14)
    feed.stop()
    at = [when for when, _ in Scripted.sent]
    return {
        'first': len(Scripted.sent[1][1]['instrumentIds']),
        'most': max(sum(0 <= other - when < 1 for other in at) for when in at),
    }


class Broken(BaseHTTPRequestHandler):
    """Half an answer to everything, or something that is not JSON."""

    def do_POST(self):
        self.send_response(400 if 'refused' in self.path else 200)
        self.send_header('content-length', '5' if 'whole' in self.path else '500')
        self.end_headers()
        self.wfile.write(b'<html')

    def log_message(self, *_):
        pass


def breaks():
    server = HTTPServer(('127.0.0.1', 0), Broken)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    api = Api(f'http://127.0.0.1:{server.server_port}', 'key')
    codes = []
    for path in ('/half', '/whole', '/refused'):
        try:
            api.ask('POST', path)
        except ApiError as error:
            codes.append(error.code)
    server.shutdown()
    return codes


def raises():
    states = []
    feed = Feed(lambda: {'wsUrl': '', 'token': ''}, on_price=print, on_state=states.append,
                on_notice=lambda notice: notice['nothing'])
    Scripted.first = '{"type": "notice"}'
    threading.excepthook = lambda _: None
    feed.start()
    wait_until(lambda: states[-1:] == ['stopped'])
    Scripted.first = '{"type": "heartbeat"}'
    feed.start()
    wait_until(lambda: states[-1:] == ['live'])
    feed.stop()
    return states


def restarts():
    """Stops and starts again in a callback."""
    states = []

    def on_state(state):
        states.append(state)
        if states == ['connecting', 'live']:
            feed.stop()
            feed.start()

    feed = Feed(lambda: {'wsUrl': '', 'token': ''}, on_price=print, on_state=on_state)
    feed.start()
    wait_until(lambda: states.count('live') == 2)
    def running():
        return sum(thread.name == 'touchline-feed' for thread in threading.enumerate())

    # The thread in which the callback ran ends by itself.
    wait_until(lambda: running() == 1)
    feed.stop()
    return running()


touchline.feed.WebSocket = Scripted
print(json.dumps({'many': follows_many(), 'broken': breaks(), 'raised': raises(), 'running': restarts()}))
