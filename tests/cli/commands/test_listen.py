import json

from tests.cli.programs import OnTerminal, invoke


def test_changes_are_printed_one_a_line_until_the_count(changing):
    result = invoke(["listen", changing, "--tools", "--resource", "file:///x", "--count", "2"])
    assert result.exit_code == 0
    assert result.stdout == "resource file:///x\ntools changed\n"
    assert '"resourceSubscriptions":["file:///x"]' in result.stderr


def test_without_options_all_lists_are_listened_to(changing):
    result = invoke(["listen", changing, "--count", "1"])
    assert result.stdout == "tools changed\n"
    assert '"toolsListChanged":true' in result.stderr
    assert '"resourcesListChanged":true' in result.stderr


def test_json_is_a_line_a_change(changing):
    words = ["listen", changing, "--tools", "--resource", "file:///x", "--count", "2", "--json"]
    first, second = (json.loads(line) for line in invoke(words).stdout.splitlines())
    assert (first["kind"], first["uri"]) == ("resource", "file:///x")
    assert second["kind"] == "tools"
    assert "uri" not in second


def test_ctrl_c_ends_it(notes):
    with OnTerminal(["listen", notes, "--tools"]) as terminal:
        terminal.wait_for("Ctrl-C ends")
        terminal.interrupt()
        code, out = terminal.result()
        assert (code, out) == (130, "")
        assert "Traceback" not in terminal.seen


def test_a_server_that_ends_the_subscription_ends_the_command(tmp_path):
    path = tmp_path / "ending.py"
    path.write_text(
        "import asyncio\nimport mesero\nserver = mesero.Server('ending')\n"
        "@server.tool\ndef one() -> str:\n    return ''\n"
        "async def end():\n    while not server.subscriptions:\n        await asyncio.sleep(0.01)\n"
        "    server.end_subscriptions()\n"
        "original = server.connect\n"
        "def connect(send):\n    server.task = asyncio.get_running_loop().create_task(end())\n"
        "    return original(send)\n"
        "server.connect = connect\n"
    )
    result = invoke(["listen", str(path), "--tools"])
    assert (result.exit_code, result.stdout) == (0, "")
    assert "the server ended the subscription" in result.stderr


def test_a_word_too_many_is_a_usage_error(notes):
    assert invoke(["listen", notes, "tools"]).exit_code == 2
