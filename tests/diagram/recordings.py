"""Recordings to draw: a stateless session over HTTP, one with a handshake over stdio, one of any length."""

import json
import random

from mesero.diagram import Builder
from mesero.trace.format import (
    EofLine,
    ExitLine,
    Header,
    Http,
    HttpLine,
    Link,
    MessageLine,
    SpawnLine,
    StderrLine,
    TextLine,
)

PREFIX = "io.modelcontextprotocol/"
META = {
    f"{PREFIX}protocolVersion": "2026-07-28",
    f"{PREFIX}clientCapabilities": {"elicitation": {"form": {}}},
    f"{PREFIX}clientInfo": {"name": "test", "version": "1"},
}
SERVER_META = {f"{PREFIX}serverInfo": {"name": "notes", "version": "1"}}
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Recording:
    """Lines with a clock: `after` lets time pass, the rest puts a line down."""

    def __init__(self, *, transport="stdio", link="1", name="notes", target="python notes.py"):
        self.header = Header(
            started="2026-08-01T10:00:00Z",
            by="mesero 0.1.0",
            links={link: Link(name=name, transport=transport, target=target)},
        )
        self.lines = []
        self.t = 0.0
        self.link = link
        self.is_http = transport == "http"
        self.exchange = 0

    def put(self, kind, **fields):
        self.lines.append(kind(seq=len(self.lines) + 1, t=round(self.t, 6), link=self.link, **fields))
        self.t += 0.0004

    def after(self, seconds):
        self.t += seconds
        return self

    def c2s(self, message, **http):
        if self.is_http:
            self.exchange += 1
            headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
            if "_meta" in message.get("params", {}):
                headers |= {"mcp-protocol-version": "2026-07-28", "mcp-method": message["method"]}
                if message["method"] in NAMED:
                    headers["mcp-name"] = message["params"][NAMED[message["method"]]]
            http = {"method": "POST", "url": self.header.links[self.link].target, "headers": headers, **http}
            http = Http(exchange=self.exchange, **http)
            self.put(MessageLine, dir="c2s", raw=json.dumps(message), http=http)
        else:
            self.put(MessageLine, dir="c2s", raw=json.dumps(message))

    def s2c(self, message, *, sse=False, exchange=None, status=200):
        raw = message if isinstance(message, str) else json.dumps(message)
        if not self.is_http:
            self.put(MessageLine, dir="s2c", raw=raw)
            return
        kind = "text/event-stream" if sse else "application/json"
        http = Http(
            exchange=exchange or self.exchange, status=status, headers={"content-type": kind}, sse=sse
        )
        self.put(MessageLine, dir="s2c", raw=raw, http=http)

    def ask(self, number, method, **params):
        self.c2s({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}})
        return self.exchange

    def give(self, number, *, result_type="complete", **result):
        where = {name: result.pop(name) for name in ("sse", "exchange", "status") if name in result}
        body = {"resultType": result_type, **result, "_meta": {**SERVER_META, **result.pop("_meta", {})}}
        self.s2c({"jsonrpc": "2.0", "id": number, "result": body}, **where)

    def refuse(self, number, code, message, **where):
        error = {"code": code, "message": message}
        self.s2c({"jsonrpc": "2.0", "id": number, "error": error}, **where)

    def tell(self, method, *, who="s2c", meta=None, **params):
        where = {name: params.pop(name) for name in ("sse", "exchange") if name in params}
        if meta:
            params["_meta"] = meta
        getattr(self, who)({"jsonrpc": "2.0", "method": method, "params": params}, **where)

    def draw(self, *, name="trace.jsonl", auditor=None, problems=(), **options):
        builder = Builder(auditor=auditor, **options)
        builder.receive_header(self.header)
        for line in self.lines:
            builder.receive(line)
        return builder.build(name=name, problems=problems)


