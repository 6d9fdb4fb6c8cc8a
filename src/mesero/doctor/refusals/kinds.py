"""The kinds of things that hosts and model APIs refuse of tools. Limits are their data.

Each kind looks through a list of tools and gives what is to be refused, with the place inside the tool.
"""

from __future__ import annotations

import re
from abc import ABCMeta, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from mesero.doctor.refusals.places import inner_schemas, path_to

__all__ = [
    "ArrayWithoutItems",
    "CutNames",
    "Dialect",
    "EachTool",
    "Enumeration",
    "Field",
    "Found",
    "Kind",
    "LaterPages",
    "Listed",
    "NameCharacters",
    "NameLength",
    "NoProperties",
    "NotObject",
    "PropertyNames",
    "RemoteReference",
    "SameNames",
    "SchemaWords",
    "TooMany",
    "TupleItems",
    "TypeList",
    "Untyped",
]

Field = Literal["inputSchema", "outputSchema"]

_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TYPING: Final = ("type", "anyOf", "oneOf", "allOf", "$ref")
_ANY_SERVER: Final = "x"
"""The shortest name that a server can have: what is too long with it is too long with every other."""


class Listed(msgspec.Struct, frozen=True):
    """A tool as it is listed, on a page, from 0; ``output`` is None where it has no outputSchema."""

    name: str
    input: Any
    output: Any = None
    page: int = 0
    _walked: dict[Field, list[tuple[str, dict[str, Any]]]] = msgspec.field(default_factory=dict)

    def schema_of(self, field: Field) -> Any:
        """One of its schemas."""
        return self.input if field == "inputSchema" else self.output

    def inner_schemas(self, field: Field = "inputSchema") -> list[tuple[str, dict[str, Any]]]:
        """Every schema inside of one of its schemas, with its path; walked through once for all kinds."""
        if field not in self._walked:
            self._walked[field] = list(inner_schemas(self.schema_of(field), f"$.{field}"))
        return self._walked[field]


class Found(msgspec.Struct, frozen=True):
    """One thing that is refused.

    Attributes:
        number: Which tool of the list, from 0.
        where: The place inside the tool, as a JSON path.
        what: What is there, in words.
        fix: What to write instead, where that can be told.
    """

    number: int
    where: str
    what: str
    fix: str = ""


class _AbstractStruct(msgspec.StructMeta, ABCMeta):
    """What makes a Struct that says what its kinds must have."""


class Kind(msgspec.Struct, frozen=True, metaclass=_AbstractStruct):
    """A kind of thing that is refused."""

    @abstractmethod
    def find(self, tools: Sequence[Listed], server: str | None) -> Iterator[Found]:
        """What is to be refused.

        Args:
            tools: A whole list.
            server: The name by which the server is configured; None where it is not known.
        """


class EachTool(Kind, frozen=True):
    """A kind that looks at one tool at a time."""

    def find(self, tools: Sequence[Listed], server: str | None) -> Iterator[Found]:
        """See `Kind.find`."""
        for number, tool in enumerate(tools):
            for where, what, fix in self._look(tool, server):
                yield Found(number, where, what, fix)

    @abstractmethod
    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        """(where, what, fix) of one tool."""


# -- names ---------------------------------------------------------------------------------------------------


