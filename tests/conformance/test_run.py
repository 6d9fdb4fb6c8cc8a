"""The judging of conformance results, on result trees made up here."""

import json
import os
import select

import pytest

from tests.conformance import run

NOTHING = frozenset()


def check(status, *, id="the-check", message=None):
    made = {"id": id, "status": status, "description": "what is checked"}
    return made if message is None else {**made, "errorMessage": message}


def leave_result(folder, name, checks, *, stamp="2026-11-30T11-54-30-052Z"):
    made = folder / f"{name}-{stamp}"
    made.mkdir(parents=True)
    (made / "checks.json").write_text(json.dumps(checks))


def test_a_scenario_with_a_passed_check_and_nothing_bad_passes():
    checks = [check("SUCCESS"), check("SKIPPED"), check("INFO")]

    verdict = run.judge("ping", checks, NOTHING)

    assert verdict.word == "ok"
    assert verdict.counts["SKIPPED"] == 1


@pytest.mark.parametrize(
    "checks",
    [
        [],
        [check("SKIPPED"), check("SKIPPED")],
        [check("INFO")],
        [check("SUCCESS", id=run.GENERIC_CHECK), check("SKIPPED")],
    ],
)
def test_a_vacuous_pass_is_refused(checks):
    verdict = run.judge("ping", checks, NOTHING)

    assert verdict.word == "NO"
    assert "nothing was checked" in verdict.problems[0]


@pytest.mark.parametrize("status", ["FAILURE", "WARNING"])
def test_a_bad_check_is_refused_and_named_although_others_passed(status):
    verdict = run.judge("ping", [check("SUCCESS"), check(status, id="bad", message="no pong")], NOTHING)

    assert verdict.problems == (f"{status} bad: no pong",)


def test_a_scenario_that_left_no_result_is_refused_whatever_the_baseline_says():
    verdict = run.judge("ping", None, frozenset({"ping"}))

    assert verdict.word == "NO"
    assert "no result" in verdict.problems[0]
    assert run.find_stale(frozenset({"ping"}), [verdict]) == ("ping",)


def test_a_listed_scenario_may_fail_but_does_not_count_as_passed():
    verdict = run.judge("ping", [check("FAILURE")], frozenset({"ping"}))

    assert verdict.word == "accepted"
    assert run.score_of([verdict]) == "0/1 (1 accepted)"
    assert run.find_stale(frozenset({"ping"}), [verdict]) == ()


def test_a_listed_check_excuses_that_check_alone():
    baseline = frozenset({"ping:known"})

    excused = run.judge("ping", [check("SUCCESS"), check("FAILURE", id="known")], baseline)
    other = run.judge("ping", [check("SUCCESS"), check("FAILURE", id="unknown")], baseline)

    assert excused.word == "accepted"
    assert other.word == "NO"


@pytest.mark.parametrize("entry", ["ping", "ping:the-check", "pong"])
def test_a_stale_baseline_entry_is_found(entry):
    verdict = run.judge("ping", [check("SUCCESS")], frozenset({entry}))

    assert verdict.word == "ok"
    assert run.find_stale(frozenset({entry}), [verdict]) == (entry,)


def test_a_scenario_entry_is_stale_when_its_checks_are_listed_one_by_one():
    baseline = frozenset({"ping", "ping:known"})

    verdict = run.judge("ping", [check("SUCCESS"), check("FAILURE", id="known")], baseline)

    assert run.find_stale(baseline, [verdict]) == ("ping",)


def test_the_baseline_is_read_with_comments_and_both_list_forms():
    text = "# why\nserver:\n  - caching # reason\n  - caching:some-check\n\nclient: []\n"

    assert run.read_baseline(text) == {
        "server": frozenset({"caching", "caching:some-check"}),
        "client": frozenset(),
    }