def stateless():
    """Discover, list, a call that asks twice, a subscription, progress, an error, a silence."""
    made = Recording(transport="http", target="https://notes.example/mcp")
    hints = {"ttlMs": 60000, "cacheScope": "private"}
    made.ask(1, "server/discover")
    made.after(0.02).give(
        1, supportedVersions=["2026-07-28"], capabilities={"tools": {"listChanged": True}}, **hints
    )
    made.ask(2, "tools/list")
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("book", "search")]
    made.after(0.004).give(2, tools=tools, **hints)
    listen = made.ask("sub", "subscriptions/listen", notifications={"toolsListChanged": True})
    stream = {"sse": True, "exchange": listen, "meta": {f"{PREFIX}subscriptionId": "sub"}}
    wanted = {"toolsListChanged": True}
    made.tell("notifications/subscriptions/acknowledged", notifications=wanted, **stream)
    question = {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Which day?",
            "requestedSchema": {"type": "object", "properties": {"day": {"type": "string"}}},
        },
    }
    made.ask(3, "tools/call", name="book", arguments={"what": "table"})
    made.after(0.05).give(3, result_type="input_required", inputRequests={"day": question}, requestState="s1")
    answers = {"day": {"action": "accept", "content": {"day": "Monday"}}}
    made.after(4.2).ask(
        4, "tools/call", name="book", arguments={"what": "table"}, inputResponses=answers, requestState="s1"
    )
    made.after(0.03).give(4, content=[{"type": "text", "text": "booked for Monday"}])
    made.tell("notifications/tools/list_changed", **stream)
    made.c2s(
        {
            "jsonrpc": "2.0",
            "id": 5,
            "method": "tools/call",
            "params": {
                "name": "search",
                "arguments": {"q": "x"},
                "_meta": {**META, "progressToken": "p5"},
            },
        }
    )
    for step in (1, 2, 3):
        made.after(0.4).tell("notifications/progress", progressToken="p5", progress=step, total=3, sse=True)
    made.give(5, sse=True, isError=True, content=[{"type": "text", "text": "the index is gone"}])
    made.ask(6, "prompts/get", name="nothing")
    made.after(0.002).refuse(6, -32602, "there is no prompt 'nothing'")
    made.ask(7, "tools/call", name="search", arguments={})
    made.after(12.0)
    broken = Http(exchange=made.exchange, error="the peer closed the connection")
    made.put(HttpLine, dir="s2c", http=broken)
    return made


def handshake():
    """A probe that is refused, a handshake, a question of the server, noise, a crash."""
    made = Recording()
    made.put(SpawnLine, command=("python", "notes.py"), env=("PATH",), pid=42)
    made.after(0.3).put(StderrLine, raw="notes: starting")
    made.ask(0, "server/discover")
    made.after(0.01).refuse(0, -32601, "Method not found")
    offer = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    made.c2s({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": offer})
    agreed = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "notes", "version": "1"},
    }
    made.after(0.02).s2c({"jsonrpc": "2.0", "id": 1, "result": agreed})
    made.c2s({"jsonrpc": "2.0", "method": "notifications/initialized"})
    call = {"name": "add", "arguments": {"a": 1}}
    made.c2s({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call})
    ask = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
    made.after(0.01).s2c({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": ask})
    made.after(2.5).c2s({"jsonrpc": "2.0", "id": "q1", "result": {"action": "decline"}})
    made.put(TextLine, dir="s2c", raw="DEBUG adding")
    made.after(0.01).s2c({"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "3"}]}})
    made.c2s({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call})
    made.after(0.2).put(StderrLine, raw="Traceback (most recent call last):")
    made.put(EofLine, dir="s2c")
    made.put(ExitLine, code=1)
    return made


def long(count, *, seed=7):
    """A session of this many messages, of calls of different tools and lengths."""
    dice = random.Random(seed)
    made = Recording(transport="http", target="https://notes.example/mcp")
    methods = ("tools/call", "tools/call", "tools/call", "resources/read", "prompts/get", "tools/list")
    number = 0
    while len(made.lines) < count:
        number += 1
        method = dice.choice(methods)
        params = {"uri": f"notes://{number}"} if method == "resources/read" else {}
        if method in ("tools/call", "prompts/get"):
            params = {"name": dice.choice(("search", "add_note", "summarize", "translate"))}
        if method == "tools/call":
            params["arguments"] = {"text": "lorem ipsum " * dice.randint(1, 12), "n": number}
        made.ask(number, method, **params)
        made.after(dice.lognormvariate(-4, 1) * (6 if params.get("name") == "summarize" else 1))
        if dice.random() < 0.02:
            made.refuse(number, -32603, "internal error: disk full")
        elif method == "tools/call":
            made.give(number, content=[{"type": "text", "text": "found " * dice.randint(1, 40)}])
        elif method == "tools/list":
            made.give(number, tools=[], ttlMs=0, cacheScope="private")
        elif method == "resources/read":
            contents = [{"uri": f"notes://{number}", "text": "a note " * dice.randint(1, 30)}]
            made.give(number, contents=contents, ttlMs=0, cacheScope="private")
        else:
            made.give(number, messages=[])
        made.after(dice.expovariate(20) + (dice.random() < 0.003) * 3)
    del made.lines[count:]
    return made
