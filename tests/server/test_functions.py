import functools
import threading

import msgspec
import pytest

from mesero.errors import UsageError
from mesero.server import Context
from mesero.server.functions import (
    async_function_for,
    describe,
    name_of,
    read_signature,
    struct_field_for,
)
from mesero.server.threads import WorkerThreads


async def add(a: int, b: int = 2, *, ctx: Context | None = None) -> str:
    """Add.

    Args:
        a: The first.
    """
    return str(a + b)


class Adder:
    """Adds as an object."""

    async def __call__(self, a: int) -> int:
        """Add one."""
        return a + 1

    def plain(self, a: int) -> int:
        return a + 1


def test_a_signature_is_the_parameters_without_the_context():
    signature = read_signature(add)
    assert signature.parameters == {"a": (int, msgspec.NODEFAULT), "b": (int, 2)}
    assert signature.context_name == "ctx"
    assert signature.returns is str


def test_methods_objects_and_partials_are_functions_too():
    assert read_signature(Adder()).parameters == {"a": (int, msgspec.NODEFAULT)}
    assert read_signature(Adder().plain).parameters == {"a": (int, msgspec.NODEFAULT)}
    assert read_signature(functools.partial(add, 1)).parameters == {"b": (int, 2)}
    assert [name_of(one) for one in (add, Adder(), functools.partial(add, 1))] == ["add", "Adder", "add"]
    assert describe(Adder())[0] == "Add one."
    assert describe(functools.partial(add, 1))[1] == {"a": "The first."}


@pytest.mark.parametrize(
    "function", [lambda *a: None, lambda **k: None, lambda a, /: None], ids=["args", "kwargs", "positional"]
)
def test_parameters_that_no_name_fills_are_refused(function):
    with pytest.raises(UsageError, match="cannot be filled by name"):
        read_signature(function)


def test_any_names_may_be_taken_where_a_schema_gives_them():
    assert read_signature(lambda a, **rest: None, may_take_any=True).parameters.keys() == {"a"}


def test_an_annotation_that_cannot_be_resolved_is_refused():
    def broken(a: "Nowhere") -> None:  # noqa: F821  (that is the point)
        """Nothing."""

    with pytest.raises(UsageError, match="broken: its annotations cannot be resolved"):
        read_signature(broken)


def test_a_default_that_can_be_changed_is_copied():
    default = [1]
    struct = msgspec.defstruct("T", [struct_field_for("a", list, default), struct_field_for("b", int, 1)])
    first, second = struct(), struct()
    first.a.append(2)
    assert (second.a, default, second.b) == ([1], [1], 1)


def test_a_docstring_is_a_description_and_those_of_the_parameters():
    assert describe(add) == ("Add.", {"a": "The first."})
    assert describe(lambda: None) == ("", {})

    def odd(a):
        """Args:"""

    assert "a" not in describe(odd)[1]


async def test_a_plain_function_runs_in_a_thread_unless_it_is_inline():
    threads = WorkerThreads()

    def where():
        return threading.current_thread()

    assert await async_function_for(where, threads, inline=False)() is not threading.current_thread()
    assert await async_function_for(where, threads, inline=True)() is threading.current_thread()
    threads.close()


@pytest.mark.parametrize("inline", [True, False])
async def test_what_a_plain_wrapper_of_an_async_function_returns_is_awaited(inline):
    threads = WorkerThreads()

    @functools.wraps(add)
    def wrapper(*args, **kwargs):
        return add(*args, **kwargs)

    called = async_function_for(wrapper, threads, inline=inline)
    assert await called(a=1) == "3"
    assert await async_function_for(Adder(), threads, inline=inline)(a=1) == 2
    assert await async_function_for(functools.partial(add, b=5), threads, inline=inline)(a=1) == "6"
    threads.close()
