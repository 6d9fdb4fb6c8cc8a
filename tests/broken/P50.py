"""Says that it speaks JSON-RPC 1.0."""

import json

from lines import answer, requests

for request in requests():
    print(json.dumps({**answer(request), "jsonrpc": "1.0"}), flush=True)
