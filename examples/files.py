"""A file server that keeps to the roots of its client: it lists, reads, searches and writes, and only there.

Run it with ``mesero serve examples/files.py``. Which folders it may touch is the client's to say, with each
call; paths, links and races that lead out of them end in an error that tells nothing of what is outside.
A path is relative to a root, absolute, or a ``file:`` URI.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Annotated, BinaryIO
from urllib.parse import urlsplit
from urllib.request import url2pathname

from msgspec import Meta, Struct

import mesero

__all__ = [
    "Entry",
    "Found",
    "Match",
    "list_directory",
    "read_file",
    "search_files",
    "search_text",
    "server",
    "write_file",
]

MAX_FILE_BYTES = 1024 * 1024
MAX_MATCHES = 200
MAX_ENTRIES = 5000

# Windows has no descriptors of folders, and no such flags.
CAN_WALK = os.open in os.supports_dir_fd
NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
AT_ONCE = getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)

server = mesero.Server(
    "files",
    version="1.0.0",
    instructions="Works in the folders that the user has opened. List a folder before you read its files.",
)

FilePath = Annotated[str, Meta(description="Relative to a root, absolute, or a file: URI")]


class Entry(Struct):
    """One entry of a folder."""

    name: str
    kind: str
    size: int


class Found(Struct):
    """One file that was found; its size is in bytes."""

    path: str
    size: int


class Match(Struct):
    """One line that was found."""

    path: str
    line: int
    text: str


@server.tool(requires={"roots": {}})
def list_directory(ctx: mesero.Context, path: FilePath = ".") -> list[Entry]:
    """List the entries of a folder."""
    _, place = find_place(path, roots_of(ctx))
    try:
        with os.scandir(place) as found:
            entries = [entry_from(one) for one, _ in zip(found, range(MAX_ENTRIES), strict=False)]
    except OSError as error:
        raise mesero.ToolError(f"{path!r}: {(error.strerror or str(error)).lower()}") from None
    return sorted(entries, key=lambda entry: entry.name)


@server.tool(requires={"roots": {}})
def read_file(ctx: mesero.Context, path: FilePath) -> str:
    """Read a text file."""
    root, place = find_place(path, roots_of(ctx))
    return read_text(path, root, place)


@server.tool(requires={"roots": {}})
def search_files(ctx: mesero.Context, pattern: str, path: FilePath = ".") -> list[Found]:
    """Find the files below a folder whose names match a pattern, for example ``*.py``."""
    _, start = find_place(path, roots_of(ctx))
    matching = (place for place in files_below(start) if fnmatch(place.name, pattern))
    return [
        Found(str(place), place.stat(follow_symlinks=False).st_size)
        for place, _ in zip(matching, range(MAX_MATCHES), strict=False)
    ]


@server.tool(requires={"roots": {}})
def search_text(
    ctx: mesero.Context, text: Annotated[str, Meta(min_length=1)], path: FilePath = "."
) -> list[Match]:
    """Find the lines that contain a text, in all text files below a folder."""
    root, start = find_place(path, roots_of(ctx))
    matches: list[Match] = []
    for place in files_below(start):
        try:
            lines = read_text(str(place), root, place).splitlines()
        except mesero.ToolError:
            continue  # No text, too long, or gone meanwhile.
        for number, line in enumerate(lines, 1):
            if text in line:
                matches.append(Match(str(place), number, line[:500]))
                if len(matches) == MAX_MATCHES:
                    return matches
        if ctx.cancelled:
            break
    return matches


@server.tool(requires={"roots": {}})
def write_file(ctx: mesero.Context, path: FilePath, content: str) -> str:
    """Write a text file; one that exists is replaced. Its folder has to exist."""
    root, place = find_place(path, roots_of(ctx))
    data = content.encode()
    with opened(path, root, place, os.O_WRONLY | os.O_CREAT) as file:
        file.truncate()
        file.write(data)
    return f"{len(data)} bytes written to {place}"


# -- where that is -------------------------------------------------------------------------------------------


def roots_of(ctx: mesero.Context) -> list[Path]:
    """The client's roots that are folders of this machine, without links in their paths."""
    named = ctx.wait_for(ctx.roots())
    found = [local_path(root.uri).resolve() for root in named if root.uri.startswith("file:")]
    roots = [root for root in found if root.is_dir()]
    if not roots:
        raise mesero.ToolError("the client has opened no folder of this machine")
    return roots


