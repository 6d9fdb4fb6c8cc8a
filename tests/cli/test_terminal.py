import io
import os
import pty
import sys

import pytest

from mesero.cli.printing import Output
from mesero.cli.terminal import Terminal


@pytest.fixture
def terminal(monkeypatch):
    """A terminal and the end of it that a person would hold."""
    ours, theirs = pty.openpty()
    with (
        os.fdopen(theirs, "r", encoding="utf-8") as stdin,
        os.fdopen(os.dup(theirs), "w", encoding="utf-8") as stderr,
    ):
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stderr", stderr)
        yield Terminal(Output()), ours
    os.close(ours)


async def test_a_line_is_asked_for_and_read(terminal):
    asked, person = terminal
    assert asked.is_interactive
    os.write(person, "Änn\nnext\n".encode())
    assert await asked.ask("Name: ") == "Änn"
    assert await asked.ask("Next: ") == "next"


async def test_ctrl_d_is_the_end(terminal):
    asked, person = terminal
    os.write(person, b"\x04")
    with pytest.raises(EOFError):
        await asked.ask("Name: ")


def test_nobody_is_asked_where_nobody_is_to_be_asked(terminal):
    asked, _ = terminal
    assert not Terminal(asked.output, may_ask=False).is_interactive


def test_a_pipe_is_no_terminal(terminal, monkeypatch):
    asked, _ = terminal
    monkeypatch.setattr(sys, "stdin", io.StringIO("x\n"))
    assert not Terminal(asked.output).is_interactive
    monkeypatch.setattr(sys, "stdin", None)
    assert not Terminal(asked.output).is_interactive
