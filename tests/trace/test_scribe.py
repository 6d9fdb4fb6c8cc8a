"""The process beside the traffic: it never holds it up, and what it cannot write down is said."""

import io
import logging
import os
import signal
import subprocess
import sys
import threading

import msgspec
import pytest

from mesero.trace import scribe as scribe_module
from mesero.trace.format import (
    EofLine,
    ExitLine,
    HttpLine,
    MessageLine,
    NoteLine,
    SpawnLine,
    StderrLine,
    TextLine,
)
from mesero.trace.reader import TraceReader, open_file
from mesero.trace.scribe import Scribe, ScribeSettings, Transcript, serve_pipe

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
WITHIN_S = 30


@pytest.fixture
def settings(tmp_path):
    return ScribeSettings(
        path=str(tmp_path / "folder" / "t.jsonl"), name="notes", transport="stdio", target="python notes.py"
    )


def lines_of(settings):
    with TraceReader(open_file(settings.path)) as trace:
        assert trace.header.links["1"].name == "notes"
        lines = list(trace)
        assert trace.problems.kept == []
    return lines


def transcript_of(settings, *events):
    transcript = Transcript(settings, print, t=1.0)
    for t, event, *values in events:
        transcript.t = t
        transcript.receive(event, list(values))
    transcript.close()
    return lines_of(settings)


def test_pieces_of_a_stream_become_messages_at_the_time_of_their_end(settings):
    lines = transcript_of(
        settings,
        (1.5, "chunk", "c2s", PING[:7]),
        (2.0, "chunk", "c2s", PING[7:] + b"\nhello\n" + PING),
        (3.0, "end", "c2s"),
    )
    assert [(type(line), line.t) for line in lines] == [
        (MessageLine, 1.0),
        (TextLine, 1.0),
        (TextLine, 2.0),
        (EofLine, 2.0),
    ]
    assert lines[0].raw.encode() == lines[2].raw.encode() == PING


def test_each_event_becomes_its_line(settings):
    lines = transcript_of(
        settings,
        (1.0, "spawn", ["python", "notes.py"], "/srv", {"A": ""}, 7),
        (1.0, "stderr", b"one\ntw"),
        (1.0, "message", "c2s", PING, {"exchange": 1, "method": "POST", "url": "http://x/"}),
        (1.0, "http", "s2c", {"exchange": 1, "status": 202}, b"body", "broke"),
        (1.0, "end_exchange", "c2s", 1),
        (1.0, "note", "look"),
        (1.0, "exit", -9),
    )
    assert [type(line) for line in lines] == [
        *(SpawnLine, StderrLine, MessageLine, HttpLine, EofLine, NoteLine, StderrLine, ExitLine)
    ]
    assert lines[2].http.url == "http://x/"
    assert (lines[3].http.status, lines[3].http.body, lines[3].http.error) == (202, "body", "broke")
    assert lines[4].http.exchange == 1
    assert (lines[1].raw, lines[6].raw, lines[7].signal) == ("one", "tw", 9)


def test_what_is_lost_is_said_and_what_was_begun_does_not_go_on(settings):
    lines = transcript_of(
        settings,
        (1.0, "chunk", "c2s", b'{"jsonrpc":'),
        (1.0, "lost", 4096),
        (1.0, "chunk", "c2s", b"tail}\n" + PING + b"\n"),
    )
    assert [type(line) for line in lines] == [TextLine, NoteLine, TextLine, MessageLine]
    assert "4096 bytes are missing" in lines[1].text


def test_a_line_over_the_limit_is_cut_and_said(settings, monkeypatch):
    monkeypatch.setattr("mesero.framing.LineFramer.__init__.__kwdefaults__", {"max_bytes": 100})
    lines = transcript_of(settings, (1.0, "chunk", "s2c", b"x" * 150 + b"\n" + PING + b"\n"))
    assert [type(line) for line in lines] == [TextLine, NoteLine, MessageLine]
    assert len(lines[0].raw) == 100


def test_a_process_beside_writes_what_the_scribe_is_told(settings):
    said = []
    scribe = Scribe(settings, said.append)
    scribe.tell("chunk", "c2s", PING + b"\n", bulk=1)
    scribe.start()
    scribe.tell("note", "later")
    scribe.close()
    scribe.tell("note", "too late")
    assert [type(line) for line in lines_of(settings)] == [MessageLine, NoteLine]
    assert said == []


