"""What has no file in ``examples``: the rules behind each check, host by host."""

import json

import pytest

from mesero.host.hosts import HOSTS
from mesero.host.jsonc import parse_jsonc
from mesero.host.problems import Report, Source
from mesero.host.values import check_name, check_values


def problems_of(value, host="cursor", *, environment=None, scope="user", **root):
    document = parse_jsonc(json.dumps({"n": value, **root}))
    report = Report(Source(file="x.json", host=host, scope=scope), document)
    check_values(report, document.root.members[0], HOSTS[host], environment)
    return [(one.code, one.severity, one.fix) for one in report.problems]


def messages_of(value):
    document = parse_jsonc(json.dumps({"n": value}))
    report = Report(Source(file="x.json", host="cursor"), document)
    check_values(report, document.root.members[0], HOSTS["cursor"], None)
    return " ".join(one.message for one in report.problems)


def names_of(name, host="cursor"):
    document = parse_jsonc(json.dumps({name: {}}))
    report = Report(Source(file="x.json", host=host), document)
    check_name(report, document.root.members[0], HOSTS[host])
    return [(one.code, one.fix) for one in report.problems]


@pytest.mark.parametrize(
    ("host", "value", "fix"),
    [
        ("cursor", {"args": ["$TOKEN"]}, "Write ${env:TOKEN}"),
        ("claude-code", {"env": {"A": "${env:TOKEN}"}}, "Write ${TOKEN}"),
        ("claude-code", {"env": {"A": "${input:t}"}}, "Write the value itself"),
        ("opencode", {"command": ["x", "${TOKEN}"]}, "Write {env:TOKEN}"),
        ("gemini", {"env": {"A": "{env:TOKEN}"}}, "Write ${TOKEN}"),
        ("windsurf", {"args": ["%TOKEN%"]}, "Write ${env:TOKEN}"),
        ("codex", {"args": ["${TOKEN}"]}, "Write the value itself"),
        ("zed", {"env": {"A": "${TOKEN}"}}, "Write the value itself, or leave it out and set TOKEN"),
        ("zed", {"command": {"path": "x", "env": "${TOKEN}"}}, "Write the value itself"),
        ("goose", {"envs": {"A": "${TOKEN}"}}, "Write the value itself, or leave it out and set TOKEN"),
    ],
)
def test_what_a_host_does_not_follow_is_written_as_it_does(host, value, fix):
    ((code, severity, found),) = problems_of(value, host)
    assert (code, severity) == ("variable-not-expanded", "error")
    assert found.startswith(fix)


@pytest.mark.parametrize(
    ("host", "value"),
    [
        ("cursor", {"args": ["${workspaceFolder}", "${/}", "${env:TOKEN}"]}),
        ("goose", {"uri": "https://${TOKEN}.org", "headers": {"A": "$TOKEN"}}),
        ("cursor", {"args": ["-c", "echo $HOME; run"]}),
        ("cursor", {"description": "${TOKEN}", "tools": ["$TOKEN"]}),
        ("claude-code", {"args": ["${NOPE:-x}"]}),
    ],
)
def test_what_a_host_or_a_shell_follows_is_fine_and_what_is_not_read_too(host, value):
    assert problems_of(value, host, environment={"TOKEN": "t"}) == []


def test_an_unset_variable_is_said_where_the_environment_is_known():
    value = {"env": {"A": "${env:NOPE}"}}
    assert problems_of(value) == []
    ((code, severity, fix),) = problems_of(value, environment={})
    assert (code, severity) == ("variable-unset", "warning")
    assert fix == "Set NOPE where Cursor is started, and start it anew"


def test_inputs_stand_beside_the_servers_or_among_the_settings():
    value = {"env": {"A": "${input:t}"}}
    assert problems_of(value, "vscode")[0][0] == "input-undefined"
    assert problems_of(value, "vscode", inputs=[5, {"id": "t"}]) == []
    assert problems_of(value, "vscode", mcp={"inputs": [{"id": "t"}]}) == []
    assert problems_of(value, "vscode", inputs=5)[0][0] == "input-undefined"


