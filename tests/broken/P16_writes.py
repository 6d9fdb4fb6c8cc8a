"""Answers with headers of the Language Server Protocol."""

import json
import sys

from lines import answer, requests

for request in requests():
    body = json.dumps({"jsonrpc": "2.0", **answer(request)})
    sys.stdout.write(f"Content-Length: {len(body)}\r\n\r\n{body}")
    sys.stdout.flush()
