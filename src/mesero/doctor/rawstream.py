"""A server process spoken to without a client: bytes in, stdin closed, bytes out.

It tells a server that is deaf from one that waits for something else: for the end of its input, or for
headers of another framing. Nothing of the process is left behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence

from mesero.doctor.processes import MARK, end_marked, fresh_mark
from mesero.transports.process import inherited_environment

__all__ = ["FRAMED_HELLO", "PLAIN_HELLO", "find_answer"]

_BODY = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "mesero-doctor", "version": "1"},
        },
    }
).encode()
PLAIN_HELLO = _BODY + b"\n"
"""``initialize`` as MCP has it."""
FRAMED_HELLO = b"Content-Length: %d\r\n\r\n" % len(_BODY) + _BODY
"""``initialize`` as the Language Server Protocol would have it."""
_MAX_BYTES = 65_536
_END_S = 1.0


async def find_answer(
    command: Sequence[str],
    said: bytes,
    *,
    env: Mapping[str, str],
    cwd: str | None,
    wait_s: float,
    is_closing: bool,
) -> bytes | None:
    """What a fresh process answers, or None.

    Args:
        command: The program and its arguments.
        said: What is written to its stdin.
        env: Variables added to the inherited ones.
        cwd: Its working directory.
        wait_s: How long to wait for a first byte, in seconds.
        is_closing: Whether its stdin is closed once this is written.
    """
    mark = fresh_mark()
    process = None
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=inherited_environment({**env, MARK: mark}),
            cwd=cwd,
            start_new_session=sys.platform != "win32",
        )
        return await asyncio.wait_for(_exchange(process, said, is_closing=is_closing), wait_s) or None
    except (OSError, TimeoutError):
        return None
    finally:
        await _end(process, mark)


async def _exchange(process: asyncio.subprocess.Process, said: bytes, *, is_closing: bool) -> bytes:
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        return b""
    stdin.write(said)
    await stdin.drain()
    if is_closing:
        stdin.close()
    return await stdout.read(_MAX_BYTES)


async def _end(process: asyncio.subprocess.Process | None, mark: str) -> None:
    """Kill it and all that it started, also what has left its group."""
    if process is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
    end_marked(mark)
    if process is not None:
        # Where nobody tells what it started, that may hold its pipes open for as long as it likes.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await process.wait()
