"""For tests of code that uses mesero: scripted servers, both sides in one process, checks of transports.

Knows no test framework; what fails is an AssertionError that reads like a sentence. Shipped with the package,
imported by nothing in it. ``python -m mesero.testing`` runs the echo server over stdio.
"""

from mesero.testing.checks import check_transport
from mesero.testing.echo import echo_server
from mesero.testing.pair import Wire, memory_pair
from mesero.testing.script import Expectation, ScriptedTransport, scripted_server

__all__ = [
    "Expectation",
    "ScriptedTransport",
    "Wire",
    "check_transport",
    "echo_server",
    "memory_pair",
    "scripted_server",
]
