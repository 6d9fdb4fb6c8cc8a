"""The page of the refusals is what the table says."""

import importlib.util
from pathlib import Path

import pytest

from mesero.doctor.refusals import REFUSALS

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location(
        "generate_refusals_page", ROOT / "scripts" / "generate_refusals_page.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of(page):
    heads = ("| Refused by", "| ---")
    return [line for line in page.splitlines() if line.startswith("| ") and not line.startswith(heads)]


def test_the_page_in_the_docs_is_up_to_date(generator, capsys):
    assert generator.main(["--check"]) == 0, capsys.readouterr().err


def test_the_page_has_a_row_for_every_fact_with_its_source(generator):
    rows = rows_of(generator.page())

    assert len(rows) == len(REFUSALS)
    for each in REFUSALS:
        assert any(f"({each.source})" in row and each.consequence in row for row in rows), each.id


def test_every_row_has_as_many_cells_as_its_heading(generator):
    assert {row.replace("\\|", "").count("|") for row in rows_of(generator.page())} == {8}


def test_a_page_that_is_out_of_date_is_told(generator, tmp_path, capsys):
    page = tmp_path / "refusals.md"

    assert generator.main(["--check", "--out", str(page)]) == 1
    assert "out of date" in capsys.readouterr().err
    assert generator.main(["--out", str(page)]) == 0
    assert generator.main(["--check", "--out", str(page)]) == 0
