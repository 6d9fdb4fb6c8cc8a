"""Who watches a whole link, who sees messages only, and what streams and processes tell of themselves."""

import sys

import pytest

from mesero.errors import LaunchError
from mesero.framing import TooLong
from mesero.jsonrpc import encode_notification, encode_request
from mesero.trace.recorder import Recorder
from mesero.transports import HttpFacts, LinkObserver, Outgoing
from mesero.transports.stdio import StdioTransport
from mesero.transports.watching import MessageWatch, Watch, observer_from, open_recorder, watch_for
from tests.transports.children import script_command, until
from tests.transports.links import Link
from tests.transports.test_stream import answer_to, turns
from tests.transports.wires import Wire

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


# --- who is told what ---


def test_a_function_is_not_told_of_everything():
    assert watch_for(print, "here") is None
    assert watch_for(None, "here") is None
    assert isinstance(watch_for(Link(), "here"), Watch)


def test_a_recorder_s_link_is_told_of_everything():
    with Recorder(lambda line: None) as recorder:
        assert isinstance(recorder.link("a", "stdio", "a"), LinkObserver)


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("message", ("c2s", PING)),
        ("text", ("s2c", b"hello")),
        ("stderr", (b"hello",)),
        ("http", ("s2c", HttpFacts())),
        ("eof", ("s2c",)),
        ("exit", (0,)),
        ("note", ("hello",)),
    ],
)
def test_whatever_an_observer_raises_is_only_logged(caplog, event, arguments):
    class Broken(Link):
        @property
        def told(self):
            raise RuntimeError

        @told.setter
        def told(self, value):
            pass

    getattr(Watch(Broken(), "the server"), event)(*arguments)
    assert "the observer of the server failed" in caplog.text


def test_a_line_over_the_limit_is_told_by_its_beginning():
    link = Link()
    Watch(link, "here").frame("s2c", TooLong(max_bytes=10, beginning=b"0123456789a"))
    assert link.told[0] == ("text", "s2c", b"0123456789a")
    assert "more than 10 bytes" in link.told[1][1]


def test_a_function_sees_valid_messages_alone():
    seen = []
    watch = MessageWatch(lambda *what: seen.append(what), "here")
    watch.frame("c2s", PING)
    watch.frame("c2s", b"[" + PING + b"]")
    watch.frame("c2s", b'{"jsonrpc":"1.0"}')
    watch.frame("c2s", b"hello")
    watch.eof("c2s")
    watch.note("hello")
    assert seen == [("c2s", PING, None)] * 2


def test_a_file_is_recorded_in_and_nothing_else_is_one(tmp_path):
    recorder = open_recorder(tmp_path / "a.jsonl")
    assert isinstance(recorder, Recorder)
    recorder.close()
    assert open_recorder(print) is None
    assert open_recorder(None) is None


def test_of_a_recording_each_connection_is_a_link():
    lines = []
    with Recorder(lines.append) as recorder:
        link = observer_from(recorder, "notes", "stdio", "python notes.py")
        link("c2s", PING)
    assert b'"links":{"1":{"name":"notes","transport":"stdio","target":"python notes.py"}}' in lines[0]
    assert observer_from(print, "notes", "stdio", "python notes.py") is print


# --- streams ---


async def test_a_stream_tells_everything_that_it_gets_as_it_came():
    link = Link()
    wire = Wire(observer=link, max_bytes=100)
    await wire.transport.open()
    wire.transport.conduct.accepts_batches = True
    exchange = wire.ask(1)
    note = encode_notification("any")
    for line in (b"starting up", b'{"id":1}', b"[" + note + b"," + note + b"]", b"x" * 200):
        wire.peer.send(line + b"\n")
    await turns()
    wire.peer.send(b"unfinished")
    wire.peer.hang_up()
    await turns()
    assert exchange.is_over
    assert link.brief == [
        "message c2s",
        "message s2c",
        "message s2c",
        "message s2c",
        "text s2c",
        "note",
        "eof s2c",
        "text s2c",
    ]
    assert link.told[3][2].startswith(b"[")
    await wire.transport.aclose()


async def test_who_watches_a_stream_sees_messages_once():
    link = Link()
    wire = Wire(observer=link)
    await wire.transport.open()
    exchange = wire.ask(1)
    wire.peer.answer(1)
    await answer_to(exchange)
    await wire.transport.aclose()
    await wire.transport.aclose()
    assert link.brief == ["message c2s", "message s2c", "eof c2s", "eof s2c"]


# --- processes ---


async def ask(transport):
    await transport.open()
    return await transport.exchange(Outgoing(1, "any", encode_request(1, "any"))).receive()


@pytest.mark.skipif(sys.platform == "win32", reason="ends processes the POSIX way")
async def test_the_life_of_a_process_is_told_from_its_start_to_its_exit(tmp_path):
    link = Link()
    body = "sys.stderr.write('ready\\n'); sys.stderr.flush()\nfor request in requests(): result(request)"
    command = script_command(tmp_path, body)
    transport = StdioTransport(command, env={"KEY": "1"}, cwd=tmp_path, observer=link)
    await ask(transport)
    await until(lambda: "stderr" in link.brief)
    await transport.aclose()
    assert link.told[0][:4] == ("spawn", tuple(command), str(tmp_path), {"KEY": "1"})
    assert link.told[0][4] > 0
    rest = [event for event in link.brief[1:] if event != "stderr"]
    assert rest == ["message c2s", "message s2c", "eof c2s", "eof s2c", "exit"]
    assert ("stderr", b"ready") in link.told
    assert link.told[-1] == ("exit", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="ends processes the POSIX way")
async def test_each_start_of_a_process_that_dies_is_told_with_its_end(tmp_path):
    link = Link()
    transport = StdioTransport(script_command(tmp_path, "next(requests()); os._exit(3)"), observer=link)
    for _ in range(2):
        exchange = None
        await transport.open()
        exchange = transport.exchange(Outgoing(1, "any", encode_request(1, "any")))
        await until(lambda exchange=exchange: exchange.is_over)
    await transport.aclose()
    assert link.brief == ["spawn", "message c2s", "eof s2c", "exit"] * 2
    assert link.told[-1] == ("exit", 3)


@pytest.mark.skipif(sys.platform == "win32", reason="ends processes the POSIX way")
async def test_the_exit_of_a_server_that_only_hung_up_is_told_once_it_exits(tmp_path):
    link = Link()
    body = "os.close(1)\nfor line in sys.stdin: pass\nos._exit(7)"
    transport = StdioTransport(script_command(tmp_path, body), observer=link)
    await transport.open()
    await until(lambda: "eof s2c" in link.brief)
    assert "exit" not in link.brief
    await transport.aclose()
    assert link.brief == ["spawn", "eof s2c", "exit"]


async def test_a_start_that_fails_is_told_without_a_process():
    link = Link()
    transport = StdioTransport(["no-such-program-here"], observer=link)
    with pytest.raises(LaunchError):
        await transport.open()
    assert link.told[0] == ("spawn", ("no-such-program-here",), None, {}, None)
    assert "was not found" in link.told[1][1]
    await transport.aclose()
