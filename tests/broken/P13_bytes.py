"""Writes a byte order mark first, ends lines with CRLF, and leaves lines empty: all survivable."""

import json
import sys

from lines import answer, requests

sys.stdout.reconfigure(encoding="utf-8", newline="")
sys.stdout.write("\ufeff")
for request in requests():
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **answer(request)}) + "\r\n\r\n")
    sys.stdout.flush()
