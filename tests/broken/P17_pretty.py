"""Spreads its messages over several lines."""

import json

from lines import answer, requests

for request in requests():
    print(json.dumps({"jsonrpc": "2.0", **answer(request)}, indent=2), flush=True)
