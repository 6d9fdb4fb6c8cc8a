"""The life of one request: nine steps in a fixed order, the first six of them here as pure functions.

The order is part of the protocol's safety: a gateway that routes by a header and a server that executes the
body must never see two different requests, and no step may use what a later one has not yet checked.
`server/serve.py` makes the nine calls in order; ``mesero explain`` makes the first six without a server.

=========  =====================================================================  ======================
step       what it checks                                                         refuses with
=========  =====================================================================  ======================
parse      UTF-8, JSON, limits                                                    -32700
envelope   ``jsonrpc``, ``id``, ``method``, ``params``                            -32600
metadata   ``params._meta``: revision and capabilities                            -32602
headers    over HTTP: version, method, name and parameter headers equal the body  -32020
revision   the revision is one that the server speaks                             -32022
route      required capabilities; the method exists; its own parameters           -32021, -32601, -32602
authorize  may this caller do exactly this?                                       401, 403
run        the operation itself                                                   the operation's own
forget     the metadata is dropped with the request
=========  =====================================================================  ======================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CLIENT_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_REVISION,
    HeaderMismatchError,
    InvalidParamsError,
    InvalidRequestError,
    MethodNotFoundError,
    MissingClientCapabilityError,
    RpcError,
    UnsupportedRevisionError,
)
from mesero.extensions import MethodSpec
from mesero.jsonrpc import (
    Message,
    Request,
    check_complexity,
    check_duplicate_members,
    decode_message,
    decode_value,
)
from mesero.modern.headers import (
    METHOD_HEADER,
    NAME_HEADER,
    PARAM_PREFIX,
    VERSION_HEADER,
    HeaderMark,
    check_param_headers,
    decode_header_value,
)
from mesero.types import RequestMeta

__all__ = [
    "STEPS",
    "Headers",
    "check_headers",
    "check_needs",
    "check_request",
    "check_revision",
    "find_name",
    "http_status_for",
    "parse_message",
    "read_metadata",
    "read_params",
    "route",
]

STEPS: Final = ("parse", "envelope", "metadata", "headers", "revision", "route", "authorize", "run", "forget")
"""The names of the nine steps, in order."""

Headers = Sequence[tuple[bytes, bytes]]
"""HTTP header lines as they came: names and values, repeated ones included."""


_VERSION_LINE, _METHOD_LINE, _NAME_LINE = (
    name.encode() for name in (VERSION_HEADER, METHOD_HEADER, NAME_HEADER)
)
# No character of these needs, or looks like, an encoding.
_SIMPLE_NAME = re.compile(rb"[A-Za-z0-9_./:-]+").fullmatch


class _MetaOnly(msgspec.Struct, gc=False):
    meta: RequestMeta = msgspec.field(name="_meta")


class _NameOnly(msgspec.Struct, gc=False):
    name: Any = UNSET
    uri: Any = UNSET


class _ArgumentsOnly(msgspec.Struct, gc=False):
    arguments: Raw | UnsetType = UNSET


_decode_meta = msgspec.json.Decoder(_MetaOnly).decode
_decode_name = msgspec.json.Decoder(_NameOnly).decode
_decode_arguments = msgspec.json.Decoder(_ArgumentsOnly).decode
_params_decoders: dict[type[Any], msgspec.json.Decoder[Any]] = {}


def _refused(step: str, error: RpcError) -> RpcError:
    error.step = step
    return error


# -- 1 parse -------------------------------------------------------------------------------------------------


def parse_message(raw: bytes, *, refuse_twins: bool) -> Message:
    """Step 1, and the kinds of step 2 that show while parsing.

    Args:
        raw: The bytes of one message.
        refuse_twins: Refuse an object that has a member twice. Over HTTP a gateway and the server must not
            read different values; elsewhere it is a finding of the audit.

    Raises:
        ParseError: -32700.
        InvalidRequestError: -32600.
    """
    try:
        if refuse_twins:
            # What is refused is read as a whole as well, to say why.
            check_complexity(raw)
        message = decode_message(raw)
        if refuse_twins:
            check_duplicate_members(raw)
        return message
    except RpcError as error:
        raise _refused("parse" if error.code == PARSE_ERROR else "envelope", error) from None


# -- 2 envelope ----------------------------------------------------------------------------------------------


def check_request(message: Message) -> Request:
    """Step 2: it is a request, with an id that can be answered.

    Raises:
        InvalidRequestError: -32600.
    """
    if isinstance(message, Request):
        return message
    # "clients do not send JSON-RPC responses"
    # https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/index
    raise _refused("envelope", InvalidRequestError("not a request: it has no method and id of its own"))


# -- 3 metadata ----------------------------------------------------------------------------------------------


def read_metadata(request: Request, supported: Sequence[str]) -> RequestMeta:
    """Step 3: the revision and the capabilities that this very request declares.

    Args:
        request: The request.
        supported: The revisions to name in the refusal, newest first: for a client of another era that text
            may be all that its user ever sees.

    Raises:
        InvalidParamsError: -32602, also when there are no parameters at all.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
    """
    try:
        return _decode_meta(request.params).meta if request.params is not UNSET else _no_meta()
    except (msgspec.MsgspecError, RecursionError) as error:
        detail = str(error).replace("$._meta", "params._meta").replace("`$`", "`params`")
        what = f"{request.method}: the request's metadata is missing or malformed: {detail}"
        hint = f"this server speaks {', '.join(supported)}, where every request carries params._meta"
        data = {"supported": list(supported)}
        raise _refused("metadata", InvalidParamsError(f"{what}; {hint}", data=data)) from None


def _no_meta() -> RequestMeta:
    raise msgspec.ValidationError("Object missing required field `_meta` - at `$`")


# -- 4 headers -----------------------------------------------------------------------------------------------


def check_headers(
    request: Request,
    metadata: RequestMeta,
    headers: Headers,
    *,
    spec: MethodSpec | None,
    marks: Iterable[HeaderMark] = (),
) -> None:
    """Step 4: what HTTP says is what the body says, even when the revision is not supported.

    Args:
        request: The request.
        metadata: Its metadata.
        headers: The HTTP header lines.
        spec: The method's description, None for an unknown method.
        marks: The parameters of the called tool that are mirrored.

    Raises:
        HeaderMismatchError: missing, repeated, malformed or different (-32020).

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
    """
    names = spec is not None and spec.name_field is not None
    name_expected = find_name(request, spec) if spec is not None and names else None
    if not marks and _agrees_at_sight(request, metadata, headers, (name_expected or None) if names else ""):
        return
    try:
        routing = _routing_headers(headers)
        _check_header("MCP-Protocol-Version", routing.get(VERSION_HEADER), metadata.protocol_version)
        _check_header("Mcp-Method", routing.get(METHOD_HEADER), request.method)
        if names:
            _check_name(routing.get(NAME_HEADER), name_expected)
        if marks:
            check_param_headers(marks, _arguments_of(request), routing)
    except HeaderMismatchError as error:
        raise _refused("headers", error) from None


def _agrees_at_sight(
    request: Request, metadata: RequestMeta, headers: Headers, name_expected: str | None
) -> bool:
    """The quick look, enough for most requests: every line once, in lower case, the name unencoded.

    False says nothing: then each header is looked at by itself, and what is wrong gets its own sentence. An
    empty ``name_expected`` stands for a method that names nothing.
    """
    found = dict(headers)
    if len(found) != len(headers) or not b"".join(found).islower():
        return False
    try:
        if (
            found[_VERSION_LINE].decode("latin-1") != metadata.protocol_version
            or found[_METHOD_LINE].decode("latin-1") != request.method
        ):
            return False
        if not name_expected:
            return name_expected is not None
        name = found[_NAME_LINE]
    except KeyError:
        return False
    return _SIMPLE_NAME(name) is not None and name.decode() == name_expected


def _routing_headers(headers: Headers) -> dict[str, str]:
    found: dict[str, str] = {}
    for raw_name, raw_value in headers:
        if raw_name[:4].lower() != b"mcp-":
            continue
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#case-sensitivity
        name = raw_name.decode("latin-1").lower()
        if name in found and (
            name in (VERSION_HEADER, METHOD_HEADER, NAME_HEADER) or name.startswith(PARAM_PREFIX)
        ):
            # Two readers could take two different ones.
            raise HeaderMismatchError(f"Header mismatch: {name} is repeated")
        found[name] = raw_value.decode("latin-1").strip(" \t")
    return found


def _check_header(name: str, sent: str | None, expected: str) -> None:
    if sent is None:
        raise HeaderMismatchError(f"Header mismatch: {name} is missing; the body says {expected!r}")
    if sent != expected:
        raise HeaderMismatchError(f"Header mismatch: {name} is {sent!r}, but the body says {expected!r}")


def _check_name(sent: str | None, expected: str | None) -> None:
    if sent is None:
        if expected is not None:
            raise HeaderMismatchError(f"Header mismatch: Mcp-Name is missing; the body says {expected!r}")
        return
    try:
        text = decode_header_value(sent)
    except ValueError as error:
        raise HeaderMismatchError(f"Header mismatch: Mcp-Name cannot be read: {error}") from None
    if text != expected:
        raise HeaderMismatchError(f"Header mismatch: Mcp-Name is {text!r}, but the body says {expected!r}")


def find_name(request: Request, spec: MethodSpec) -> str | None:
    """What `Mcp-Name` mirrors for this request: the tool, prompt or URI that it names, or None."""
    if spec.name_field is None or request.params is UNSET:
        return None
    try:
        if spec.name_field in ("name", "uri"):
            value = getattr(_decode_name(request.params), spec.name_field)
        else:
            value = decode_value(request.params).get(spec.name_field)
    except (msgspec.MsgspecError, RpcError, RecursionError):
        return None
    return value if isinstance(value, str) else None


def _arguments_of(request: Request) -> Any:
    try:
        arguments = _decode_arguments(request.params).arguments if request.params is not UNSET else UNSET
        return {} if arguments is UNSET else decode_value(arguments)
    except (msgspec.MsgspecError, RpcError, RecursionError):
        return {}


# -- 5 revision ----------------------------------------------------------------------------------------------


def check_revision(metadata: RequestMeta, supported: Sequence[str]) -> None:
    """Step 5: the revision is one of ours.

    Raises:
        UnsupportedRevisionError: -32022 with ``supported`` and ``requested``.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-negotiation
    """
    if metadata.protocol_version not in supported:
        data = {"supported": list(supported), "requested": metadata.protocol_version}
        error = UnsupportedRevisionError(
            f"Unsupported protocol version {metadata.protocol_version!r}", data=data
        )
        raise _refused("revision", error)


# -- 6 route -------------------------------------------------------------------------------------------------


def check_needs(needs: Mapping[str, Any], metadata: RequestMeta) -> None:
    """Step 6, first: the request declares every client capability that it needs.

    Args:
        needs: Shaped like client capabilities, for example ``{"sampling": {}}``.
        metadata: The request's metadata.

    Raises:
        MissingClientCapabilityError: -32021 with those that are missing in ``requiredCapabilities``.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#meta
    """
    declared = msgspec.to_builtins(metadata.client_capabilities)
    elicitation = declared.get("elicitation")
    if elicitation is not None and "url" not in elicitation:
        # "an empty capabilities object is equivalent to declaring support for form mode only"
        # https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities
        elicitation.setdefault("form", {})
    missing = _missing_of(needs, declared)
    if missing:
        names = ", ".join(sorted(missing))
        error = MissingClientCapabilityError(
            f"this request needs client capabilities that it does not declare: {names}",
            data={"requiredCapabilities": missing},
        )
        raise _refused("route", error)


def _missing_of(needs: Mapping[str, Any], declared: Mapping[str, Any]) -> dict[str, Any]:
    """The members of ``needs`` that are not declared, at any depth; of what is no object, presence counts."""
    missing: dict[str, Any] = {}
    for name, inner in needs.items():
        found = declared.get(name)
        if found is None:
            missing[name] = inner
        elif isinstance(inner, Mapping) and isinstance(found, Mapping):
            deeper = _missing_of(inner, found)
            if deeper:
                missing[name] = deeper
    return missing


def route(request: Request, methods: Mapping[str, MethodSpec]) -> MethodSpec:
    """Step 6, second: the method exists.

    Raises:
        MethodNotFoundError: -32601.
    """
    spec = methods.get(request.method)
    if spec is None:
        raise _refused("route", MethodNotFoundError(f"Method not found: {request.method}"))
    return spec


def read_params(request: Request, spec: MethodSpec) -> Any:
    """Step 6, third: the method's own parameters, typed once.

    Raises:
        InvalidParamsError: -32602.
    """
    decoder = _params_decoders.get(spec.params)
    if decoder is None:
        decoder = _params_decoders[spec.params] = msgspec.json.Decoder(spec.params)
    try:
        return decoder.decode(request.params if request.params is not UNSET else b"{}")
    except (msgspec.MsgspecError, RecursionError) as error:
        detail = str(error).replace("`$.", "`params.")
        raise _refused(
            "route", InvalidParamsError(f"{request.method}: invalid parameters: {detail}")
        ) from None


# -- statuses ------------------------------------------------------------------------------------------------

_BAD_REQUEST = frozenset(
    {PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_REVISION}
)


def http_status_for(error: RpcError) -> int:
    """The HTTP status that carries an error, while nothing was sent yet.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#protocol-version-header
    """
    if error.code == METHOD_NOT_FOUND:
        return 404
    if error.code in _BAD_REQUEST or (error.code == INVALID_PARAMS and error.step == "metadata"):
        return 400
    return 200
