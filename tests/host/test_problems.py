from mesero.host.nodes import Document, Node, Place
from mesero.host.problems import CODES, SEVERITIES, Report, Source


def test_a_problem_has_its_place_in_the_file():
    report = Report(Source(file="mcp.json", host="plain"), Document("a\nb", Node({}, 0, 0)))
    report.add("syntax", 2, "wrong", "right", server="notes")
    report.add("bom", Place(7, 8), "marked", "", severity="warning")
    first, second = report.problems
    assert (first.file, first.line, first.column, first.severity) == ("mcp.json", 2, 1, "error")
    assert (first.code, first.message, first.fix, first.server) == ("syntax", "wrong", "right", "notes")
    assert (second.line, second.column, second.severity, second.server) == (7, 8, "warning", None)


def test_every_code_is_explained_in_a_sentence():
    assert all(text.endswith(".") and text[0].isupper() for text in CODES.values())
    assert SEVERITIES == ("error", "warning", "info")
