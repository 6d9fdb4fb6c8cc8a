import sys

from mesero.doctor import examine

ECHO = [sys.executable, "-m", "mesero.testing"]


async def test_a_healthy_server_is_told_to_be_healthy_soon(tmp_path):
    report = await examine(ECHO, trace=tmp_path / "visit.jsonl")

    assert (report.verdict, report.diagnoses) == ("ok", ())
    assert (report.server.name, report.era, report.revision) == ("echo", "modern", "2026-07-28")
    assert report.took_s < 5
    assert {each.status for each in report.checks} == {"ok", "skipped"}
    assert "server/discover" in (tmp_path / "visit.jsonl").read_text()


async def test_what_was_reached_is_reported_when_the_time_is_over():
    report = await examine([sys.executable, "-c", "import time; time.sleep(30)"], timeout_s=0.3)

    assert report.verdict == "broken"
    assert report.diagnoses
    assert report.took_s < 3
    assert report.checks[0].status == "ok"
