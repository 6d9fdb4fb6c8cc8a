"""Changes of a configuration file: a server more, a server less, the recorder put in front of one. Pure.

Every change is checked before it is handed over: the new text, parsed, must be the old data with exactly that
change. A change that would do anything else is refused, and nothing is written.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mesero.errors import UsageError
from mesero.host import jsonc_edits, toml, yaml
from mesero.host.configs import format_of, parse_text, servers_in
from mesero.host.entries import Launch
from mesero.host.hosts import HOSTS, HostRules, Kind
from mesero.host.nodes import Document, Node, TextError, spliced
from mesero.host.problems import Source

__all__ = ["add_server", "entry_values", "is_traced", "remove_server", "trace_server", "untrace_server"]


def entry_values(rules: HostRules, name: str, launch: Launch, kind: Kind) -> dict[str, Any]:
    """A server as its host writes it down.

    Args:
        rules: The rules of the host.
        name: What the server is called.
        launch: The command or the URL.
        kind: How it is reached.

    Raises:
        UsageError: the host takes no URLs.
    """
    values: dict[str, Any] = {}
    if rules.type_needed == "always" or (rules.type_needed == "url" and launch.url) or rules.name == "vscode":
        values["type"] = rules.type_for(kind)
    if rules.name == "goose":
        values |= {"name": name, "enabled": True, "timeout": 300}
    if launch.url is None:
        first, *args = launch.command
        values |= {rules.command: first, rules.args: args} if rules.args else {rules.command: [first, *args]}
        if launch.env:
            values[rules.env] = dict(launch.env)
        if launch.cwd:
            values[rules.cwd] = launch.cwd
        return values
    if not rules.has_remote:
        raise UsageError(
            f"{rules.title} starts commands only: its file takes no URL", fix="Add it in its settings"
        )
    values[rules.url_for(kind)] = launch.url
    if launch.headers:
        values[rules.headers] = dict(launch.headers)
    return values


def add_server(text: str, source: Source, name: str, values: dict[str, Any]) -> str:
    """The text with a server more.

    Raises:
        UsageError: there is one of that name, or the text is not what its host wants.
    """
    kind = format_of(source.file)
    is_empty = kind == "json" and not text.strip("\ufeff \t\r\n")
    document = _parsed("{}" if is_empty else text, source)
    at, node = servers_in(document, source)
    if node is not None and node.find_member(name) is not None:
        place = document.place(node.find_member(name).start)  # type: ignore[union-attr]  # it was just found
        raise UsageError(
            f"{source.file} has a server {name!r} already, in line {place.line}",
            fix=f"Take it out first: mesero config remove {name} --host {source.host}",
        )
    path = (*at, name)
    try:
        if kind == "json":
            changed = jsonc_edits.set_member(text, path, values)
        elif kind == "toml":
            changed = toml.add_table(text, path, values)
        else:
            changed = yaml.add_member(text, path, values)
    except ValueError as error:
        raise _refused(source, str(error)) from None
    expected = copy.deepcopy(document.root.value)
    _place_in(expected, at)[name] = values
    return _checked(changed, source, expected)


def _place_in(data: Any, at: Sequence[str]) -> Any:
    for key in at:
        if data.get(key) is None:
            data[key] = {}
        data = data[key]
    return data


def remove_server(text: str, source: Source, name: str) -> str:
    """The text without a server.

    Raises:
        UsageError: there is none of that name, or the text is not what its host wants.
    """
    document = _parsed(text, source)
    at, _ = _found(document, source, name)
    path = (*at, name)
    try:
        if format_of(source.file) == "json":
            changed = jsonc_edits.remove_member(text, path)
        elif format_of(source.file) == "toml":
            changed = toml.remove_table(text, path)
        else:
            changed = yaml.remove_block(text, path)
    except ValueError as error:
        raise _refused(source, str(error)) from None
    expected = copy.deepcopy(document.root.value)
    del _place_in(expected, at)[name]
    return _checked(changed, source, expected)


def _parsed(text: str, source: Source) -> Document:
    try:
        return parse_text(text, source.file)
    except TextError as error:
        raise UsageError(
            f"{source.file}, line {error.place.line}, column {error.place.column}: {error.what}",
            fix=f"{error.fix}. Nothing was changed" if error.fix else "Nothing was changed",
        ) from None


def _found(document: Document, source: Source, name: str) -> tuple[tuple[str, ...], Node]:
    at, node = servers_in(document, source)
    server = None if node is None else node.find_member(name)
    if server is None:
        names = ", ".join(member.key for member in node.members) if node is not None else ""
        raise UsageError(
            f"{source.file} has no server {name!r}", fix=f"It has {names}" if names else "It has none"
        )
    return at, server.node


def _refused(source: Source, why: str) -> UsageError:
    return UsageError(f"{source.file} is not changed: {why}", fix="Change it by hand")


def _checked(changed: str, source: Source, expected: Any) -> str:
    """The new text, if it says what it should: a table that has become empty may be gone."""
    try:
        found = parse_text(changed, source.file).root.value
    except TextError as error:
        raise _refused(source, f"the result could not be parsed: {error.what}") from None
    if found != expected and _without_empty(found) != _without_empty(expected):
        raise _refused(source, "the result would not be what was asked for")
    return changed


def _without_empty(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    inner = {key: _without_empty(value) for key, value in data.items()}
    return {key: value for key, value in inner.items() if value != {}}


# -- the recorder --------------------------------------------------------------------------------------------


class _Words(NamedTuple):
    """Where an entry has its program and its arguments: ``program`` is the first of ``items`` in one list."""

    path: tuple[str, ...]
    program: Node
    args: Node | None
    is_one_list: bool

    def texts(self) -> list[Any]:
        items = [] if self.args is None else [item.value for item in self.args.items]
        return items if self.is_one_list else [self.program.value, *items]


def _words_of(server: Node, rules: HostRules, source: Source) -> _Words:
    path: tuple[str, ...] = ()
    program = server.find(rules.command)
    if program is not None and isinstance(program.value, dict):
        path, server, program = (rules.command,), program, program.find("path")
    if program is None:
        raise UsageError(
            f"{source.file}: the server starts no command, so nothing can be put in front of it",
            fix="For a URL there is: mesero trace --listen 127.0.0.1:9000 URL",
        )
    if not rules.args:
        if not program.items:
            raise _refused(source, f"{rules.command!r} is no list")
        return _Words(path, program.items[0], program, is_one_list=True)
    args = server.find(rules.args)
    if args is not None and not isinstance(args.value, list):
        raise _refused(source, f"{rules.args!r} is no list")
    if not isinstance(program.value, str):
        raise _refused(source, f"{rules.command!r} is no text")
    return _Words(path, program, args, is_one_list=False)


def _traced_at(words: Sequence[Any]) -> int | None:
    """The index of the server's own program behind our ``--``; None where the recorder is not in front."""
    if not all(isinstance(word, str) for word in words):
        return None
    program, *rest = words or [""]
    name = re.split(r"[\\/]", program)[-1].lower().removesuffix(".exe")
    start = 2 if rest[:2] == ["-m", "mesero"] else 0
    if (start == 0 and name != "mesero") or rest[start : start + 1] != ["trace"] or "--" not in rest[start:]:
        return None
    own = rest.index("--", start) + 1
    return own + 1 if own < len(rest) else None


