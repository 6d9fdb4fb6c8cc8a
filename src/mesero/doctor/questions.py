"""What a server asks while the doctor calls its tools, and how that is answered: no, but politely.

Forms and pages are declined, models are not asked, and there are no directories. A server must be able to
live with each of these.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#response-actions
"""

from __future__ import annotations

from typing import Any, Literal

from mesero.errors import RpcError
from mesero.types import CreateMessageParams, ElicitFormParams, ElicitResult, ElicitUrlParams

__all__ = ["Questions", "SamplingRefusedError"]

_SHOWN = 200


class SamplingRefusedError(RpcError):
    """The refusal of a model, as a person would give it.

    https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#error-handling
    """

    default_code = -1


class Questions:
    """Answers the questions of one server.

    Attributes:
        asked: What was asked so far, in words.
        action: How forms and pages are turned down.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.action: Literal["decline", "cancel"] = "decline"

    def settings(self) -> dict[str, Any]:
        """What a `mesero.Client` needs to have its questions answered here."""
        return {
            "elicit": self._elicit,
            "elicit_url": self._elicit_url,
            "sample": self._sample,
            "roots": self._roots,
        }

    async def _elicit(self, params: ElicitFormParams) -> ElicitResult:
        self._note(f"elicitation/create {params.message[:_SHOWN]!r}: {self._answer}")
        return ElicitResult(self.action)

    async def _elicit_url(self, params: ElicitUrlParams) -> ElicitResult:
        self._note(f"elicitation/create {params.message[:_SHOWN]!r} (a page): {self._answer}")
        return ElicitResult(self.action)

    async def _sample(self, params: CreateMessageParams) -> str:
        self._note(f"sampling/createMessage with {len(params.messages)} messages: refused")
        raise SamplingRefusedError("User rejected sampling request")

    async def _roots(self) -> list[str]:
        self._note("roots/list: answered with an empty list")
        return []

    @property
    def _answer(self) -> str:
        return "declined" if self.action == "decline" else "cancelled"

    def _note(self, text: str) -> None:
        self.asked.append(text)
