"""Writes log text and message on one line."""

import json

from lines import answer, requests

for request in requests():
    print("INFO:root:done " + json.dumps({"jsonrpc": "2.0", **answer(request)}), flush=True)
