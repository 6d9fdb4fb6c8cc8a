"""The standing texts of the doctor's diagnoses, as data: what is wrong, whose fault, and what to do.

A file for each subject. Here is only what no recording shows (the machine, the network, probes of its own);
what a recording shows is diagnosed by `mesero.audit.causes`, and a broken rule by `mesero.audit.families`:
`mesero.doctor.judging` takes those over.
"""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text
from mesero.doctor.texts import (
    authorization,
    calls,
    config,
    deep,
    exits,
    http,
    launch,
    network,
    protocol,
    shutdown,
    streams,
    tools,
)

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    **config.TEXTS,
    **launch.TEXTS,
    **exits.TEXTS,
    **streams.TEXTS,
    **protocol.TEXTS,
    **tools.TEXTS,
    **calls.TEXTS,
    **deep.TEXTS,
    **shutdown.TEXTS,
    **network.TEXTS,
    **http.TEXTS,
    **authorization.TEXTS,
}
"""Every diagnosis that only the doctor can make, by its code."""