@pytest.mark.parametrize("text", ["- orphan", "servers:\n", "server:\n  caching\n", "server:\n - a b\n"])
def test_a_baseline_line_that_is_not_understood_is_refused(text):
    with pytest.raises(ValueError, match=r"baseline\.yml, line"):
        run.read_baseline(text)


def test_results_are_found_by_whole_scenario_name(tmp_path):
    leave_result(tmp_path, "server-json-schema", [check("SUCCESS")])
    leave_result(tmp_path, "server-json-schema-2020-12", [check("FAILURE")])

    assert run.read_checks(tmp_path, "json-schema", prefix="server-") == [check("SUCCESS")]
    assert run.read_checks(tmp_path, "json-schema-2020-12", prefix="server-") == [check("FAILURE")]
    assert run.read_checks(tmp_path, "json", prefix="server-") is None


def test_a_result_file_that_is_cut_off_counts_as_no_result(tmp_path):
    leave_result(tmp_path, "tools_call", [])
    next(tmp_path.glob("*/checks.json")).write_text('[{"id":')

    assert run.read_checks(tmp_path, "tools_call") is None


def test_the_sets_name_what_each_revision_scores_and_nothing_twice():
    sets = run.read_scenarios((run.HERE / "scenarios.toml").read_text())

    assert {
        one.revision: (len(one.server_scored), len(one.server_extra), len(one.client)) for one in sets
    } == {"2026-07-28": (37, 3, 8), "2025-11-25": (30, 3, 5), "2025-06-18": (27, 0, 2)}
    for one in sets:
        names = one.server_scored + one.server_extra
        assert len(names) == len(set(names))
        assert one.revision in one.server_run


def test_the_lock_pins_exact_versions_and_names_no_registry():
    wanted = json.loads((run.HERE / "package.json").read_bytes())["dependencies"]
    locked = json.loads((run.HERE / "package-lock.json").read_bytes())["packages"]

    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert not [path for path, package in locked.items() if "resolved" in package]


def test_the_stored_baseline_can_be_read():
    assert set(run.read_baseline((run.HERE / "baseline.yml").read_text())) == {"server", "client"}


def test_every_side_must_be_well_and_no_entry_stale(tmp_path, monkeypatch, capsys):
    (tmp_path / "scenarios.toml").write_text(
        '[[set]]\nrevision = "2026-07-28"\nserver_run = []\n'
        'server_scored = ["a"]\nserver_extra = ["b"]\nclient = ["c"]\n'
    )
    baseline = tmp_path / "baseline.yml"
    baseline.write_text("server: []\nclient: []\n")
    good = [check("SUCCESS")]
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "run_server_side", lambda demands: {"a": good, "b": good})
    monkeypatch.setattr(run, "run_client_side", lambda demands: {"c": good})

    assert run.run_everything(["server", "client"])
    assert (
        "conformance: server 2026-07-28 1/1 scored, 1/1 extra; client 2026-07-28 1/1"
        in capsys.readouterr().out
    )

    baseline.write_text("client:\n  - c\n")
    assert not run.run_everything(["server", "client"])
    assert "delete it: client: c" in capsys.readouterr().out

    baseline.write_text("server: []\n")
    monkeypatch.setattr(run, "run_client_side", lambda demands: {"c": [check("WARNING"), *good]})
    assert not run.run_everything(["server", "client"])


def test_a_program_that_hangs_is_ended_with_its_children(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    program = f"(echo started; sleep 60) > {pipe} & wait"

    problem = run.run_bounded(["sh", "-c", program], tmp_path / "log", timeout_s=1)

    assert problem == "still running after 1 s"
    assert os.read(reader, 100) == b"started\n"
    readable, _, _ = select.select([reader], [], [], 10)
    assert readable, "the child still holds the pipe"
    assert os.read(reader, 100) == b""
    os.close(reader)


@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_missing_npm_is_said_aloud_and_fails_under_ci(ci, code, monkeypatch, capsys):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(run.shutil, "which", lambda name: None)

    assert run.main([]) == code
    assert "NOT run" in capsys.readouterr().err
