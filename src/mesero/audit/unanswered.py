"""Which requests of the client were waited for in vain, and for how long: what silence is diagnosed from."""

from __future__ import annotations

from typing import Final

from mesero.audit.evidence import short
from mesero.audit.link import Asked, LinkState

__all__ = ["GIVEN_UP_S", "find_given_up", "find_unanswered", "waited_s", "words_for"]

GIVEN_UP_S: Final = 1.0
"""A request that was cancelled sooner was not waited for in vain, in seconds."""


def waited_s(link: LinkState, one: Asked) -> float:
    """How long a request was open: until it was cancelled, or the trace was over."""
    end = one.cancelled_t if one.cancelled_t is not None else link.last_t
    return end - one.t


def find_unanswered(link: LinkState) -> list[Asked]:
    """Requests of the client that were waited for in vain, in their order: still open, or given up."""
    waiting = [each for (direction, _), each in link.open.items() if direction == "c2s"]
    known = {each.seq for each in waiting}
    waiting += [each for each in link.given_up if each.seq not in known]
    return [
        each
        for each in sorted(waiting, key=lambda one: one.seq)
        if each.method != "subscriptions/listen" and waited_s(link, each) >= GIVEN_UP_S
    ]


def find_given_up(link: LinkState) -> list[Asked]:
    """Requests that the client cancelled after it had waited for them."""
    return [each for each in link.given_up if waited_s(link, each) >= GIVEN_UP_S]


def words_for(one: Asked) -> str:
    """A request in a few words."""
    name = f" {short(one.name)}" if one.name else ""
    return f"`{short(one.method, quoted=False)}`{name} (id {short(one.id)})"
