"""The client of the Touchline API for Python: REST, live prices and account events. Standard library only."""
from .api import Api, ApiError, new_key
from .feed import Feed
from .price_frame import CONFLATED, FINAL, REPLAY, SNAPSHOT, STALE, SUSPENDED, PriceFrame, decode_price_frame

__all__ = [
    'Api', 'ApiError', 'new_key', 'Feed', 'PriceFrame', 'decode_price_frame',
    'SNAPSHOT', 'REPLAY', 'CONFLATED', 'STALE', 'SUSPENDED', 'FINAL',
]
