"""One `tools/call` over stdio, both sides counted: few functions, few hand-offs.

The budget is part of the design: what a call passes through is what a reader has to follow and what it costs.
"""

import asyncio
import sys
from pathlib import Path

import mesero

MAX_FUNCTIONS = 35
MAX_HAND_OFFS = 3
SERVER = Path(__file__).with_name("hops_server.py")


async def test_a_call_stays_within_its_budget_of_functions_and_hand_offs():
    passed: set[str] = set()
    futures: list[object] = []

    def watch(frame, event, _argument):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("mesero"):
            passed.add(f"{module}:{frame.f_code.co_qualname}")

    async with mesero.Client([sys.executable, str(SERVER)]) as client:
        await client.call_tool("add", {"a": 1, "b": 2})
        await client.call_tool("reset")
        loop = asyncio.get_running_loop()
        create_future = loop.create_future
        loop.create_future = lambda: futures.append(None) or create_future()
        sys.setprofile(watch)
        result = await client.call_tool("add", {"a": 1, "b": 2})
        sys.setprofile(None)
        loop.create_future = create_future
        on_server, tasks = (await client.call_tool("report")).structured_content
    assert result.structured_content == 3
    # What both sides use is read, and counted, once.
    functions = sorted(passed.union(on_server))
    # One task for `add`, one for the `report` that asks; the client waits for one future.
    hand_offs = len(futures) + len(tasks) - 1
    assert len(functions) <= MAX_FUNCTIONS, "\n".join(functions)
    assert hand_offs <= MAX_HAND_OFFS, (len(futures), tasks)
