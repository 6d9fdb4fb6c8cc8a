"""Small servers that misbehave, as scripts: what they have in common, and how to look at what is left."""

import asyncio
import os
import sys
import textwrap
from pathlib import Path

PREAMBLE = """
import json, os, signal, subprocess, sys, threading, time

def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()

def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")

def result(request, text="", **members):
    whole = {"resultType": "complete", "content": [{"type": "text", "text": text}], **members}
    send({"id": request["id"], "result": whole})

def note(method, **params):
    send({"method": method, "params": params})

def messages():
    for line in sys.stdin:
        yield json.loads(line)

def requests():
    for message in messages():
        if "id" in message:
            yield message

def ignore_everything():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(60)

def start_grandchild():
    # It keeps our stdout open, and would outlive us.
    child = subprocess.Popen(["sleep", "300"], stdin=subprocess.DEVNULL)
    return child.pid
"""


def script_command(folder, body):
    """The command of a server: the preamble and a body, as a script in a folder."""
    path = Path(folder) / "server.py"
    path.write_text(PREAMBLE + textwrap.dedent(body))
    return [sys.executable, "-I", "-S", str(path)]


def is_alive(pid):
    """Whether a process runs; one that nobody waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def until(condition, *, within_s=10.0):
    """Wait until a condition holds, and fail when it does not within the limit."""
    async with asyncio.timeout(within_s):
        while not condition():  # noqa: ASYNC110  (what is waited for happens in another process)
            await asyncio.sleep(0.01)


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))
