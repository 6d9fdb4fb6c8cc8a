"""What a command is called in errors and logs."""

import pytest

from mesero.errors import LaunchError
from mesero.transports.stdio import StdioTransport


@pytest.mark.parametrize(
    ("arguments", "secret"),
    [
        (["--api-key", "geheim-123456"], "geheim-123456"),
        (["--token=geheim-123456"], "geheim-123456"),
        (["-e", "GITHUB_TOKEN=geheim-123456"], "geheim-123456"),
        (["--header", "Authorization: Bearer geheim-123456"], "geheim-123456"),
        (["postgres://admin:geheim-123456@db/notes"], "geheim-123456"),
        (["sk-proj-0123456789abcdefghijklmnop"], "0123456789abcdefghijklmnop"),
    ],
)
async def test_secrets_among_the_arguments_are_in_no_error(arguments, secret):
    transport = StdioTransport(["no-such-program-anywhere", *arguments])
    with pytest.raises(LaunchError) as caught:
        await transport.open()
    await transport.aclose()
    assert secret not in str(caught.value)
    assert "<redacted length=" in str(caught.value)
    assert transport.command[-1] == arguments[-1]


@pytest.mark.parametrize(
    "command", [["uvx", "mcp-server-time", "--tz", "UTC"], ["python", "-m", "keys", "--author", "me"]]
)
def test_a_command_without_secrets_is_shown_as_it_is(command):
    assert StdioTransport(command).target == " ".join(command)
