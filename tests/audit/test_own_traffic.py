"""Our own client and server, recorded in every way and in every revision: the audit finds nothing."""

import asyncio
import contextlib
import sys

import msgspec
import pytest
from yarl import URL

import mesero
from mesero.audit import audit
from mesero.audit.diagnosis import diagnose
from mesero.demo.notes import server as notes
from mesero.revisions import HANDSHAKE_REVISIONS, REVISIONS
from mesero.trace.format import MessageLine
from mesero.trace.proxy import Proxy, open_proxy
from mesero.trace.reader import TraceReader, open_file
from mesero.trace.recorder import Recorder
from mesero.trace.scribe import Scribe, ScribeSettings
from tests.http_serving import serving

DEMO = [sys.executable, "-m", "mesero.demo"]
WITHIN_S = 40
HAS_ELICITATION = ("2025-06-18", "2025-11-25", "2026-07-28")


async def confirm(question):
    return {"sure": True}


async def use(client):
    """All that the demo has: lists, calls with progress, a question, changes, mistakes, a call given up."""
    for ask in (
        client.list_tools,
        client.list_resources,
        client.list_resource_templates,
        client.list_prompts,
    ):
        await ask()
    async with client.listen(resources=["notes://index"]) as changes:
        added = await client.call_tool("notes_add", {"title": "Milk", "body": "2 l", "notebook": "büro"})
        assert (await anext(changes)).uri == "notes://index"
    key = msgspec.json.decode(added.text)["id"]
    await client.call_tool("notes_import", {"lines": ["a: b", "c: d"]}, on_progress=lambda _: None)
    await client.read_resource("notes://index")
    await client.read_resource(f"notes://{key}")
    await client.get_prompt("notes.summarize", {"id": key, "tone": "plain"})
    await client.complete("tone", "p", prompt="notes.summarize")
    with contextlib.suppress(mesero.RpcError):  # As the revisions before 2025-11-25 want it.
        assert (await client.call_tool("notes_search", {"limit": 0})).is_error
    for mistake in (client.call_tool("no.such.tool", {}), client.read_resource("notes://nothing")):
        with pytest.raises(mesero.RpcError):
            await mistake
    if client.server.revision in HAS_ELICITATION:
        assert "Deleted" in (await client.call_tool("notes_delete", {"id": key})).text
    given_up = asyncio.ensure_future(client.call_tool("notes_import", {"lines": ["a: b"] * 500}))
    await asyncio.sleep(0)
    given_up.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await given_up


def check(path, *, allowed=()):
    """The audit of a recording: nothing, and the recording is whole."""
    with TraceReader(open_file(path)) as reader:
        lines = [reader.header, *reader]
        assert reader.problems.kept == []
    findings = [f"{each.rule} in line {each.seq}: {each.message}" for each in audit(lines)]
    assert [each for each in findings if not each.startswith(tuple(allowed))] == []
    # The tool that there is not, and arguments that do not fit: what `use` does wrong is called by its name.
    assert {each.code for each in diagnose(lines)} <= {"PARAMS-3", "PARAMS-4", "PARAMS-5"}
    assert len([line for line in lines if isinstance(line, MessageLine)]) > 24


@contextlib.asynccontextmanager
async def in_memory(path):
    yield notes, {"trace": path}


@contextlib.asynccontextmanager
async def over_stdio(path):
    yield DEMO, {"trace": path}


@contextlib.asynccontextmanager
async def through_the_shim(path):
    yield [sys.executable, "-m", "mesero", "trace", "-o", str(path), "--", *DEMO], {}


@contextlib.asynccontextmanager
async def over_http(path):
    async with serving(notes.asgi()) as url:
        yield url, {"trace": path}


@contextlib.asynccontextmanager
async def through_the_proxy(path):
    async with serving(notes.asgi()) as url, recording_proxy(url, path) as own:
        yield own, {}


@contextlib.asynccontextmanager
async def over_http_with_sse(path):
    async with serving(notes.asgi(sse_path="/sse", messages_path="/messages"), "/sse") as url:
        yield url, {"trace": path}


@contextlib.asynccontextmanager
async def over_http_with_sse_through_the_proxy(path):
    app = notes.asgi(sse_path="/sse", messages_path="/messages")
    async with serving(app, "/sse") as url, recording_proxy(url, path) as own:
        yield own, {}


SERVER = """
import sys
from mesero.demo.notes import server
from mesero.trace.recorder import Recorder
recorder = Recorder(sys.argv[1])
server._trace = recorder
server.run()
recorder.close()
"""


@contextlib.contextmanager
def recorded_notes(path):
    """The demo server while it records by itself."""
    with Recorder(path) as recorder:
        before, notes._trace = notes._trace, recorder
        try:
            yield
        finally:
            notes._trace = before


@contextlib.asynccontextmanager
async def by_the_server_in_memory(path):
    with recorded_notes(path):
        yield notes, {}


@contextlib.asynccontextmanager
async def by_the_server_over_stdio(path):
    yield [sys.executable, "-c", SERVER, str(path)], {}


@contextlib.asynccontextmanager
async def by_the_server_over_http(path):
    with recorded_notes(path):
        async with serving(notes.asgi()) as url:
            yield url, {}


@contextlib.asynccontextmanager
async def by_the_server_over_http_with_sse(path):
    with recorded_notes(path):
        async with serving(notes.asgi(sse_path="/sse", messages_path="/messages"), "/sse") as url:
            yield url, {}


@contextlib.asynccontextmanager
async def recording_proxy(url, path):
    said = []
    scribe = Scribe(ScribeSettings(path=str(path), name="notes", transport="http", target=url), said.append)
    scribe.start()
    try:
        async with open_proxy(
            Proxy(URL(url, encoded=True), scribe, complain=said.append), "127.0.0.1", 0
        ) as own:
            yield own
    finally:
        await asyncio.to_thread(scribe.close)
    assert said == []


async def record(way, path, **settings):
    settings |= {"elicit": confirm, "remember": False}
    async with (
        asyncio.timeout(WITHIN_S),
        way(path) as (target, more),
        mesero.Client(target, **settings, **more) as client,
    ):
        await use(client)
        return client.server


WAYS = [
    in_memory,
    over_stdio,
    through_the_shim,
    over_http,
    through_the_proxy,
    by_the_server_in_memory,
    by_the_server_over_stdio,
    by_the_server_over_http,
]
SSE_WAYS = [over_http_with_sse, over_http_with_sse_through_the_proxy, by_the_server_over_http_with_sse]


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("way", WAYS)
async def test_what_we_send_and_answer_gives_no_finding(way, revision, tmp_path):
    facts = await record(way, tmp_path / "t.jsonl", era=revision)

    assert facts.revision == revision
    check(tmp_path / "t.jsonl")


@pytest.mark.parametrize("way", WAYS)
async def test_finding_out_the_era_gives_no_finding(way, tmp_path):
    facts = await record(way, tmp_path / "t.jsonl")

    assert facts.revision == REVISIONS[-1]
    check(tmp_path / "t.jsonl")


@pytest.mark.parametrize("way", SSE_WAYS)
@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_the_oldest_transport_is_told_to_be_deprecated_and_nothing_else(way, revision, tmp_path):
    facts = await record(way, tmp_path / "t.jsonl", era=revision)

    assert facts.revision == revision
    check(tmp_path / "t.jsonl", allowed=["DEP-005"])
