import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from mesero.audit import families
from mesero.audit.rules import RULES
from mesero.trace.format import Header, encode_header, encode_line
from tests.cli.programs import invoke, run

CANARY = "canary-5eCr3t-value"
HEADER = {
    "mesero_trace": 1,
    "started": "2026-08-01T12:00:00Z",
    "by": "x",
    "links": {"1": {"name": "notes", "transport": "stdio", "target": "python notes.py"}},
}


def write(path, *lines, header=HEADER):
    placed = [{"seq": seq, "t": seq / 10, "link": "1", **line} for seq, line in enumerate(lines, start=1)]
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *placed]))
    return str(path)


def message(direction, **fields):
    return {"kind": "message", "dir": direction, "raw": json.dumps({"jsonrpc": "2.0", **fields})}


@pytest.fixture
def bad(tmp_path):
    """Text on stdout, four times; and a request without its capabilities."""
    return write(
        tmp_path / "bad.jsonl",
        *[{"kind": "text", "dir": "s2c", "raw": f"Server \x1b ready {number}"} for number in range(4)],
        message(
            "c2s",
            id=1,
            method="tools/list",
            params={"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
        ),
    )


def test_the_first_line_is_the_answer_and_errors_end_with_1(bad):
    result = invoke(["audit", bad])
    assert result.exit_code == 1
    first, *_ = result.stdout.splitlines()
    assert first.startswith(("5 errors", "6 errors"))
    assert " in 1 message" in first
    assert "error FRAME-001 " in result.stdout
    assert "(4 times)" in result.stdout
    assert "and 1 more (--all)" in result.stdout
    assert "error META-003 " in result.stdout
    assert "https://modelcontextprotocol.io/specification/" in result.stdout
    assert "\x1b" not in result.stdout
    assert "more (--all)" not in invoke(["audit", bad, "--all"]).stdout


def test_warnings_count_only_when_they_are_asked_for(tmp_path):
    families.load()
    rule = next(rule for rule in RULES.values() if rule.severity == "warning" and not rule.also)
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"".join([encode_header(Header()), *map(encode_line, rule.fails)]))
    document = json.loads(invoke(["audit", str(path), "--json"]).stdout)
    assert document["counts"] == {"error": 0, "warning": 1, "info": 0}
    assert invoke(["audit", str(path)]).exit_code == 0
    assert invoke(["audit", str(path), "--severity", "warning"]).exit_code == 1


def test_json_has_findings_diagnoses_and_notes(bad):
    document = json.loads(invoke(["audit", bad, "--json"]).stdout)
    assert document["messages"] == 1
    assert document["counts"]["error"] == len([f for f in document["findings"] if f["severity"] == "error"])
    assert {"rule", "severity", "phase", "blame", "link", "seq", "message", "fix", "spec"} <= set(
        document["findings"][0]
    )
    assert document["notes"] == []


def test_sarif_and_junit_are_what_ci_systems_read(bad):
    sarif = json.loads(invoke(["audit", bad, "--sarif"]).stdout)
    assert sarif["version"] == "2.1.0"
    assert {result["ruleId"] for result in sarif["runs"][0]["results"]} >= {"FRAME-001", "META-003"}
    report = ET.fromstring(invoke(["audit", bad, "--junit"]).stdout)
    assert int(report[0].get("failures")) >= 2
    assert invoke(["audit", bad, "--sarif", "--junit"]).exit_code == 2


def test_the_cause_of_what_failed_is_named(tmp_path):
    path = write(
        tmp_path / "t.jsonl",
        {"kind": "spawn", "command": ["npx", "-y", "server"]},
        {"kind": "note", "text": "the program 'npx' was not found"},
    )
    result = invoke(["audit", path])
    first, _, cause, fault, *_ = result.stdout.splitlines()
    assert first == "no findings in 0 messages; what failed: connection closed"
    assert cause.startswith("connection closed: ")
    assert fault == "  at fault: the client (certain, launch, CLOSED-1)"


def test_findings_are_bounded_and_all_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("mesero.cli.commands.audit._MAX_KEPT", 3)
    lines = [{"kind": "text", "dir": "s2c", "raw": "x"}] * 10
    result = invoke(["audit", write(tmp_path / "t.jsonl", *lines)])
    assert "7 more were counted" in result.stderr
    assert result.stdout.startswith("10 errors in 0 messages")
    assert "and 7 more" in result.stdout


def test_a_har_is_read_too_and_its_secrets_stay_out(tmp_path):
    request = {
        "method": "POST",
        "url": "https://example.com/mcp",
        "headers": [{"name": "Authorization", "value": f"Bearer {CANARY}"}],
        "postData": {
            "text": json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"token": CANARY}})
        },
    }
    entry = {
        "startedDateTime": "2026-08-01T12:00:00Z",
        "time": 5,
        "request": request,
        "response": {"status": 500},
    }
    path = tmp_path / "session.har"
    path.write_text(json.dumps({"log": {"creator": {}, "entries": [entry]}}))
    for option in ([], ["--json"], ["--sarif"], ["--junit"]):
        result = invoke(["audit", str(path), *option])
        assert result.exit_code in (0, 1)
        assert CANARY not in result.output


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "there is nothing in"),
        (b"nothing of interest", "there is nothing in"),
        (json.dumps({**HEADER, "mesero_trace": 99}).encode() + b"\n", "install a later mesero"),
        (b"\xff\xfe\x00", "there is nothing in"),
    ],
)
def test_bad_files_get_a_clear_message(tmp_path, content, text):
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    result = invoke(["audit", str(path)])
    assert result.exit_code == 2
    assert text in result.stderr


def test_a_last_line_that_was_cut_off_is_said_and_the_rest_judged(bad, tmp_path):
    path = tmp_path / "cut.jsonl"
    path.write_bytes(Path(bad).read_bytes()[:-20])
    result = invoke(["audit", str(path)])
    assert result.stdout.startswith("4 errors in 0 messages")
    assert "cut off" in result.stderr


def test_a_missing_file_and_a_folder_are_usage_errors(tmp_path):
    assert "No such file" in invoke(["audit", str(tmp_path / "none")]).stderr
    assert run(["audit", str(tmp_path)]).returncode == 2
