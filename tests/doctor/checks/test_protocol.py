from types import SimpleNamespace

import pytest

from mesero.doctor.checks.protocol import check_tools
from mesero.doctor.sheet import Sheet


def tool(name="add", **schema):
    return SimpleNamespace(name=name, input_schema={"type": "object", **schema})


@pytest.mark.parametrize(
    ("tools", "codes"),
    [
        ([tool()], []),
        ([tool("notes.add")], []),
        ([tool(properties={"a": {"anyOf": []}})], []),
        ([tool(oneOf=[])], ["MODEL-1"]),
        ([tool("a b")], ["MODEL-2"]),
        ([tool("x" * 65), tool(allOf=[])], ["MODEL-1", "MODEL-2"]),
    ],
)
def test_what_model_apis_refuse_is_named_by_tool(tools, codes):
    sheet = Sheet(["tools"])

    check_tools(sheet, tools)

    assert [each.code for each in sheet.diagnoses] == codes


def test_a_server_without_tools_is_passed_over():
    sheet = Sheet(["tools"])

    check_tools(sheet, [])

    assert sheet.checks[0].status == "skipped"
