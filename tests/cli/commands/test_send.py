import json
import sys

import pytest

from tests.cli.programs import invoke, run


def test_the_raw_answers_are_printed_as_they_come(notes):
    result = invoke(["send", notes, "no JSON"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["error"]["code"] == -32700


def test_what_compose_prints_can_be_sent(notes):
    message = run(["compose", "server/discover", "--id", "9"]).stdout
    result = run(["send", notes, "-"], input=message)
    assert json.loads(result.stdout)["id"] == 9


def test_a_command_is_sent_to_with_the_word_in_front():
    program = "import sys; print('got', sys.stdin.readline().strip()); print('\\x1b', file=sys.stderr)"
    result = run(["send", "x y", "--stderr", "--", sys.executable, "-c", program])
    assert (result.returncode, result.stdout, result.stderr) == (0, "got x y\n", "server: \\x1b\n")


def test_json_is_one_document_with_the_raw_texts(notes):
    document = json.loads(invoke(["send", notes, "no JSON", "--json"]).stdout)
    assert json.loads(document["answers"][0])["error"]["code"] == -32700


def test_silence_is_a_time_out():
    result = invoke(
        ["send", "x", "--wait", "0.2", "--", sys.executable, "-c", "import sys; sys.stdin.read()"]
    )
    assert result.exit_code == 6
    assert "--wait" in result.stderr


@pytest.mark.parametrize("words", [[], ["a", "b"], ["x", "--wait", "0"]])
def test_no_word_two_words_and_no_time_are_usage_errors(notes, words):
    assert invoke(["send", notes, *words]).exit_code == 2


def test_over_http_status_and_type_are_said_and_the_body_is_printed(endpoint):
    endpoint.status, endpoint.answer = 400, b'{"no": "\x1b"}'
    result = invoke(["send", endpoint.url, "{}"])
    assert (result.exit_code, result.stdout) == (0, '{"no": "\\x1b"}\n')
    assert "HTTP 400 Bad Request · application/json" in result.stderr


def test_over_http_json_holds_status_headers_and_bodies(endpoint):
    document = json.loads(invoke(["send", endpoint.url, "{}", "--json"]).stdout)
    assert document["status"] == 200
    assert document["headers"]["Content-Type"] == "application/json"
    assert document["answers"] == ["{}"]
