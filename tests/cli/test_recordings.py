"""Recordings that a command line names: what is wrong with them is said, and bounded."""

import pytest

from mesero.cli.printing import Output
from mesero.cli.recordings import Counted, check_not_empty, plural, reading, short_json
from mesero.errors import UsageError

HEADER = '{"mesero_trace":1,"started":"2026-08-01T12:00:00Z","by":"x","links":{}}\n'
NOTE = '{"seq":1,"t":0,"link":"1","kind":"note","text":"x"}\n'
PING = (
    r'{"seq":2,"t":0,"link":"1","kind":"message","dir":"c2s","raw":"{\"id\":1,\"method\":\"ping\"}"}' + "\n"
)


def test_lines_and_messages_are_counted(tmp_path, capsys):
    path = tmp_path / "t.jsonl"
    path.write_text(HEADER + NOTE + PING)
    with reading(str(path), Output()) as recording:
        lines = Counted(recording)
        assert len(list(lines)) == 2
    assert (lines.lines, lines.messages) == (2, 1)
    check_not_empty(lines, str(path))
    assert capsys.readouterr().err == ""


def test_problems_are_said_and_only_so_many(tmp_path, capsys):
    path = tmp_path / "t.jsonl"
    path.write_text(HEADER + NOTE + "broken\n" * 30)
    with reading(str(path), Output()) as recording:
        list(recording)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 11
    assert "line 3" in said[0]
    assert said[-1].endswith("and 20 more problems like these")


def test_what_the_file_cannot_tell_is_said(tmp_path, capsys):
    path = tmp_path / "t.txt"
    path.write_text('got {"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    with reading(str(path), Output()) as recording:
        list(recording)
    assert "cannot tell when a message passed" in capsys.readouterr().err


def test_a_file_with_nothing_in_it_is_a_usage_error(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("nothing\n")
    with reading(str(path), Output()) as recording:
        lines = Counted(recording)
        assert not list(lines)
    with pytest.raises(UsageError, match="there is nothing in"):
        check_not_empty(lines, str(path))


def test_values_are_short_and_numbers_have_their_noun():
    assert short_json({"a": "\x1b"}) == '{"a":"\\u001b"}'
    assert short_json("x" * 500).endswith("… (502 characters)")
    assert (plural(1, "error"), plural(0, "error"), plural(2, "error")) == ("1 error", "0 errors", "2 errors")
