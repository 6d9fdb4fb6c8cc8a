"""What a recorder writes: whole lines at once, secrets left out, files that do not grow for ever."""

import base64
import logging
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError

import pytest
from msgspec import UNSET

import mesero
from mesero.errors import UsageError
from mesero.trace.format import Http, MessageLine, NoteLine, decode_header, decode_line
from mesero.trace.reader import TraceReader, open_file
from mesero.trace.recorder import Recorder, http_of, utf8_or_b64
from mesero.transports import HttpFacts

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)


class Lines(list):
    """A sink that keeps what it is given, decoded."""

    def __call__(self, raw):
        assert raw.endswith(b"\n")
        self.append(decode_line(raw) if self else decode_header(raw))


def recorder_into(lines, **settings):
    seconds = iter(range(1000))
    return Recorder(lines, clock=lambda: next(seconds) / 2, now=lambda: NOON, **settings)


@pytest.fixture
def lines():
    return Lines()


def read(path):
    with TraceReader(open_file(path)) as trace:
        found = list(trace)
        assert trace.problems.kept == []
    return trace.header, found


def test_each_event_of_a_link_is_one_line(lines):
    link = recorder_into(lines).link("notes", "stdio", "python notes.py")

    link.spawn(["python", "notes.py"], cwd="/srv", env={"B": "1", "A": "2"}, pid=7)
    link("c2s", PING)
    link.text("s2c", b"Server ready")
    link.stderr(b"listening")
    link.http("s2c", Http(status=202))
    link.eof("s2c")
    link.eof("s2c", exchange=3)
    link.exit(1)
    link.exit(-15)
    link.note("client reported: closed")

    header, *rest = lines
    assert (header.started, header.links["1"].name) == ("2026-08-01T12:00:00.000Z", "notes")
    assert header.by.startswith("mesero ")
    assert [type(line).__struct_config__.tag for line in rest] == [
        *("spawn", "message", "text", "stderr", "http", "eof", "eof", "exit", "exit", "note")
    ]
    assert [line.seq for line in rest] == list(range(1, 11))
    assert [line.t for line in rest] == [number / 2 for number in range(1, 11)]
    assert (rest[0].env, rest[0].cwd, rest[0].pid) == (("A", "B"), "/srv", 7)
    assert rest[1].raw.encode() == PING
    assert rest[6].http == Http(exchange=3)
    assert (rest[7].code, rest[8].signal) == (1, 15)


def test_whoever_watches_sees_the_header_once_and_each_line_without_its_secrets(tmp_path):
    seen = []
    recorder = Recorder(tmp_path / "t.jsonl", max_bytes=200, watch=seen.append)
    link = recorder.link("notes", "stdio", "python notes.py")
    for _ in range(3):
        link("c2s", b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"password":"secret-1"}}')
    recorder.close()
    header, *rest = seen
    assert header.links["1"].name == "notes"
    assert len(rest) == 3
    assert "secret-1" not in "".join(line.raw for line in rest)


def test_a_failed_start_has_no_pid(lines):
    recorder_into(lines).link("a", "stdio", "a").spawn(["nothing"])

    assert lines[1].pid is UNSET


NO_MESSAGES = [
    b"Server ready",
    b"",
    b"7",
    b'{"a":NaN}',
    b'\xef\xbb\xbf{"a":1}',
    b'{"a":1}{"b":2}',
    b'{"a":"\xff"}',
    b'{"a"',
]


@pytest.mark.parametrize("raw", NO_MESSAGES)
def test_what_strict_json_refuses_is_text(lines, raw):
    recorder_into(lines).link("a", "stdio", "a").message("s2c", raw)

    line = lines[1]
    assert type(line).__name__ == "TextLine"
    assert (line.raw.encode() if line.b64 is UNSET else base64.b64decode(line.b64)) == raw


@pytest.mark.parametrize("raw", [PING, b' [{"a": 1}] ', '{"a":"é"}'.encode()])
def test_a_message_or_a_batch_is_kept_byte_for_byte(lines, raw):
    recorder_into(lines).link("a", "stdio", "a").message("s2c", raw)

    assert lines[1].raw.encode() == raw


def test_links_that_open_later_come_as_lines(lines):
    recorder = recorder_into(lines)
    first = recorder.link("one", "stdio", "a")
    first.note("x")
    second = recorder.link("two", "http", "https://host/mcp?api_key=canary-1")
    second.note("y")

    assert list(lines[0].links) == ["1"]
    assert (lines[2].link, lines[2].name, lines[2].transport) == ("2", "two", "http")
    assert "canary" not in lines[2].target
    assert lines[3].link == "2"


