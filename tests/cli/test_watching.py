import pytest

from mesero.cli.printing import Output
from mesero.cli.watching import ProgressDisplay, WireDisplay, describe_message, log_line_of
from mesero.client import Progress
from mesero.transports import HttpFacts
from mesero.types import LoggingMessageParams
from tests.cli.programs import OnTerminal, without_colours

RESULT = b'{"jsonrpc":"2.0","id":"a","result":{}}'


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', "request tools/list id 1"),
        (b'{"jsonrpc":"2.0","method":"notifications/x"}', "notification notifications/x"),
        (RESULT, "result id 'a'"),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', "error -32601 id 1: no"),
        (b'{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}', "error -32700 no id: no"),
        (b"noise", "no message"),
    ],
)
def test_a_message_is_described_in_a_few_words(raw, text):
    assert describe_message(raw) == text


def test_messages_are_shown_with_arrow_size_and_http_status(capsys):
    show = WireDisplay(Output())
    show("c2s", b'{"jsonrpc":"2.0","id":1,"method":"x\\u001b"}', HttpFacts())
    show("s2c", RESULT, HttpFacts(status=200, is_event=True))
    show("s2c", RESULT, None)
    assert capsys.readouterr().err.splitlines() == [
        "→ request x\\x1b id 1 · 43 bytes",
        "← result id 'a' · 38 bytes · HTTP 200 event",
        "← result id 'a' · 38 bytes",
    ]


def test_verbose_shows_the_message_too(capsys):
    WireDisplay(Output(is_verbose=True))("s2c", b"\xff\x1b", None)
    assert capsys.readouterr().err.splitlines()[1] == "  \\xff\\x1b"


def test_progress_without_a_terminal_is_lines_and_only_when_verbose(capsys):
    assert not ProgressDisplay(Output()).is_wanted
    display = ProgressDisplay(Output(is_verbose=True))
    assert display.is_wanted
    display.show(Progress(1, 4, "a\nb"))
    display.show(Progress(2.5))
    display.stop()
    assert capsys.readouterr().err == "progress: 1 of 4 a\\nb\nprogress: 2.5\n"


def test_progress_on_a_terminal_is_a_bar_that_goes_away(notes):
    with OnTerminal(["call", notes, "slow", "n=30"]) as terminal:
        terminal.wait_for("[b]step[/b]")
        code, out = terminal.result()
        assert (code, out) == (0, "done\n")
        assert "/30" in without_colours(terminal.seen)


def test_a_log_message_is_one_safe_line():
    assert log_line_of(LoggingMessageParams("info", "a\nb\x1b")) == "[info] a\\nb\\x1b"
    assert log_line_of(LoggingMessageParams("error", {"a": 1}, logger="db")) == '[error db] {"a":1}'
