"""The trace format, version 1: JSON Lines in UTF-8, a header and then one object a line. Pure.

A line tells one thing that happened on one link: a message with its exact text, text that is no message, a
line of stderr, an end, a start, an exit, a remark. Unknown fields and unknown kinds are kept, so that a
recording of a later release loses nothing when it passes through this one. The format number is separate from
the release; what an older number wrote is upgraded step by step by `UPGRADES`.

Nothing is read or written here but one line at a time: see `mesero.trace.recorder` and
`mesero.trace.reader`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, get_args

import msgspec
from msgspec import UNSET, UnsetType

__all__ = [
    "FORMAT",
    "UPGRADES",
    "Direction",
    "EofLine",
    "ExitLine",
    "Header",
    "Http",
    "HttpLine",
    "Line",
    "Link",
    "LinkLine",
    "MessageLine",
    "NoteLine",
    "OtherLine",
    "SpawnLine",
    "StderrLine",
    "TextLine",
    "TraceLine",
    "Upgrade",
    "convert_line",
    "decode_header",
    "decode_line",
    "encode_header",
    "encode_line",
    "upgrade",
]

FORMAT = 1
"""The format that is written."""

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]
"""Makes an object of one format an object of the next; the header is recognised by ``mesero_trace``."""

UPGRADES: Mapping[int, Upgrade] = {}
"""From format number to the step to the next one; tests keep a stored sample for each number."""

Direction = Literal["c2s", "s2c"]
"""Client to server, or server to client."""

_MORE = "mesero:more"


class _Open(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """An object whose unknown fields are kept, in ``more``."""

    more: dict[str, Any] = msgspec.field(default_factory=dict, name=_MORE)


class Http(_Open, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What HTTP said around a message, or instead of one.

    On a request ``method``, ``url`` and ``headers``; on its answer ``status`` and ``headers``. ``exchange``
    joins the two. Header names are in lower case; a header that was sent several times has a list.
    """

    exchange: int | UnsetType = UNSET
    method: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    status: int | UnsetType = UNSET
    headers: dict[str, str | list[str]] = {}
    body: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    sse: bool = False
    event: str | UnsetType = UNSET
    event_id: str | UnsetType = UNSET
    retry: int | UnsetType = UNSET


class Link(_Open, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One connection: a name for people, ``stdio``, ``http``, ``sse`` or ``memory``, and a command or URL."""

    name: str = ""
    transport: str = ""
    target: str = ""


class Header(_Open, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The first line. ``started`` is RFC 3339 in UTC; ``part`` counts the files of a rotated recording.

    ``continues`` is true when what came before is in another file: then an answer may lack its request.
    """

    mesero_trace: int = FORMAT
    started: str = ""
    by: str = ""
    links: dict[str, Link] = {}
    part: int = 1

    @property
    def continues(self) -> bool:
        """Whether this file goes on where another one ended."""
        return self.part > 1


class TraceLine(
    _Open, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="kind"
):
    """What every line has: its number, seconds since the start, its link.

    ``redacted`` lists the paths at which a secret was replaced, ``guessed`` the fields that an importer could
    not know and filled in.
    """

    seq: int
    t: float
    link: str
    redacted: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()


class MessageLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="message"):
    """``raw`` is the exact text of one JSON-RPC message, or of a batch."""

    dir: Direction
    raw: str
    http: Http | UnsetType = UNSET


class HttpLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="http"):
    """HTTP that carried no message."""

    dir: Direction
    http: Http


class TextLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="text"):
    """Bytes on a message channel that are no message; ``b64`` in place of ``raw`` when they are not UTF-8."""

    dir: Direction
    raw: str | UnsetType = UNSET
    b64: str | UnsetType = UNSET
    http: Http | UnsetType = UNSET


class StderrLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="stderr"):
    """One line that a server wrote to stderr; ``b64`` as in `TextLine`."""

    raw: str | UnsetType = UNSET
    b64: str | UnsetType = UNSET


class EofLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="eof"):
    """The sender of ``dir`` will send no more; over HTTP on the exchange that ``http`` names."""

    dir: Direction
    http: Http | UnsetType = UNSET


class SpawnLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="spawn"):
    """A server process was started, or could not be (then without ``pid``). ``env`` has names only."""

    command: tuple[str, ...]
    cwd: str | UnsetType = UNSET
    env: tuple[str, ...] = ()
    pid: int | UnsetType = UNSET


class ExitLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="exit"):
    """A server process ended: with a code, or by the signal of this number."""

    code: int | UnsetType = UNSET
    signal: int | UnsetType = UNSET


class NoteLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="note"):
    """A remark. What a host told its user begins with "client reported:"."""

    text: str


class LinkLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag="link"):
    """A link that was opened after the header was written; fields as in `Link`."""

    name: str = ""
    transport: str = ""
    target: str = ""


class OtherLine(TraceLine, frozen=True, kw_only=True, omit_defaults=True, tag=""):
    """A line of a kind that this release does not know; all its fields are in ``more``."""

    kind: str = msgspec.field(name="mesero:kind")


Line = (
    MessageLine
    | HttpLine
    | TextLine
    | StderrLine
    | EofLine
    | SpawnLine
    | ExitLine
    | NoteLine
    | LinkLine
    | OtherLine
)
"""Any line but the first."""

