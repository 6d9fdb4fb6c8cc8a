import pytest

from mesero.errors import UsageError
from mesero.host.hosts import HOSTS, SERVER_KEYS, choose_host, host_for


def test_a_host_is_found_by_name_and_an_unknown_one_names_the_others():
    assert host_for("cursor").title == "Cursor"
    with pytest.raises(UsageError, match=r"no host 'emacs'.*claude-desktop, claude-code, cursor"):
        host_for("emacs")


def test_every_host_puts_its_servers_under_a_known_key_and_has_a_word_for_commands():
    for rules in HOSTS.values():
        assert rules.at[0][0] in SERVER_KEYS
        assert rules.types[rules.type_for("stdio")] == "stdio"
        assert rules.types[rules.type_for("http")] == "http"


def test_a_url_is_written_where_its_kind_belongs():
    assert HOSTS["gemini"].url_for("http") == "httpUrl"
    assert HOSTS["gemini"].url_for("sse") == "url"
    assert HOSTS["windsurf"].url_for("http") == "serverUrl"
    assert HOSTS["goose"].url_for("sse") == "uri"


@pytest.mark.parametrize(
    ("path", "root", "host"),
    [
        ("/home/me/.config/Claude/claude_desktop_config.json", None, "claude-desktop"),
        ("p/.mcp.json", None, "claude-code"),
        (".mcp.json", {"servers": {}}, "claude-code"),
        ("/home/me/.claude.json", None, "claude-code"),
        ("C:\\Users\\me\\.cursor\\mcp.json", None, "cursor"),
        ("p/.vscode/mcp.json", None, "vscode"),
        ("/home/me/.config/Code/User/settings.json", None, "vscode"),
        ("/home/me/.codeium/windsurf/mcp_config.json", None, "windsurf"),
        ("/home/me/.codex/config.toml", None, "codex"),
        ("/home/me/.gemini/settings.json", None, "gemini"),
        ("/home/me/.config/zed/settings.json", None, "zed"),
        ("opencode.jsonc", None, "opencode"),
        ("config.yaml", {"extensions": {}}, "goose"),
        ("servers.yml", {"mcpServers": {}}, "plain"),
        ("any.json", {"mcpServers": {}, "servers": {}}, "plain"),
        ("any.json", {"servers": {}}, "vscode"),
        ("any.json", {"context_servers": {}}, "zed"),
        ("any.json", {"mcp": {}}, "opencode"),
        ("any.json", {"mcp": 1}, "plain"),
        ("any.json", [], "plain"),
        ("not-mcp_config.json", None, "plain"),
    ],
)
def test_whose_file_it_is_is_seen_by_its_path_and_else_by_its_content(path, root, host):
    assert choose_host(path, root) == host
