"""A toy extension, `com.example/greetings`, and a server that has it: everything that the seam carries, once.

Run as a program it serves over stdio. It has a method with a name in `Mcp-Name`, a result type for that one
and for `tools/call`, a filter member that lists subjects, and settings.
"""

import msgspec
from msgspec import UNSET

from mesero import Server
from mesero.errors import UsageError
from mesero.extensions import Extension, MethodSpec
from mesero.server.operations import call_tool
from mesero.types import Result

IDENTIFIER = "com.example/greetings"
NEEDS = {"extensions": {IDENTIFIER: {}}}
GREETED = "notifications/greetings/greeted"


class GreetParams(msgspec.Struct):
    who: str


class Greeting(Result):
    text: str


class Queued(Result, kw_only=True):
    """The result type of the extension: not yet, but later."""

    result_type: str = "queued"
    ticket: str


def greetings(**settings):
    return Extension(
        identifier=IDENTIFIER,
        settings=settings,
        methods=(
            MethodSpec(
                name="greetings/greet", params=GreetParams, result=Greeting, name_field="who", needs=NEEDS
            ),
        ),
        result_types={"queued": ("greetings/greet", "tools/call")},
        listen_keys={"greeted": (GREETED,)},
    )


async def greet(call):
    who = call.params.who
    if who == "everybody":
        return Queued(ticket="t-1")
    text = f"Hello, {who}!"
    call.server.notify_changed(GREETED, {"who": who, "text": text}, subject=who)
    return Greeting(text=text)


async def call_tool_or_queue(call):
    """What the core does, but for one tool, and only for clients that understand the answer."""
    declared = call.context.client.capabilities.extensions
    if call.params.name == "greet_all" and declared is not UNSET and IDENTIFIER in declared:
        return Queued(ticket="t-2")
    return await call_tool(call)


async def honour_greeted(call):
    """Nobody hears of the secret guest; ``call.params`` is what the filter asks for."""
    if not isinstance(call.params, list):
        raise UsageError("a list of names")
    return [who for who in call.params if who != "the secret guest"] or None


def greetings_server():
    functions = {"greetings/greet": greet, "tools/call": call_tool_or_queue, "greeted": honour_greeted}
    server = Server("greeter", extensions=[(greetings(languages=["en"]), functions)])
    add_tool(server)
    return server


def plain_server():
    server = Server("plain")
    add_tool(server)
    return server


def add_tool(server):
    @server.tool
    async def greet_all() -> str:
        return "Hello, everybody!"


if __name__ == "__main__":
    greetings_server().run()
