"""The choice of the era, for both sides: two tables as pure functions, from what was seen to what follows.

The stateless revisions and those with a handshake are two cores that know nothing of each other. Which of
them serves a message, or talks to a server, is decided here and before either of them parses anything, from
what is in front of us: never from an earlier request, from the process, from the connection or from a header
alone. This is the only module that imports both; the older one may be missing, see `find_adapter`.
No clock, no socket, nothing async: the driver of the client's table is `mesero.client.deciding`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_REVISION
from mesero.jsonrpc import ErrorResponse, Message, Notification, Request, ResultResponse
from mesero.modern import REVISIONS
from mesero.modern.methods import DISCOVER, LISTEN
from mesero.revisions import HANDSHAKE_REVISIONS
from mesero.types import PROTOCOL_VERSION_KEY

__all__ = [
    "INITIALIZE",
    "LEGACY_REVISIONS",
    "MODERN_REVISIONS",
    "WAYS_IN",
    "Answer",
    "Discovered",
    "Era",
    "Happening",
    "Initialized",
    "Observation",
    "OtherResult",
    "Refused",
    "Selected",
    "Step",
    "Verdict",
    "choose_on_client",
    "choose_on_server",
    "era_of",
    "find_adapter",
    "has_adapter",
]

Era = Literal["modern", "legacy"]
"""Stateless since 2026-07-28, or with a handshake before."""

INITIALIZE: Final = "initialize"

MODERN_REVISIONS: Final = REVISIONS
"""The stateless revisions, newest first."""

LEGACY_REVISIONS: Final = tuple(reversed(HANDSHAKE_REVISIONS))
"""The revisions with a handshake, newest first."""

WAYS_IN: Final = (
    f"there are two ways in: every request declares its revision ({', '.join(MODERN_REVISIONS)}) in "
    f"params._meta under {PROTOCOL_VERSION_KEY!r}, or the first one is 'initialize' "
    f"({', '.join(LEGACY_REVISIONS)})"
)
"""What to tell whoever came by neither."""


def has_adapter(part: str = "") -> bool:
    """Whether the package that speaks the revisions with a handshake is there, or a module of it.

    Args:
        part: The module's name in that package, which is not imported yet.
    """
    if importlib.util.find_spec("mesero.legacy") is None:
        return False
    return not part or importlib.util.find_spec(f"mesero.legacy.{part}") is not None


def find_adapter(part: str = "") -> ModuleType | None:
    """The package that speaks the revisions with a handshake, or a module of it; None when it was taken out.

    Args:
        part: The module's name in that package.
    """
    if not has_adapter(part):
        return None
    return importlib.import_module(f"mesero.legacy.{part}" if part else "mesero.legacy")


def era_of(revision: str) -> Era:
    """The era of a revision; one that nobody knows counts as newer than all others."""
    return "legacy" if revision in HANDSHAKE_REVISIONS else "modern"


# -- the server's table --------------------------------------------------------------------------------------

Selected = Literal["modern", "legacy", "opens", "notification", "response", "refused"]
"""How a message is served.

``modern``: by the nine steps, which find what is wrong with it. ``legacy``: by the session. ``opens``: it
opens a session; where one is open, that session refuses it. ``notification``: never answered. ``response``:
for the session that asked, if one did. ``refused``: with `WAYS_IN`.
"""

_ONLY_MODERN: Final = (DISCOVER, LISTEN)


class _Meta(msgspec.Struct, gc=False):
    revision: Raw | UnsetType = msgspec.field(name=PROTOCOL_VERSION_KEY, default=UNSET)


class _Params(msgspec.Struct, gc=False):
    meta: _Meta | UnsetType = msgspec.field(name="_meta", default=UNSET)


_decode_params = msgspec.json.Decoder(_Params).decode


def choose_on_server(message: Message, *, version_header: str | None, has_session: bool) -> Selected:
    """How to serve a message. The rows of the table, in its order.

    Args:
        message: What arrived.
        version_header: The value of ``MCP-Protocol-Version``; None where there is none, as on stdio.
        has_session: Whether the message names a session that is open: by its id over HTTP, by coming on a
            process whose handshake has begun over stdio; always, on an endpoint that needs no session ids.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
    """
    if isinstance(message, Notification):
        return "notification"
    if isinstance(message, (ResultResponse, ErrorResponse)):
        return "response"
    if _declares_revision(message):
        return "modern"
    if version_header is not None and version_header not in HANDSHAKE_REVISIONS:
        return "modern"
    if message.method in _ONLY_MODERN:
        return "modern"
    if message.method == INITIALIZE:
        return "opens"
    return "legacy" if has_session else "refused"


def _declares_revision(request: Request) -> bool:
    """Whether ``_meta`` has the key, with whatever value."""
    if request.params is UNSET:
        return False
    try:
        meta = _decode_params(request.params).meta
    except (msgspec.MsgspecError, RecursionError):
        return False  # No object where one belongs: so no key in it either.
    return meta is not UNSET and meta.revision is not UNSET


# -- the client's table --------------------------------------------------------------------------------------


class Discovered(msgspec.Struct, frozen=True):
    """A `DiscoverResult` came; these revisions are in it."""

    supported: tuple[str, ...]


class Initialized(msgspec.Struct, frozen=True):
    """An `InitializeResult` came, with the revision that the server chose."""

    revision: str


class Refused(msgspec.Struct, frozen=True):
    """A JSON-RPC error came; ``supported`` is what its ``data`` lists, None when it lists nothing."""

    code: int
    supported: tuple[str, ...] | None = None


class OtherResult(msgspec.Struct, frozen=True):
    """A result came that is not the one of this method."""


Answer = Discovered | Initialized | Refused | OtherResult
"""What answers one of our messages. A body whose id is not ours is none: it is no evidence."""

Happening = Literal["answered", "silent", "ended", "unreachable"]
"""``answered``: in whatever form. ``silent``: nothing within the time for it. ``ended``: the pipe did.
``unreachable``: a time-out over HTTP, DNS, TCP, TLS, a redirect that may not be followed."""


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of a server so far.

    Args:
        transport: ``stdio`` stands for every shared channel; ``sse`` for the transport of 2024-11-05.
        happening: The last thing that happened.
        sent: What had been sent by then, each at most once per process or since the last probe. Empty: so
            far nothing was, and only the transport is known.
        probe: What answered `server/discover`.
        initialize: What answered `initialize`.
        status: The HTTP status that came last.
        probe_status: The HTTP status of the probe, once `initialize` has been sent after it.
        was_repeated: Whether the probe was sent a second time already.
        was_restarted: Whether the server was started a second time already.
    """

    transport: Literal["stdio", "http", "sse"]
    happening: Happening = "answered"
    sent: tuple[Literal["probe", "initialize"], ...] = ("probe",)
    probe: Answer | None = None
    initialize: Answer | None = None
    status: int | None = None
    probe_status: int | None = None
    was_repeated: bool = False
    was_restarted: bool = False


