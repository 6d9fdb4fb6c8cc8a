"""The small servers behind the shim: ``python -m tests.broken.clients.peer KIND``.

They do what the specification says, so that what is wrong in a recording is the client's; the kinds that are
named for a fault are the peers of clients that the catalogue has beside it.
"""

import json
import os
import sys
import threading
import time

from tests.broken import lines

ADD = {"name": "add", "inputSchema": {"type": "object", "required": ["a"]}}
SLOW = {"name": "slow", "inputSchema": {"type": "object"}}
SERVER = {"_meta": {"io.modelcontextprotocol/serverInfo": {"name": "small", "version": "1"}}}
_lock = threading.Lock()


def write(message):
    with _lock:
        lines.write(message)


def refuse(request, code, text, **data):
    error = {"code": code, "message": text, **({"data": data} if data else {})}
    write({"id": request["id"], "error": error})


def messages():
    for line in sys.stdin:
        yield json.loads(line)


def serve(on_call=None, **how):
    """Answer as an honest server does; ``on_call`` takes the calls of tools."""
    for request in lines.requests():
        if request["method"] == "tools/call" and on_call is not None:
            on_call(request)
        else:
            write(lines.answer(request, **how))


def result(request, **members):
    write({"id": request["id"], "result": members})


# -- kinds ---------------------------------------------------------------------------------------------------


def completes():
    """Announces completions beside its tools, which some hosts cannot read."""
    serve(capabilities={"tools": {}, "completions": {}})


def opaque():
    """One error for everything, and no data in it."""
    is_ready = False
    for message in messages():
        if message["method"] == "notifications/initialized":
            is_ready = True
        elif message["method"] == "initialize" or (is_ready and message["method"] == "tools/list"):
            write(lines.answer(message, tools=[ADD]))
        elif "id" in message:
            refuse(message, -32602, "Invalid request parameters")


def forgetful():
    """Answers one request of a session, and then knows nothing of it."""
    is_known = True
    for request in lines.requests():
        if request["method"] in ("initialize", "ping") and is_known:
            write(lines.answer(request))
        else:
            refuse(request, -32602, "Invalid request parameters")
        is_known = is_known and request["method"] != "ping"


def unbatched():
    """Takes no arrays; speaks what it is asked for."""
    for message in messages():
        if isinstance(message, list):
            write({"error": {"code": -32600, "message": "Invalid Request"}})
        else:
            _answer_as_asked(message)


def batched():
    """Takes arrays, as servers of 2025-03-26 must."""
    for message in messages():
        if isinstance(message, list):
            answers = [{"jsonrpc": "2.0", **lines.answer(one)} for one in message]
            with _lock:
                sys.stdout.write(json.dumps(answers) + "\n")
                sys.stdout.flush()
        else:
            _answer_as_asked(message)


def silent_at_arrays():
    """Says nothing to an array."""
    for message in messages():
        if not isinstance(message, list):
            _answer_as_asked(message)


def _answer_as_asked(message):
    if "id" not in message:
        return
    answer = lines.answer(message)
    if message["method"] == "initialize":
        answer["result"]["protocolVersion"] = message["params"]["protocolVersion"]
    write(answer)


def paged():
    """Three pages of one tool."""
    for request in lines.requests():
        if request["method"] != "tools/list":
            write(lines.answer(request))
            continue
        page = int(request.get("params", {}).get("cursor", "1"))
        more = {"nextCursor": str(page + 1)} if page < 3 else {}
        result(request, tools=[{**SLOW, "name": f"tool-{page}"}], **more)


def grows():
    """Has another tool after the first call, and says so."""
    tools = [SLOW]

    def on_call(request):
        tools.append(ADD)
        write({"method": "notifications/tools/list_changed"})
        result(request, content=[])

    serve(on_call, capabilities={"tools": {"listChanged": True}}, tools=tools)


def slow(*, progress=True):
    """A tool that takes longer than its client waits, and tells of progress if it may."""

    def work(request):
        token = request["params"].get("_meta", {}).get("progressToken")
        for step in range(1, 31):
            time.sleep(0.2)
            if progress and token is not None:
                write(
                    {"method": "notifications/progress", "params": {"progressToken": token, "progress": step}}
                )

    def on_call(request):
        threading.Thread(target=work, args=(request,), daemon=True).start()

    serve(on_call, tools=[SLOW])


def still():
    """As the slow one, without a word of progress."""
    slow(progress=False)


def asks():
    """A tool that asks the user before it goes on."""
    waiting = []
    for message in messages():
        if message.get("method") == "tools/call":
            waiting.append(message)
            params = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
            write({"id": "s1", "method": "elicitation/create", "params": params})
        elif message.get("id") == "s1" and waiting:
            result(waiting.pop(), content=[])
        elif "id" in message and "method" in message:
            write(lines.answer(message))


def long():
    """A list that is longer than many readers take."""
    serve(tools=[{**SLOW, "description": "x" * 70_000}])


def empty_first():
    """A first page without tools."""
    for request in lines.requests():
        if request["method"] == "tools/list" and "cursor" not in request.get("params", {}):
            result(request, tools=[], nextCursor="2")
        else:
            write(lines.answer(request))


def pings():
    """Wants to know whether its client is alive, and leaves when it hears nothing."""
    for message in messages():
        if message.get("method") == "notifications/initialized":
            write({"id": "s1", "method": "ping"})
            threading.Timer(0.5, os._exit, [1]).start()
        elif "id" in message and "method" in message:
            write(lines.answer(message))


def brittle():
    """Dies of the first message after a cancellation."""
    is_cancelled = False
    for message in messages():
        if is_cancelled:
            sys.exit(1)
        is_cancelled = message["method"] == "notifications/cancelled"
        if "id" in message and message["method"] != "tools/call":
            write(lines.answer(message, tools=[SLOW]))


def dies_of_the_probe():
    """Takes every first message but one for fatal."""
    if next(messages())["method"] != "initialize":
        sys.exit("Error: ExpectedInitializeRequest")


def toolless():
    """Announces tools, and has none."""
    serve(tools=[])


def only_now():
    """Of the newer era, and knows no handshake."""
    for request in lines.requests():
        refuse(request, -32022, "Unsupported protocol version", supported=[lines.NOW], requested="<missing>")


def lenient():
    """Of the older era, and answers calls before any handshake."""
    serve(lambda request: result(request, content=[]))


def now():
    """Of the newer era, with a tool that asks once."""

    def on_call(request):
        if "inputResponses" in request["params"]:
            result(request, content=[], resultType="complete", **SERVER)
            return
        form = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
        question = {"method": "elicitation/create", "params": {"mode": "form", **form}}
        result(
            request, resultType="input_required", inputRequests={"sure": question}, requestState="s", **SERVER
        )

    for request in lines.requests():
        if request["method"] == "tools/call":
            on_call(request)
            continue
        answer = lines.answer(request, era="now", tools=[SLOW])
        if "result" in answer:
            answer["result"] |= SERVER
        write(answer)


KINDS = {each.__name__: each for each in (
    *(asks, batched, brittle, completes, dies_of_the_probe, empty_first, forgetful, grows, lenient, long),
    *(now, only_now, opaque, paged, pings, serve, silent_at_arrays, slow, still, toolless, unbatched),
)}  # fmt: skip

if __name__ == "__main__":
    KINDS[sys.argv[1]]()
