"""Each broken configuration file: what is wrong is named with its place, and the servers are told apart."""

import json
import sys

import pytest

from mesero.doctor import examine, examine_all
from mesero.host.configs import check_across, read_config
from mesero.host.configured import configured_servers
from mesero.host.problems import Source
from tests.broken.examining import HERE, check, codes_of

DEMO = {"command": sys.executable, "args": ["-m", "mesero.demo"]}
WORDS = f'"command": {json.dumps(sys.executable)}, "args": ["-m", "mesero.demo"]'

# P106: a file that is no strict JSON; the code, line and column that are named.
UNREADABLE = {
    "a comma behind the last": (f'{{"mcpServers": {{\n  "n": {{{WORDS}}},\n}}}}', "trailing-comma", 2, None),
    "a comment": (f'{{\n  // mine\n  "mcpServers": {{"n": {{{WORDS}}}}}\n}}', "comments", 2, 3),
    "a brace that is missing": (f'{{"mcpServers": {{\n  "n": {{{WORDS}}}\n}}\n', "syntax", 1, 1),
    "a comma that is missing": (
        f'{{"mcpServers": {{\n  "n": {{{WORDS}}}\n  "m": {{}}\n}}}}',
        "syntax",
        2,
        None,
    ),
    "single quotes": ("{'mcpServers': {}}", "syntax", 1, 2),
    "a lonely backslash": ('{"mcpServers": {"n": {"command": "C:\\dir"}}}', "syntax", 1, 37),
    "the key of another host": (f'{{"servers": {{"n": {{{WORDS}}}}}}}', "wrong-key", 1, 2),
    "no key at all": (f'{{"n": {{{WORDS}}}}}', "missing-key", 1, 2),
    "a list of servers": (f'{{"mcpServers": [{{{WORDS}}}]}}', "not-an-object", 1, 16),
}


def files_of(text, *, host="claude-desktop", file="/u/claude_desktop_config.json"):
    return [read_config(text, Source(file=file, host=host), environment={})]


async def overview_of(files, **settings):
    return await examine_all(configured_servers(files, check_across(files), {}), files=files, **settings)


@pytest.mark.parametrize(("text", "code", "line", "column"), UNREADABLE.values(), ids=list(UNREADABLE))
async def test_a_file_that_its_host_cannot_read_is_the_answer(text, code, line, column):
    found = await overview_of(files_of(text))

    assert [each.code for each in found.diagnoses] == [code]
    assert f"/u/claude_desktop_config.json, line {line}, column {column or ''}" in found.diagnoses[0].cause
    assert found.verdict == "broken"
    assert all(one.report.verdict == "ok" for one in found.patients)


async def test_what_one_host_cannot_read_another_can():
    text = UNREADABLE["a comment"][0].replace("mcpServers", "servers")

    found = await overview_of(files_of(text, host="vscode", file="/p/.vscode/mcp.json"))

    assert (found.verdict, found.diagnoses) == ("ok", ())


# What stands in one entry: host, entry, the codes that are named.
ENTRIES = {
    "P02 the whole line in one word": (
        "cursor",
        {"command": f"{sys.executable} -m mesero.demo"},
        ["LAUNCH-4"],
    ),
    "P04 unexpanded": (
        "claude-desktop",
        {"command": sys.executable, "args": [str(HERE / "P04.py")], "env": {"API_KEY": "${NOPE}"}},
        ["LAUNCH-6"],
    ),
    "P04 unset": (
        "cursor",
        {"command": sys.executable, "args": [str(HERE / "P04.py")], "env": {"API_KEY": "${env:NOPE}"}},
        ["LAUNCH-6"],
    ),
    "P05 a text of the example": (
        "cursor",
        {"command": sys.executable, "args": ["/path/to/server.py"]},
        ["placeholder"],
    ),
    "a home that no shell filled in": ("cursor", {"command": "~/bin/server"}, ["tilde-not-expanded"]),
    "a URL where a command belongs": (
        "cursor",
        {"command": "https://example.com/mcp"},
        ["url-in-command"],
    ),
    "arguments that are no list": ("cursor", {**DEMO, "args": "-m mesero.demo"}, ["args-not-list"]),
    "a URL for a host without URLs": (
        "claude-desktop",
        {"url": "http://127.0.0.1:9/mcp"},
        ["remote-not-supported"],
    ),
    "nothing to start": ("cursor", {"env": {}}, ["no-command-or-url"]),
    "an odd name for the command": ("cursor", {"cmd": "npx"}, ["wrong-member"]),
    "a path of Windows": (
        "cursor",
        {"command": "C:\\Program Files\\nodejs\\npx.cmd", "args": ["-y", "notes"]},
        ["LAUNCH-2"],
    ),
    "a path with a blank": ("cursor", {"command": "/opt/my tools/server"}, ["LAUNCH-2"]),
    "in order": ("cursor", DEMO, []),
}


