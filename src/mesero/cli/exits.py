"""From what went wrong to the exit code and the few lines that say so. The only place that knows the codes.

====  =====================================================================
code  meaning
====  =====================================================================
0     done
1     the tool said ``isError``, or the server said that it failed
2     usage: what was asked cannot be done like that
3     could not connect, or the connection was lost
4     protocol violation, or no common revision
5     authorization needed
6     time-out
70    a mistake in mesero itself
130   interrupted
====  =====================================================================
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

import typer

from mesero.cli.printing import Output
from mesero.errors import (
    AuthorizationNeededError,
    CallTimeoutError,
    HeaderMismatchError,
    InputNeededError,
    InvalidParamsError,
    InvalidRequestError,
    LocalError,
    MeseroError,
    MethodNotFoundError,
    MissingClientCapabilityError,
    ParseError,
    ProtocolError,
    TransportError,
    UnsupportedRevisionError,
    UsageError,
)

__all__ = [
    "AUTHORIZE",
    "DISCONNECTED",
    "DONE",
    "FAILED",
    "INTERRUPTED",
    "MISTAKE",
    "PROTOCOL",
    "TIMEOUT",
    "USAGE",
    "error_text_of",
    "exit_code_for",
    "reporting",
]

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
DISCONNECTED: Final = 3
PROTOCOL: Final = 4
AUTHORIZE: Final = 5
TIMEOUT: Final = 6
MISTAKE: Final = 70
INTERRUPTED: Final = 130

# The first row that fits counts.
_CODES: Final[tuple[tuple[tuple[type[Exception], ...], int], ...]] = (
    ((AuthorizationNeededError,), AUTHORIZE),
    ((CallTimeoutError,), TIMEOUT),
    ((TransportError,), DISCONNECTED),
    ((ProtocolError,), PROTOCOL),
    # Our requests are well formed: who says otherwise does not speak the protocol.
    ((ParseError, InvalidRequestError, HeaderMismatchError, UnsupportedRevisionError), PROTOCOL),
    ((InvalidParamsError, MethodNotFoundError, MissingClientCapabilityError), USAGE),
    ((LocalError, InputNeededError), USAGE),
    ((MeseroError,), FAILED),
)

_AT_FAULT: Final = {
    "client": "this side",
    "server": "the server",
    "intermediary": "something between this side and the server",
}


def exit_code_for(error: BaseException) -> int:
    """The exit code that an error ends the process with."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    return next((code for kinds, code in _CODES if isinstance(error, kinds)), MISTAKE)


def error_text_of(error: BaseException) -> str:
    """What happened, where, whose fault, and what to do, in a few lines."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if not isinstance(error, MeseroError):
        return f"error: mesero itself failed: {type(error).__name__}: {error}\n(--debug shows where)"
    lines = [f"error: {error}"]
    if isinstance(error, CallTimeoutError):
        lines.append("(--timeout SECONDS sets the limit)")
    at_fault = _AT_FAULT.get(error.blame)
    if at_fault is not None and not isinstance(error, UsageError):
        lines.append(f"at fault: {at_fault}")
    return "\n".join(lines)


def reporting(command: Callable[..., None]) -> Callable[..., None]:
    """A command that ends with an exit code and a few words instead of a traceback.

    Its parameter ``debug`` shows the traceback all the same.
    """

    @functools.wraps(command)
    def reported(*args: Any, **values: Any) -> None:
        try:
            command(*args, **values)
        except BrokenPipeError:
            _leave_stdout()
            raise typer.Exit(DONE) from None
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, typer.Exit | typer.Abort) or type(error).__module__.startswith(
                ("typer.", "click.")
            ):
                raise
            if values.get("debug"):
                traceback.print_exception(error)
            Output().note(error_text_of(error))
            raise typer.Exit(exit_code_for(error)) from None

    reported.__signature__ = inspect.signature(command, eval_str=True)  # type: ignore[attr-defined]  # what typer reads
    return reported


def _leave_stdout() -> None:
    """Whoever read our results has seen enough; the interpreter's last flush must not fail on that."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):  # pragma: no cover - a stdout without a descriptor has nothing to flush to
        return
