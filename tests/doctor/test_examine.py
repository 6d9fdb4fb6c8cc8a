import sys

import pytest

from mesero.doctor import examine
from mesero.errors import UsageError
from mesero.jsonrpc import encode_value
from tests.broken.endpoints import honest, serving
from tests.broken.examining import command_of

DEMO = [sys.executable, "-m", "mesero.demo"]


async def test_a_healthy_server_is_told_to_be_healthy_soon(tmp_path):
    report = await examine(DEMO, trace=tmp_path / "visit.jsonl")

    assert (report.verdict, report.diagnoses) == ("ok", ())
    assert (report.server.name, report.era, report.revision) == ("notes", "modern", "2026-07-28")
    assert report.took_s < 5
    assert {each.status for each in report.checks} == {"ok", "skipped"}
    assert "server/discover" in (tmp_path / "visit.jsonl").read_text()


async def test_what_was_reached_is_reported_when_the_time_is_over():
    report = await examine([sys.executable, "-c", "import time; time.sleep(30)"], timeout_s=0.3)

    # It depends on the machine whether the silence was looked into before the time was over.
    is_late = [each.code for each in report.diagnoses] == ["TIME-1"]
    assert report.verdict == ("unknown" if is_late else "broken")
    assert report.diagnoses
    assert report.took_s < 3
    assert report.checks[0].status == "ok"


async def test_there_must_be_something_to_examine():
    with pytest.raises(UsageError, match="nothing to examine"):
        await examine([])


@pytest.mark.parametrize(
    ("words", "env"), [(["a\0b"], {}), ([], {"A": "a\0b"}), ([], {"A=B": "c"})], ids=["word", "value", "name"]
)
async def test_what_no_system_can_pass_on_is_no_server(words, env):
    report = await examine([*DEMO, *words], env=env)

    assert [each.code for each in report.diagnoses] == ["CLOSED-1"]


@pytest.mark.parametrize("headers", [{"Content-Type": "x"}, {"X-A": "b\nc"}])
async def test_a_header_that_cannot_be_sent_is_told_in_a_report(headers):
    with serving(honest) as root:
        report = await examine(f"{root}/mcp", headers=headers)

    assert [each.code for each in report.diagnoses] == ["CONNECT-1"]
    assert "the header" in report.diagnoses[0].cause


async def test_what_a_server_repeats_of_its_secrets_is_not_shown():
    command = command_of("telling", "--token", "word-canary")

    report = await examine(command, env={"A": "env-canary"})

    assert report.server.name.startswith("small <hidden, 10 characters>")
    assert "canary" not in encode_value(report).decode()
