"""Our client, told what to do by one JSON argument. Prints the revision, and what was wrong if anything was.

``target``: a URL or a command; ``era``: as the client takes it; ``cell``: a mark in the server's environment,
by which survivors are found; ``root``: a folder for the server; ``call`` and, where the peer can ask, ``ask``:
tool, arguments and a part of the answer.
"""

import asyncio
import json
import pathlib
import sys

import mesero

UNKNOWN = "no_such_tool"


async def answer(_):
    return "Hello."


async def expect(client, step):
    result = await client.call_tool(step["tool"], step["arguments"], timeout_s=20)
    said = "\n".join(getattr(block, "text", "") for block in result.content)
    if result.is_error or step["expect"] not in said:
        sys.exit(f"{step['tool']} answered {said[:200]!r}, and that is no {step['expect']!r}")


async def expect_error(client):
    try:
        result = await client.call_tool(UNKNOWN, {}, timeout_s=20)
    except mesero.RpcError:
        return
    if not result.is_error:
        sys.exit("an unknown tool was called without an error")


async def main(job):
    client = mesero.Client(
        job["target"],
        era=job["era"],
        env={"MESERO_PEERS_CELL": job["cell"]},
        connect_timeout_s=30,
        sample=answer,
        roots=[pathlib.Path(job["root"]).as_uri()],
        remember=False,
    )
    async with client:
        tools = {tool.name for tool in await client.list_tools()}
        if job["call"]["tool"] not in tools:
            sys.exit(f"the tools are {sorted(tools)}")
        await expect(client, job["call"])
        await expect_error(client)
        if "ask" in job:
            await expect(client, job["ask"])
        server = client.server
    print(json.dumps({"revision": server.revision, "how": server.verdict}))


asyncio.run(main(json.loads(sys.argv[1])))
