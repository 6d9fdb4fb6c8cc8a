import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.errors import UsageError
from mesero.host import edits
from mesero.host.configs import parse_text, read_config
from mesero.host.edits import (
    add_server,
    entry_values,
    is_traced,
    remove_server,
    trace_server,
    untrace_server,
)
from mesero.host.entries import Launch, launch_for
from mesero.host.hosts import HOSTS
from mesero.host.problems import Source

FILES = {"codex": "config.toml", "goose": "config.yaml"}
COMMAND = Launch(command=("npx", "-y", "ünotes"), env={"A": "b"}, cwd="/x")
REMOTE = Launch(url="https://x.org/mcp", headers={"X-A": "b"})


def source_for(host, **more):
    return Source(file=FILES.get(host, "mcp.json"), host=host, **more)


def entry_in(text, host, name="n"):
    (found,) = (one for one in read_config(text, source_for(host)).entries if one.name == name)
    return found


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_added_is_what_the_host_starts_and_nothing_is_wrong_with_it(host):
    values = entry_values(HOSTS[host], "n", COMMAND, "stdio")
    text = add_server("", source_for(host), "n", values)
    found = read_config(text, source_for(host), environment={})
    assert found.problems == ()
    assert launch_for(found.entries[0], {}) == COMMAND


@pytest.mark.parametrize("host", [name for name, rules in HOSTS.items() if rules.has_remote])
@pytest.mark.parametrize("kind", ["http", "sse"])
def test_a_url_that_is_added_is_what_the_host_connects_to(host, kind):
    if kind not in HOSTS[host].types.values():
        return
    text = add_server("", source_for(host), "n", entry_values(HOSTS[host], "n", REMOTE, kind))
    found = read_config(text, source_for(host), environment={})
    assert found.problems == ()
    assert launch_for(found.entries[0], {}) == REMOTE


def test_a_host_that_takes_no_urls_says_so():
    with pytest.raises(UsageError, match="starts commands only"):
        entry_values(HOSTS["claude-desktop"], "n", REMOTE, "http")


def test_a_short_command_is_written_short():
    assert entry_values(HOSTS["cursor"], "n", Launch(command=("x",)), "stdio") == {"command": "x", "args": []}
    assert entry_values(HOSTS["cursor"], "n", Launch(url="u"), "http") == {"url": "u"}


def test_a_server_is_added_to_part_of_a_file():
    at = ("projects", "/p", "mcpServers")
    text = add_server('{"a": 1}', source_for("claude-code", scope="local", at=at), "n", {"command": "x"})
    assert parse_text(text, "x.json").root.find(*at, "n", "command").value == "x"
    with_null = add_server('{"mcp": {"servers": {}}}', source_for("opencode"), "n", {"command": ["x"]})
    assert parse_text(with_null, "x.json").root.find("mcp", "servers", "n") is not None


@pytest.mark.parametrize("host", ["cursor", "codex", "goose"])
def test_a_server_that_is_there_is_not_overwritten(host):
    text = add_server("", source_for(host), "n", entry_values(HOSTS[host], "n", COMMAND, "stdio"))
    with pytest.raises(UsageError, match=rf"has a server 'n' already, in line .*remove n --host {host}"):
        add_server(text, source_for(host), "n", {})


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("cursor", '{"mcpServers": 5}'),
        ("cursor", '{"mcpServers": null}'),
        ("codex", "mcp_servers = { m = {} }\n"),
        ("goose", "extensions: {m: {}}\n"),
    ],
)
def test_what_cannot_be_added_to_is_left_to_people(host, text):
    with pytest.raises(UsageError, match=r"is not changed: .*Change it by hand"):
        add_server(text, source_for(host), "n", {"a": "b"})


@pytest.mark.parametrize("host", ["cursor", "codex", "goose"])
def test_a_file_that_cannot_be_parsed_is_not_touched(host):
    for change in (
        lambda text, source: add_server(text, source, "n", {}),
        lambda text, source: remove_server(text, source, "n"),
        lambda text, source: trace_server(text, source, "n", ["mesero"], "o"),
        lambda text, source: untrace_server(text, source, "n"),
    ):
        with pytest.raises(UsageError, match=r"line 2, column \d+: .*Nothing was changed"):
            change("\n[x: {", source_for(host))


