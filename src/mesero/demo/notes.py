"""A small notes server, complete: the example to copy.

Functions become tools, resources and prompts; type hints become schemas. Notes live in a store behind opaque
handles, because no session outlives a request. Every handler works over stdio and HTTP alike.
"""

from __future__ import annotations

import asyncio
import os
from typing import Annotated, Any

from msgspec import Meta, Struct

import mesero
from mesero.server.stores import SqliteStore
from mesero.types import Icon, PromptMessage, TextContent, ToolAnnotations

__all__ = ["server"]

PENCIL = Icon(
    "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCA4IDgiPjxwYXRoIGQ9"
    "Ik0wIDh2LTJsNi02IDIgMi02IDZ6Ii8+PC9zdmc+",
    mime_type="image/svg+xml",
    sizes=["any"],
)
# The notebook travels in an HTTP header too, so that a gateway can route by it without reading the body.
Notebook = Annotated[str, mesero.header("Notebook"), Meta(description="Which notebook, for example 'work'")]


class Note(Struct):
    """A note. Its id is a handle: opaque, and valid until the note is deleted."""

    id: str
    title: str
    body: str
    notebook: str


class Confirmation(Struct):
    """The form that asks before something is lost."""

    sure: Annotated[bool, Meta(title="Really delete it?")] = False


notes = SqliteStore(os.environ.get("NOTES_DB", ":memory:"))
server = mesero.Server(
    "notes",
    version=mesero.__version__,
    title="Notes",
    icons=[PENCIL],
    instructions="Search before you add. Ids are opaque: take them from notes_search or notes_add.",
    list_ttl_ms=60_000,
    list_cache_scope="public",
)


def note_of(handle: str) -> Note:
    """The note behind a handle; a tool error in words when there is none."""
    value = notes.find(handle)
    if value is None:
        raise mesero.ToolError(f"There is no note {handle!r}; notes_search finds those that there are.")
    return Note(handle, **value)


@server.tool(name="notes_add", annotations=ToolAnnotations(destructive_hint=False), icons=[PENCIL])
def add(title: str, body: str, notebook: Notebook = "home") -> Note:
    """Keep a note until it is deleted."""
    handle = notes.create({"title": title, "body": body, "notebook": notebook})
    server.notify_resource_updated("notes://index")
    return note_of(handle)


@server.tool(name="notes_search", annotations=ToolAnnotations(read_only_hint=True))
def search(query: str = "", limit: Annotated[int, Meta(ge=1, le=100)] = 20) -> list[Note]:
    """Find notes whose title or body has this text.

    Args:
        query: Part of the title or the body, in any case; empty for all notes.
        limit: The most notes to return.
    """
    found = [Note(handle, **value) for handle, value in notes.items()]
    return [note for note in found if query.lower() in f"{note.title}\n{note.body}".lower()][:limit]


@server.tool(name="notes_delete", annotations=ToolAnnotations(destructive_hint=True))
async def delete(id: str, ctx: mesero.Context) -> str:
    """Delete a note, after asking."""
    note = note_of(id)
    answer = await ctx.elicit(
        f"Delete {note.title!r}? It cannot be brought back.", Confirmation, key="confirm"
    )
    if not (answer.content and answer.content.sure):
        return f"Kept {note.title!r}."
    notes.delete(id)
    server.notify_resource_updated(f"notes://{id}")
    server.notify_resource_updated("notes://index")
    return f"Deleted {note.title!r}."


@server.tool(name="notes_import")
async def import_notes(lines: list[str], ctx: mesero.Context, notebook: Notebook = "imported") -> int:
    """Add one note for each line ("title: body"), reporting progress; can be cancelled in between.

    Args:
        lines: The notes; what stands before the first colon is the title.
    """
    for number, line in enumerate(lines, start=1):
        title, _, body = line.partition(":")
        notes.create({"title": title.strip(), "body": body.strip(), "notebook": notebook})
        await ctx.report_progress(number, len(lines), f"imported {title.strip()!r}")
        await asyncio.sleep(0)  # Where a cancellation can arrive.
    await ctx.log("info", f"{len(lines)} notes imported")
    server.notify_resource_updated("notes://index")
    return len(lines)


@server.resource("notes://{id}", name="note", title="A note", mime_type="text/markdown", ttl_ms=5_000)
def note(id: str) -> str:
    """One note as Markdown."""
    if notes.find(id) is None:
        raise mesero.ResourceNotFoundError(f"notes://{id}")
    found = note_of(id)
    return f"# {found.title}\n\n{found.body}\n"


@server.resource("notes://index", name="index", title="All notes", ttl_ms=1_000)
def index() -> list[dict[str, Any]]:
    """The ids and titles of all notes, as JSON."""
    return [{"id": handle, "title": value["title"]} for handle, value in notes.items()]


@server.prompt(name="notes.summarize", title="Summarize a note")
def summarize(id: str, tone: str = "plain") -> list[PromptMessage]:
    """Ask for a summary of one note.

    Args:
        id: The note.
        tone: How it should sound, for example "plain" or "cheerful".
    """
    found = note_of(id)
    text = f"Summarize this note in one {tone} sentence.\n\n# {found.title}\n\n{found.body}"
    return [PromptMessage("user", TextContent(text))]


@server.completion("notes.summarize", "tone")
def tones(typed: str) -> list[str]:
    """Tones that begin with what was typed."""
    return [tone for tone in ("cheerful", "formal", "plain", "terse") if tone.startswith(typed)]


@server.completion("notes.summarize", "id")
@server.completion("notes://{id}", "id")
def ids(typed: str) -> list[str]:
    """Notes whose id begins with what was typed."""
    return [handle for handle, _ in notes.items() if handle.startswith(typed)]
