"""Dies while it writes what it was told."""

import json
import sys

from calling import serve

sys.stdout.reconfigure(encoding="cp1252")


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False), flush=True)


serve(say=say)
