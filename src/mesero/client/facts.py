"""What a client knows of its server, and what it hears while a call runs."""

from __future__ import annotations

import msgspec

from mesero.types import Implementation, ServerCapabilities

__all__ = ["Progress", "ServerFacts"]


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The server, as it presents itself, and how its era was decided.

    ``info`` is self-reported: for display and logs, never for decisions. ``capabilities`` is None when the
    server was not asked (``discover=False``); then nothing is refused for lack of one.
    """

    era: str
    revision: str
    verdict: str
    info: Implementation | None = None
    capabilities: ServerCapabilities | None = None
    supported: tuple[str, ...] = ()
    instructions: str | None = None

    @property
    def name(self) -> str:
        """What the server calls itself, or "" when it does not say."""
        return self.info.name if self.info is not None else ""

    @property
    def version(self) -> str:
        """The server's own version, or "" when it does not say."""
        return self.info.version if self.info is not None else ""

    @property
    def title(self) -> str:
        """The server's name for people: its title, else its name."""
        title = self.info.title if self.info is not None else ""
        return title if isinstance(title, str) and title else self.name


class Progress(msgspec.Struct, frozen=True):
    """How far a call is.

    ``total`` and ``message`` are None when the server does not say.
    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
    """

    progress: float
    total: float | None = None
    message: str | None = None
