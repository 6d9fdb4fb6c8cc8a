"""Asking a server what it speaks, and settling on a revision.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
"""

from __future__ import annotations

import time
from typing import Any

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


async def discover(caller: Caller, spec: MethodSpec, *, asks: bool, timeout_s: float) -> ServerFacts:
    """What the server says of itself; with ``asks=False`` only what we assume.

    Raises:
        NoCommonRevisionError: it speaks no revision of ours.
        MeseroError: it could not be asked.
    """
    if not asks:
        return ServerFacts(era="modern", revision=caller.stamp.revision, verdict="assumed: the server was not asked")
    started = time.monotonic()
    try:
        result = await _ask(caller, spec, timeout_s)
    except (HeaderMismatchError, MissingClientCapabilityError, NoCommonRevisionError):
        raise
    except (RpcError, InvalidResultError) as error:
        raise _not_spoken(error, caller.transport.target) from None
    took_ms = (time.monotonic() - started) * 1000
    revision = choose_revision(REVISIONS, result.supported_versions)
    return ServerFacts(
        era="modern",
        revision=revision,
        verdict=f"server/discover was answered in {took_ms:.0f} ms",
        info=find_server_info(result.meta),
        capabilities=result.capabilities,
        supported=tuple(result.supported_versions),
        instructions=None if result.instructions is UNSET else result.instructions,
    )


async def _ask(caller: Caller, spec: MethodSpec, timeout_s: float) -> DiscoverResult:
    try:
        result: DiscoverResult = await caller.call(spec, {}, timeout_s=timeout_s)
    except UnsupportedRevisionError as error:
        # Retried once, under a new id, with a revision that the server names: even the one just refused.
        caller.stamp.revision = choose_revision(REVISIONS, _supported_in(error.data))
        result = await caller.call(spec, {}, timeout_s=timeout_s)
    return result


def _supported_in(data: Any) -> tuple[str, ...]:
    supported = data.get("supported") if isinstance(data, dict) else None
    return tuple(str(revision) for revision in supported) if isinstance(supported, list) else ()


def _not_spoken(error: Exception, target: str) -> NoCommonRevisionError:
    found = NoCommonRevisionError(REVISIONS, (), where=target)
    found.what += f"; it answered server/discover with: {error}"
    return found
