"""Secrets out of the lines of a trace, every other byte as it was. Pure.

The text of a message is spliced, never encoded anew: what was on the wire stays readable down to its white
space. Each path at which something was replaced is listed in the line's ``redacted``: ``$.raw.params.token``
for a place inside the parsed text, ``$.http.headers.authorization`` for a header.

What a program sent under a secret's name is remembered, and replaced wherever it turns up later: in stderr,
in a result, in a URL. What a server sent is not remembered, or it could have any word struck out.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from mesero.trace.format import (
    EofLine,
    Http,
    HttpLine,
    Line,
    Link,
    LinkLine,
    MessageLine,
    SpawnLine,
    StderrLine,
    TextLine,
)
from mesero.trace.places import Frame, Place, decode_string, is_json, json_path, offsets_of, scan, splice
from mesero.trace.sensitive import (
    find_placeholder_spans,
    is_hidden_url_part,
    is_secret_header,
    is_secret_name,
    is_secret_query_name,
    is_strictly_secret_name,
    is_suspect,
    placeholder_for,
    secret_spans,
)

__all__ = ["Redactor"]

_MIN_KNOWN = 6
_MAX_KNOWN = 200
_SECRET_CONTAINERS = frozenset({"env", "environment", "envvars", "cookies", "credentials", "secrets"})
_SCHEMA_CONTAINERS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)
_SCHEMES = ("bearer ", "basic ", "dpop ", "token ")
_HARMLESS_QUERY_NAMES = frozenset(
    {
        *("sessionid", "session_id"),
        # What a client asks an authorization server for is told to the user's browser, and protects nothing.
        # https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1
        *("client_id", "redirect_uri", "resource", "response_type", "scope", "error"),
    }
)
_LONGEST_PLAIN_QUERY_VALUE = 6
_URL = re.compile(r"""[^\s'"]+://[^\s'"]+""")
_FORM = re.compile(r"[\w.%-]{1,64}=")
_T = TypeVar("_T", bound=Line)


