"""The options that every connecting command has, and the client that they make.

`connecting` gives a command these options and a `Connection` as its first argument; the command takes its
target off the words and says what to do with the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from mesero.cli.exits import DONE, reporting
from mesero.cli.printing import Output, safe_line
from mesero.cli.questions import Questions, parse_answers
from mesero.cli.targets import Target, load_server, take_target
from mesero.cli.terminal import Terminal
from mesero.cli.watching import ProgressDisplay, ShownRecording, WireDisplay, log_line_of
from mesero.client import Client
from mesero.errors import UsageError
from mesero.host.entries import Launch
from mesero.transports.watching import Trace, open_recorder
from mesero.types import LEVEL_ORDER, LoggingMessageParams

if TYPE_CHECKING:
    from mesero.trace.recorder import Recorder

__all__ = [
    "Connection",
    "ConnectionOptions",
    "connecting",
    "connecting_with",
    "parse_headers",
    "parse_pairs",
    "read_text",
]


class ConnectionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What the options of `connecting` say; see their help texts."""

    json: bool = False
    config: str | None = None
    header: list[str] = []
    bearer_env: str | None = None
    env: list[str] = []
    cwd: str | None = None
    timeout: float | None = None
    show_wire: bool = False
    trace: str | None = None
    stderr: bool = False
    log_level: str | None = None
    no_discover: bool = False
    era: str | None = None
    answer: list[str] = []
    accept: bool = False
    decline: bool = False
    open: bool = False
    root: list[str] = []
    verbose: bool = False
    debug: bool = False


