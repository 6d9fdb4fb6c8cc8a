import json

import pytest

from mesero.host.entries import Launch, entry_of, launch_for
from mesero.host.hosts import HOSTS
from mesero.host.jsonc import parse_jsonc


def entry(value, host="cursor"):
    (member,) = parse_jsonc(json.dumps({"n": value})).root.members
    return entry_of(member, HOSTS[host], scope="user", file="f.json", line=2, column=3)


def test_a_command_has_arguments_variables_and_a_folder():
    found = entry({"command": "npx", "args": ["-y", 5], "env": {"A": "b", "C": 1, "D": None}, "cwd": "/x"})
    assert (found.name, found.kind, found.command, found.args) == ("n", "stdio", "npx", ("-y", "5"))
    assert (found.env, found.cwd, found.url) == ({"A": "b", "C": "1"}, "/x", None)
    assert (found.file, found.line, found.column, found.scope, found.host) == (
        "f.json",
        2,
        3,
        "user",
        "cursor",
    )
    assert found.raw["env"]["D"] is None
    assert not found.is_disabled


def test_a_url_has_headers():
    found = entry({"url": "https://x/mcp", "headers": {"A": "b"}})
    assert (found.kind, found.url, found.headers, found.command) == (
        "http",
        "https://x/mcp",
        {"A": "b"},
        None,
    )


@pytest.mark.parametrize(
    ("host", "value", "kind"),
    [
        ("claude-code", {"type": "sse", "url": "https://x"}, "sse"),
        ("plain", {"transport": "streamable-http", "url": "https://x"}, "http"),
        ("gemini", {"httpUrl": "https://x"}, "http"),
        ("gemini", {"url": "https://x"}, "sse"),
        ("goose", {"type": "builtin"}, "builtin"),
        ("opencode", {"type": "remote", "url": "https://x"}, "http"),
        ("vscode", {"type": "odd", "command": "x"}, "stdio"),
        ("cursor", {"command": 5}, None),
        ("cursor", "npx", None),
        ("cursor", {}, None),
    ],
)
def test_its_kind_is_what_is_written_or_follows_from_what_is_there(host, value, kind):
    assert entry(value, host).kind == kind


@pytest.mark.parametrize(
    ("host", "value"),
    [
        ("opencode", {"type": "local", "command": ["npx", "-y"], "environment": {"A": "b"}}),
        ("goose", {"type": "stdio", "cmd": "npx", "args": ["-y"], "envs": {"A": "b"}}),
        ("zed", {"command": {"path": "npx", "args": ["-y"], "env": {"A": "b"}}}),
        ("zed", {"command": "npx", "args": ["-y"], "env": {"A": "b"}}),
    ],
)
def test_each_host_has_its_own_words_for_the_same(host, value):
    found = entry(value, host)
    assert launch_for(found, {}) == Launch(command=("npx", "-y"), env={"A": "b"})


def test_an_empty_list_is_no_command():
    found = entry({"type": "local", "command": []}, "opencode")
    assert (found.command, launch_for(found, {})) == (None, Launch())


@pytest.mark.parametrize("value", [{"disabled": True}, {"enabled": False}])
def test_a_server_may_be_switched_off(value):
    assert entry({"command": "npx", **value}).is_disabled


def test_variables_are_followed_by_the_rules_of_the_host():
    environment = {"TOKEN": "t", "HOME": "/home/me"}
    value = {
        "command": "${env:TOKEN}",
        "args": ["${TOKEN}", "${userHome}/x"],
        "env": {"A": "${env:NOPE}"},
        "cwd": "${env:TOKEN}",
    }
    assert launch_for(entry(value), environment) == Launch(
        command=("t", "${TOKEN}", "/home/me/x"), env={"A": "${env:NOPE}"}, cwd="t"
    )
    assert launch_for(entry(value, "claude-desktop"), environment).command[0] == "${env:TOKEN}"
    windows = launch_for(entry({"command": "${userHome}"}), {"USERPROFILE": "C:/me"})
    assert windows.command == ("C:/me",)


def test_goose_follows_variables_in_headers_and_the_uri_alone():
    value = {"type": "streamable_http", "uri": "https://$HOST_NAME/mcp", "headers": {"A": "${TOKEN}"}}
    environment = {"TOKEN": "t", "HOST_NAME": "x"}
    assert launch_for(entry(value, "goose"), environment) == Launch(url="https://x/mcp", headers={"A": "t"})
    command = {"type": "stdio", "cmd": "npx", "args": ["${TOKEN}"]}
    assert launch_for(entry(command, "goose"), environment).command == ("npx", "${TOKEN}")


def test_codex_takes_headers_from_variables():
    value = {"url": "https://x", "bearer_token_env_var": "TOKEN", "env_http_headers": {"X-A": "OTHER"}}
    found = entry(value, "codex")
    assert found.variables == {"X-A": ("", "OTHER"), "Authorization": ("Bearer ", "TOKEN")}
    assert launch_for(found, {"TOKEN": "t"}).headers == {"Authorization": "Bearer t"}
    assert entry(value, "cursor").variables == {}


@pytest.mark.parametrize(
    ("scope", "file", "expected"),
    [
        ("project", "/p/.cursor/mcp.json", "/p"),
        ("file", "/p/.vscode/mcp.json", "/p"),
        ("user", "/home/ann/.cursor/mcp.json", "/projects/here"),
        ("file", "/p/mcp.json", "/projects/here"),
    ],
)
def test_the_folder_that_the_host_is_opened_on_is_that_of_the_file_or_ours(scope, file, expected):
    (member,) = parse_jsonc(
        json.dumps(
            {"n": {"command": "x", "cwd": "${workspaceFolder}/a", "args": ["${workspaceFolderBasename}"]}}
        )
    ).root.members
    found = entry_of(member, HOSTS["cursor"], scope=scope, file=file, line=1, column=1)

    launch = launch_for(found, {"PWD": "/projects/here"})

    assert launch.cwd == f"{expected}/a"
    assert launch.command == ("x", expected.rpartition("/")[2])


def test_where_no_folder_is_known_its_name_stays():
    found = entry({"command": "x", "cwd": "${workspaceFolder}", "args": ["${pathSeparator}"]})
    assert launch_for(found, {}).cwd == "${workspaceFolder}"
    assert launch_for(found, {}).command == ("x", "/")


@pytest.mark.parametrize("value", [{"settings": {}}, {"source": "extension"}])
def test_what_an_extension_of_the_editor_starts_comes_with_it(value):
    assert entry(value, "zed").kind == "builtin"
    assert entry({**value, "command": {"path": "x"}}, "zed").kind == "stdio"
