"""The cut of the package, enforced: who may import whom, what is pure, how long things get, their names.

Each rule of architecture.py runs twice: on the package, where it must find nothing, and on a made-up package,
where it must find what it forbids. A rule that cannot see its own offence would protect nothing.
"""

import subprocess
import sys

import pytest

from tests.architecture import (
    MAX_FILE_LINES,
    MAX_FUNCTION_LINES,
    ROOT,
    RULES,
    bad_names,
    cycles,
    era_words,
    export_faults,
    handwritten_files,
    impurities,
    layer_breaches,
    long_functions,
    made_up,
    missing_mirrors,
    package,
    silent_exceptions,
    words,
)

# What a program that only wants a client must not pay for.
HEAVY = words("mesero.server starlette uvicorn rich typer aiohttp jsonschema_rs cryptography pydantic")


@pytest.mark.parametrize("rule", RULES)
def test_the_package_keeps_the_rule(rule):
    offences = "\n".join(rule(package()))

    assert not offences, offences


OFFENCES = [
    (impurities, {"calls.py": "import time"}, "imports time"),
    (impurities, {"modern/mrtr.py": "def f():\n    from os import path"}, "imports os"),
    (impurities, {"modern/mrtr.py": "from mesero import client", "client.py": "x = 1"}, "imports client"),
    (impurities, {"eras.py": "async def f(): ..."}, "async"),
    (impurities, {"legacy/handshake.py": "import asyncio"}, "imports asyncio"),
    (impurities, {"types/tools.py": "open('x')"}, "calls open"),
    (layer_breaches, {"modern/a.py": "from mesero.legacy import b", "legacy/b.py": ""}, "imports legacy.b"),
    (layer_breaches, {"modern/a.py": "from ..legacy import b", "legacy/b.py": ""}, "imports legacy.b"),
    (
        layer_breaches,
        {"host.py": "def f():\n    import mesero.legacy.b", "legacy/b.py": ""},
        "imports legacy.b",
    ),
    (
        layer_breaches,
        {"client/a.py": "from mesero.server import X", "server/__init__.py": ""},
        "imports server",
    ),
    (
        layer_breaches,
        {"server/a.py": "from mesero import client", "client/__init__.py": ""},
        "imports client",
    ),
    (
        layer_breaches,
        {"transports/a.py": "from mesero.modern.b import c", "modern/b.py": ""},
        "imports modern.b",
    ),
    (layer_breaches, {"legacy/a.py": "from mesero.modern import b", "modern/b.py": ""}, "imports modern.b"),
    (layer_breaches, {"doctor.py": "import mesero.cli.call", "cli/call.py": ""}, "imports cli.call"),
    (
        cycles,
        {"a.py": "import mesero.b", "b.py": "from mesero.c import x", "c.py": "from . import a"},
        "a -> b -> c -> a",
    ),
    (cycles, {"a/__init__.py": "from .b import x", "a/b.py": "from mesero.a import y"}, "a -> a.b -> a"),
    (long_functions, {"a.py": "def f():\n" + "    pass\n" * MAX_FUNCTION_LINES}, "f has 61 lines"),
    (export_faults, {"a.py": "x = 1"}, "no __all__"),
    (export_faults, {"a.py": "__all__ = ['y', 'x']\nx = y = 1"}, "not sorted"),
    (export_faults, {"a.py": "__all__ = ['x', 'x']\nx = 1"}, "not sorted"),
    (export_faults, {"a.py": "__all__ = []\nclass X: ..."}, "lacks X"),
    (export_faults, {"a.py": "from b import x\n__all__ = ['x']"}, "not defined here: x"),
    (era_words, {"transports/stdio.py": "# as in Legacy servers"}, "other era"),
    (bad_names, {"a.py": "class ToolManager: ..."}, "manager"),
    (bad_names, {"a.py": "class HTTPBase: ..."}, "base"),
    (bad_names, {"a.py": "class CallHandler: ..."}, "handler"),
    (bad_names, {"a.py": "class A:\n    def get_tool(self): ..."}, "get_"),
    (bad_names, {"a.py": "def modern_call(): ..."}, "modern"),
    (bad_names, {"a.py": "def legacy_call(): ..."}, "legacy"),
    (silent_exceptions, {"a.py": "x = 1  # noqa"}, "no rule or no reason"),
    (silent_exceptions, {"a.py": "x = 1  # noqa: E501"}, "no rule or no reason"),
    (silent_exceptions, {"a.py": "x = 1  # type: ignore[attr-defined]"}, "no rule or no reason"),
]


@pytest.mark.parametrize(("rule", "sources", "offence"), OFFENCES)
def test_the_rule_sees_what_it_forbids(rule, sources, offence):
    assert any(offence in found for found in rule(made_up(sources)))


INNOCENT = {
    "eras.py": """
from mesero.legacy import handshake
from mesero.modern import envelope
__all__ = ["choose_era"]
def choose_era(): ...
""",
    "legacy/handshake.py": "import mesero.jsonrpc",
    "modern/envelope.py": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import mesero.modern.cache
""",
    "modern/cache.py": "import mesero.modern.envelope",
    "jsonrpc.py": """
import re
_x = 1  # noqa: E501, S101 - a reason
_y = 2  # type: ignore[attr-defined]  # a reason
""",
    "client/calls.py": """
def _f():
    import mesero.client.listen
""",
    "client/listen.py": """
import mesero.client.calls
__all__ = ["LIMIT", "Client", "get_prompt"]
T = TypeVar("T")
LIMIT = 1
class Client: ...
def get_prompt(): ...
""",
}


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_lets_good_code_pass(rule):
    assert list(rule(made_up(INNOCENT))) == []


def test_every_file_has_its_mirror_test_file():
    tests = {file.relative_to(ROOT / "tests").as_posix() for file in (ROOT / "tests").rglob("test_*.py")}
    offences = "\n".join(missing_mirrors(package(), tests))

    assert not offences, offences


def test_a_missing_mirror_is_seen():
    modules = made_up({"a/b.py": "", "a/__init__.py": "from .b import *", "c/__init__.py": "def f(): ..."})

    assert list(missing_mirrors(modules, {"a/test_b.py"})) == ["c/__init__.py: has no tests/c/test_init.py"]
    assert len(list(missing_mirrors(modules, set()))) == 2


def test_a_table_of_texts_is_tested_with_its_package():
    table = '__all__ = ["TEXTS"]\nTEXTS = {}'

    assert list(missing_mirrors(made_up({"a/b.py": table}), set())) == []
    assert len(list(missing_mirrors(made_up({"a/b.py": f"{table}\ndef f(): ..."}), set()))) == 1


def test_no_file_is_longer_than_five_hundred_lines():
    lengths = {
        file.relative_to(ROOT).as_posix(): file.read_text().count("\n") for file in handwritten_files()
    }

    assert {path: length for path, length in lengths.items() if length > MAX_FILE_LINES} == {}


@pytest.mark.parametrize("program", ["import mesero", "from mesero import Client", "import mesero.client"])
def test_a_client_is_imported_without_a_server_or_anything_heavy(program):
    listing = f"import sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"

    done = subprocess.run(
        [sys.executable, "-c", f"{program}; {listing}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stdout.split(), done.stderr) == (0, [], "")
