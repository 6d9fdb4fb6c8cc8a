import json
import sys

from tests.cli.programs import OnTerminal, invoke


def test_the_messages_are_printed_with_their_roles(notes):
    result = invoke(["prompt", notes, "summarize", "topic=gardens"])
    assert result.stdout == "user:\n  Summarize gardens, short\n"


def test_every_argument_is_a_text(notes):
    assert "Summarize 5, true" in invoke(["prompt", notes, "summarize", "topic=5", "style=true"]).stdout
    assert "Summarize x" in invoke(["prompt", notes, "summarize", '{"topic": "x"}']).stdout
    result = invoke(["prompt", notes, "summarize", '{"topic": 5}'])
    assert result.exit_code == 2
    assert "are texts" in result.stderr


def test_json_is_the_whole_result(notes):
    document = json.loads(invoke(["prompt", notes, "summarize", "topic=x", "--json"]).stdout)
    assert document["messages"][0]["content"]["text"] == "Summarize x, short"


def test_an_unknown_prompt_is_answered_with_close_ones(notes):
    assert "Did you mean summarize?" in invoke(["prompt", notes, "sumarize"]).stderr
    assert "It has summarize" in invoke(["prompt", notes, "zzz"]).stderr


def test_a_missing_argument_is_the_server_s_own_refusal_without_a_terminal(notes):
    result = invoke(["prompt", notes, "summarize"])
    assert result.exit_code == 2
    assert "topic" in result.stderr


def test_no_prompt_is_a_usage_error(notes):
    assert invoke(["prompt", notes]).exit_code == 2


def test_a_missing_argument_is_asked_for_on_a_terminal(notes):
    with OnTerminal(["prompt", notes, "summarize"]) as terminal:
        terminal.wait_for("topic [text]: ")
        terminal.type("gardens")
        code, out = terminal.result()
    assert (code, out) == (0, "user:\n  Summarize gardens, short\n")


ODD = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["method"] == "server/discover":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"prompts": {}}}
        answer = {"result": result | {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}}
    else:
        answer = {"error": {"code": -32602, "message": f"no {request['method']}"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
"""


def test_a_server_that_cannot_list_its_prompts_is_heard_itself():
    result = invoke(["prompt", "x", "--", sys.executable, "-c", ODD])
    assert result.exit_code == 2
    assert "no prompts/get (-32602)" in result.stderr