@pytest.mark.parametrize("host", HOSTS)
def test_what_was_added_can_be_taken_out_again(host):
    values = entry_values(HOSTS[host], "n", COMMAND, "stdio")
    before = add_server("", source_for(host), "m", values)
    after = add_server(before, source_for(host), "n", values)
    assert remove_server(after, source_for(host), "n") == before


def test_what_is_not_there_cannot_be_taken_out():
    with pytest.raises(UsageError, match=r"has no server 'n'\. It has a, b"):
        remove_server('{"mcpServers": {"a": {}, "b": {}}}', source_for("cursor"), "n")
    with pytest.raises(UsageError, match="It has none"):
        remove_server("{}", source_for("cursor"), "n")
    with pytest.raises(UsageError, match="shares its line"):
        remove_server("extensions:\n  ? n\n  : {}\n  ? m\n  : {}\n", source_for("goose"), "n")


def test_a_change_that_would_do_anything_else_is_refused(monkeypatch):
    text = '{"mcpServers": {"n": {}, "m": {"command": "x"}}}'
    monkeypatch.setattr(edits.jsonc_edits, "remove_member", lambda *_: '{"mcpServers": {}}')
    with pytest.raises(UsageError, match="would not be what was asked for"):
        remove_server(text, source_for("cursor"), "n")
    monkeypatch.setattr(edits.jsonc_edits, "remove_member", lambda *_: "{")
    with pytest.raises(UsageError, match="could not be parsed"):
        remove_server(text, source_for("cursor"), "n")


# -- the recorder --------------------------------------------------------------------------------------------

ARGUMENTS_FIRST = """\
{
  "mcpServers": {
    "n": {
      "args": [
        // first
        "-y", // c
        "x",
      ],
      "command": "n\\u0070x"
    }
  }
}
"""
WITHOUT_ARGUMENTS = """\
{
  "mcpServers": {
    "n": {
      "command": "n\\u0070x", // c
      "env": {},
    }
  }
}
"""
TRACEABLE = [
    ("plain", '{"mcpServers": {"n": {"command": "npx", "args": ["-y", "x"]}}}'),
    ("plain", ARGUMENTS_FIRST),
    ("plain", WITHOUT_ARGUMENTS),
    ("plain", '{\n  "mcpServers": {\n    "n": {\n      "command": "npx"\n    }\n  }\n}\n'),
    ("plain", '{"mcpServers": {"n": {"command": "npx"}}}'),
    ("plain", '{"mcpServers": {"n": {"command": "npx", "args": []}}}'),
    ("plain", '{"mcpServers": {"n": {"command": "npx", "args": [ ] , "env": {}}}}'),
    ("codex", '[mcp_servers.n]\ncommand = \'npx\'\nargs = [\n  "-y", # c\n  "x"\n]\n'),
    ("codex", "[mcp_servers.n]\ncommand = 'npx' # c\n\n[x]\na=1\n"),
    ("codex", '[mcp_servers]\nn = { command = "npx" }\nm = {}\n'),
    ("codex", '[mcp_servers]\nn.command = "npx"\nm = {}\n'),
    ("codex", '[mcp_servers.n]\nargs = []\ncommand = """npx"""\n'),
    ("goose", "extensions:\n  n:\n    cmd: npx\n    args:\n      - -y\n      - x # c\n    envs: {}\n"),
    ("goose", "extensions:\n  n:\n    cmd: npx # c\n    envs: {}\n"),
    ("goose", "extensions:\n  n:\n    args: [a, b]\n    cmd: 'npx' # c\n"),
    ("goose", "extensions:\n  n: {cmd: npx}\n"),
    ("goose", "extensions:\n  n: {cmd: npx, args: []}\n"),
    ("opencode", '{"mcp": {"n": {"type": "local", "command": ["n\\u0070x", /* c */ "-y"]}}}'),
    ("zed", '{"context_servers": {"n": {"command": {"path": "npx", "args": ["-y"]}}}}'),
    ("zed", '{"context_servers": {"n": {"command": {"path": "npx"}}}}'),
    ("zed", '{"context_servers": {"n": {"command": "npx", "args": ["-y"]}}}'),
]


