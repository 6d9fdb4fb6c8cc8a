"""The types that the generated modules are written in."""

from __future__ import annotations

import pytest

from mesero.revisions.shapes import ErrorShape, MethodShape, UnknownRevisionError


def test_a_notification_has_no_results_unless_told():
    assert MethodShape("notification", ("c2s",), "PingNotification").results == ()


@pytest.mark.parametrize("shape", [MethodShape("input", ("s2c",), "A"), ErrorShape("A", "error")])
def test_shapes_cannot_be_changed(shape):
    with pytest.raises(AttributeError):
        shape.definition = "B"


def test_an_unknown_revision_error_reads_as_a_sentence_with_the_remedy():
    error = UnknownRevisionError("x", ("a", "b"))
    assert str(error) == "'x' is no revision of MCP that mesero knows. Known are a, b"
    assert error.blame == "client"
