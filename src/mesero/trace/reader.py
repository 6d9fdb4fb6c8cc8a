"""Reads a recording line by line, however long it is and whatever became of it.

What is wrong with a line is said in `Problem`, and reading goes on behind it: a last line that was cut off,
bytes that are no UTF-8, fields that are missing or of the wrong type, a format of later years. Nothing that a
file holds raises. Memory does not depend on the number of lines, only on the longest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Protocol, Self

import msgspec

from mesero.errors import UsageError
from mesero.trace.format import FORMAT, Header, Line, convert_line, decode_header, decode_line

__all__ = ["MAX_LINE_BYTES", "Problem", "Problems", "Recording", "TraceReader", "open_file", "read_lines"]

MAX_LINE_BYTES = 256 * 1024 * 1024
"""The longest line that is read, in bytes: a message of the largest size, with every character escaped."""

_MAX_KEPT_PROBLEMS = 100
_CHUNK = 64 * 1024


class Problem(NamedTuple):
    """What is wrong with a file: in which line (the first is 1; 0 for the whole), and what it is."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


class Problems:
    """The problems of a file: all are counted, the first hundred are kept."""

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.count = 0
        self._said: set[str] = set()

    def add(self, line: int, text: str) -> None:
        """Take a problem."""
        self.count += 1
        if len(self.kept) < _MAX_KEPT_PROBLEMS:
            self.kept.append(Problem(line, text))

    def add_once(self, line: int, text: str) -> None:
        """Take a problem that needs no saying twice."""
        if text not in self._said:
            self._said.add(text)
            self.add(line, text)


class Recording(Protocol):
    """What can be read as a trace: a trace, or what an importer makes of something else. Read once."""

    problems: Problems

    @property
    def header(self) -> Header:
        """The header; links that open later come as lines."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """What the file cannot tell, as sentences; complete when all lines are read."""

    def __iter__(self) -> Iterator[Line]:
        """The lines, in the order of the file."""

    def close(self) -> None:
        """Close the file. Idempotent."""


class TraceReader:
    """A recording in our own format::

        with TraceReader(open_file("notes.jsonl")) as trace:
            for line in trace:
                ...
        print(trace.problems.kept)

    Args:
        file: The file, open for reading bytes. It is closed with the reader.
        max_line_bytes: The longest line, in bytes; a longer one is left out, and a problem.
    """

    def __init__(self, file: BinaryIO, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self.problems = Problems()
        self._file = file
        self._lines = read_lines(file, self.problems, max_line_bytes=max_line_bytes)
        self._first: tuple[int, bytes, bool] | None = None
        self._header: Header | None = None
        self._seq = 0
        self._t = 0.0

    @property
    def header(self) -> Header:
        """The header; what stands in for it when the file has none."""
        if self._header is None:
            self._header = self._read_header()
        return self._header

    @property
    def unknown(self) -> tuple[str, ...]:
        """A trace lacks nothing but what came before it began."""
        if self.header.continues:
            return ("what came before: it is in the file that was put aside when this one was begun",)
        return ()

    def _read_header(self) -> Header:
        self._first = next(self._lines, None)
        if self._first is None:
            self.problems.add(0, "the file is empty")
            return Header()
        number, raw, _ = self._first
        try:
            header = decode_header(raw)
        except ValueError as error:
            self.problems.add(number, f"this is no header of a trace: {error}")
            return Header()
        self._first = None
        if header.mesero_trace > FORMAT:
            self.problems.add(
                number,
                f"format {header.mesero_trace}, written by {header.by or 'a later release'}; this one knows"
                f" {FORMAT} and reads what it understands. Fix: install a later mesero",
            )
        return header

    def __iter__(self) -> Iterator[Line]:
        header = self.header
        if self._first is not None:
            # Not a header, perhaps a line like the others: the beginning of the file was lost.
            number, raw, is_whole = self._first
            self._first = None
            line = self._line_of(number, raw, header, is_whole=is_whole)
            if line is not None:
                yield line
        for number, raw, is_whole in self._lines:
            line = self._line_of(number, raw, header, is_whole=is_whole)
            if line is not None:
                yield line

    def _line_of(self, number: int, raw: bytes, header: Header, *, is_whole: bool) -> Line | None:
        line: Line | None
        try:
            line = decode_line(raw, number=header.mesero_trace)
        except ValueError as error:
            line = self._mended(number, raw, error, header, is_whole=is_whole)
        if line is None:
            return None
        if line.seq <= self._seq:
            self.problems.add_once(number, "the lines are not in the order in which they were recorded")
        self._seq = line.seq
        self._t = line.t
        return line

    def _mended(
        self, number: int, raw: bytes, error: ValueError, header: Header, *, is_whole: bool
    ) -> Line | None:
        """What can still be told of a line that does not fit."""
        try:
            text = raw.decode()
        except UnicodeDecodeError as wrong:
            self.problems.add(number, f"no UTF-8 at byte {wrong.start}; read with replacement characters")
            text = raw.decode("utf-8", "replace")
        value = _object_of(text)
        if value is None:
            cut = f"the last line is cut off after {len(raw)} bytes: the recording ended in the middle of it"
            self.problems.add(number, f"left out: {error}" if is_whole else cut)
            return None
        # Where a line stands can be told from those around it; what it says, from nothing.
        place = {"seq": self._seq + 1, "t": self._t, "link": next(iter(header.links), "1")}
        wrong_names = [name for name, stand_in in place.items() if not _fits(value.get(name), stand_in)]
        value |= {name: place[name] for name in wrong_names}
        try:
            line = convert_line(value, number=header.mesero_trace)
        except ValueError as left:
            self.problems.add(number, f"left out: {left}")
            return None
        if wrong_names:
            names = ", ".join(wrong_names)
            self.problems.add(number, f"missing or wrong, and filled in: {names}")
        return line

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, place: TracebackType | None
    ) -> None:
        self.close()


def _object_of(text: str) -> dict[str, Any] | None:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _fits(value: Any, stand_in: Any) -> bool:
    if isinstance(stand_in, float):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, type(stand_in)) and not isinstance(value, bool)


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """A file to read a recording from.

    Raises:
        UsageError: it cannot be opened, and why.
    """
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise UsageError(f"{os.fspath(path)!r} cannot be read: {error.strerror or error}") from None


def read_lines(
    file: BinaryIO, problems: Problems, *, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, bytes, bool]]:
    """The lines of a file that are not blank: number, bytes without the end, whether it had one."""
    number = 0
    while raw := file.readline(max_line_bytes + 1):
        number += 1
        is_whole = raw.endswith(b"\n")
        if not is_whole and len(raw) > max_line_bytes:
            _skip_line(file)
            problems.add(number, f"left out: longer than {max_line_bytes} bytes")
            continue
        line = raw.rstrip(b"\r\n")
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, line, is_whole


def _skip_line(file: BinaryIO) -> None:
    while chunk := file.readline(_CHUNK):
        if chunk.endswith(b"\n"):
            return
