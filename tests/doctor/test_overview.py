import asyncio
import json
import sys
from pathlib import Path

from mesero.doctor import examine_all
from mesero.doctor.overview import patients_of
from mesero.host.configs import read_config
from mesero.host.configured import configured_servers
from mesero.host.problems import Source

BROKEN = Path(__file__).parents[1] / "broken"
NOTES = {"command": sys.executable, "args": ["-m", "mesero.demo"]}
KEYLESS = {"command": sys.executable, "args": [str(BROKEN / "P05_key.py")]}


def files_with(**hosts):
    keys = {"vscode": "servers"}
    return [
        read_config(json.dumps({keys.get(host, "mcpServers"): servers}), Source(file=f"/{host}", host=host))
        for host, servers in hosts.items()
    ]


def servers_in(files):
    return configured_servers(files, [], {})


def test_a_server_that_two_hosts_have_is_one_patient():
    servers = servers_in(files_with(cursor={"notes": NOTES}, vscode={"notes": NOTES, "other": NOTES}))

    assert [(one.name, len(one.servers)) for one in patients_of(servers)] == [("notes", 2), ("other", 1)]


def test_an_entry_that_its_file_spoils_stays_apart_from_one_in_order():
    odd = {**NOTES, "env": {"K": "${K}"}}
    servers = servers_in(files_with(cursor={"notes": odd}, windsurf={"notes": odd}))

    assert len(patients_of(servers)) == 2


def test_a_server_that_one_of_two_hosts_has_switched_off_is_examined_for_the_other():
    off = {**NOTES, "disabled": True}
    servers = servers_in(files_with(windsurf={"notes": off}, cursor={"notes": NOTES}))

    assert [one.skipped for one in patients_of(servers)] == ["it is switched off", ""]


def test_what_cannot_be_examined_is_named_with_the_reason():
    asking = {**NOTES, "env": {"K": "${input:key}"}}
    servers = servers_in(files_with(vscode={"a": {**NOTES, "disabled": True}, "b": asking}))

    assert [one.skipped for one in patients_of(servers)] == [
        "it is switched off",
        "its host asks the user for key",
    ]


async def test_a_broken_server_takes_nothing_from_the_others():
    hanging = {"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"]}
    files = files_with(cursor={"good": NOTES, "bad": KEYLESS, "slow": hanging, "again": NOTES})

    found = await examine_all(servers_in(files), files=files, timeout_s=6.0)

    assert [(one.name, one.report.verdict) for one in found.patients] == [
        ("good", "ok"),
        ("bad", "broken"),
        ("slow", "broken"),
        ("again", "ok"),
    ]
    assert found.verdict == "broken"
    assert found.took_s < 12


async def test_a_file_as_a_whole_is_judged_once_and_its_servers_for_themselves():
    text = json.dumps({"mcpServers": {"a": NOTES, "b": NOTES}})[:-1] + ",}"
    source = Source(file="/h/claude_desktop_config.json", host="claude-desktop")
    files = [read_config(text, source)]

    found = await examine_all(servers_in(files), files=files)

    assert [each.code for each in found.diagnoses] == ["trailing-comma"]
    assert found.diagnoses[0].cause.endswith("reads nothing of such a file, and so none of its 2 servers")
    assert [one.report.verdict for one in found.patients] == ["ok", "ok"]
    assert found.verdict == "broken"


async def test_an_entry_that_says_nothing_to_start_is_told():
    files = files_with(cursor={"empty": {}})

    found = await examine_all(servers_in(files), files=files)

    assert [each.code for each in found.patients[0].report.diagnoses] == ["no-command-or-url"]
    assert {each.status for each in found.patients[0].report.checks[1:]} == {"not reached"}


class Count:
    now = most = 0

    def begin(self, name):
        if name == "config":
            Count.now += 1
            Count.most = max(Count.most, Count.now)

    def end(self, check):
        if check.name == "command":
            Count.now -= 1


async def test_only_so_many_are_examined_at_once():
    files = files_with(cursor={str(number): {"command": "no-such-program"} for number in range(6)})

    async with asyncio.timeout(30):
        await examine_all(servers_in(files), at_once=2, watch=lambda _: Count())

    assert Count.most <= 2


async def test_what_was_seen_until_an_interrupt_is_told():
    hanging = {"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"]}
    files = files_with(cursor={"missing": {"command": "no-such-program"}, "slow": hanging, "later": NOTES})
    told = []
    begun = asyncio.Event()

    class Eyes:
        def begin(self, name):
            if name == "connection":
                begun.set()

        def end(self, check):
            """Of no interest here."""

    task = asyncio.create_task(
        examine_all(
            servers_in(files), files=files, at_once=1, watch=lambda _: Eyes(), on_cancelled=told.append
        )
    )
    async with asyncio.timeout(20):
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])

    assert task.cancelled()
    [found] = told
    assert [(one.name, one.report and one.report.verdict, one.skipped) for one in found.patients] == [
        ("missing", "broken", ""),
        ("slow", "unknown", ""),
        ("later", None, "the examination was interrupted"),
    ]
