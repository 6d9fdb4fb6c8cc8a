"""What is shown on stderr while something runs: messages as they pass, progress, and log messages."""

from __future__ import annotations

from typing import Any

from mesero.cli.printing import Output, json_text, safe_line
from mesero.client.facts import Progress
from mesero.errors import RpcError
from mesero.jsonrpc import ErrorResponse, Notification, Request, decode_message
from mesero.transports import Direction, HttpFacts, LinkObserver
from mesero.transports.watching import Links, MessageWatch
from mesero.types import LoggingMessageParams

__all__ = ["ProgressDisplay", "ShownRecording", "WireDisplay", "describe_message", "log_line_of"]


def describe_message(raw: bytes) -> str:
    """One message in a few words: what it is, its method, its id."""
    try:
        message = decode_message(raw)
    except RpcError:
        return "no message"
    if isinstance(message, Request):
        return f"request {message.method} id {message.id!r}"
    if isinstance(message, Notification):
        return f"notification {message.method}"
    if isinstance(message, ErrorResponse):
        owner = "no id" if message.id is None else f"id {message.id!r}"
        return f"error {message.code} {owner}: {message.message}"
    return f"result id {message.id!r}"


class WireDisplay:
    """Prints a line for every message that passes: arrow, what it is, size; with ``-v`` the message too."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def __call__(self, direction: Direction, raw: bytes, http: HttpFacts | None) -> None:
        """Take one message; an `mesero.transports.Observer`."""
        arrow = "→" if direction == "c2s" else "←"
        facts = ""
        if http is not None and direction == "s2c":
            facts = f" · HTTP {http.status}" + (" event" if http.is_event else "")
        self._output.note(f"{arrow} {safe_line(describe_message(raw))} · {len(raw)} bytes{facts}")
        if self._output.is_verbose:
            self._output.note(f"  {safe_line(raw.decode('utf-8', 'backslashreplace'))}")


class ShownRecording:
    """A recording whose messages are displayed as well: the ``trace=`` of a client."""

    def __init__(self, recording: Links, wire: WireDisplay) -> None:
        self._recording = recording
        self._wire = wire

    def link(self, name: str, transport: str, target: str) -> LinkObserver:
        """See `mesero.transports.watching.Links.link`."""
        return _ShownLink(self._recording.link(name, transport, target), MessageWatch(self._wire, target))


class _ShownLink:
    """A link of a recording, and a display of its messages."""

    def __init__(self, link: LinkObserver, wire: MessageWatch) -> None:
        self._link = link
        self._wire = wire
        self.text, self.note, self.http, self.eof = link.text, link.note, link.http, link.eof
        self.spawn, self.stderr, self.exit = link.spawn, link.stderr, link.exit

    def __call__(self, direction: Direction, raw: bytes, http: HttpFacts | None = None) -> None:
        self._wire.message(direction, raw, http)
        self._link(direction, raw, http)


class ProgressDisplay:
    """A progress bar on a terminal; plain lines elsewhere, when more was asked for."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._bar: Any = None
        self._task: Any = None

    @property
    def is_wanted(self) -> bool:
        """Whether anybody would see it: otherwise the server is not asked for progress."""
        return self._output.is_terminal or self._output.is_verbose

    def show(self, progress: Progress) -> None:
        """Take what the server reported."""
        text = safe_line(progress.message or "")
        if not self._output.is_terminal:
            total = "" if progress.total is None else f" of {progress.total:g}"
            self._output.note(f"progress: {progress.progress:g}{total} {text}".rstrip())
            return
        if self._bar is None:
            self._begin()
        # Square brackets are markup to the display, and this text is a stranger's.
        self._bar.update(self._task, completed=progress.progress, total=progress.total, text=text)

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, text="")
        self._bar.start()

    def stop(self) -> None:
        """Take the bar away, for example because something else will be printed."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def log_line_of(params: LoggingMessageParams) -> str:
    """One log message of the server, on one line."""
    text = params.data if isinstance(params.data, str) else json_text(params.data, indent=0)
    logger = f" {params.logger}" if isinstance(params.logger, str) else ""
    return f"[{params.level}{logger}] {safe_line(text)}"
