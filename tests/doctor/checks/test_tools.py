from types import SimpleNamespace

import pytest
from msgspec import UNSET

from mesero.doctor.checks.tools import check_tools, losses_of
from mesero.doctor.refusals import REFUSALS
from mesero.doctor.sheet import Sheet

BY_ID = {each.id: each for each in REFUSALS}


def tool(name="add", output=UNSET, **schema):
    return SimpleNamespace(
        name=name, input_schema={"type": "object", "properties": {}, **schema}, output_schema=output
    )


def judged(*tools, **how):
    sheet = Sheet(["tools"])
    check_tools(sheet, list(tools), **how)
    return sheet


def codes_of(sheet):
    return [each.code for each in sheet.diagnoses]


@pytest.mark.parametrize(
    ("tools", "codes"),
    [
        ([tool()], []),
        ([tool(properties={"a": {"anyOf": [{"type": "string"}]}})], []),
        ([tool(oneOf=[])], ["MODEL-1"]),
        ([tool("notes.add")], ["MODEL-2"]),
        ([tool("a b")], ["MODEL-2"]),
        ([tool("x" * 65), tool(allOf=[])], ["MODEL-1", "MODEL-2"]),
        ([tool(properties={"a": {"type": ["string", "null"]}}), tool("a b")], ["MODEL-2", "MODEL-5"]),
    ],
)
def test_what_is_refused_is_named_and_the_costliest_first(tools, codes):
    assert codes_of(judged(*tools)) == codes


def test_a_server_without_tools_is_passed_over():
    assert judged().checks[0].status == "skipped"


def test_tools_that_nobody_refuses_are_said_to_be_so():
    check = judged(tool()).checks[0]

    assert check.status == "ok"
    assert check.evidence == ("every known host and model API takes them (1)",)


def test_of_one_kind_the_gravest_is_told_first_and_the_others_are_counted():
    sheet = judged(
        tool("a", properties={"b": {"type": ["string", "null"]}}),
        tool("c", properties={"d": {"type": "string", "enum": [""]}}),
    )

    (only,) = sheet.diagnoses
    assert only.severity == "degraded"
    assert only.cause.startswith("tool 1 'c' at $.inputSchema.properties.d: an enum with an empty text.")
    assert only.cause.endswith(" (and 1 more)")
    assert any(each.startswith("tool 0 'a'") for each in only.evidence)
    assert BY_ID["gemini-empty-enum"].source in only.evidence


def test_many_of_a_kind_are_not_all_shown():
    sheet = judged(*(tool(f"a.{number}") for number in range(30)))

    named = next(each for each in sheet.diagnoses if each.code == "MODEL-2")
    assert "and 25 more" in named.evidence
    assert len(sheet.checks[0].evidence) < 30


def test_what_the_specification_forbids_or_once_forbade_is_left_to_the_audit():
    untyped = SimpleNamespace(name="add", input_schema={"properties": {}}, output_schema={"type": "array"})

    assert codes_of(judged(untyped)) == []


@pytest.mark.parametrize(
    ("name", "blame"),
    [("notes.add", "client"), ("a" * 100, "client"), ("a b", "server"), ("a" * 129, "server")],
)
def test_a_name_that_the_specification_advises_against_is_the_fault_of_the_server(name, blame):
    assert judged(tool(name)).diagnoses[0].blame == blame


@pytest.mark.parametrize(("server", "codes"), [(None, []), ("a", []), ("a" * 40, ["MODEL-2"])])
def test_a_name_is_judged_with_the_name_of_the_server_where_that_is_known(server, codes):
    assert codes_of(judged(tool("a" * 40), server_name=server)) == codes


def test_the_confidence_is_that_of_the_best_known_fact():
    sheet = judged(tool(properties={"a": {"type": "array"}}))

    assert sheet.diagnoses[0].confidence == "certain"
    sheet = judged(tool(output={"type": "object", "$ref": "https://example.com"}))
    assert sheet.diagnoses[0].confidence == "likely"


def test_a_long_name_is_cut_where_it_is_quoted():
    assert len(judged(tool("a" * 5000)).diagnoses[0].cause) < 1000


def test_who_refuses_and_what_is_lost_are_said_in_sentences():
    assert losses_of([BY_ID["openai-items"]]) == "OpenAI's API refuses the whole request"
    assert losses_of([BY_ID["openai-name"], BY_ID["claude-apps-name"], BY_ID["gemini-name"]]) == (
        "OpenAI's API and Gemini's API refuse the whole request; "
        "Claude Desktop and claude.ai lose every tool of this server"
    )
    assert losses_of([BY_ID["cursor-length"], BY_ID["amazon-q-length"]]) == (
        "Cursor and Amazon Q CLI leave this tool out"
    )
    assert losses_of([BY_ID["gemini-const"], BY_ID["zed-words"]]) == (
        "Zed with Gemini leaves this tool out; "
        "Gemini's API refuses the whole request, unless the host mends it first"
    )
