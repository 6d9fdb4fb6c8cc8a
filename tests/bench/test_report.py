"""Medians, ratios, verdicts and the table: the pure part of the benchmarks."""

import pytest

from bench.report import ROWS, Facts, Row, Samples, format_figure, render_page, render_table

FASTER = Row("faster", "calls", "calls/s", 5)
LIGHTER = Row("lighter", "memory", "MB", 0.5, less_is_better=True)

FACTS = Facts(
    date="2026-07-28",
    machine="a machine",
    python="Python 3.11.7",
    versions={"mesero": "0.1.0", "mcp": "2.3.0"},
    rounds=7,
    seconds=0.7,
    load="0.1",
    http_load="raw sockets",
)


def samples_of(row, **by_peer):
    samples = Samples()
    for peer, values in by_peer.items():
        for value in values:
            samples.add(row, peer, value)
    return samples


def test_the_median_ignores_one_wild_round():
    assert samples_of("import", mcp=[10, 11, 900]).find_median("import", "mcp") == 11


def test_a_row_without_samples_has_no_median_ratio_or_range():
    samples = samples_of("import", mesero=[1.0])
    assert samples.find_median("import", "mcp") is None
    assert samples.find_ratio("import") is None
    assert samples.find_range("import") is None


def test_the_ratio_is_that_of_the_medians():
    assert samples_of("import", mcp=[10, 20, 30], mesero=[50, 40, 60]).find_ratio("import") == 2.5


def test_the_range_is_that_of_rounds_measured_together():
    assert samples_of("import", mcp=[10, 20], mesero=[50, 40]).find_range("import") == (2, 5)


def test_a_round_that_one_peer_lacks_is_left_out_of_the_range():
    assert samples_of("import", mcp=[10, 20], mesero=[50]).find_range("import") == (5, 5)


@pytest.mark.parametrize(
    ("row", "ratio", "verdict"),
    [(FASTER, 5.0, "ok"), (FASTER, 4.99, "short"), (LIGHTER, 0.5, "ok"), (LIGHTER, 0.51, "short")],
)
def test_a_budget_is_met_on_its_edge_and_short_beyond_it(row, ratio, verdict):
    assert row.verdict_of(ratio) == verdict


def test_a_row_without_budget_is_never_short():
    assert Row("free", "calls", "calls/s", None).verdict_of(0.1) == "for comparison"


@pytest.mark.parametrize(
    ("budget", "less_is_better", "text"),
    [(14, False, "≥ 14x"), (1 / 6, True, "≤ 1/6"), (0.75, True, "≤ 0.75x"), (None, False, "-")],
)
def test_budgets_read_as_the_design_writes_them(budget, less_is_better, text):
    assert Row("key", "work", "ms", budget, less_is_better=less_is_better).budget_text == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.256, "0.26"), (12.34, "12.3"), (98.0, "98.0"), (12345.6, "12,346")]
)
def test_figures_keep_what_can_be_told_apart(value, text):
    assert format_figure(value) == text


def test_the_table_shows_figures_ratio_and_verdict_of_measured_rows_only():
    table = render_table(samples_of("stdio-client-sequential", mcp=[1000], fastmcp=[900], mesero=[2500]))
    head, _, line = table.splitlines()
    assert [cell.strip() for cell in line.strip("| ").split("|")] == [
        *("stdio client, sequential", "calls/s", "-", "1,000", "900", "2,500"),
        *("2.5x", "2.5x to 2.5x", "≥ 2x", "ok"),
    ]
    assert len(head) == len(line)


def test_a_peer_that_failed_leaves_a_row_that_says_so():
    samples = samples_of("import", mcp=[600])
    samples.fail("import", "mesero", "exit code 1")
    assert render_table(samples).endswith("not measured |")


def test_every_row_of_the_design_has_its_own_key():
    assert len({row.key for row in ROWS}) == len(ROWS)


def test_the_page_says_when_where_and_with_which_versions():
    page = render_page(samples_of("import", mcp=[600], mesero=[60]), FACTS)
    for fact in (
        "2026-07-28",
        "a machine",
        "Python 3.11.7",
        "mcp 2.3.0",
        "medians of 7",
        "raw sockets",
        "0.100x",
    ):
        assert fact in page
