import pytest
from msgspec import Raw

from mesero.errors import InvalidParamsError, MissingClientCapabilityError, RpcError
from mesero.jsonrpc import Request, decode_message
from mesero.server.admission import admit, encode_refusal, refusal_of_opening, refusal_of_stateless
from mesero.types import ClientCapabilities, RequestMeta
from tests.server.talking import quiet_server

METADATA = RequestMeta(protocol_version="2025-06-18", client_capabilities=ClientCapabilities())


def server_with_a_needy_tool(**options):
    server = quiet_server(**options)

    @server.tool(requires={"sampling": {}})
    def think() -> str:
        return "4"

    @server.tool
    def add(a: int, b: int) -> int:
        return a + b

    return server


def calling(name):
    return Request(1, "tools/call", Raw(b'{"name":"%s"}' % name.encode()))


async def test_a_request_becomes_a_call_with_typed_parameters():
    call = await admit(server_with_a_needy_tool(), calling("add"), METADATA, None)
    assert call.params.name == "add"
    assert call.principal is None


async def test_what_a_tool_needs_is_checked():
    with pytest.raises(MissingClientCapabilityError):
        await admit(server_with_a_needy_tool(), calling("think"), METADATA, None)


@pytest.mark.parametrize(("method", "code"), [("prompts/list", -32601), ("tools/call", -32602)])
async def test_the_route_and_the_parameters_are_checked(method, code):
    with pytest.raises(RpcError) as caught:
        await admit(server_with_a_needy_tool(), Request(1, method, Raw(b"{}")), METADATA, None)
    assert caught.value.code == code


async def test_the_hook_hears_of_the_operation_and_names_the_principal():
    async def authorize(operation):
        return (operation.method, operation.name, operation.client_info, operation.find_header("x"))

    server = server_with_a_needy_tool(authorize=authorize)
    call = await admit(server, calling("add"), METADATA, None, headers=((b"x", b"y"),))
    assert call.principal == ("tools/call", "add", None, "y")


@pytest.mark.parametrize("data", [float("nan"), object(), {"deep": float("inf")}])
def test_an_error_is_written_whatever_is_in_it(data):
    server = quiet_server()
    error = decode_message(encode_refusal(server, 1, RpcError("so \udc00", code=-7, data=data)))
    assert error.code == -7
    assert "so" in error.message
    assert "without a JSON form" in server.lines[0]


def test_a_request_that_came_by_no_way_in_hears_of_both():
    error = refusal_of_opening(quiet_server(), calling("add"))
    assert isinstance(error, InvalidParamsError)
    assert "io.modelcontextprotocol/protocolVersion" in error.message
    assert "'initialize'" in error.message
    assert error.data["supported"] == ["2026-07-28", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def test_a_server_of_older_revisions_names_them_and_only_them():
    server = quiet_server(revisions=["2025-06-18", "2024-11-05"])
    for error in (refusal_of_opening(server, calling("add")), refusal_of_stateless(server, calling("add"))):
        assert "2024-11-05, 2025-06-18" in error.message
        assert "2026" not in error.message
        # Clients take this code for the promise that there is no handshake.
        assert error.code != -32022
