"""Writes UTF-16, as some shells do to whatever passes through them."""

import json
import sys

from lines import answer, requests

for request in requests():
    line = json.dumps({"jsonrpc": "2.0", **answer(request)}) + "\n"
    sys.stdout.buffer.write(line.encode("utf-16-le"))
    sys.stdout.buffer.flush()
