"""Refuses its call with a message of empty lines, of which there are many."""

from calling import serve


def fail(request, era):
    return {"id": request["id"], "error": {"code": -32603, "message": "\n" * 100_000}}


serve(fail)
