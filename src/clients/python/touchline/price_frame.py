"""Decodes a price frame: 93 bytes, big-endian. Quantities become numbers of units; the bytes hold millionths."""
import struct
import uuid
import zlib
from typing import NamedTuple, Optional

SNAPSHOT, REPLAY, CONFLATED, STALE, SUSPENDED, FINAL = 1, 2, 4, 8, 16, 32
PRICE_FRAME_BYTES = 93
_CHECKED_BYTES = 89
_LAYOUT = struct.Struct('>BBHIQ16sqqqqqQIBBHBI')
_CAUSES = ('listing', 'match', 'event', 'trade', 'settlement', 'rules')
_STATUSES = ('CLOSED', 'OPEN', 'SUSPENDED')
_MICROS = 1_000_000
_NO_MINUTE = 0xFFFF


class PriceFrame(NamedTuple):
    """A price. `flags` are added up; `seq` counts the moves of the match within its `epoch`."""
    flags: int
    epoch: int
    seq: int
    instrument_id: str
    at: float
    """Seconds since 1970."""
    price: float
    live_base: float
    imbalance: float
    previous_price: float
    event_id: int
    fixture_id: int
    cause: str
    minute: Optional[int]
    """The match clock, None before kick-off."""
    trading_status: str


def decode_price_frame(data: bytes) -> Optional[PriceFrame]:
    """The frame in these bytes; None when they are not one, or were damaged on the way."""
    if len(data) != PRICE_FRAME_BYTES or data[0] != 1 or data[1] != 1:
        return None
    (_, _, flags, epoch, seq, instrument, time, price, base, imbalance, previous, event, fixture, _, cause, minute,
     status, checksum) = _LAYOUT.unpack(data)
    if zlib.crc32(data[:_CHECKED_BYTES]) != checksum or cause >= len(_CAUSES) or status >= len(_STATUSES):
        return None
    return PriceFrame(
        flags, epoch, seq, str(uuid.UUID(bytes=instrument)), time / _MICROS, price / _MICROS, base / _MICROS,
        imbalance / _MICROS, previous / _MICROS, event, fixture, _CAUSES[cause],
        None if minute == _NO_MINUTE else minute, _STATUSES[status],
    )
