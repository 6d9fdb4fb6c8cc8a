"""What the scripts share that write a page of docs/ from a table: cells, and writing or comparing."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["cell", "write_or_check"]


def cell(text: str) -> str:
    """A text for a cell of a table: what looks like HTML would vanish, and a bar would begin the next one."""
    return text.replace("<", "&lt;").replace("|", "\\|")


def write_or_check(
    text: str, *, page: Path, script: str, about: str, arguments: Sequence[str] | None = None
) -> int:
    """Write a page, or with ``--check`` only compare it: 0 when it is as it should be.

    Args:
        text: What is to stand on it.
        page: Where it is, unless ``--out`` says otherwise.
        script: Who writes it, from the root of the project.
        about: The line about that in the help.
        arguments: The words of the command line; None for those of this process.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--out", type=Path, default=page, help="the page to write")
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args(arguments)
    text = text.rstrip("\n") + "\n"
    if options.check:
        if options.out.is_file() and options.out.read_text(encoding="utf-8") == text:
            return 0
        print(f"{options.out} is out of date: run python {script}", file=sys.stderr)
        return 1
    options.out.write_text(text, encoding="utf-8")
    return 0