def local_path(text: str) -> Path:
    """A path, or a ``file:`` URI, as a path of this machine."""
    if "\0" in text:
        raise mesero.ToolError("a path has no null character in it")
    if not text.startswith("file:"):
        return Path(text)
    parts = urlsplit(text)
    if parts.netloc not in {"", "localhost"}:
        raise mesero.ToolError(f"{text!r} is on another machine")
    path = url2pathname(parts.path)
    if "\0" in path:
        raise mesero.ToolError("a path has no null character in it")
    return Path(path)


def find_place(path: str, roots: list[Path]) -> tuple[Path, Path]:
    """The root that a path is in, and the place itself, without links in it; it need not exist.

    Raises:
        ToolError: it is in none of them.
    """
    given = local_path(path)
    # The first root that has it; a new one would be in the first root.
    base = next((root for root in roots if os.path.lexists(root / given)), roots[0])
    try:
        place = (base / given).resolve()
    except (OSError, RuntimeError):
        raise mesero.ToolError(f"{path!r} goes round in a circle of links") from None
    home = next((root for root in roots if place.is_relative_to(root)), None)
    if home is None:
        raise mesero.ToolError(f"{path!r} is not in the folders that are open: {', '.join(map(str, roots))}")
    return home, place


def open_below(root: Path, place: Path, flags: int) -> int:
    """Open a file below a root, one folder after the other, each without following a link.

    `find_place` has resolved all links; one that is there now came in between.
    """
    flags |= NO_LINKS | AT_ONCE | BINARY
    parts = place.relative_to(root).parts
    if not CAN_WALK or not parts:
        return os.open(place, flags, 0o666)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | NO_LINKS, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], flags, 0o666, dir_fd=folder)
    finally:
        os.close(folder)


@contextmanager
def opened(path: str, root: Path, place: Path, flags: int) -> Iterator[BinaryIO]:
    """A file below a root; what goes wrong with it is told in words.

    Raises:
        ToolError: it cannot be opened, read or written, or is no file.
    """
    try:
        descriptor = open_below(root, place, flags)
        # Pipes and devices could be waited for, or read, for ever.
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise mesero.ToolError(f"{path!r} is no file")
        with os.fdopen(descriptor, "wb" if flags & os.O_WRONLY else "rb") as file:
            yield file
    except OSError as error:
        raise mesero.ToolError(f"{path!r}: {(error.strerror or str(error)).lower()}") from None


def read_text(path: str, root: Path, place: Path) -> str:
    """The text of a file.

    Raises:
        ToolError: it cannot be read, is no text, or is too long.
    """
    with opened(path, root, place, os.O_RDONLY) as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise mesero.ToolError(f"{path!r} is longer than {MAX_FILE_BYTES} bytes")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise mesero.ToolError(f"{path!r} is no text") from None


def files_below(start: Path) -> Iterator[Path]:
    """All files below a folder, links left out, in order."""
    if start.is_file():
        yield start
    for folder, folders, names in os.walk(start):
        folders.sort()
        for name in sorted(names):
            place = Path(folder, name)
            if not place.is_symlink():
                yield place


def entry_from(found: os.DirEntry[str]) -> Entry:
    """What is told of an entry; a link is not followed."""
    if found.is_symlink():
        return Entry(found.name, "link", 0)
    kind = "folder" if found.is_dir() else "file"
    return Entry(found.name, kind, found.stat(follow_symlinks=False).st_size if kind == "file" else 0)


if __name__ == "__main__":
    server.run()
