"""The guarded way from a transport to whoever watches its whole link.

A plain function sees messages only, from where they are understood; a `LinkObserver` is told of everything,
from where it passes. Whatever an observer raises ends up in the log: what only watches must not break what it
watches.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from mesero.errors import RpcError
from mesero.framing import TooLong
from mesero.jsonrpc import decode_batch, decode_message
from mesero.transports import Direction, HttpFacts, LinkObserver, Observer

if TYPE_CHECKING:
    from mesero.trace.recorder import Recorder

__all__ = [
    "Links",
    "MessageWatch",
    "Trace",
    "Watch",
    "guarded",
    "observer_from",
    "open_recorder",
    "watch_for",
]

_log = logging.getLogger("mesero")


@runtime_checkable
class Links(Protocol):
    """A recording of several connections: `mesero.trace.recorder.Recorder`, or one of your own."""

    def link(self, name: str, transport: str, target: str, /) -> LinkObserver:
        """What is told of one connection: its name for people, its kind, its command or URL."""


Trace = str | os.PathLike[str] | Links | Observer
"""What ``trace=`` takes: a file to record in, a recording, or who sees the messages of one connection."""


def open_recorder(trace: Trace | None) -> Recorder | None:
    """A recording in a file that ``trace=`` names; None when it names none. Whoever asks, closes it."""
    if not isinstance(trace, (str, os.PathLike)):
        return None
    from mesero.trace.recorder import Recorder

    return Recorder(trace)


def observer_from(
    trace: Links | Observer | None, name: str, kind: str, target: str
) -> Observer | LinkObserver | None:
    """Who observes one connection.

    Args:
        trace: A recording, of which it becomes a link, or an observer.
        name: What people call the server.
        kind: ``stdio``, ``http``, ``sse`` or ``memory``.
        target: The command or the URL.
    """
    # A recorder can be called as well, but then could not tell one connection from another.
    return trace.link(name, kind, target) if isinstance(trace, Links) else trace


def guarded(target: str, observe: Callable[..., None], *what: Any, **more: Any) -> None:
    """Tell an observer; whatever it raises is logged.

    Args:
        target: What is observed, for messages to people.
        observe: What to call.
        what: Its arguments; ``more`` are those with names.
    """
    try:
        observe(*what, **more)
    except Exception:  # noqa: BLE001  (what only watches must not break what it watches)
        _log.exception("the observer of %s failed", target)


def watch_for(observer: Observer | LinkObserver | None, target: str) -> Watch | None:
    """The way to an observer that wants to be told of everything; None when it does not."""
    return Watch(observer, target) if isinstance(observer, LinkObserver) else None


_exchanges: WeakKeyDictionary[Any, Iterator[int]] = WeakKeyDictionary()
"""The next number of an exchange, for each observer: a link that changes its transport goes on counting."""


def _numbers_for(observer: object) -> Iterator[int]:
    try:
        return _exchanges.setdefault(observer, itertools.count(1))
    except TypeError:  # an observer of somebody's own that can be no key
        return itertools.count(1)


class Watch:
    """Tells a `LinkObserver`.

    Args:
        observer: Whom.
        target: What is observed, for messages to people.
    """

    def __init__(self, observer: LinkObserver, target: str) -> None:
        self._observer = observer
        self._target = target
        self._numbers = _numbers_for(observer)

    def number_exchange(self) -> int:
        """The number of an exchange that begins."""
        return next(self._numbers)

    def _tell(self, event: str, *what: Any, **more: Any) -> None:
        guarded(self._target, getattr(self._observer, event), *what, **more)

    def message(self, direction: Direction, raw: bytes, http: HttpFacts | None = None) -> None:
        """What stands where a message may."""
        guarded(self._target, self._observer, direction, raw, http)

    def frame(self, direction: Direction, frame: bytes | TooLong) -> None:
        """A line, or one that was longer than the limit."""
        if isinstance(frame, TooLong):
            self.text(direction, frame.beginning)
            self.note(f"the line before has more than {frame.max_bytes} bytes: only its beginning is kept")
        else:
            self.message(direction, frame)

    def text(self, direction: Direction, raw: bytes) -> None:
        """See `LinkObserver.text`."""
        self._tell("text", direction, raw)

    def stderr(self, line: bytes) -> None:
        """See `LinkObserver.stderr`."""
        self._tell("stderr", line)

    def http(self, direction: Direction, http: HttpFacts, *, body: bytes = b"", error: str = "") -> None:
        """See `LinkObserver.http`."""
        self._tell("http", direction, http, body=body, error=error)

    def eof(self, direction: Direction, *, exchange: int | None = None) -> None:
        """See `LinkObserver.eof`."""
        self._tell("eof", direction, exchange=exchange)

    def spawn(
        self, command: Sequence[str], *, cwd: str | None, env: Mapping[str, str], pid: int | None
    ) -> None:
        """See `LinkObserver.spawn`."""
        self._tell("spawn", command, cwd=cwd, env=env, pid=pid)

    def exit(self, code: int) -> None:
        """See `LinkObserver.exit`."""
        self._tell("exit", code)

    def note(self, text: str) -> None:
        """See `LinkObserver.note`."""
        self._tell("note", text)


class MessageWatch(Watch):
    """Tells a plain function of valid messages, and of nothing else.

    Args:
        observe: The function.
        target: What is observed, for messages to people.
    """

    def __init__(self, observe: Observer, target: str) -> None:
        self._observe = observe
        self._target = target
        self._numbers = itertools.count(1)

    def _tell(self, event: str, *what: Any, **more: Any) -> None:
        """What is no message is not for it."""

    def message(self, direction: Direction, raw: bytes, http: HttpFacts | None = None) -> None:
        """See `Watch.message`; a batch is told message by message."""
        try:
            decode_message(raw)
        except RpcError:
            for part in decode_batch(raw) or ():
                self.message(direction, part, http)
        else:
            guarded(self._target, self._observe, direction, raw, http)
