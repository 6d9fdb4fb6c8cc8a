import os
import shutil
import subprocess
import sys
import time

from mesero.doctor.processes import (
    MARK,
    ProcessFacts,
    alive_of,
    descendants_of,
    end_all,
    end_marked,
    facts_of,
    fresh_mark,
    is_on_stdin_of,
    marked_with,
)


def test_children_are_found_and_ended():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    try:
        kin = [each for each in descendants_of(os.getpid()) if each.pid == child.pid]
        assert "time.sleep" in kin[0].command
        assert alive_of(kin) == kin

        end_all(kin)
    finally:
        child.kill()
        child.wait(10)

    assert alive_of(kin) == []


def test_an_id_that_was_given_away_again_is_another_process():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    try:
        kin = [each for each in descendants_of(os.getpid()) if each.pid == child.pid]

        assert alive_of([kin[0]._replace(start=kin[0].start - 1)]) == []
    finally:
        child.kill()
        child.wait(10)


def test_a_process_that_left_its_parent_is_found_by_its_mark_and_ended():
    mark = fresh_mark()
    script = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(60)\n"
    subprocess.run([sys.executable, "-c", script], env={**os.environ, MARK: mark}, check=True)

    (found,) = marked_with(mark)
    assert found.pid not in {each.pid for each in descendants_of(os.getpid())}
    end_marked(mark)

    assert alive_of([found]) == []
    assert marked_with(mark) == []


def test_who_reads_from_the_same_place_is_told_from_who_does_not():
    with (
        subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE) as owner,
        subprocess.Popen(["sleep", "60"], stdin=subprocess.DEVNULL) as other,
    ):
        kin = {each.pid: each for each in descendants_of(os.getpid())}
        assert is_on_stdin_of(kin[owner.pid], owner.pid)
        assert not is_on_stdin_of(kin[other.pid], owner.pid)
        owner.kill()
        other.kill()


def test_a_name_that_the_system_cut_in_the_middle_of_a_character_hides_nobody(tmp_path):
    # Only its first 15 bytes are kept, and a character of these has three.
    program = tmp_path / "a\u65e5\u672c\u8a9e\u30c6\u30b9\u30c8"
    shutil.copy(shutil.which("sleep"), program)
    with subprocess.Popen([program, "60"]) as child:
        found = [each for each in descendants_of(os.getpid()) if each.pid == child.pid]
        child.kill()

    assert found[0].name.startswith("a\u65e5\u672c")


def test_secrets_in_a_command_line_are_not_shown():
    words = [sys.executable, "-c", "import time; time.sleep(60)", "--token", "canary-canary"]
    with subprocess.Popen(words) as child:
        deadline = time.monotonic() + 20
        while not (found := facts_of(child.pid)).command:  # for a moment it has none yet
            assert time.monotonic() < deadline
        child.kill()

    assert found.command.endswith("--token <hidden, 13 characters>")


def test_a_process_that_becomes_another_program_stays_the_same_one():
    shell, later = ProcessFacts(7, 100, "sh", "sh -c x"), ProcessFacts(7, 100, "x", "x")
    another = ProcessFacts(7, 101, "sh", "sh -c x")

    assert shell == later
    assert not shell != later  # noqa: SIM202 - the other operator, which tuples have, too
    assert len({shell, later, another}) == 2
    assert shell != another
