"""Words to write example traces with: what rules use to show what passes and what fails.

Each step makes one or more lines; `trace` numbers them. Steps of the newer era carry the metadata that the
specification asks for unless told otherwise; `shake` opens a connection of the older era.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from mesero.audit.link import Direction
from mesero.trace.format import (
    EofLine,
    ExitLine,
    Http,
    HttpLine,
    Line,
    LinkLine,
    MessageLine,
    NoteLine,
    SpawnLine,
    StderrLine,
    TextLine,
)

__all__ = [
    "META",
    "OLD",
    "SERVER_META",
    "URL",
    "Step",
    "answer",
    "answered",
    "ask",
    "asked",
    "c2s",
    "endpoint",
    "eof",
    "exited",
    "fail",
    "failed",
    "garbled",
    "headers_for",
    "hello",
    "http_answer",
    "http_error",
    "http_request",
    "noise",
    "note",
    "old_answer",
    "old_ask",
    "posted",
    "replied",
    "s2c",
    "shake",
    "spawned",
    "stderr",
    "tell",
    "trace",
    "wait",
    "welcome",
    "wrote",
]

URL = "https://example.com/mcp"
OLD = "2025-11-25"

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
}
SERVER_META: dict[str, Any] = {"io.modelcontextprotocol/serverInfo": {"name": "server", "version": "1"}}

Step = Callable[[int, float], tuple[Line, ...]]
"""From the next line number and the time to lines."""

_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def trace(*steps: Step, transport: str = "stdio") -> tuple[Line, ...]:
    """A short recording of one link, 10 ms from step to step."""
    lines: list[Line] = [LinkLine(seq=1, t=0.0, link="1", name="example", transport=transport)]
    t = 0.0
    for step in steps:
        lines.extend(step(len(lines) + 1, round(t + 0.01, 3)))
        t = lines[-1].t
    return tuple(line for line in lines if not (isinstance(line, NoteLine) and line.text == _PAUSE))


_PAUSE = "(a pause)"


def wait(seconds: float) -> Step:
    """Let time pass."""
    return lambda seq, t: (NoteLine(seq=seq, t=t + seconds, link="1", text=_PAUSE),)


def _message(direction: Direction, message: Any, http: Http | None = None) -> Step:
    raw = message if isinstance(message, str) else msgspec.json.encode(message).decode()
    return lambda seq, t: (
        MessageLine(
            seq=seq, t=t, link="1", dir=direction, raw=raw, http=msgspec.UNSET if http is None else http
        ),
    )


def c2s(message: Any) -> Step:
    """Any message from the client: an object, or text as it is."""
    return _message("c2s", message)


def s2c(message: Any) -> Step:
    """Any message from the server."""
    return _message("s2c", message)


def _request(method: str, params: Any, id: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else message | {"params": params}


def asked(method: str, params: dict[str, Any] | None = None, *, id: Any = 1, **meta: Any) -> dict[str, Any]:
    """A request of the newer era as an object; ``meta`` changes its metadata by the short names below."""
    merged = META | {_LONG.get(name, name): value for name, value in meta.items()}
    return _request(method, {**(params or {}), "_meta": merged}, id)


_LONG = {
    "revision": "io.modelcontextprotocol/protocolVersion",
    "capabilities": "io.modelcontextprotocol/clientCapabilities",
    "info": "io.modelcontextprotocol/clientInfo",
    "log_level": "io.modelcontextprotocol/logLevel",
    "progress": "progressToken",
}


def ask(method: str, params: dict[str, Any] | None = None, *, id: Any = 1, **meta: Any) -> Step:
    """A request of the newer era."""
    return c2s(asked(method, params, id=id, **meta))


def answered(result: dict[str, Any] | None = None, *, id: Any = 1) -> dict[str, Any]:
    """A complete result of the newer era as an object."""
    merged = {"resultType": "complete", "_meta": SERVER_META} | (result or {})
    return {"jsonrpc": "2.0", "id": id, "result": merged}


def answer(result: dict[str, Any] | None = None, *, id: Any = 1) -> Step:
    """A complete result of the newer era."""
    return s2c(answered(result, id=id))


def failed(code: int, message: str = "no", *, id: Any = 1, data: Any = None) -> dict[str, Any]:
    """An error response as an object; ``id=None`` leaves the id out."""
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    whole: dict[str, Any] = {"jsonrpc": "2.0"}
    return whole | ({} if id is None else {"id": id}) | {"error": error}


def fail(code: int, message: str = "no", *, id: Any = 1, data: Any = None) -> Step:
    """An error response of the server."""
    return s2c(failed(code, message, id=id, data=data))


def tell(method: str, params: Any = None, direction: Direction = "s2c") -> Step:
    """A notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return _message(direction, message if params is None else message | {"params": params})


def old_ask(method: str, params: Any = None, *, id: Any = 1, direction: Direction = "c2s") -> Step:
    """A request of the older era: bare."""
    return _message(direction, _request(method, params, id))


def old_answer(result: Any, *, id: Any = 1, direction: Direction = "s2c") -> Step:
    """A result of the older era."""
    return _message(direction, {"jsonrpc": "2.0", "id": id, "result": result})


def shake(
    revision: str = OLD,
    *,
    client: dict[str, Any] | None = None,
    server: dict[str, Any] | None = None,
    answers: str | None = None,
) -> list[Step]:
    """The handshake of the older era, under the id 0, over stdio."""
    return [
        old_ask("initialize", hello(revision, client), id=0),
        old_answer(welcome(answers or revision, server), id=0),
        tell("notifications/initialized", direction="c2s"),
    ]


