"""Has children that end with it, if a moment later."""

import subprocess
import sys

from calling import serve

subprocess.Popen(
    [sys.executable, "-c", "import sys; sys.stdin.read()"],
    stdin=subprocess.PIPE,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
serve()
