"""The page of the rules is what the registry says."""

import importlib.util
from pathlib import Path

import pytest

from mesero.audit import RULES
from mesero.audit.diagnosis import CAUSES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location(
        "generate_rules_page", ROOT / "scripts" / "generate_rules_page.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_in_the_docs_is_up_to_date(generator, capsys):
    assert generator.main(["--check"]) == 0, capsys.readouterr().err


def test_the_page_has_a_row_for_every_rule_and_every_cause(generator):
    rows = {line.split(" | ")[0].strip("| ") for line in generator.page().splitlines() if line[:2] == "| "}

    assert rows - {"Id", "Code", "---"} == {*RULES, *CAUSES}


def test_every_row_has_as_many_cells_as_its_heading(generator):
    bars = {
        line.replace("\\|", "").count("|") for line in generator.page().splitlines() if line.startswith("| ")
    }

    assert bars == {6}


def test_a_page_that_is_out_of_date_is_told(generator, tmp_path, capsys):
    page = tmp_path / "rules.md"

    assert generator.main(["--check", "--out", str(page)]) == 1
    assert "out of date" in capsys.readouterr().err
    assert generator.main(["--out", str(page)]) == 0
    assert generator.main(["--check", "--out", str(page)]) == 0
