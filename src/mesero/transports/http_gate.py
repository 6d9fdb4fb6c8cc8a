"""Who may talk to an HTTP endpoint, and in which form: Host, Origin, CORS, media types, sizes. Pure.

The headers of one request in, a `Welcome` or a `Refusal` out. Nothing here reads a body or knows what is in
one. Most requests of a client carry the same few headers, so what was found out about them is kept,
in bounds.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security--endpoint
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from mesero.errors import InvalidRequestError
from mesero.jsonrpc import MAX_MESSAGE_BYTES, encode_error

__all__ = ["Gate", "HeaderLines", "Refusal", "Welcome", "refusal_for"]

HeaderLines = Sequence[tuple[bytes, bytes]]
"""Header lines as ASGI has them: names in lower case."""

_Facts = tuple[bytes | None, bytes | None, bytes | None, bytes | None]

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._~-]+)(?::(\d{1,5}))?")
_ORIGIN = re.compile(r"(https?)://(.+)")
_PARAM_HEADER = re.compile(r"mcp-param-[!#$%&'*+.^_`|~0-9a-z-]+")
_ONCE = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"last-event-id",
        b"mcp-session-id",
        b"origin",
    }
)
_CORS_HEADERS = "Content-Type, Accept, Authorization, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
_MAX_KNOWN = 256


class Welcome(msgspec.Struct, frozen=True):
    """A request that may come in.

    ``may_stream`` and ``only_streams`` say what its ``Accept`` allows; ``headers`` go with every answer.
    """

    may_stream: bool
    only_streams: bool
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Refusal(msgspec.Struct, frozen=True):
    """An answer that ends it: status, header lines, body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes = b""


