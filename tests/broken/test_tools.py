"""Each broken server of this folder whose tools hosts and model APIs refuse, or whose lists are not sound."""

import functools

import pytest

from mesero.doctor import examine
from tests.broken.endpoints import honest, serving
from tests.broken.examining import QUICK_S, check, check_of, command_of
from tests.broken.lines import TOOL

# Server, the complete list of codes, the verdict.
CASES = [
    ("P00_typical", [], "ok"),
    ("P37_prompts", ["CAP-2"], "ok"),
    ("P37_refused", ["CAP-003"], "degraded"),
    ("P52", ["LIST-6"], "ok"),
    ("P52_empty", ["LIST-5", "LIST-6"], "ok"),
    ("P52_twice", ["LIST-4", "LIST-6"], "degraded"),
    ("P54_not", ["MODEL-1"], "degraded"),
    ("P54_items", ["MODEL-3"], "degraded"),
    ("P54_keys", ["MODEL-4"], "degraded"),
    ("P54_blank", ["MODEL-5"], "degraded"),
    ("P54_lists", ["MODEL-5"], "ok"),
    ("P54_many", ["MODEL-9"], "degraded"),
    ("P56_old", [], "ok"),
    ("P56_items", ["MODEL-6"], "ok"),
    ("P56_remote", ["MODEL-7"], "degraded"),
    ("P57_now", [], "ok"),
    ("P61_dots", ["MODEL-2"], "degraded"),
    ("P61_prefix", [], "ok"),
    ("P62", ["MODEL-8"], "ok"),
    ("P62_cut", [], "ok"),
    ("P63_order", ["LIST-3"], "ok"),
    ("P63_order_now", ["LIST-3"], "ok"),
    ("P63_changes", ["LIST-3"], "degraded"),
    ("P63_times", ["LIST-3"], "ok"),
    ("P63_announced", [], "ok"),
    ("P63_late", [], "ok"),
    ("P63_once", ["LIST-1"], "degraded"),
]


@pytest.mark.parametrize(("name", "expected", "verdict"), CASES)
async def test_what_is_wrong_with_tools_and_lists_is_diagnosed(name, expected, verdict):
    report = await examine(command_of(name), timeout_s=QUICK_S)

    check(report, expected)
    assert report.verdict == verdict, report


# Under this name, which hosts put before the names of tools.
NAMED = [
    ("P61_prefix", "enterprise-database-management", ["MODEL-2"], "ok"),
    ("P61_prefix", "ent-db", [], "ok"),
    ("P62_cut", "company-wiki-server-cloud", ["MODEL-2", "MODEL-8"], "degraded"),
]


@pytest.mark.parametrize(("name", "configured", "expected", "verdict"), NAMED)
async def test_the_name_in_the_configuration_counts(name, configured, expected, verdict):
    report = await examine(command_of(name), timeout_s=QUICK_S, name=configured)

    check(report, expected)
    assert report.verdict == verdict, report


async def test_the_name_in_the_configuration_counts_for_a_url():
    tools = [{**TOOL, "name": "synchronize_all_customer_data"}]
    with serving(functools.partial(honest, tools=tools)) as url:
        report = await examine(f"{url}/mcp", timeout_s=QUICK_S, name="enterprise-database-management")

    check(report, ["MODEL-2"])


TEXTS = [
    ("P54", "tool 1 'query' at $.inputSchema: anyOf", '{"type": "object"', "client"),
    ("P54_items", "tool 1 'tag' at $.inputSchema.properties.tags", "items", "client"),
    (
        "P54",
        "anyOf at the top. Anthropic's API and OpenAI's API refuse the whole request",
        "put the alternatives into one property",
        "client",
    ),
    (
        "P54_items",
        "array without items. OpenAI's API, Gemini's API, VS Code and Windsurf refuse the whole request",
        'Add "items"',
        "client",
    ),
    (
        "P54_keys",
        "tool 1 'find' at $.inputSchema.properties[\"filter[name]\"]: a parameter that is called",
        "Call it 'filter_name'",
        "client",
    ),
    (
        "P61_spaces",
        "tool 0 'Create CIFS Share': its name has the character ' '",
        "Call it 'Create_CIFS_Share'",
        "server",
    ),
    ("P61_dots", "tool 0 'notes.add': its name has the character '.'", "Call it 'notes_add'", "client"),
    ("P61_long", "its name has 84 characters, more than 64", "Shorten it to less than 64", "client"),
    ("P62", "'get-note' and 'get_note' both become 'get_note'", "Rename one of them", "client"),
    ("P54_many", "the server has 140 tools, more than 128. OpenAI's API refuses", "choose", "client"),
    (
        "P52_twice",
        "tools: 'add' is on page 1 and page 2. Anthropic's API refuses",
        "List each entry",
        "server",
    ),
    ("P52", "1 of 2 tools are not on the first page", "one page", "client"),
    ("P63_order", "'divide' was number 1, and is number 0", "Sort", "server"),
    ("P63_changes", "1 came: 'late_1'", "list_changed", "server"),
    ("P63_times", "the tool 'add' was read twice, and differs in: description", "counters", "server"),
    ("P37_prompts", "the server has 1 prompts", '"prompts": {}', "server"),
]


@pytest.mark.parametrize(("name", "cause", "fix", "blame"), TEXTS)
async def test_the_words_name_the_tool_the_place_who_refuses_it_and_a_fix(name, cause, fix, blame):
    report = await examine(command_of(name), timeout_s=QUICK_S)

    first = report.diagnoses[0]
    assert cause in first.cause
    assert fix in first.fix
    assert first.blame == blame


async def test_what_most_hosts_mend_is_said_and_is_no_diagnosis():
    report = await examine(command_of("P00_typical"), timeout_s=QUICK_S)

    tools = check_of(report, "tools")
    assert tools.status == "ok"
    assert "additionalProperties" in tools.evidence[0]
    assert "OpenAI's API; 1 of 2 tools" in tools.evidence[0]


async def test_every_source_is_given_as_evidence():
    report = await examine(command_of("P54"), timeout_s=QUICK_S)

    assert any(each.startswith("https://") for each in report.diagnoses[0].evidence)
