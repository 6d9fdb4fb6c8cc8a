"""Which rows the options choose and what a broken driver costs; `make bench` does the measuring itself."""

import json
import sys

import pytest

from bench.run import GROUPS, DriverError, choose_groups, parse_options, run_driver


def test_without_a_choice_every_group_is_measured():
    assert choose_groups(None) == list(GROUPS)


def test_a_beginning_chooses_all_groups_that_begin_so_in_the_usual_order():
    assert choose_groups("http, stdio-server") == ["stdio-server", "http-client", "http-server"]


def test_a_word_that_begins_no_group_is_refused_by_name():
    with pytest.raises(ValueError, match="sockets"):
        choose_groups("stdio,sockets")


def test_only_a_full_run_writes_the_page_unasked():
    assert parse_options([]).write.name == "benchmarks.md"
    assert parse_options(["--quick"]).write is None
    assert parse_options(["--rows", "import"]).write is None


def test_quick_means_fewer_and_shorter_rounds_unless_told_otherwise():
    assert (parse_options(["--quick"]).runs, parse_options(["--quick", "--runs", "5"]).runs) == (3, 5)


def test_the_last_line_of_a_driver_is_its_result():
    code = f"print('noise'); print({json.dumps({'calls': 1})!r})"
    assert run_driver([sys.executable, "-c", code]) == {"calls": 1}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ([sys.executable, "-c", "raise SystemExit('no tool')"], "no tool"),
        ([sys.executable, "-c", ""], "no output"),
        (["/does/not/exist"], "No such file"),
    ],
)
def test_a_driver_that_fails_says_why(command, reason):
    with pytest.raises(DriverError, match=reason):
        run_driver(command)
