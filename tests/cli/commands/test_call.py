import json
import os
import sys

import pytest

from tests.cli.programs import OnTerminal, invoke, run


def test_the_first_line_is_the_answer(notes):
    result = invoke(["call", notes, "add", "a=1", "b=4"])
    assert (result.exit_code, result.stdout) == (0, "5\n")


def test_a_tool_of_a_command_is_called_with_its_words_in_front(notes):
    env = ["--env", f"PYTHONPATH={os.environ['PYTHONPATH']}"] if "PYTHONPATH" in os.environ else []
    result = run(["call", "add", "a=1", *env, "--", sys.executable, notes])
    assert (result.returncode, result.stdout) == (0, "3\n")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (['{"a": 2, "b": 3}'], "5"),
        (["a:=2"], "4"),
        ([' {"a": 2}'], "4"),
    ],
)
def test_arguments_are_an_object_or_words(notes, words, answer):
    assert invoke(["call", notes, "add", *words]).stdout == f"{answer}\n"


def test_arguments_come_from_stdin(notes):
    assert invoke(["call", notes, "add", "-"], stdin='{"a": 5}').stdout == "7\n"
    assert invoke(["call", notes, "add", "-"], stdin="[1]").exit_code == 2


def test_a_list_is_collected_and_a_file_is_read(notes, tmp_path):
    (tmp_path / "sep").write_text("--")
    words = ["words=a", "words=b", f"sep=@{tmp_path / 'sep'}"]
    assert invoke(["call", notes, "join", *words]).stdout == "a--b\n"
    assert invoke(["call", notes, "join", "sep=@/nowhere"]).exit_code == 2


def test_json_is_one_document(notes):
    result = invoke(["call", notes, "add", "a=1", "--json"])
    document = json.loads(result.stdout)
    assert document["structuredContent"] == 3
    assert document["isError"] is False


def test_a_tool_that_failed_is_exit_code_1_with_its_words_on_stdout(notes):
    result = invoke(["call", notes, "fail"])
    assert result.exit_code == 1
    assert "boom" in result.stdout
    assert "'fail' says that it failed" in result.stderr
    assert json.loads(invoke(["call", notes, "fail", "--json"]).stdout)["isError"] is True


def test_an_unknown_tool_is_answered_with_close_ones(notes):
    result = invoke(["call", notes, "ad"])
    assert result.exit_code == 2
    assert "no tool 'ad'. Did you mean add?" in result.stderr
    assert "It has add, " in invoke(["call", notes, "zzz"]).stderr


def test_no_tool_is_a_usage_error(notes):
    result = invoke(["call", notes])
    assert result.exit_code == 2
    assert "no tool is named" in result.stderr


def test_a_value_of_the_wrong_type_is_a_usage_error_before_anything_is_called(notes):
    result = invoke(["call", notes, "add", "a=x", "--show-wire"])
    assert result.exit_code == 2
    assert "'a': 'x' is not a whole number" in result.stderr
    assert "tools/call" not in result.stderr


def test_what_a_server_says_cannot_steer_the_terminal(notes):
    assert invoke(["call", notes, "rude"]).stdout == "red \\x1b[31m text\\x9b5m\n"
    assert "\\u001b[31m" in invoke(["call", notes, "rude", "--json"]).stdout


def test_progress_is_lines_with_verbose(notes):
    result = invoke(["call", notes, "slow", "n=2", "-v"])
    assert result.stdout == "done\n"
    assert "progress: 1 of 2 [b]step[/b] 0\nprogress: 2 of 2" in result.stderr
    assert "progress" not in invoke(["call", notes, "slow", "n=2"]).stderr


def test_a_question_is_answered_from_the_command_line(notes):
    result = invoke(["call", notes, "ask", "--answer", "name=Ann", "--answer", "ok=true"])
    assert result.stdout == "accept Who(name='Ann', age=30, colour='red', ok=True)\n"
    assert invoke(["call", notes, "ask", "--decline"]).stdout == "decline None\n"
    assert invoke(["call", notes, "agree", "--accept"]).stdout == "accept\n"


def test_a_question_without_an_answer_does_not_hang(notes):
    result = invoke(["call", notes, "ask"])
    assert result.exit_code == 2
    assert "--answer name=…" in result.stderr


def test_missing_arguments_are_asked_for_on_a_terminal(notes):
    with OnTerminal(["call", notes, "add", "b=3"]) as terminal:
        terminal.wait_for("a [whole number]: ")
        terminal.type("4")
        assert terminal.result() == (0, "7\n")


def test_missing_arguments_are_left_to_the_server_without_a_terminal(notes):
    result = invoke(["call", notes, "add"])
    assert result.exit_code == 1
    assert "a" in result.stdout


UNLISTED = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    method = request["method"]
    if method == "server/discover":
        result = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        result |= {"ttlMs": 0, "cacheScope": "private"}
    elif method == "tools/call" and request["params"]["name"] == "echo":
        text = json.dumps(request["params"]["arguments"])
        result = {"content": [{"type": "text", "text": text}], "isError": False}
    else:
        code = -32602 if method == "tools/call" else -32603
        error = {"code": code, "message": "no"}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
        continue
    result["resultType"] = "complete"
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


def test_a_server_that_cannot_list_its_tools_can_still_be_called():
    command = ["--", sys.executable, "-c", UNLISTED]
    result = invoke(["call", "echo", "a=1", "b=x", *command])
    assert json.loads(result.stdout) == {"a": 1, "b": "x"}
    assert "arguments are guessed" in result.stderr
    result = invoke(["call", "other", *command])
    assert result.exit_code == 2
    assert "no (-32602)" in result.stderr


def test_a_server_without_tools_is_not_called(tmp_path):
    path = tmp_path / "empty.py"
    path.write_text("import mesero\nserver = mesero.Server('empty')\n")
    result = invoke(["call", str(path), "add"])
    assert result.exit_code == 2
    assert "does not declare 'tools'" in result.stderr