_KNOWN = MessageLine | HttpLine | TextLine | StderrLine | EofLine | SpawnLine | ExitLine | NoteLine | LinkLine
_TYPES: dict[str, type[TraceLine]] = {type_.__struct_config__.tag: type_ for type_ in get_args(_KNOWN)}
_decode_known = msgspec.json.Decoder(_KNOWN).decode
_encode = msgspec.json.Encoder().encode
_T = TypeVar("_T", bound=_Open)


def encode_header(header: Header) -> bytes:
    """The first line of a recording, with its newline."""
    value: dict[str, Any] = {"mesero_trace": header.mesero_trace, "started": header.started, "by": header.by}
    value |= msgspec.to_builtins(header)
    value["links"] = {name: _flatten(msgspec.to_builtins(link)) for name, link in header.links.items()}
    return _encode_object(_flatten(value))


def encode_line(line: Line) -> bytes:
    """One line of a recording, with its newline; what UTF-8 cannot carry becomes a question mark."""
    http = getattr(line, "http", UNSET)
    if not line.more and (http is UNSET or not http.more) and not isinstance(line, OtherLine):
        try:
            return _encode(line) + b"\n"
        except UnicodeEncodeError:
            # Below it is written without what is wrong with it.
            pass
    value = msgspec.to_builtins(line)
    if "http" in value:
        value["http"] = _flatten(value["http"])
    if isinstance(line, OtherLine):
        value["kind"] = value.pop("mesero:kind")
    return _encode_object(_flatten(value))


def _encode_object(value: dict[str, Any]) -> bytes:
    try:
        return _encode(value) + b"\n"
    except UnicodeEncodeError:
        # File names and headers of other programs hold any bytes, as halves of surrogate pairs.
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace") + b"\n"


def _flatten(value: dict[str, Any]) -> dict[str, Any]:
    more: dict[str, Any] = value.pop(_MORE, {})
    return value | more


def decode_header(raw: bytes, *, upgrades: Mapping[int, Upgrade] = UPGRADES) -> Header:
    """The header of a recording; ``mesero_trace`` in it stays the number that was written.

    Raises:
        ValueError: this is no header, and why.
    """
    value = _decode_object(raw)
    number = value.get("mesero_trace")
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError('it has no "mesero_trace" with the number of the format')  # noqa: TRY004  (one kind)
    value = upgrade(value, number, upgrades=upgrades) | {"mesero_trace": number}
    links = value.get("links")
    if isinstance(links, dict):
        value["links"] = {name: _opened(link, Link) for name, link in links.items()}
    return _convert(_opened(value, Header), Header)


def decode_line(raw: bytes, *, number: int = FORMAT, upgrades: Mapping[int, Upgrade] = UPGRADES) -> Line:
    """One line of a recording.

    Args:
        raw: The line.
        number: The format that it was written in.
        upgrades: The chain of upgrades.

    Raises:
        ValueError: it does not fit, and where.
    """
    if number >= FORMAT:
        try:
            return _decode_known(raw)
        except (msgspec.MsgspecError, RecursionError):
            # Below it is found out whether it is wrong or only has more than is known here.
            pass
    return convert_line(_decode_object(raw), number=number, upgrades=upgrades)


def convert_line(
    value: dict[str, Any], *, number: int = FORMAT, upgrades: Mapping[int, Upgrade] = UPGRADES
) -> Line:
    """As `decode_line`, from an object."""
    value = upgrade(value, number, upgrades=upgrades)
    kind = value.get("kind")
    if not isinstance(kind, str):
        raise ValueError('it has no "kind"')  # noqa: TRY004  (one kind of error for all that does not fit)
    if kind in _TYPES:
        if "http" in value:
            value["http"] = _opened(value["http"], Http)
        return _convert(_opened(value, _TYPES[kind]), _TYPES[kind])  # type: ignore[return-value]  # see _TYPES
    more = {name: item for name, item in value.items() if name not in _PLACE}
    place = {name: item for name, item in value.items() if name in _PLACE and name != "kind"}
    return _convert(place | {"mesero:kind": kind, _MORE: more, "kind": ""}, OtherLine)


_PLACE = {"seq", "t", "link", "kind", "redacted", "guessed"}


def upgrade(
    value: dict[str, Any], number: int, *, upgrades: Mapping[int, Upgrade] = UPGRADES, to: int = FORMAT
) -> dict[str, Any]:
    """An object of format ``number`` as format ``to`` has it; one of a later format stays as it is.

    Raises:
        ValueError: nobody knows that format.
    """
    for step in range(number, to):
        if step not in upgrades:
            raise ValueError(f"format {number} is none that was ever written")
        value = upgrades[step](value)
    return value


def _decode_object(raw: bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        text = "it is nested too deeply" if isinstance(error, RecursionError) else f"it is no JSON: {error}"
        raise ValueError(text) from None
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  (one kind of error for all that does not fit)
    return value


def _opened(value: Any, type_: type[_Open]) -> Any:
    """The object with what its type does not know moved to ``more``."""
    if not isinstance(value, dict):
        return value
    known = {*type_.__struct_encode_fields__, "kind"} - {_MORE}
    more = {name: item for name, item in value.items() if name not in known}
    return {name: item for name, item in value.items() if name in known} | {_MORE: more}


def _convert(value: dict[str, Any], type_: type[_T]) -> _T:
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None
