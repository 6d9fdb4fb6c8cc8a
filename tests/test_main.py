import runpy
import subprocess
import sys

import pytest

from mesero import __version__
from mesero.__main__ import main


def test_python_m_mesero_is_the_command_line():
    result = subprocess.run(
        [sys.executable, "-m", "mesero", "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (result.returncode, result.stdout) == (0, f"mesero {__version__}\n")


def test_it_runs_as_a_module_and_not_when_it_is_imported(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mesero", "--version"])
    monkeypatch.delitem(sys.modules, "mesero.__main__")  # which runpy would warn of
    runpy.run_module("mesero.__main__", run_name="imported")
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit):
        runpy.run_module("mesero.__main__", run_name="__main__")
    assert capsys.readouterr().out == f"mesero {__version__}\n"


def test_an_interrupt_while_modules_are_loaded_is_told_in_a_word(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("mesero.cli.main", interrupted)

    with pytest.raises(SystemExit) as caught:
        main()

    assert caught.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"
