"""Pins are read from the requirements files, so that no version is written down twice."""

from bench.venvs import read_pins, requirements_of


def test_pins_are_read_with_comments_and_markers_left_out(tmp_path):
    file = tmp_path / "requirements.txt"
    file.write_text("# a comment\nUvicorn==0.54.0\nuvloop==0.23.0; sys_platform != 'win32'\nloose>=1\n")
    assert read_pins(file) == {"uvicorn": "0.54.0", "uvloop": "0.23.0"}


def test_each_rival_gets_its_pinned_version_and_the_same_uvicorn():
    mcp, *beside = requirements_of("mcp")
    assert mcp.startswith("mcp[cli]==")
    assert requirements_of("fastmcp")[1:] == beside
