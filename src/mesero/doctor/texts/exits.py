"""Why a server ended before it answered, by its last words: see `mesero.doctor.stderr`."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "EXIT-1": Text(
        "A module or package that the server needs is not installed",
        "launch",
        "server",
        "Install what is missing into the environment that this command uses.",
    ),
    "EXIT-2": Text(
        "The server lacks a setting",
        "launch",
        "client",
        "Set it in `env` of the configuration: hosts do not pass on the variables of your shell.",
        confidence="likely",
    ),
    "EXIT-3": Text(
        "The arguments are not those that the server wants",
        "launch",
        "client",
        "Correct the arguments: a subcommand or an option is missing or wrong.",
    ),
    "EXIT-4": Text(
        "The script does not exist",
        "launch",
        "client",
        "Correct the path in `args`; an absolute one does not depend on the working directory.",
    ),
    "EXIT-5": Text(
        "The server ends because something that it needs cannot be reached",
        "launch",
        "server",
        "Start or correct what it connects to. A server should answer first, and tell this in its results.",
        confidence="likely",
    ),
    "EXIT-6": Text(
        "The server does not run on this version of its language",
        "launch",
        "client",
        "Start it with the version that it is written for.",
        confidence="likely",
    ),
    "EXIT-7": Text(
        "A port that the server wants is taken",
        "launch",
        "client",
        "End the other process (often an earlier start of the same server), or choose another port.",
    ),
    "EXIT-8": Text(
        "The server lacks a variable of the usual environment",
        "launch",
        "client",
        "Add to the environment instead of replacing it: HOME and PATH belong in it.",
        confidence="likely",
    ),
    "EXIT-10": Text(
        "The server does not fit the version of a library that it uses",
        "launch",
        "server",
        "Install a newer version of the server, or the version of the library that it was written for: of "
        "the official SDK for Python often `mcp<2` (uvx --with 'mcp<2' SERVER, or pip install 'mcp<2').",
        confidence="likely",
    ),
    "EXIT-9": Text(
        "The package does not exist under this name",
        "launch",
        "client",
        "Correct the name or the version of the package in `args`.",
    ),
}
"""By code."""
