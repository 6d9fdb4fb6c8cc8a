import io
import sys

import pytest

import mesero
from mesero.errors import UsageError
from mesero.extensions import Extension, MethodSpec
from mesero.types import Icon, ListParams, ListToolsResult
from tests.server.talking import quiet_server, talking


@pytest.mark.parametrize(
    "options", [{"page_size": 0}, {"list_ttl_ms": -1}, {"list_cache_scope": "all"}, {"state_keys": [b"x"]}]
)
def test_settings_that_cannot_work_are_refused(options):
    with pytest.raises(UsageError):
        mesero.Server("s", **options)


def test_a_server_says_who_it_is():
    server = mesero.Server(
        "s",
        version="2",
        title="T",
        description="D",
        website_url="https://example.com",
        icons=[Icon("https://example.com/i.png")],
    )
    assert (server.info.name, server.info.version, server.info.title) == ("s", "2", "T")
    assert (server.info.description, server.info.website_url) == ("D", "https://example.com")
    assert server.info.icons == [Icon("https://example.com/i.png")]


def test_decorators_give_the_function_back_with_and_without_options():
    server = quiet_server()

    def one(x: str = "") -> str:
        return x

    assert server.tool(one) is one
    assert server.tool(name="two")(one) is one
    assert server.prompt(one) is one
    assert server.prompt(name="two")(one) is one
    assert server.resource("a://{x}")(one) is one
    assert server.completion("one", "x")(one) is one
    assert sorted(entry.tool.name for entry in server.tools) == ["one", "two"]


@pytest.mark.parametrize(
    ("register", "function"),
    [
        (lambda server: server.tool(name="a"), lambda: None),
        (lambda server: server.prompt(name="a"), lambda: "x"),
        (lambda server: server.resource("a:b"), lambda: "x"),
        (lambda server: server.resource("a:{b}"), lambda b: b),
    ],
    ids=["tool", "prompt", "resource", "template"],
)
def test_a_name_is_taken_once(register, function):
    server = quiet_server()
    register(server)(function)
    with pytest.raises(UsageError, match="already"):
        register(server)(function)


ECHO = MethodSpec(name="com.example/echo", params=ListParams, result=ListToolsResult)


def test_an_extension_brings_the_function_of_each_of_its_methods():
    extension = Extension(identifier="com.example/echo", methods=(ECHO,))
    with pytest.raises(UsageError, match=r"no function for com\.example/echo"):
        mesero.Server("s", extensions=[(extension, {})])


async def test_an_extensions_method_is_served_and_declared():
    async def echo(call):
        return ListToolsResult(tools=[], next_cursor=call.params.cursor)

    extension = Extension(identifier="com.example/echo", methods=(ECHO,), settings={"loud": True})
    server = quiet_server(extensions=[(extension, {"com.example/echo": echo})])
    async with talking(server, {"extensions": {"com.example/echo": {}}}) as talk:
        assert (await talk.result("com.example/echo", {"cursor": "c"}))["nextCursor"] == "c"
        capabilities = (await talk.result("server/discover"))["capabilities"]
    assert capabilities["extensions"] == {"com.example/echo": {"loud": True}}


def test_the_log_goes_to_stderr_and_never_raises(capsys, monkeypatch):
    server = mesero.Server("s")
    server.log("hello")
    assert capsys.readouterr() == ("", "hello\n")
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    server.log("nobody hears")


def test_an_exception_is_logged_with_its_traceback():
    server = quiet_server()
    with pytest.raises(LookupError) as caught:
        {}["x"]
    server.log_exception("work", caught.value)
    assert server.lines[0].startswith("work raised:\nTraceback")
    assert "KeyError: 'x'" in server.lines[0]


def test_an_asgi_application_is_made_of_a_server():
    assert callable(mesero.Server("s").asgi(path="/x"))


def test_the_log_shows_what_a_terminal_would_obey(capsys):
    mesero.Server("s").log("a\x1b[2Jb\r\x9bc\u202e\n\tü")
    assert capsys.readouterr().err == "a\\x1b[2Jb\\x0d\\x9bc\\u202e\n\tü\n".replace("\\x0d", "\\r")
