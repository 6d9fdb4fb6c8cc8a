"""Answers notifications that it does not know."""

from calling import serve
from lines import write

KNOWN = ("notifications/initialized", "notifications/cancelled")


def special(message):
    if "id" not in message and message["method"] not in KNOWN:
        write({"id": None, "error": {"code": -32601, "message": "unknown"}})


serve(special=special)
