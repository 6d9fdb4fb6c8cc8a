"""From the text of a configuration file to the servers in it and to what is wrong with it. Pure.

A file that its host cannot read is read here all the same, as far as that goes: whoever has lost a comma
wants to know both that the host reads nothing, and what it would read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from mesero.host.entries import ServerEntry, entry_of
from mesero.host.hosts import HOSTS, SERVER_KEYS, HostRules, choose_host
from mesero.host.jsonc import parse_jsonc
from mesero.host.nodes import Document, Member, Node, Place, TextError
from mesero.host.problems import ConfigProblem, Report, Source
from mesero.host.shapes import check_shape
from mesero.host.toml import parse_toml
from mesero.host.values import check_name, check_values
from mesero.host.yaml import parse_yaml

__all__ = [
    "ConfigFile",
    "check_across",
    "decode_text",
    "format_of",
    "parse_text",
    "read_config",
    "servers_in",
    "unreadable",
]

_SPELLINGS = {
    key.lower().replace("_", "").replace("-", ""): key
    for key in (*SERVER_KEYS, "mcpServer", "contextServers", "mcp_server", "extension", "server")
}
_REMARKS = {
    "comment": ("comments", "a comment", "Take the comments out"),
    "trailing-comma": ("trailing_commas", "a comma behind the last member", "Take this comma out"),
}


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file, read: the servers in the order of the file, and what is wrong.

    Attributes:
        source: Where it is and whose.
        entries: The servers that could be made out.
        problems: In the order of the file.
        is_readable: Whether the host can read the file at all.
    """

    source: Source
    entries: tuple[ServerEntry, ...] = ()
    problems: tuple[ConfigProblem, ...] = ()
    is_readable: bool = True


def format_of(path: str) -> Literal["json", "toml", "yaml"]:
    """The format of a file, by its name."""
    lowered = path.lower()
    if lowered.endswith(".toml"):
        return "toml"
    return "yaml" if lowered.endswith((".yaml", ".yml")) else "json"


def parse_text(text: str, path: str, *, along: Sequence[str] | None = None) -> Document:
    """The document of a file's text, by the format that the file's name says.

    Args:
        text: The text.
        path: The name of the file.
        along: See `parse_jsonc`.

    Raises:
        TextError: it is not of that format.
        UsageError: it is YAML, and PyYAML is not installed.
    """
    if format_of(path) == "json":
        return parse_jsonc(text, along=along)
    return parse_toml(text) if format_of(path) == "toml" else parse_yaml(text)


