"""What keeps a program from being started."""

from __future__ import annotations

from typing import Final

from mesero.doctor.report import Text

__all__ = ["TEXTS"]

TEXTS: Final[dict[str, Text]] = {
    "LAUNCH-1": Text(
        "The program is installed, but not on this PATH",
        "launch",
        "client",
        "Put its absolute path into `command`, or its folder into PATH of `env`.",
    ),
    "LAUNCH-2": Text(
        "The program is not installed here",
        "launch",
        "client",
        "Install it, or correct the name in `command`.",
    ),
    "LAUNCH-3": Text(
        "The program cannot be run",
        "launch",
        "client",
        "Make it executable (chmod +x) with a first line like #!/bin/sh, or start its interpreter.",
    ),
    "LAUNCH-4": Text(
        "The whole command line stands where only the program belongs",
        "launch",
        "client",
        "Put the program into `command` and each of its arguments into `args`.",
    ),
    "LAUNCH-5": Text(
        "The working directory does not exist",
        "launch",
        "client",
        "Correct `cwd`, or make the folder.",
    ),
    "LAUNCH-6": Text(
        "A variable reaches the server unexpanded",
        "launch",
        "client",
        "Write the value itself, or start the server where the variable is expanded.",
        confidence="likely",
    ),
    "LAUNCH-7": Text(
        "`env` replaces PATH instead of adding to it",
        "launch",
        "client",
        "Leave PATH out of `env`, or list the folders of the usual PATH in it, too.",
    ),
    "LAUNCH-8": Text(
        "The program is a .cmd shim, which cannot be started directly",
        "launch",
        "client",
        "Start it as `cmd /c NAME …`, or start node.exe with the script; keep PATHEXT and COMSPEC in `env`.",
    ),
    "LAUNCH-9": Text(
        "The package manager is still installing",
        "launch",
        "client",
        "Install it once outside of the host, and point `command` at the installed program: hosts that stop "
        "an installation at their limit begin anew each time.",
        confidence="likely",
    ),
    "LAUNCH-11": Text(
        "The command serves HTTP, and the host speaks to its stdin",
        "launch",
        "client",
        "Start it in its mode for stdio (often --stdio, or --transport stdio), or give the host its URL.",
        confidence="likely",
    ),
    "LAUNCH-12": Text(
        "The command starts nothing: it names an interpreter or a launcher, and no program for it",
        "launch",
        "client",
        "Put the script or the package into `args`.",
    ),
    "LAUNCH-10": Text(
        "The command waits for an answer that only a person can give",
        "launch",
        "client",
        "Run the command once in a terminal and answer, or give the answer with an option; hosts cannot.",
        confidence="likely",
    ),
}
"""By code."""
