"""The JSON-RPC 2.0 envelope: decode, classify, encode. Knows no MCP method and no revision.

One pass over the bytes gives the envelope; ``params``, ``result`` and ``error.data`` stay raw: whoever
forwards a message forwards exactly what came, and whoever needs them types them once.

The fast path is one typed decode. Only when it refuses does the slow path look again, to name what is wrong:
a parse error (-32700) or an envelope that is no JSON-RPC (-32600), each with its own sentence.

https://modelcontextprotocol.io/specification/2026-07-28/basic/index#messages
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import islice
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from mesero.errors import InvalidRequestError, ParseError, RpcError

__all__ = [
    "MAX_MESSAGE_BYTES",
    "MAX_PARTS",
    "ErrorResponse",
    "Id",
    "Message",
    "Notification",
    "Request",
    "RequestOut",
    "Response",
    "ResultOut",
    "ResultResponse",
    "check_complexity",
    "check_duplicate_members",
    "check_finite",
    "decode_batch",
    "decode_message",
    "decode_value",
    "encode_error",
    "encode_notification",
    "encode_request",
    "encode_result",
    "encode_value",
    "find_id",
]

Id = int | str
"""A request id: a string or an integer. https://modelcontextprotocol.io/specification/2026-07-28/basic/index#requests"""

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The largest message that is accepted by default, in bytes."""

MAX_PARTS = 1_000_000
"""How many strings, commas and brackets a message may have where it is looked at as a whole, over HTTP."""

_OPEN_BRACE = ord("{")


class Request(msgspec.Struct, gc=False, frozen=True):
    """``id`` and ``method``: an answer is owed."""

    id: Id
    method: str
    params: Raw | UnsetType = UNSET


class Notification(msgspec.Struct, gc=False, frozen=True):
    """``method`` without ``id``: never answered."""

    method: str
    params: Raw | UnsetType = UNSET


class ResultResponse(msgspec.Struct, gc=False, frozen=True):
    """``id`` and ``result``."""

    id: Id
    result: Raw


class ErrorResponse(msgspec.Struct, gc=False, frozen=True):
    """``error``, with the ``id`` of the request unless that could not be read (then None)."""

    id: Id | None
    code: int
    message: str
    data: Raw | UnsetType = UNSET


Response = ResultResponse | ErrorResponse
Message = Request | Notification | ResultResponse | ErrorResponse


class _ErrorObject(msgspec.Struct, gc=False):
    code: int
    message: str
    data: Raw | UnsetType = UNSET


class _Envelope(msgspec.Struct, gc=False):
    jsonrpc: str
    id: Id | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: _ErrorObject | UnsetType = UNSET


class _LooseId(msgspec.Struct, gc=False):
    id: Raw | UnsetType = UNSET


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_id = msgspec.json.Decoder(_LooseId).decode
_decode_any = msgspec.json.Decoder().decode

_PART = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+(?:"|\Z)|[\[{,]', re.DOTALL)
"""A string, whole or to the end of the bytes, or what begins a value. Linear in whatever it is given."""
_PLACE = re.compile(r"\(byte (\d+)\)")
_NOT_FINITE = re.compile(rb"NaN|Infinity")


def decode_message(raw: bytes) -> Message:
    """Decode and classify one message.

    Raises:
        ParseError: not UTF-8, not JSON, nested too deeply, or a number out of range (-32700).
        InvalidRequestError: JSON, but no JSON-RPC 2.0 message (-32600).
    """
    try:
        # msgspec does not look at the UTF-8 of what stays raw.
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/index#messages
        if not raw.isascii():
            raw.decode()
        envelope = _decode_envelope(raw)
    except msgspec.ValidationError as error:
        raise _refusal_for(raw, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _parse_error_for(raw, error) from None
    if envelope.jsonrpc != "2.0":
        raise InvalidRequestError(f'"jsonrpc" must be "2.0", not {envelope.jsonrpc!r}')
    message_id, method, result = envelope.id, envelope.method, envelope.result
    if message_id is not UNSET and message_id is not None and envelope.error is UNSET:
        # The two kinds that come most, when nothing is in them that does not belong there.
        if result is UNSET:
            params = envelope.params
            if method is not UNSET and (params is UNSET or memoryview(params)[0] == _OPEN_BRACE):
                return Request(message_id, method, params)
        elif method is UNSET:
            return ResultResponse(message_id, result)
    return _classify(envelope)


def decode_batch(raw: bytes) -> list[bytes] | None:
    """The messages of a batch, as they stand in it; None when it is no array of objects, or an empty one.

    https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
    """
    if raw.lstrip()[:1] != b"[":
        return None
    try:
        parts = msgspec.json.decode(raw, type=list[Raw])
    except (msgspec.MsgspecError, RecursionError):
        return None
    messages = [bytes(part) for part in parts]
    return messages if messages and all(part[:1] == b"{" for part in messages) else None


def _classify(envelope: _Envelope) -> Message:
    """What is neither a plain request nor a plain result; members that do not go together are refused."""
    if envelope.method is not UNSET:
        if envelope.result is not UNSET or envelope.error is not UNSET:
            raise InvalidRequestError('"method" and "result" or "error" in one message')
        params = envelope.params
        # By the first byte: the value itself is typed later, once.
        if params is not UNSET and memoryview(params)[0] != _OPEN_BRACE:
            raise InvalidRequestError('"params" must be an object')
        if envelope.id is UNSET:
            return Notification(envelope.method, params)
        raise InvalidRequestError('"id" must be a string or an integer, not null')
    if envelope.result is not UNSET:
        if envelope.error is not UNSET:
            raise InvalidRequestError('"result" and "error" in one message')
        raise InvalidRequestError('a result needs the "id" of its request')
    if envelope.error is not UNSET:
        error = envelope.error
        # An id that could not be read is left out, or null in peers that follow plain JSON-RPC.
        owner = None if envelope.id is UNSET else envelope.id
        return ErrorResponse(owner, error.code, error.message, error.data)
    raise InvalidRequestError('neither "method" nor "result" nor "error"')


def _parse_error_for(raw: bytes | Raw, error: Exception) -> ParseError:
    if isinstance(error, RecursionError):
        # msgspec counts levels against the interpreter's recursion limit (1,000 frames, less what is in use).
        return ParseError("arrays and objects are nested too deeply")
    if isinstance(error, UnicodeDecodeError):
        return ParseError(f"not UTF-8: invalid byte at offset {error.start}")
    if isinstance(error, msgspec.ValidationError):
        # Any JSON fits; what remains to be wrong is a number that neither an int nor a float can hold.
        return ParseError(f"a number that nobody can hold: {error}")
    place = _PLACE.search(str(error))
    if place is not None and _NOT_FINITE.match(raw, int(place[1])):
        return ParseError(f"NaN and Infinity are no JSON numbers (byte {place[1]})")
    return ParseError(f"not JSON: {error}")


def _refusal_for(raw: bytes, text: str) -> RpcError:
    """The slow path: the envelope does not fit. Says which member is wrong, and how."""
    try:
        _decode_any(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        return _parse_error_for(raw, error)
    first = raw.lstrip()[:1]
    if first == b"[":
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
        return InvalidRequestError(
            "a message is one JSON object; batches (arrays) are not part of this revision"
        )
    if first != b"{":
        return InvalidRequestError("a message is a JSON object")
    if "`jsonrpc`" in text:
        return InvalidRequestError('"jsonrpc" is missing; it must be "2.0"')
    if text.endswith("`$.id`"):
        return InvalidRequestError(f'"id" must be a string or an integer: {text}')
    return InvalidRequestError(text)


def find_id(raw: bytes) -> Id | None:
    """The id of a message that was refused, when it can still be read and is a valid one."""
    try:
        member = _decode_id(raw).id
        if member is UNSET or memoryview(member)[0] in b"[{":
            return None  # Not even looked at: it may be a large one.
        found = _decode_any(member)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return found if isinstance(found, (int, str)) and not isinstance(found, bool) else None


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twin, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise InvalidRequestError(f"the member {twin!r} occurs twice in one object")
    return members


_decode_strictly = json.JSONDecoder(object_pairs_hook=_refuse_twins).decode


def _is_canonical(raw: bytes) -> bool:
    """Whether it comes out byte for byte when it is decoded and written again: then no member was lost.

    A third of the cost of the search, and compact JSON is what most clients send.
    """
    try:
        return _encode(_decode_any(raw)) == raw
    except (msgspec.MsgspecError, RecursionError):
        return False


def check_complexity(raw: bytes) -> None:
    """Refuse JSON of more parts than `MAX_PARTS`: read as a whole, each takes far more room than its bytes.

    Cheap, and it needs no valid JSON.

    Raises:
        InvalidRequestError: too many (-32600).
    """
    if len(raw) > MAX_PARTS and next(islice(_PART.finditer(raw), MAX_PARTS, None), None) is not None:
        raise InvalidRequestError(f"a message has at most {MAX_PARTS} strings, commas and brackets")


def check_duplicate_members(raw: bytes) -> None:
    """Refuse a message in which an object has a member twice: two readers could see two different messages.

    Raises:
        InvalidRequestError: a member occurs twice (-32600), at any depth; or there are too many to look at.
        ParseError: not JSON (-32700).
    """
    check_complexity(raw)
    if _is_canonical(raw):
        return
    try:
        _decode_strictly(raw.decode())
    except (ValueError, RecursionError) as error:
        raise _parse_error_for(raw, error) from None


def decode_value(raw: Raw | bytes) -> Any:
    """Plain Python objects for a raw JSON value.

    Raises:
        ParseError: not JSON, or a number out of range.
    """
    try:
        return _decode_any(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _parse_error_for(raw, error) from None


def _json_text_of(value: Any) -> Any:
    """Objects that know their exact JSON text (unknown content blocks) are written as that text."""
    raw = getattr(value, "raw", None)
    if isinstance(raw, bytes):
        return Raw(raw)
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


_encode = msgspec.json.Encoder(enc_hook=_json_text_of).encode
encode_value = _encode
"""JSON bytes of Structs and plain objects. Raises TypeError for what has no JSON form."""


def check_finite(value: Any) -> None:
    """Refuse NaN and infinities anywhere in plain data, since msgspec would write them as null.

    Raises:
        ValueError: a number is not finite, with the JSON path to it.
    """
    # Containers are visited once each, so that what contains itself ends here and is refused by the encoder.
    todo: list[tuple[Any, _Place]] = [(value, None)]
    seen: set[int] = set()
    while todo:
        item, place = todo.pop()
        if isinstance(item, float):
            if not math.isfinite(item):
                raise ValueError(f"the number at {_path_to(place)} is not finite; JSON has no form for it")
        elif isinstance(item, _CONTAINERS) and id(item) not in seen:
            seen.add(id(item))
            members = item.items() if isinstance(item, dict) else enumerate(item)
            todo.extend((inner, (place, name)) for name, inner in members if isinstance(inner, _MAY_BE_WRONG))


_Place = tuple[Any, Any] | None
"""Where a value is: the place of its container, and its name or index in there. None for the outermost."""

_CONTAINERS = (dict, list, tuple, set, frozenset)
_MAY_BE_WRONG = (float, *_CONTAINERS)


def _path_to(place: _Place) -> str:
    """Built for the one number that is wrong, not for the million that are right."""
    steps: list[str] = []
    while place is not None:
        place, name = place
        steps.append(f"[{name}]" if isinstance(name, int) else f".{name}")
    return "$" + "".join(reversed(steps))


class RequestOut(msgspec.Struct, gc=False, tag_field="jsonrpc", tag="2.0"):
    """A request to be encoded; `encode_request` with one step less, for the hot path."""

    id: Id
    method: str
    params: Any = UNSET


class _NotificationOut(msgspec.Struct, gc=False, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: Any = UNSET


class ResultOut(msgspec.Struct, gc=False, tag_field="jsonrpc", tag="2.0"):
    """A result to be encoded; `encode_result` with one step less, for the hot path."""

    id: Id
    result: Any


class _ErrorObjectOut(msgspec.Struct, gc=False):
    code: int
    message: str
    data: Any = UNSET


class _ErrorOut(msgspec.Struct, gc=False, tag_field="jsonrpc", tag="2.0"):
    error: _ErrorObjectOut
    id: Id | UnsetType = UNSET


def encode_request(request_id: Id, method: str, params: Any = UNSET) -> bytes:
    """One request. ``params`` is a Struct, a dict, ``msgspec.Raw`` or UNSET for none."""
    return _encode(RequestOut(request_id, method, params))


def encode_notification(method: str, params: Any = UNSET) -> bytes:
    """One notification. ``params`` as in `encode_request`."""
    return _encode(_NotificationOut(method, params))


def encode_result(request_id: Id, result: Any) -> bytes:
    """One result response. ``result`` is a Struct, a dict or ``msgspec.Raw``."""
    return _encode(ResultOut(request_id, result))


def encode_error(request_id: Id | None, error: RpcError) -> bytes:
    """One error response.

    Without an id when the request's could not be read: JSON-RPC's null is not allowed here.
    https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-responses
    """
    data = UNSET if error.data is None else error.data
    owner = UNSET if request_id is None else request_id
    return _encode(_ErrorOut(_ErrorObjectOut(error.code, error.message, data), owner))