def test_a_recorder_is_an_observer_itself(lines):
    recorder = recorder_into(lines)

    recorder("c2s", PING, HttpFacts(url="https://host/mcp"))
    recorder("s2c", PING, HttpFacts(status=200))

    assert lines[0].links["1"].transport == "http"
    assert lines[0].links["1"].target == "https://host/mcp"
    assert [line.link for line in lines[1:]] == ["1", "1"]


def test_a_recorder_without_http_does_not_know_its_transport(lines):
    recorder_into(lines)("c2s", PING, None)

    assert lines[0].links["1"].transport == ""


def test_http_facts_are_those_of_a_request_or_of_its_answer():
    facts = HttpFacts(
        url="https://host/",
        status=200,
        headers=(("Mcp-Name", "a"), ("mcp-name", "a"), ("MCP-NAME", "b"), ("x", "1")),
        is_event=True,
    )

    assert http_of(facts, "c2s") == Http(
        method="POST", url="https://host/", headers={"mcp-name": ["a", "a", "b"], "x": "1"}
    )
    assert http_of(facts, "s2c") == Http(
        status=200, sse=True, headers={"mcp-name": ["a", "a", "b"], "x": "1"}
    )


def test_http_that_carried_no_message_has_a_body_or_an_error(lines):
    link = recorder_into(lines).link("a", "http", "https://host/mcp")

    link.http("s2c", HttpFacts(status=502), body=b"<html>\xff")
    link.http("s2c", HttpFacts(), error="connection refused")

    assert [line.http for line in lines[1:]] == [
        Http(status=502, body="<html>\ufffd"),
        Http(error="connection refused"),
    ]


def test_bytes_are_text_when_they_can_be():
    assert utf8_or_b64("é".encode()) == {"raw": "é"}
    assert utf8_or_b64(b"\xff") == {"b64": "/w=="}


# --- secrets ---


def record_canaries(recorder):
    link = recorder.link("a", "http", "https://u:canary-0@host/mcp?x=canary-0")
    facts = HttpFacts(url="https://host/?token=canary-1", headers=(("authorization", "Bearer canary-2"),))
    link("c2s", b'{"params":{"arguments":{"api_key":"canary-3"},"requestState":"canary-4"}}', facts)
    link.spawn(["a", "--token", "canary-5"], env={"MY_SETTING": "canary-6"})
    link.stderr(b"got canary-6 and canary-3 and password=canary-7")
    link.text("s2c", b"API_KEY=canary-8")


def test_secrets_are_redacted_by_default(lines):
    written = []

    record_canaries(Recorder(written.append))

    assert len(written) == 5
    assert b"canary" not in b"".join(written)


def test_secrets_are_recorded_only_when_asked_for():
    written = []

    record_canaries(Recorder(written.append, raw=True))

    text = b"".join(written)
    assert all(b"canary-%d" % number in text for number in (0, 1, 2, 3, 4, 5, 6, 7, 8))
    assert b"redacted" not in text


def test_secrets_that_are_named_are_replaced_everywhere(lines):
    recorder_into(lines, secrets=["plainword"]).link("a", "stdio", "a").note("it is plainword")

    assert "plainword" not in lines[1].text


def test_a_line_that_cannot_be_redacted_is_left_out(lines, caplog):
    recorder = recorder_into(lines)
    link = recorder.link("a", "stdio", "a")
    recorder.redactor.redact_line = lambda line: 1 / 0

    with caplog.at_level(logging.ERROR):
        link.note("secret")

    assert isinstance(lines[1], NoteLine)
    assert lines[1].text == "a line was left out: its secrets could not be found (ZeroDivisionError)"
    assert "left out" in caplog.text


# --- files ---


def test_every_line_is_in_the_file_as_soon_as_it_happened(tmp_path):
    recorder = Recorder(tmp_path / "a.jsonl")
    link = recorder.link("a", "stdio", "a")
    assert not (tmp_path / "a.jsonl").exists()

    for count in range(1, 4):
        link("c2s", PING)
        assert (tmp_path / "a.jsonl").read_bytes().count(b"\n") == 1 + count

    recorder.close()


def test_a_process_that_is_killed_leaves_what_it_recorded(tmp_path):
    program = (
        "import os, signal, sys; from mesero.trace.recorder import Recorder;"
        "link = Recorder(sys.argv[1]).link('a', 'stdio', 'a');"
        "[link.note(str(n)) for n in range(100)]; os.kill(os.getpid(), signal.SIGKILL)"
    )

    subprocess.run([sys.executable, "-c", program, str(tmp_path / "a.jsonl")], timeout=60, check=False)

    _, found = read(tmp_path / "a.jsonl")
    assert [line.text for line in found] == [str(number) for number in range(100)]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_a_recording_is_for_its_owners_eyes_only(tmp_path):
    with Recorder(tmp_path / "a.jsonl") as recorder:
        recorder("c2s", PING)

    assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600


