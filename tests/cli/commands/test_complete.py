import json

from tests.cli.programs import invoke


def test_suggestions_are_printed_best_first(notes):
    assert invoke(["complete", notes, "summarize", "topic=ga"]).stdout == "garden\ngates\n"
    assert invoke(["complete", notes, "summarize", "topic=gar", "style=x"]).stdout == "garden\n"


def test_no_suggestions_are_said_to_be_none(notes):
    assert invoke(["complete", notes, "summarize", "topic=z"]).stdout == "(no suggestions)\n"


def test_json_is_the_completion(notes):
    assert json.loads(invoke(["complete", notes, "summarize", "topic=gar", "--json"]).stdout)["values"] == [
        "garden"
    ]


def test_a_template_is_told_by_its_braces(notes):
    result = invoke(["complete", notes, "notes://{id}", "id=1", "--show-wire", "-v"])
    assert '"ref":{"type":"ref/resource","uri":"notes://{id}"}' in result.stderr


def test_more_than_is_shown_is_said(tmp_path):
    path = tmp_path / "many.py"
    path.write_text(
        "import mesero\nserver = mesero.Server('many')\n"
        "@server.prompt\ndef p(a: str) -> str:\n    return a\n"
        "@server.completion('p', 'a')\n"
        "def many(typed: str) -> list[str]:\n    return [str(n) for n in range(150)]\n"
    )
    result = invoke(["complete", str(path), "p", "a="])
    assert len(result.stdout.splitlines()) == 100
    assert "100 of 150 shown" in result.stderr


def test_an_owner_without_an_argument_is_a_usage_error(notes):
    assert invoke(["complete", notes, "summarize"]).exit_code == 2
