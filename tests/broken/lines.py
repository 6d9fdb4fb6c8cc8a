"""A server over stdio in few lines, for the broken ones beside it: each changes what it gets wrong.

Not a test: the servers are started as programs, and find this file in their own folder.
"""

import json
import sys

OLD = "2025-06-18"
NOW = "2026-07-28"
TOOL = {"name": "add", "inputSchema": {"type": "object"}}


def write(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def result_of(request, *, era="old", tools=(TOOL,), capabilities=None):
    """What an honest server answers, or None where it knows no answer."""
    method = request["method"]
    can = {"tools": {}} if capabilities is None else capabilities
    if era == "old":
        if method == "initialize":
            info = {"name": "small", "version": "1"}
            return {"protocolVersion": OLD, "capabilities": can, "serverInfo": info}
        return {"tools/list": {"tools": list(tools)}, "ping": {}}.get(method)
    hints = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    if method == "server/discover":
        return {"supportedVersions": [NOW], "capabilities": can, **hints}
    return {"tools": list(tools), **hints} if method == "tools/list" else None


def answer(request, **how):
    result = result_of(request, **how)
    if result is None:
        error = {"code": -32601, "message": f"Method not found: {request['method']}"}
        return {"id": request["id"], "error": error}
    return {"id": request["id"], "result": result}


def requests():
    """Each request as it is read; notifications are passed over."""
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            yield message


def serve(say=write, **how):
    """Answer everything as an honest server does."""
    for request in requests():
        say(answer(request, **how))
