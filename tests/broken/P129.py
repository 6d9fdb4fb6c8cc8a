"""Writes errors to stderr."""

import json
import sys

from lines import answer, requests, write

for request in requests():
    if request["method"] == "tools/list":
        error = {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": "it broke"}}
        sys.stderr.write(json.dumps(error) + "\n")
        sys.stderr.flush()
    else:
        write(answer(request))
