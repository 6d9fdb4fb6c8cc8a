"""Before a server process: its program, its environment, its working directory."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Final

from mesero.doctor.programs import (
    SOURCES_OF_PROGRAMS,
    find_elsewhere,
    find_shim,
    find_similar,
    missing_folders,
    unexpanded_in,
)
from mesero.doctor.sheet import OpenCheck, Sheet
from mesero.transports.process import inherited_environment

__all__ = ["check_command", "check_environment", "diagnose_missing"]

_INTERPRETERS: Final = {
    **dict.fromkeys(("python", "python3", "py"), '"/path/to/server.py"'),
    "node": '"/path/to/server.js"',
    "npx": '"-y", "PACKAGE"',
    **dict.fromkeys(("uvx", "bunx"), '"PACKAGE"'),
    "uv": '"run", "/path/to/server.py"',
    **dict.fromkeys(("bun", "deno"), '"run", "/path/to/server.ts"'),
    **dict.fromkeys(("docker", "podman"), '"run", "-i", "--rm", "IMAGE"'),
    **dict.fromkeys(("sh", "bash", "zsh"), '"-c", "COMMAND"'),
    "java": '"-jar", "/path/to/server.jar"',
    "dotnet": '"/path/to/server.dll"',
}
"""What starts other programs and is no server by itself, and what the arguments of one look like."""
_OF_WINDOWS: Final = re.compile(r"[A-Za-z]:[\\/]|\\\\")


def check_command(
    sheet: Sheet, command: Sequence[str], env: Mapping[str, str], cwd: str | None, *, home: Path
) -> bool:
    """Whether the program can be found and run; else a diagnosis says why not.

    Args:
        sheet: Takes what is seen.
        command: The program and its arguments.
        env: Variables that are set for it.
        cwd: Its working directory; None for ours.
        home: The user's home.
    """
    name = command[0]
    path = inherited_environment(env).get("PATH", "")
    with sheet.check("command") as check:
        if cwd is not None and not Path(cwd).is_dir():
            check.fail(f"the working directory {cwd!r} does not exist")
            sheet.diagnose("LAUNCH-5", f"`cwd` is {cwd!r}, and there is no such folder")
            return False
        has_folder = Path(name).name != name
        place = Path(cwd or "", name) if has_folder else None
        found = shutil.which(name if place is None else str(place), path=path)
        if found is None:
            _miss(sheet, check, name, place, path=path, sets_path="PATH" in env, home=home)
            return False
        check.say(f"`{name}` is {Path(found).absolute()}")
        if os.path.realpath(found) != str(Path(found).absolute()):
            check.say(f"which is {os.path.realpath(found)}")
        if len(command) == 1 and name.removesuffix(".exe") in _INTERPRETERS:
            check.fail(f"`{name}` starts other programs, and none is named")
            sheet.diagnose(
                "LAUNCH-12",
                f"`command` is {name!r}, and there are no arguments",
                fix=f'"command": "{name}", "args": [{_INTERPRETERS[name.removesuffix(".exe")]}]',
            )
            return False
        if found.lower().endswith((".cmd", ".bat")):
            check.fail("it is a shim that only cmd can run")
            sheet.diagnose("LAUNCH-8", f"`{name}` is {found}", fix=_shim_fix(name))
            return False
    return True


def _stem_of(path: str) -> str:
    return PureWindowsPath(path).stem


def _words_of(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _shim_fix(name: str) -> str:
    return f'"command": "cmd", "args": ["/c", "{name}", …]; keep PATHEXT and COMSPEC in the environment'


def _miss(
    sheet: Sheet, check: OpenCheck, name: str, place: Path | None, *, path: str, sets_path: bool, home: Path
) -> None:
    """The program is not there: what is the reason?"""
    if place is not None and place.is_file():
        check.fail(f"{place} is a file that may not be executed")
        sheet.diagnose("LAUNCH-3", f"{place} is not executable", fix=f"chmod +x {place}")
        return
    if os.name != "nt" and _OF_WINDOWS.match(name):
        check.fail(f"{name} is a path of Windows")
        sheet.diagnose(
            "LAUNCH-2",
            f"{name} is a path of Windows, and this is another system",
            fix=f'"command": {json.dumps(_stem_of(name))}, if that is installed here',
        )
        return
    first, _, rest = name.partition(" ")
    # A path with blanks in it is one program, unless what stands before the first blank is one already.
    if rest and (place is None or shutil.which(first, path=path) is not None):
        check.fail(f"there is no program called {name!r}")
        args = json.dumps(_words_of(rest), ensure_ascii=False)
        sheet.diagnose(
            "LAUNCH-4", f"`command` is {name!r}", fix=f'"command": {json.dumps(first)}, "args": {args}'
        )
        return
    if place is not None:
        check.fail(f"{place} does not exist")
        sheet.diagnose("LAUNCH-2", f"{place} does not exist")
        return
    check.fail(f"`{name}` is not on PATH={path}")
    diagnose_missing(sheet, name, path=path, sets_path=sets_path, home=home)


def diagnose_missing(
    sheet: Sheet, name: str, *, path: str, sets_path: bool, home: Path, said: str = ""
) -> None:
    """Why a program is not found, and where it is.

    Args:
        sheet: Takes the diagnosis.
        name: The program, without a folder.
        path: The PATH on which it is not.
        sets_path: Whether that is set for this server.
        home: The user's home.
        said: Who looked for it, where that is not the host: what it said.
    """
    before = f"{said}: " if said else ""
    shim = find_shim(name, path)
    elsewhere = find_elsewhere(name, home, path=os.environ.get("PATH"))
    if shim is not None:
        sheet.diagnose("LAUNCH-8", f"{before}PATH has only {shim}", fix=_shim_fix(name))
    elif sets_path and missing_folders(path) and elsewhere is not None:
        sheet.diagnose(
            "LAUNCH-7",
            f"{before}`env` sets PATH to {path!r}, where `{name}` is not; it is {elsewhere}",
            fix=f'"PATH": "{path}{os.pathsep}{Path(elsewhere).parent}", or no PATH in `env` at all',
        )
    elif elsewhere is not None:
        sheet.diagnose(
            "LAUNCH-1",
            f"{before}`{name}` is not on the PATH that servers are started with; it is {elsewhere}",
            fix=_path_fix(elsewhere, path, is_command=not said),
            evidence=[f"PATH={path}"],
        )
    else:
        sheet.diagnose(
            "LAUNCH-2",
            f"{before}`{name}` is neither on PATH nor in the folders of the usual version managers",
            fix=_install_fix(name, path),
            evidence=[f"PATH={path}"],
        )


def _path_fix(elsewhere: str, path: str, *, is_command: bool) -> str:
    in_env = f'"PATH": "{Path(elsewhere).parent}{os.pathsep}{path}"'
    return f'"command": "{elsewhere}", or in `env` {in_env}' if is_command else f'"env": {{{in_env}}}'


def _install_fix(name: str, path: str) -> str:
    """What to install or to write; "" where nothing better is known than the standing text."""
    similar = find_similar(name, path)
    if similar:
        return f'Did you mean "command": "{similar}"? Otherwise install `{name}`.'
    source = SOURCES_OF_PROGRAMS.get(name)
    return f"Install {source}." if source else ""


def check_environment(sheet: Sheet, words: Sequence[str], variables: Mapping[str, str]) -> None:
    """Whether arguments and variables (or headers) were filled in.

    Args:
        sheet: Takes what is seen.
        words: The arguments of a command.
        variables: What is set for it; the headers of a URL.
    """
    with sheet.check("environment") as check:
        check.say(f"set beside what is inherited: {', '.join(sorted(variables)) or 'nothing'}")
        found = unexpanded_in(words, variables)
        for each in found:
            check.warn(each)
        if found:
            sheet.diagnose("LAUNCH-6", "; ".join(found), severity="degraded", evidence=found)
