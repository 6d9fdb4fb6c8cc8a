"""Our own client and server, recorded by both: read back without a problem, audited without a finding.

And no secret that they were given is in what was recorded.
"""

import contextlib
import json
import subprocess
import sys
from contextlib import asynccontextmanager

import pytest

import mesero
from mesero.audit.auditor import audit
from mesero.errors import ConnectError, RpcError
from mesero.trace.format import ExitLine, Http, LinkLine, MessageLine, SpawnLine
from mesero.trace.reader import TraceReader, open_file
from mesero.trace.recorder import Recorder
from tests.http_serving import serving

ERAS = [None, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
DEMO = [sys.executable, "-m", "mesero.demo"]
CANARY = "canary-5f2c9b1e7a"


def read(path):
    """The header and the lines of a recording in which nothing is wrong."""
    with TraceReader(open_file(path)) as trace:
        lines = list(trace)
        assert trace.problems.kept == []
        return trace.header, lines


def findings_in(path):
    header, lines = read(path)
    assert any(isinstance(line, MessageLine) and line.dir == "s2c" for line in lines)
    return [(finding.rule, finding.seq, finding.message) for finding in audit([header, *lines])]


def build_server(**settings):
    server = mesero.Server("notes", **settings)

    @server.tool
    async def slow(ctx: mesero.Context) -> str:
        await ctx.report_progress(1, 2)
        await ctx.log("info", "half of it is done")
        return "done"

    @server.tool
    async def ask(ctx: mesero.Context) -> str:
        form = {"type": "object", "properties": {"which": {"type": "string"}}}
        answer = await ctx.elicit("Which one?", form)
        return str(answer.action)

    @server.resource("notes://{id}")
    def note(id: str) -> str:
        return f"note {id}"

    @server.prompt
    def summarize(topic: str) -> str:
        return f"Summarize {topic}"

    return server


async def use(client):
    """A bit of everything, and something that fails."""
    await client.list_tools()
    await client.list_prompts()
    await client.list_resource_templates()
    assert (await client.call_tool("slow", on_progress=lambda _: None)).text == "done"
    if client.server.revision >= "2025-06-18":
        # Earlier ones have no way to ask.
        assert (await client.call_tool("ask")).text == "accept"
    await client.read_resource("notes://1")
    await client.get_prompt("summarize", {"topic": "x"})
    with pytest.raises(RpcError):
        await client.call_tool("nothing of that name")


async def agree(_):
    return {"which": "this"}


SETTINGS = {"elicit": agree}
# Log messages are deprecated since, and whoever asks for them gets a finding that says so.
OLDER = {"elicit": agree, "on_log": lambda _: None}


# --- without a finding ---


@pytest.mark.parametrize("era", ERAS)
async def test_the_demo_over_stdio(tmp_path, era):
    path = tmp_path / "a.jsonl"
    async with mesero.Client(DEMO, era=era, trace=path, elicit=agree) as client:
        added = await client.call_tool("notes_add", {"title": "a", "body": "b"})
        await client.read_resource(f"notes://{json.loads(added.text)['id']}")
        await client.list_tools()
        await client.list_prompts()
    header, lines = read(path)
    assert header.links["1"].name == "mesero.demo"
    assert isinstance(lines[0], SpawnLine)
    assert isinstance(lines[-1], ExitLine)
    assert findings_in(path) == []


@pytest.mark.parametrize("era", ERAS)
async def test_in_memory_on_both_sides(tmp_path, era):
    server = build_server(trace=tmp_path / "server.jsonl")
    settings = OLDER if era else SETTINGS
    async with mesero.Client(server, era=era, trace=str(tmp_path / "client.jsonl"), **settings) as client:
        await use(client)
    for side in ("client", "server"):
        assert findings_in(tmp_path / f"{side}.jsonl") == []
    messages = [
        [
            (line.dir, line.raw)
            for line in read(tmp_path / f"{side}.jsonl")[1]
            if isinstance(line, MessageLine)
        ]
        for side in ("client", "server")
    ]
    assert sorted(messages[0]) == sorted(messages[1])


@pytest.mark.parametrize("era", ERAS[:-1])
async def test_over_http_on_both_sides(tmp_path, era):
    server = build_server(trace=tmp_path / "server.jsonl")
    path = tmp_path / "client.jsonl"
    settings = OLDER if era else SETTINGS
    async with serving(server.asgi()) as url, mesero.Client(url, era=era, trace=path, **settings) as client:
        await use(client)
        # Another one with the same ids, so that the server's exchanges are told apart by their number.
        async with mesero.Client(url, era=era, **settings) as other:
            await other.call_tool("slow")
    for side in ("client", "server"):
        assert findings_in(tmp_path / f"{side}.jsonl") == []


async def test_changes_that_are_listened_for(tmp_path):
    server = build_server(trace=tmp_path / "server.jsonl")
    async with serving(server.asgi()) as url:
        for name, target in (("http", url), ("memory", server)):
            path = tmp_path / f"{name}.jsonl"
            async with mesero.Client(target, trace=path) as client, client.listen(tools=True) as changes:
                server.tool(name=f"added-over-{name}")(lambda: "")
                await anext(aiter(changes))
            assert findings_in(path) == []
    assert findings_in(tmp_path / "server.jsonl") == []


async def test_the_transport_of_2024_11_05_is_a_link_of_its_own(tmp_path):
    app = build_server().asgi(sse_path="/sse", messages_path="/messages")
    path = tmp_path / "a.jsonl"
    async with serving(app, "/sse") as url, mesero.Client(url, trace=path, **SETTINGS) as client:
        await use(client)
    _, lines = read(path)
    assert [line.transport for line in lines if isinstance(line, LinkLine)] == ["sse"]
    # That it is deprecated is all there is to say.
    assert {rule for rule, _, _ in findings_in(path)} == {"DEP-005"}


# --- without a secret ---


def look_for_canary(folder):
    files = list(folder.glob("*.jsonl"))
    for path in files:
        assert CANARY not in path.read_text()
        assert "<redacted" in path.read_text()
    return len(files)


async def test_no_secret_of_a_command_is_recorded(tmp_path):
    script = tmp_path / "server.py"
    script.write_text(
        "import os, sys, mesero\n"
        "server = mesero.Server('leaky')\n"
        "@server.tool\n"
        "def leak(token: str) -> str:\n"
        "    print(sys.argv[-1], os.environ['API_TOKEN'], file=sys.stderr, flush=True)\n"
        "    return os.environ['API_TOKEN']\n"
        "server.run()\n"
    )
    command = [sys.executable, str(script), "--api-key", CANARY]
    async with mesero.Client(
        command, env={"API_TOKEN": CANARY}, trace=tmp_path / "a.jsonl", discover=False
    ) as client:
        assert (await client.call_tool("leak", {"token": CANARY})).text == CANARY
        assert CANARY in " ".join(client.transport.stderr_tail)
    assert look_for_canary(tmp_path) == 1


async def test_no_secret_of_a_url_or_a_header_is_recorded_on_either_side(tmp_path):
    server = build_server(trace=tmp_path / "server.jsonl")

    @server.tool
    def echo(text: str) -> str:
        return text

    @asynccontextmanager
    async def client_of(url, **settings):
        headers = {"Authorization": f"Bearer {CANARY}", "X-Api-Key": CANARY, "Cookie": f"a={CANARY}"}
        async with mesero.Client(f"{url}?api_key={CANARY}", headers=headers, **settings) as client:
            yield client

    async with serving(server.asgi()) as url, client_of(url, trace=tmp_path / "client.jsonl") as client:
        assert (await client.call_tool("echo", {"text": CANARY})).text == CANARY
    assert look_for_canary(tmp_path) == 2


async def test_a_key_in_a_url_reaches_the_older_transport_and_not_the_recording(tmp_path):
    seen = []
    app = build_server().asgi(sse_path="/sse", messages_path="/messages")

    async def noting(scope, receive, send):
        if scope.get("method") == "GET":
            seen.append(scope["query_string"].decode())
        await app(scope, receive, send)

    @asynccontextmanager
    async def client_of(url):
        async with mesero.Client(f"{url}?api_key={CANARY}", trace=tmp_path / "a.jsonl", **SETTINGS) as client:
            yield client

    async with serving(noting, "/sse") as url, client_of(url) as client:
        await use(client)
    assert seen == [f"api_key={CANARY}"]
    assert look_for_canary(tmp_path) == 1


async def test_raw_recording_is_a_choice(tmp_path):
    with Recorder(tmp_path / "a.jsonl", raw=True) as recorder:
        client = mesero.Client(f"http://127.0.0.1:1/mcp?api_key={CANARY}", trace=recorder)
        with pytest.raises(ConnectError):
            await client.__aenter__()
        # It is not the client's to close.
        assert recorder.error is None
    assert CANARY in (tmp_path / "a.jsonl").read_text()


# --- what it costs and harms ---


def test_a_client_loads_nothing_of_it_unless_it_records():
    code = (
        "import sys; from mesero import Client, Server; Client(Server('a')); "
        "print([name for name in sys.modules if name.startswith(('mesero.trace', 'mesero.audit'))])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert shown.stdout.strip() == "[]"


async def test_a_file_that_cannot_be_written_does_no_harm(tmp_path, caplog):
    server = build_server(trace=tmp_path / "missing" / "server.jsonl")
    async with mesero.Client(server, trace=tmp_path / "missing" / "client.jsonl", **SETTINGS) as client:
        await use(client)
    assert caplog.text.count("the recording ends here") == 2


async def test_what_was_recorded_is_there_before_the_end(tmp_path):
    path = tmp_path / "a.jsonl"
    async with mesero.Client(build_server(), trace=path, discover=False) as client:
        await client.list_tools()
        assert len(path.read_text().splitlines()) == 3


async def test_a_link_that_changes_its_transport_goes_on_counting(tmp_path):
    app = build_server().asgi(sse_path="/sse", messages_path="/messages")
    path = tmp_path / "a.jsonl"
    with contextlib.closing(Recorder(path)) as recorder:
        async with serving(app, "/sse") as url:
            link = recorder.link("old", "http", url)
            async with mesero.Client(url, trace=link, **SETTINGS) as client:
                await client.list_tools()
    asked = [line.http for line in read(path)[1] if getattr(line, "dir", "") == "c2s"]
    numbers = [http.exchange for http in asked if isinstance(http, Http) and http.method]
    assert numbers == sorted(set(numbers))
    assert len(numbers) > 4
