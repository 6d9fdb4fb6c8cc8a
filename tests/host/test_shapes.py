"""What has no file in ``examples``: the rules behind each check, host by host."""

import json

import pytest

from mesero.host.configs import read_config
from mesero.host.hosts import HOSTS
from mesero.host.jsonc import parse_jsonc
from mesero.host.problems import Report, Source
from mesero.host.shapes import check_shape


def problems_of(value, host="cursor"):
    text = value if isinstance(value, str) else json.dumps({"n": value})
    document = parse_jsonc(text)
    report = Report(Source(file="x.json", host=host), document)
    check_shape(report, document.root.members[0], HOSTS[host])
    return [(one.code, one.fix) for one in report.problems]


def codes_of(value, host="cursor"):
    return [code for code, _ in problems_of(value, host)]


@pytest.mark.parametrize("value", ["npx", 5, None, True, 1.5, []])
def test_an_entry_is_an_object(value):
    text = json.dumps({"n": value})
    assert codes_of(text) == ["entry-not-object"]


@pytest.mark.parametrize(
    ("command", "fix"),
    [
        ("npx -y n", '"command": "npx", and put "-y", "n"'),
        ("python3.12 s.py", '"python3.12"'),
        ("/usr/bin/node s.js", '"/usr/bin/node"'),
        (r"C:\x\node.exe C:\s.js", r'"C:\\x\\node.exe", and put "C:\\s.js"'),
        ('docker run "a b', '"docker"'),
    ],
)
def test_arguments_in_the_command_are_taken_apart(command, fix):
    ((code, found),) = problems_of({"command": command})
    assert code == "command-with-arguments"
    assert fix in found


@pytest.mark.parametrize("command", ["npx", "/my programs/server", "notes server", "  npx  "])
def test_a_program_may_have_blanks_in_its_name(command):
    assert codes_of({"command": command}) == []


@pytest.mark.parametrize("command", ["", "  ", None, True, {"path": "x"}, 1])
def test_the_command_is_the_name_of_a_program(command):
    assert codes_of({"command": command}) == ["command-not-string"]


def test_an_empty_list_is_a_list_too():
    assert problems_of({"command": []}) == [("command-is-list", 'Write "command": "", "args": []')]


def test_a_url_as_a_command_is_for_a_bridge_where_there_are_no_urls():
    assert problems_of({"command": "https://x"}, "claude-desktop") == [("url-in-command", "Start a bridge")]


def test_where_the_command_is_one_list_its_words_are_checked():
    assert codes_of({"type": "local", "command": ["npx", 5]}, "opencode") == ["arg-not-string"]
    assert problems_of({"type": "local", "command": 5}, "opencode")[0][1] == 'Write "command": ["npx", "…"]'


@pytest.mark.parametrize(
    ("args", "fix"), [("a 'b c'", '["a", "b c"]'), ("a 'b", '["a", "\'b"]'), (5, "[]"), ({"a": 1}, "[]")]
)
def test_arguments_are_a_list(args, fix):
    ((code, found),) = problems_of({"command": "npx", "args": args})
    assert (code, found) == ("args-not-list", f'Write "args": {fix}')


def test_an_argument_that_is_no_text_is_shown_as_text():
    assert [fix for _, fix in problems_of({"command": "x", "args": [1, None, [2]]})] == [
        'Write it in quotes: "1"',
        'Write it in quotes: "null"',
        'Write it in quotes: "[2]"',
    ]


@pytest.mark.parametrize(
    ("host", "value", "fix"),
    [
        ("cursor", {"cmd": "npx"}, "'command'"),
        ("cursor", {"command": "npx", "arguments": []}, "'args'"),
        ("cursor", {"command": "npx", "environment": {}}, "'env'"),
        ("cursor", {"command": "npx", "workdir": "/"}, "'cwd'"),
        ("cursor", {"serverUrl": "https://x"}, "'url'"),
        ("gemini", {"uri": "https://x"}, "'httpUrl' or 'url'"),
        ("codex", {"url": "https://x", "headers": {}}, "'http_headers'"),
    ],
)
def test_the_words_of_other_hosts_are_known(host, value, fix):
    assert ("wrong-member", f"Rename it to {fix}") in problems_of(value, host)


def test_arguments_of_their_own_are_put_behind_the_program():
    value = {"type": "local", "command": ["npx"], "args": "x y"}
    fix = 'Put the arguments behind the program: "command": ["npx", "x", "y"]'
    assert problems_of(value, "opencode") == [("wrong-member", fix)]
    value = {"type": "local", "command": "npx -y", "args": ["x"]}
    fix = 'Write "command": ["npx", "-y", "x"]'
    assert problems_of(value, "opencode") == [("command-not-list", fix)]
    assert any('["…"]' in fix for _, fix in problems_of({"type": "local", "args": []}, "opencode"))


def test_a_slip_is_guessed_and_a_word_like_no_other_is_left_alone():
    assert problems_of({"comand": "npx", "colour": "red"})[0] == ("unknown-member", "Did you mean 'command'?")


def test_a_server_has_a_target_unless_the_host_brings_it_along():
    assert codes_of({}) == ["no-command-or-url"]
    assert codes_of({"type": "builtin"}, "goose") == []
    assert codes_of({"settings": {}}, "zed") == []


@pytest.mark.parametrize(
    ("host", "value", "codes"),
    [
        ("claude-code", {"command": "npx"}, []),
        ("claude-code", {"transport": "http", "url": "https://x"}, []),
        ("claude-code", {"url": "https://x"}, ["type-missing"]),
        ("cursor", {"url": "https://x"}, []),
        ("goose", {"cmd": "npx"}, ["type-missing"]),
        ("goose", {"uri": "https://x"}, ["type-missing"]),
        ("cursor", {"type": 5, "command": "npx"}, ["type-unknown"]),
        ("cursor", {"type": "stdio", "url": "https://x"}, ["type-contradicts"]),
        ("cursor", {"type": "sse", "command": "npx"}, ["type-contradicts"]),
        ("cursor", {"type": "stdio", "command": "npx", "url": "https://x"}, ["command-and-url"]),
        ("goose", {"type": ["odd"], "cmd": "npx"}, ["type-unknown"]),
    ],
)
def test_the_type_is_written_where_the_host_wants_it_and_fits(host, value, codes):
    assert codes_of(value, host) == codes


def test_dates_of_toml_have_a_name_too():
    text = "[mcp_servers.n]\ncommand = 2001-01-01\nenv = { A = 2001-01-01 }\nargs = [2001-01-01]\n"
    found = read_config(text, Source(file="config.toml", host="codex")).problems
    assert [one.code for one in found] == ["command-not-string", "env-value-not-string", "arg-not-string"]
    assert "is a date" in found[0].message
