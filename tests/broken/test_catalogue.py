"""How connections fail, entry by entry of the catalogue: each has its case here, and each diagnosis, too.

The numbers are those of reports that were collected; what an entry is about is said by its case.
"""

import itertools
import re
from pathlib import Path

import pytest

from mesero.doctor.texts import TEXTS

HERE = Path(__file__).parent
TESTS = HERE.parent
CATALOGUE = TESTS.parents[1] / "shared" / "pain" / "CATALOGUE.md"

# The numbers that are given away; the gaps were never filled.
_GAPS = {13, 17, 20, 33, 36, 42, 45, 48, 49, 53, 55, 60, 64, 67, 72, 76, 84, 89, 95, 104, 107, 113, 119, 122}
_GAPS |= {127, 130, 131, 133}
ENTRIES = [f"P{number:02}" for number in range(1, 136) if number not in _GAPS]
_NUMBER = re.compile(r"(?<![A-Za-z0-9])(P\d{2,3})(?!\d)")

# What only a part of the machine or of time can bring about, and where it is shown instead.
ELSEWHERE = {
    "CONNECT-1": "what is left when nothing explains a failure: every case here has an explanation",
}


def words_of(folder):
    files = [file for file in folder.rglob("*.py") if file != Path(__file__)]
    return "\n".join(itertools.chain.from_iterable((file.stem, file.read_text()) for file in files))


BROKEN = words_of(HERE)
NAMED = set(_NUMBER.findall(re.sub(r"_", " ", BROKEN)))


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_has_its_case(entry):
    assert entry in NAMED


@pytest.mark.skipif(not CATALOGUE.exists(), reason="the catalogue is not here")
def test_the_entries_are_those_of_the_catalogue():
    assert re.findall(r"^### (P\d+)", CATALOGUE.read_text(), re.MULTILINE) == ENTRIES


@pytest.mark.parametrize("code", TEXTS)
def test_every_diagnosis_has_a_case_that_brings_it_about(code):
    seen = BROKEN + words_of(TESTS / "doctor" / "checks")

    assert (f'"{code}"' in seen) != (code in ELSEWHERE)
