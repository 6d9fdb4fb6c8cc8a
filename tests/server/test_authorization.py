import pytest

from mesero.server import Context, NotAuthorizedError, Operation
from mesero.server.authorization import NotAuthorizedError as Refusal
from tests.server.talking import EVERYTHING, quiet_server, talking


def guarded_server(authorize, **options):
    server = quiet_server(authorize=authorize, **options)
    server.ran = []

    @server.tool
    async def buy(what: str, ctx: Context) -> str:
        server.ran.append((what, ctx.principal))
        return "bought"

    @server.resource("notes://{id}")
    async def note(id: str, ctx: Context) -> str:
        server.ran.append((id, ctx.principal))
        return id

    return server


async def test_the_hook_sees_the_concrete_operation_and_names_the_principal():
    seen = []

    async def authorize(operation):
        seen.append(operation)
        return "ana"

    server = guarded_server(authorize)
    async with talking(server) as talk:
        await talk.call("buy", {"what": "milk"})
        await talk.result("resources/read", {"uri": "notes://7"})
        await talk.result("tools/list")
    assert [(one.method, one.name) for one in seen] == [
        ("tools/call", "buy"),
        ("resources/read", "notes://7"),
        ("tools/list", None),
    ]
    assert bytes(seen[0].params.arguments) == b'{"what": "milk"}'
    assert seen[0].client_info.name == "test"
    assert seen[0].headers is None
    assert server.ran == [("milk", "ana"), ("7", "ana")]


async def test_what_the_hook_refuses_is_not_run():
    async def authorize(operation):
        if operation.name == "buy":
            raise NotAuthorizedError("no credit")

    server = guarded_server(authorize)
    async with talking(server) as talk:
        error = await talk.call_error("buy", {"what": "milk"})
        await talk.result("tools/list")
    assert error == {"code": -31403, "message": "no credit"}
    assert server.ran == []


async def test_a_hook_that_fails_refuses():
    async def authorize(operation):
        raise LookupError("no such user")

    server = guarded_server(authorize)
    async with talking(server) as talk:
        error = await talk.call_error("buy", {"what": "milk"})
    assert error["code"] == -32603
    assert server.ran == []


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("tools/call", {"arguments": {}}, -32602),
        ("tools/call", {"name": 5}, -32602),
        ("prompts/list", {}, -32601),
        ("no/such", {}, -32601),
    ],
)
async def test_the_hook_is_not_asked_about_what_is_refused_anyway(method, params, code):
    seen = []

    async def authorize(operation):
        seen.append(operation)

    async with talking(guarded_server(authorize)) as talk:
        assert (await talk.error(method, params))["code"] == code
    assert seen == []


async def test_a_state_of_another_principal_does_not_open():
    who = ["ana"]

    async def authorize(operation):
        return {"name": who[0]}

    server = guarded_server(authorize)

    @server.tool
    async def pay(ctx: Context) -> str:
        return (await ctx.elicit("Sure?", key="sure")).action

    answers = {"sure": {"action": "accept"}}
    async with talking(server, EVERYTHING) as talk:
        state = (await talk.call("pay"))["requestState"]
        who[0] = "eve"
        error = await talk.call_error("pay", inputResponses=answers, requestState=state)
        assert error["code"] == -32602
        who[0] = "ana"
        result = await talk.call("pay", inputResponses=answers, requestState=state)
        assert result["content"][0]["text"] == "accept"


def test_header_lines_are_found_whatever_their_case():
    operation = Operation(
        method="tools/list",
        name=None,
        params=None,
        client_info=None,
        headers=((b"authorization", b"Bearer \xe9"), (b"x", b"1")),
    )
    assert operation.find_header("Authorization") == "Bearer é"
    assert operation.find_header("cookie") is None


def test_a_refusal_says_how_http_would_say_it():
    assert (Refusal("no").status, Refusal("no").headers) == (403, ())
    unknown = Refusal("who?", status=401, challenge="Bearer")
    assert (unknown.status, unknown.headers) == (401, (("WWW-Authenticate", "Bearer"),))


async def test_what_a_hook_stumbles_over_is_in_the_log_alone():
    logged = []

    async def authorize(operation):
        raise RuntimeError("no connection to postgres://admin:hunter2@db")

    server = guarded_server(authorize)
    server.log = logged.append
    async with talking(server) as talk:
        error = await talk.call_error("buy", {"what": "milk"})
    assert error["code"] == -32603
    assert "hook failed" in error["message"]
    assert "hunter2" not in error["message"]
    assert "hunter2" in "".join(logged)
    assert server.ran == []


def test_an_operation_shows_no_headers():
    headers = [(b"authorization", b"Bearer geheim")]
    operation = Operation(
        method="tools/call", name="buy", params={"arguments": "4111"}, client_info=None, headers=headers
    )
    assert repr(operation) == "Operation(method='tools/call', name='buy', client_info=None)"
