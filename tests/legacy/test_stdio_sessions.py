"""Sessions with a real process: whatever becomes of the client, the server ends, and ends what waits."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.legacy.session_talk import EVERYTHING, ME, notification

FILES = [sys.executable, str(Path(__file__).parents[2] / "examples/files.py")]
REVISION = "2025-11-25"
WAIT_S = 20


class Process:
    """A server on stdio, asked by hand."""

    def __init__(self):
        self.child = subprocess.Popen(FILES, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def say(self, *messages):
        for message in messages:
            self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.child.stdin.flush()

    def hear(self):
        return json.loads(self.child.stdout.readline())

    def open(self):
        params = {"protocolVersion": REVISION, "capabilities": EVERYTHING[REVISION], "clientInfo": ME}
        self.say(
            {"id": 1, "method": "initialize", "params": params}, notification("notifications/initialized")
        )
        assert self.hear()["result"]["protocolVersion"] == REVISION

    def ask_for_a_file(self):
        """The server's question for the roots, which nobody answers yet."""
        params = {"name": "read_file", "arguments": {"path": "package.json"}}
        self.say({"id": 2, "method": "tools/call", "params": params})
        question = self.hear()
        assert question["method"] == "roots/list"
        return question


@pytest.fixture
def process():
    running = Process()
    running.open()
    yield running
    running.child.kill()
    running.child.wait(WAIT_S)
    for stream in (running.child.stdin, running.child.stdout):
        if not stream.closed:
            stream.close()


def test_a_client_that_goes_while_it_is_asked_leaves_a_server_that_ends(process):
    process.ask_for_a_file()
    process.child.stdin.close()
    answer = process.hear()
    assert answer["id"] == 2
    assert "ended before the client answered" in answer["result"]["content"][0]["text"]
    assert process.child.wait(WAIT_S) == 0


def test_a_signal_ends_a_server_that_waits_for_an_answer(process):
    process.ask_for_a_file()
    process.child.send_signal(signal.SIGTERM)
    assert process.child.wait(WAIT_S) == 0


def test_a_client_that_reads_no_more_leaves_a_server_that_ends(process):
    process.child.stdout.close()
    process.say({"id": 3, "method": "ping"})
    assert process.child.wait(WAIT_S) == 0


def test_one_process_serves_both_kinds_of_requests_at_once(process, tmp_path):
    (tmp_path / "package.json").write_text("{}")
    question = process.ask_for_a_file()
    key = "io.modelcontextprotocol"
    meta = {f"{key}/protocolVersion": "2026-07-28", f"{key}/clientCapabilities": {}}
    process.say({"id": 3, "method": "tools/list", "params": {"_meta": meta}})
    assert process.hear()["result"]["resultType"] == "complete"
    process.say({"id": question["id"], "result": {"roots": [{"uri": tmp_path.as_uri()}]}})
    assert process.hear()["result"]["content"][0]["text"] == "{}"
