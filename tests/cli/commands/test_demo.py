import sys
import types

from tests.cli.programs import invoke


def test_the_demo_is_run_by_its_own_package_and_says_how_it_went(monkeypatch):
    module = types.ModuleType("mesero.demo.show")
    module.run_demo = lambda: print("the demo") or 1
    monkeypatch.setitem(sys.modules, "mesero.demo.show", module)
    result = invoke(["demo"])
    assert (result.exit_code, result.stdout) == (1, "the demo\n")
