"""Asking the person at the terminal: a prompt on stderr, a line from stdin, without blocking the connection.

The loop waits for the terminal as for any other descriptor, so Ctrl-C ends a question as it ends a call.
"""

from __future__ import annotations

import asyncio
import os
import sys

from mesero.cli.printing import Output

__all__ = ["Terminal"]

_LINE_BYTES = 65536


class Terminal:
    """The terminal that the command was started on, if it was.

    Args:
        output: Where prompts go.
        may_ask: False where nobody is to be asked even though there is a terminal.
    """

    def __init__(self, output: Output, *, may_ask: bool = True) -> None:
        self.output = output
        self.is_interactive = may_ask and output.is_terminal and _is_stdin_terminal()

    async def ask(self, prompt: str) -> str:
        """One line that somebody typed, without its end.

        Raises:
            EOFError: Ctrl-D.
        """
        self.output.prompt(prompt)
        raw = await _read_line(sys.stdin.fileno())
        if not raw:
            self.output.note("")
            raise EOFError
        return raw.decode("utf-8", "replace").rstrip("\r\n")


def _is_stdin_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def _settle(readable: asyncio.Future[None]) -> None:
    if not readable.done():
        readable.set_result(None)


async def _read_line(descriptor: int) -> bytes:
    """A terminal hands over whole lines, one a read."""
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":  # pragma: no cover - a console is no descriptor that a loop could wait for
        return await loop.run_in_executor(None, os.read, descriptor, _LINE_BYTES)
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _settle, readable)
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, _LINE_BYTES)
