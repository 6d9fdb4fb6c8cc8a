"""``mesero trace``: stand between a host and its server, pass everything on as it is, and record it."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mesero.cli.exits import reporting
from mesero.cli.printing import safe_line
from mesero.errors import UsageError

__all__ = ["EXAMPLES", "USAGE", "command"]

USAGE = "[URL] [-- COMMAND...]"

EXAMPLES = """\
  mesero trace -- python server.py
  mesero trace -o notes.jsonl --live -- npx -y some-server
  mesero trace --listen 127.0.0.1:9000 https://example.com/mcp

In a host's configuration, put it in front of the server's command:

  "command": "mesero", "args": ["trace", "-o", "/tmp/notes.jsonl", "--", "python", "server.py"]
"""


@reporting
def command(  # noqa: PLR0917 - the parser passes them by name
    ctx: typer.Context,
    url: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="For --listen: the server's endpoint.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Record into this file; by default a new one."),
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Print a line for each message on stderr.")] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="Record secrets as they are: passwords, tokens, cookies.")
    ] = False,
    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="HOST:PORT", help="Be a proxy for a URL, on this loopback address."),
    ] = None,
    bearer_env: Annotated[
        str | None,
        typer.Option("--bearer-env", metavar="VAR", help="For a URL: send the token in this variable."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,  # noqa: ARG001 - read by `reporting`
) -> None:
    """Record what passes between a host and its server, without changing either."""
    words: Sequence[str] | None = ctx.obj
    _check_target(url, words, listen=listen, bearer_env=bearer_env)
    name = Path(words[0]).name if words else "http"
    path = output if output is not None else _default_path(name)
    _complain(f"recording to {path}")
    if words:
        # Only what a shim needs is imported: the host waits for the server behind it.
        from mesero.trace.shim import end_like, run_shim

        code = run_shim(words, to=path, raw=raw, live=live, complain=_complain)
        raise typer.Exit(end_like(code))
    from mesero.trace.proxy import run_proxy

    run_proxy(
        url or "",
        listen=listen or "",
        to=path,
        raw=raw,
        live=live,
        bearer=_bearer_in(bearer_env),
        complain=_complain,
    )


def _check_target(
    url: str | None, words: Sequence[str] | None, *, listen: str | None, bearer_env: str | None
) -> None:
    if words is not None:
        if not words:
            raise UsageError("there is no command behind '--'", fix="Write: mesero trace -- COMMAND...")
        if url is not None or listen is not None or bearer_env is not None:
            raise UsageError("a URL, --listen and --bearer-env do not go with a command behind '--'")
        return
    if url is None:
        raise UsageError(
            "there is nothing to trace",
            fix="Put a command behind '--', or write: mesero trace --listen 127.0.0.1:9000 URL",
        )
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{url!r} is no URL", fix="A command stands behind '--'")
    if listen is None:
        raise UsageError("a URL is traced by a proxy", fix="Say where it listens: --listen 127.0.0.1:9000")


def _bearer_in(variable: str | None) -> str:
    if variable is None:
        return ""
    token = os.environ.get(variable)
    if not token:
        raise UsageError(f"--bearer-env: the variable {variable} is not set")
    return token


def _default_path(name: str) -> str:
    """A new file among those of the user's traces."""
    folder = os.environ.get("MESERO_STATE_DIR")
    if not folder:
        import platformdirs

        folder = platformdirs.user_state_dir("mesero", appauthor=False)
    when = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:40]
    return str(Path(folder) / "traces" / f"{when}-{label}-{os.getpid()}.jsonl")


def _complain(text: str) -> None:
    # Not by way of `Output`: a stderr that nobody reads must not end the traffic.
    try:
        sys.stderr.write(f"mesero trace: {safe_line(text)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return
