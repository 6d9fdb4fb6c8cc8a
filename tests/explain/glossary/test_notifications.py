import pytest

from mesero.explain.glossary.notifications import NOTIFICATIONS
from mesero.revisions import REVISIONS, revision_module_for


@pytest.mark.parametrize("entry", NOTIFICATIONS, ids=lambda entry: entry.name)
def test_a_notification_is_of_the_revisions_that_define_it(entry):
    modules = map(revision_module_for, REVISIONS)
    shapes = {
        module.REVISION: module.METHODS[entry.name] for module in modules if entry.name in module.METHODS
    }
    assert entry.revisions == tuple(shapes)
    assert {shape.kind for shape in shapes.values()} == {"notification"}
    directions = {direction for shape in shapes.values() for direction in shape.directions}
    assert directions == {"client": {"c2s"}, "server": {"s2c"}, "both": {"c2s", "s2c"}}[entry.sender]
