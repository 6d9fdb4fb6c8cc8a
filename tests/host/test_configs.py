"""Every kind of problem has a file in ``examples``, named after its code and its host."""

from pathlib import Path

import pytest

from mesero.host.configs import check_across, decode_text, format_of, parse_text, read_config
from mesero.host.files import read_file
from mesero.host.jsonc import parse_jsonc
from mesero.host.nodes import TextError
from mesero.host.problems import CODES, Source

EXAMPLES = Path(__file__).with_name("examples")

# File: (line, column, severity, the beginning of what to do), for the problem that the file is named after.
EXPECTED = {
    "arg-not-string.cursor.json": (3, 52, "error", 'Write it in quotes: "8080"'),
    "args-not-list.codex.toml": (3, 8, "error", 'Write "args": ["-y", "notes"]'),
    "args-not-list.cursor.json": (3, 41, "error", 'Write "args": ["-y", "notes"]'),
    "bom.plain.json": (1, 1, "warning", "Save it as UTF-8 without one"),
    "command-and-url.cursor.json": (3, 5, "error", "Leave one of them out"),
    "command-is-list.cursor.json": (3, 26, "error", 'Write "command": "npx", "args": ["-y", "notes"]'),
    "command-not-list.opencode.json": (3, 43, "error", 'Write "command": ["npx", "-y", "notes"]'),
    "command-not-list.args.opencode.json": (2, 49, "error", 'Write "command": ["npx", "-y", "notes"]'),
    "command-not-string.cursor.json": (3, 26, "error", 'Write "command": "npx", for example'),
    "command-not-string.empty.opencode.json": (3, 43, "error", 'Write ["npx", "…"]'),
    "command-with-arguments.cursor.json": (
        3,
        26,
        "error",
        'Write "command": "npx", and put "-y", "notes" at t',
    ),
    "command-with-arguments.windows.cursor.json": (
        3,
        26,
        "error",
        'Write "command": "C:\\\\tools\\\\node.exe", and put "s',
    ),
    "comments.claude-desktop.json": (2, 3, "error", "Take the comments out"),
    "comments.cursor.json": (2, 47, "warning", "Take the comments out"),
    "duplicate-in-file.cursor.json": (3, 5, "warning", "Rename one of them, or take it out"),
    "duplicate-in-file.goose.yaml": (2, 3, "warning", "Rename one of them, or take it out"),
    "duplicate-member.cursor.json": (3, 33, "warning", "Leave one of them out"),
    "duplicate-member.key.cursor.json": (2, 3, "error", "Make one of the two"),
    "entry-not-object.cursor.json": (3, 14, "error", 'Write {"command": "…"} in its place'),
    "env-not-object.cursor.json": (3, 40, "error", 'Write "env": {"NAME": "value"}'),
    "env-value-not-string.cursor.json": (3, 50, "error", 'Write it in quotes: "true"'),
    "headers-not-object.cursor.json": (3, 60, "error", 'Write "headers": {"NAME": "value"}'),
    "headers-value-not-string.cursor.json": (3, 72, "error", 'Write it in quotes: "5"'),
    "input-undefined.vscode.json": (4, 73, "error", 'Add to "inputs": {"type": "promptString", "id": "t'),
    "missing-key.plain.json": (2, 3, "error", 'Put it into {"mcpServers": {…}}'),
    "name-characters.cursor.json": (3, 5, "warning", "Call it 'My-notes'"),
    "name-characters.gemini.json": (3, 5, "warning", "Call it 'my-notes'"),
    "name-empty.cursor.json": (3, 5, "error", "Give it one"),
    "name-too-long.claude-code.json": (3, 5, "warning", "Choose a shorter name"),
    "nested-servers.claude-desktop.json": (3, 5, "error", "Move what is in this 'mcpServers' one level up"),
    "no-command-or-url.cursor.json": (3, 5, "error", "Write one of them, or take 'notes' out"),
    "no-servers.plain.json": (1, 1, "warning", 'Write {"mcpServers": {}}'),
    "not-an-object.plain.json": (1, 1, "error", 'Write {"mcpServers": {}}'),
    "not-an-object.servers.plain.json": (1, 16, "error", 'Write {"name": {"command": "…"}}'),
    "placeholder.cursor.json": (3, 56, "warning", "Write the real value"),
    "placeholder.path.cursor.json": (3, 42, "warning", "Write the real value"),
    "remote-not-supported.claude-desktop.json": (
        3,
        15,
        "error",
        "Add it in the settings under Connectors, or start ",
    ),
    "secret-in-clear.claude-desktop.json": (
        3,
        53,
        "info",
        "Claude Desktop expands no variables there: keep th",
    ),
    "secret-in-clear.cursor.json": (3, 56, "info", "Put it into a variable and write ${env:NOTES_TOKEN}"),
    "secret-in-clear.header.codex.toml": (
        3,
        32,
        "info",
        'Put it into a variable: env_http_headers = { "X-Ap',
    ),
    "secret-in-clear.header.vscode.json": (
        3,
        94,
        "info",
        "Put it into a variable and write ${input:authoriza",
    ),
    "secret-in-url.cursor.json": (3, 22, "info", "Send it in a header, if the server takes it there"),
    "syntax.at.goose.yaml": (7, 9, "error", "Put the whole text in quotes"),
    "syntax.backslash.codex.toml": (2, 16, "error", "Write the text in single quotes"),
    "syntax.braces.claude-desktop.json": (1, 13, "error", "Write { at its beginning, and } at its end"),
    "syntax.bracket.claude-desktop.json": (2, 20, "error", "Leave one closing bracket out before it"),
    "syntax.fence.claude-desktop.json": (1, 1, "error", "Take the lines with ``` out"),
    "syntax.fence.end.claude-desktop.json": (2, 1, "error", "Take the lines with ``` out"),
    "syntax.json.codex.toml": (1, 1, "error", "Write [mcp_servers.NAME], and below it command"),
    "syntax.second.claude-desktop.json": (4, 1, "error", "Put the members of both into one { }"),
    "syntax.twice.codex.toml": (4, 19, "error", "Leave one of the two out"),
    "syntax.user.codex.toml": (2, 16, "error", "Write the text in single quotes"),
    "syntax.backslash.cursor.json": (3, 29, "error", "Write it twice: \\\\"),
    "syntax.brace.cursor.json": (1, 1, "error", "Write the missing }"),
    "syntax.claude-desktop.json": (3, 57, "error", "Write it here"),
    "syntax.codex.toml": (2, 11, "error", 'Write text in quotes: "…"'),
    "syntax.goose.yaml": (3, 1, "error", "Indent with spaces"),
    "syntax.name.vscode.json": (3, 15, "error", 'Write "command"'),
    "syntax.quotes.cursor.json": (3, 15, "error", "Write it in double quotes"),
    "syntax.utf16.claude-desktop.json": (1, 1, "error", "Save the file as UTF-8"),
    "tilde-not-expanded.cursor.json": (3, 26, "warning", "Write the whole path of your home folder"),
    "trailing-comma.claude-code.json": (3, 32, "error", "Take this comma out"),
    "type-contradicts.command.claude-code.json": (3, 23, "error", 'Write "type": "stdio"'),
    "type-contradicts.vscode.json": (3, 23, "error", 'Write "type": "http"'),
    "type-missing.claude-code.json": (3, 5, "error", 'Add "type": "http"'),
    "type-missing.opencode.json": (3, 5, "error", 'Add "type": "local"'),
    "type-unknown.vscode.json": (3, 23, "error", "Write one of 'stdio', 'http', 'sse'"),
    "unknown-member.cursor.json": (3, 33, "warning", "Did you mean 'timeout'?"),
    "url-in-command.cursor.json": (3, 26, "error", 'Write "url": "https://example.com/mcp" instead'),
    "url-not-encrypted.cursor.json": (
        3,
        22,
        "warning",
        "Write https://example.com/mcp, if the server has it",
    ),
    "url-not-http.cursor.json": (3, 22, "error", "Write https://example.com/mcp"),
    "variable-not-expanded.claude-code.json": (3, 42, "error", "Write ${NOTES_FOLDER}"),
    "variable-not-expanded.claude-desktop.json": (
        3,
        57,
        "error",
        "Write the value itself, or leave it out and set NO",
    ),
    "variable-not-expanded.cursor.json": (3, 42, "error", "Write ${env:NOTES_FOLDER}"),
    "variable-not-expanded.goose.yaml": (5, 12, "error", "Write the value itself"),
    "variable-not-expanded.named.claude-code.json": (3, 42, "error", "Write the value itself"),
    "variable-not-expanded.opencode.json": (3, 51, "error", "Write {env:NOTES_FOLDER}"),
    "variable-not-expanded.plain.json": (3, 42, "info", "Write the value itself"),
    "variable-unset.cursor.json": (3, 42, "warning", "Set NOTES_FOLDER where Cursor is started, and star"),
    "wrong-key.cursor.json": (2, 3, "error", "Rename it to 'mcpServers'"),
    "wrong-key.deep.claude-desktop.json": (2, 3, "error", "Move its servers into 'mcpServers'"),
    "wrong-key.vscode.json": (2, 3, "error", "Rename it to 'servers'"),
    "wrong-member.args.opencode.json": (3, 52, "error", 'Put the arguments behind the program: "command": ['),
    "wrong-member.env.goose.yaml": (5, 5, "error", "Rename it to 'envs'"),
    "wrong-member.token.codex.toml": (3, 1, "error", "Put the token into a variable and write bearer_tok"),
    "wrong-member.windsurf.json": (3, 15, "error", "Rename it to 'serverUrl' or 'url'"),
}


