"""``python -m mesero.demo``."""

import sys

import mesero
from mesero.demo.__main__ import main


async def test_notes_in_a_file_survive_the_end_of_the_server(tmp_path):
    command, env = [sys.executable, "-m", "mesero.demo"], {"NOTES_DB": str(tmp_path / "notes.db")}
    async with mesero.Client(command, env=env) as client:
        added = await client.call_tool("notes_add", {"title": "Milk", "body": "two litres"})
    async with mesero.Client(command, env=env) as client:
        found = await client.call_tool("notes_search", {"query": "milk"})
    assert found.structured_content == [added.structured_content]


def test_http_serves_on_the_given_port(monkeypatch):
    served = []
    monkeypatch.setattr(
        "mesero.server.run_http.run_http", lambda server, port: served.append((server.info.name, port))
    )
    monkeypatch.setattr(sys, "argv", ["mesero.demo", "--http", "8123"])
    main()
    assert served == [("notes", 8123)]


def test_without_http_it_serves_on_stdio(monkeypatch):
    served = []
    monkeypatch.setattr("mesero.server.Server.run", lambda self: served.append(self.info.name))
    monkeypatch.setattr(sys, "argv", ["mesero.demo"])
    main()
    assert served == ["notes"]