def hello(revision: str = OLD, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
    """Parameters of ``initialize``."""
    info = {"name": "client", "version": "1"}
    return {"protocolVersion": revision, "capabilities": capabilities or {}, "clientInfo": info}


def welcome(revision: str = OLD, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
    """The result of ``initialize``."""
    declared = {"tools": {}} if capabilities is None else capabilities
    return {
        "protocolVersion": revision,
        "capabilities": declared,
        "serverInfo": {"name": "server", "version": "1"},
    }


# -- HTTP ----------------------------------------------------------------------------------------------------


def headers_for(message: Any) -> dict[str, str]:
    """The headers that a request over HTTP should have, by its body."""
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    params = message.get("params", {}) if isinstance(message, dict) else {}
    revision = params.get("_meta", {}).get(_LONG["revision"]) if isinstance(params, dict) else None
    if isinstance(revision, str):
        headers |= {"mcp-protocol-version": revision, "mcp-method": message["method"]}
        if message["method"] in _NAMED:
            headers["mcp-name"] = params[_NAMED[message["method"]]]
    return headers


def posted(
    message: Any, *, exchange: int = 1, url: str = URL, drop: str = "", method: str = "POST", **headers: Any
) -> Step:
    """A message from the client as an HTTP POST; ``drop`` leaves a header out."""
    merged: dict[str, Any] = headers_for(message) | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    merged.pop(drop, None)
    return _message("c2s", message, Http(exchange=exchange, method=method, url=url, headers=merged))


def replied(message: Any, *, exchange: int = 1, status: int = 200, sse: bool = False, **headers: Any) -> Step:
    """A message of the server in an HTTP answer; ``sse`` for one that came as an event."""
    kind = "text/event-stream" if sse else "application/json"
    merged: dict[str, Any] = {"content-type": kind} | ({"x-accel-buffering": "no"} if sse else {})
    merged |= {name.replace("_", "-"): value for name, value in headers.items()}
    event_id = merged.pop("event-id", msgspec.UNSET)
    http = Http(exchange=exchange, status=status, headers=merged, sse=sse, event_id=event_id)
    return _message("s2c", message, http)


def http_request(method: str, *, url: str = URL, exchange: int = 1, body: Any = None, **headers: Any) -> Step:
    """An HTTP request that carries no message."""
    http = Http(
        exchange=exchange,
        method=method,
        url=url,
        body=msgspec.UNSET if body is None else body,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )
    return lambda seq, t: (HttpLine(seq=seq, t=t, link="1", dir="c2s", http=http),)


def http_answer(
    status: int, *, exchange: int = 1, body: Any = None, sse: bool = False, **headers: Any
) -> Step:
    """An HTTP answer that carries no message."""
    text = body if isinstance(body, str) else msgspec.json.encode(body).decode()
    http = Http(
        exchange=exchange,
        status=status,
        sse=sse,
        body=msgspec.UNSET if body is None else text,
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )
    return lambda seq, t: (HttpLine(seq=seq, t=t, link="1", dir="s2c", http=http),)


def endpoint(url: str = "/messages?s=1", *, exchange: int = 1) -> Step:
    """The first event of the old HTTP+SSE transport."""
    http = Http(
        exchange=exchange,
        status=200,
        sse=True,
        event="endpoint",
        body=url,
        headers={"content-type": "text/event-stream"},
    )
    return lambda seq, t: (HttpLine(seq=seq, t=t, link="1", dir="s2c", http=http),)


def http_error(text: str, *, exchange: int = 1) -> Step:
    """A connection that broke."""
    http = Http(exchange=exchange, error=text)
    return lambda seq, t: (HttpLine(seq=seq, t=t, link="1", dir="s2c", http=http),)


# -- what is no message --------------------------------------------------------------------------------------


def wrote(text: str, direction: Direction = "s2c") -> Step:
    """Text on the message channel."""
    return lambda seq, t: (TextLine(seq=seq, t=t, link="1", dir=direction, raw=text),)


def garbled(text: str, *, exchange: int = 1) -> Step:
    """Text in an HTTP answer where a message should be."""
    http = Http(exchange=exchange, status=200, sse=True)
    return lambda seq, t: (TextLine(seq=seq, t=t, link="1", dir="s2c", raw=text, http=http),)


def noise(b64: str, direction: Direction = "s2c") -> Step:
    """Bytes on the message channel that are not UTF-8."""
    return lambda seq, t: (TextLine(seq=seq, t=t, link="1", dir=direction, b64=b64),)


def stderr(text: str) -> Step:
    """A line on stderr."""
    return lambda seq, t: (StderrLine(seq=seq, t=t, link="1", raw=text),)


def eof(direction: Direction = "s2c", *, exchange: int | None = None) -> Step:
    """The end of a stream."""
    http = msgspec.UNSET if exchange is None else Http(exchange=exchange)
    return lambda seq, t: (EofLine(seq=seq, t=t, link="1", dir=direction, http=http),)


def spawned(*command: str, pid: int | None = 7, env: tuple[str, ...] = ()) -> Step:
    """A server process; without a pid it could not be started."""
    return lambda seq, t: (
        SpawnLine(
            seq=seq, t=t, link="1", command=command, env=env, pid=msgspec.UNSET if pid is None else pid
        ),
    )


def exited(code: int | None = 0, *, signal: int | None = None) -> Step:
    """The end of a server process."""
    return lambda seq, t: (
        ExitLine(
            seq=seq,
            t=t,
            link="1",
            code=msgspec.UNSET if code is None else code,
            signal=msgspec.UNSET if signal is None else signal,
        ),
    )


def note(text: str) -> Step:
    """A remark; "client reported: …" for what a host told its user."""
    return lambda seq, t: (NoteLine(seq=seq, t=t, link="1", text=text),)