def read_example(name, **options):
    *_, host, _ = name.split(".")
    source = Source(file=str(EXAMPLES / name), host=host)
    return read_file(source, environment={}, is_asked_for=True, **options)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_each_example_has_the_problem_that_it_is_named_after_and_no_other(name):
    found = read_example(name)
    if name.startswith("duplicate-across-files"):
        assert found.problems == ()
        return
    (problem,) = found.problems
    assert problem.code == name.split(".")[0]
    assert (problem.line, problem.column, problem.severity) == EXPECTED[name][:3]
    assert EXPECTED[name][3] in problem.fix
    assert problem.file == str(EXAMPLES / name)


def test_every_kind_of_problem_has_an_example():
    assert {path.name.split(".")[0] for path in EXAMPLES.iterdir()} == set(CODES)
    assert set(EXPECTED) == {path.name for path in EXAMPLES.iterdir()} - {
        "duplicate-across-files.cursor.json"
    }


def test_a_name_in_two_files_of_one_host_is_said_at_the_one_that_is_not_used():
    name = "duplicate-across-files.cursor.json"
    text = (EXAMPLES / name).read_text()
    user = read_config(text, Source(file="user.json", host="cursor"))
    project = read_config(text, Source(file="project.json", host="cursor", scope="project"))
    other = read_config(text, Source(file="other.json", host="windsurf"))
    (problem,) = check_across([user, project, other])
    assert (problem.code, problem.file, problem.line, problem.column) == (
        "duplicate-across-files",
        "user.json",
        3,
        5,
    )
    assert "the one from project.json is used" in problem.message
    assert check_across([user, user]) == []


