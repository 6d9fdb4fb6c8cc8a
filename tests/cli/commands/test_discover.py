import json
import re
import sys

from tests.cli.programs import invoke


def test_the_first_line_names_the_server_its_revision_and_its_era(notes):
    lines = invoke(["discover", notes]).stdout.splitlines()
    assert lines[0] == "notes 1.2 (Notes) speaks 2026-07-28 (modern)"
    assert lines[1].startswith("  because: server/discover was answered")


def test_what_it_offers_and_what_it_may_ask_are_two_blocks(notes):
    text = invoke(["discover", notes]).stdout
    offers, asks = text.split("What it may ask of this client")
    assert "  resources    2, changes are announced, single ones can be watched\n" in offers
    assert "  templates    1" in offers
    assert "  elicitation  form, url\n" in asks
    assert "  roots        no (give --root DIR)\n" in asks
    assert "  roots        yes\n" in invoke(["discover", notes, "--root", "/"]).stdout
    assert "elicitation" not in offers


def test_instructions_are_shown_without_what_could_steer_the_terminal(notes):
    assert invoke(["discover", notes]).stdout.endswith("Instructions\n  Be brief.\n  Second \\x1b[31mline\n")


def test_json_has_the_same_facts(notes):
    document = json.loads(invoke(["discover", notes, "--json"]).stdout)
    assert document["server"]["name"] == "notes"
    assert document["revision"] == "2026-07-28"
    assert document["counts"]["prompts"] == 1
    assert document["capabilities"]["tools"] == {"listChanged": True}
    assert document["mayAsk"] == {"elicitation": ["form", "url"], "roots": False, "sampling": False}


ODD = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "server/discover":
        result = {
            "supportedVersions": ["2026-07-28"], "resultType": "complete",
            "ttlMs": 0, "cacheScope": "private",
            "capabilities": {"tools": {}, "extensions": {"com.example/x": {"a": 1}, "com.example/y": {}}},
        }
        answer = {"result": result}
    else:
        answer = {"error": {"code": -32603, "message": "out of order"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
"""


def test_a_list_that_cannot_be_had_does_not_hide_the_rest():
    text = invoke(["discover", "--", sys.executable, "-c", ODD]).stdout
    assert text.startswith("a server without a name speaks 2026-07-28")
    assert "tools        cannot be listed: " in text
    assert "out of order" in text
    assert "  prompts      none\n" in text
    assert '  extension    com.example/x {"a":1}\n' in text
    assert "  extension    com.example/y\n" in text


def test_words_too_many_and_no_discovery_are_usage_errors(notes):
    assert invoke(["discover", notes, "more"]).exit_code == 2
    assert invoke(["discover", notes, "--no-discover"]).exit_code == 2


OLD = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    if request["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "old", "version": "3"}}
        answer = {"result": {"capabilities": {"tools": {}}, **result}}
    elif request["method"] == "tools/list":
        answer = {"result": {"tools": []}}
    else:
        answer = {"error": {"code": -32601, "message": "unknown"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
"""


def test_a_server_of_the_older_era_is_shown_with_the_evidence_for_it():
    lines = invoke(["discover", "--", sys.executable, "-c", OLD]).stdout.splitlines()
    assert lines[0] == "old 3 speaks 2025-06-18 (legacy)"
    assert re.fullmatch(r"  because: the probe was answered -32601 in \d+ ms", lines[1])
    assert lines[2] == ""
    assert "  tools        0" in lines


def test_an_era_can_be_given():
    found = json.loads(
        invoke(["discover", "--json", "--era", "legacy", "--", sys.executable, "-c", OLD]).stdout
    )
    assert found["era"] == "legacy"
    assert found["verdict"].startswith("era= says so")
    assert found["decision"]["revision"] == "2025-06-18"
    assert invoke(["discover", "--era", "modern", "--", sys.executable, "-c", OLD]).exit_code == 4
    assert invoke(["discover", "--era", "1999", "--", sys.executable, "-c", OLD]).exit_code == 2


def test_a_given_era_is_asked_what_it_offers(notes):
    assert invoke(["discover", notes, "--era", "modern"]).stdout.startswith(
        "notes 1.2 (Notes) speaks 2026-07-28"
    )
