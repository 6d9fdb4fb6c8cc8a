"""Takes a request without metadata for one of its own revision."""

import json
import sys

from calling import refusal_of
from lines import answer, write

for line in sys.stdin:
    message = json.loads(line)
    is_bare = isinstance(message, dict) and message.get("params") == {}
    refusal = None if is_bare else refusal_of(message, "now")
    if refusal is not None:
        write(refusal)
    elif "id" in message:
        write(answer(message, era="now"))