def test_a_name_twice_in_one_file_for_all_folders_and_for_one_is_told_by_the_line():
    user = read_config('{"mcpServers": {"n": {"command": "x"}}}', Source(file="c.json", host="claude-code"))
    text = '{"projects": {"/p": {"mcpServers":\n{"n": {"command": "y"}}}}}'
    at = ("projects", "/p", "mcpServers")
    local = read_config(text, Source(file="c.json", host="claude-code", scope="local", at=at))
    (problem,) = check_across([user, local])
    assert "the one for this folder, in line 2 of the same file, is used" in problem.message


HEALTHY = [
    ("claude-desktop", '{"mcpServers": {"n": {"command": "npx", "args": ["-y", "n"], "env": {"A": "b"}}}}'),
    ("claude-code", '{"mcpServers": {"n": {"type": "http", "url": "https://x.org/mcp"}}}'),
    ("claude-code", '{"mcpServers": {"n": {"command": "npx", "args": ["${HOME:-/x}", "a $HOME b"]}}}'),
    ("cursor", '{"mcpServers": {"n": {"url": "http://localhost:1/mcp", "headers": {"A": "${env:HOME}"}}}}'),
    (
        "vscode",
        '{"inputs": [{"id": "t"}], "servers": {"n": {"command": "x", "env": {"T": "${input:t}"}}}} // c',
    ),
    ("windsurf", '{"mcpServers": {"n": {"serverUrl": "https://x.org/mcp", "disabled": true}}}'),
    ("gemini", '{"mcp": {"allowed": ["n"]}, "mcpServers": {"n": {"httpUrl": "https://x.org"}}} // c'),
    (
        "zed",
        '{"context_servers": {"n": {"source": "custom", "settings": {}}, "m": {"command": {"path": "x"}},}}',
    ),
    ("opencode", '{"mcp": {"n": {"type": "local", "command": ["npx", "-y"], "enabled": true}}}'),
    ("opencode", '{"mcp": {"servers": {"n": {"type": "remote", "url": "https://x.org"}}}}'),
    ("plain", '{"mcpServers": {"n": {"transport": "sse", "url": "https://x.org", "timeout": 5}}}'),
    ("plain", '{"mcpServers": {"n": {"command": "/opt/my programs/node"}}}'),
    ("plain", '{"mcpServers": {"n": {"command": "C:\\\\Program Files\\\\x.exe"}}}'),
    ("plain", '{"mcpServers": {}}'),
    ("plain", '{"mcpServers": null}'),
]


@pytest.mark.parametrize(("host", "text"), HEALTHY)
def test_nothing_is_said_of_a_file_that_its_host_takes(host, text):
    environment = {"HOME": "/home/me"}
    found = read_config(text, Source(file="x.json", host=host), environment=environment, is_asked_for=True)
    assert found.problems == ()
    assert found.is_readable