@pytest.mark.parametrize(
    "text",
    [
        "<API_KEY>",
        "your-api-key",
        "YOUR_TOKEN_HERE",
        "[your key]",
        "xxxx",
        "...",
        "changeme",
        "insert-your-key",
    ],
)
def test_texts_of_examples_are_known(text):
    assert [code for code, *_ in problems_of({"env": {"API_KEY": text}})] == ["placeholder"]
    assert [code for code, *_ in problems_of({"headers": {"Authorization": f"Bearer {text}"}})] == [
        "placeholder"
    ]


def test_a_text_of_an_example_is_named_with_its_place_and_shown_unless_it_may_be_a_password():
    found = messages_of({"env": {"API_KEY": "<YOUR_KEY>"}})
    assert "'API_KEY' of 'env' is '<YOUR_KEY>', which is what an example had there" in found
    found = messages_of({"env": {"DB_PASSWORD": "mypassword"}})
    assert "'DB_PASSWORD' of 'env' is a text of 10 characters" in found
    assert [code for code, *_ in problems_of({"env": {"DB_PASSWORD": "mypassword123"}})] == [
        "secret-in-clear"
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"env": {"MODE": "production", "PIN": "1"}},
        {"headers": {"X-Region": "eu-west"}},
        {"env": {"API_KEY": "${env:API_KEY}"}},
        {"args": ["--port", "8080"]},
    ],
)
def test_what_is_no_secret_is_not_called_one(value):
    assert problems_of(value) == []


@pytest.mark.parametrize(
    ("host", "value", "fix"),
    [
        ("cursor", {"env": {"API_KEY": "c0ffee00"}}, "Put it into a variable and write ${env:API_KEY}"),
        ("vscode", {"headers": {"X-Api-Key": "c0ffee00"}}, "write ${input:x_api_key}"),
        ("claude-code", {"args": ["--api-key=c0ffee00"]}, "write ${TOKEN}"),
        ("goose", {"envs": {"API_KEY": "c0ffee00"}}, "expands no variables there"),
        (
            "codex",
            {"http_headers": {"X-Api-Key": "c0ffee00"}},
            'env_http_headers = { "X-Api-Key" = "X_API_KEY" }',
        ),
    ],
)
def test_a_secret_has_a_better_place_by_the_rules_of_the_host(host, value, fix):
    ((code, severity, found),) = problems_of(value, host)
    assert (code, severity) == ("secret-in-clear", "info")
    assert fix in found


@pytest.mark.parametrize(
    ("url", "codes"),
    [
        ("https://x.org/mcp", []),
        ("http://localhost:8000/mcp", []),
        ("http://[::1]/mcp", []),
        ("http://x.org/mcp", ["url-not-encrypted"]),
        ("x.org", ["url-not-http"]),
        ("http://[x", ["url-not-http"]),
        ("ftp://x.org", ["url-not-http"]),
        ("https://", ["url-not-http"]),
        ("https://u:c0ffee00@x.org/mcp", ["secret-in-url"]),
        ("https://x.org/mcp?key=c0ffee00", ["secret-in-url"]),
        ("${env:URL}?key=c0ffee00", []),
    ],
)
def test_a_url_is_one_of_http_encrypted_and_without_secrets(url, codes):
    assert [code for code, *_ in problems_of({"url": url})] == codes


def test_a_secret_in_a_url_that_is_shared_is_a_warning():
    ((_, severity, _),) = problems_of({"url": "https://x.org/?token=c0ffee00"}, scope="project")
    assert severity == "warning"


@pytest.mark.parametrize(
    ("host", "name", "codes"),
    [
        ("cursor", "notes", []),
        ("cursor", " ", ["name-empty"]),
        ("cursor", "a" * 39, []),
        ("cursor", "a" * 40, ["name-too-long"]),
        ("claude-code", "a" * 34, ["name-too-long"]),
        ("claude-code", "a" * 80, ["name-too-long"]),
        ("cursor", "a.b c", ["name-characters"]),
        ("gemini", "a_b", ["name-characters"]),
        ("cursor", "a_b", []),
    ],
)
def test_a_name_leaves_room_for_those_of_tools_and_has_their_characters(host, name, codes):
    assert [code for code, _ in names_of(name, host)] == codes


def test_a_better_name_is_proposed():
    assert names_of("my notes!") == [("name-characters", "Call it 'my-notes'")]
    assert names_of("ü") == [("name-characters", "Call it 'server'")]
