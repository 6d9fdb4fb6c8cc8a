"""Application state behind opaque handles: what has to outlive one request, since no session does.

A handle is a random name, bound to its owner: to anybody else it looks unknown. Values are JSON.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#stateful-tools
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Protocol

import msgspec

__all__ = ["MemoryStore", "SqliteStore", "Store"]

_HANDLE_BYTES = 16  # 128 bits: a handle can be presented, but not guessed.


class Store(Protocol):
    """Values by handle and owner. Replicas share one of their own making (Redis, PostgreSQL …).

    ``owner`` is any text that stands for the principal; "" where nobody is told apart.
    """

    def create(self, value: Any, *, owner: str = "", ttl_s: float | None = None) -> str:
        """Keep a value; gives back its handle. ``ttl_s``: for how many seconds, by default for ever."""

    def find(self, handle: str, *, owner: str = "") -> Any:
        """The value, or None when the handle is unknown, expired, or somebody else's."""

    def update(self, handle: str, value: Any, *, owner: str = "") -> bool:
        """Replace the value; whether there was one."""

    def delete(self, handle: str, *, owner: str = "") -> bool:
        """Forget the value; whether there was one."""

    def items(self, *, owner: str = "") -> list[tuple[str, Any]]:
        """All of an owner's handles and values, oldest first."""


class SqliteStore:
    """A store in one SQLite file, safe to use from worker threads and from several processes.

    Args:
        path: The file; ``":memory:"`` keeps everything in this process.
        clock: Seconds since the epoch.
    """

    def __init__(self, path: str = ":memory:", *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        _make_private(path)
        self._database = sqlite3.connect(path, check_same_thread=False, timeout=10.0)
        with self._cursor() as cursor:
            cursor.execute(
                "CREATE TABLE IF NOT EXISTS state (number INTEGER PRIMARY KEY AUTOINCREMENT,"
                " handle TEXT UNIQUE NOT NULL, owner TEXT NOT NULL, value BLOB NOT NULL, expires REAL)"
            )

    @contextmanager
    def _cursor(self) -> Iterator[sqlite3.Cursor]:
        with self._lock, self._database, closing(self._database.cursor()) as cursor:
            yield cursor

    def create(self, value: Any, *, owner: str = "", ttl_s: float | None = None) -> str:
        """See `Store.create`."""
        handle = secrets.token_urlsafe(_HANDLE_BYTES)
        expires = None if ttl_s is None else self._clock() + ttl_s
        with self._cursor() as cursor:
            cursor.execute("DELETE FROM state WHERE expires <= ?", (self._clock(),))
            cursor.execute(
                "INSERT INTO state (handle, owner, value, expires) VALUES (?, ?, ?, ?)",
                (handle, owner, msgspec.json.encode(value), expires),
            )
        return handle

    def find(self, handle: str, *, owner: str = "") -> Any:
        """See `Store.find`."""
        with self._cursor() as cursor:
            row = cursor.execute(
                "SELECT value FROM state WHERE handle = ? AND owner = ? AND (expires IS NULL OR expires > ?)",
                (handle, owner, self._clock()),
            ).fetchone()
        return None if row is None else msgspec.json.decode(row[0])

    def update(self, handle: str, value: Any, *, owner: str = "") -> bool:
        """See `Store.update`."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE state SET value = ?"
                " WHERE handle = ? AND owner = ? AND (expires IS NULL OR expires > ?)",
                (msgspec.json.encode(value), handle, owner, self._clock()),
            )
            return cursor.rowcount > 0

    def delete(self, handle: str, *, owner: str = "") -> bool:
        """See `Store.delete`."""
        with self._cursor() as cursor:
            cursor.execute("DELETE FROM state WHERE handle = ? AND owner = ?", (handle, owner))
            return cursor.rowcount > 0

    def items(self, *, owner: str = "") -> list[tuple[str, Any]]:
        """See `Store.items`."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT handle, value FROM state"
                " WHERE owner = ? AND (expires IS NULL OR expires > ?) ORDER BY number",
                (owner, self._clock()),
            ).fetchall()
        return [(handle, msgspec.json.decode(value)) for handle, value in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()


def _make_private(path: str) -> None:
    """Make the file, if it is not there, readable by nobody else: the handles in it open what it keeps."""
    if path not in {"", ":memory:"}:
        with suppress(OSError):  # SQLite says better what is wrong with it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


class MemoryStore(SqliteStore):
    """A store that lives as long as its process."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(":memory:", clock=clock)