def is_traced(words: Sequence[str]) -> bool:
    """Whether a server's command has the recorder in front of it."""
    return _traced_at(words) is not None


def trace_server(text: str, source: Source, name: str, recorder: Sequence[str], output: str) -> str:
    """The text with the recorder in front of a server's command.

    The literals of the entry stay what they are and where they are, but for the program, which moves into the
    list of arguments. ``--output=FILE``, in one word, says that there was no such list before.

    Args:
        text: The text of the file.
        source: Where it is from.
        name: The server.
        recorder: The words that start mesero.
        output: The file to record into.

    Raises:
        UsageError: there is no such server, it has no command, or it is traced already.
    """
    document = _parsed(text, source)
    rules = HOSTS[source.host]
    at, server = _found(document, source, name)
    words = _words_of(server, rules, source)
    if is_traced(words.texts()):
        raise UsageError(f"{name!r} is traced already", fix=f"mesero config untrace {name}")
    path = (*at, name, *words.path)
    program = text[words.program.start : words.program.end]
    first, *more = recorder
    if words.args is None:
        added = [*more, "trace", f"--output={output}", "--", words.program.value]
        changed = spliced(text, (words.program.start, words.program.end, _literal(source, first)))
        changed = _with_args(changed, source, path, rules, words=added, literal=program)
    else:
        added = [*more, "trace", "-o", output, "--"]
        literals = [_literal(source, word) for word in added]
        if words.is_one_list:
            literals = [_literal(source, first), *literals]
            changed = spliced(text, _insertion(text, words.args, literals))
        else:
            literals.append(_movable(text, words.args, words.program, program))
            swap = (words.program.start, words.program.end, _literal(source, first))
            changed = spliced(text, swap, _insertion(text, words.args, literals))
    return _checked(changed, source, _with_words(document, path, words, rules, [first, *added]))


