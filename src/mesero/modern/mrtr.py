"""Multi round-trip requests, the client's side: from a result that asks to the parameters of the retry. Pure.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Raw

from mesero.types import InputRequiredResult

__all__ = ["MAX_ROUNDS", "params_for_retry"]

MAX_ROUNDS = 10
"""How often a server may ask before a call is given up."""


def params_for_retry(
    params: Mapping[str, Any], asked: InputRequiredResult, answers: Mapping[str, Raw]
) -> dict[str, Any]:
    """The parameters of the next round: the original ones, the answers, and the state exactly as it came.

    https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#client-requirements-basic-workflow
    """
    retry = {
        name: value
        for name, value in params.items()
        if name not in ("_meta", "inputResponses", "requestState")
    }
    if asked.input_requests is not UNSET:
        retry["inputResponses"] = dict(answers)
    # "the client MUST echo back the exact value of that field"; "If the InputRequiredResult does not contain
    # a requestState field, the client MUST NOT include one in the retry."
    if asked.request_state is not UNSET:
        retry["requestState"] = asked.request_state
    return retry
