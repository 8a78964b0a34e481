"""Decodes each line of hex to a line of JSON."""
import json
import sys

from touchline import decode_price_frame

for line in sys.stdin:
    frame = decode_price_frame(bytes.fromhex(line.strip()))
    print(json.dumps(None if frame is None else frame._asdict()))
