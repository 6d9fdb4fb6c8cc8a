"""What a rule sees: one line of the trace, decoded, with the request that it answers and nothing more.

A message is judged by itself. What looks sideways is correlation: ``asked`` is the request that an answer
belongs to, ``exchange`` the HTTP around it, ``link`` what is remembered of the connection.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, urlsplit

from mesero.audit.link import Asked, Direction, Era, Exchange, IdKey, LinkState, find_id_key
from mesero.audit.rules import Kind
from mesero.trace.format import Line

__all__ = [
    "CAPABILITIES_KEY",
    "REVISION_KEY",
    "SERVER_KEY",
    "SUBSCRIPTION_KEY",
    "Evidence",
    "members_of",
    "parts_of",
    "short",
]

_PREFIX = "io.modelcontextprotocol/"
REVISION_KEY = f"{_PREFIX}protocolVersion"
CAPABILITIES_KEY = f"{_PREFIX}clientCapabilities"
SERVER_KEY = f"{_PREFIX}serverInfo"
SUBSCRIPTION_KEY = f"{_PREFIX}subscriptionId"

_ONLY_NEWER_CODES = frozenset({-32020, -32021, -32022})
_MAX_QUOTED_CHARS = 60


class Evidence:
    """One line of the trace, for the rules.

    ``params``, ``result``, ``error`` and ``meta`` (of the parameters or of the result) are empty where there
    are none or where they are no objects.
    """

    __slots__ = (
        "asked",
        "direction",
        "era",
        "error",
        "exchange",
        "kind",
        "line",
        "link",
        "message",
        "meta",
        "method",
        "params",
        "raw",
        "result",
        "revision",
        "stated",
    )

    def __init__(self, link: LinkState, line: Line | None, kind: Kind) -> None:
        self.link = link
        self.line = line
        self.kind: Kind = kind
        self.direction: Direction = getattr(line, "dir", "s2c")
        self.raw = ""
        self.message: Any = None
        self.method = ""
        self.params: dict[str, Any] = {}
        self.result: dict[str, Any] = {}
        self.error: dict[str, Any] = {}
        self.meta: dict[str, Any] = {}
        self.asked: Asked | None = None
        self.exchange: Exchange | None = None
        self.era: Era = ""
        self.revision = ""
        self.stated = ""

    @property
    def seq(self) -> int:
        """The number of the line; of the last one when the trace is over."""
        return self.line.seq if self.line is not None else self.link.last_seq

    @property
    def t(self) -> float:
        """Seconds since the trace began."""
        return self.line.t if self.line is not None else self.link.last_t

    @property
    def about(self) -> str:
        """The method of the message, or that it answers; empty if there is none."""
        if self.method:
            return self.method
        return self.asked.method if self.asked is not None else ""

    @property
    def id(self) -> Any:
        """The id as it is on the wire, None if there is none."""
        return self.message.get("id") if isinstance(self.message, dict) else None

    @property
    def id_key(self) -> IdKey | None:
        """The id with its type; None for what is no valid id."""
        return find_id_key(self.id)

    @property
    def code(self) -> int:
        """The error's code, 0 when there is none."""
        code = self.error.get("code")
        return code if isinstance(code, int) else 0

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the HTTP request, by lower-case name; empty when it is not known."""
        return self.exchange.headers if self.exchange is not None else {}

    @property
    def is_http(self) -> bool:
        """Whether HTTP carried it, as far as the trace says."""
        return self.exchange is not None

    @property
    def is_refused_probe(self) -> bool:
        """Whether it is what an older server says to the first request of a newer client.

        By that the server does not speak the newer revision, so it is not held to it.
        """
        is_refusal = self.kind == "error" or (self.exchange is not None and self.exchange.status >= 300)
        return self.about == "server/discover" and is_refusal and self.code not in _ONLY_NEWER_CODES

    def is_redacted(self, part: str) -> bool:
        """Whether a secret was replaced in this part of the message: then its values prove nothing."""
        return any(part in path for path in getattr(self.line, "redacted", ()))

    @property
    def what(self) -> str:
        """The message in a few words, to begin a sentence with."""
        place = f" (id {short(self.id)})" if self.id is not None else ""
        if self.kind in ("request", "notification"):
            return f"`{short(self.method, quoted=False)}`{place}"
        if self.kind in ("result", "error"):
            of = f" of `{short(self.about, quoted=False)}`" if self.about else ""
            return f"the {self.kind}{of}{place}"
        return "the message"


def members_of(value: object) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def parts_of(url: str) -> SplitResult:
    """The parts of an address; all empty when it is none."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def short(value: object, *, quoted: bool = True) -> str:
    """A value as a short piece of text without control characters, for a sentence."""
    text = repr(value) if quoted else str(value)
    text = "".join(char if char.isprintable() else "\ufffd" for char in text)
    if len(text) <= _MAX_QUOTED_CHARS:
        return text
    return f"{text[:_MAX_QUOTED_CHARS]}…"
