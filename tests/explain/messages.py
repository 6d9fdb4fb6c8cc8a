"""Messages to explain."""

import json

PREFIX = "io.modelcontextprotocol/"
META = {f"{PREFIX}protocolVersion": "2026-07-28", f"{PREFIX}clientCapabilities": {}}


def message(**fields):
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def request(method, params=None, *, meta=META, number=1):
    held = dict(params or {})
    if meta is not None:
        held["_meta"] = meta
    return message(id=number, method=method, **({"params": held} if held else {}))
