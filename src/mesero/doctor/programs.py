"""Where a program is, on the PATH that a server gets and in the places that version managers use.

Hosts with a window do not read a shell's startup files, so the folders of nvm, mise and others are not on the
PATH that they hand on: the usual reason for "command not found".
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from mesero.host.values import is_placeholder
from mesero.host.variables import references_in
from mesero.trace.sensitive import spans_in_words

__all__ = [
    "SOURCES_OF_PROGRAMS",
    "UNEXPANDED",
    "find_elsewhere",
    "find_shim",
    "find_similar",
    "missing_folders",
    "secrets_in",
    "secrets_in_words",
    "unexpanded_in",
]

UNEXPANDED = re.compile(r"\$\{[^}\s]+\}")
"""A variable that somebody should have filled in."""

_FOLDERS = (
    *(".local/bin", "bin", ".cargo/bin", ".bun/bin", ".deno/bin", ".volta/bin", "go/bin", ".asdf/shims"),
    *(".local/share/mise/shims", ".pyenv/shims", ".nvm/versions/node/*/bin", "n/bin", ".npm-global/bin"),
    *(".local/share/fnm/node-versions/*/installation/bin", ".fnm/node-versions/*/installation/bin"),
    *(".local/share/pnpm", "Library/pnpm", ".nodenv/shims", ".rbenv/shims", ".rye/shims"),
    *("miniconda3/bin", "anaconda3/bin", ".dotnet/tools"),
)
_SYSTEM_FOLDERS = (
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "/usr/bin",
    "/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
)
SOURCES_OF_PROGRAMS = {
    **dict.fromkeys(("node", "npm", "npx"), "Node.js, which brings it along: https://nodejs.org"),
    **dict.fromkeys(("uv", "uvx"), "uv: https://docs.astral.sh/uv"),
    **dict.fromkeys(("bun", "bunx"), "Bun: https://bun.sh"),
    "deno": "Deno: https://deno.com",
    "docker": "Docker: https://docs.docker.com/get-started/get-docker",
    "pipx": "pipx: https://pipx.pypa.io",
    "dotnet": ".NET: https://dotnet.microsoft.com",
    "java": "a Java runtime: https://adoptium.net",
}
"""What brings the programs that servers are commonly started with."""
_MIN_SECRET = 6
_CLOSE = 0.8
_OPEN = frozenset(
    {"PATH", "HOME", "LANG", "TMPDIR", "PWD", "PYTHONPATH", "NODE_PATH", "ACCEPT", "USER-AGENT"}
)
"""Variables and headers that are no secret, and that a diagnosis may have to show."""
_USUAL = ("/usr/bin", "/bin")


def find_elsewhere(name: str, home: Path, *, path: str | None = None) -> str | None:
    """Where a program is that this PATH does not have: on our own PATH, or in a usual place; or None.

    Args:
        name: The program, without a folder.
        home: The user's home.
        path: The PATH of this process.
    """
    found = shutil.which(name, path=path)
    if found is not None:
        return found
    for folder in _FOLDERS:
        # The newest version that is there, by its name.
        for place in sorted(home.glob(f"{folder}/{name}"), reverse=True):
            if os.access(place, os.X_OK) and place.is_file():
                return str(place)
    return shutil.which(name, path=os.pathsep.join(_SYSTEM_FOLDERS))


def find_shim(name: str, path: str) -> str | None:
    """A ``.cmd`` or ``.bat`` file that is all that PATH has of a program, as npm makes them on Windows."""
    for folder in path.split(os.pathsep):
        for ending in (".cmd", ".bat"):
            place = Path(folder, name + ending)
            if folder and place.is_file():
                return str(place)
    return None


def find_similar(name: str, path: str) -> str | None:
    """A program on a PATH whose name is nearly this one, or None: it may have been meant."""
    names: set[str] = set()
    for folder in path.split(os.pathsep):
        with contextlib.suppress(OSError):
            names.update(os.listdir(folder or "."))  # noqa: PTH208 - names alone, of large folders
    close = difflib.get_close_matches(name, sorted(names), n=1, cutoff=_CLOSE)
    return close[0] if close else None


def missing_folders(path: str) -> list[str]:
    """The folders of every system's PATH that are not in this one."""
    have = path.split(os.pathsep)
    return [each for each in _USUAL if each not in have and Path(each).is_dir()]


def secrets_in(variables: Mapping[str, str]) -> list[str]:
    """The values of variables or headers that must not be shown: all but short ones, paths and unfilled ones.

    Args:
        variables: Values by name; of a header's value the token alone counts, too.
    """
    found: list[str] = []
    for name, value in variables.items():
        if name.upper() in _OPEN or len(value) < _MIN_SECRET or UNEXPANDED.search(value):
            continue
        if is_placeholder(value) or _is_reference(value):
            continue
        found += [value, *(word for word in value.split()[1:] if len(word) >= _MIN_SECRET)]
    return found


def _is_reference(value: str) -> bool:
    """Whether a value, or the token of a header, is but a variable that nobody filled in, however written."""
    token = value.removeprefix("Bearer ")
    return any((each.start, each.end) == (0, len(token)) for each in references_in(token))


def secrets_in_words(words: Sequence[str]) -> list[str]:
    """The secrets in a command line or a URL: known by their shape, or by the option before them.

    Args:
        words: The words of the command; the URL alone.
    """
    found = [word[start:end] for word, spans in spans_in_words(words) for start, end in spans]
    return [one for one in found if len(one) >= _MIN_SECRET and not UNEXPANDED.search(one)]


def unexpanded_in(words: Sequence[str], variables: Mapping[str, str]) -> list[str]:
    """What holds the literal text of a variable: arguments and variables, without their values.

    Args:
        words: The arguments of a command.
        variables: Variables or headers by their names.
    """
    found = [f"argument {number} is {word!r}" for number, word in enumerate(words) if UNEXPANDED.search(word)]
    for name, value in variables.items():
        text = UNEXPANDED.search(value)
        if text is not None:
            found.append(f"{name} is sent as the literal text {text[0]}")
    return found
