"""Leaves a process behind in its own group, which nobody hears of who ends the server alone."""

import subprocess

from calling import serve

quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
subprocess.Popen(["sleep", "60"], **quiet)
serve()