class Gate:
    """The rules of one endpoint.

    Args:
        allowed_hosts: Values of ``Host`` besides those of loopback: ``example.com`` (any port),
            ``example.com:8443`` (that one), or ``*`` for every host.
        allowed_origins: Values of ``Origin`` besides those of loopback (``https://example.com``), or ``*``.
        cors_origins: Origins whose pages a browser lets read the answers, or ``*``; they are allowed as well.
        max_body_bytes: The longest body, in bytes.
        max_header_bytes: The most bytes of header names and values together.
        max_headers: The most header lines.
        methods: The methods that are served.
        cors_headers: More headers that pages in browsers may send.
        exposed_headers: More headers that pages in browsers may read.
    """

    def __init__(
        self,
        *,
        allowed_hosts: Iterable[str] = (),
        allowed_origins: Iterable[str] = (),
        cors_origins: Iterable[str] = (),
        max_body_bytes: int = MAX_MESSAGE_BYTES,
        max_header_bytes: int = 64 * 1024,
        max_headers: int = 100,
        methods: Sequence[str] = ("POST",),
        cors_headers: Sequence[str] = (),
        exposed_headers: Sequence[str] = (),
    ) -> None:
        self._methods = ", ".join(methods)
        self._cors_headers = ", ".join((_CORS_HEADERS, *cors_headers))
        self._exposed_headers = ", ".join(("WWW-Authenticate", *exposed_headers)).encode()
        self._hosts = frozenset(host.lower() for host in (*_LOOPBACK, *allowed_hosts))
        self._cors = frozenset(origin.lower().rstrip("/") for origin in cors_origins)
        self._origins = self._cors.union(origin.lower().rstrip("/") for origin in allowed_origins)
        self.max_body_bytes = max_body_bytes
        self._max_header_bytes = max_header_bytes
        self._max_headers = max_headers
        self._known: dict[_Facts, Welcome | Refusal] = {}

    def check_post(self, headers: HeaderLines) -> Welcome | Refusal:
        """What a POST with these headers gets, before its body is read."""
        found = dict(headers)
        if len(found) != len(headers):
            twin = _find_twin(headers)
            if twin is not None:
                return refusal_for(
                    400, f"the header {twin} is repeated: two readers could take two different ones"
                )
        if len(headers) > self._max_headers or _size_of(found) > self._max_header_bytes:
            return self._too_many_headers(headers)
        length = found.get(b"content-length")
        if length is not None and length.isdigit() and _is_more(length, self.max_body_bytes):
            return self.too_long()
        facts = (found.get(b"host"), found.get(b"origin"), found.get(b"content-type"), found.get(b"accept"))
        known = self._known.get(facts)
        return self._learn(facts) if known is None else known

    def check_bodiless(self, headers: HeaderLines) -> Welcome | Refusal:
        """What a GET or DELETE with these headers gets: all that holds for a POST, but for its body."""
        lines = [line for line in headers if line[0] not in {b"content-type", b"content-length"}]
        return self.check_post([*lines, (b"content-type", b"application/json")])

    def check_options(self, headers: HeaderLines) -> Refusal:
        """What an OPTIONS request gets: the answer to a browser's preflight, or 405."""
        found = dict(headers)
        outcome = self._check_place(found.get(b"host"), found.get(b"origin"))
        if outcome is not None:
            return outcome
        cors = self._cors_headers_for(found.get(b"origin"))
        if not self._is_cors(found.get(b"origin")):
            return self._not_allowed("OPTIONS")
        asked = found.get(b"access-control-request-headers", b"").decode("latin-1").lower()
        extra = "".join(
            f", {name}" for part in asked.split(",") if _PARAM_HEADER.fullmatch(name := part.strip())
        )
        return Refusal(
            204,
            (
                *cors,
                (b"access-control-allow-methods", self._methods.encode()),
                (b"access-control-allow-headers", (self._cors_headers + extra).encode()),
                (b"access-control-max-age", b"600"),
            ),
        )

    def check_other(self, method: str, headers: HeaderLines, *, allowed: str | None = None) -> Refusal:
        """What another method gets: 405, to who may know that there is something here.

        Args:
            method: The method that came.
            headers: The header lines.
            allowed: The methods that are served at that path, if those are not the endpoint's.
        """
        found = dict(headers)
        outcome = self._check_place(found.get(b"host"), found.get(b"origin"))
        return outcome or self._not_allowed(method, allowed)

    def _not_allowed(self, method: str, allowed: str | None = None) -> Refusal:
        # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#earlier-streamable-http-revisions
        text = f"{method} is not allowed here: every message is sent with POST"
        return refusal_for(405, text, (b"allow", (allowed or self._methods).encode()))

    def too_long(self) -> Refusal:
        """413."""
        return refusal_for(
            413, f"the body is longer than the limit of {self.max_body_bytes} bytes (max_message_bytes=)"
        )

    def _too_many_headers(self, headers: HeaderLines) -> Refusal:
        limits = (
            f"{self._max_headers} lines (max_headers=) and {self._max_header_bytes} bytes (max_header_bytes=)"
        )
        return refusal_for(431, f"too many headers: the limits are {limits}; there were {len(headers)} lines")

    def _learn(self, facts: _Facts) -> Welcome | Refusal:
        outcome = self._judge(*facts)
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        if sum(len(fact) for fact in facts if fact is not None) <= 1024:
            self._known[facts] = outcome
        return outcome

    def _judge(
        self, host: bytes | None, origin: bytes | None, kind: bytes | None, accept: bytes | None
    ) -> Welcome | Refusal:
        outcome = self._check_place(host, origin)
        if outcome is not None:
            return outcome
        cors = self._cors_headers_for(origin)
        media_type = (kind or b"").split(b";")[0].strip().lower()
        if media_type != b"application/json":
            said = "is missing" if kind is None else f"is {kind.decode('latin-1')!r}"
            return refusal_for(415, f"Content-Type {said}; messages are application/json", *cors)
        ranges = _ranges_of(accept)
        may_json = _is_acceptable(ranges, "application", "json")
        may_stream = _is_acceptable(ranges, "text", "event-stream")
        if not may_json and not may_stream:
            text = "Accept excludes both application/json and text/event-stream; clients must accept both"
            return refusal_for(406, text, *cors)
        return Welcome(may_stream=may_stream, only_streams=not may_json, headers=cors)

    # -- where it comes from ---------------------------------------------------------------------------------

    def _check_place(self, host: bytes | None, origin: bytes | None) -> Refusal | None:
        if not self._is_host_allowed(host):
            said = "is missing" if host is None else f"{host.decode('latin-1')!r} is not one of this server's"
            # A page of another site that had its name point here would say its own name in Host.
            return refusal_for(421, f"the header Host {said}; allow it with allowed_hosts=[…]")
        if not self._is_origin_allowed(origin):
            # "If the Origin header is present and invalid, servers MUST respond with HTTP 403 Forbidden."
            # https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security--endpoint
            said = (origin or b"").decode("latin-1")
            hint = "allow it with allowed_origins=[…], or with cors_origins=[…] for pages in browsers"
            return refusal_for(403, f"the header Origin {said!r} is not allowed; {hint}")
        return None

    def _is_host_allowed(self, host: bytes | None) -> bool:
        if "*" in self._hosts:
            return True
        return host is not None and _is_listed(host.decode("latin-1").lower(), self._hosts)

    def _is_origin_allowed(self, origin: bytes | None) -> bool:
        if origin is None or "*" in self._origins:
            return True
        text = origin.decode("latin-1").lower()
        if text in self._origins:
            return True
        parts = _ORIGIN.fullmatch(text)
        return parts is not None and _is_listed(parts[2], _LOOPBACK)

    def _cors_headers_for(self, origin: bytes | None) -> tuple[tuple[bytes, bytes], ...]:
        if not self._cors:
            return ()
        # Caches must not serve the answer for one origin to another.
        vary = (b"vary", b"Origin")
        if origin is None or not self._is_cors(origin):
            return (vary,)
        return (
            (b"access-control-allow-origin", origin),
            (b"access-control-expose-headers", self._exposed_headers),
            vary,
        )

    def _is_cors(self, origin: bytes | None) -> bool:
        return origin is not None and not self._cors.isdisjoint(("*", origin.decode("latin-1").lower()))


