"""From what a caller names (a URL, a command, a server in this process, a transport) to a transport."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from mesero.errors import UsageError
from mesero.jsonrpc import MAX_MESSAGE_BYTES
from mesero.transports import Observer, Transport

__all__ = ["TransportOptions", "events_transport_for", "transport_for"]


class TransportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the transport; each kind takes those that concern it.

    ``env`` and ``cwd`` are for commands, ``headers`` for URLs, ``on_stderr`` gets each line of a command's
    stderr.
    """

    env: Mapping[str, str] | None = None
    cwd: str | os.PathLike[str] | None = None
    headers: Mapping[str, str] | None = None
    on_stderr: Callable[[str], None] | None = None
    close_wait_s: float = 2.0
    connect_timeout_s: float = 30.0
    max_message_bytes: int = MAX_MESSAGE_BYTES
    allow_plain_http: bool = False
    observer: Observer | None = None


def transport_for(target: Any, options: TransportOptions) -> Transport:
    """The transport to a target.

    Raises:
        UsageError: it is none of the known kinds.
    """
    if isinstance(target, str):
        return _transport_for_url(target, options)
    if hasattr(target, "exchange"):
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
        observer=options.observer,
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
        observer=options.observer,
        allow_plain_http=options.allow_plain_http,
    )


def _transport_for_server(server: Any, options: TransportOptions) -> Transport:
    from mesero.transports.memory import MemoryTransport

    return MemoryTransport(
        lambda send, _hang_up: server.connect(send),
        target=f"{server.info.name} (in this process)",
        max_bytes=options.max_message_bytes,
        observer=options.observer,
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
        observer=options.observer,
    )
