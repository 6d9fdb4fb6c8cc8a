"""From the words of a command line to what a `Client` connects to.

A target is a URL, a Python file with a `Server` in it (it runs in this process, over the memory transport),
a command line behind ``--``, or the name of a server in a configuration file: what its host would start is
started, and what it would connect to is connected to.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from mesero.errors import LaunchError, UsageError

if TYPE_CHECKING:
    from mesero.host.configured import ConfiguredServer

__all__ = ["Target", "load_server", "take_target", "target_from"]

_FORMS = (
    "A target is a URL (https://example.com/mcp), a Python file with a Server in it (notes.py, notes.py:x), "
    "a command behind '--' (-- python server.py), or a configured server's name (mesero config shows them)"
)


class Target(NamedTuple):
    """What to connect to: ``value`` is a URL, the words of a command, or ``file.py[:name]``.

    A server from a configuration file also has what its host does for it: environment, folder, headers.
    """

    kind: Literal["url", "command", "file"]
    value: Any
    server: ConfiguredServer | None = None


def take_target(
    words: Sequence[str], command: Sequence[str] | None, *, config: str | None = None
) -> tuple[Target, list[str]]:
    """The target, and the words that are left.

    Args:
        words: What stands before ``--``.
        command: What stands behind it, None without one.
        config: The file to look for names in; None for those of the installed hosts.

    Raises:
        UsageError: there is no target, or two.
    """
    if command is not None:
        if not command:
            raise UsageError("there is no command behind '--'", fix=_FORMS)
        if words and _is_target(words[0]):
            raise UsageError(
                f"two targets: {words[0]!r} and the command behind '--'", fix="Leave one of them out"
            )
        return Target("command", list(command)), list(words)
    if not words:
        raise UsageError("no target is given", fix=_FORMS)
    return target_from(words[0], config=config), list(words[1:])


def _is_target(word: str) -> bool:
    return _is_url(word) or _is_file(word)


def _is_url(word: str) -> bool:
    return word.startswith(("http://", "https://"))


def _is_file(word: str) -> bool:
    path, _, _ = word.rpartition(":")
    return word.endswith(".py") or path.endswith(".py")


def target_from(word: str, *, config: str | None = None) -> Target:
    """The target that one word names.

    Args:
        word: As it was typed.
        config: See `take_target`.

    Raises:
        UsageError: it names none, or several.
    """
    if _is_url(word):
        return Target("url", word)
    if _is_file(word):
        return Target("file", word)
    found = _find_configured(word, config) if word else None
    if found is None:
        raise UsageError(f"{word!r} is no target", fix=_FORMS)
    launch = found.launch
    return Target("command" if launch.command else "url", list(launch.command) or launch.url, found)


def _find_configured(word: str, config: str | None) -> ConfiguredServer | None:
    # Only a word that is nothing else is worth the reading of files, and what that imports.
    from mesero.cli.configured import find_server
    from mesero.host.places import this_machine

    return find_server(word, this_machine(), Path.cwd(), config)


def load_server(word: str) -> Any:
    """The `Server` in a Python file; the file is run as a module for that, not as a program.

    Args:
        word: ``notes.py``, or ``notes.py:name`` where the file has several.

    Raises:
        UsageError: no such file, or no such server in it.
        LaunchError: the file itself fails.
    """
    text, name = (word, "") if word.endswith(".py") else word.rsplit(":", 1)
    path = Path(text)
    if not path.is_file():
        raise UsageError(f"there is no file {text!r}")
    servers = {key: value for key, value in vars(_load(path)).items() if _is_server(value)}
    if name:
        if name not in servers:
            raise UsageError(f"{text} has no Server called {name!r}; it has {', '.join(servers) or 'none'}")
        return servers[name]
    different = {id(server): server for server in servers.values()}
    if len(different) != 1:
        has = f"several: {', '.join(servers)}" if servers else "none"
        fix = (
            f"Name one: {text}:{next(iter(servers))}"
            if servers
            else "Make one: server = mesero.Server('name')"
        )
        raise UsageError(f"{text} must have one Server at its top level, and has {has}", fix=fix)
    return next(iter(different.values()))


def _is_server(value: Any) -> bool:
    from mesero.server import Server

    return isinstance(value, Server)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"mesero_target_{path.stem}", path)
    if spec is None or spec.loader is None:  # pragma: no cover - a name that ends in .py always has a loader
        raise UsageError(f"{path} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    # Modules beside the file can be imported, as in a program; type hints are looked up in sys.modules.
    sys.path.insert(0, str(path.absolute().parent))
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise LaunchError(
            f"the file failed with {type(error).__name__}: {error}{_line_in(path, error)}", where=str(path)
        ) from error
    return module


def _line_in(path: Path, error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return ""
    numbers = []
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            numbers.append(trace.tb_lineno)
        trace = trace.tb_next
    return f" (line {numbers[-1]})" if numbers else ""
