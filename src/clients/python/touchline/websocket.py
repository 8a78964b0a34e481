"""The part of WebSocket (RFC 6455) that the price feed needs, on a plain socket."""
import base64
import hashlib
import os
import socket
import ssl
import struct
import threading
import urllib.parse
from typing import Tuple, Union

_GUID = b'258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10
_MESSAGE_MAX = 16 * 1024 * 1024
_HEAD_MAX = 16 * 1024


class Closed(Exception):
    """The connection is over. `code` is the server's, or 1006 when it ended without one."""

    def __init__(self, code: int = 1006):
        super().__init__(f'closed with {code}')
        self.code = code


class WebSocket:
    """Receives in one thread; any thread may send or close."""

    def __init__(self, url: str, subprotocol: str, timeout: float):
        parts = urllib.parse.urlsplit(url)
        is_tls = parts.scheme == 'wss'
        host, port = parts.hostname or '', parts.port or (443 if is_tls else 80)
        raw = socket.create_connection((host, port), timeout)
        try:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket = ssl.create_default_context().wrap_socket(raw, server_hostname=host) if is_tls else raw
            self._buffer = bytearray()
            self._lock = threading.Lock()
            path = (parts.path or '/') + (f'?{parts.query}' if parts.query else '')
            self._shake_hands(f'{host}:{port}', path, subprotocol)
        except BaseException:
            raw.close()
            raise

    def _shake_hands(self, host: str, path: str, subprotocol: str) -> None:
        key = base64.b64encode(os.urandom(16))
        self._socket.sendall(
            f'GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
            f'Sec-WebSocket-Key: {key.decode()}\r\nSec-WebSocket-Version: 13\r\n'
            f'Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n'.encode())
        while b'\r\n\r\n' not in self._buffer:
            if len(self._buffer) > _HEAD_MAX:
                raise Closed()
            self._fill()
        head, _, rest = bytes(self._buffer).partition(b'\r\n\r\n')
        self._buffer = bytearray(rest)
        accept = base64.b64encode(hashlib.sha1(key + _GUID).digest())
        if b' 101 ' not in head.split(b'\r\n')[0] or accept not in head:
            raise Closed()

    def _fill(self) -> None:
        received = self._socket.recv(65536)
        if not received:
            raise Closed()
        self._buffer += received

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _frame(self) -> Tuple[bool, int, bytes]:
        first, second = self._take(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack('>H', self._take(2))
        elif length == 127:
            (length,) = struct.unpack('>Q', self._take(8))
        if length > _MESSAGE_MAX or second & 0x80:
            raise Closed()
        return bool(first & 0x80), first & 0x0F, self._take(length)

    def receive(self, timeout: float) -> Union[str, bytes]:
        """The next message; raises Closed, or OSError when nothing comes for `timeout` seconds."""
        self._socket.settimeout(timeout)
        kind, parts, size = _CONTINUATION, [], 0
        while True:
            is_last, opcode, payload = self._frame()
            if opcode == _PING:
                self._send(_PONG, payload)
            elif opcode == _CLOSE:
                raise Closed(struct.unpack('>H', payload[:2])[0] if len(payload) >= 2 else 1005)
            elif opcode in (_CONTINUATION, _TEXT, _BINARY):
                kind = opcode or kind
                parts.append(payload)
                size += len(payload)
                if size > _MESSAGE_MAX:
                    raise Closed()
                if is_last:
                    whole = b''.join(parts)
                    return whole.decode() if kind == _TEXT else whole

    def send(self, text: str) -> None:
        self._send(_TEXT, text.encode())

    def _send(self, opcode: int, payload: bytes) -> None:
        mask, length = os.urandom(4), len(payload)
        size = struct.pack('>B', 0x80 | length) if length < 126 else struct.pack('>BH', 0x80 | 126, length)
        masked = bytes(byte ^ mask[n % 4] for n, byte in enumerate(payload))
        with self._lock:
            self._socket.sendall(bytes([0x80 | opcode]) + size + mask + masked)

    def close(self) -> None:
        """Ends the connection; whoever receives gets an error."""
        try:
            self._send(_CLOSE, struct.pack('>H', 1000))
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()