def decode_text(data: bytes) -> str:
    """The text of a file's bytes; a byte order mark stays.

    Raises:
        TextError: the bytes are no UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        place = Place(before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
        is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
        what = "the file is UTF-16" if is_wide else f"the byte 0x{data[error.start]:02x} is no UTF-8"
        raise TextError(what, place, "Save the file as UTF-8") from None


def servers_in(document: Document, source: Source) -> tuple[tuple[str, ...], Node | None]:
    """Where in a document the servers stand, and what stands there; None where nothing does."""
    rules = HOSTS[source.host]
    places = [source.at] if source.at else sorted(rules.at, key=len, reverse=True)
    for at in places:
        node = document.root.find(*at)
        if node is not None and (len(at) == 1 or isinstance(node.value, dict)):
            return at, node
    return places[-1], None


def read_config(
    text: str, source: Source, *, environment: Mapping[str, str] | None = None, is_asked_for: bool = False
) -> ConfigFile:
    """The servers of a text, and everything that is wrong with it.

    Args:
        text: The text of the file.
        source: Where it is from; a ``host`` of "" is made out by the path and the content.
        environment: The variables that the host will have; None leaves out what depends on them.
        is_asked_for: Whether somebody named this very file, and expects servers in it.
    """
    try:
        document = parse_text(text, source.file, along=source.at or None)
    except TextError as error:
        return unreadable(error, _known(source, None))
    source = _known(source, document.root.value)
    rules = HOSTS[source.host]
    report = Report(source, document)
    # The same file is also read for the user, and has had its say there.
    is_first = source.scope != "local"
    if is_first:
        _check_strictness(report, rules)
    at, node = servers_in(document, source)
    if not isinstance(document.root.value, dict):
        report.add("not-an-object", document.root.start, "the file is no object", f"Write {_skeleton(at)}")
    elif node is not None and node.value is not None and not isinstance(node.value, dict):
        report.add(
            "not-an-object",
            node.start,
            f"{at[-1]!r} is no object",
            f'Write {{"name": {{"{rules.command}": "…"}}}}',
        )
    elif is_first:
        _check_keys(report, rules, at, is_found=node is not None, is_asked_for=is_asked_for)
        _check_repeated_keys(report, at)
    entries = [_read_server(report, rules, member, environment) for member in _counted(report, node)]
    problems = sorted(report.problems, key=lambda one: (one.line, one.column))
    is_readable = not any(one.code in _UNREADABLE and one.severity == "error" for one in problems)
    return ConfigFile(
        source=source, entries=tuple(entries), problems=tuple(problems), is_readable=is_readable
    )


_UNREADABLE = frozenset({"syntax", "comments", "trailing-comma", "not-an-object"})


def unreadable(error: TextError, source: Source) -> ConfigFile:
    """A file that nobody can read."""
    title = HOSTS[source.host].title if source.host else "the host"
    problem = ConfigProblem(
        code="syntax",
        message=f"{error.what}; {title} reads nothing of the file",
        fix=error.fix,
        file=source.file,
        line=error.place.line,
        column=error.place.column,
        severity="error",
    )
    return ConfigFile(source=source, problems=(problem,), is_readable=False)


def _known(source: Source, root: Any) -> Source:
    host = source.host or choose_host(source.file, root)
    return Source(file=source.file, host=host, scope=source.scope, at=source.at)


def _skeleton(at: Sequence[str]) -> str:
    opening = "".join(f'{{"{key}": ' for key in at)
    return f"{opening}{{}}{'}' * len(at)}"


def _check_strictness(report: Report, rules: HostRules) -> None:
    """What strict JSON does not allow: once a kind, at the first place."""
    for remark in report.document.remarks:
        if remark.kind == "bom":
            report.add(
                "bom",
                remark.offset,
                "the file begins with a byte order mark, which many readers of JSON refuse",
                "Save it as UTF-8 without one",
                severity="warning",
            )
    for kind, (name, what, fix) in _REMARKS.items():
        first = next((one for one in report.document.remarks if one.kind == kind), None)
        allowed = getattr(rules, name)
        if first is None or allowed is True:
            continue
        reads = (
            f"{rules.title} reads nothing of such a file" if allowed is False else "not every host reads that"
        )
        code = "comments" if kind == "comment" else kind
        report.add(
            code,
            first.offset,
            f"{what}, which is no JSON: {reads}",
            fix,
            severity="error" if allowed is False else "warning",
        )


def _check_keys(
    report: Report, rules: HostRules, at: Sequence[str], *, is_found: bool, is_asked_for: bool
) -> None:
    """Servers that stand under another name than the one that the host reads."""
    root = report.document.root
    for member in root.members:
        meant = _SPELLINGS.get(member.key.lower().replace("_", "").replace("-", ""))
        if meant is None or member.key == at[0] or member.key in _used_otherwise(rules):
            continue
        inner = _servers_below(member.node.value)
        if not inner:
            continue
        whose = f", which is the word of {SERVER_KEYS[member.key]}" if member.key in SERVER_KEYS else ""
        report.add(
            "wrong-key",
            member.start,
            f"{rules.title} reads no {member.key!r}{whose}: {_count(len(inner))} not loaded",
            _fix_of_key(at, is_found=is_found, is_deep=inner is not member.node.value),
        )
        is_found = True
    if is_found or not root.members:
        return
    bare = [member for member in root.members if _looks_like_server(member.node.value)]
    if bare:
        report.add(
            "missing-key",
            bare[0].start,
            f"{bare[0].key!r} stands at the top of the file: {_count(len(bare))} not loaded",
            f'Put it into {{"{at[0]}": {{…}}}}',
        )
    elif is_asked_for:
        report.add(
            "no-servers",
            root.start,
            f"there is no {'.'.join(at)!r} in the file",
            f"Write {_skeleton(at)}",
            severity="warning",
        )


def _servers_below(value: Any) -> dict[str, Any]:
    """The servers in an object, or in a member of it that has the name of servers; else nothing."""
    if not isinstance(value, dict):
        return {}
    if any(_looks_like_server(one) for one in value.values()):
        return value
    return next((found for key in SERVER_KEYS if (found := _servers_below(value.get(key)))), {})


def _fix_of_key(at: Sequence[str], *, is_found: bool, is_deep: bool) -> str:
    if len(at) > 1:
        return f"Move it into {'.'.join(at[:-1])!r}, as {at[-1]!r}"
    if is_found or is_deep:
        return f"Move its servers into {at[0]!r}"
    return f"Rename it to {at[0]!r}"


def _count(number: int) -> str:
    return "1 server is" if number == 1 else f"{number} servers are"


def _used_otherwise(rules: HostRules) -> frozenset[str]:
    return frozenset(at[0] for at in rules.at)


def _looks_like_server(value: Any) -> bool:
    return isinstance(value, dict) and bool(
        value.keys() & {"command", "url", "cmd", "serverUrl", "httpUrl", "uri"}
    )


def _check_repeated_keys(report: Report, at: Sequence[str]) -> None:
    """The way to the servers stands there twice, so that the first ones are lost."""
    node: Node | None = report.document.root
    for key in at:
        if node is None:
            return
        for first, again in node.repeated():
            if again.key == key:
                report.add(
                    "duplicate-member",
                    first.start,
                    f"{key!r} stands in the file twice: only the one in line "
                    f"{report.document.place(again.start).line} counts, and what is here is not loaded",
                    "Make one of the two",
                )
        node = node.find(key)


def _counted(report: Report, node: Node | None) -> list[Member]:
    """The members that count: of those with one name the last, and what is wrong with the others said."""
    if node is None or not isinstance(node.value, dict):
        return []
    for first, again in node.repeated():
        report.add(
            "duplicate-in-file",
            first.start,
            f"{first.key!r} stands in the file twice: only the one in line "
            f"{report.document.place(again.start).line} is used",
            "Rename one of them, or take it out",
            severity="warning",
            server=first.key,
        )
    return [member for member in node.members if node.find_member(member.key) is member]


def _read_server(
    report: Report, rules: HostRules, member: Member, environment: Mapping[str, str] | None
) -> ServerEntry:
    is_nested = member.key in SERVER_KEYS and "command" not in _members_of(member.node.value)
    if is_nested and _servers_below(member.node.value):
        report.add(
            "nested-servers",
            member.start,
            f"{member.key!r} stands among the servers, and has servers in it: they are not loaded",
            f"Move what is in this {member.key!r} one level up, and take it out",
            server=member.key,
        )
    else:
        check_name(report, member, rules)
        check_shape(report, member, rules)
        check_values(report, member, rules, environment)
    place = report.document.place(member.start)
    source = report.source
    return entry_of(member, rules, scope=source.scope, file=source.file, line=place.line, column=place.column)


def _members_of(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _used(entry: ServerEntry, before: ServerEntry) -> str:
    """Which of two is the one that counts, told apart by the file, or by its line."""
    if entry.file != before.file:
        return f"the one from {entry.file}"
    return f"the one for this folder, in line {entry.line} of the same file,"


def check_across(files: Sequence[ConfigFile]) -> list[ConfigProblem]:
    """Servers that several files of one host name: which of them is used.

    Args:
        files: In the order in which the later one wins.
    """
    problems = []
    seen: dict[tuple[str, str], ServerEntry] = {}
    for entry in (entry for file in files for entry in file.entries):
        before = seen.get((entry.host, entry.name))
        seen[entry.host, entry.name] = entry
        if before is None or (before.file == entry.file and before.scope == entry.scope):
            continue
        title = HOSTS[entry.host].title
        problems.append(
            ConfigProblem(
                code="duplicate-across-files",
                message=f"{entry.name!r} is there twice for {title}: {_used(entry, before)} is used",
                fix="Rename one of them, or take it out",
                file=before.file,
                line=before.line,
                column=before.column,
                severity="warning",
                server=entry.name,
            )
        )
    return problems
