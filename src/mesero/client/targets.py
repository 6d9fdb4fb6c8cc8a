"""From what a caller names (a URL, a command, a server in this process, a transport) to a transport."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec

from mesero.errors import UsageError
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.transports import LinkObserver, Observer, Transport
from mesero.transports.watching import Links, observer_from

__all__ = ["TransportOptions", "events_transport_for", "transport_for"]


class TransportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the transport; each kind takes those that concern it.

    ``env`` and ``cwd`` are for commands, ``headers`` for URLs, ``on_stderr`` gets each line of a command's
    stderr. ``trace`` is an observer, or a recording, of which each transport gets a link of its own.
    """

    env: Mapping[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None
    headers: Mapping[str, str] | None = None
    on_stderr: Callable[[str], None] | None = None
    close_wait_s: float = 2.0
    connect_timeout_s: float = 30.0
    max_message_bytes: int = MAX_MESSAGE_BYTES
    allow_plain_http: bool = False
    trace: Observer | Links | None = None


def _observer_of_url(options: TransportOptions, url: str, kind: str) -> Observer | LinkObserver | None:
    try:
        name = urlsplit(url).hostname or ""
    except ValueError:
        return None  # No URL, which the transport says.
    return observer_from(options.trace, name, kind, url)


def _observer_of_command(options: TransportOptions, words: Sequence[Any]) -> Observer | LinkObserver | None:
    command = [str(word) for word in words]
    return observer_from(options.trace, _name_of(command), "stdio", shlex.join(command))


def _name_of(command: Sequence[str]) -> str:
    """The script or module that a command runs, else its program."""
    scripts = [Path(word).stem for word in command if word.endswith(".py")]
    modules = [after for word, after in pairwise(command) if word == "-m"]
    return next(iter(scripts or modules or [Path(word).name for word in command[:1]]), "")


def transport_for(target: Any, options: TransportOptions) -> Transport:
    """The transport to a target.

    Raises:
        UsageError: it is none of the known kinds.
    """
    if isinstance(target, str):
        return _transport_for_url(target, options)
    if hasattr(target, "exchange"):
        if options.trace is not None:
            raise UsageError(
                "trace= is for transports that the client makes; this one was made before",
                fix="Give the observer to the transport itself",
            )
        return cast("Transport", target)
    if hasattr(target, "connect") and hasattr(target, "info"):
        return _transport_for_server(target, options)
    if isinstance(target, Sequence) and not isinstance(target, (bytes, bytearray)):
        return _transport_for_command(target, options)
    raise UsageError(
        f"{target!r} is no target: give a URL, a command as a list, a Server of this process, or a transport"
    )


def _transport_for_url(url: str, options: TransportOptions) -> Transport:
    if not url.startswith(("http://", "https://")):
        raise UsageError(
            f"{url!r} is no http(s) URL",
            fix="A command is a list, for example ['uvx', 'mcp-server-time']; it never goes through a shell",
        )
    from mesero.transports.http_client import HttpTransport

    return HttpTransport(
        url,
        headers=options.headers,
        connect_timeout_s=options.connect_timeout_s,
        max_bytes=options.max_message_bytes,
        observer=_observer_of_url(options, url, "http"),
        allow_plain_http=options.allow_plain_http,
    )


def events_transport_for(url: str, options: TransportOptions) -> Transport:
    """The transport of 2024-11-05 to a URL: one stream of events from the server, posts to it.

    https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
    """
    from mesero.transports.sse import SseTransport

    return SseTransport(
        url,
        headers=options.headers,
        connect_timeout_s=options.connect_timeout_s,
        max_bytes=options.max_message_bytes,
        observer=_observer_of_url(options, url, "sse"),
        allow_plain_http=options.allow_plain_http,
    )


def _transport_for_server(server: Any, options: TransportOptions) -> Transport:
    from mesero.transports.memory import MemoryTransport

    target = f"{server.info.name} (in this process)"
    return MemoryTransport(
        lambda send, _hang_up: server.connect(send),
        target=target,
        max_bytes=options.max_message_bytes,
        observer=observer_from(options.trace, server.info.name, "memory", target),
    )


def _transport_for_command(command: Sequence[Any], options: TransportOptions) -> Transport:
    from mesero.transports.stdio import StdioTransport

    return StdioTransport(
        command,
        env=options.env,
        cwd=options.cwd,
        close_wait_s=options.close_wait_s,
        on_stderr=options.on_stderr,
        max_bytes=options.max_message_bytes,
        observer=_observer_of_command(options, command),
    )
