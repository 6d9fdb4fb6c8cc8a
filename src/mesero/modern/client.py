"""What a client puts into every request and reads out of every result. Pure.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from mesero.errors import InvalidResultError, NoCommonRevisionError
from mesero.extensions import MethodSpec
from mesero.jsonrpc import Id, encode_value
from mesero.modern.headers import HeaderMark, encode_header_value, param_headers
from mesero.types import (
    CLIENT_CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LOG_LEVEL_KEY,
    PROGRESS_TOKEN_KEY,
    PROTOCOL_VERSION_KEY,
    SERVER_INFO_KEY,
    Implementation,
    InputRequiredResult,
    LoggingLevel,
    decode_result,
)

__all__ = [
    "Stamp",
    "choose_revision",
    "find_server_info",
    "mirrored_headers",
    "read_result",
    "result_type_of",
]


class Stamp:
    """The metadata that every request of one client repeats, encoded once. Immutable.

    Args:
        revision: The revision that its requests declare.
        capabilities: Shaped like client capabilities.
        info: What the client calls itself, None to send none.
        log_level: The least level of log messages that it wants, None for none at all.
    """

    def __init__(
        self,
        revision: str,
        capabilities: Mapping[str, Any],
        info: Implementation | None,
        log_level: LoggingLevel | None = None,
    ) -> None:
        self._revision = revision
        self._capabilities = capabilities
        self._info = info
        self._log_level = log_level
        self._members: dict[str, Any] = {
            PROTOCOL_VERSION_KEY: revision,
            CLIENT_CAPABILITIES_KEY: Raw(encode_value(capabilities)),
        }
        if info is not None:
            self._members[CLIENT_INFO_KEY] = Raw(encode_value(info))
        if log_level is not None:
            self._members[LOG_LEVEL_KEY] = log_level
        self.plain_meta = Raw(encode_value(self._members))
        """The ``_meta`` of a request that has no members of its own there."""

    @property
    def revision(self) -> str:
        """The revision that the requests declare."""
        return self._revision

    def with_revision(self, revision: str) -> Stamp:
        """The same metadata under another revision."""
        if revision == self._revision:
            return self
        return Stamp(revision, self._capabilities, self._info, self._log_level)

    def meta_for(self, *, progress_token: Id | None = None, extra: Mapping[str, Any] | None = None) -> Raw:
        """The ``_meta`` of one request; the client's own fields win over ``extra``."""
        members = {**(extra or {}), **self._members}
        if progress_token is not None:
            members[PROGRESS_TOKEN_KEY] = progress_token
        return Raw(encode_value(members))


def choose_revision(ours: Sequence[str], theirs: Iterable[str]) -> str:
    """The newest of our revisions (they are sorted newest first) that the other side speaks too.

    Raises:
        NoCommonRevisionError: there is none.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
    """
    offered = tuple(theirs)
    for revision in ours:
        if revision in offered:
            return revision
    raise NoCommonRevisionError(tuple(ours), offered)


def mirrored_headers(
    revision: str, method: str, name: str | None, marks: Iterable[HeaderMark] = (), arguments: Any = None
) -> tuple[tuple[str, str], ...]:
    """The HTTP headers that mirror one request's body.

    Raises:
        UsageError: a mirrored integer that no header may carry.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#client-behavior
    """
    headers = [("MCP-Protocol-Version", revision), ("Mcp-Method", method)]
    if name is not None:
        headers.append(("Mcp-Name", encode_header_value(name)))
    if marks:
        headers.extend(param_headers(marks, arguments))
    return tuple(headers)


_EXCERPT_BYTES = 400


class _Type(msgspec.Struct):
    result_type: str = msgspec.field(name="resultType", default="complete")


_decoders: dict[type[Any], Callable[[Raw], Any]] = {}


def read_result(raw: Raw, spec: MethodSpec, result_types: frozenset[str]) -> Any:
    """A result, typed once: the method's own, or an `InputRequiredResult` where the method may ask.

    A value of ``resultType`` that an extension defines gives the raw result back.

    Raises:
        InvalidResultError: it fits no shape that the method may have.
    """
    decode = _decoders.get(spec.result)
    if decode is None:
        decode = _decoders[spec.result] = msgspec.json.Decoder(spec.result).decode
    try:
        try:
            result = decode(raw)
        except msgspec.ValidationError:
            result = decode_result(spec.result, raw)  # Perhaps only a content block is unknown.
        if result.result_type == "complete":
            return result
        kind = result.result_type
    except (msgspec.MsgspecError, RecursionError) as error:
        kind = result_type_of(raw)
        if kind == "complete":
            raise _invalid(f"the result of {spec.name} does not have its shape: {error}", raw) from None
    # "A resultType of any value unrecognized by the client MUST be considered invalid."
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/index#resulttype
    if kind not in result_types:
        raise _invalid(f"the result of {spec.name} has the unknown resultType {kind!r}", raw)
    if kind != "input_required":
        return raw
    return _read_input_required(raw, spec)


def _invalid(what: str, raw: Raw) -> InvalidResultError:
    return InvalidResultError(what, excerpt=bytes(memoryview(raw)[:_EXCERPT_BYTES]))


def result_type_of(raw: Raw) -> str:
    """The ``resultType`` of a result; "complete" when it has none, or none that can be read."""
    try:
        return msgspec.json.decode(raw, type=_Type).result_type
    except (msgspec.MsgspecError, RecursionError):
        return "complete"


def _read_input_required(raw: Raw, spec: MethodSpec) -> InputRequiredResult:
    # "Servers MUST NOT send InputRequiredResult responses on any other client requests."
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#supported-requests
    if not spec.may_ask:
        raise _invalid(f"{spec.name} was answered with input_required, which it may not be", raw)
    try:
        result = msgspec.json.decode(raw, type=InputRequiredResult)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _invalid(f"the input_required result of {spec.name} is malformed: {error}", raw) from None
    # "Servers MUST include at least one of inputRequests or requestState in every InputRequiredResult
    # response."
    if result.input_requests is UNSET and result.request_state is UNSET:
        raise _invalid(f"{spec.name}: input_required, but neither inputRequests nor requestState", raw)
    return result


def find_server_info(meta: Any) -> Implementation | None:
    """The server's identity in a result's metadata; None when it is absent or malformed."""
    if not isinstance(meta, Mapping) or SERVER_INFO_KEY not in meta:
        return None
    try:
        return msgspec.convert(meta[SERVER_INFO_KEY], Implementation)
    except msgspec.ValidationError:
        return None