def test_a_file_that_is_full_is_put_aside_and_each_can_be_read_by_itself(tmp_path):
    with Recorder(tmp_path / "a.jsonl", max_bytes=600, max_files=3) as recorder:
        link = recorder.link("notes", "stdio", "python notes.py")
        for number in range(40):
            link.note(f"this is note {number}")

    names = ["a.jsonl.2", "a.jsonl.1", "a.jsonl"]
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names)
    texts, parts = [], []
    for name in names:
        assert (tmp_path / name).stat().st_size <= 600
        header, found = read(tmp_path / name)
        assert header.links["1"].name == "notes"
        parts.append(header.part)
        texts += [line.seq for line in found]
    assert texts == list(range(41 - len(texts), 41))
    assert parts == list(range(parts[0], parts[0] + 3))
    assert parts[0] > 1


def test_a_line_longer_than_a_file_may_be_is_recorded_all_the_same(tmp_path):
    with Recorder(tmp_path / "a.jsonl", max_bytes=100) as recorder:
        recorder.link("a", "stdio", "a").note("x" * 1000)

    _, found = read(tmp_path / "a.jsonl")
    assert [len(line.text) for line in found] == [1000]


@pytest.mark.parametrize("max_files", [1, 2])
def test_an_earlier_recording_is_put_aside_while_there_is_room(tmp_path, max_files):
    for number in range(3):
        with Recorder(tmp_path / "a.jsonl", max_files=max_files) as recorder:
            recorder.link("a", "stdio", "a").note(str(number))

    kept = {file.name: read(file)[1][0].text for file in tmp_path.iterdir()}
    assert kept == ({"a.jsonl": "2"} if max_files == 1 else {"a.jsonl": "2", "a.jsonl.1": "1"})


@pytest.mark.parametrize("limits", [{"max_bytes": 0}, {"max_files": 0}])
def test_limits_that_cannot_work_are_refused(limits):
    with pytest.raises(UsageError, match="needs room"):
        Recorder("a.jsonl", **limits)


def test_a_file_that_cannot_be_made_ends_the_recording_and_harms_nobody(tmp_path, caplog):
    recorder = Recorder(tmp_path / "missing" / "a.jsonl")

    with caplog.at_level(logging.WARNING):
        recorder("c2s", PING)
        recorder("c2s", PING)

    assert isinstance(recorder.error, FileNotFoundError)
    assert len(caplog.records) == 1
    recorder.close()


def test_a_closed_recorder_writes_nothing_more(tmp_path):
    recorder = Recorder(tmp_path / "a.jsonl")
    recorder("c2s", PING)
    recorder.close()
    recorder.close()

    recorder("c2s", PING)

    assert len(read(tmp_path / "a.jsonl")[1]) == 1


def test_a_closed_recorder_calls_its_sink_no_more(lines):
    with recorder_into(lines) as recorder:
        recorder("c2s", PING)

    recorder("c2s", PING)

    assert len(lines) == 2


def test_a_copy_that_was_never_installed_records_too(lines, monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("mesero.trace.recorder.version", missing)

    recorder_into(lines)("c2s", PING)

    assert lines[0].by == "mesero 0"


def test_lines_of_many_threads_are_whole_and_in_order(tmp_path):
    with Recorder(tmp_path / "a.jsonl") as recorder:
        links = [recorder.link(str(number), "stdio", "a") for number in range(4)]
        threads = [
            threading.Thread(target=lambda link=link: [link("c2s", PING) for _ in range(200)])
            for link in links
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    _, found = read(tmp_path / "a.jsonl")
    assert [line.seq for line in found] == list(range(1, 801))


async def test_a_client_is_recorded(tmp_path):
    server = mesero.Server("greetings")

    @server.tool
    def greet(name: str) -> str:
        return f"Hello, {name}!"

    path = tmp_path / "a.jsonl"
    with Recorder(path) as recorder:
        async with mesero.Client(server, trace=recorder.link("greetings", "memory", "greetings")) as client:
            await client.call_tool("greet", {"name": "Ann"})

    header, lines = read(path)
    found = [line for line in lines if isinstance(line, MessageLine)]
    assert header.links["1"].name == "greetings"
    calls = [line for line in found if '"tools/call"' in line.raw]
    assert [line.dir for line in calls] == ["c2s"]
    assert any("Ann" in line.raw for line in found if line.dir == "s2c")
