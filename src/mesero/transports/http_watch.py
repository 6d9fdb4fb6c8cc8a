"""What is told of the HTTP of one link to whoever watches all of it: each request with what became of it.

Requests are numbered, so that an answer can be joined with what it answers. Each answer is told once: as the
message in its body, as what else was in there, or as an event stream that begins, and ends once.
"""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import aiohttp
from msgspec.structs import replace

from mesero.errors import ClosedError, MeseroError
from mesero.framing import Event, TooLong
from mesero.transports import Direction, HttpFacts
from mesero.transports.watching import Watch

__all__ = ["HttpWatch", "pairs_of"]

_MAX_EXCERPT_BYTES = 64 * 1024
_ENDPOINT = "endpoint"
"""The event that holds an address, in the transport of 2024-11-05."""


def pairs_of(headers: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Headers as `HttpFacts` has them."""
    return tuple((name.lower(), value) for name, value in headers.items())


class HttpWatch:
    """Tells of the exchanges of one link.

    Args:
        watch: Whom.
        target: The URL of answers, for messages to people.
    """

    def __init__(self, watch: Watch, target: str) -> None:
        self._watch = watch
        self._target = target
        self._numbers: WeakKeyDictionary[aiohttp.ClientResponse, int] = WeakKeyDictionary()
        self._streams: WeakKeyDictionary[aiohttp.ClientResponse, HttpFacts] = WeakKeyDictionary()
        self._untold: WeakKeyDictionary[aiohttp.ClientResponse, int] = WeakKeyDictionary()

    def number_of(self, response: aiohttp.ClientResponse) -> int:
        """The number of the exchange that a response belongs to."""
        return self._numbers.get(response, 0)

    # -- the request -----------------------------------------------------------------------------------------

    def ask(self, method: str, url: str, headers: Mapping[str, str], raw: bytes) -> int:
        """A request goes out; its number."""
        number = self._watch.number_exchange()
        facts = HttpFacts(method=method, url=url, headers=pairs_of(headers), exchange=number)
        if raw:
            self._watch.message("c2s", raw, facts)
        else:
            self._watch.http("c2s", facts)
        return number

    def fail(self, number: int, error: object) -> None:
        """No response came."""
        self._watch.http("s2c", HttpFacts(exchange=number), error=str(error))

    def give_up(self, number: int) -> None:
        """Nobody waits for it any more, and the connection is closed."""
        self._watch.eof("c2s", exchange=number)

    # -- its answer ------------------------------------------------------------------------------------------

    def begin(self, response: aiohttp.ClientResponse, number: int) -> None:
        """The head of a response came."""
        self._numbers[response] = self._untold[response] = number

    def take_body(self, response: aiohttp.ClientResponse, body: bytes) -> None:
        """All of a body, or the beginning of one that is none of a message."""
        self._untold.pop(response, None)
        facts = self._facts_of(response)
        is_answer = response.method == "POST" and 200 <= response.status < 300
        if body.lstrip()[:1] in (b"{", b"[") and (is_answer or b'"jsonrpc"' in body):
            self._watch.message("s2c", body, facts)
        else:
            self._watch.http("s2c", facts, body=body[:_MAX_EXCERPT_BYTES])

    def take_nothing(self, response: aiohttp.ClientResponse) -> None:
        """Its head says all that there is to it, unless it was told already."""
        if self._untold.pop(response, None) is not None:
            self._watch.http("s2c", self._facts_of(response))

    def abandon(self, response: aiohttp.ClientResponse, error: BaseException) -> None:
        """A body was not read to its end: it broke off, is refused, or nobody waits for it any more."""
        if isinstance(error, MeseroError) and not isinstance(error, ClosedError):
            self.break_off(response, error)
        else:
            self.take_nothing(response)
            self.give_up(self.number_of(response))

    def break_off(self, response: aiohttp.ClientResponse, error: object) -> None:
        """A body, or a stream, did not come to its end."""
        self._untold.pop(response, None)
        facts = self._streams.pop(response, None) or self._facts_of(response)
        self._watch.http("s2c", facts, error=str(error))

    def begin_stream(self, response: aiohttp.ClientResponse) -> None:
        """It is an event stream."""
        self._untold.pop(response, None)
        facts = self._facts_of(response)
        self._watch.http("s2c", facts)
        self._streams[response] = replace(facts, is_event=True)

    def take_event(self, response: aiohttp.ClientResponse, frame: Event | TooLong) -> None:
        """An event came on a stream."""
        facts = self._streams.get(response)
        if facts is None:
            return
        if isinstance(frame, TooLong):
            self._watch.frame("s2c", frame)
            return
        if frame[1:] != ("message", None, None):
            facts = replace(facts, event=frame.event, event_id=frame.event_id, retry_ms=frame.retry_ms)
        if frame.data and frame.event != _ENDPOINT:
            self._watch.message("s2c", frame.data, facts)
        else:
            self._watch.http("s2c", facts, body=frame.data[:_MAX_EXCERPT_BYTES])

    def end(self, response: aiohttp.ClientResponse, by: Direction) -> None:
        """Nothing more is read of a response; a stream's end is told, by the side that ended it."""
        self.take_nothing(response)
        if self._streams.pop(response, None) is not None:
            self._watch.eof(by, exchange=self.number_of(response))

    def _facts_of(self, response: aiohttp.ClientResponse) -> HttpFacts:
        return HttpFacts(
            method=response.method,
            url=self._target,
            status=response.status,
            headers=pairs_of(response.headers),
            exchange=self.number_of(response),
        )
