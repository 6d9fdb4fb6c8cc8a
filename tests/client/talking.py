"""What the tests of the client share: a scripted server that is listened in to, and a few answers."""

from contextlib import asynccontextmanager

from mesero import Client
from mesero.testing import Wire, scripted_server

TEXT = [{"type": "text", "text": "done"}]


@asynccontextmanager
async def talk(server=None, **settings):
    """A client of a scripted server, the script, and what passes; at the end the script is checked."""
    script = scripted_server() if server is None else server
    wire = Wire()
    script._observer = wire.see
    with script:
        async with Client(script, **settings) as client:
            yield client, script, wire


def requests_in(wire, method):
    return [message for message in wire.sent if message["method"] == method]


def form(properties=None, **more):
    """A question of the server that shows a form."""
    schema = {"type": "object", "properties": properties or {}, **more}
    params = {"message": "Tell me", "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def link(url="https://example.com/consent"):
    """A question of the server that opens a page."""
    params = {"mode": "url", "message": "Go there", "url": url}
    return {"method": "elicitation/create", "params": params}


def asks(state=None, **questions):
    """A result that asks."""
    result = {"resultType": "input_required"}
    if questions:
        result["inputRequests"] = questions
    if state is not None:
        result["requestState"] = state
    return result
