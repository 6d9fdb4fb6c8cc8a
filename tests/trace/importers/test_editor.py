"""The logs of VS Code."""

import io

import pytest

from mesero.trace.format import ExitLine, MessageLine, NoteLine, StderrLine, TextLine
from mesero.trace.importers.editor import EditorLog

INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'
RESULT = '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}'
LOG = f"""\
2026-07-24 02:03:14.000 [info] Starting server notes
2026-07-24 02:03:14.031 [info] Connection state: Starting
2026-07-24 02:03:14.031 [info] Starting server from LocalProcess extension host
2026-07-24 02:03:14.089 [debug] [editor -> server] {INITIALIZE}
2026-07-24 02:03:14.120 [warning] [server stderr] Traceback (most recent call last):
  File "server.py", line 1
2026-07-24 02:03:14.151 [debug] [server -> editor] {RESULT}
2026-07-24 02:03:15.151 [info] Connection state: Error Process exited with code 1
more of this
2026-07-24 02:03:15.200 [error] Server exited before responding to `initialize` request.
"""


def read(text):
    log = EditorLog(io.BytesIO(text.encode() if isinstance(text, str) else text))
    return log, list(log)


def test_a_session_is_read_with_its_messages_its_stderr_and_its_end():
    log, lines = read(LOG)

    assert [type(line) for line in lines] == [
        *[NoteLine] * 3,
        MessageLine,
        *[StderrLine] * 2,
        MessageLine,
        ExitLine,
        *[NoteLine] * 3,
    ]
    assert (lines[3].dir, lines[3].raw, lines[3].t) == ("c2s", INITIALIZE, 0.089)
    assert (lines[6].dir, lines[6].raw) == ("s2c", RESULT)
    assert lines[4].raw == "Traceback (most recent call last):"
    assert (lines[5].raw, lines[5].guessed) == ('  File "server.py", line 1', ("t",))
    assert lines[7].code == 1
    assert lines[8].text == "client reported: Connection state: Error Process exited with code 1"
    assert lines[9].text == "client log: more of this"
    assert lines[10].text.startswith("client reported: Server exited")
    assert [link.name for link in log.header.links.values()] == ["notes"]
    assert any("time zone" in text for text in log.unknown)
    assert not any("log level" in text for text in log.unknown)


def test_a_log_without_messages_says_why():
    log, _ = read("2026-07-24 02:03:14.000 [info] Starting server notes\n")

    assert any('"debug" or "trace"' in text for text in log.unknown)


@pytest.mark.parametrize(("mark", "direction"), [("[Client Says]", "c2s"), ("[Server Says]", "s2c")])
def test_the_marks_of_older_editors_are_known(mark, direction):
    text = f"2025-03-23 16:38:00.970 [info] {mark} {INITIALIZE}\n"

    _, lines = read(text)

    assert EditorLog.recognises(text)
    assert [(line.dir, line.raw) for line in lines] == [(direction, INITIALIZE)]


@pytest.mark.parametrize("text", [INITIALIZE[:-9], "nothing", f"{INITIALIZE} more", f"x {INITIALIZE}"])
def test_what_is_no_whole_message_is_kept_as_text(text):
    log, lines = read(f"2026-07-24 02:03:14.089 [debug] [server -> editor] {text}\n")

    assert [(type(line), line.raw) for line in lines] == [(TextLine, text)]
    assert bool(log.problems.count) == (INITIALIZE not in text)


@pytest.mark.parametrize("raw", [b"\xff\n", b"2026-99-24 02:03:14.089 [debug] x\n", b"\n\n"])
def test_nothing_in_a_log_raises(raw):
    _, lines = read(raw + LOG.encode())

    assert len(lines) >= 11


def test_other_logs_are_not_taken_for_one():
    assert not EditorLog.recognises("2025-07-23T15:09:15.427Z [a] [info] x\n2025 [info]")
