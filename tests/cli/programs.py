"""Servers to call, and ways to run the command line: in this process, as a child, and on a terminal."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

from typer.testing import CliRunner

from mesero.cli import app_for, find_wanted, split_command

NOTES = '''
import asyncio
from typing import Annotated, Literal

import msgspec

import mesero

server = mesero.Server(
    "notes",
    version="1.2",
    title="Notes",
    instructions="Be brief.\\nSecond \\x1b[31mline",
    log=lambda text: None,
)


class Who(msgspec.Struct):
    name: Annotated[str, msgspec.Meta(title="Your name", description="As on the card", min_length=2)]
    age: int = 30
    colour: Literal["red", "green"] = "red"
    ok: bool = False


@server.tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    print("printed by the tool")
    return a + b


@server.tool
def join(words: list[str], sep: str | None = None) -> str:
    return (sep or "").join(words)


@server.tool
def fail() -> str:
    raise ValueError("boom")


@server.tool
def rude() -> str:
    return "red \\x1b[31m text\\x9b5m"


@server.tool
async def slow(n: int, ctx: mesero.Context) -> str:
    for step in range(n):
        await ctx.log("info", f"at {step}")
        await ctx.report_progress(step + 1, n, f"[b]step[/b] {step}")
        await asyncio.sleep(0.02)
    return "done"


@server.tool
async def sleepy() -> str:
    await asyncio.sleep(60)
    return "late"


@server.tool
async def ask(ctx: mesero.Context) -> str:
    answer = await ctx.elicit("Who are you?", Who)
    return f"{answer.action} {answer.content}"


@server.tool
async def agree(ctx: mesero.Context) -> str:
    return (await ctx.elicit("Really?", None)).action


@server.tool
async def web(ctx: mesero.Context) -> str:
    return (await ctx.elicit_url("Sign in", "https://user@example.com/login")).action


@server.tool
async def where(ctx: mesero.Context) -> str:
    return " ".join(root.uri for root in await ctx.roots())


@server.tool
def grow() -> str:
    @server.tool(name="grown")
    def grown() -> str:
        return "grown"

    return "ok"


@server.tool
def touch() -> str:
    server.notify_resource_updated("file:///x")
    return "ok"


@server.resource("file:///x", mime_type="text/plain")
def x() -> str:
    return "the x"


@server.resource("file:///blob", mime_type="image/png")
def blob() -> bytes:
    return bytes(range(256))


@server.resource("notes://{id}")
def note(id: str) -> str:
    return f"note {id}"


@server.prompt
def summarize(topic: str, style: str = "short") -> str:
    """Summarize a topic."""
    return f"Summarize {topic}, {style}"


@server.completion("summarize", "topic")
def topics(typed: str) -> list[str]:
    return [topic for topic in ("garden", "gates") if topic.startswith(typed)]


if __name__ == "__main__":
    server.run()
'''

CHANGING = '''
import asyncio

import mesero

server = mesero.Server("changing")


@server.tool
def first() -> str:
    return ""


@server.resource("file:///x")
def x() -> str:
    return ""


async def change(at):
    while not server.subscriptions:
        await asyncio.sleep(0.01)
    server.notify_resource_updated("file:///x")
    server.tool(name="second")(lambda: "")


class Changing(type(server)):
    """Starts to change with its first connection."""


original = server.connect


def connect(send):
    asyncio.get_running_loop().create_task(change(send))
    return original(send)


server.connect = connect

if __name__ == "__main__":
    server.run()
'''


def invoke(words, *, stdin=None):
    """Run a command in this process; `--` is split off as `main` does."""
    before, command = split_command(words)
    return CliRunner().invoke(app_for(find_wanted(before)), before, obj=command, input=stdin)


def run(words, **settings):
    """Run a command as a child process."""
    command = [sys.executable, "-m", "mesero", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **settings)


class OnTerminal:
    """A command on a terminal of its own: stdin and stderr are the terminal, stdout is a pipe."""

    def __init__(self, words, **settings):
        self._terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mesero", *words],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
            **settings,
        )
        os.close(theirs)
        self.seen = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self.process.stdout.close()
        os.close(self._terminal)

    def wait_for(self, text, *, within_s=20):
        """Read until a text appears behind what was waited for before."""
        last_moment = time.monotonic() + within_s
        while text not in self.seen:
            readable, _, _ = select.select([self._terminal], [], [], max(0.0, last_moment - time.monotonic()))
            assert readable, f"{text!r} did not appear in {self.seen!r}"
            try:
                data = os.read(self._terminal, 65536)
            except OSError:
                data = b""
            assert data, f"the command ended before {text!r} appeared: {self.seen!r}"
            self.seen += data.decode()
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, line):
        os.write(self._terminal, line.encode() + b"\n")

    def press(self, key):
        os.write(self._terminal, key)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def result(self):
        """The exit code and stdout, once the command has ended; the terminal is drained meanwhile."""
        with contextlib.suppress(OSError):
            while select.select([self._terminal], [], [], 20)[0]:
                data = os.read(self._terminal, 65536)
                if not data:
                    break
                self.seen += data.decode()
        out = self.process.stdout.read().decode()
        return self.process.wait(20), out


def without_colours(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
