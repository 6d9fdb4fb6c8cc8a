import json
import os
import sys

import pytest

from mesero.cli.targets import Target, load_server, take_target, target_from
from mesero.errors import LaunchError, UsageError
from tests.cli.programs import run


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("https://example.com/mcp", "url"),
        ("http://localhost:1/mcp", "url"),
        ("notes.py", "file"),
        ("a/notes.py:server", "file"),
    ],
)
def test_a_word_names_a_target_by_its_form(word, kind):
    assert target_from(word) == Target(kind, word)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user without any configuration, in an empty folder."""
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("word", ["notes", "ftp://x", "python", "", "notes.pyc"])
@pytest.mark.usefixtures("home")
def test_a_word_of_no_form_is_refused_with_the_forms(word):
    with pytest.raises(UsageError, match=r"URL.*Python file.*'--'"):
        target_from(word)


def configure(path, **servers):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}))
    return str(path)


def test_a_configured_name_is_what_its_host_would_start_or_connect_to(home):
    notes = {"command": "npx", "args": ["-y"], "env": {"A": "b"}, "cwd": "/d"}
    configure(home / ".cursor" / "mcp.json", notes=notes, far={"url": "https://x", "headers": {"A": "b"}})
    target = target_from("notes")
    assert (target.kind, target.value) == ("command", ["npx", "-y"])
    assert (target.server.launch.env, target.server.launch.cwd) == ({"A": "b"}, "/d")
    target = target_from("cursor:far")
    assert (target.kind, target.value, target.server.launch.headers) == ("url", "https://x", {"A": "b"})
    path = configure(home / "x.json", notes={"command": "uvx"})
    assert take_target(["notes", "add"], None, config=path)[0].value == ["uvx"]


@pytest.mark.usefixtures("home")
def test_a_configured_server_is_called_with_its_own_environment_and_that_of_the_options(tmp_path):
    server = tmp_path / "env.py"
    server.write_text(
        "import os\nimport mesero\nserver = mesero.Server('env')\n"
        "@server.tool\ndef where(name: str) -> str:\n    return os.environ.get(name, os.getcwd())\n"
        "server.run()\n"
    )
    own = {"A": "configured", "B": "configured", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    entry = {"command": sys.executable, "args": [str(server)], "env": own, "cwd": str(tmp_path)}
    path = configure(tmp_path / "x.json", env=entry)
    call = ["call", "env", "where", "--config", path]
    assert run([*call, "name=A"]).stdout == "configured\n"
    assert run([*call, "name=B", "--env", "B=given"]).stdout == "given\n"
    assert run([*call, "name=C"]).stdout == f"{tmp_path}\n"
    message = run(["compose", "tools/call", "name=where", 'arguments:={"name": "A"}']).stdout
    assert "configured" in run(["send", "env", message.strip(), "--config", path]).stdout


def test_headers_of_a_configuration_are_sent_and_those_of_the_options_win(endpoint, tmp_path):
    headers = {"X-A": "configured", "X-B": "configured"}
    path = configure(tmp_path / "x.json", far={"url": endpoint.url, "headers": headers})
    run(["send", "far", "{}", "--config", path, "--header", "X-B: given"])
    assert (endpoint.headers["X-A"], endpoint.headers["X-B"]) == ("configured", "given")


def test_a_name_that_means_several_servers_lists_them(home):
    configure(home / ".cursor" / "mcp.json", notes={"command": "npx"})
    configure(home / ".gemini" / "settings.json", notes={"command": "uvx"})
    result = run(["list", "notes"])
    assert result.returncode == 2
    assert "  cursor:notes  npx\n  gemini:notes  uvx" in result.stderr


def test_the_target_is_the_first_word_and_the_others_are_left():
    assert take_target(["notes.py", "add", "a=1"], None) == (Target("file", "notes.py"), ["add", "a=1"])


def test_behind_two_dashes_the_target_is_a_command_and_all_words_are_left():
    assert take_target(["add"], ("python", "s.py")) == (Target("command", ["python", "s.py"]), ["add"])
    assert take_target([], ("python",)) == (Target("command", ["python"]), [])


def test_no_target_an_empty_command_and_two_targets_are_refused():
    with pytest.raises(UsageError, match="no target"):
        take_target([], None)
    with pytest.raises(UsageError, match="no command behind"):
        take_target(["add"], ())
    with pytest.raises(UsageError, match="two targets"):
        take_target(["https://x/mcp"], ("python",))
    with pytest.raises(UsageError, match="two targets"):
        take_target(["notes.py:a"], ("python",))


def test_the_only_server_of_a_file_is_found(notes):
    assert load_server(notes).info.name == "notes"


def test_a_server_with_two_names_is_one_server(tmp_path):
    path = tmp_path / "one.py"
    path.write_text("import mesero\nserver = app = mesero.Server('one')\n")
    assert load_server(str(path)).info.name == "one"


def test_several_servers_are_told_apart_by_name(tmp_path):
    path = tmp_path / "two.py"
    path.write_text("import mesero\na = mesero.Server('A')\nb = mesero.Server('B')\n")
    assert load_server(f"{path}:b").info.name == "B"
    with pytest.raises(UsageError, match=r"several: a, b.*Name one: .*two\.py:a"):
        load_server(str(path))
    with pytest.raises(UsageError, match="no Server called 'c'; it has a, b"):
        load_server(f"{path}:c")


def test_a_file_without_a_server_says_how_to_make_one(tmp_path):
    path = tmp_path / "none.py"
    path.write_text("x = 1\n")
    with pytest.raises(UsageError, match=r"none.*mesero\.Server\('name'\)"):
        load_server(str(path))
    with pytest.raises(UsageError, match="it has none"):
        load_server(f"{path}:x")


def test_a_file_that_is_not_there_is_a_usage_error():
    with pytest.raises(UsageError, match="there is no file"):
        load_server("nowhere.py")


def test_a_file_that_fails_says_with_what_and_in_which_line(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import json\n\njson.loads('{')\n")
    with pytest.raises(LaunchError, match=r"JSONDecodeError.*\(line 3\)"):
        load_server(str(path))


def test_a_file_that_is_no_python_or_exits_is_a_failed_start(tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("def\n")
    with pytest.raises(LaunchError, match="SyntaxError"):
        load_server(str(path))
    path.write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(LaunchError, match="SystemExit"):
        load_server(str(path))


def test_a_file_may_import_its_neighbours_and_name_its_own_types(tmp_path):
    (tmp_path / "neighbour_of_target.py").write_text("NAME = 'with neighbour'\n")
    path = tmp_path / "main.py"
    path.write_text(
        "from __future__ import annotations\nimport dataclasses\nimport mesero\nimport neighbour_of_target\n"
        "server = mesero.Server(neighbour_of_target.NAME)\n"
        "@dataclasses.dataclass\nclass Point:\n    x: int\n"
        "@server.tool\ndef at(point: Point) -> int:\n    return point.x\n"
    )
    assert load_server(str(path)).info.name == "with neighbour"
