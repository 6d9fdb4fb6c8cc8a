import os
import sys
from pathlib import Path

import pytest

import mesero
from examples import files
from mesero.types import Root
from tests.legacy.session_talk import HANDSHAKE_REVISIONS, SessionTalk

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path):
    """Two folders that are open, one that is not, and links between them."""
    for folder in ("open/src", "also", "closed"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "open/package.json").write_text('{"name": "demo"}\n')
    (tmp_path / "open/src/main.py").write_text("import os\nprint('TODO')\n")
    (tmp_path / "also/notes.txt").write_text("a TODO here\n")
    (tmp_path / "closed/secret.txt").write_text("TODO: hide")
    (tmp_path / "open/out").symlink_to(tmp_path / "closed")
    (tmp_path / "open/secret").symlink_to(tmp_path / "closed/secret.txt")
    (tmp_path / "open/again").symlink_to(tmp_path / "open/src")
    (tmp_path / "open/circle").symlink_to(tmp_path / "open/circle")
    return tmp_path


class Caller:
    """Calls the tools as a client of one revision or the other."""

    def __init__(self, call):
        self._call = call

    async def ok(self, tool, **arguments):
        result = await self._call(tool, arguments)
        assert not result.get("isError"), result
        return result

    async def text(self, tool, **arguments):
        return (await self.ok(tool, **arguments))["content"][0]["text"]

    async def value(self, tool, **arguments):
        return (await self.ok(tool, **arguments))["structuredContent"]

    async def failure(self, tool, **arguments):
        result = await self._call(tool, arguments)
        assert result.get("isError"), result
        return result["content"][0]["text"]


@pytest.fixture
async def caller(home):
    roots = [Root((home / name).as_uri()) for name in ("open", "also")]
    client = await mesero.Client.connect(files.server, roots=roots)

    async def call(tool, arguments):
        result = await client.call_tool(tool, arguments)
        return {
            "isError": result.is_error,
            "content": [{"text": result.text}],
            "structuredContent": result.structured_content,
        }

    yield Caller(call)
    await client.aclose()
    files.server.threads.close()


# --- what it does ---


async def test_a_folder_is_listed(caller):
    listed = await caller.value("list_directory")
    assert [(entry["name"], entry["kind"]) for entry in listed] == [
        ("again", "link"),
        ("circle", "link"),
        ("out", "link"),
        ("package.json", "file"),
        ("secret", "link"),
        ("src", "folder"),
    ]


@pytest.mark.parametrize("path", ["src/main.py", "./src/../src/main.py", "again/main.py"])
async def test_a_path_is_relative_to_a_root(caller, path):
    assert "import os" in await caller.text("read_file", path=path)


async def test_a_file_is_found_in_any_root(caller):
    assert "TODO" in await caller.text("read_file", path="notes.txt")


async def test_a_path_may_be_absolute_or_a_uri(caller, home):
    place = home / "also/notes.txt"
    for path in (str(place), place.as_uri()):
        assert "TODO" in await caller.text("read_file", path=path)


async def test_lines_are_found_with_their_places(caller, home):
    found = await caller.value("search_text", text="TODO")
    assert [(match["path"], match["line"]) for match in found] == [(str(home / "open/src/main.py"), 2)]


async def test_files_are_found_by_name_with_their_sizes(caller, home):
    found = await caller.value("search_files", pattern="*.py")
    assert found == [{"path": str(home / "open/src/main.py"), "size": 24}]


async def test_a_file_is_written_and_replaced(caller, home):
    assert "3 bytes" in await caller.text("write_file", path="src/new.txt", content="abc")
    await caller.ok("write_file", path="src/new.txt", content="d")
    assert (home / "open/src/new.txt").read_text() == "d"


# --- what it does not do ---


@pytest.mark.parametrize(
    "path",
    [
        "../closed/secret.txt",
        "src/../../closed/secret.txt",
        "out/secret.txt",
        "secret",
        "/etc/passwd",
        "file:///etc/passwd",
        "file:///%2e%2e/etc/passwd",
        "..",
        "../closed/none",
    ],
)
async def test_no_path_leads_out_of_the_roots(caller, path):
    for tool, more in (("read_file", {}), ("write_file", {"content": "x"}), ("list_directory", {})):
        assert "not in the folders that are open" in await caller.failure(tool, path=path, **more)