def test_what_is_too_much_is_left_out_and_said(settings):
    scribe = Scribe(settings, print, max_waiting_bytes=10_000)
    for _ in range(5):
        scribe.tell("chunk", "c2s", b"x" * 5_000 + b"\n", bulk=5_001)
    scribe.tell("exit", 0)
    scribe.start()
    scribe.close()
    kinds = [type(line) for line in lines_of(settings)]
    assert kinds == [TextLine, NoteLine, ExitLine]
    assert "20004 bytes are missing" in lines_of(settings)[1].text


def test_a_process_that_cannot_start_is_said_once_and_nobody_waits(settings, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    said = []
    scribe = Scribe(settings, said.append)
    scribe.start()
    for _ in range(100):
        scribe.tell("note", "x" * 10_000)
    scribe.close()
    assert len(said) == 1
    assert "the traffic goes on" in said[0]


def test_a_process_that_dies_is_said_once(settings, monkeypatch, tmp_path):
    program = tmp_path / "dies"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    said = []
    is_said = threading.Event()

    def complain(text):
        said.append(text)
        is_said.set()

    scribe = Scribe(settings, complain)
    scribe.start()
    while not is_said.is_set():
        scribe.tell("note", "x" * 10_000)
        is_said.wait(0.001)
    scribe.close()
    assert said == ["the recording ends here: its process ended; the traffic goes on"]


def test_a_pipe_that_breaks_off_leaves_the_group_to_be_ended(settings):
    told = [
        (1.0, "begin", msgspec.to_builtins(settings)),
        (1.0, "spawn", ["x"], "", {}, 4711),
    ]
    packed = [msgspec.msgpack.encode(event) for event in told]
    stream = b"".join(len(one).to_bytes(4) + one for one in packed)
    assert serve_pipe(io.BytesIO(stream + b"\0\0\0\x09half"), print) == 4711
    assert "was killed" in lines_of(settings)[-1].text


def test_a_pipe_that_ends_in_order_leaves_nothing_to_do(settings):
    told = [
        (1.0, "begin", msgspec.to_builtins(settings)),
        (1.0, "spawn", ["x"], "", {}, 4711),
        (1.0, "done"),
    ]
    packed = [msgspec.msgpack.encode(event) for event in told]
    assert serve_pipe(io.BytesIO(b"".join(len(one).to_bytes(4) + one for one in packed)), print) == 0
    assert serve_pipe(io.BytesIO(), print) == 0


@pytest.fixture
def stubborn():
    """A process that only SIGKILL ends, in a group of its own."""
    program = "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True); signal.pause()"
    process = subprocess.Popen(
        [sys.executable, "-c", program], start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "up\n"
    yield process
    process.kill()
    process.wait(WITHIN_S)
    process.stdout.close()


def test_the_group_that_is_left_is_ended(stubborn, settings, monkeypatch):
    monkeypatch.setattr(scribe_module, "_GUARD_WAIT_S", 0.1)
    told = [(1.0, "begin", msgspec.to_builtins(settings)), (1.0, "spawn", ["x"], "", {}, stubborn.pid)]
    packed = [msgspec.msgpack.encode(event) for event in told]
    stream = io.BytesIO(b"".join(len(one).to_bytes(4) + one for one in packed))
    stream.buffer = stream
    monkeypatch.setattr(sys, "stdin", stream)
    logger = logging.getLogger("mesero")
    before = logger.handlers[:]
    try:
        scribe_module.main()
    finally:
        logger.handlers[:] = before
    assert stubborn.wait(WITHIN_S) == -signal.SIGKILL


def test_the_live_view_goes_to_stderr(settings):
    live = msgspec.structs.replace(settings, live=True)
    told = [(1.0, "begin", msgspec.to_builtins(live)), (1.0, "chunk", "c2s", PING + b"\n"), (1.0, "done")]
    packed = [msgspec.msgpack.encode(event) for event in told]
    done = subprocess.run(
        [sys.executable, "-m", "mesero.trace.scribe"],
        input=b"".join(len(one).to_bytes(4) + one for one in packed),
        stderr=subprocess.PIPE,
        timeout=WITHIN_S,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert b"ping" in done.stderr
    assert b"\\u2192" in done.stderr
