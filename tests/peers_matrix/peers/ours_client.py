"""Our client, told what to do by one JSON argument. Prints the revision, and what was wrong if anything was.

``target``: a URL or a command; ``era``: as the client takes it; ``cell``: a mark in the server's environment,
by which survivors are found; ``root``: a folder for the server. Calls are a tool, its arguments and a part of
the answer: ``call``, and where the peer has one ``ask`` and ``progress``; ``slow`` takes longer than it may.
"""

import asyncio
import json
import pathlib
import sys
import time

import mesero

UNKNOWN = "no_such_tool"


async def answer(_):
    return "Hello."


async def expect(client, step, **options):
    result = await client.call_tool(step["tool"], step["arguments"], timeout_s=20, **options)
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


async def expect_progress(client, step):
    steps = []
    await expect(client, step, on_progress=lambda progress: steps.append(progress.progress))
    if len(steps) < 2:
        sys.exit(f"{step['tool']} reported {steps}")


async def expect_timeout(client, step):
    began = time.monotonic()
    try:
        await client.call_tool(step["tool"], step["arguments"], timeout_s=0.5)
    except mesero.CallTimeoutError:
        if time.monotonic() - began > 3:
            sys.exit("the time-out came late")
    else:
        sys.exit(f"{step['tool']} was no slow call")


async def look_around(client):
    """Read and get what is listed, as far as there is something."""
    for resource in (await listed(client.list_resources))[:1]:
        await client.read_resource(resource.uri)
    for prompt in (await listed(client.list_prompts))[:1]:
        await client.get_prompt(prompt.name, {each.name: "1" for each in prompt.arguments or ()})
    await listed(client.list_resource_templates)


async def listed(ask):
    try:
        return await ask()
    except mesero.MeseroError:  # The server does not have them.
        return []


async def main(job):
    client = mesero.Client(
        job["target"],
        era=job["era"],
        env={"MESERO_PEERS_CELL": job["cell"]},
        connect_timeout_s=30,
        sample=answer,
        roots=[pathlib.Path(job["root"]).as_uri()],
        remember=False,
        trace=job.get("trace"),
    )
    async with client:
        tools = {tool.name for tool in await client.list_tools()}
        if job["call"]["tool"] not in tools:
            sys.exit(f"the tools are {sorted(tools)}")
        await expect(client, job["call"])
        await expect_error(client)
        if "ask" in job:
            await expect(client, job["ask"])
        if "progress" in job:
            await expect_progress(client, job["progress"])
        if "slow" in job:
            await expect_timeout(client, job["slow"])
            await expect(client, job["call"])
        await look_around(client)
        server = client.server
        began = time.monotonic()
    if time.monotonic() - began > 5:
        sys.exit("closing took more than 5 s")
    print(json.dumps({"revision": server.revision, "how": server.verdict}))


asyncio.run(main(json.loads(sys.argv[1])))
