import re
from pathlib import Path

import pytest

import mesero.doctor
import mesero.doctor.texts
from mesero.doctor.texts import TEXTS

SOURCES = "\n".join(file.read_text() for file in Path(mesero.doctor.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("code", TEXTS)
def test_every_text_is_used_and_has_a_fix(code):
    assert re.search(rf'(?<!    )"{code}"', SOURCES) or SOURCES.count(f'"{code}"') > 1
    assert TEXTS[code].title
    assert TEXTS[code].fix.endswith(".")


def test_no_code_of_the_audit_is_taken():
    from mesero.audit.diagnosis import CAUSES, load_causes

    load_causes()

    assert not TEXTS.keys() & CAUSES.keys()


def test_no_two_files_have_the_same_code():
    tables = [module.TEXTS for name, module in vars(mesero.doctor.texts).items() if hasattr(module, "TEXTS")]

    assert len(tables) > 5
    assert len(TEXTS) >= 140, "the README says so"
    assert sum(map(len, tables)) == len(TEXTS)
