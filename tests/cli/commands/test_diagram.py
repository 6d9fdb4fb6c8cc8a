import json

import pytest

from mesero.trace.format import encode_header, encode_line
from tests.cli.programs import invoke
from tests.diagram.recordings import Recording, handshake, stateless


def write(path, made):
    path.write_bytes(encode_header(made.header) + b"".join(map(encode_line, made.lines)))
    return str(path)


@pytest.fixture
def trace(tmp_path):
    return write(tmp_path / "trace.jsonl", handshake())


def test_a_trace_is_drawn_as_text(trace):
    result = invoke(["diagram", trace])
    assert result.exit_code == 0
    assert result.stdout.startswith("trace.jsonl: 10 messages")
    assert "── select era ──" in result.stdout
    assert "FRAME-001" in result.stdout


def test_findings_can_be_left_out(trace):
    assert "FRAME-001" not in invoke(["diagram", trace, "--no-audit"]).stdout


def test_the_format_follows_from_the_name_of_the_file(trace, tmp_path):
    for name, beginning in (
        ("a.html", "<!doctype html>"),
        ("a.mmd", "sequenceDiagram"),
        ("a.txt", "trace.jsonl"),
    ):
        result = invoke(["diagram", trace, "-o", str(tmp_path / name)])
        assert result.exit_code == 0
        assert result.stdout == ""
        assert name in result.stderr
        assert (tmp_path / name).read_text().startswith(beginning)
    assert invoke(["diagram", trace, "--format", "mermaid"]).stdout.startswith("sequenceDiagram")


def test_json_is_what_would_be_drawn(trace):
    drawing = json.loads(invoke(["diagram", trace, "--json"]).stdout)
    assert drawing["messages"] == 10
    assert drawing["rows"][-1]["kind"] == "exit"


def test_a_part_can_be_drawn(trace):
    drawing = json.loads(
        invoke(["diagram", trace, "--json", "--from", "5", "--to", "6", "--gap", "0"]).stdout
    )
    assert [row["seq"] for row in drawing["rows"] if row["kind"] != "phase"] == [5, 6]
    assert "nobody" not in invoke(["diagram", trace, "--link", "nobody"]).stdout
    assert "0 messages" in invoke(["diagram", trace, "--link", "nobody"]).stdout


def test_a_file_that_was_cut_is_drawn_as_far_as_it_goes(tmp_path):
    path = tmp_path / "cut.jsonl"
    write(path, stateless())
    path.write_bytes(path.read_bytes()[:-40])
    result = invoke(["diagram", str(path)])
    assert result.exit_code == 0
    assert "cut off" in result.stdout


def test_other_files_are_drawn_too(tmp_path):
    path = tmp_path / "log.txt"
    path.write_text('12:00 sent {"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    assert "ping #1" in invoke(["diagram", str(path)]).stdout


def test_what_cannot_be_read_or_written_is_a_usage_error(trace, tmp_path):
    assert invoke(["diagram", str(tmp_path / "none")]).exit_code == 2
    result = invoke(["diagram", trace, "-o", str(tmp_path / "no" / "where.html")])
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr


def test_nothing_in_a_recording_steers_the_terminal(tmp_path):
    made = Recording(name="\x1b[31m", target="\u202e")
    made.c2s({"jsonrpc": "2.0", "id": "\x1b[2J", "method": "\x1b]0;x\x07", "params": {"name": "\u202e"}})
    path = write(tmp_path / "trace.jsonl", made)
    for form in ("text", "mermaid"):
        shown = invoke(["diagram", path, "--format", form]).stdout
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)