def test_the_other_formats_are_read_too():
    toml = '[mcp_servers.n]\ncommand = "npx"\nargs = ["-y"]\nenv_vars = ["A"]\n'
    found = read_config(toml, Source(file="config.toml", host=""))
    assert (found.source.host, found.entries[0].args, found.problems) == ("codex", ("-y",), ())
    yaml = "extensions:\n  n: {type: stdio, cmd: npx, enabled: true}\n  d: {type: builtin}\n"
    found = read_config(yaml, Source(file="config.yaml", host=""))
    assert [(one.name, one.kind) for one in found.entries] == [("n", "stdio"), ("d", "builtin")]
    assert (found.source.host, found.problems) == ("goose", ())
    assert [format_of(name) for name in ("a.TOML", "a.yml", "a.jsonc")] == ["toml", "yaml", "json"]
    assert parse_text("a: 1", "x.yaml").root.value == {"a": 1}


def test_a_file_that_its_host_refuses_is_read_all_the_same():
    found = read_example("comments.claude-desktop.json")
    assert ([one.name for one in found.entries], found.is_readable) == (["notes"], False)
    assert read_example("comments.cursor.json").is_readable
    assert not read_example("syntax.claude-desktop.json").is_readable


def test_of_servers_with_one_name_the_last_one_is_read():
    assert [one.command for one in read_example("duplicate-in-file.cursor.json").entries] == ["uvx"]
    assert [one.name for one in read_example("duplicate-member.key.cursor.json").entries] == ["far"]


def test_a_part_of_the_file_of_a_user_has_no_say_of_its_own_about_the_file():
    text = '{"projects": {"/p": {"mcpServers": {"n": {"command": 5}}}}, "mcpServers": {}} // c'
    at = ("projects", "/p", "mcpServers")
    found = read_config(text, Source(file=".claude.json", host="claude-code", scope="local", at=at))
    assert [one.code for one in found.problems] == ["command-not-string"]
    nothing = read_config("{}", Source(file=".claude.json", host="claude-code", scope="local", at=at))
    assert (nothing.entries, nothing.problems) == ((), ())


def test_servers_beside_the_right_place_are_found_in_the_settings_of_an_editor():
    text = '{"mcpServers": {"n": {"command": "npx"}, "m": {"command": "npx"}}}'
    found = read_config(text, Source(file="settings.json", host="vscode", at=("mcp", "servers")))
    assert [(one.code, one.fix) for one in found.problems] == [
        ("wrong-key", "Move it into 'mcp', as 'servers'")
    ]
    assert "2 servers are not loaded" in found.problems[0].message


def test_other_settings_are_not_taken_for_servers():
    text = '{"servers": {"build": {"host": "x"}}, "extensions": ["a"], "mcp": 5}'
    found = read_config(text, Source(file="settings.json", host="gemini"))
    assert (found.entries, found.problems) == ((), ())


def test_the_key_may_stand_twice_on_the_way():
    text = '{"a": 1, "a": 2, "mcp": {"servers": {}}, "mcp": 5}'
    found = read_config(text, Source(file="settings.json", host="vscode", at=("mcp", "servers")))
    assert [one.code for one in found.problems] == ["duplicate-member"]


def test_an_unknown_host_is_named_the_host_when_nothing_can_be_read():
    found = read_config("{", Source(file="x.json", host=""))
    assert found.source.host == "plain"
    assert "a plain file reads nothing of the file" in found.problems[0].message


def test_bytes_that_are_no_text_are_refused_at_their_place():
    assert decode_text("\ufeffü".encode()) == "\ufeffü"
    with pytest.raises(TextError, match="0xff is no UTF-8") as caught:
        decode_text(b"ab\nc\xff")
    assert caught.value.place == (2, 2)


def test_no_secret_is_quoted_in_a_problem():
    secrets = ("c0ffee00c0ffee", "sk-c0ffee00c0ffee00c0ffee")
    for path in EXAMPLES.glob("secret*"):
        for problem in read_example(path.name).problems:
            assert not any(secret in f"{problem.message}{problem.fix}" for secret in secrets)


def test_a_shared_file_with_a_secret_is_a_warning():
    text = (EXAMPLES / "secret-in-clear.cursor.json").read_text()
    found = read_config(text, Source(file="x.json", host="cursor", scope="project"))
    assert [(one.code, one.severity) for one in found.problems] == [("secret-in-clear", "warning")]
    assert "others get with the project" in found.problems[0].message


def test_places_are_those_of_the_names():
    text = '{\n  "mcpServers": {\n    "n": {"command": "npx"}\n  }\n}'
    (found,) = read_config(text, Source(file="x.json", host="plain")).entries
    member = parse_jsonc(text).root.find("mcpServers").members[0]
    assert (found.line, found.column) == parse_jsonc(text).place(member.start) == (3, 5)
