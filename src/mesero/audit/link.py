"""What is remembered of one link while its lines go by: correlation only, and bounded.

Requests and their answers, handshakes, HTTP exchanges, lists, tools, subscriptions, progress, rounds of
questions. Nothing here judges; nothing here changes how a later message is read, except where the protocol of
the older revisions itself has state (a handshake, a session). Every container forgets its oldest entries.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from mesero.audit.bounded import BoundedDict
from mesero.trace.format import ExitLine, SpawnLine

if TYPE_CHECKING:
    from mesero.audit.tooling import ToolFacts

__all__ = [
    "Asked",
    "Direction",
    "Era",
    "Exchange",
    "Failure",
    "Handshake",
    "IdKey",
    "LinkState",
    "Listen",
    "Listing",
    "Round",
    "Run",
    "find_id_key",
]

Direction = Literal["c2s", "s2c"]
Era = Literal["", "legacy", "modern"]
"""Empty where a message has nothing in it, and nothing before it, that tells."""

IdKey = tuple[str, Any]
"""An id with its type: 1 and "1" are two ids."""

_FEW = 100
_SOME = 1_000


def find_id_key(value: object) -> IdKey | None:
    """The key for a valid id, None for what is none."""
    if isinstance(value, (int, str)) and not isinstance(value, bool):
        return (type(value).__name__, value)
    return None


class Exchange(msgspec.Struct, kw_only=True):
    """One HTTP request and its answer. ``number`` is that of the trace, or negative when it has none.

    ``asked`` is the request in it, ``answers`` the server's request that it answers, ``completes`` the
    handshake that it ends. ``is_old_sse`` is true of what belongs to the HTTP+SSE transport of 2024-11-05.
    ``sent`` is the body of a request that was no message, ``event_id`` that of the last event of a stream,
    ``ended_t`` when the stream was over, ``error`` how the connection broke, empty when it did not.
    """

    number: int
    seq: int
    t: float
    method: str = "POST"
    url: str = ""
    headers: dict[str, str] = {}
    repeated: tuple[str, ...] = ()
    asked: Asked | None = None
    answers: Asked | None = None
    completes: Handshake | None = None
    kind: str = ""
    era: Era = ""
    revision: str = ""
    session: str = ""
    mismatch: str = ""
    status: int = 0
    answer_headers: dict[str, str] = {}
    is_stream: bool = False
    is_old_sse: bool = False
    is_answered: bool = False
    messages: int = 0
    sent: str = ""
    body: str = ""
    event_id: str = ""
    ended_by: str = ""
    ended_t: float = 0.0
    error: str = ""


class Asked(msgspec.Struct, kw_only=True):
    """One request, for as long as its answer is of interest."""

    direction: Direction
    id: Any
    method: str
    seq: int
    t: float
    era: Era
    revision: str
    name: str = ""
    capabilities: dict[str, Any] | None = None
    progress_token: IdKey | None = None
    log_level: str = ""
    cursor: str | None = None
    arguments: int = 0
    arguments_fault: str = ""
    is_retry: bool = False
    is_ascii: bool = True
    requested: dict[str, Any] | None = None
    exchange: Exchange | None = None
    cancelled_t: float | None = None
    had_progress: bool = False
    is_answered: bool = False
    handshake: Handshake | None = None


class Handshake(msgspec.Struct, kw_only=True):
    """One ``initialize``: what it asked for and what came of it."""

    asked: str
    seq: int
    revision: str
    session: str = ""
    agent: str = ""
    client_capabilities: dict[str, Any] = {}
    server_capabilities: dict[str, Any] = {}
    is_answered: bool = False
    is_refused: bool = False
    is_done: bool = False
    ids: BoundedDict[IdKey, int] = msgspec.field(default_factory=BoundedDict)


class Listen(msgspec.Struct, kw_only=True):
    """One ``subscriptions/listen``. ``closed`` is the time at which it was over."""

    seq: int
    filter: dict[str, Any]
    is_acknowledged: bool = False
    closed: float | None = None
    ack_due: bool = True


class Listing(msgspec.Struct, kw_only=True):
    """One list, page by page. ``order`` is that of the listing before this one."""

    names: dict[str, int] = {}
    order: tuple[str, ...] | None = None
    pages: set[str | None] = msgspec.field(default_factory=set)
    cursors: BoundedDict[str, int] = msgspec.field(default_factory=BoundedDict)
    next_cursor: str | None = None
    scope: str = ""
    seq: int = 0
    count: int = 0
    changed_seq: int = 0
    is_complete: bool = False


class Round(msgspec.Struct, kw_only=True):
    """One ``input_required`` result that waits for its retry."""

    seq: int
    asked: Asked
    keys: tuple[str, ...]
    state: str | None


class Failure(msgspec.Struct, kw_only=True):
    """One error that answered a request; ``was_initialized`` as it was at that time.

    ``requires`` names the capabilities that it says are missing.
    """

    seq: int
    t: float
    code: int
    message: str
    has_data: bool
    asked: Asked
    status: int = 0
    was_initialized: bool = False
    requires: tuple[str, ...] = ()


class Run(msgspec.Struct, kw_only=True):
    """What became of a server process before another one was started on the same link."""

    seq: int
    methods: tuple[str, ...]
    answers: int


class LinkState:
    """Everything remembered of one link."""

    is_replaced = False
    """Whether it led to nothing, and another link to the same target did."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.title = ""
        self.transport = ""
        self.target = ""
        self.first_t = 0.0
        self.last_t = 0.0
        self.last_seq = 0
        self.last_sent_seq = 0
        self.may_lack_start = False
        # Requests, in both directions.
        self.open: BoundedDict[tuple[Direction, IdKey], Asked] = BoundedDict()
        self.answered: BoundedDict[tuple[Direction, IdKey], Asked] = BoundedDict(_SOME)
        self.last_answered: Asked | None = None
        self.last_answer_seq = 0
        # Eras and handshakes; the key is the session id, "" without one.
        self.handshakes: BoundedDict[str, Handshake] = BoundedDict(_FEW)
        self.current: Handshake | None = None
        self.modern_requests = 0
        self.modern_answers = 0
        self.probe: Asked | None = None
        self.probe_error: dict[str, Any] | None = None
        self.server_capabilities: dict[str, Any] | None = None
        self._begin_http()
        # Lists and tools.
        self.listings: dict[str, Listing] = {}
        self.tools: BoundedDict[str, ToolFacts] = BoundedDict()
        # Subscriptions, progress, rounds.
        self.listens: BoundedDict[IdKey, Listen] = BoundedDict()
        self.progress: BoundedDict[tuple[Direction, IdKey], tuple[Asked, float | None]] = BoundedDict()
        self.finished_tokens: BoundedDict[tuple[Direction, IdKey], int] = BoundedDict(_SOME)
        self.rounds: BoundedDict[int, Round] = BoundedDict(_SOME)
        self.states: BoundedDict[str, int] = BoundedDict(_SOME)
        # Process and streams.
        self.spawn: SpawnLine | None = None
        self.spawn_t = 0.0
        self.exit: ExitLine | None = None
        self.exit_t = 0.0
        self.closed: dict[str, float] = {}
        self.stderr: deque[str] = deque(maxlen=20)
        self.text_depth = 0
        # For the diagnosis: what failed, what was given up, what the rules found first.
        self.failures: deque[Failure] = deque(maxlen=_SOME)
        self.refusals: deque[Exchange] = deque(maxlen=_SOME)
        self.given_up: deque[Asked] = deque(maxlen=_SOME)
        self.reports: deque[tuple[int, str]] = deque(maxlen=_FEW)
        self.found: dict[str, tuple[int, str]] = {}
        self.runs: deque[Run] = deque(maxlen=_FEW)
        self.statuses: BoundedDict[str, deque[tuple[float, int]]] = BoundedDict(_FEW)
        self.declared: BoundedDict[str, int] = BoundedDict(_FEW)
        self.bare_answers: deque[tuple[int, int]] = deque(maxlen=_FEW)
        self.last_long_line = 0
        self._begin_run()

    def _begin_http(self) -> None:
        """What only HTTP has: exchanges, sessions, credentials."""
        self.exchanges: BoundedDict[int, Exchange] = BoundedDict(_SOME)
        self.unnumbered = 0
        self.sessions: BoundedDict[str, str] = BoundedDict(_SOME)
        self.refused_tokens: BoundedDict[str, int] = BoundedDict(_FEW)
        self.good_tokens: BoundedDict[str, int] = BoundedDict(_FEW)
        self.authorized_agents: BoundedDict[str, int] = BoundedDict(_FEW)
        self.redirects = 0
        self.resource = ""
        self.challenged: tuple[str, ...] = ()
        self.scopes_supported: tuple[str, ...] = ()
        self.sse_paths: BoundedDict[str, int] = BoundedDict(_FEW)
        self.authorization_servers: tuple[str, ...] = ()

    def _begin_run(self) -> None:
        self.first_asked: Asked | None = None
        self.first_answer_t: float | None = None
        self.answers = 0
        self.methods: list[str] = []

    def begin_anew(self) -> None:
        """A new process knows nothing of the one before it."""
        if self.methods or self.spawn is not None:
            run = Run(seq=self.last_seq, methods=tuple(self.methods), answers=self.answers)
            self.runs.append(run)
        self._begin_run()
        self.exit = None
        self.closed = {}
        self.text_depth = 0
        self.open.clear()
        self.handshakes.clear()
        self.current = None
        self.listens.clear()
        self.progress.clear()
        self.stderr.clear()

    def handshake_for(self, session: str) -> Handshake | None:
        """The handshake of a session, without one the latest of the link; None if it is not known."""
        # Several clients may share a link that a proxy recorded: a session is never taken for another one.
        return self.handshakes.get(session) if session else self.current

    def close(self, asked: Asked) -> None:
        """A request is open no more; another one of its id, from another client of the link, stays open."""
        key = find_id_key(asked.id)
        if key is not None and self.open.get((asked.direction, key)) is asked:
            del self.open[asked.direction, key]

    def take_back(self, exchange: Exchange) -> None:
        """What was posted never arrived, and may come again as it was."""
        asked, answered = exchange.asked, exchange.answers
        handshake = self.handshake_for(exchange.session)
        key = find_id_key(asked.id) if asked is not None else None
        if asked is not None and handshake is not None and key is not None:
            handshake.ids.pop(key, None)
        if self.probe is asked:
            self.probe = None
        if exchange.completes is not None:
            exchange.completes.is_done = False
        key = find_id_key(answered.id) if answered is not None else None
        if answered is not None and key is not None:
            answered.is_answered = False
            self.answered.pop((answered.direction, key), None)
            self.open[answered.direction, key] = answered

    def is_connected(self) -> bool:
        """Whether client and server have come to understand each other, by whatever way."""
        shake = self.current
        return self.modern_answers > 0 or (shake is not None and shake.is_answered and not shake.is_refused)

    def listing_of(self, method: str) -> Listing:
        """The state of one list."""
        listing = self.listings.get(method)
        if listing is None:
            listing = self.listings[method] = Listing()
        return listing

    def is_forgetful(self) -> bool:
        """Whether a request that is not remembered may have been there all the same."""
        return self.may_lack_start or self.open.dropped > 0
