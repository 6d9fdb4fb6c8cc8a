"""The causes in tools: each is the only one that its example supports."""

import pytest

from tests.audit.judging import causes_of, codes_of


@pytest.mark.parametrize("cause", causes_of("TOOLS"))
def test_a_cause_is_the_only_one_that_its_example_supports(cause):
    assert codes_of(cause.example) == [cause.code]