class Redactor:
    """Takes secrets out of lines, and remembers those that a program sent.

    Args:
        secrets: Values to replace wherever they occur, such as those of the environment.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._given = dict.fromkeys(value for value in secrets if value)
        self._seen: dict[str, None] = {}

    def learn(self, value: str) -> None:
        """Replace this value from now on, wherever it occurs; very short ones are not remembered."""
        if len(value) >= _MIN_KNOWN and value not in self._given:
            self._seen.pop(value, None)
            self._seen[value] = None
            if len(self._seen) > _MAX_KNOWN:
                del self._seen[next(iter(self._seen))]

    def learn_environment(self, variables: Mapping[str, str]) -> None:
        """Replace the values of these variables from now on, but for those that name nothing secret at all.

        Meant for variables that somebody set for a server, not for a whole inherited environment.
        """
        for name, value in variables.items():
            if is_secret_name(name) or not _is_plain(value):
                self.learn(value)

    # -- lines -----------------------------------------------------------------------------------------------

    def redact_line(self, line: Line) -> Line:
        """The line without its secrets."""
        paths: list[str] = []
        if isinstance(line, MessageLine):
            line = self._redact_message(line, paths)
        elif isinstance(line, TextLine | StderrLine):
            line = self._redact_bytes(line, paths)
        elif isinstance(line, HttpLine | EofLine):
            line = self._redact_http_of(line, is_request=line.dir == "c2s", paths=paths)
        elif isinstance(line, SpawnLine):
            line = self._redact_spawn(line, paths)
        elif isinstance(line, LinkLine):
            target = self._redact_target(line.target, "$.target", paths)
            name = self._redact_text(line.name, "$.name", paths)
            line = replace(line, target=target, name=name)
        elif hasattr(line, "text"):
            line = replace(line, text=self._redact_text(line.text, "$.text", paths))
        if line.more:
            line = replace(line, more=self._redact_more(line.more, "$", paths))
        return replace(line, redacted=_joined(line.redacted, paths)) if paths else line

    def redact_link(self, link: Link) -> Link:
        """A link of a header without its secrets."""
        paths: list[str] = []
        return replace(
            link,
            target=self._redact_target(link.target, "$.target", paths),
            name=self._redact_text(link.name, "$.name", paths),
            more=self._redact_more(link.more, "$", paths),
        )

    def _redact_message(self, line: MessageLine, paths: list[str]) -> MessageLine:
        is_request = line.dir == "c2s"
        if is_request and is_suspect(line.raw):
            self._learn_from(line.raw)
        line = self._redact_http_of(line, is_request=is_request, paths=paths)
        raw = self._redact_raw(line.raw, "$.raw", paths)
        return line if raw is line.raw else replace(line, raw=raw)

    def _redact_http_of(self, line: _T, *, is_request: bool, paths: list[str]) -> _T:
        http = getattr(line, "http", UNSET)
        if not isinstance(http, Http):
            return line
        return replace(line, http=self._redact_http(http, is_request=is_request, paths=paths))

    def _redact_bytes(self, line: TextLine | StderrLine, paths: list[str]) -> TextLine | StderrLine:
        if isinstance(line.raw, str):
            line = replace(line, raw=self._redact_text(line.raw, "$.raw", paths))
        if isinstance(line.b64, str):
            line = replace(line, b64=self._redact_b64(line.b64, paths))
        if isinstance(line, TextLine):
            return self._redact_http_of(line, is_request=line.dir == "c2s", paths=paths)
        return line

    def _redact_b64(self, b64: str, paths: list[str]) -> str:
        try:
            # One character a byte, so that what is not looked for comes out as it went in.
            text = base64.b64decode(b64, validate=True).decode("latin-1")
        except (binascii.Error, ValueError):
            return self._redact_text(b64, "$.b64", paths)
        redacted = self._redact_text(text, "$.b64", paths)
        return b64 if redacted is text else base64.b64encode(redacted.encode("latin-1")).decode()

    def _redact_spawn(self, line: SpawnLine, paths: list[str]) -> SpawnLine:
        command: list[str] = []
        is_value = False
        for index, item in enumerate(line.command):
            path = f"$.command[{index}]"
            if is_value and not item.startswith("-"):
                self.learn(item)
                command.append(self._hide(item, path, paths))
            else:
                command.append(self._redact_target(item, path, paths))
            is_value = item.startswith("-") and "=" not in item and is_secret_name(item.lstrip("-"))
        cwd = line.cwd if line.cwd is UNSET else self._redact_text(line.cwd, "$.cwd", paths)
        return replace(line, command=tuple(command), cwd=cwd)

    # -- HTTP ------------------------------------------------------------------------------------------------

    def _redact_http(self, http: Http, *, is_request: bool, paths: list[str]) -> Http:
        headers = {
            name: self._redact_header(name, value, is_request=is_request, paths=paths)
            for name, value in http.headers.items()
        }
        path = "$.http.body"
        body = self._optional(http.body, lambda text: self._redact_body(text, path, paths, learns=is_request))
        return replace(
            http,
            headers=headers,
            url=self._optional(http.url, lambda text: self._redact_target(text, "$.http.url", paths)),
            body=body,
            error=self._optional(http.error, lambda text: self._redact_text(text, "$.http.error", paths)),
            event_id=self._optional(
                http.event_id, lambda text: self._redact_text(text, "$.http.event_id", paths)
            ),
            more=self._redact_more(http.more, "$.http", paths) if http.more else http.more,
        )

    @staticmethod
    def _optional(text: str | UnsetType, redact: Callable[[str], str]) -> str | UnsetType:
        return redact(text) if isinstance(text, str) else text

    def _redact_header(
        self, name: str, value: str | list[str], *, is_request: bool, paths: list[str]
    ) -> str | list[str]:
        path = json_path(["http", "headers", name])
        if isinstance(value, list):
            return [
                self._redact_header_value(name, item, f"{path}[{index}]", is_request=is_request, paths=paths)
                for index, item in enumerate(value)
            ]
        return self._redact_header_value(name, value, path, is_request=is_request, paths=paths)

    def _redact_header_value(
        self, name: str, value: str, path: str, *, is_request: bool, paths: list[str]
    ) -> str:
        if not is_secret_header(name, is_request=is_request):
            return self._redact_text(value, path, paths)
        # The scheme tells what went wrong, and nothing secret.
        scheme = next((value[: len(one)] for one in _SCHEMES if value[: len(one)].lower() == one), "")
        secret = value[len(scheme) :].lstrip()
        if is_request and (is_secret_name(name) or not _is_plain(secret)):
            self.learn(secret)
        return value[: len(value) - len(secret)] + self._hide(secret, path, paths)

    def _redact_body(self, text: str, path: str, paths: list[str], *, learns: bool) -> str:
        if _FORM.match(text):
            # The first field of a form, too, is known by its name.
            return self._redact_text(f"?{text}", path, paths)[1:]
        if text[:1] not in ("{", "["):
            return self._redact_text(text, path, paths)
        if learns:
            self._learn_from(text)
        return self._redact_raw(text, path, paths)

    def _redact_target(self, text: str, path: str, paths: list[str]) -> str:
        """A command or an address; some carry their secret in the path, or under any name in the query."""
        for start, end in secret_spans(text):
            self.learn(text[start:end])
        for match in _URL.finditer(text):
            for start, end in _endpoint_spans(match[0]):
                self.learn(match[0][start:end])
        return self._redact_text(text, path, paths)

    # -- text ------------------------------------------------------------------------------------------------

    def _hide(self, value: str, path: str, paths: list[str]) -> str:
        spans = find_placeholder_spans(value)
        if not value or spans == [(0, len(value))]:
            return value
        paths.append(path)
        return placeholder_for(value)

    def _known_in(self, text: str) -> list[str]:
        return [value for known in (self._given, self._seen) for value in known if value in text]

    def _redact_text(self, text: str, path: str, paths: list[str]) -> str:
        spans = secret_spans(text, known=self._known_in(text))
        if not spans:
            return text
        paths.append(path)
        return splice(text, [(start, end, placeholder_for(text[start:end])) for start, end in spans])

    def _redact_more(self, more: dict[str, Any], path: str, paths: list[str]) -> dict[str, Any]:
        """What is not known here is looked through as JSON text."""
        text = msgspec.json.encode(more).decode()
        redacted = self._redact_raw(text, path, paths)
        if redacted is text:
            return more
        value: dict[str, Any] = msgspec.json.decode(redacted)
        return value

    # -- JSON ------------------------------------------------------------------------------------------------

    def _redact_raw(self, text: str, path: str, paths: list[str]) -> str:
        """The text of a message with the strings spliced that are or hold secrets."""
        known = self._known_in(text)
        is_escaped = "\\" in text and bool(self._given or self._seen)
        if not known and not is_escaped and not is_suspect(text):
            return text
        if not is_json(text):
            return self._redact_text(text, path, paths)
        changes: dict[int, tuple[int, int, str]] = {}
        for item, frames in scan(text):
            change = self._change_of(item, frames, text)
            if change is not None:
                # A name/value pair is known when it ends; then all of its value goes.
                changes[change[0]] = change
                steps = [self._shown_step(frame.step) for frame in frames]
                paths.append(json_path([*steps, "value"] if isinstance(item, Frame) else steps, start=path))
        return splice(text, sorted(changes.values())) if changes else text

    def _shown_step(self, step: str | int) -> str | int:
        """A member name may be a secret itself, and must not come back in the path to it."""
        return self._redact_text(step, "", []) if isinstance(step, str) else step

    def _learn_from(self, text: str) -> None:
        """First, so that a value is replaced everywhere in the line that told it."""
        for item, frames in scan(text):
            place = _secret_place(item, frames)
            if place is not None and place.is_string:
                value = decode_string(text[place.start : place.end])
                if not _is_plain(value) and not find_placeholder_spans(value):
                    self.learn(value)

    def _change_of(self, item: Place | Frame, frames: list[Frame], text: str) -> tuple[int, int, str] | None:
        place = _secret_place(item, frames)
        if place is not None:
            inner = text[place.start : place.end]
            if not place.is_string:
                return (
                    (place.start, place.end, f'"{placeholder_for(inner)}"') if inner[0] in _DIGITS else None
                )
            value = decode_string(inner)
            hidden = self._hide(value, "", [])
            return (place.start, place.end, hidden) if hidden != value else None
        if isinstance(item, Frame) or not item.is_string:
            return None
        inner = text[item.start : item.end]
        redacted = self._redact_inner(inner)
        return None if redacted is inner else (item.start, item.end, redacted)

    def _redact_inner(self, inner: str) -> str:
        """A JSON string of which parts are secrets."""
        value = decode_string(inner)
        spans = secret_spans(value, known=self._known_in(value))
        if not spans:
            return inner
        offsets = range(len(inner) + 1) if value == inner else offsets_of(inner)
        changes = [(offsets[start], offsets[end], placeholder_for(value[start:end])) for start, end in spans]
        return splice(inner, changes)


_DIGITS = frozenset("-0123456789")


def _secret_place(item: Place | Frame, frames: list[Frame]) -> Place | None:
    """The value that is a secret by its name, that of its container, or that of a name/value pair."""
    if isinstance(item, Frame):
        return item.value if item.value is not None and is_secret_name(item.label) else None
    if item.is_key or not frames:
        return None
    # Of an array, all items go by the name of the array.
    depth = len(frames) - 1
    while depth > 0 and not frames[depth].is_object:
        depth -= 1
    name = frames[depth].step
    if not isinstance(name, str):
        return None
    if item.is_string and (is_secret_name(name) or _is_in_secret_container(frames, depth)):
        return item
    return item if not item.is_string and is_strictly_secret_name(name) else None


def _is_in_secret_container(frames: list[Frame], depth: int) -> bool:
    if depth < 1:
        return False
    depth -= 1
    while depth > 0 and not frames[depth].is_object:
        depth -= 1
    outer = frames[depth].step
    if not isinstance(outer, str) or outer.lower() not in _SECRET_CONTAINERS:
        return False
    # A schema for something of that name is no secret.
    return depth < 1 or frames[depth - 1].step not in _SCHEMA_CONTAINERS


def _endpoint_spans(url: str) -> Iterable[tuple[int, int]]:
    begin = url.index("://") + 3
    address, question, query = url[begin:].partition("?")
    at = begin + len(address.partition("/")[0])
    for segment in url[at : begin + len(address)].split("/")[1:]:
        at += 1
        if is_hidden_url_part(segment):
            yield at, at + len(segment)
        at += len(segment)
    at = begin + len(address) + len(question)
    for pair in query.partition("#")[0].split("&"):
        name, _, value = pair.partition("=")
        # What begins so was replaced before: the rest of it stands behind a space.
        if value and value != "<redacted" and _is_hidden_query(name, value):
            yield at + len(name) + 1, at + len(pair)
        at += len(pair) + 1


def _is_hidden_query(name: str, value: str) -> bool:
    if is_secret_query_name(name):
        return True
    return name.lower() not in _HARMLESS_QUERY_NAMES and len(value) > _LONGEST_PLAIN_QUERY_VALUE


def _is_plain(value: str) -> bool:
    """A word, a number, a path, an address of this machine: what occurs everywhere and protects nothing."""
    if len(value) < _MIN_KNOWN or value.isdigit() or value.isalpha():
        return True
    return value.startswith(("/", "./", "~/", "http://localhost", "http://127.0.0.1"))


def _joined(before: tuple[str, ...], paths: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *paths)))
