"""Dies when a call of it is cancelled, as some SDKs did."""

import sys

from calling import serve

called = []


def call(request, era):
    called.append(request["id"])
    return {"id": request["id"], "result": {"content": []}}


def special(message):
    if message["method"] == "notifications/cancelled" and message["params"]["requestId"] in called:
        sys.exit(1)


serve(call, special=special)
