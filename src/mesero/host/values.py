"""Checks of what an entry says: variables that nobody follows, secrets in clear, odd names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from mesero.host.hosts import HOSTS, HostRules
from mesero.host.nodes import Member, Node
from mesero.host.problems import Report, Severity
from mesero.host.variables import EXAMPLES, Form, Reference, references_in
from mesero.trace.sensitive import is_secret_header, is_secret_name, secret_spans

__all__ = ["check_name", "check_values", "is_placeholder"]

_TOOL_NAME_CHARACTERS: Final = 64
"""What the interfaces of models let a tool's name have."""
_FEWEST_LEFT: Final = 24
"""With less than this for the tool's own name, names of real servers no longer fit."""
_TOOL_CHARACTERS = re.compile(r"[A-Za-z0-9_-]+")
_PLACEHOLDER = re.compile(
    r"<[A-Za-z][\w -]*>|\[?your[-_ ]?[\w -]*(?:key|token|secret|password|id)[\w -]*\]?|x{4,}|\.\.\."
    r"|\[?my[-_ ]?[a-z_ -]*(?:key|token|secret|password|id)[a-z_ -]*\]?|changeme"
    r"|(?:insert|replace|put|paste)[-_ ]\w[\w -]*|/(?:absolute/)?path/to/.*",
    re.IGNORECASE,
)
_PLAIN_PLACEHOLDER = re.compile(
    r"<[\w -]*>|\[?your[-_ ][\w -]*\]?|x+|changeme|[a-z]+[-_ ]your[-_ ].*", re.IGNORECASE
)
"""Of those the ones that nobody has for a password."""
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1", "host.docker.internal"})


class _Text(NamedTuple):
    """One text of an entry: in which member, under which name, and where."""

    field: str
    name: str
    node: Node


def _texts_in(node: Node, rules: HostRules) -> Iterator[_Text]:
    for member in node.members:
        field, inner = member.key, member.node
        if isinstance(inner.value, str):
            yield _Text(field, field, inner)
        for item in inner.items:
            if isinstance(item.value, str):
                yield _Text(field, field, item)
        if field in (rules.env, rules.headers, rules.command):
            for below in inner.members:
                if isinstance(below.node.value, str):
                    yield _Text(field, below.key, below.node)


def is_placeholder(text: str) -> bool:
    """Whether a text is an example's, beyond doubt, so that it may be shown where the value is a secret."""
    value = _bare(text)
    return bool(_PLACEHOLDER.fullmatch(value) and _PLAIN_PLACEHOLDER.fullmatch(value))


def _bare(text: str) -> str:
    return text.removeprefix("Bearer ").strip()


def check_values(
    report: Report, member: Member, rules: HostRules, environment: Mapping[str, str] | None
) -> None:
    """Report what is wrong with the texts of one server.

    Args:
        report: Takes the problems.
        member: The server.
        rules: The rules of its host.
        environment: The variables that the host will have; None where nobody knows.
    """
    read = {rules.command, rules.args, rules.env, rules.cwd, rules.headers, *rules.urls}
    for text in _texts_in(member.node, rules):
        if text.field not in read:
            continue
        for reference in references_in(text.node.value):
            _check_reference(report, member.key, rules, text, reference, environment=environment)
        _check_placeholder(report, member.key, text)
        _check_tilde(report, member.key, rules, text)
        _check_secret(report, member.key, rules, text)
        if text.field in rules.urls:
            _check_url(report, member.key, text)


