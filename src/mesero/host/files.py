"""The configuration files of a machine: read where they are, and changed without ever being half written.

A change keeps the file as it was beside it, with ``.mesero-backup`` behind its name, and replaces it in one
step. Links are followed, permissions kept. Whoever changed the file in the meantime is not overwritten.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mesero.errors import UsageError
from mesero.host.configs import ConfigFile, check_across, decode_text, read_config, unreadable
from mesero.host.nodes import Place, TextError
from mesero.host.places import Machine, places_for
from mesero.host.problems import ConfigProblem, Source

__all__ = ["BACKUP", "MAX_BYTES", "change_file", "read_all", "read_file"]

MAX_BYTES = 64 * 1024 * 1024
"""A larger file is no configuration."""
BACKUP = ".mesero-backup"
"""What is behind the name of the file as it was before the last change."""


def read_file(
    source: Source, *, environment: Mapping[str, str] | None = None, is_asked_for: bool = False
) -> ConfigFile | None:
    """One file, read; None where there is none.

    Args:
        source: Where it is.
        environment: See `read_config`.
        is_asked_for: Whether somebody named this file.
    """
    try:
        data = _bytes_of(Path(source.file))
        if not data.strip() and not is_asked_for:
            return ConfigFile(source=source)
        text = decode_text(data)
    except FileNotFoundError:
        return None
    except TextError as error:
        return unreadable(error, source)
    except OSError as error:
        fix = "Make it readable"
        return unreadable(TextError(f"it cannot be read: {error.strerror}", Place(1, 1), fix), source)
    return read_config(text, source, environment=environment, is_asked_for=is_asked_for)


def _bytes_of(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise TextError(f"the file has {size} bytes", Place(1, 1), "Make it smaller")
    return path.read_bytes()


def read_all(
    machine: Machine, project: Path | None = None, *, hosts: Sequence[str] = ()
) -> tuple[list[ConfigFile], list[ConfigProblem]]:
    """Every file of the hosts on a machine, and what is wrong between them.

    Args:
        machine: Whose files.
        project: The folder that the hosts are opened on; None leaves the files of projects out.
        hosts: Only of these; empty for all.
    """
    files = []
    for source in places_for(machine, project):
        if hosts and source.host not in hosts:
            continue
        file = read_file(source, environment=machine.environment)
        if file is not None:
            files.append(file)
    return files, check_across(files)


def change_file(path: Path, change: Callable[[str], str]) -> Path | None:
    """Change a file's text, all at once; the file is made where there is none.

    Args:
        path: The file.
        change: From the old text ("" for no file) to the new one; what it raises leaves the file alone.

    Returns:
        Where the file is kept as it was; None where there was none.

    Raises:
        UsageError: it cannot be read or written, is no UTF-8, or was changed by somebody else meanwhile.
    """
    target = path.resolve()
    try:
        old = _bytes_of(target) if target.exists() else None
        text = "" if old is None else decode_text(old)
        data = change(text).encode()
        if old is None:
            target.parent.mkdir(parents=True, exist_ok=True)
        backup = None
        if old is not None:
            backup = target.with_name(f"{target.name}{BACKUP}")
            _replace(backup, old, like=target)
        if (_bytes_of(target) if target.exists() else None) != old:
            raise UsageError(f"{path} was changed by somebody else just now", fix="Try again")
        _replace(target, data, like=target)
    except TextError as error:
        raise UsageError(f"{path}: {error.what}", fix=f"{error.fix}. Nothing was changed") from None
    except (OSError, UnicodeEncodeError) as error:
        raise UsageError(f"{path} cannot be changed: {error}") from None
    return backup


def _replace(path: Path, data: bytes, *, like: Path) -> None:
    """Write a file in one step, with the permissions of another one, or for its owner's eyes only."""
    mode = like.stat().st_mode & 0o7777 if like.exists() else 0o600
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