def refusal_for(status: int, text: str, *headers: tuple[bytes, bytes]) -> Refusal:
    """A refusal in words, as a JSON-RPC error response that has no id."""
    body = encode_error(None, InvalidRequestError(text))
    lines = ((b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *headers)
    return Refusal(status, lines, body)


def _size_of(found: dict[bytes, bytes]) -> int:
    return len(b"".join(found)) + len(b"".join(found.values()))


def _is_more(digits: bytes, limit: int) -> bool:
    # Numbers of thousands of digits take long to read, or are refused by Python.
    return len(digits.lstrip(b"0")) > 18 or int(digits[-18:]) > limit


def _find_twin(headers: HeaderLines) -> str | None:
    seen: set[bytes] = set()
    for name, _ in headers:
        if name in seen and name in _ONCE:
            return name.decode("latin-1").title()
        seen.add(name)
    return None


def _is_listed(authority: str, hosts: Iterable[str]) -> bool:
    parts = _AUTHORITY.fullmatch(authority)
    return parts is not None and (parts[1] in hosts or authority in hosts)


def _ranges_of(accept: bytes | None) -> list[tuple[str, str]]:
    """The media ranges that a client accepts. All, when it does not say."""
    if accept is None or not accept.strip():
        return [("*", "*")]
    ranges = []
    for part in accept.decode("latin-1").lower().split(","):
        media_range, *parameters = (piece.strip() for piece in part.split(";"))
        if any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters):
            continue
        kind, _, subtype = media_range.partition("/")
        ranges.append((kind, subtype))
    return ranges


def _is_acceptable(ranges: list[tuple[str, str]], kind: str, subtype: str) -> bool:
    return not {("*", "*"), (kind, "*"), (kind, subtype)}.isdisjoint(ranges)
