"""Shows strangers where it failed."""

from calling import serve

TEXT = 'Traceback (most recent call last):\n  File "tool.py", line 3, in run\nKeyError: 1'


def call(request, era):
    return {"id": request["id"], "error": {"code": -32603, "message": TEXT}}


serve(call)
