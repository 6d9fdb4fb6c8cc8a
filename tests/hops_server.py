"""A server that says which of mesero's own functions one call passed; used by test_hop_budget.py."""

import asyncio
import sys

import mesero

server = mesero.Server("hops")
passed: set[str] = set()
handed: list[str] = []


def watch(frame, event, _argument):
    module = frame.f_globals.get("__name__", "")
    if event == "call" and module.startswith("mesero"):
        passed.add(f"{module}:{frame.f_code.co_qualname}")


@server.tool
async def add(a: int, b: int) -> int:
    return a + b


@server.tool
async def reset() -> int:
    loop = asyncio.get_running_loop()
    loop.set_task_factory(count_task)
    sys.setprofile(watch)
    passed.clear()
    handed.clear()
    return 0


@server.tool
async def report() -> list[list[str]]:
    sys.setprofile(None)
    return [sorted(passed), handed]


def count_task(loop, coroutine, **options):
    handed.append(getattr(coroutine, "__qualname__", "task"))
    return asyncio.Task(coroutine, loop=loop, **options)


if __name__ == "__main__":
    server.run()
