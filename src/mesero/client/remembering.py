"""What was learnt of servers: for the life of this process, and of commands in the user's cache folder.

Only what is not the usual case is kept: servers that the probe kills or that never answer it, slow ones, and
URLs where older revisions are spoken. It is a hint: too old, broken or missing, it costs one probe.
A command is known by a digest, so that no argument of it is stored.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path
from typing import Final

import msgspec

from mesero.client.facts import Decision
from mesero.jsonrpc import encode_value
from mesero.transports import Transport

__all__ = ["CACHE_DIR_VARIABLE", "DecisionBook", "book_for", "cache_folder", "forget_this_process"]

CACHE_DIR_VARIABLE: Final = "MESERO_CACHE_DIR"
"""The environment variable that names another folder than the user's usual one for caches."""

_FORMAT = 1
_MAX_ENTRIES = 500
_MAX_FILE_BYTES = 1024 * 1024
_COMMAND_LIFETIME_S = 30 * 24 * 3600.0
_URL_LIFETIME_S = 3600.0


class _Entry(msgspec.Struct, frozen=True):
    decision: Decision
    learnt: float
    """Seconds since 1970."""


class _File(msgspec.Struct, frozen=True):
    mesero_decisions: int
    known: dict[str, _Entry]


_of_this_process: dict[str, _Entry] = {}


class DecisionBook:
    """What is remembered of one target.

    Args:
        key: What the target is known by.
        lifetime_s: How long it is believed, in seconds.
        path: The file that outlives the process, None for none.
    """

    def __init__(self, key: str, *, lifetime_s: float, path: Path | None = None) -> None:
        self._key = key
        self._lifetime_s = lifetime_s
        self._path = path

    def find(self) -> Decision | None:
        """What is known and not too old."""
        entry = _of_this_process.get(self._key) or self._read().get(self._key)
        if entry is None or not 0 <= time.time() - entry.learnt < self._lifetime_s:
            return None
        return entry.decision

    def keep(self, decision: Decision) -> None:
        """Remember it. What cannot be written is remembered by this process alone."""
        entry = _Entry(decision, time.time())
        _of_this_process.pop(self._key, None)
        _of_this_process[self._key] = entry
        _drop_oldest(_of_this_process)
        if self._path is not None:
            self._write({**self._read(), self._key: entry})

    def forget(self) -> None:
        """It did not fit any more."""
        _of_this_process.pop(self._key, None)
        known = self._read()
        if known.pop(self._key, None) is not None:
            self._write(known)

    def _read(self) -> dict[str, _Entry]:
        if self._path is None:
            return {}
        try:
            if self._path.stat().st_size > _MAX_FILE_BYTES:
                return {}
            file = msgspec.json.decode(self._path.read_bytes(), type=_File)
        except (OSError, msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            return {}
        return file.known if file.mesero_decisions == _FORMAT else {}

    def _write(self, known: dict[str, _Entry]) -> None:
        """All or nothing: whoever reads at the same time sees the old file or the new one."""
        if self._path is None:
            return
        known = dict(sorted(known.items(), key=lambda pair: pair[1].learnt))
        _drop_oldest(known)
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=self._path.name)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(msgspec.json.encode(_File(_FORMAT, known)))
                Path(name).replace(self._path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise


def _drop_oldest(known: dict[str, _Entry]) -> None:
    while len(known) > _MAX_ENTRIES:
        del known[next(iter(known))]


def book_for(transport: Transport) -> DecisionBook | None:
    """Where to look up a transport's server; None for one that is not remembered.

    "Clients SHOULD cache the result for the lifetime of the server process (stdio) or origin (HTTP), and MAY
    persist it across restarts of the same server configuration": a URL stands for its origin here, since
    one origin may have several servers.
    """
    command = getattr(transport, "command", None)
    if transport.kind == "stdio" and command is not None:
        configuration = [list(command), str(getattr(transport, "cwd", None) or Path.cwd())]
        digest = hashlib.sha256(encode_value(configuration)).hexdigest()
        path = cache_folder() / "decisions.json"
        return DecisionBook(digest, lifetime_s=_COMMAND_LIFETIME_S, path=path)
    if transport.mirrors_headers:
        return DecisionBook(transport.target, lifetime_s=_URL_LIFETIME_S)
    return None


def cache_folder() -> Path:
    """The folder for what may be deleted at any time."""
    named = os.environ.get(CACHE_DIR_VARIABLE)
    if named:
        return Path(named)
    import platformdirs  # Only whoever starts commands needs it.

    return Path(platformdirs.user_cache_dir("mesero", appauthor=False))


def forget_this_process() -> None:
    """Forget what only this process knows."""
    _of_this_process.clear()
