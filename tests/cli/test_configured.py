import json

import pytest

from mesero.cli.configured import (
    document_of,
    document_of_file,
    find_server,
    hidden_words,
    problem_lines,
    read_configured,
    target_text,
)
from mesero.errors import UsageError
from mesero.host.configs import read_config
from mesero.host.configured import used_entries
from mesero.host.entries import Launch, launch_for
from mesero.host.places import Machine
from mesero.host.problems import Source

NOTES = {"command": "npx", "args": ["-y", "notes"]}


@pytest.fixture
def machine(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    return Machine(home, environment={"TOKEN": "t"})


def configure(folder, name, **servers):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}))
    return str(path)


def test_a_name_is_found_in_the_files_of_hosts_and_its_variables_are_followed(machine):
    configure(machine.home, ".cursor/mcp.json", notes={**NOTES, "env": {"T": "${env:TOKEN}"}})
    found = find_server("notes", machine, None)
    entry, launch = found.entry, found.launch
    assert entry.host == "cursor"
    assert launch == Launch(command=("npx", "-y", "notes"), env={"T": "t"})


def test_a_name_that_nobody_knows_is_none_and_in_a_file_or_host_that_is_named_an_error(machine, tmp_path):
    configure(machine.home, ".cursor/mcp.json", notes=NOTES)
    path = configure(tmp_path, "mcp.json", other=NOTES)
    assert find_server("other", machine, None) is None
    with pytest.raises(UsageError, match="Did you mean notes"):
        find_server("note", machine, None)
    with pytest.raises(UsageError, match=r"no server 'note' in the files of Cursor\. Did you mean notes\?"):
        find_server("cursor:note", machine, None)
    with pytest.raises(UsageError, match=r"no server 'notes' in .*mcp\.json\. There is other"):
        find_server("notes", machine, None, path)
    with pytest.raises(UsageError, match="There is none"):
        find_server("gemini:notes", machine, None)
    with pytest.raises(UsageError, match=r"there is no file 'nowhere\.json'"):
        find_server("notes", machine, None, "nowhere.json")


def test_the_same_server_in_two_hosts_is_one_and_different_ones_are_told_apart(machine, tmp_path):
    configure(machine.home, ".cursor/mcp.json", notes=NOTES)
    configure(machine.home, ".codeium/windsurf/mcp_config.json", notes=NOTES)
    assert find_server("notes", machine, None).launch.command == ("npx", "-y", "notes")
    configure(
        machine.home, ".gemini/settings.json", notes={"command": "uvx", "args": ["--token", "c0ffee00"]}
    )
    with pytest.raises(
        UsageError, match=r"means different servers:\n  cursor:notes  npx -y notes\n"
    ) as caught:
        find_server("notes", machine, None)
    assert "c0ffee00" not in str(caught.value)
    assert find_server("gemini:notes", machine, None).launch.command[0] == "uvx"


def test_of_one_host_the_file_that_wins_counts(machine, tmp_path):
    configure(machine.home, ".cursor/mcp.json", notes=NOTES)
    configure(tmp_path, ".cursor/mcp.json", notes={"command": "uvx"})
    assert find_server("notes", machine, tmp_path).launch.command == ("uvx",)
    files, across = read_configured(machine, tmp_path)
    assert [one.command for one in used_entries(files)] == ["uvx"]
    assert len(across) == 1


def test_what_cannot_be_started_is_said_with_its_place(machine):
    configure(machine.home, ".cursor/mcp.json", notes={"args": []})
    with pytest.raises(UsageError, match=r"'notes' in .*mcp\.json, line 1, has neither a command nor a URL"):
        find_server("notes", machine, None)


def test_secrets_are_not_shown():
    words = ["npx", "--token", "c0ffee00", "--api-key=c0ffee01", "--verbose", "x", "--password", "-p"]
    shown = hidden_words(words)
    assert shown[0:2] == ["npx", "--token"]
    assert "c0ffee" not in " ".join(shown)
    assert shown[4:] == ["--verbose", "x", "--password", "-p"]
    far = {
        "url": "https://x.org/?key=c0ffee00",
        "headers": {"Authorization": "c0ffee00", "Accept": "a"},
    }
    near = {"command": "x", "cwd": "/d", "env": {"API_KEY": "c0ffee00", "MODE": "fast"}, "disabled": True}
    text = json.dumps({"mcpServers": {"far": far, "near": near}})
    file = read_config(text, Source(file="mcp.json", host="cursor"))
    document = document_of_file(file, {})
    assert "c0ffee00" not in json.dumps({**document, "problems": []})
    first, second = document["servers"]
    assert (first["headers"]["Accept"], second["env"]["MODE"]) == ("a", "fast")
    assert (second["cwd"], second["disabled"], second["command"]) == ("/d", True, ["x"])
    assert (document["host"], document["scope"], document["readable"]) == ("cursor", "user", True)


def test_a_server_as_a_document_says_whether_it_is_traced():
    text = '{"mcpServers": {"n": {"command": "mesero", "args": ["trace", "--", "x"]}, "m": {}}}'
    traced, nothing = read_config(text, Source(file="mcp.json", host="cursor")).entries
    assert document_of(traced, launch_for(traced, {}))["traced"] is True
    assert document_of(nothing, launch_for(nothing, {}))["kind"] is None


def test_a_target_is_one_line_for_people():
    assert target_text(Launch(command=("a b", "c\x1b"))) == "'a b' 'c\\x1b'"
    assert target_text(Launch(url="https://x.org/\n")) == "https://x.org/\\n"
    assert target_text(Launch()) == "(nothing)"


def test_a_problem_has_its_place_and_below_it_what_to_do():
    file = read_config("[]", Source(file="mcp.json", host="cursor"))
    assert list(problem_lines(file.problems)) == [
        "  1:1 error not-an-object: the file is no object",
        '      Write {"mcpServers": {}}',
    ]


def test_a_problem_without_a_remedy_is_one_line():
    file = read_config("a: \x01", Source(file="config.yaml", host="goose"))
    assert len(list(problem_lines(file.problems))) == 1