def _cleaned(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "tool"


class NameCharacters(EachTool, frozen=True):
    """A name has other characters than these: ``allowed``, and at its beginning ``first``.

    Both are what stands between the brackets of a regular expression.
    """

    allowed: str
    first: str = ""

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        odd = re.search(f"[^{self.allowed}]", tool.name)
        if not tool.name:
            yield "$.name", "its name is empty", "Give it a name."
        elif odd is not None:
            better = _cleaned(tool.name)
            yield "$.name", f"its name has the character {odd[0]!r}", f"Call it {better!r}, for example."
        elif self.first and not re.match(f"[{self.first}]", tool.name):
            better = f"_{tool.name}"
            yield "$.name", f"its name begins with {tool.name[0]!r}", f"Call it {better!r}, for example."


class NameLength(EachTool, frozen=True):
    """A name is too long in the form that a host gives it, with ``{server}`` and ``{tool}``.

    Where the server's name is not known, only what is too long with the shortest name of all is refused.
    """

    max_chars: int
    form: str = "{tool}"

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        around = len(self.form.format(server=server or _ANY_SERVER, tool=""))
        size, room = len(tool.name), self.max_chars - around
        if size <= room:
            return
        if size > self.max_chars:
            what = f"its name has {size} characters, more than {self.max_chars}"
            fix = f"Shorten it to less than {self.max_chars}: many hosts put the server's name before it."
        elif server is None:
            what = f"its name has {size} characters, and more than {self.max_chars} as {self.form}"
            fix = f"Shorten it to at most {room} characters, less if the server has a long name."
        else:
            full = self.form.format(server=server, tool=tool.name)
            what = f"as {full!r} its name has {len(full)} characters, more than {self.max_chars}"
            spare = len(server) - (len(full) - self.max_chars)
            ways = [f"it to at most {room} characters"] if room > 0 else []
            ways += [f"the server's name in the configuration to at most {spare}"] if spare > 0 else []
            fix = f"Shorten {', or '.join(ways) or 'both names'}."
        yield "$.name", what, fix


class SameNames(Kind, frozen=True):
    """Two names are the same once a host has put ``_`` in place of what it does not allow.

    With nothing in ``allowed``, two tools have the very same name.
    """

    allowed: str = ""

    def find(self, tools: Sequence[Listed], server: str | None) -> Iterator[Found]:
        """See `Kind.find`."""
        seen: dict[str, str] = {}
        for number, tool in enumerate(tools):
            shown = re.sub(f"[^{self.allowed}]", "_", tool.name) if self.allowed else tool.name
            if shown not in seen:
                seen[shown] = tool.name
            elif not self.allowed:
                fix = f"List {shown!r} once, or rename one of them."
                yield Found(number, "$.name", f"another tool is called {shown!r}, too", fix)
            elif seen[shown] != tool.name:
                first = seen[shown]
                what = f"{first!r} and {tool.name!r} both become {shown!r}"
                yield Found(number, "$.name", what, f"Rename one of them: {first!r} or {tool.name!r}.")


class CutNames(Kind, frozen=True):
    """Two names are the same once a host has cut their middle out, to make them short enough."""

    max_chars: int
    form: str
    head_chars: int
    tail_chars: int

    def find(self, tools: Sequence[Listed], server: str | None) -> Iterator[Found]:
        """See `Kind.find`."""
        seen: dict[tuple[str, str], str] = {}
        for number, tool in enumerate(tools):
            full = self.form.format(server=server or _ANY_SERVER, tool=tool.name)
            if len(full) <= self.max_chars:
                continue
            first = seen.setdefault((full[: self.head_chars], full[-self.tail_chars :]), tool.name)
            if first != tool.name:
                what = f"{first!r} and {tool.name!r} are the same once they are cut to {self.max_chars}"
                room = self.max_chars - len(full) + len(tool.name)
                yield Found(number, "$.name", what, f"Shorten both to at most {max(room, 1)} characters.")


class TooMany(Kind, frozen=True):
    """A server has more tools than one request may have."""

    max_tools: int

    def find(self, tools: Sequence[Listed], server: str | None) -> Iterator[Found]:
        """See `Kind.find`."""
        if len(tools) > self.max_tools:
            what = f"the server has {len(tools)} tools, more than {self.max_tools}"
            yield Found(self.max_tools, "$", what)


class LaterPages(Kind, frozen=True):
    """A tool is not on the first page of the list."""

    def find(self, tools: Sequence[Listed], server: str | None) -> Iterator[Found]:
        """See `Kind.find`: the first of them stands for all."""
        later = [number for number, tool in enumerate(tools) if tool.page]
        if later:
            yield Found(later[0], "$", f"{len(later)} of {len(tools)} tools are not on the first page")


# -- schemas -------------------------------------------------------------------------------------------------


class SchemaWords(EachTool, frozen=True):
    """A schema has one of these keywords: at its top, or anywhere."""

    words: tuple[str, ...]
    is_top: bool = False

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        for where, schema in tool.inner_schemas():
            found = [word for word in self.words if word in schema]
            if found:
                yield where, f"{' and '.join(found)}{' at the top' if self.is_top else ''}", ""
            if self.is_top:
                return


class ArrayWithoutItems(EachTool, frozen=True):
    """An array does not say what is in it."""

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        for where, schema in tool.inner_schemas():
            if schema.get("type") == "array" and "items" not in schema and "prefixItems" not in schema:
                yield where, "an array without items", 'Add "items", for example "items": {"type": "string"}.'


class TupleItems(EachTool, frozen=True):
    """The ``items`` of an array are a list, as they were before 2020-12."""

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        declared = tool.input.get("$schema", "") if isinstance(tool.input, dict) else ""
        # By the dialect that holds without a declaration such a schema is invalid anyway.
        if not declared or "2020-12" in str(declared):
            return
        for where, schema in tool.inner_schemas():
            if isinstance(schema.get("items"), list):
                yield where, "items that are a list", 'Call them "prefixItems", and leave $schema out.'


class TypeList(EachTool, frozen=True):
    """A ``type`` is a list of types."""

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        for where, schema in tool.inner_schemas():
            if isinstance(schema.get("type"), list):
                shown = msgspec.json.encode(schema["type"]).decode()
                fix = "Leave null out, and the property out of required; or write anyOf, with one type each."
                yield where, f"the type is the list {shown}", fix


class Enumeration(EachTool, frozen=True):
    """An ``enum`` has an empty text, or with ``of_texts`` anything that is no text."""

    of_texts: bool = False

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        for where, schema in tool.inner_schemas():
            values = schema.get("enum")
            if not isinstance(values, list):
                continue
            if not self.of_texts and "" in values:
                fix = "Take it out: leave the property out of required, and say what it means to omit it."
                yield where, "an enum with an empty text", fix
            elif self.of_texts and any(not isinstance(each, str) for each in values):
                fix = "Write the values as texts, or take the enum away and name them in the description."
                yield where, "an enum of other values than texts", fix


class Untyped(EachTool, frozen=True):
    """A property has no type, and neither alternatives nor a reference in its place."""

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        for where, schema in tool.inner_schemas():
            properties = schema.get("properties")
            for name, inner in properties.items() if isinstance(properties, dict) else ():
                if isinstance(inner, dict) and not any(word in inner for word in _TYPING):
                    yield path_to(where, "properties", name), "a property without a type", 'Add its "type".'


class PropertyNames(EachTool, frozen=True):
    """A parameter has another name than this."""

    pattern: str

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        properties = tool.input.get("properties") if isinstance(tool.input, dict) else None
        for name in properties if isinstance(properties, dict) else ():
            if not re.fullmatch(self.pattern, name):
                better = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_")[:64] or "value"
                where = path_to("$.inputSchema.properties", name)
                yield where, f"a parameter that is called {name!r}", f"Call it {better!r}, for example."


class NoProperties(EachTool, frozen=True):
    """The inputSchema has no ``properties``, not even none."""

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        if isinstance(tool.input, dict) and "properties" not in tool.input:
            yield "$.inputSchema", "no properties", 'Add "properties": {}.'


class NotObject(EachTool, frozen=True):
    """A schema does not say at its top that its values are objects."""

    field: Field

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        schema = tool.schema_of(self.field)
        if isinstance(schema, dict) and schema.get("type") != "object":
            is_given = "type" in schema
            shown = msgspec.json.encode(schema["type"]).decode() if is_given else "missing"
            fix = (
                'Return an object that has the value in a property, for example "result", and describe that: '
                '"type": "object".'
            )
            yield f"$.{self.field}", f"its type is {shown}, not object", fix


class Dialect(EachTool, frozen=True):
    """A schema declares one of these dialects; each is a part of its URI."""

    dialects: tuple[str, ...]
    field: Field

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        schema = tool.schema_of(self.field)
        declared = schema.get("$schema") if isinstance(schema, dict) else None
        if isinstance(declared, str) and any(each in declared for each in self.dialects):
            fix = 'Leave "$schema" out; or write 2020-12, and "$defs" in place of "definitions".'
            yield f"$.{self.field}.$schema", f"it declares {declared!r}", fix


class RemoteReference(EachTool, frozen=True):
    """A schema refers to something outside of itself."""

    field: Field

    def _look(self, tool: Listed, server: str | None) -> Iterator[tuple[str, str, str]]:
        for where, schema in tool.inner_schemas(self.field):
            target = schema.get("$ref", schema.get("$dynamicRef"))
            if isinstance(target, str) and _ABSOLUTE.match(target):
                yield (
                    where,
                    f"a reference to {target!r}",
                    'Put what it refers to into "$defs" of this schema.',
                )