@pytest.mark.parametrize(("host", "entry", "expected"), ENTRIES.values(), ids=list(ENTRIES))
async def test_an_entry_that_is_wrong_is_named(host, entry, expected):
    found = await overview_of(files_of(json.dumps({"mcpServers": {"notes": entry}}), host=host))

    report = found.patients[0].report
    assert codes_of(report) == expected, report.diagnoses
    assert (report.verdict == "ok") == (not expected)


async def test_what_an_extension_brings_is_not_examined():
    text = '{"context_servers": {"e": {"settings": {}}, "f": {"source": "extension"}}}'

    found = await overview_of(files_of(text, host="zed", file="/u/settings.json"))

    assert [one.skipped for one in found.patients] == [
        "it comes with the host, or with an extension of it"
    ] * 2


async def test_an_entry_of_an_older_form_without_a_program_is_told():
    text = '{"context_servers": {"e": {"command": {"path": "", "args": []}}}}'

    found = await overview_of(files_of(text, host="zed", file="/u/settings.json"))

    check(found.patients[0].report, ["CONFIG-3"])


async def test_a_name_in_two_files_is_told_with_the_file_that_counts():
    """P108"""
    user = files_of(
        json.dumps({"mcpServers": {"notes": {"command": "old"}}}), host="cursor", file="/u/mcp.json"
    )
    project = files_of(json.dumps({"mcpServers": {"notes": DEMO}}), host="cursor", file="/p/mcp.json")

    found = await overview_of([*user, *project])

    [patient] = found.patients
    check(patient.report, ["duplicate-across-files"])
    assert "the one from /p/mcp.json is used" in patient.report.diagnoses[0].cause


async def test_a_name_twice_in_one_file_is_told_with_the_line_that_counts():
    """P108"""
    text = f'{{"mcpServers": {{\n"notes": {{"command": "old"}},\n"notes": {{{WORDS}}}\n}}}}'

    found = await overview_of(files_of(text, host="cursor"))

    check(found.patients[0].report, ["duplicate-in-file"])
    assert "only the one in line 3 is used" in found.patients[0].report.diagnoses[0].cause


async def test_one_broken_server_of_five_leaves_four():
    """P30, and P31: whoever asks is told."""
    servers = {f"good{number}": DEMO for number in range(3)}
    servers["bad"] = {"command": sys.executable, "args": [str(HERE / "P05_key.py")]}
    servers["hanging"] = {"command": sys.executable, "args": [str(HERE / "P22_deaf.py")]}

    found = await overview_of(files_of(json.dumps({"mcpServers": servers}), host="cursor"), timeout_s=8.0)

    verdicts = [(one.name, one.report.verdict, codes_of(one.report)) for one in found.patients]
    assert verdicts == [
        *((f"good{number}", "ok", []) for number in range(3)),
        ("bad", "broken", ["EXIT-2"]),
        ("hanging", "broken", ["START-4"]),
    ]
    assert found.verdict == "broken"


async def test_secrets_of_a_file_are_shown_nowhere(tmp_path):
    """P109: in the environment, in the arguments, and in what the server says."""
    script = "import os, sys; sys.exit(f\"bad key {os.environ['KEY']} {sys.argv[2]}\")"
    entry = {
        "command": sys.executable,
        "args": ["-c", script, "--token", "canary-args-0123456789"],
        "env": {"KEY": "canary-env-0123456789"},
    }
    trace = tmp_path / "visit.jsonl"
    [server] = configured_servers(files_of(json.dumps({"mcpServers": {"n": entry}}), host="cursor"), [], {})

    report = await examine(list(server.launch.command), env=server.launch.env, server=server, trace=trace)

    assert report.verdict == "broken"
    assert "canary" not in repr(report)
    assert "canary" not in trace.read_text()
