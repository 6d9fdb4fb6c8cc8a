import os
import subprocess
import sys

from mesero.doctor.processes import alive_of, descendants_of, end_all


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
