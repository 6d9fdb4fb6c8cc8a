import json

import pytest

from mesero.host.configs import check_across, read_config
from mesero.host.configured import configured_servers, used_entries
from mesero.host.problems import Source


def read(file, host, servers, *, key="mcpServers", scope="user", **more):
    return read_config(json.dumps({key: servers, **more}), Source(file=file, host=host, scope=scope))


def test_of_two_servers_with_one_name_the_later_file_counts():
    user = read("/home/u/.cursor/mcp.json", "cursor", {"notes": {"command": "old"}})
    project = read("/p/.cursor/mcp.json", "cursor", {"notes": {"command": "now"}}, scope="project")

    assert [one.command for one in used_entries([user, project])] == ["now"]
    [server] = configured_servers([user, project], check_across([user, project]), {})
    assert server.launch.command == ("now",)
    assert [one.code for one in server.problems] == ["duplicate-across-files"]


def test_a_server_has_its_own_problems_and_those_of_its_file():
    text = '{"mcpServers": {"a": {"command": "x", "args": "y"}, "b": {"command": "z"},}}'
    file = read_config(text, Source(file="/h/claude_desktop_config.json", host="claude-desktop"))

    one, other = configured_servers([file], [], {})

    assert [each.code for each in one.problems] == ["args-not-list", "trailing-comma"]
    assert [each.code for each in other.problems] == ["trailing-comma"]


def test_two_hosts_do_not_mix():
    cursor = read("/c", "cursor", {"notes": {"command": "a"}})
    zed = read("/z", "zed", {"notes": {"command": "b"}}, key="context_servers")

    servers = configured_servers([cursor, zed], check_across([cursor, zed]), {})

    assert [(one.entry.host, one.launch.command) for one in servers] == [("cursor", ("a",)), ("zed", ("b",))]
    assert [one.problems for one in servers] == [(), ()]


@pytest.mark.parametrize(("host", "expected"), [("vscode", ("key", "url")), ("cursor", ())])
def test_what_a_host_asks_its_user_for_is_known_by_name(host, expected):
    entry = {"url": "https://${input:url}/mcp", "headers": {"A": "${input:key}", "B": "${input:url}"}}
    key = "servers" if host == "vscode" else "mcpServers"

    [server] = configured_servers([read("/f", host, {"far": entry}, key=key)], [], {})

    assert tuple(sorted(server.inputs)) == expected
