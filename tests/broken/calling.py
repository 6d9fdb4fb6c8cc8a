"""An honest server with tools, for the broken ones beside it: each changes what it gets wrong.

It refuses what it should refuse: arrays, lists as params, requests without metadata, unknown revisions.
"""

import json
import sys

try:
    from lines import NOW, answer, write
except ImportError:  # In a test, not in a program beside this file.
    from tests.broken.lines import NOW, answer, write

READING = {"readOnlyHint": True}
ECHO = {
    "name": "echo",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
    "annotations": READING,
}
HINTS = {"resultType": "complete"}
REVISION = "io.modelcontextprotocol/protocolVersion"


def refusal_of(message, era):
    """The error that an honest server refuses a message with, or None."""
    if not isinstance(message, dict):
        return {"error": {"code": -32600, "message": "no batches"}, "id": None}
    if "id" not in message or "method" not in message:
        return None
    params = message.get("params", {})
    error = None
    if not isinstance(params, dict):
        error = {"code": -32602, "message": "params is an object"}
    elif era == "now" and message["method"] != "initialize":
        revision = params.get("_meta", {}).get(REVISION)
        if revision is None:
            error = {"code": -32602, "message": "no revision"}
        elif revision != NOW:
            data = {"supported": [NOW], "requested": revision}
            error = {"code": -32022, "message": "unknown revision", "data": data}
    return None if error is None else {"id": message["id"], "error": error}


def say(request, text, *, era="old", **members):
    """The result of a call that says a text."""
    hints = HINTS if era == "now" else {}
    return {"id": request["id"], "result": {"content": [{"type": "text", "text": text}], **members, **hints}}


def echo(request, era):
    return say(request, request["params"]["arguments"]["text"], era=era)


def messages(era="old"):
    """Each request that is to be answered, and each notification, as it is read; refusals are written."""
    for line in sys.stdin:
        message = json.loads(line)
        refusal = refusal_of(message, era)
        if refusal is not None:
            write(refusal)
        elif "method" in message:
            yield message


def serve(call=echo, *, era="old", tools=(ECHO,), special=lambda message: None, say=write):
    """Answer everything; ``call`` answers calls, ``special`` whatever it returns true for."""
    for message in messages(era):
        if special(message) or "id" not in message:
            continue
        if message["method"] == "tools/call":
            given = call(message, era)
            if given is not None:
                say(given)
        else:
            say(answer(message, era=era, tools=tools))
