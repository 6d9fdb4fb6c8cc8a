"""Fails at text that its encoding does not have."""

from calling import echo, serve


def call(request, era):
    if request["params"]["arguments"]["text"].isascii():
        return echo(request, era)
    return {"id": request["id"], "error": {"code": -32603, "message": "Internal tool error"}}


serve(call)