def _literal(source: Source, word: str) -> str:
    if format_of(source.file) == "toml":
        return toml.toml_text_of(word)
    return json.dumps(word, ensure_ascii=False)


def _movable(text: str, args: Node, program: Node, literal: str) -> str:
    """The literal of the program, as it may stand among the arguments."""
    is_plain = literal[:1] not in "\"'" and text[args.start] == "["
    if "\n" in literal or (is_plain and any(mark in literal for mark in ",[]{}")):
        return json.dumps(program.value, ensure_ascii=False)
    return literal


def _insertion(text: str, args: Node, literals: Sequence[str]) -> tuple[int, int, str]:
    """The change that puts literals at the beginning of a list."""
    if not args.items:
        return args.start + 1, args.start + 1, ", ".join(literals)
    at = args.items[0].start
    separator = ", "
    if text[args.start] != "[":  # a list of YAML with a dash a line
        column = args.start - text.rfind("\n", 0, args.start) - 1
        newline = "\r\n" if "\r\n" in text else "\n"
        separator = f"{newline}{' ' * column}- "
    return at, at, "".join(f"{literal}{separator}" for literal in literals)


def _with_args(
    text: str, source: Source, path: Sequence[str], rules: HostRules, *, words: list[Any], literal: str
) -> str:
    """The text with a list of arguments behind the program; its last word keeps the literal that it had."""
    kind = format_of(source.file)
    command = "path" if path[-1] == rules.command else rules.command
    name = "args" if path[-1] == rules.command else rules.args
    if kind == "json":
        text = jsonc_edits.set_member(text, (*path, name), words, after=command)
    else:
        insert = toml.insert_key if kind == "toml" else yaml.insert_member
        text = insert(text, (*path, name), words, after=command)
    args = parse_text(text, source.file).root.find(*path, name)
    assert args is not None  # noqa: S101 - it was just put there
    last = args.items[-1]
    return spliced(text, (last.start, last.end, _movable(text, args, last, literal)))


def _with_words(
    document: Document, path: Sequence[str], words: _Words, rules: HostRules, added: list[Any]
) -> Any:
    """The data that a text must have once the words of a server are changed."""
    expected = copy.deepcopy(document.root.value)
    entry = _place_in(expected, path)
    rest = words.texts() if words.is_one_list else words.texts()[1:]
    if words.is_one_list:
        entry[rules.command] = [*added, *rest]
        return expected
    command, args = ("path", "args") if words.path else (rules.command, rules.args)
    entry[command] = added[0]
    entry[args] = [*added[1:], words.program.value, *rest] if words.args is not None else added[1:]
    return expected


def untrace_server(text: str, source: Source, name: str) -> str:
    """The text as it was before the recorder was put in front of a server's command.

    Raises:
        UsageError: there is no such server, or it is not traced.
    """
    document = _parsed(text, source)
    rules = HOSTS[source.host]
    at, server = _found(document, source, name)
    words = _words_of(server, rules, source)
    own = _traced_at(words.texts())
    if own is None or words.args is None:
        raise UsageError(f"{name!r} is not traced", fix=f"mesero config trace {name} does that")
    items = words.args.items
    expected = copy.deepcopy(document.root.value)
    entry = _place_in(expected, (*at, name, *words.path))
    if words.is_one_list:
        entry[rules.command] = words.texts()[own:]
        return _checked(spliced(text, (items[0].start, items[own].start, "")), source, expected)
    command, args = ("path", "args") if words.path else (rules.command, rules.args)
    program = items[own - 1]  # the first word is not among the arguments
    literal = text[program.start : program.end]
    swap = (words.program.start, words.program.end, literal)
    entry[command] = program.value
    if own == len(items) and any(str(item.value).startswith("--output=") for item in items[: own - 1]):
        del entry[args]
        changed = _without_args(spliced(text, swap), source, (*at, name, *words.path, args))
    else:
        entry[args] = words.texts()[own + 1 :]
        end = items[own].start if own < len(items) else program.end
        changed = spliced(text, (items[0].start, end, ""), swap)
    return _checked(changed, source, expected)


def _without_args(text: str, source: Source, path: Sequence[str]) -> str:
    remove = {"json": jsonc_edits.remove_member, "toml": toml.remove_table, "yaml": yaml.remove_block}
    return remove[format_of(source.file)](text, path)
