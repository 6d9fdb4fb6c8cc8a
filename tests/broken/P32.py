"""Refuses everything before notifications/initialized: as it may."""

import json
import sys

from lines import answer, write

is_ready = False
for line in sys.stdin:
    message = json.loads(line)
    is_ready = is_ready or message["method"] == "notifications/initialized"
    if "id" not in message:
        continue
    if is_ready or message["method"] == "initialize":
        write(answer(message))
    else:
        write({"id": message["id"], "error": {"code": -32602, "message": "Invalid request parameters"}})