async def test_a_neighbour_with_a_longer_name_is_not_in_the_root(caller, home):
    (home / "opening").mkdir()
    (home / "opening/file").write_text("no")
    assert "not in the folders" in await caller.failure("read_file", path=str(home / "opening/file"))


async def test_nothing_was_written_outside(caller, home):
    await caller.failure("write_file", path="out/new.txt", content="x")
    await caller.failure("write_file", path="secret", content="x")
    assert [one.name for one in (home / "closed").iterdir()] == ["secret.txt"]
    assert (home / "closed/secret.txt").read_text() == "TODO: hide"


@pytest.mark.parametrize("path", ["file://elsewhere/etc/passwd", "a\0b", "file:///a%00b"])
async def test_a_path_that_is_none_is_refused(caller, path):
    assert await caller.failure("read_file", path=path)


async def test_what_cannot_be_read_is_named_as_it_was_written(caller, home):
    assert await caller.failure("read_file", path="none.txt") == "'none.txt': no such file or directory"
    assert "is no file" in await caller.failure("read_file", path="src")
    assert "not a directory" in await caller.failure("list_directory", path="package.json")
    (home / "open/data").write_bytes(b"\xff\xfe\x00")
    assert "is no text" in await caller.failure("read_file", path="data")
    (home / "open/long").write_bytes(b"a" * (files.MAX_FILE_BYTES + 1))
    assert "is longer" in await caller.failure("read_file", path="long")
    assert "circle" in await caller.failure("read_file", path="circle")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
async def test_a_pipe_is_not_waited_for(caller, home):
    os.mkfifo(home / "open/pipe")
    for tool, more in (("read_file", {}), ("write_file", {"content": "x"})):
        assert await caller.failure(tool, path="pipe", **more)
    assert await caller.value("search_text", text="nowhere") == []


def open_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_no_descriptor_is_left_open(caller):
    await caller.failure("read_file", path="src")
    before = open_descriptors()
    for path in ("src", "none.txt", "secret", "package.json", "src/main.py"):
        for _ in range(5):
            await caller._call("read_file", {"path": path})
    assert open_descriptors() == before


@pytest.mark.skipif(not files.CAN_WALK, reason="needs descriptors of folders")
def test_a_link_that_came_in_between_is_not_followed(home):
    root = home / "open"
    with pytest.raises(OSError, match="Not a directory"):
        files.open_below(root, root / "out/secret.txt", os.O_RDONLY)
    with pytest.raises(OSError, match="symbolic links"):
        files.open_below(root, root / "secret", os.O_RDONLY)
    os.close(files.open_below(root, root / "src/main.py", os.O_RDONLY))


# --- who it asks ---


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
async def test_in_a_session_it_asks_for_the_roots_with_each_call(home, revision):
    talk = SessionTalk(files.server, revision)
    try:
        await talk.open(revision)
        for number, folder in enumerate(("open", "also")):
            request = talk.request("tools/call", {"name": "read_file", "arguments": {"path": "package.json"}})
            talk.send(request)
            talk.reply(
                await talk.question("roots/list", number), {"roots": [{"uri": (home / folder).as_uri()}]}
            )
            result = (await talk.answer_to(request))["result"]
            assert result["isError"] is (folder == "also")
        assert talk.faults() == []
    finally:
        await talk.connection.aclose()
        files.server.threads.close()


@pytest.mark.parametrize(
    "roots", [[], [{"uri": "https://example.com/"}], [{"uri": "file:///no/such/folder"}]]
)
async def test_without_a_folder_of_this_machine_it_says_so(roots):
    talk = SessionTalk(files.server)
    try:
        await talk.open()
        request = talk.request("tools/call", {"name": "list_directory"})
        talk.send(request)
        talk.reply(await talk.question("roots/list"), {"roots": roots})
        assert "opened no folder" in str(await talk.answer_to(request))
    finally:
        await talk.connection.aclose()
        files.server.threads.close()


async def test_a_client_without_roots_is_refused():
    async with mesero.Client(files.server) as client:
        with pytest.raises(mesero.errors.RpcError, match="roots"):
            await client.call_tool("list_directory")
    files.server.threads.close()


async def test_it_runs_as_a_command(home):
    roots = [Root((home / "open").as_uri())]
    command = [sys.executable, str(ROOT / "examples/files.py")]
    async with mesero.Client(command, roots=roots) as client:
        assert (await client.call_tool("read_file", {"path": "package.json"})).text == '{"name": "demo"}\n'
