"""Ends neither at the end of its input nor at SIGTERM; what it started does not, either.

Its arguments: where it stays (in ``connect``, in a ``call``, or at the end), and a file that says that it is
there.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

from calling import serve

CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(120)"
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
stage, sign = (*sys.argv[1:], "", "")[:2]


def stay(where):
    if sign and where == stage:
        Path(sign).write_text("here")
    time.sleep(120)


signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", CHILD], **QUIET)
subprocess.Popen([sys.executable, "-c", CHILD], start_new_session=True, **QUIET)
if stage == "connect":
    stay("connect")
serve(lambda request, era: stay("call"))
stay("shutdown")
