"""Leaves a process behind that is in a session of its own."""

import subprocess

from lines import serve

subprocess.Popen(
    ["sleep", "60"],
    start_new_session=True,
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.DEVNULL,
)
serve()
