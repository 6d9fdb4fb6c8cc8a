"""A server's questions: answered with what the command line gave, else asked on the terminal.

It is always said which server asks. A question may be declined or cancelled; without a terminal and without
an answer the command fails and says which answer to give, rather than hang or agree.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#user-interaction
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from mesero.cli.fields import NO_VALUE, Field, field_problems, fields_of, read_field, show_field
from mesero.cli.printing import Output, safe_line
from mesero.cli.terminal import Terminal
from mesero.errors import InputNeededError, UsageError
from mesero.types import ElicitFormParams, ElicitResult, ElicitUrlParams

__all__ = ["Questions", "ask_fields", "parse_answers"]


class _Declined(Exception):
    pass


class _Cancelled(Exception):
    pass


def parse_answers(words: list[str]) -> dict[str, str]:
    """The ``--answer key=json`` options: texts by the name of the field.

    Raises:
        UsageError: one has no ``=``.
    """
    answers = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise UsageError(f"--answer {word!r}: write --answer field=value")
        answers[key] = text
    return answers


class Questions:
    """Answers for one connection.

    Args:
        terminal: Whom to ask.
        server: Who asks, for display.
        answers: Given values, as text or JSON, by the name of the field.
        accepts: Agree to what has no field to answer: consent, opening a URL, optional fields.
        declines: Decline everything.
        opens: Open a URL that was agreed to in the browser.
        before: Called before anything is printed.
    """

    def __init__(
        self,
        terminal: Terminal,
        *,
        server: str,
        answers: Mapping[str, str] | None = None,
        accepts: bool = False,
        declines: bool = False,
        opens: bool = False,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._terminal = terminal
        self._output: Output = terminal.output
        self._server = server
        self._answers = dict(answers or {})
        self._accepts = accepts
        self._declines = declines
        self._opens = opens
        self._before = before

    async def elicit(self, params: ElicitFormParams) -> ElicitResult:
        """Fill in a form."""
        self._before()
        if self._declines:
            return ElicitResult("decline")
        fields = fields_of(params.requested_schema)
        content = self._given_for(fields)
        missing = [field for field in fields if field.name not in content]
        if self._is_settled(fields, missing):
            self._output.note(
                f"{self._server} asks: {safe_line(params.message)} (answered from the command line)"
            )
            defaults = {field.name: field.default for field in missing if field.default is not NO_VALUE}
            return ElicitResult("accept", {**defaults, **content})
        if not self._terminal.is_interactive:
            raise self._no_answer(params.message, missing)
        self._introduce(params.message)
        try:
            self._output.note("  (empty: the default; :decline refuses; :cancel gives up)")
            content.update(await ask_fields(self._terminal, missing))
            await self._confirm("Send this?" if fields else "Agree?")
        except _Declined:
            return ElicitResult("decline")
        except _Cancelled:
            return ElicitResult("cancel")
        return ElicitResult("accept", content)

    def _is_settled(self, fields: list[Field], missing: list[Field]) -> bool:
        if any(field.is_required and field.default is NO_VALUE for field in missing):
            return False
        return self._accepts or len(missing) < len(fields)

    def _given_for(self, fields: list[Field]) -> dict[str, Any]:
        return {
            field.name: _answer_for(field, self._answers[field.name])
            for field in fields
            if field.name in self._answers
        }

    def _no_answer(self, message: str, missing: list[Field]) -> InputNeededError:
        needed = [field.name for field in missing if field.is_required] or [field.name for field in missing]
        answers = " ".join(f"--answer {name}=…" for name in needed)
        return InputNeededError(
            f"the server asks {message!r}, and there is no terminal to ask",
            where=self._server,
            fix=f"Give {answers or '--accept'}, or --decline",
        )

    def _introduce(self, message: str) -> None:
        self._output.note(f"\nThe server {self._server} asks:")
        for line in message.splitlines():
            self._output.note(f"  {line}")

    async def elicit_url(self, params: ElicitUrlParams) -> ElicitResult:
        """Ask for consent to open a URL: the host and the whole URL are shown, and nothing is opened unasked.

        https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#url-mode-elicitation-requests
        """
        self._before()
        if self._declines:
            return ElicitResult("decline")
        if not self._accepts and not self._terminal.is_interactive:
            raise InputNeededError(
                f"the server asks to open {params.url} ({params.message}), and there is no terminal to ask",
                where=self._server,
                fix="Give --accept (and --open to open it), or --decline",
            )
        self._introduce(params.message)
        self._show_url(params.url)
        try:
            if not self._accepts:
                await self._confirm("Open this page?" if self._opens else "Agree to open this page yourself?")
        except _Declined:
            return ElicitResult("decline")
        except _Cancelled:
            return ElicitResult("cancel")
        if self._opens:
            self._open(params.url)
        return ElicitResult("accept")

    def _show_url(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            host = parts.hostname or "none"
        except ValueError:
            host, parts = "unreadable", urlsplit("")
        self._output.note(f"  host: {safe_line(host)}")
        self._output.note(f"  URL:  {safe_line(url)}")
        if parts.username is not None:
            self._output.note("  warning: what stands before '@' in this URL is no host")
        if not host.isascii() or "xn--" in host:
            self._output.note("  warning: this host has letters that may look like others")

    def _open(self, url: str) -> None:
        if not url.startswith(("http://", "https://")):
            self._output.note("  not opened: it is no web page")
            return
        import webbrowser

        webbrowser.open(url)

    async def _confirm(self, question: str) -> None:
        while True:
            text = await _typed(self._terminal, f"{question} [y]es / [d]ecline / [c]ancel: ")
            answer = text.strip().lower()
            if answer in ("y", "yes"):
                return
            if answer in ("d", "decline", "n", "no"):
                raise _Declined
            if answer in ("c", "cancel"):
                raise _Cancelled


def _answer_for(field: Field, text: str) -> Any:
    """JSON where that fits the field, else the text as if it had been typed.

    Raises:
        UsageError: neither fits.
    """
    try:
        value = msgspec.json.decode(text)
        if not field_problems(field, value):
            return value
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        pass  # Not JSON: text.
    try:
        return read_field(field, text)
    except ValueError as error:
        raise UsageError(f"--answer {field.name}={text}: {error}") from None


async def _typed(terminal: Terminal, prompt: str) -> str:
    try:
        text = await terminal.ask(prompt)
    except EOFError:
        raise _Cancelled from None
    if text.strip() == ":decline":
        raise _Declined
    if text.strip() == ":cancel":
        raise _Cancelled
    return text


async def ask_fields(terminal: Terminal, fields: list[Field]) -> dict[str, Any]:
    """Ask for each field until its value fits; fields that are left empty are left out."""
    content = {}
    for field in fields:
        lines, prompt = show_field(field)
        for line in lines:
            terminal.output.note(safe_line(line))
        while True:
            text = await _typed(terminal, prompt)
            try:
                value = read_field(field, text)
            except ValueError as error:
                terminal.output.note(f"    {safe_line(str(error))}")
                continue
            if value is not NO_VALUE:
                content[field.name] = value
            break
    return content
