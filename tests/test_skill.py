"""The skill says what is true: every command in it is run, and its configuration is used."""

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mesero
from mesero.audit import RULES, families
from mesero.audit.diagnosis import CAUSES, load_causes
from mesero.demo.notes import server as notes
from mesero.trace.reader import TraceReader, open_file
from tests.http_serving import serving

SKILL = (Path(__file__).parents[1] / "skills" / "mcp-request-tracer" / "SKILL.md").read_text()
SERVER = "from mesero.demo.notes import server\n\nserver.run()\n"
WITHIN_S = 60


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", SKILL, re.MULTILINE | re.DOTALL)


COMMANDS = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a server in it, and with `mesero` and `python` on its PATH."""
    folder = tmp_path_factory.mktemp("skill")
    (folder / "server.py").write_text(SERVER)
    (folder / "bin").mkdir()
    for name, words in (("mesero", "-m mesero"), ("python", "")):
        (folder / "bin" / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
        (folder / "bin" / name).chmod(0o755)
    return folder


def path_of(place):
    return f"{place / 'bin'}{os.pathsep}{os.environ['PATH']}"


def run(command, place):
    return subprocess.run(
        ["sh", "-c", command],
        check=False,
        cwd=place,
        env=os.environ | {"PATH": path_of(place)},
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
    )


def lines_of(path):
    with TraceReader(open_file(path)) as reader:
        return list(reader)


def test_every_command_does_what_the_skill_says(place):
    assert len(COMMANDS) >= 12
    for command in COMMANDS:
        done = run(command, place)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr, command
        assert done.stdout.strip() or " -o " in command, command

    assert (place / "session.html").read_text().startswith("<!doctype html>")
    audited = run("mesero audit session.jsonl", place).stdout
    assert audited.startswith("no findings in "), audited


async def test_the_configuration_records_a_host_s_session(place):
    (config,) = [json.loads(block) for block in blocks("json")]
    server = config["mcpServers"]["notes"]
    command = [str(place / "bin" / server["command"]), *server["args"]]
    async with mesero.Client(command, cwd=place, env={"PATH": path_of(place)}, remember=False) as client:
        assert "notes_search" in {tool.name for tool in await client.list_tools()}

    assert len(lines_of(place / "host.jsonl")) > 4


async def test_the_proxy_records_what_goes_to_a_url(place):
    (command,) = [block.strip() for block in blocks("sh")]
    async with serving(notes.asgi()) as url:
        words = command.replace("https://example.com/mcp", url).replace(":9000", ":0").split()
        proxy = await asyncio.create_subprocess_exec(
            place / "bin" / words[0], *words[1:], cwd=place, stderr=asyncio.subprocess.PIPE
        )
        try:
            async with asyncio.timeout(WITHIN_S):
                own = await read_address(proxy.stderr)
                async with mesero.Client(own) as client:
                    await client.list_tools()
        finally:
            proxy.terminate()
            await proxy.communicate()

    assert len(lines_of(place / "http.jsonl")) > 3


async def read_address(stream):
    while line := await stream.readline():
        if found := re.search(r"http://127\.0\.0\.1:\d+\S*", line.decode().partition(" put ")[2]):
            return found[0]
    raise AssertionError("the proxy named no address")


def test_every_rule_and_cause_that_is_named_is_there():
    families.load()
    load_causes()
    named = set(re.findall(r"\b[A-Z]{3,7}-\d+\b", SKILL)) - {"UTF-8"}

    assert named
    assert named <= {*RULES, *CAUSES}


def test_the_skill_says_by_its_head_when_to_use_it():
    _, head, body = SKILL.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.strip().splitlines())

    assert fields["name"] == "mcp-request-tracer"
    assert "Use when" in fields["description"]
    assert len(fields["description"]) <= 1024
    assert body.strip().startswith("# ")
