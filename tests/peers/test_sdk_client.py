"""The official SDK's client against our server, over stdio and HTTP: what it got, as it tells it."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from tests.http_serving import serving
from tests.peers.our_server import build_server

HERE = Path(__file__).parent
RUN_WITHIN_S = 120

_reports = {}


@pytest.fixture(params=["stdio", "http"])
async def got(request, sdk_python):
    """What the SDK's client printed; it runs once per transport."""
    if request.param not in _reports:
        if request.param == "stdio":
            _reports["stdio"] = await run(sdk_python, sys.executable, str(HERE / "our_server.py"))
        else:
            async with serving(build_server().asgi()) as url:
                _reports["http"] = await run(sdk_python, url)
    return _reports[request.param]


async def run(python, *target):
    # The SDK's interpreter must find nothing of ours by accident.
    command = [python, str(HERE / "sdk_client.py"), *target]
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environment
    )
    try:
        async with asyncio.timeout(RUN_WITHIN_S):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, err.decode()[-4000:]
    return json.loads(out)


def text_of(result):
    return result["content"][0]["text"]


def test_it_speaks_the_newest_revision_and_knows_who_we_are(got):
    assert got["revision"] == "2026-07-28"
    assert got["server"] == {"name": "ours", "version": "1.2.3"}
    assert got["instructions"] == "Be kind."
    assert got["capabilities"].keys() >= {"tools", "resources", "prompts", "completions", "logging"}


def test_it_lists_our_tools(got):
    assert got["tools"] == sorted(got["tools"])
    assert {"add", "mirror", "fail"} < set(got["tools"])


def test_it_gets_structured_results(got):
    assert (text_of(got["add"]), got["add"]["structuredContent"]) == ("3", 3)
    assert got["mirror"]["structuredContent"] == {"x": -1, "y": 2}
    assert got["mirror"]["isError"] is False


def test_it_sees_failures_of_tools_as_results(got):
    assert got["fail"]["isError"] is True
    assert text_of(got["fail"]) == "it did not work"
    assert got["bad_arguments"]["isError"] is True
    assert "Expected `int`" in text_of(got["bad_arguments"])


def test_an_unknown_tool_is_an_error(got):
    assert got["unknown_tool"] == {"code": -32602, "message": "Unknown tool: nonsense"}


def test_it_hears_progress_and_logs(got):
    assert got["climb"] == ["up", [[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"]]]
    assert got["speak"] == "spoken"
    assert got["logs"] == [["warning", "voice", "careful"]]


def test_it_answers_our_questions(got):
    assert got["order"] == "accept: 3"
    assert got["ask_model"] == "hi"


def test_it_reads_resources(got):
    assert got["resources"] == ["notes://icon", "notes://readme"]
    assert got["templates"] == ["notes://{number}"]
    assert got["readme"]["contents"] == [
        {"uri": "notes://readme", "mimeType": "text/plain", "text": "read me"}
    ]
    assert got["icon"]["contents"] == [{"uri": "notes://icon", "mimeType": "image/png", "blob": "iVBORw=="}]
    assert got["note"]["contents"][0]["text"] == "note 7"
    assert got["no_resource"]["code"] == -32602


def test_it_gets_prompts_and_completions(got):
    (prompt,) = got["prompts"]["prompts"]
    assert [one["name"] for one in prompt["arguments"]] == ["topic", "style"]
    assert got["summarize"]["messages"][0]["content"]["text"] == "Summarize bees, short."
    assert got["no_prompt"]["code"] == -32602
    assert got["completion"] == ["short", "silly"]


def test_it_listens_for_changes(got):
    assert got["listen"]["honoured"] == {"toolsListChanged": True, "resourceSubscriptions": ["notes://1"]}
    assert got["listen"]["events"] == ["ResourceUpdated", "ToolsListChanged"]
    assert got["listen"]["has_grown"] is True


def test_its_time_out_cancels_our_tool(got):
    assert got["time_out"]["error"]["code"] == -32001
    assert got["time_out"]["server"] == "cancelled"
