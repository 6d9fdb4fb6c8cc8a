import json

import pytest

from tests.cli.programs import invoke

HEADER = {"mesero_trace": 1, "started": "2026-08-01T12:00:00Z", "by": "x", "links": {}}


def write(path, *messages):
    lines = [json.dumps(HEADER)]
    for seq, (direction, message) in enumerate(messages, start=1):
        line = {"seq": seq, "t": seq, "link": "1", "kind": "message", "dir": direction}
        lines.append(json.dumps({**line, "raw": json.dumps(message)}))
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def call(number, method, params, result):
    return [
        ("c2s", {"jsonrpc": "2.0", "id": number, "method": method, "params": params}),
        ("s2c", {"jsonrpc": "2.0", "id": number, "result": result}),
    ]


@pytest.fixture
def before(tmp_path):
    return write(
        tmp_path / "before.jsonl",
        *call(1, "tools/list", {}, {"tools": [{"name": "a"}, {"name": "b\x1b"}]}),
        *call(2, "tools/call", {"name": "a"}, {"n": 1, "gone": True}),
    )


@pytest.fixture
def after(tmp_path):
    return write(
        tmp_path / "after.jsonl",
        *call(5, "tools/call", {"name": "a"}, {"n": 2, "added": "x" * 500}),
        *call(6, "tools/list", {}, {"tools": [{"name": "a"}, {"name": "c"}]}),
    )


def test_the_same_is_no_difference(before):
    result = invoke(["diff", before, before])
    assert (result.exit_code, result.stdout) == (0, "no differences\n")


def test_differences_are_counted_and_told(before, after):
    result = invoke(["diff", before, after])
    assert result.exit_code == 1
    first, blank, *rest = result.stdout.splitlines()
    assert (first, blank) == ("3 differences: 1 added, 1 missing, 1 changed", "")
    assert rest[0] == "~ changed call tools/call a  (line 3 → 1)"
    assert "    $.result.n: 1 → 2" in rest
    assert "    $.result.gone: gone, was true" in rest
    assert any(line.startswith('    $.result.added: added "xxx') and line.endswith(")") for line in rest)
    assert "- missing tool b\\x1b  (line 1)" in rest
    assert "+ added tool c  (line 3)" in rest


def test_many_changes_are_cut_unless_all_are_asked_for(tmp_path):
    one = write(tmp_path / "1", *call(1, "x", {}, {str(number): 1 for number in range(30)}))
    other = write(tmp_path / "2", *call(1, "x", {}, {str(number): 2 for number in range(30)}))
    assert "and 20 more (--all)" in invoke(["diff", one, other]).stdout
    assert len(invoke(["diff", one, other, "--all"]).stdout.splitlines()) == 33


def test_json_is_one_document(before, after):
    document = json.loads(invoke(["diff", before, after, "--json"]).stdout)
    changed, *_ = document["differences"]
    assert (changed["kind"], changed["seq_before"], changed["seq_after"]) == ("changed", 3, 1)
    assert {"path": "$.result.gone", "before": True} in changed["changes"]


def test_files_that_cannot_be_read_or_hold_nothing_are_usage_errors(before, tmp_path):
    (tmp_path / "empty").write_text("")
    for words in ([before, str(tmp_path / "nothing")], [str(tmp_path / "empty"), before], [before]):
        assert invoke(["diff", *words]).exit_code == 2
