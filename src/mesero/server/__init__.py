"""The server: a handler is written once and serves every transport.

Nothing in here imports the client.
"""

from mesero.server.authorization import NotAuthorizedError, Operation
from mesero.server.bus import Bus, Change, MemoryBus
from mesero.server.context import Answer, ClientFacts, Context
from mesero.server.hints import header
from mesero.server.server import Server
from mesero.server.tools import ToolError

__all__ = [
    "Answer",
    "Bus",
    "Change",
    "ClientFacts",
    "Context",
    "MemoryBus",
    "NotAuthorizedError",
    "Operation",
    "Server",
    "ToolError",
    "header",
]
