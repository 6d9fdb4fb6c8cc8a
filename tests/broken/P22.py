"""Reads all of its input before it answers anything."""

import json
import sys

from lines import answer, write

for line in sys.stdin.read().splitlines():
    request = json.loads(line)
    if "id" in request:
        write(answer(request))
