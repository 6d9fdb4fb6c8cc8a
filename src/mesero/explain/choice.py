"""What kind of message it is, to which era it belongs, and why. From this one message alone.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from mesero.explain.glossary import METHODS
from mesero.explain.reuse import find_method_for
from mesero.modern.headers import VERSION_HEADER
from mesero.revisions import HANDSHAKE_REVISIONS, STATELESS_REVISIONS
from mesero.types import PROTOCOL_VERSION_KEY

__all__ = ["Choice", "MessageKind", "choose_era", "kind_of", "members_of"]

MessageKind = Literal["request", "notification", "result", "error", "batch", "no message"]

_META_PREFIX: Final = "io.modelcontextprotocol/"
_STATELESS_CODES: Final = (-32020, -32021, -32022)
_HANDSHAKE_CODES: Final = (-32002, -32042)


class Choice(msgspec.Struct, frozen=True):
    """The era ("stateless", "handshake" or "unknown"), why, and the revision to judge by; "" if unknown."""

    era: Literal["stateless", "handshake", "unknown"]
    why: str
    revision: str = ""


def kind_of(message: Any) -> MessageKind:
    """Which of the four kinds, a batch of them, or none."""
    if isinstance(message, list):
        return "batch"
    if not isinstance(message, dict):
        return "no message"
    if "method" in message:
        return "request" if "id" in message else "notification"
    if "result" in message:
        return "result"
    return "error" if "error" in message else "no message"


def members_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def choose_era(message: Any, headers: Mapping[str, str], revision: str | None) -> Choice:
    """The era of one message.

    Args:
        message: The decoded message.
        headers: The HTTP headers that came with it, by lower-case name.
        revision: What the caller says; it decides.
    """
    if revision is not None:
        era: Literal["stateless", "handshake"] = (
            "handshake" if revision in HANDSHAKE_REVISIONS else "stateless"
        )
        return Choice(era, f"{revision} was asked for", revision)
    kind = kind_of(message)
    if kind == "request":
        return _of_request(message, headers)
    if kind == "notification":
        return _of_notification(message)
    if kind == "result":
        return _of_result(members_of(message["result"]))
    if kind == "error":
        return _of_error(members_of(message["error"]))
    if kind == "batch":
        return Choice("handshake", "it is a batch, which only 2025-03-26 has", "2025-03-26")
    return Choice("unknown", "it is no message of any revision")


def _stateless(why: str, stated: Any = None) -> Choice:
    revision = stated if stated in STATELESS_REVISIONS else STATELESS_REVISIONS[-1]
    return Choice("stateless", why, revision)


def _handshake(why: str, stated: Any = None) -> Choice:
    revision = stated if stated in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1]
    return Choice("handshake", why, revision)


def _of_request(message: dict[str, Any], headers: Mapping[str, str]) -> Choice:
    """As a server chooses: the rows of its table, in their order (`mesero.eras.choose_on_server`)."""
    method = message["method"] if isinstance(message["method"], str) else ""
    params = members_of(message.get("params"))
    meta = members_of(params.get("_meta"))
    version = headers.get(VERSION_HEADER)
    if PROTOCOL_VERSION_KEY in meta:
        return _stateless(f"`_meta` has {PROTOCOL_VERSION_KEY}", meta[PROTOCOL_VERSION_KEY])
    if version is not None and version not in HANDSHAKE_REVISIONS:
        return _stateless(f"MCP-Protocol-Version is {version!r}, which has no handshake", version)
    known = METHODS.get(method)
    if known is not None and known.revisions == STATELESS_REVISIONS:
        return _by_method(method)
    if method == "initialize":
        offered = params.get("protocolVersion")
        return _handshake("`initialize` opens a handshake", offered)
    if version is not None:
        return _handshake(f"MCP-Protocol-Version is {version}", version)
    if "mcp-session-id" in headers:
        return _handshake("Mcp-Session-Id names a session")
    if known is not None and known.kind == "question":
        return _handshake("as a request of its own, only servers with a handshake ask this")
    return _by_method(method)


def _by_method(method: str) -> Choice:
    known = METHODS.get(method)
    if known is not None and known.revisions == STATELESS_REVISIONS:
        return _stateless(f"only stateless revisions have {method}")
    if known is not None and known.revisions and all(each in HANDSHAKE_REVISIONS for each in known.revisions):
        return _handshake(f"only revisions with a handshake have {method}", known.revisions[-1])
    return Choice(
        "unknown",
        "nothing in it tells: a stateless request declares its revision in `_meta`, one of a session follows"
        " a handshake",
    )


def _of_notification(message: dict[str, Any]) -> Choice:
    method = message["method"] if isinstance(message["method"], str) else ""
    meta = members_of(members_of(message.get("params")).get("_meta"))
    if f"{_META_PREFIX}subscriptionId" in meta:
        return _stateless(f"`_meta` has {_META_PREFIX}subscriptionId")
    return _by_method(method)


def _of_result(result: dict[str, Any]) -> Choice:
    if "resultType" in result:
        return _stateless("it has a `resultType`")
    if f"{_META_PREFIX}serverInfo" in members_of(result.get("_meta")):
        return _stateless(f"`_meta` has {_META_PREFIX}serverInfo")
    if find_method_for(result) == "server/discover":
        return _stateless("only server/discover is answered so")
    if find_method_for(result) == "initialize":
        return _handshake("it answers `initialize`", result["protocolVersion"])
    return Choice("unknown", "a result without `resultType`: of a session, or of a server that left it out")


def _of_error(error: dict[str, Any]) -> Choice:
    code = error.get("code")
    if code in _STATELESS_CODES:
        return _stateless(f"only stateless servers send {code}")
    if code in _HANDSHAKE_CODES:
        return _handshake(f"only servers with a handshake send {code}")
    return Choice("unknown", "errors look the same in both eras; what was asked decides")
