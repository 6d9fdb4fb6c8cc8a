from mesero.diagram.phases import mark_phases
from mesero.trace.format import EofLine, Http, HttpLine
from tests.diagram.recordings import Recording, handshake, stateless


def phases_of(drawing):
    return [row.label for row in drawing.rows if row.kind == "phase"]


def test_a_stateless_session_discovers_and_operates():
    assert phases_of(stateless().draw()) == ["discover", "operation"]


def test_a_refused_probe_selects_the_era():
    assert phases_of(handshake().draw()) == ["launch", "select era", "initialize", "operation", "shutdown"]


def test_an_answered_probe_selects_the_era_where_a_handshake_follows():
    made = Recording()
    made.ask(1, "server/discover")
    made.give(1, supportedVersions=["2025-11-25"])
    made.c2s({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {}})
    assert phases_of(made.draw()) == ["select era", "initialize"]


def test_a_probe_without_an_answer_selects_the_era():
    made = Recording()
    made.ask(1, "server/discover")
    assert phases_of(made.draw()) == ["select era"]


def test_a_discovery_in_between_is_an_operation():
    made = Recording()
    made.ask(1, "tools/list")
    made.give(1, tools=[])
    made.ask(2, "server/discover")
    made.give(2, supportedVersions=[])
    assert phases_of(made.draw()) == ["operation"]


def test_the_end_of_a_stream_is_not_the_end_of_the_connection():
    made = Recording(transport="http")
    made.ask(1, "tools/list")
    made.put(EofLine, dir="s2c", http=Http(exchange=1))
    made.put(HttpLine, dir="c2s", http=Http(method="DELETE", url="https://x/"))
    assert phases_of(made.draw()) == ["operation", "shutdown"]


def test_what_comes_behind_the_end_belongs_to_it():
    made = Recording()
    made.ask(1, "tools/list")
    made.put(EofLine, dir="c2s")
    made.give(1, tools=[])
    assert phases_of(made.draw()) == ["operation", "shutdown"]


def test_no_rows_have_no_phase():
    mark_phases([])
