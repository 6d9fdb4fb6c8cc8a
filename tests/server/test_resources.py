import base64
import json

import msgspec
import pydantic
import pytest

from mesero.errors import ResourceNotFoundError, UsageError
from mesero.server import Context
from mesero.types import Annotations, BlobResourceContents, Icon, ReadResourceResult, TextResourceContents
from tests.server.talking import quiet_server, talking


class Point(msgspec.Struct):
    x: int


class Pet(pydantic.BaseModel):
    name: str


async def read(function, uri="notes://one", template="notes://one", **options):
    server = quiet_server()
    server.resource(template, **options)(function)
    async with talking(server) as talk:
        return await talk.ask("resources/read", {"uri": uri})


@pytest.mark.parametrize(
    ("value", "kind", "member", "content"),
    [
        ("text", "text/plain", "text", "text"),
        ("", "text/plain", "text", ""),
        (b"\x00\xff", "application/octet-stream", "blob", base64.b64encode(b"\x00\xff").decode()),
        (bytearray(b"a"), "application/octet-stream", "blob", "YQ=="),
        (Point(1), "application/json", "text", '{"x":1}'),
        ([Pet(name="Tom")], "application/json", "text", '[{"name":"Tom"}]'),
        ([], "application/json", "text", "[]"),
        ({"a": None}, "application/json", "text", '{"a":null}'),
        (False, "application/json", "text", "false"),
    ],
)
async def test_what_a_function_returns_becomes_contents(value, kind, member, content):
    result = (await read(lambda: value))["result"]
    assert result["contents"] == [{"uri": "notes://one", "mimeType": kind, member: content}]
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (0, "private", "complete")


@pytest.mark.parametrize("value", ["text", b"text", {"a": 1}])
async def test_a_declared_type_is_the_type_of_the_contents(value):
    result = (await read(lambda: value, mime_type="text/x-note"))["result"]
    assert result["contents"][0]["mimeType"] == "text/x-note"


async def test_contents_may_be_built_one_or_several():
    one = TextResourceContents("notes://one/a", "a")
    two = BlobResourceContents("notes://one/b", b"b", mime_type="image/png")
    assert (await read(lambda: one))["result"]["contents"] == [{"uri": "notes://one/a", "text": "a"}]
    assert [c["uri"] for c in (await read(lambda: [one, two]))["result"]["contents"]] == [
        "notes://one/a",
        "notes://one/b",
    ]


async def test_a_result_may_be_built_with_its_own_cache_hints_and_used_again():
    built = ReadResourceResult(
        contents=[TextResourceContents("notes://one", "a")], ttl_ms=5, cache_scope="public"
    )
    for _ in range(2):
        result = (await read(lambda: built))["result"]
        assert (result["ttlMs"], result["cacheScope"]) == (5, "public")
    assert built.meta is msgspec.UNSET


async def test_cache_hints_are_as_declared():
    result = (await read(lambda: "x", ttl_ms=1000, cache_scope="public"))["result"]
    assert (result["ttlMs"], result["cacheScope"]) == (1000, "public")


@pytest.mark.parametrize(
    "options", [{"ttl_ms": -1}, {"ttl_ms": 1.5}, {"ttl_ms": True}, {"cache_scope": "all"}]
)
def test_cache_hints_that_no_client_can_use_are_refused(options):
    server = quiet_server()
    for uri in ("notes://one", "notes://{key}"):
        with pytest.raises(UsageError, match=r"time to live|cache scope"):
            server.resource(uri, **options)(lambda key="": "x")


async def test_variables_of_a_template_come_as_the_types_of_the_parameters():
    async def note(shelf: str, number: int, ctx: Context) -> str:
        return f"{shelf}/{number + 1}/{ctx.request_id}"

    answer = await read(note, "notes://top%20shelf/4", "notes://{shelf}/{number}")
    assert answer["result"]["contents"][0]["text"] == "top shelf/5/101"
    assert answer["result"]["contents"][0]["uri"] == "notes://top%20shelf/4"


async def not_there(key: int) -> str | None:
    if key == 1:
        return None
    if key == 2:
        return ReadResourceResult(contents=[])
    if key == 3:
        raise ResourceNotFoundError("notes://3")
    raise AssertionError("not reached")


@pytest.mark.parametrize(
    "uri", ["notes://1", "notes://2", "notes://3", "notes://x", "notes://1/2", "other://1", ""]
)
async def test_what_is_not_there_is_an_error_that_names_it(uri):
    answer = await read(not_there, uri, "notes://{key}")
    assert answer["error"] == {
        "code": -32602,
        "message": f"Resource not found: {uri}",
        "data": {"uri": uri},
    }


@pytest.mark.parametrize("value", [float("nan"), object()])
async def test_what_has_no_json_form_is_an_internal_error(value):
    answer = await read(lambda: value)
    assert answer["error"]["code"] == -32603
    assert "the resource 'notes://one' failed" in answer["error"]["message"]


async def test_the_resource_or_template_that_fits_most_closely_is_read():
    server = quiet_server()
    server.resource("notes://{key}")(lambda key: f"key {key}")
    server.resource("notes://index")(lambda: "index")
    server.resource("notes://{+path}")(lambda path: f"path {path}")
    async with talking(server) as talk:
        texts = [
            (await talk.result("resources/read", {"uri": uri}))["contents"][0]["text"]
            for uri in ("notes://index", "notes://7", "notes://a/b")
        ]
    assert texts == ["index", "key 7", "path a/b"]


async def test_everything_that_resources_say_of_themselves_is_listed():
    server = quiet_server()
    about = {
        "title": "One",
        "description": "The first.",
        "mime_type": "text/plain",
        "annotations": Annotations(audience=["user"], priority=1, last_modified="2026-01-01T00:00:00Z"),
        "icons": [Icon("https://example.com/i.png")],
        "meta": {"com.example/a": 1},
    }
    server.resource("notes://one", name="one", size=3, **about)(lambda: "one")
    server.resource("notes://{key}", name="any", **about)(lambda key: key)
    wire = {
        "title": "One",
        "description": "The first.",
        "mimeType": "text/plain",
        "annotations": {"audience": ["user"], "priority": 1, "lastModified": "2026-01-01T00:00:00Z"},
        "icons": [{"src": "https://example.com/i.png"}],
        "_meta": {"com.example/a": 1},
    }
    async with talking(server) as talk:
        (one,) = (await talk.result("resources/list"))["resources"]
        (any_,) = (await talk.result("resources/templates/list"))["resourceTemplates"]
    assert one == {"uri": "notes://one", "name": "one", "size": 3, **wire}
    assert any_ == {"uriTemplate": "notes://{key}", "name": "any", **wire}


@pytest.mark.parametrize(
    ("uri", "function"),
    [
        ("notes://one", lambda key: key),
        ("notes://{key}", lambda: "x"),
        ("notes://{key}", lambda key, other: "x"),
        ("no scheme", lambda: "x"),
        ("{key}", lambda key: "x"),
    ],
)
def test_a_uri_and_its_function_fit_together(uri, function):
    with pytest.raises(UsageError):
        quiet_server().resource(uri)(function)


async def test_a_parameter_with_a_default_need_not_be_a_variable():
    answer = await read(lambda key, more="m": key + more, "notes://a", "notes://{key}")
    assert answer["result"]["contents"][0]["text"] == "am"


async def test_json_is_compact_and_reads_back():
    text = (await read(lambda: {"a": [1, {"b": "ü"}]}))["result"]["contents"][0]["text"]
    assert json.loads(text) == {"a": [1, {"b": "ü"}]}