def _check_reference(
    report: Report,
    server: str,
    rules: HostRules,
    text: _Text,
    reference: Reference,
    *,
    environment: Mapping[str, str] | None,
) -> None:
    written = text.node.value[reference.start : reference.end]
    is_followed = reference.form in rules.forms and (not rules.expands or text.field in rules.expands)
    place = f"in {_place_of(text)}"
    if not is_followed:
        if _is_for_a_shell(rules, text, reference):
            return
        report.add(
            "variable-not-expanded",
            text.node.start,
            f"{server!r}: {written} {place} is passed on as it stands: {_how(rules, text.field)}",
            _instead(rules, text.field, reference),
            severity="error" if rules.name != "plain" else "info",
            server=server,
        )
    elif reference.form == "input":
        _check_input(report, server, text, reference.name)
    elif _is_unset(reference, environment):
        report.add(
            "variable-unset",
            text.node.start,
            f"{server!r}: {place[3:]} needs the variable {reference.name}, which is not set here",
            f"Set {reference.name} where {rules.title} is started, and start it anew",
            severity="warning",
            server=server,
        )


def _place_of(text: _Text) -> str:
    return f"{text.name!r} of {text.field!r}" if text.name != text.field else repr(text.field)


def _is_unset(reference: Reference, environment: Mapping[str, str] | None) -> bool:
    if environment is None or reference.default is not None or reference.form == "named":
        return False
    return not environment.get(reference.name)


def _is_for_a_shell(rules: HostRules, text: _Text, reference: Reference) -> bool:
    """An argument such as ``echo $HOME`` may be meant for a shell that the server is started with."""
    return text.field == rules.args and reference.form in ("bare", "percent") and " " in text.node.value


def _how(rules: HostRules, field: str) -> str:
    if not rules.forms:
        return f"{rules.title} expands no variables" if rules.name != "plain" else "few hosts expand it"
    if rules.expands and field not in rules.expands:
        return f"{rules.title} expands variables in {' and '.join(rules.expands)} only"
    return f"{rules.title} writes variables differently"


def _instead(rules: HostRules, field: str, reference: Reference) -> str:
    order: tuple[Form, ...] = ("env", "braces", "curly", "bare")
    form = next((one for one in order if one in rules.forms), None)
    if reference.form in ("named", "input") and form is not None:
        return "Write the value itself"
    if form is None or (rules.expands and field not in rules.expands):
        if field == rules.env:
            return (
                f"Write the value itself, or leave it out and set {reference.name} where {rules.title} starts"
            )
        return "Write the value itself"
    return f"Write {EXAMPLES[form] % reference.name}"


def _check_input(report: Report, server: str, text: _Text, name: str) -> None:
    inputs = report.document.root.find("inputs") or report.document.root.find("mcp", "inputs")
    items = inputs.value if inputs is not None and isinstance(inputs.value, list) else []
    if any(isinstance(item, dict) and item.get("id") == name for item in items):
        return
    report.add(
        "input-undefined",
        text.node.start,
        f"{server!r}: there is no input {name!r}",
        f'Add to "inputs": {{"type": "promptString", "id": "{name}", "description": "…", "password": true}}',
        server=server,
    )


def _check_placeholder(report: Report, server: str, text: _Text) -> None:
    value = _bare(text.node.value)
    if _PLACEHOLDER.fullmatch(value):
        is_shown = is_placeholder(value) or text.name == text.field
        shown = repr(value) if is_shown else f"a text of {len(value)} characters"
        report.add(
            "placeholder",
            text.node.start,
            f"{server!r}: {_place_of(text)} is {shown}, which is what an example had there",
            "Write the real value",
            severity="warning",
            server=server,
        )


def _check_tilde(report: Report, server: str, rules: HostRules, text: _Text) -> None:
    if text.field in (rules.command, rules.args, rules.cwd) and text.node.value.startswith("~/"):
        report.add(
            "tilde-not-expanded",
            text.node.start,
            f"{server!r}: ~ is a word of shells, and no shell is started: {text.node.value!r} is not found",
            "Write the whole path of your home folder",
            severity="warning",
            server=server,
        )


