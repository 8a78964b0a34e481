"""REST with a personal key. What is safe to repeat is repeated when the network or the server fails."""
import http.client
import json
import random
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Dict, Mapping, Optional

from .operations import Operations

_ATTEMPTS = 4
_FIRST_PAUSE = 0.25
# An answer that asks for a longer one is the last.
_LONGEST_PAUSE = 5.0
_TIMEOUT = 30
# No answer, half of one, or one of something else than the API.
_NO_ANSWER = (OSError, http.client.HTTPException, ValueError)


class ApiError(Exception):
    """The server refused, or (status 0, code `OFFLINE`) could not be reached. Act on `code`; `facts` is the body."""

    def __init__(self, status: int, facts: Mapping[str, Any]):
        super().__init__(facts.get('error', 'no answer'))
        self.status = status
        self.code = str(facts.get('code', f'HTTP_{status}'))
        self.facts = facts


def new_key() -> str:
    """A key for one order: repeat the order with the same key, and it is carried out once."""
    return secrets.token_hex(16)


class Api(Operations):
    """Every operation of the API is a method, named as in its description. Safe to share among threads."""

    def __init__(self, base_url: str, key: str):
        self._base_url = base_url.rstrip('/')
        self._key = key

    def ask(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None, body: Any = None,
            key: Optional[str] = None) -> Any:
        """Sends a request; raises ApiError. A GET, or a request with a key, is repeated."""
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        url = self._base_url + path + ('?' + urllib.parse.urlencode(given) if given else '')
        headers: Dict[str, str] = {'authorization': f'Bearer {self._key}'}
        if body is not None:
            headers['content-type'] = 'application/json'
        if key is not None:
            headers['idempotency-key'] = key
        data = None if body is None else json.dumps(body).encode()
        may_repeat = method == 'GET' or key is not None
        for attempt in range(_ATTEMPTS):
            is_last = not may_repeat or attempt == _ATTEMPTS - 1
            wait = 0.0
            try:
                request = urllib.request.Request(url, data, headers, method=method)
                with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as refusal:
                facts = _facts(refusal)
                is_passing = (refusal.code == 503 and facts.get('code') != 'COMING_SOON') or (
                    facts.get('code') == 'KEY_IN_FLIGHT')
                wait = _seconds(refusal.headers.get('retry-after'))
                if not is_passing or is_last or wait > _LONGEST_PAUSE:
                    raise ApiError(refusal.code, facts) from None
            except _NO_ANSWER as fault:
                if is_last:
                    raise ApiError(0, {'error': 'the server cannot be reached', 'code': 'OFFLINE'}) from fault
            own = _FIRST_PAUSE * 2 ** attempt * (0.5 + random.random())
            time.sleep(max(own, wait))
        raise AssertionError('the last attempt returns or raises')


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _seconds(retry_after: Optional[str]) -> float:
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else 0.0


def _facts(refusal: urllib.error.HTTPError) -> Mapping[str, Any]:
    try:
        body = json.load(refusal)
        return body if isinstance(body, dict) else {}
    except _NO_ANSWER:
        return {}
