"""How the time of one examination is divided. Seconds throughout."""

from __future__ import annotations

import msgspec

__all__ = ["Limits"]


class Limits(msgspec.Struct, frozen=True):
    """The limits that follow from the one that the user gives.

    Attributes:
        total_s: For everything, the end of the server included; staying connected comes on top.
        watch_s: How long to stay connected and watch.
        is_deep: Whether odd requests are sent, too.
        may_call: Whether tools are called: then the client answers what they ask.
    """

    total_s: float = 30.0
    watch_s: float = 0.0
    is_deep: bool = False
    may_call: bool = False

    @property
    def connect_s(self) -> float:
        """For a server to start and to answer for the first time."""
        return self.total_s * 0.6

    @property
    def request_s(self) -> float:
        """For one request after that, and for one step of the network."""
        return min(10.0, self.total_s * 0.3)

    @property
    def call_s(self) -> float:
        """For one call of a tool."""
        return self.total_s * 0.3

    @property
    def calls_s(self) -> float:
        """For all calls of tools together."""
        return self.total_s * 0.5

    @property
    def odd_s(self) -> float:
        """For an answer to an odd request, from a server that has answered others."""
        return min(3.0, self.total_s * 0.08)

    @property
    def probe_s(self) -> float:
        """For one look at a silent process without a client."""
        return min(3.0, self.total_s * 0.08)

    @property
    def close_s(self) -> float:
        """For a server to exit when its stdin is closed, and again after SIGTERM.

        Clients wait 2 s or so; a machine that is busy with other things is not the server's fault.
        """
        return min(3.0, self.total_s * 0.1)