def _check_secret(report: Report, server: str, rules: HostRules, text: _Text) -> None:
    value: str = text.node.value
    if references_in(value) or _PLACEHOLDER.fullmatch(_bare(value)) or len(value) < 4:
        return
    is_named = (text.field == rules.env and is_secret_name(text.name)) or (
        text.field == rules.headers and is_secret_header(text.name, is_request=False)
    )
    if text.field in rules.urls or not (is_named or secret_spans(value)):
        return
    is_shared = report.source.scope == "project"
    severity: Severity = "warning" if is_shared else "info"
    where = _place_of(text)
    whom = ", in a file that others get with the project" if is_shared else ""
    report.add(
        "secret-in-clear",
        text.node.start,
        f"{server!r}: {where} holds a secret of {len(value)} characters in clear{whom}",
        _hidden(rules, text),
        severity=severity,
        server=server,
    )


def _hidden(rules: HostRules, text: _Text) -> str:
    name = re.sub(r"\W+", "_", text.name).upper() if text.name != text.field else "TOKEN"
    if rules.name == "codex" and text.field == rules.headers:
        return f'Put it into a variable: env_http_headers = {{ "{text.name}" = "{name}" }}'
    order: tuple[Form, ...] = ("input", "env", "braces", "curly")
    form = next((one for one in order if one in rules.forms), None)
    if form is None or (rules.expands and text.field not in rules.expands):
        return f"{rules.title} expands no variables there: keep the file to yourself, and out of repositories"
    return f"Put it into a variable and write {EXAMPLES[form] % (name.lower() if form == 'input' else name)}"


def _check_url(report: Report, server: str, text: _Text) -> None:
    value: str = text.node.value
    if references_in(value):
        return
    try:
        parts = urlsplit(value)
        host = parts.hostname
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        report.add(
            "url-not-http",
            text.node.start,
            f"{server!r}: {value!r} is no http:// or https:// URL",
            f"Write https://{value.rpartition('://')[2]}" if value else "Write the URL of the server",
            server=server,
        )
    elif parts.scheme == "http" and host not in _LOCAL:
        report.add(
            "url-not-encrypted",
            text.node.start,
            f"{server!r}: everything sent to {host} can be read on the way",
            f"Write https{value[4:]}, if the server has it",
            severity="warning",
            server=server,
        )
    if secret_spans(value):
        report.add(
            "secret-in-url",
            text.node.start,
            f"{server!r}: there is a secret in the URL, and URLs end up in logs",
            "Send it in a header, if the server takes it there",
            severity="warning" if report.source.scope == "project" else "info",
            server=server,
        )


def check_name(report: Report, member: Member, rules: HostRules) -> None:
    """Report what is wrong with the name of one server: it becomes part of the names of its tools."""
    name = member.key
    if not name.strip():
        report.add("name-empty", member.start, "a server without a name", "Give it one", server=name)
        return
    prefix = rules.tool_prefix
    left = _TOOL_NAME_CHARACTERS - len((prefix or "%s_") % name)
    if left < _FEWEST_LEFT:
        report.add(
            "name-too-long",
            member.start,
            f"{name!r} has {len(name)} characters and goes into every tool's name: models take names of "
            f"{_TOOL_NAME_CHARACTERS}, which leaves {max(left, 0)} for the tool's own",
            "Choose a shorter name",
            severity="warning",
            server=name,
        )
    if not _TOOL_CHARACTERS.fullmatch(name):
        odd = "".join(dict.fromkeys(char for char in name if not _TOOL_CHARACTERS.fullmatch(char)))
        report.add(
            "name-characters",
            member.start,
            f"{name!r} has {odd!r} in it; models take names of tools with letters, digits, _ and - only",
            f"Call it {re.sub(r'[^A-Za-z0-9_-]+', '-', name).strip('-') or 'server'!r}",
            severity="warning",
            server=name,
        )
    elif rules.name == "gemini" and "_" in name:
        report.add(
            "name-characters",
            member.start,
            f"{name!r} has an underscore: {HOSTS['gemini'].title} takes a tool's name apart at underscores",
            f"Call it {name.replace('_', '-')!r}",
            severity="warning",
            server=name,
        )
