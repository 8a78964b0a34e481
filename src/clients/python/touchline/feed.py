"""
The price feed. It connects, subscribes to players and to the account, and resumes after every break: missed prices by
the last move of their match, account events by the last marker. Nothing is lost, and nothing is reported twice.
"""
import json
import random
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple

from .price_frame import REPLAY, SNAPSHOT, PriceFrame, decode_price_frame
from .websocket import Closed, WebSocket

_SUBPROTOCOL = 'feed.v1'
# The server sends a heartbeat every ten seconds.
_SILENCE = 25.0
_CONNECT = 10.0
_FIRST_WAIT, _RESTART_WAIT, _LONGEST_WAIT = 2.0, 5.0, 15.0
_RETRY = 1.5
_IDS_MAX = 400
# Messages a second. The server closes a connection that sends more than ten.
_MESSAGES_MAX = 5
_SLOW_DOWN = (4003, 4029)
_RESTARTS = (1012, 1013)

Since = Tuple[int, int]


class Feed:
    """
    `token` gives a fresh token and where to use it: `api.create_socket_token`. The other functions are called in the
    feed's own thread: `on_price` with a PriceFrame, `on_account` with the changes of your positions, `on_notice` with
    any other message, `on_state` with 'connecting', 'live', 'waiting' or 'stopped'.
    """

    def __init__(self, token: Callable[[], Mapping[str, Any]], on_price: Callable[[PriceFrame], None],
                 on_account: Callable[[Mapping[str, Any]], None] = lambda changes: None,
                 on_notice: Callable[[Mapping[str, Any]], None] = lambda notice: None,
                 on_state: Callable[[str], None] = lambda state: None):
        self._token = token
        self._on_price, self._on_account, self._on_notice, self._on_state = on_price, on_account, on_notice, on_state
        self._lock = threading.RLock()
        self._followed: Dict[str, int] = {}
        self._newest: Dict[int, Since] = {}
        # Players whose price is as new as the newest move of their match; the others need a snapshot.
        self._current: set = set()
        # Players that were refused when last requested: no match published them, or there was no more room.
        self._absent: set = set()
        self._arriving: List[str] = []
        self._marker: Optional[str] = None
        self._socket: Optional[WebSocket] = None
        # Messages beyond those that may be sent in this second.
        self._outbox: List[str] = []
        self._may_send = _MESSAGES_MAX
        self._second: Optional[threading.Timer] = None
        self._state = 'stopped'
        # One for each thread: a thread that was stopped stays so when the next is started.
        self._stopping = threading.Event()
        self._thread: Optional[threading.Thread] = None
        self._failures = 0

    def start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._stopping = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=[self._stopping], name='touchline-feed', daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the connection and the thread, and forgets everything."""
        self._stopping.set()
        with self._lock:
            socket = self._socket
        if socket is not None:
            socket.close()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        with self._lock:
            self._followed.clear()
            self._newest.clear()
            self._current.clear()
            self._absent.clear()
            self._marker = None

    def follow(self, players: Mapping[str, int]) -> None:
        """
        Follows exactly these players from now on: the id of each, and of its match (`fixtureId`). Requests again those
        that no match published.
        """
        with self._lock:
            gone = [one for one in self._followed if one not in players]
            fresh = [one for one, fixture in players.items()
                     if self._followed.get(one) != fixture or one in self._absent]
            self._followed = dict(players)
            self._forget(gone + fresh)
            if self._socket is None:
                return
            try:
                for ids in _portions(gone):
                    self._send({'type': 'unsubscribe', 'instrumentIds': ids})
                self._subscribe(fresh)
            except OSError:
                pass  # the connection is lost; the next one subscribes to all of them

    def _run(self, stopping: threading.Event) -> None:
        try:
            while not stopping.is_set():
                wait = self._connected(stopping)
                if not stopping.is_set():
                    self._enter('waiting')
                    stopping.wait(wait)
        finally:
            # Also when a callback has raised. Another thread may have been started since.
            if self._stopping is stopping:
                self._thread = None  # whoever hears of it may start again at once
                self._enter('stopped')

    def _forget_connection(self, socket: WebSocket) -> None:
        with self._lock:
            if self._socket is not socket:
                return
            self._socket = None
            self._arriving = []
            self._outbox = []
            self._may_send = _MESSAGES_MAX
            if self._second is not None:
                self._second.cancel()
                self._second = None

    def _connected(self, stopping: threading.Event) -> float:
        """One connection until it ends; the seconds to wait before the next."""
        self._enter('connecting')
        try:
            given = self._token()
            socket = WebSocket(f"{given['wsUrl']}/?token={given['token']}", _SUBPROTOCOL, _CONNECT)
        except Exception:
            # Whatever failed, the token or the network: it is tried again.
            return self._next_wait()
        try:
            with self._lock:
                self._socket = socket
                self._resume()
            while not stopping.is_set():
                wait = self._receive(socket.receive(_SILENCE))
                if wait is not None:
                    return wait
        except Closed as closed:
            return self._next_wait(closed.code)
        except OSError:
            return self._next_wait()
        finally:
            socket.close()
            self._forget_connection(socket)
        return 0

    def _resume(self) -> None:
        """Subscribes match by match from the last move seen, and to the players without a price together."""
        self._send({'type': 'account', **({} if self._marker is None else {'since': self._marker})})
        by_match: Dict[Optional[int], List[str]] = {}
        for one, fixture in self._followed.items():
            by_match.setdefault(fixture if one in self._current else None, []).append(one)
        for match, ids in by_match.items():
            self._subscribe(ids, None if match is None else self._newest.get(match))

    def _forget(self, ids: List[str]) -> None:
        self._current.difference_update(ids)
        self._absent.difference_update(ids)

    def _subscribe(self, ids: List[str], since: Optional[Since] = None) -> None:
        self._forget(ids)
        for portion in _portions(ids):
            message: Dict[str, Any] = {'type': 'subscribe', 'instrumentIds': portion}
            if since is not None:
                message['since'] = {'epoch': since[0], 'seq': since[1]}
            self._send(message)

    def _receive(self, data: Any) -> Optional[float]:
        """The seconds to wait if the connection is to be dropped, else None."""
        self._failures = 0
        self._enter('live')
        if isinstance(data, bytes):
            self._receive_price(data)
            return None
        self._arrived()
        message = json.loads(data)
        kind = message.get('type')
        if kind == 'account':
            self._receive_account(message)
        elif kind == 'shutdown':
            return message.get('reconnectInMs', 0) / 1000 or self._next_wait(_RESTARTS[0])
        elif kind == 'subscribed':
            with self._lock:
                self._arriving = message['instrumentIds']
                self._absent.update(one['instrumentId'] for one in message['rejected'] if one['code'] != 'busy')
            busy = [one['instrumentId'] for one in message['rejected'] if one['code'] == 'busy']
            if busy:
                timer = threading.Timer(_about(_RETRY), self._retry, [busy, self._socket])
                timer.daemon = True
                timer.start()
        elif kind == 'error':
            # The request is lost; a new connection repeats all of them.
            return None if message.get('code') == 'bad_message' else _about(_RETRY)
        elif kind not in ('heartbeat', 'pong', 'unsubscribed'):
            self._on_notice(message)
        return None

    def _retry(self, busy: List[str], socket: WebSocket) -> None:
        with self._lock:
            if self._socket is socket:
                try:
                    self._subscribe([one for one in busy if one in self._followed])
                except OSError:
                    pass  # the connection is lost; the next one subscribes to all of them

    def _receive_price(self, data: bytes) -> None:
        frame = decode_price_frame(data)
        if frame is None:
            return
        if not frame.flags & (SNAPSHOT | REPLAY):
            self._arrived()
        with self._lock:
            self._newest[frame.fixture_id] = max(self._newest.get(frame.fixture_id, (0, 0)), (frame.epoch, frame.seq))
        self._on_price(frame)

    def _arrived(self) -> None:
        with self._lock:
            self._current.update(one for one in self._arriving if one in self._followed)
            self._arriving = []

    def _receive_account(self, changes: Dict[str, Any]) -> None:
        known = -1 if self._marker is None else int(self._marker)
        events = [] if changes['snapshot'] else [one for one in changes['events'] if int(one['marker']) > known]
        self._marker = changes['marker']
        if changes['snapshot'] or events:
            self._on_account({**changes, 'events': events})

    def _send(self, message: Mapping[str, Any]) -> None:
        self._outbox.append(json.dumps(message))
        self._flush()

    def _flush(self) -> None:
        socket = self._socket
        if socket is None:
            return
        due, self._outbox = self._outbox[:self._may_send], self._outbox[self._may_send:]
        self._may_send -= len(due)
        for text in due:
            socket.send(text)
        if due and self._second is None:
            self._second = threading.Timer(1, self._next_second, [socket])
            self._second.daemon = True
            self._second.start()

    def _next_second(self, socket: WebSocket) -> None:
        with self._lock:
            if self._socket is not socket:
                return
            self._second = None
            self._may_send = _MESSAGES_MAX
            try:
                self._flush()
            except OSError:
                pass  # the connection is lost; the next one subscribes to all of them

    def _next_wait(self, code: int = 1006) -> float:
        """Longer each time, and at random from nothing on, so that a returning server is not overrun."""
        if code in _SLOW_DOWN:
            return _about(_LONGEST_WAIT)
        first = _RESTART_WAIT if code in _RESTARTS else _FIRST_WAIT
        self._failures += 1
        return random.random() * min(_LONGEST_WAIT, first * 2 ** min(self._failures - 1, 8))

    def _enter(self, state: str) -> None:
        if state != self._state:
            self._state = state
            self._on_state(state)


def _about(seconds: float) -> float:
    return seconds * (0.5 + random.random())


def _portions(ids: List[str]) -> List[List[str]]:
    return [ids[n:n + _IDS_MAX] for n in range(0, len(ids), _IDS_MAX)]
