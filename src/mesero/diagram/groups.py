"""Which rows belong together: the rounds of a request that asks questions, and the life of a subscription.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from __future__ import annotations

from typing import Any

from mesero.audit.evidence import SUBSCRIPTION_KEY, Evidence, members_of
from mesero.audit.link import IdKey, find_id_key
from mesero.diagram.model import Group, Row

__all__ = ["Grouping"]

_LISTEN = "subscriptions/listen"
_MAX_WAITING = 1000


class Grouping:
    """Finds the group of each message of one link."""

    def __init__(self, groups: list[Group]) -> None:
        self._groups = groups
        self._listens: dict[IdKey, int] = {}
        # What waits for its next round: method, name and state → the index of the group.
        self._waiting: dict[tuple[str, str, Any], int] = {}

    def place(self, evidence: Evidence, row: Row, index: int, rows: list[Row]) -> None:
        """Put a row into its group, if it has one."""
        found = -1
        if evidence.kind == "request":
            found = self._place_request(evidence, row, index)
        elif evidence.kind == "notification":
            key = find_id_key(evidence.meta.get(SUBSCRIPTION_KEY))
            found = self._listens.get(key, -1) if key is not None else -1
            if found < 0 and row.request >= 0:
                found = rows[row.request].group
        elif evidence.kind in ("result", "error") and row.request >= 0:
            found = self._place_answer(evidence, row, rows)
        if found >= 0:
            row.group = found
            self._groups[found].last = index

    def _place_request(self, evidence: Evidence, row: Row, index: int) -> int:
        if evidence.method == _LISTEN:
            wanted = ", ".join(members_of(evidence.params.get("notifications"))) or "nothing"
            group = self._begin(Group("subscription", f"subscription: {wanted}", row.link, index, index))
            key = evidence.id_key
            if key is not None:
                self._listens[key] = group
            return group
        if "inputResponses" not in evidence.params and "requestState" not in evidence.params:
            return -1
        found = self._waiting.pop(_key_of(evidence.method, evidence.params, evidence.params), -1)
        if found >= 0:
            self._groups[found].rounds += 1
        return found

    def _place_answer(self, evidence: Evidence, row: Row, rows: list[Row]) -> int:
        request = rows[row.request]
        if evidence.result.get("resultType") != "input_required" or evidence.asked is None:
            return request.group
        if request.group < 0:
            group = Group("rounds", f"{request.label}: in rounds", row.link, row.request, row.request)
            request.group = self._begin(group)
        if len(self._waiting) < _MAX_WAITING:
            params = {"name": evidence.asked.name}
            self._waiting[_key_of(evidence.asked.method, params, evidence.result)] = request.group
        return request.group

    def _begin(self, group: Group) -> int:
        self._groups.append(group)
        return len(self._groups) - 1


def _key_of(method: str, params: dict[str, Any], state: dict[str, Any]) -> tuple[str, str, Any]:
    name = params.get("uri") if method == "resources/read" and "uri" in params else params.get("name")
    held = state.get("requestState")
    return method, name if isinstance(name, str) else "", held if isinstance(held, str) else None
