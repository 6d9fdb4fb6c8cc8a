"""Asking a server what it speaks, and settling on a revision.

A refused revision is changed by the `Caller`, as for every other request; here remains what only the answer
to `server/discover` tells.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
"""

from __future__ import annotations

import time

from msgspec import UNSET

from mesero.client.calling import Caller
from mesero.client.facts import ServerFacts
from mesero.errors import (
    HeaderMismatchError,
    InvalidResultError,
    MissingClientCapabilityError,
    NoCommonRevisionError,
    RpcError,
    UnsupportedRevisionError,
)
from mesero.extensions import MethodSpec
from mesero.modern import REVISIONS
from mesero.modern.client import choose_revision, find_server_info
from mesero.types import DiscoverResult

__all__ = ["discover"]

_ERRORS_OF_THIS_ERA = (HeaderMismatchError, MissingClientCapabilityError, UnsupportedRevisionError)


async def discover(caller: Caller, spec: MethodSpec, *, asks: bool, timeout_s: float) -> ServerFacts:
    """What the server says of itself; with ``asks=False`` only what we assume.

    Args:
        caller: Sends the request; its stamp carries the chosen revision afterwards.
        spec: The description of `server/discover`.
        asks: Whether to send anything.
        timeout_s: How long the answer may take, in seconds.

    Raises:
        NoCommonRevisionError: it speaks no revision of ours.
        MeseroError: it could not be asked.

    https://modelcontextprotocol.io/specification/2026-07-28/server/discover
    """
    if not asks:
        return ServerFacts(
            era="modern", revision=caller.stamp.revision, verdict="assumed: the server was not asked"
        )
    started = time.monotonic()
    try:
        result: DiscoverResult = await caller.call(spec, {}, timeout_s=timeout_s)
    except _ERRORS_OF_THIS_ERA:
        raise
    except (RpcError, InvalidResultError) as error:
        raise _not_spoken(error, caller.transport.target) from None
    took_ms = (time.monotonic() - started) * 1000
    try:
        revision = choose_revision(REVISIONS, result.supported_versions)
    except NoCommonRevisionError as error:
        error.where = caller.transport.target
        raise
    caller.stamp = caller.stamp.with_revision(revision)
    return ServerFacts(
        era="modern",
        revision=revision,
        verdict=f"server/discover was answered in {took_ms:.0f} ms",
        info=find_server_info(result.meta),
        capabilities=result.capabilities,
        supported=tuple(result.supported_versions),
        instructions=None if result.instructions is UNSET else result.instructions,
    )


def _not_spoken(error: Exception, target: str) -> NoCommonRevisionError:
    """A server that knows neither the method nor an error of this revision speaks an older one.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
    """
    found = NoCommonRevisionError(REVISIONS, (), where=target)
    found.what += f"; it answered server/discover with: {error}"
    return found