def _options(  # noqa: PLR0917 - never called: the parser reads the names, types and help texts off it
    json: Annotated[bool, typer.Option("--json", help="Print results as JSON.")] = False,
    config: Annotated[
        str | None, typer.Option("--config", metavar="FILE", help="For a server's name: look it up there.")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", metavar="'NAME: VALUE'", help="For a URL: send this header."),
    ] = None,
    bearer_env: Annotated[
        str | None,
        typer.Option("--bearer-env", metavar="VAR", help="For a URL: send the token in this variable."),
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option("--env", metavar="KEY=VALUE", help="For a command: set this variable.")
    ] = None,
    cwd: Annotated[
        str | None, typer.Option("--cwd", metavar="DIR", help="For a command: run it there.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="How long to wait for each answer.")
    ] = None,
    show_wire: Annotated[
        bool, typer.Option("--show-wire", help="Show every message as it passes; whole with -v.")
    ] = False,
    trace: Annotated[
        str | None,
        typer.Option("--trace", metavar="FILE", help="Record what passes in this file, without its secrets."),
    ] = None,
    stderr: Annotated[
        bool, typer.Option("--stderr", help="For a command: show what it writes to stderr.")
    ] = False,
    log_level: Annotated[
        str | None,
        typer.Option("--log-level", metavar="LEVEL", help="Show the server's log from this level on."),
    ] = None,
    no_discover: Annotated[
        bool, typer.Option("--no-discover", help="Do not ask what the server offers.")
    ] = False,
    era: Annotated[
        str | None,
        typer.Option("--era", metavar="ERA", help="What it speaks: modern, legacy, or a revision."),
    ] = None,
    answer: Annotated[
        list[str] | None,
        typer.Option(
            "--answer", metavar="FIELD=VALUE", help="Answer a question of the server: a field of its form."
        ),
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Agree to whatever the server asks.")] = False,
    decline: Annotated[bool, typer.Option("--decline", help="Decline whatever the server asks.")] = False,
    open: Annotated[bool, typer.Option("--open", help="Open pages that were agreed to.")] = False,
    root: Annotated[
        list[str] | None,
        typer.Option("--root", metavar="DIR", help="A directory that the server may be told of."),
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more on stderr.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Hold the options that `connecting` adds to a command."""


class Connection:
    """What one command needs: its options, its output, its terminal, and a client when it asks for one.

    Args:
        options: From the command line.
        command: The words behind ``--``, None without.
    """

    def __init__(self, options: ConnectionOptions, command: Sequence[str] | None) -> None:
        self.options = options
        self.output = Output(as_json=options.json, is_verbose=options.verbose)
        self.terminal = Terminal(self.output)
        self.progress = ProgressDisplay(self.output)
        self._command = command
        self._launch = Launch()
        self._recorder: Recorder | None = None
        self.wants_discovery: bool | None = None
        """Whether the server is asked what it offers although its era is given; None when not."""

    @property
    def has_command(self) -> bool:
        """Whether there is a command behind ``--``."""
        return self._command is not None

    def take_target(self, words: Sequence[str] | None) -> tuple[Target, list[str]]:
        """The target, checked against the options, and the words that are left.

        Raises:
            UsageError: there is none, or an option does not go with it.
        """
        options = self.options
        target, rest = take_target(words or [], self._command, config=options.config)
        self._launch = Launch() if target.server is None else target.server.launch
        if target.kind != "url" and (options.header or options.bearer_env):
            raise UsageError("--header and --bearer-env are for URLs")
        if target.kind != "command" and (options.env or options.cwd or options.stderr):
            raise UsageError("--env, --cwd and --stderr are for commands")
        return target, rest

    def run(self, target: Target, work: Callable[[Client], Awaitable[int | None]]) -> None:
        """Connect, do the work, close, and end with the exit code that the work returns (None: 0)."""
        if self.options.timeout is not None and self.options.timeout <= 0:
            raise UsageError("--timeout is a number of seconds above 0")
        # A server in this process may print: that belongs beside the results, not among them.
        redirected = (
            contextlib.redirect_stdout(sys.stderr) if target.kind == "file" else contextlib.nullcontext()
        )
        with redirected:
            code = asyncio.run(self._work_with(target, work))
        raise typer.Exit(DONE if code is None else code)

    async def _work_with(self, target: Target, work: Callable[[Client], Awaitable[int | None]]) -> int | None:
        try:
            async with Client(_value_of(target), **self._settings_for(target)) as client:
                return await work(client)
        finally:
            self.progress.stop()
            if self._recorder is not None:
                self._recorder.close()

    def _settings_for(self, target: Target) -> dict[str, Any]:
        options = self.options
        questions = self._questions_for(target)
        settings: dict[str, Any] = {
            "name": "mesero-cli",
            "elicit": questions.elicit,
            "elicit_url": questions.elicit_url,
            "discover": False if options.no_discover else self.wants_discovery,
            "era": options.era,
        }
        if options.timeout is not None:
            settings["timeout_s"] = settings["connect_timeout_s"] = options.timeout
        if options.root:
            settings["roots"] = options.root
        if options.log_level is not None:
            if options.log_level not in LEVEL_ORDER:
                raise UsageError(f"--log-level {options.log_level!r} is none of {', '.join(LEVEL_ORDER)}")
            settings["log_level"] = options.log_level
            settings["on_log"] = self._show_log
        settings["trace"] = self._trace()
        if target.kind == "url":
            settings["headers"] = self.headers()
        elif target.kind == "command":
            settings["env"] = self.env()
            settings["cwd"] = self.cwd()
            settings["on_stderr"] = self.show_stderr if options.stderr else None
        return settings

    def _trace(self) -> Trace | None:
        """What sees the messages: the file of a recording, the display, or both."""
        path, wire = self.options.trace, WireDisplay(self.output) if self.options.show_wire else None
        self._recorder = open_recorder(path) if wire is not None else None
        if self._recorder is None or wire is None:
            return path if wire is None else wire
        return ShownRecording(self._recorder, wire)

    def _questions_for(self, target: Target) -> Questions:
        options = self.options
        if options.accept and options.decline:
            raise UsageError("--accept and --decline exclude each other")
        return Questions(
            self.terminal,
            server=_name_of(target),
            answers=parse_answers(options.answer),
            accepts=options.accept,
            declines=options.decline,
            opens=options.open,
            before=self.progress.stop,
        )

    def env(self) -> dict[str, str]:
        """The variables for a command: those of its configuration, and those of the options.

        Raises:
            UsageError: one is malformed.
        """
        return {**self._launch.env, **parse_pairs(self.options.env, "--env")}

    def cwd(self) -> str | None:
        """The folder to run a command in; None for ours."""
        return self.options.cwd if self.options.cwd is not None else self._launch.cwd

    def headers(self) -> dict[str, str]:
        """The headers that the target's configuration and the options ask for.

        Raises:
            UsageError: one is malformed, or the variable is not set.
        """
        headers = {**self._launch.headers, **parse_headers(self.options.header)}
        if self.options.bearer_env is not None:
            token = os.environ.get(self.options.bearer_env)
            if not token:
                raise UsageError(f"--bearer-env: the variable {self.options.bearer_env} is not set")
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def show_stderr(self, line: str) -> None:
        """One line of a server's stderr."""
        self.output.note(f"server: {safe_line(line)}")

    def _show_log(self, params: LoggingMessageParams) -> None:
        self.progress.stop()
        self.output.note(log_line_of(params))


def _value_of(target: Target) -> Any:
    return load_server(target.value) if target.kind == "file" else target.value


def _name_of(target: Target) -> str:
    return safe_line(shlex.join(target.value) if target.kind == "command" else target.value)


def parse_headers(lines: Sequence[str]) -> dict[str, str]:
    """Headers from ``Name: value`` lines.

    Raises:
        UsageError: a line without a colon, or with a line end in it.
    """
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name.strip() or "\n" in line or "\r" in line:
            raise UsageError("--header is written 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers


def parse_pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """Values by name from ``KEY=VALUE`` words.

    Raises:
        UsageError: a word without ``=``.
    """
    pairs = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(f"{option} is written KEY=VALUE")
        pairs[key] = value
    return pairs


def read_text(path: str) -> str:
    """The text of a file that the command line names.

    Raises:
        UsageError: it cannot be read, or is no UTF-8.
    """
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 - a path as it was typed, for one read
            return file.read()
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path!r}: {error}") from None


def connecting(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options of every connection, and a `Connection` as its first argument."""
    return connecting_with(*ConnectionOptions.__struct_fields__)(command)


def connecting_with(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command that is content with some of these options, and may say itself what they are.

    Args:
        names: Of the fields of `ConnectionOptions`.
    """

    def connect(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
        said = {parameter.name for parameter in own}
        known = inspect.signature(_options, eval_str=True).parameters.values()
        common = [one for one in known if one.name in names and one.name not in said]

        @functools.wraps(command)
        def connected(ctx: typer.Context, **values: Any) -> None:
            given = {name: values[name] for name in names if values.get(name) is not None}
            rest = {name: value for name, value in values.items() if name not in names or name in said}
            command(Connection(ConnectionOptions(**given), ctx.obj), **rest)

        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [context, *(one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in [*own, *common])]
        reported = reporting(connected)
        reported.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what typer reads
        reported.__annotations__ = {one.name: one.annotation for one in parameters}
        return reported

    return connect
