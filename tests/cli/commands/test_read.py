import json
import sys

from tests.cli.programs import invoke, run


def test_text_is_printed(notes):
    assert invoke(["read", notes, "notes://7"]).stdout == "note 7\n"


def test_what_is_no_text_is_described(notes):
    assert (
        invoke(["read", notes, "file:///blob"]).stdout == "[image/png, 256 bytes; --output FILE saves it]\n"
    )


def test_json_is_the_whole_result(notes):
    document = json.loads(invoke(["read", notes, "file:///x", "--json"]).stdout)
    assert document["contents"] == [{"uri": "file:///x", "text": "the x", "mimeType": "text/plain"}]


def test_bytes_are_saved_as_they_are(notes, tmp_path):
    path = tmp_path / "out"
    result = invoke(["read", notes, "file:///blob", "--output", str(path)])
    assert path.read_bytes() == bytes(range(256))
    assert (result.stdout, result.stderr) == ("", f"256 bytes written to {path}\n")


def test_bytes_go_to_stdout_when_that_is_asked_for(notes):
    assert invoke(["read", notes, "file:///blob", "-o", "-"]).stdout_bytes == bytes(range(256))


def test_a_place_that_cannot_be_written_is_a_usage_error(notes):
    result = invoke(["read", notes, "file:///x", "-o", "/nowhere/at/all"])
    assert result.exit_code == 2
    assert "cannot write" in result.stderr


def test_an_unknown_uri_and_no_uri_are_usage_errors(notes):
    assert invoke(["read", notes, "none://1"]).exit_code == 2
    assert invoke(["read", notes]).exit_code == 2


BROKEN = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    result = {"contents": [{"uri": "a:b", "blob": "%%%"}], "resultType": "complete"}
    result |= {"ttlMs": 0, "cacheScope": "private"}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def test_a_blob_that_is_no_base64_is_a_protocol_violation():
    result = run(["read", "a:b", "--no-discover", "-o", "-", "--", sys.executable, "-c", BROKEN])
    assert result.returncode == 4
    assert "no base64" in result.stderr
