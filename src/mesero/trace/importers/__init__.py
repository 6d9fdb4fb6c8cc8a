"""Recordings that other programs made: whatever file it is, `open_recording` reads it as a trace.

Each importer makes lines of what it finds and says what the file cannot tell (when, in which direction), in
sentences for people and in the ``guessed`` field of each line. Other programs do not hide secrets, so it is
done here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from mesero.trace.format import Header, Line
from mesero.trace.importers.desktop import ClaudeLog
from mesero.trace.importers.editor import EditorLog
from mesero.trace.importers.har import HarFile
from mesero.trace.importers.text import TextFile
from mesero.trace.reader import Problems, Recording, TraceReader, open_file
from mesero.trace.redaction import Redactor

__all__ = ["RedactedRecording", "choose_importer", "open_recording", "recording_of"]

_BEGINNING = 64 * 1024


def open_recording(path: str | os.PathLike[str], *, raw: bool = False) -> Recording:
    """Read a file as a trace: our own format, HAR, a log of Claude Desktop or VS Code, or any text.

    Args:
        path: The file.
        raw: Leave the secrets in that other programs wrote down.

    Raises:
        UsageError: it cannot be opened.
    """
    return recording_of(open_file(path), raw=raw)


def recording_of(file: BinaryIO, *, raw: bool = False) -> Recording:
    """As `open_recording`, of an open file that can be read from the beginning again."""
    beginning = file.read(_BEGINNING)
    file.seek(0)
    recording = choose_importer(beginning)(file)
    return recording if raw or isinstance(recording, TraceReader) else RedactedRecording(recording)


def choose_importer(beginning: bytes) -> type[TraceReader | HarFile | ClaudeLog | EditorLog | TextFile]:
    """Who reads a file that begins so."""
    head = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    first_line = head.partition(b"\n")[0]
    if first_line.startswith(b"{") and (b'"mesero_trace"' in first_line or b'"kind":' in first_line):
        return TraceReader
    if head.startswith(b"{") and b'"log"' in head[:2000] and (b'"entries"' in head or b'"creator"' in head):
        return HarFile
    text = head.decode("utf-8", "replace")
    if ClaudeLog.recognises(text):
        return ClaudeLog
    if EditorLog.recognises(text):
        return EditorLog
    return TextFile


class RedactedRecording:
    """A recording without its secrets."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._redactor = Redactor()
        self.problems: Problems = recording.problems

    @property
    def header(self) -> Header:
        """The header, its links without secrets."""
        header = self._recording.header
        links = {key: self._redactor.redact_link(link) for key, link in header.links.items()}
        return Header(started=header.started, by=header.by, links=links, part=header.part, more=header.more)

    @property
    def unknown(self) -> tuple[str, ...]:
        """What the file cannot tell."""
        return self._recording.unknown

    def __iter__(self) -> Iterator[Line]:
        return map(self._redactor.redact_line, self._recording)

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._recording.close()
