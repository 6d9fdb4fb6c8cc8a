"""What a command prints: results on stdout, everything else on stderr, and nothing that a server could steer.

Whatever comes from a server is untrusted when it is printed. A terminal obeys control characters, so they are
shown as escapes instead; so are the invisible characters that reorder text.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, TextIO

import msgspec

from mesero.jsonrpc import encode_value

__all__ = ["Output", "json_text", "safe_line", "safe_text"]

# C0 but tab and newline, DEL, C1; marks and overrides of direction, line separators, half surrogates, tags.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)


def _escape_of(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def safe_text(text: str) -> str:
    """A text of several lines with everything that a terminal might obey shown as an escape."""
    return _UNSAFE.sub(_escape_of, text.replace("\r\n", "\n"))


def safe_line(text: str) -> str:
    """The same on one line: line ends and tabs are escaped too."""
    return safe_text(text).replace("\n", "\\n").replace("\t", "\\t")


def _json_escape_of(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code > 0xFFFF:
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


def json_text(value: Any, *, indent: int = 2) -> str:
    """The JSON text of a value, as safe to print as it is to parse: escapes stand for the same characters.

    Args:
        value: Structs or plain data.
        indent: Spaces a level; 0 for one line.
    """
    raw = encode_value(value)
    if indent:
        raw = msgspec.json.format(raw, indent=indent)
    return _UNSAFE.sub(_json_escape_of, raw.decode())


class Output:
    """The two streams of one command, as they were when it started.

    A server in this process may print as well: its text goes to stderr, our results to the real stdout.

    Attributes:
        as_json: Results are JSON.
        is_verbose: Say more on stderr.
    """

    def __init__(self, *, as_json: bool = False, is_verbose: bool = False) -> None:
        self.as_json = as_json
        self.is_verbose = is_verbose
        self._out: TextIO = sys.stdout
        self._err: TextIO = sys.stderr

    @property
    def is_terminal(self) -> bool:
        """Whether stderr is a terminal: somebody watches."""
        return self._err.isatty()

    @property
    def shows_colours(self) -> bool:
        """Whether stdout is a terminal whose user has nothing against colours: https://no-color.org."""
        return self._out.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def say(self, text: str) -> None:
        """A result for people, on stdout."""
        self._out.write(f"{safe_text(text)}\n")
        self._out.flush()

    def give(self, value: Any, *, indent: int = 2) -> None:
        """A result as one JSON document, on stdout."""
        self._out.write(f"{json_text(value, indent=indent)}\n")
        self._out.flush()

    def note(self, text: str) -> None:
        """Something besides the result, on stderr."""
        self._err.write(f"{safe_text(text)}\n")
        self._err.flush()

    def prompt(self, text: str) -> None:
        """The beginning of a line that somebody will finish."""
        self._err.write(safe_text(text))
        self._err.flush()

    def write_bytes(self, data: bytes) -> None:
        """Bytes as they are, on stdout: for whoever asked for exactly that."""
        self._out.flush()
        self._out.buffer.write(data)
        self._out.buffer.flush()
