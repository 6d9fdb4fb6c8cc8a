"""The typed examples of api.py, and with them what `py.typed` promises."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CHECK_WITHIN_S = 300


def test_the_examples_pass_a_strict_type_check(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "--follow-imports=silent"]
    checked = subprocess.run(
        [*command, "--cache-dir", str(tmp_path), str(HERE / "api.py")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=CHECK_WITHIN_S,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_package_says_that_it_is_typed():
    package = Path(find_spec("mesero").origin).parent
    assert (package / "py.typed").exists()
