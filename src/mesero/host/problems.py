"""What is wrong with a configuration file, where, and what to write instead. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from mesero.host.nodes import Document, Place

__all__ = ["CODES", "SEVERITIES", "ConfigProblem", "Report", "Severity", "Source"]

Severity = Literal["error", "warning", "info"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")
"""error: the host does not start the server, or reads nothing at all; warning: not what was meant."""

CODES: Final[Mapping[str, str]] = {
    "syntax": "The host cannot read the file: it is not of its format.",
    "comments": "There are comments in a file whose host reads strict JSON.",
    "trailing-comma": "There is a comma behind the last member, and the host reads strict JSON.",
    "bom": "The file begins with a byte order mark.",
    "not-an-object": "The file, or the member with the servers, is no object.",
    "wrong-key": "The servers stand under the name that another host reads.",
    "missing-key": "The servers stand at the top of the file, not under a name.",
    "nested-servers": "The member with the servers stands inside of itself.",
    "no-servers": "There is nothing in the file where its host looks for servers.",
    "duplicate-member": "A name stands twice in one object: the host reads the last one.",
    "duplicate-in-file": "Two servers of a file have the same name: the host uses the last one.",
    "duplicate-across-files": "Two places of a host have a server of the same name.",
    "entry-not-object": "What stands under a server's name is no object.",
    "wrong-member": "A member has a name that this host does not read.",
    "unknown-member": "A member is probably a slip of the finger.",
    "remote-not-supported": "There is a URL in the file of a host that starts commands only.",
    "command-is-list": "The command is a list where the host wants a program and its arguments apart.",
    "command-not-list": "The command is no list where the host wants one.",
    "command-not-string": "The command is no text.",
    "command-with-arguments": "The arguments stand in the command: no program has such a name.",
    "url-in-command": "The command is a URL.",
    "args-not-list": "The arguments are no list.",
    "arg-not-string": "An argument is no text.",
    "env-not-object": "The environment is no object.",
    "env-value-not-string": "The value of a variable is no text.",
    "headers-not-object": "The headers are no object.",
    "headers-value-not-string": "The value of a header is no text.",
    "no-command-or-url": "There is neither a command nor a URL.",
    "command-and-url": "There are both a command and a URL.",
    "type-missing": "The host wants to be told the type of the server.",
    "type-unknown": "The host knows no such type of server.",
    "type-contradicts": "The type says a command and there is a URL, or the other way round.",
    "url-not-http": "The URL is none of http or https.",
    "url-not-encrypted": "A server on another machine is reached without encryption.",
    "secret-in-url": "There is a secret in the URL.",
    "secret-in-clear": "There is a secret in the file.",
    "variable-not-expanded": "A reference to a variable is passed on as it stands.",
    "variable-unset": "A variable that is needed is not set.",
    "input-undefined": "There is no such input in the file.",
    "placeholder": "The text of an example was not replaced.",
    "tilde-not-expanded": "A path begins with ~, and no shell makes a folder of it.",
    "name-empty": "A server has no name.",
    "name-too-long": "The name leaves too little of the length that a tool's name may have.",
    "name-characters": "The name has characters that the names of tools may not have.",
}
"""Every kind of problem, and what it means."""


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where a text comes from: the file, whose it is, and for whom it holds.

    ``at`` are the member names that lead to the servers in it; empty for where the host looks first.
    """

    file: str
    host: str
    scope: str = "user"
    at: tuple[str, ...] = ()


class ConfigProblem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is wrong: ``code`` names its kind, ``fix`` is an edit that can be made as it is said."""

    code: str
    message: str
    fix: str
    file: str
    line: int
    column: int
    severity: Severity
    server: str | None = None


class Report:
    """Collects the problems of one text.

    Args:
        source: Where the text comes from.
        document: The text, parsed.
    """

    def __init__(self, source: Source, document: Document) -> None:
        self.source = source
        self.document = document
        self.problems: list[ConfigProblem] = []

    def add(
        self,
        code: str,
        at: int | Place,
        message: str,
        fix: str,
        *,
        severity: Severity = "error",
        server: str | None = None,
    ) -> None:
        """One problem more; ``at`` is an offset or a place."""
        place = at if isinstance(at, Place) else self.document.place(at)
        self.problems.append(
            ConfigProblem(
                code=code,
                message=message,
                fix=fix,
                file=self.source.file,
                line=place.line,
                column=place.column,
                severity=severity,
                server=server,
            )
        )
