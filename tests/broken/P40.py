"""Asks ping of its client, and ends when that is not answered."""

import json
import sys

from lines import answer, write

asked = False
for line in sys.stdin:
    message = json.loads(line)
    if message.get("id") == "s1" and "result" not in message:
        sys.exit(1)
    if message.get("method") == "notifications/initialized":
        write({"id": "s1", "method": "ping"})
        asked = True
    elif "id" in message and "method" in message:
        write(answer(message))
