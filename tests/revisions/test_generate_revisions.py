"""The generator: the same input gives the same files, and what it cannot place stops it."""

from __future__ import annotations

import copy
import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT.parent / "shared" / "spec" / "schema"
HERE = ROOT / "src" / "mesero" / "revisions"

needs_schemas = pytest.mark.skipif(
    not SCHEMAS.is_dir(), reason="the official JSON Schemas are not beside the repository"
)


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location(
        "generate_revisions", ROOT / "scripts" / "generate_revisions.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SMALL = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "ClientRequest": {"anyOf": [{"$ref": "#/$defs/PingRequest"}, {"$ref": "#/$defs/AskRequest"}]},
        "ServerRequest": {"$ref": "#/$defs/PingRequest"},
        "ClientNotification": {"properties": {"method": {"const": "done"}}},
        "DoneNotification": {"properties": {"method": {"const": "done"}}, "title": "Done"},
        "PingRequest": {"properties": {"method": {"const": "ping"}}, "description": "words"},
        "AskRequest": {"properties": {"method": {"const": "ask"}, "description": {"type": "string"}}},
        "AskResult": {"properties": {"title": {"const": {"title": "kept"}}}, "$comment": "words"},
        "AskResultResponse": {
            "properties": {"result": {"anyOf": [{"$ref": "#/$defs/Other"}, {"$ref": "#/$defs/AskResult"}]}}
        },
        "Other": {"examples": [1], "enum": [{"description": "kept"}], "default": {"title": "kept"}},
        "EmptyResult": {},
        "NoError": {"properties": {"code": {"const": -1}}},
        "FullError": {"properties": {"error": {"allOf": [{}, {"properties": {"code": {"const": -2}}}]}}},
    },
}


@pytest.fixture
def small():
    return copy.deepcopy(SMALL)


def loaded(text):
    names = {}
    exec(compile(text, "generated", "exec"), names)
    return names


def test_methods_results_and_errors_are_found_by_their_names(generator, small):
    module = loaded(generator.module_text("2024-11-05", json.dumps(small).encode()))
    shapes = {
        method: (each.kind, each.directions, each.definition, each.results)
        for method, each in module["METHODS"].items()
    }
    assert shapes == {
        "ask": ("request", ("c2s",), "AskRequest", ("AskResult", "Other")),
        "done": ("notification", ("c2s",), "DoneNotification", ()),
        "ping": ("request", ("c2s", "s2c"), "PingRequest", ("EmptyResult",)),
    }
    errors = {code: (each.definition, each.covers) for code, each in module["ERRORS"].items()}
    assert errors == {-1: ("NoError", "error"), -2: ("FullError", "message")}


def test_prose_goes_and_everything_that_only_looks_like_it_stays(generator, small):
    definitions = json.loads(
        loaded(generator.module_text("2024-11-05", json.dumps(small).encode()))["SCHEMA"]
    )["$defs"]
    assert definitions["PingRequest"] == {"properties": {"method": {"const": "ping"}}}
    assert definitions["AskRequest"] == small["$defs"]["AskRequest"]
    assert definitions["AskResult"] == {"properties": {"title": {"const": {"title": "kept"}}}}
    assert definitions["Other"] == {"enum": [{"description": "kept"}], "default": {"title": "kept"}}


def test_a_request_without_a_result_stops_the_generator(generator, small):
    del small["$defs"]["AskResult"]
    with pytest.raises(SystemExit, match="AskRequest has no AskResult"):
        generator.module_text("2024-11-05", json.dumps(small).encode())


def test_a_union_whose_only_member_cannot_be_found_stops_the_generator(generator, small):
    del small["$defs"]["DoneNotification"]
    with pytest.raises(SystemExit, match="ClientNotification"):
        generator.module_text("2024-11-05", json.dumps(small).encode())


def test_a_request_without_a_method_stops_the_generator(generator, small):
    del small["$defs"]["AskRequest"]["properties"]["method"]
    with pytest.raises(SystemExit, match="AskRequest has no method"):
        generator.module_text("2024-11-05", json.dumps(small).encode())


def test_an_amendment_whose_place_has_changed_stops_the_generator(generator, small):
    content = {"additionalProperties": {"type": ["string"]}}
    small["$defs"]["ElicitResult"] = {"properties": {"content": content}}
    with pytest.raises(SystemExit, match="review AMENDMENTS"):
        generator.module_text("2025-06-18", json.dumps(small).encode())


def test_a_schema_that_cannot_stand_in_a_raw_string_stops_the_generator(generator, small):
    small["$defs"]["Other"] = {"const": "'''"}
    with pytest.raises(SystemExit, match="raw string"):
        generator.module_text("2024-11-05", json.dumps(small).encode())


@needs_schemas
def test_the_modules_are_what_the_official_schemas_give(generator, capsys):
    assert generator.main([str(SCHEMAS), "--check"]) == 0
    assert capsys.readouterr().out == ""


@needs_schemas
def test_written_files_are_the_same_bytes_and_a_second_run_writes_nothing(generator, tmp_path, capsys):
    assert generator.main([str(SCHEMAS), "--out", str(tmp_path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    for written in tmp_path.iterdir():
        assert written.read_bytes() == (HERE / written.name).read_bytes()
    assert generator.main([str(SCHEMAS), "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == ""


@needs_schemas
def test_check_names_the_file_that_differs_and_leaves_it_alone(generator, tmp_path, capsys):
    generator.main([str(SCHEMAS), "--out", str(tmp_path)])
    edited = tmp_path / "v2025_03_26.py"
    edited.write_text("edited by hand")
    capsys.readouterr()
    assert generator.main([str(SCHEMAS), "--out", str(tmp_path), "--check"]) == 1
    assert capsys.readouterr().out == "v2025_03_26.py: differs from what the schemas give\n"
    assert edited.read_text() == "edited by hand"
