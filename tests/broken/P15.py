"""Dies while it writes what its output cannot hold."""

import json
import sys

from lines import requests, result_of

sys.stdout.reconfigure(encoding="cp1252")
for request in requests():
    result = result_of(request)
    if request["method"] == "tools/list":
        result["tools"][0] = {**result["tools"][0], "description": "done \u2713"}
    if result is not None:
        print(
            json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}, ensure_ascii=False),
            flush=True,
        )
