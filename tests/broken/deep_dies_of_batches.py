"""Expects an object in each line."""

import json
import sys

from lines import answer, write

for line in sys.stdin:
    message = json.loads(line)
    if message.get("id") is not None:
        write(answer(message))
