"""Reads headers of the Language Server Protocol, and answers with them."""

import json
import sys

while True:
    line = sys.stdin.buffer.readline()
    if not line:
        break
    if not line.lower().startswith(b"content-length:"):
        continue
    sys.stdin.buffer.readline()
    request = json.loads(sys.stdin.buffer.read(int(line.split(b":")[1])))
    body = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()