@pytest.mark.parametrize(("host", "text"), TRACEABLE)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("recorder", [["/opt/x y/mesero"], ["C:\\py\\python.exe", "-m", "mesero"]])
def test_the_recorder_is_put_in_front_and_taken_out_without_a_trace(host, text, end, recorder):
    text = text.replace("\n", end)
    source = source_for(host)
    before = launch_for(entry_in(text, host), {})
    traced = trace_server(text, source, "n", recorder, "/t/it's.jsonl")
    words = launch_for(entry_in(traced, host), {}).command
    place = words.index("--")
    assert list(words[: len(recorder) + 1]) == [*recorder, "trace"]
    assert words[len(recorder) + 1 : place] in (("-o", "/t/it's.jsonl"), ("--output=/t/it's.jsonl",))
    assert words[place + 1 :] == before.command
    assert is_traced(words)
    assert not is_traced(before.command)
    assert traced.count("\r\n") == traced.count("\n") or end == "\n"
    assert untrace_server(traced, source, "n") == text


@given(
    st.lists(st.text(), max_size=4),
    st.text(),
    st.sampled_from(["cursor", "codex", "goose", "opencode", "zed"]),
)
def test_any_command_comes_back_as_it_was(args, program, host):
    values = entry_values(HOSTS[host], "n", Launch(command=(program, *args)), "stdio")
    try:
        text = add_server("", source_for(host), "n", values)
        traced = trace_server(text, source_for(host), "n", ["mesero"], "o")
    except UsageError:
        return  # characters that the format has no way to write
    assert untrace_server(traced, source_for(host), "n") == text


def test_a_plain_word_that_would_end_in_a_list_is_quoted_there():
    text = "extensions:\n  n:\n    args: [a]\n    cmd: b,c\n"
    traced = trace_server(text, source_for("goose"), "n", ["mesero"], "o")
    assert '"b,c", a]' in traced
    assert untrace_server(traced, source_for("goose"), "n") == text.replace("b,c", '"b,c"')


def test_a_recorder_that_was_put_there_by_hand_is_taken_out_too():
    text = '{"mcpServers": {"n": {"command": "mesero.exe", "args": ["trace", "--live", "--", "npx", "x"]}}}'
    assert untrace_server(text, source_for("cursor"), "n") == (
        '{"mcpServers": {"n": {"command": "npx", "args": ["x"]}}}'
    )


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["npx", "-y", "x", "y"],
        ["mesero", "serve", "--", "x"],
        ["mesero", "trace", "-o", "x"],
        ["mesero", "trace", "-o", "x", "--"],
        ["python", "-m", "trace", "--", "x"],
        ["mesero", "trace", "--", 5],
    ],
)
def test_other_commands_are_not_taken_for_the_recorder(words):
    assert not is_traced(words)


@pytest.mark.parametrize(
    ("host", "entry", "why"),
    [
        ("cursor", '{"url": "https://x"}', r"starts no command.*mesero trace --listen"),
        ("cursor", '{"command": 5}', "'command' is no text"),
        ("cursor", '{"command": "x", "args": "y"}', "'args' is no list"),
        ("cursor", '{"command": "x", "args": null}', "'args' is no list"),
        ("cursor", '{"command": "mesero", "args": ["trace", "--", "x"]}', "is traced already"),
        ("opencode", '{"command": "x"}', "'command' is no list"),
        ("opencode", '{"command": []}', "'command' is no list"),
        ("zed", '{"command": {}}', "starts no command"),
    ],
)
def test_what_cannot_be_traced_is_refused(host, entry, why):
    key = HOSTS[host].at[0][0]
    with pytest.raises(UsageError, match=why):
        trace_server(f'{{"{key}": {{"n": {entry}}}}}', source_for(host), "n", ["mesero"], "o")


def test_what_is_not_traced_cannot_be_untraced():
    with pytest.raises(UsageError, match="'n' is not traced"):
        untrace_server('{"mcpServers": {"n": {"command": "x"}}}', source_for("cursor"), "n")
