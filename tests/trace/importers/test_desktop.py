"""The logs of Claude Desktop."""

import io

import pytest

from mesero.trace.format import EofLine, MessageLine, NoteLine, StderrLine, TextLine
from mesero.trace.importers.desktop import ClaudeLog

INITIALIZE = '{"method":"initialize","params":{"protocolVersion":"2025-06-18"},"jsonrpc":"2.0","id":0}'
RESULT = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}'
LOG = f"""\
2025-07-23T15:09:15.000Z [weather] [info] Initializing server... {{ metadata: undefined }}
2025-07-23T15:09:15.100Z [weather] [info] Using MCP server command: uv with args and path: {{
  metadata: {{
    args: [ 'run' ]
  }}
}} %o
2025-07-23T15:09:15.405Z [weather] [info] Server started and connected successfully {{ metadata: undefined }}
2025-07-23T15:09:15.427Z [weather] [info] Message from client: {INITIALIZE} {{ metadata: undefined }}
Traceback (most recent call last):
ModuleNotFoundError: No module named 'httpx'
2025-07-23T15:09:15.487Z [weather] [info] Message from server: {RESULT} {{ metadata: undefined }}
2025-07-23T15:09:15.500Z [weather] [info] Server transport closed {{ metadata: undefined }}
2025-07-23T15:09:15.500Z [weather] [error] Server disconnected. See the log. {{ metadata: undefined }}
2025-07-23T15:09:15.501Z [weather] [info] Client transport closed {{ metadata: undefined }}
"""


def read(text):
    log = ClaudeLog(io.BytesIO(text.encode() if isinstance(text, str) else text))
    return log, list(log)


def test_a_failed_start_is_read_with_its_messages_and_its_stderr():
    log, lines = read(LOG)

    assert [type(line) for line in lines] == [
        *[NoteLine] * 7,
        MessageLine,
        StderrLine,
        StderrLine,
        MessageLine,
        EofLine,
        NoteLine,
        NoteLine,
        EofLine,
        NoteLine,
    ]
    assert (lines[7].dir, lines[7].raw, lines[7].t) == ("c2s", INITIALIZE, 0.427)
    assert (lines[10].dir, lines[10].raw, lines[10].t) == ("s2c", RESULT, 0.487)
    assert (lines[8].raw, lines[8].t, lines[8].guessed) == (
        "Traceback (most recent call last):",
        0.427,
        ("t",),
    )
    assert (lines[11].dir, lines[14].dir) == ("s2c", "c2s")
    assert lines[0].text == "client log: Initializing server..."
    assert lines[13].text == "client reported: Server disconnected. See the log."
    assert lines[2].text == "client log:   metadata: {"
    assert log.header.started == "2025-07-23T15:09:15Z"
    assert [link.name for link in log.header.links.values()] == ["weather"]
    assert log.problems.count == 0
    assert any("exact text" in text for text in log.unknown)
    assert any(text.endswith("(2 times)") for text in log.unknown)


@pytest.mark.parametrize(
    "mark", ["[weather] [info]", "[info] [weather]", "[info]", "[weather] [warn]", "[weather] [info] "]
)
def test_every_order_of_name_and_level_is_known(mark):
    text = f"2025-07-23T15:09:15.427Z {mark.rstrip()} Message from client: {INITIALIZE}\n"

    log, lines = read(text)

    assert ClaudeLog.recognises(text)
    assert [line.raw for line in lines] == [INITIALIZE]
    assert [link.name for link in log.header.links.values()] == ["weather" if "weather" in mark else ""]


def test_servers_that_share_a_log_are_links_of_their_own():
    text = LOG + LOG.replace("[weather]", "[notes]").replace("15:09", "15:10")

    log, lines = read(text)

    assert [link.name for link in log.header.links.values()] == ["weather"]
    assert [line.name for line in lines if hasattr(line, "name")] == ["notes"]
    assert {line.link for line in lines} == {"1", "2"}


@pytest.mark.parametrize(
    "text", [INITIALIZE[:-30] + "... [12000 chars truncated]", "{}", "nothing", f"x {INITIALIZE}", "{" * 5000]
)
def test_a_message_that_is_not_whole_is_kept_and_told(text):
    log, lines = read(f"2025-07-23T15:09:15.427Z [weather] [info] Message from server: {text}\n")

    assert [line.raw for line in lines] == [text]
    assert isinstance(lines[0], MessageLine if text == "{}" else TextLine)
    assert log.problems.kept[0].line == 1


@pytest.mark.parametrize("raw", [b"\xff\xfe\n", b"2025-99-99T99:99:99Z [a] [info] x\n", b"\n", b"{\n}\n"])
def test_nothing_in_a_log_raises(raw):
    _, lines = read(LOG.encode() + raw)

    assert len(lines) >= 16


def test_other_logs_are_not_taken_for_one():
    assert not ClaudeLog.recognises(
        "2025-07-23 15:09:15.427 [info] Starting server a\nMessage from client: {}\n"
    )
