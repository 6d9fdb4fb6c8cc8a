"""The command line: ``mesero COMMAND …``. Parsing and printing only; what a command does is in the package.

This file knows the names of the commands and one line about each. The module of a command is imported when
that command is asked for, so that ``mesero --help`` costs little more than the parser itself.

What stands behind ``--`` is a server's command line. It is taken off before the parser sees it and travels as
the context's object.
"""

from __future__ import annotations

import atexit
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

__all__ = ["COMMANDS", "app_for", "find_wanted", "main", "split_command"]

COMMANDS: Final = {
    "demo": "Connect to the demo server, use it, show what passed.",
    "discover": "What a server is, what it offers, what it may ask.",
    "list": "The tools, resources and prompts of a server.",
    "call": "Call a tool.",
    "read": "Read a resource.",
    "prompt": "Fill in a prompt.",
    "complete": "Suggestions for an argument of a prompt or template.",
    "listen": "Print what changes at a server, as it changes.",
    "send": "Send bytes as they are, and print the raw answers.",
    "compose": "Print the exact message that would be sent.",
    "serve": "Serve a Python file over stdio or HTTP.",
    "doctor": "What is wrong with a server, and how to mend it.",
    "config": "What the installed hosts would start, and changes of that.",
    "trace": "Record what passes between a host and its server.",
    "audit": "Judge the messages of a recording; name the cause of a failure.",
    "rules": "What the audit looks for.",
    "diff": "Compare two recordings, call by call.",
    "explain": "Explain a message, or a word of the protocol.",
    "diagram": "Draw a recording as a sequence.",
}
"""The commands in the order of the help, and what the help says of each."""

_EPILOG = (
    "A target is a URL, a Python file with a Server in it (notes.py or notes.py:name), "
    "a configured server's name, or a command behind '--'.\n\n"
    "\b\n"
    "  mesero list https://example.com/mcp\n"
    "  mesero call notes.py notes_add title=Milk\n"
    "  mesero call add a=1 b=2 -- python server.py\n\n"
    "Results go to stdout, everything else to stderr. Exit codes: 0 done, 1 the tool or the server said "
    "that it failed, 2 usage, 3 could not connect, 4 protocol violation, 5 authorization needed, 6 time-out, "
    "130 interrupted."
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from mesero import __version__

        typer.echo(f"mesero {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """The whole MCP connection: connect to a server, use it, and see what passed on the wire."""


def _named_only() -> None:
    """Stands for a command that was not asked for: the help needs its name only."""


def app_for(wanted: str | None) -> typer.Typer:
    """The application, with one command loaded and the others only named.

    Args:
        wanted: The command that will run; None when none will.
    """
    app = typer.Typer(
        name="mesero",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=_EPILOG,
    )
    app.callback()(_root)
    for name, text in COMMANDS.items():
        if name == wanted:
            module = importlib.import_module(f"mesero.cli.commands.{name}")
            app.command(
                name,
                cls=_command_type_for(module.USAGE),
                epilog=_kept(module.EXAMPLES),
                context_settings=getattr(module, "SETTINGS", None),
            )(module.command)
        else:
            app.command(name, help=text)(_named_only)
    return app


def _command_type_for(usage: str) -> type[TyperCommand]:
    """A command whose usage line says what its words are: where ``--`` stands, no parameter knows."""

    class Command(TyperCommand):
        def collect_usage_pieces(self, ctx: Any) -> list[str]:
            return ["[OPTIONS]", usage]

    return Command


def _kept(examples: str) -> str:
    """Paragraphs that the help must not wrap."""
    paragraphs = f"Examples:\n{examples}".split("\n\n")
    return "\n\n".join(f"\b\n{paragraph}" for paragraph in paragraphs)


def find_wanted(words: Sequence[str]) -> str | None:
    """The first word that is a command's name, or None."""
    return next((word for word in words if word in COMMANDS), None)


def split_command(words: Sequence[str]) -> tuple[list[str], tuple[str, ...] | None]:
    """The words before the first ``--``, and the command line behind it: None when there is no ``--``."""
    if "--" not in words:
        return list(words), None
    place = list(words).index("--")
    return list(words[:place]), tuple(words[place + 1 :])


def main() -> None:
    """Run the command line of this process, and exit."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal's encoding cannot show is shown as an escape, rather than ending the command.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    words, command = split_command(sys.argv[1:])
    # A shell that completes a line passes it in the environment.
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    is_completing = "_MESERO_COMPLETE" in os.environ
    wanted = find_wanted(typed.split()[1:] if is_completing else words)
    try:
        app_for(wanted)(args=words, obj=command, prog_name="mesero")
    except SystemExit as end:
        _leave_threads(end.code)
        raise


def _leave_threads(code: object) -> None:
    """End at once where a function of a server in this process still runs: nothing can stop its thread."""
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if all(thread.daemon for thread in others):
        return
    sys.stdout.flush()
    sys.stderr.flush()
    atexit._run_exitfuncs()  # noqa: SLF001 - ends server processes; it has no public name
    os._exit(code if isinstance(code, int) else 0)
