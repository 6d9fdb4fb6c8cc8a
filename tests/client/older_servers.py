"""Servers of the older era, as scripts, and clients of them that are in a hurry."""

import textwrap
from contextlib import asynccontextmanager

from mesero import Client
from tests.transports.children import script_command

_ANSWERS = """
def initialize(request, revision="2025-06-18"):
    info = {"name": "old", "version": "1"}
    send({"id": request["id"], "result":
          {"protocolVersion": revision, "capabilities": {"tools": {}}, "serverInfo": info}})

def discover(request, *revisions):
    send({"id": request["id"], "result":
          {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "capabilities": {"tools": {}},
           "supportedVersions": revisions or ("2026-07-28",)}})

def refuse(request, code=-32601, **data):
    error = {"code": code, "message": "cannot do that"}
    if data:
        error["data"] = data
    send({"id": request["id"], "error": error})

def serve(request, pid=None):
    # Everything but the probe.
    if request["method"] == "initialize":
        initialize(request)
    elif request["method"] == "tools/call":
        result(request, str(os.getpid()))
    else:
        refuse(request)

def log(word):
    with open(sys.argv[1], "a") as file:
        file.write(word + "\\n")

log("started")

def logged():
    # Every message, by its method, as it is read.
    for message in messages():
        log(message.get("method", "a response"))
        yield message
"""


class OlderServer:
    """A script and the protocol of what it has read, over all of its starts."""

    def __init__(self, folder, body):
        self._log = folder / "log"
        self.command = [*script_command(folder, _ANSWERS + textwrap.dedent(body)), str(self._log)]

    @property
    def log(self):
        return self._log.read_text().split() if self._log.exists() else []


QUICK_S = 0.3
"""``probe_s`` for a server that stays silent."""


@asynccontextmanager
async def connected(server, **settings):
    """A client that takes no slow start for silence, unless it is told to be quick."""
    patience = {"probe_s": 10.0, "connect_timeout_s": 20.0}
    async with Client(server.command, **{**patience, **settings}) as client:
        yield client


async def works(client):
    return bool((await client.call_tool("any")).text)


REFUSES = """
for request in logged():
    if "id" in request:
        serve(request)
"""

DIES_AT_ONCE = """
for request in logged():
    if request["method"] == "server/discover":
        sys.exit(3)
    if "id" in request:
        serve(request)
"""

SLOW = """
for request in logged():
    if request["method"] == "server/discover":
        time.sleep(0.6)
        discover(request)
    elif request["method"] == "tools/call":
        result(request, "done")
    elif "id" in request:
        refuse(request)
"""
