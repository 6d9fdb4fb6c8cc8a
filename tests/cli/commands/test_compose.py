import json

from tests.cli.programs import invoke


def test_the_message_is_printed_as_it_would_be_sent():
    result = invoke(["compose", "tools/call", "name=add", 'arguments:={"a":1}', "--id", "4"])
    message = json.loads(result.stdout)
    assert (message["id"], message["method"]) == (4, "tools/call")
    assert message["params"]["arguments"] == {"a": 1}
    assert message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] == "mesero-cli"
    assert len(result.stdout.splitlines()) == 1


def test_http_headers_stand_before_the_message():
    head, body = invoke(["compose", "tools/call", '{"name": "ä"}', "--http"]).stdout.split("\n\n")
    assert "MCP-Protocol-Version: 2026-07-28" in head.splitlines()
    assert "Mcp-Name: =?base64?w6Q=?=" in head.splitlines()
    assert json.loads(body)["params"]["name"] == "ä"


def test_json_holds_headers_and_message():
    document = json.loads(invoke(["compose", "server/discover", "--http", "--json"]).stdout)
    assert document["headers"]["Mcp-Method"] == "server/discover"
    assert document["message"]["method"] == "server/discover"
    assert list(json.loads(invoke(["compose", "x/y", "--json"]).stdout)) == ["message"]


def test_parameters_come_from_stdin_and_keep_metadata_of_their_own():
    stdin = '{"_meta": {"traceparent": "00-x"}, "uri": 5}'
    message = json.loads(invoke(["compose", "resources/read", "-"], stdin=stdin).stdout)
    assert message["params"]["_meta"]["traceparent"] == "00-x"
    assert message["params"]["uri"] == 5


def test_a_notification_has_no_id_and_no_metadata():
    assert json.loads(invoke(["compose", "notifications/cancelled", "requestId=3"]).stdout) == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 3},
    }
    assert json.loads(invoke(["compose", "notifications/x"]).stdout) == {
        "jsonrpc": "2.0",
        "method": "notifications/x",
    }


def test_a_revision_that_is_not_spoken_is_a_usage_error():
    result = invoke(["compose", "tools/list", "--revision", "2027-01-01"])
    assert result.exit_code == 2
    assert "2026-07-28" in result.stderr
