import json

import pytest

from mesero.doctor.checks.config import check_config, diagnosis_of, settle_config, severity_of
from mesero.doctor.programs import secrets_in
from mesero.doctor.sheet import Sheet
from mesero.host.configs import read_config
from mesero.host.configured import configured_servers
from mesero.host.problems import CODES, ConfigProblem, Source


def server_from(entry, *, host="cursor", text=None):
    source = Source(file="/u/mcp.json", host=host)
    file = read_config(text or json.dumps({"mcpServers": {"notes": entry}}), source, environment={})
    return configured_servers([file], [], {})[0]


def checked(server):
    sheet = Sheet(["config"])
    check_config(sheet, server)
    return sheet


def told(sheet):
    return [(each.code, each.severity) for each in sheet.diagnoses]


def test_a_file_in_order_is_said_to_be_where_it_is():
    sheet = checked(server_from({"command": "npx"}))

    assert told(sheet) == []
    assert sheet.checks[0].status == "ok"
    assert sheet.checks[0].evidence[0] == "Cursor (user): /u/mcp.json, line 1"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"command": "npx", "args": "-y"}, [("args-not-list", "broken")]),
        ({"command": "npx", "env": {"K": "${K}"}}, [("LAUNCH-6", "degraded")]),
        ({"command": "npx", "env": {"K": "${env:K}"}}, [("LAUNCH-6", "degraded")]),
        ({"command": "npx -y notes"}, [("LAUNCH-4", "broken")]),
        ({"command": "npx", "env": {"TOKEN": "<your token>"}}, [("placeholder", "degraded")]),
        ({"command": "npx", "env": {"API_KEY": "c0ffee00c0ffee00"}}, []),
        ({"command": "npx", "disabled": True}, [("CONFIG-1", "note")]),
    ],
)
def test_what_is_wrong_with_an_entry_is_told(entry, expected):
    sheet = checked(server_from(entry))

    assert told(sheet) == expected
    assert sheet.checks[0].status != "ok" or not expected


@pytest.mark.parametrize("code", sorted(CODES))
def test_the_title_says_what_kind_of_mistake_it_is(code):
    problem = ConfigProblem(
        code=code, message="m", fix="f", file="/u/f", line=1, column=1, severity="warning", server="n"
    )

    title = diagnosis_of(problem).title

    assert title
    assert title[-1] not in ".:"
    assert ": " not in title


def test_the_text_of_an_example_is_shown_although_it_stands_for_a_secret():
    entry = {"command": "npx", "env": {"GITHUB_TOKEN": "<YOUR_TOKEN>"}}
    server = server_from(entry)
    sheet = Sheet(["config"], secrets=secrets_in(server.launch.env))

    check_config(sheet, server)

    assert "'GITHUB_TOKEN' of 'env' is '<YOUR_TOKEN>'" in sheet.diagnoses[0].cause
    assert sheet.diagnoses[0].title == "The text of an example was not replaced"


def test_a_file_that_the_host_cannot_read_breaks_a_server_that_is_in_order():
    text = '{"mcpServers": {"notes": {"command": "npx"},}}'

    sheet = checked(server_from({}, host="claude-desktop", text=text))

    assert told(sheet) == [("trailing-comma", "broken")]
    assert "/u/mcp.json, line 1, column 44" in sheet.diagnoses[0].cause
    assert sheet.checks[0].status == "failed"


@pytest.mark.parametrize(("host", "expected"), [("claude-desktop", [("CONFIG-2", "note")]), ("cursor", [])])
def test_a_program_that_only_the_shell_knows_is_named_for_hosts_that_do_not_ask_the_shell(
    host, expected, tmp_path, monkeypatch
):
    program = tmp_path / ".nvm/bin/npx-here"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(program.parent))

    sheet = checked(server_from({"command": "npx-here"}, host=host))

    assert told(sheet) == expected
    assert all(f'"command": "{program}"' in each.fix for each in sheet.diagnoses)


def test_a_mistake_in_the_file_stands_in_place_of_what_follows_from_it():
    sheet = checked(server_from({"command": "~/bin/server"}))
    sheet.diagnose("LAUNCH-2", "there is no ~/bin/server")

    settle_config(sheet)

    assert told(sheet) == [("tilde-not-expanded", "broken")]


def test_a_mistake_that_does_no_harm_stays_what_it_is():
    sheet = checked(server_from({"command": "npx", "env": {"TOKEN": "<your token>"}}))
    sheet.diagnose("PING-1", "no answer")

    settle_config(sheet)

    assert told(sheet) == [("placeholder", "degraded"), ("PING-1", "degraded")]


@pytest.mark.parametrize("code", CODES)
def test_every_kind_of_problem_becomes_a_diagnosis(code):
    problem = ConfigProblem(
        code=code, message="m", fix="f", file="/u/mcp.json", line=7, column=5, severity="error"
    )

    each = diagnosis_of(problem)

    assert each.cause == "/u/mcp.json, line 7, column 5: m"
    assert (each.blame, each.fix, each.severity) == ("client", "f", severity_of(problem))
    assert each.title
    assert not each.title.endswith(".")
