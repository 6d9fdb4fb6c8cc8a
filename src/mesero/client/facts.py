"""What a client knows of its server, and what it hears while a call runs."""

from __future__ import annotations

from typing import Literal

import msgspec

from mesero.eras import Era
from mesero.types import Implementation, ServerCapabilities

__all__ = ["Decision", "FirstStep", "Progress", "ServerFacts"]

FirstStep = Literal["probe", "patience", "initialize", "sse"]
"""How to begin with a server of which something was learnt: with the probe; with the probe and patience; with
``initialize``, since the probe costs its life or much time; with the transport of 2024-11-05."""


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The era of a server as it was decided: to be stored, and passed in again as ``Client(…, era=…)``.

    A hint, no promise: when it stops fitting, the question is asked anew. ``reason`` is for people.
    """

    era: Era
    revision: str
    reason: str = ""
    first_step: FirstStep = "probe"


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The server, as it presents itself, and how its era was decided.

    ``info`` is self-reported: for display and logs, never for decisions. ``capabilities`` is None when the
    server was not asked; then nothing is refused for lack of one. ``verdict`` is the evidence for the era in
    words; ``decision`` can be stored and passed in when connecting again.
    """

    era: Era
    revision: str
    verdict: str
    info: Implementation | None = None
    capabilities: ServerCapabilities | None = None
    supported: tuple[str, ...] = ()
    instructions: str | None = None
    decision: Decision | None = None

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
