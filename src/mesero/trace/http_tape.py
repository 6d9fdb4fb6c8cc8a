"""What a proxy tells of one HTTP exchange: which of its bytes are messages, and what is to be explained.

Takes an exchange piece by piece as it passes, and tells events as `mesero.trace.scribe` has them. Knows no
sockets; changes nothing that passes. What is compressed is read from a copy.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from mesero.framing import EventFramer, TooLong
from mesero.jsonrpc import MAX_MESSAGE_BYTES

__all__ = ["READABLE_CODINGS", "HttpTape", "Tell", "headers_from"]

READABLE_CODINGS = frozenset({"gzip", "deflate", "identity"})
"""Content codings of which a copy can be read here."""

_MAX_EXCERPT_BYTES = 64 * 1024
_MAX_SHOWN = 200
_METADATA = "/.well-known/oauth-protected-resource"
_METADATA_LINK = re.compile(r'resource_metadata="?([^",\s]+)')

Tell = Callable[..., None]


def headers_from(pairs: Iterable[tuple[str, str]]) -> dict[str, str | list[str]]:
    """Headers as a trace has them: names in lower case, repeated ones as a list."""
    headers: dict[str, str | list[str]] = {}
    for written, value in pairs:
        name = written.lower()
        before = headers.get(name)
        if before is None:
            headers[name] = value
        else:
            headers[name] = [*before, value] if isinstance(before, list) else [before, value]
    return headers


class HttpTape:
    """Tells of one exchange.

    Args:
        tell: Takes the events; see `mesero.trace.scribe.Scribe.tell`.
        explain: Takes a sentence for people, with a word that stands for its subject: each is said once.
        number: The number of the exchange.
        is_endpoint: Whether it is about the MCP endpoint itself.
        own_url: The endpoint as the host knows it.
    """

    def __init__(
        self,
        tell: Tell,
        explain: Callable[[str, str], None],
        number: int,
        *,
        is_endpoint: bool,
        own_url: str,
    ) -> None:
        self._tell = tell
        self._explain = explain
        self._number = number
        self._is_endpoint = is_endpoint
        self._own_url = own_url
        self._url = ""
        self._method = ""
        self._answer: dict[str, Any] = {}
        self._framer: EventFramer | None = None
        self._inflate: Any = None
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._left = -1
        self._is_over = False

    # -- the request -------------------------------------------------------------------------------------

    def ask(self, method: str, url: str, headers: dict[str, str | list[str]], body: bytes) -> None:
        """The host's request, whole."""
        self._method, self._url = method, url
        http = {"exchange": self._number, "method": method, "url": url, "headers": headers}
        plain = _decoded(headers, body)
        if plain and method == "POST" and (self._is_endpoint or b'"jsonrpc"' in plain):
            self._tell("message", "c2s", plain, http, bulk=len(plain))
        else:
            self._tell("http", "c2s", http, plain[:_MAX_EXCERPT_BYTES], "")

    # -- the answer --------------------------------------------------------------------------------------

    def begin_answer(self, status: int, headers: dict[str, str | list[str]]) -> None:
        """Status and headers of the server's answer."""
        self._answer = {"exchange": self._number, "status": status, "headers": headers}
        self._inflate = _inflater_for(headers)
        length = headers.get("content-length")
        self._left = int(length) if isinstance(length, str) and length.isdigit() else -1
        if str(headers.get("content-type", "")).lower().startswith("text/event-stream"):
            self._framer = EventFramer()
            self._tell("http", "s2c", self._answer, b"", "")
        self._explain_way(status, headers)

    def take(self, data: bytes) -> None:
        """A piece of the answer's body, before it is passed on."""
        self._left -= len(data)
        plain = data if self._inflate is None else self._inflated(data)
        if self._framer is not None:
            for event in self._framer.receive(plain):
                self._tell_event(event)
            return
        if self._body_bytes < MAX_MESSAGE_BYTES:
            self._body.append(plain)
            self._body_bytes += len(plain)
        if self._left == 0:
            # The host knows that this is all, and may go on at once.
            self.finish()

    def finish(self) -> None:
        """The answer is whole."""
        if self._is_over:
            return
        self._is_over = True
        if self._framer is not None:
            self._tell("end_exchange", "s2c", self._number)
            return
        body = b"".join(self._body)
        if self._is_message(body):
            self._tell("message", "s2c", body, self._answer, bulk=len(body))
        else:
            self._tell("http", "s2c", self._answer, body[:_MAX_EXCERPT_BYTES], "")
        self._explain_metadata(body)

    def give_up(self) -> None:
        """The host closed the connection before the answer was whole."""
        if self._is_over:
            return
        self._is_over = True
        if self._framer is None and self._body_bytes:
            self._tell("http", "s2c", self._answer, b"".join(self._body)[:_MAX_EXCERPT_BYTES], "")
        self._tell("end_exchange", "c2s", self._number)

    def fail(self, reason: str) -> None:
        """The server could not be reached, or its answer broke off."""
        if self._is_over:
            return
        self._is_over = True
        http = self._answer or {"exchange": self._number}
        self._tell("http", "s2c", http, b"".join(self._body)[:_MAX_EXCERPT_BYTES], reason)

    # -- what is what ------------------------------------------------------------------------------------

    def _is_message(self, body: bytes) -> bool:
        if body.lstrip()[:1] not in (b"{", b"["):
            return False
        is_answer = self._is_endpoint and self._method == "POST" and 200 <= self._answer["status"] < 300
        return is_answer or b'"jsonrpc"' in body

    def _tell_event(self, event: Any) -> None:
        if isinstance(event, TooLong):
            self._tell("note", f"an event of more than {event.max_bytes} bytes passed; it is not recorded")
            return
        http = {**self._answer, "sse": True}
        if event.event != "message":
            http["event"] = event.event
        if event.event_id is not None:
            http["event_id"] = event.event_id
        if event.retry_ms is not None:
            http["retry"] = event.retry_ms
        if event.event == "endpoint":
            self._explain_endpoint(event.data)
        if event.data and event.event != "endpoint":
            self._tell("message", "s2c", event.data, http, bulk=len(event.data))
        else:
            self._tell("http", "s2c", http, event.data[:_MAX_EXCERPT_BYTES], "")

    def _inflated(self, data: bytes) -> bytes:
        try:
            plain: bytes = self._inflate.decompress(data, MAX_MESSAGE_BYTES)
        except zlib.error as error:
            self._tell("note", f"the answer of exchange {self._number} cannot be unpacked: {error}")
            return b""
        return plain

    # -- what people should know -------------------------------------------------------------------------

    def _explain_way(self, status: int, headers: dict[str, str | list[str]]) -> None:
        """An answer that leads the host past the proxy."""
        location = headers.get("location")
        if 300 <= status < 400 and isinstance(location, str) and self._leads_away(location):
            self._explain(
                "redirect",
                f"the server redirects to {_shown(location)}: a host that follows goes there without the"
                " proxy. Trace that address instead",
            )
        if status != 401:
            return
        asked = headers.get("www-authenticate", "")
        found = _METADATA_LINK.search(asked if isinstance(asked, str) else ", ".join(asked))
        if found is not None and self._leads_away(found[1]):
            self._explain(
                "metadata",
                f"the server wants authorization, and names its metadata at {_shown(found[1])}. A host that"
                f" checks that the resource named there is {self._own_url} will refuse to sign in through"
                " the proxy. Let the proxy carry the token instead: --bearer-env VAR",
            )

    def _explain_endpoint(self, data: bytes) -> None:
        address = data.decode("utf-8", "replace").strip()
        if self._leads_away(address):
            self._explain(
                "endpoint",
                f"the server wants messages sent to {_shown(address)}: they will not pass the proxy,"
                " only their answers will",
            )

    def _explain_metadata(self, body: bytes) -> None:
        if _METADATA not in self._url or self._answer.get("status") != 200:
            return
        try:
            document = msgspec.json.decode(body)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return
        resource = document.get("resource") if isinstance(document, dict) else None
        if isinstance(resource, str) and resource.rstrip("/") != self._own_url.rstrip("/"):
            self._explain(
                "resource",
                f"the server's metadata passes unchanged and names the resource {_shown(resource)}, while the"
                f" host connects to {self._own_url}: a host that compares them will refuse to sign in"
                " (https://www.rfc-editor.org/rfc/rfc9728#section-3.3)."
                " Let the proxy carry the token instead: --bearer-env VAR",
            )

    def _leads_away(self, address: str) -> bool:
        own = self._own_url.partition("://")[2].partition("/")[0]
        return "://" in address and address.partition("://")[2].partition("/")[0] != own


def _shown(address: str) -> str:
    """An address without its query, in which secrets may stand."""
    return address.partition("?")[0][:_MAX_SHOWN]


def _inflater_for(headers: dict[str, str | list[str]]) -> Any:
    coding = str(headers.get("content-encoding", "")).strip().lower()
    # 32 more than the largest window: gzip or zlib, whichever it is.
    return zlib.decompressobj(47) if coding in ("gzip", "x-gzip", "deflate") else None


def _decoded(headers: dict[str, str | list[str]], body: bytes) -> bytes:
    inflate = _inflater_for(headers)
    if inflate is None:
        return body
    try:
        plain: bytes = inflate.decompress(body, MAX_MESSAGE_BYTES)
    except zlib.error:
        return body
    return plain