Step = Literal[
    "modern", "session", "initialize", "both", "probe", "restart", "sse", "wait", "report", "stop", "outage"
]
"""What to do next.

``modern`` and ``session`` are the two ends that work: the revision is agreed on; the handshake is finished on
this connection. ``initialize``: send it (after the probe, never together with it). ``both``: send it although
the probe is still open, and wait for both answers. ``probe``: send the probe, under a new id, with the
verdict's revision. ``restart``: start the server again, straight with `initialize`. ``sse``: GET for the
transport of 2024-11-05. ``wait``: the other answer is still to come.
The ends without a connection: ``report``: the server's error is the caller's to see. ``stop``: no common
revision. ``outage``: no verdict, since nothing was learnt of the server.
"""


class Verdict(msgspec.Struct, frozen=True):
    """What follows from an observation. ``revision`` is the one to use, declare or offer; "" where none is.

    ``row`` is the table's sentence in a few words, for people.
    """

    step: Step
    row: str
    revision: str = ""


_ASK_FIRST: Final = (401, 403, 407, 429)
_OUR_ERA_ERRORS: Final = (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY)
_CLIENT_ERRORS: Final = range(400, 500)


def choose_on_client(
    seen: Observation,
    *,
    modern: Sequence[str] = MODERN_REVISIONS,
    legacy: Sequence[str] = LEGACY_REVISIONS,
) -> Verdict:
    """What follows from what was seen. The rows of the table, in its order; exactly one verdict for each.

    Args:
        seen: Everything so far.
        modern, legacy: The revisions that we speak, newest first. Without any of the older ones nothing is
            done for them.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
    """
    verdict = _row_for(seen, modern, legacy)
    if legacy or verdict.step not in _WITHOUT_OLDER:
        return verdict
    return Verdict(_WITHOUT_OLDER[verdict.step], verdict.row)


_WITHOUT_OLDER: Final[Mapping[Step, Step]] = {
    "initialize": "stop",
    "both": "wait",
    "restart": "outage",
    "sse": "outage",
}
"""What a row comes to for a client that speaks no older revision."""


def _row_for(seen: Observation, modern: Sequence[str], legacy: Sequence[str]) -> Verdict:
    if not seen.sent:
        if seen.transport == "sse":
            return Verdict("initialize", "the transport of 2024-11-05 has no probe", _first(legacy))
        return Verdict("probe", "nothing is known", _first(modern))
    if seen.status in _ASK_FIRST:
        return Verdict("outage", f"HTTP {seen.status} says nothing about the era")
    if seen.happening == "unreachable":
        return Verdict("outage", "the server could not be reached")
    if "initialize" in seen.sent:
        return _after_initialize(seen, modern, legacy)
    if seen.probe is not None:
        found = _from_probe(seen.probe, seen, modern, legacy)
        # Nobody is left who could be sent the handshake.
        has_ended = found.step == "initialize" and seen.happening == "ended"
        return _from_end(seen, legacy) if has_ended else found
    if seen.happening == "silent":
        return _from_silence(seen, legacy)
    if seen.happening == "ended":
        return _from_end(seen, legacy)
    return _from_status(seen, legacy)


def _from_probe(answer: Answer, seen: Observation, modern: Sequence[str], legacy: Sequence[str]) -> Verdict:
    if isinstance(answer, Discovered):
        return _from_list("the probe was answered", answer.supported, "modern", modern, legacy)
    if isinstance(answer, Refused):
        if answer.code in _OUR_ERA_ERRORS:
            return Verdict("report", f"the probe was refused with {answer.code}, which only newer servers do")
        if answer.code == UNSUPPORTED_REVISION and answer.supported is not None:
            what = "the probe's revision was refused"
            found = _from_list(what, answer.supported, "probe", modern, legacy)
            if found.step == "probe" and seen.was_repeated:
                return Verdict("report", "a revision was refused that the server says it speaks")
            return found
        return Verdict("initialize", f"the probe was answered {answer.code}", _first(legacy))
    return Verdict("initialize", "the probe was answered with something else", _first(legacy))


def _from_list(
    what: str, supported: Sequence[str], step: Step, modern: Sequence[str], legacy: Sequence[str]
) -> Verdict:
    common = _newest_common(modern, supported)
    if common:
        return Verdict(step, what, common)
    common = _newest_common(legacy, supported)
    if common:
        return Verdict("initialize", f"{what}, with older revisions only", common)
    return Verdict("stop", f"{what}, with no revision of ours")


def _from_silence(seen: Observation, legacy: Sequence[str]) -> Verdict:
    if seen.transport == "stdio":
        return Verdict("both", "nothing answered the probe in its time", _first(legacy))
    return Verdict("outage", "nothing came in time")


def _from_end(seen: Observation, legacy: Sequence[str]) -> Verdict:
    # A refusal may have been its last word.
    was_killed_by_probe = "probe" in seen.sent and (seen.probe is None or isinstance(seen.probe, Refused))
    if seen.transport == "stdio" and was_killed_by_probe and not seen.was_restarted:
        return Verdict("restart", "the server ended after the probe", _first(legacy))
    return Verdict("outage", "the connection ended")


def _from_status(seen: Observation, legacy: Sequence[str]) -> Verdict:
    """Whatever else HTTP says: all of it leads to one try of `initialize`, no status in particular."""
    what = f"the probe was answered HTTP {seen.status}" if seen.status else "the probe got no answer"
    return Verdict("initialize", what, _first(legacy))


def _after_initialize(seen: Observation, modern: Sequence[str], legacy: Sequence[str]) -> Verdict:
    answer = seen.initialize
    if isinstance(answer, Initialized):
        if answer.revision in legacy:
            return Verdict("session", "initialize was answered", answer.revision)
        return Verdict("stop", "initialize was answered with no revision of ours")
    if answer is None:
        return _without_answer(seen, modern, legacy)
    is_pending = "probe" in seen.sent and seen.probe is None and seen.happening == "answered"
    if seen.transport == "stdio" and is_pending:
        return Verdict("wait", "the probe is still to be answered")
    from_probe = _stateless_after_all(seen, modern, legacy)
    if from_probe is not None:
        return from_probe
    if isinstance(answer, Refused) and answer.code == UNSUPPORTED_REVISION and not seen.was_repeated:
        revision = _newest_common(modern, answer.supported or ()) or _first(modern)
        return Verdict("probe", "initialize was refused for its revision", revision)
    return Verdict("report", "initialize was refused")


def _stateless_after_all(seen: Observation, modern: Sequence[str], legacy: Sequence[str]) -> Verdict | None:
    """What the probe's answer comes to when the handshake came to nothing; None for nothing either."""
    if seen.probe is None:
        return None
    found = _from_probe(seen.probe, seen, modern, legacy)
    return found if found.step in ("modern", "probe") else None


def _without_answer(seen: Observation, modern: Sequence[str], legacy: Sequence[str]) -> Verdict:
    """`initialize` was sent, and what happened since is no answer to it."""
    if seen.happening in ("silent", "ended"):
        from_probe = _stateless_after_all(seen, modern, legacy)
        if from_probe is not None:
            return from_probe
    if seen.happening == "ended":
        return _from_end(seen, legacy)
    if seen.happening == "silent":
        return Verdict("outage", "nothing came in time")
    if seen.transport == "stdio":
        return Verdict("wait", "initialize is still to be answered")
    was_met_by_4xx = seen.probe_status is None or seen.probe_status in _CLIENT_ERRORS
    if seen.transport == "http" and seen.status in _CLIENT_ERRORS and was_met_by_4xx:
        return Verdict("sse", f"initialize was answered HTTP {seen.status} too", _first(legacy))
    return Verdict("outage", f"initialize failed too, with HTTP {seen.status}")


def _newest_common(ours: Sequence[str], theirs: Iterable[str]) -> str:
    """The newest of ours that they speak, "" if there is none."""
    offered = tuple(theirs)
    return next((revision for revision in ours if revision in offered), "")


def _first(revisions: Sequence[Any]) -> str:
    return revisions[0] if revisions else ""
