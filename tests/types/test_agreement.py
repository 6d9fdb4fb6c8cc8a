"""The vocabulary against the official schema of its revision: every definition and field, random values."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec import inspect as mi

from mesero import types

SCHEMA = Path(__file__).parents[3] / "shared/spec/schema/2026-07-28.json"
needs_schema = pytest.mark.skipif(
    not SCHEMA.exists(), reason="the official schemas are not beside the repository"
)

ENVELOPES = {
    # JSON-RPC's own shapes; jsonrpc.py and errors.py hold them.
    *("JSONRPCErrorResponse", "JSONRPCMessage", "JSONRPCNotification", "JSONRPCRequest", "JSONRPCResponse"),
    *("JSONRPCResultResponse", "Request", "Notification", "PaginatedRequest", "Error", "ParseError"),
    *("InvalidRequestError", "MethodNotFoundError", "InvalidParamsError", "InternalError"),
    "HeaderMismatchError",  # has no data
    # Unions of envelopes: the tables of methods hold them.
    *("ClientNotification", "ClientRequest", "ClientResult", "ServerNotification", "ServerResult"),
    # Parents of interfaces, whose fields each Struct has itself.
    *("BaseMetadata", "Icons"),
}
RENAMED = {
    "CreateMessageRequestParams": "CreateMessageParams",
    "ElicitRequestParams": "ElicitParams",
    "ElicitRequestFormParams": "ElicitFormParams",
    "ElicitRequestURLParams": "ElicitUrlParams",
    "InputResponse": "InputResponse",
    "LegacyTitledEnumSchema": "EnumNamesSchema",
    "MissingRequiredClientCapabilityError": "MissingRequiredClientCapabilityData",
    "NotificationMetaObject": "MetaObject",
    "PaginatedRequestParams": "ListParams",
    "PrimitiveSchemaDefinition": "PrimitiveSchema",
    "RequestMetaObject": "RequestMeta",
    "RequestParams": "DiscoverParams",
    "ResourceRequestParams": "ReadResourceParams",
    "ResultMetaObject": "MetaObject",
    "SamplingMessageContentBlock": "SamplingContentBlock",
    "SubscriptionsListenRequestParams": "ListenParams",
    "SubscriptionsListenResultMetaObject": "MetaObject",
    "UnsupportedProtocolVersionError": "UnsupportedProtocolVersionData",
}
ALWAYS_WRITTEN = {"resultType", "ttlMs", "cacheScope"}
ENCODER = msgspec.json.Encoder(enc_hook=types.enc_hook)


@cache
def definitions() -> dict[str, Any]:
    return json.loads(SCHEMA.read_text())["$defs"] if SCHEMA.exists() else {}


def name_of(definition: str) -> str:
    if definition in RENAMED:
        return RENAMED[definition]
    for ending in ("RequestParams", "NotificationParams"):
        if definition.endswith(ending) and definition != ending:
            return definition.removesuffix(ending) + "Params"
    return definition


def is_envelope(definition: str) -> bool:
    is_message = definition.endswith(("Request", "Notification", "ResultResponse"))
    return definition in ENVELOPES or (is_message and definition != "InputRequest")


def structs() -> dict[str, type[msgspec.Struct]]:
    found = {name: getattr(types, name) for name in types.__all__}
    return {k: v for k, v in found.items() if isinstance(v, type) and issubclass(v, msgspec.Struct)}


def struct_definitions() -> list[tuple[str, type[msgspec.Struct]]]:
    known = structs()
    pairs = [(name, known.get(name_of(name))) for name in definitions() if not is_envelope(name)]
    return [(name, struct) for name, struct in pairs if struct and not name.endswith("Error")]


STRUCT_DEFINITIONS = struct_definitions()
IDS = [name for name, _ in STRUCT_DEFINITIONS]


@needs_schema
@pytest.mark.parametrize("definition", [name for name in definitions() if not is_envelope(name)])
def test_every_definition_has_a_name_in_the_vocabulary(definition):
    assert name_of(definition) in {*types.__all__}


@needs_schema
@pytest.mark.parametrize(("definition", "struct"), STRUCT_DEFINITIONS, ids=IDS)
def test_every_member_of_a_definition_is_a_field(definition, struct):
    members = set(definitions()[definition].get("properties", {}))
    fields = {field.encode_name for field in msgspec.structs.fields(struct)}
    tag = struct.__struct_config__.tag_field
    left_out = {"_meta"} if definition.endswith("RequestParams") else set()
    assert members - fields - left_out - {tag, "$schema"} == set()


@needs_schema
@pytest.mark.parametrize(("definition", "struct"), STRUCT_DEFINITIONS, ids=IDS)
def test_required_members_are_required_fields_and_no_others(definition, struct):
    required = set(definitions()[definition].get("required", []))
    fields = {field.encode_name for field in msgspec.structs.fields(struct) if field.required}
    tag = struct.__struct_config__.tag_field
    left_out = {"_meta"} if definition.endswith("RequestParams") else set()
    if struct is types.InputRequest:  # a union of envelopes in the schema
        required = {"method"}
    assert fields == required - ALWAYS_WRITTEN - left_out - {tag}


def objects_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.text(max_size=5), values, max_size=2)


NUMBERS = st.integers(0, 1) | st.floats(0, 1)
# The official schema's JSONValue knows neither null nor fractions, though its source does.
LEAVES = st.booleans() | st.integers(0, 9) | st.text(max_size=5)
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=2) | objects_of(inner), max_leaves=4)


def values_of(info: mi.Type) -> st.SearchStrategy[Any]:  # noqa: C901, PLR0912 - one line for each kind of type
    match info:
        case mi.StrType():
            return st.text(max_size=8)
        case mi.IntType():
            return st.integers(0, 2**53 - 1)
        case mi.FloatType():
            return NUMBERS
        case mi.BoolType():
            return st.booleans()
        case mi.AnyType():
            return JSON
        case mi.RawType():
            return objects_of(JSON).map(lambda value: msgspec.Raw(msgspec.json.encode(value)))
        case mi.LiteralType(values=values):
            return st.sampled_from(values)
        case mi.ListType(item_type=item):
            return st.lists(values_of(item), max_size=2)
        case mi.DictType(value_type=value):
            return objects_of(values_of(value))
        case mi.UnionType(types=members):
            if any(isinstance(member, mi.FloatType) for member in members):
                members = tuple(member for member in members if not isinstance(member, mi.IntType))
            return st.one_of([values_of(member) for member in members])
        case mi.StructType(cls=cls):
            return instances_of(cls)
        case _:
            raise AssertionError(info)


QUESTIONS = [
    types.ElicitFormParams("Name?", {"type": "object", "properties": {"name": {"type": "string"}}}),
    types.ElicitUrlParams("Pay", "https://example.com/pay"),
    types.CreateMessageParams(messages=[], max_tokens=9),
    types.ListRootsParams(),
]
ANSWERS = [types.ElicitResult("decline"), types.ListRootsResult([types.Root("file:///a")])]
OVERRIDES: dict[str, st.SearchStrategy[Any]] = {
    "format": st.sampled_from(["email", "uri", "date", "date-time"]),
    "input_requests": objects_of(st.sampled_from([types.input_request_from(params) for params in QUESTIONS])),
    "input_responses": objects_of(
        st.sampled_from([types.encode_input_response(answer) for answer in ANSWERS])
    ),
    "input_schema": st.just({"type": "object", "properties": {}}),
    "requested_schema": st.just({"type": "object", "properties": {}}),
}
SPECIAL: dict[type, st.SearchStrategy[Any]] = {
    # Two shapes in one Struct, of which at least one member is there.
    types.ResourceContents: st.builds(types.TextResourceContents, st.text(), st.text())
    | st.builds(types.BlobResourceContents, st.text(), st.binary()),
    types.SubscriptionsListenResult: st.builds(
        types.SubscriptionsListenResult, meta=st.just({types.SUBSCRIPTION_ID_KEY: 7})
    ),
    types.ElicitResult: st.builds(
        types.ElicitResult,
        st.sampled_from(["accept", "decline", "cancel"]),
        st.just(UNSET) | objects_of(st.text() | st.integers() | st.booleans() | st.lists(st.text())),
    ),
}


@cache
def instances_of(struct: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    if struct in SPECIAL:
        return SPECIAL[struct]
    info = mi.type_info(struct)
    assert isinstance(info, mi.StructType)
    return st.builds(struct, **{field.name: field_values(field) for field in info.fields})


def field_values(field: mi.Field) -> st.SearchStrategy[Any]:
    values = OVERRIDES[field.name] if field.name in OVERRIDES else values_of(field.type)
    return st.just(UNSET) | values if field.default is UNSET else values


@pytest.mark.parametrize("struct", [pytest.param(v, id=k) for k, v in structs().items()])
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_value_survives_a_round_trip(struct, data):
    text = ENCODER.encode(data.draw(instances_of(struct)))
    read = types.decode_result(struct, text)
    assert isinstance(read, struct)
    assert ENCODER.encode(read) == text


@needs_schema
@pytest.mark.parametrize(
    ("definition", "struct"),
    [pair for pair in STRUCT_DEFINITIONS if pair[0] not in {"InputRequest", "ResourceContents"}],
    ids=[name for name in IDS if name not in {"InputRequest", "ResourceContents"}],
)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_value_that_we_write_fits_the_official_schema(definition, struct, data):
    written = json.loads(ENCODER.encode(data.draw(instances_of(struct))))
    if definition.endswith("RequestParams"):
        written["_meta"] = {types.PROTOCOL_VERSION_KEY: "2026-07-28", types.CLIENT_CAPABILITIES_KEY: {}}
    validator_for(definition).validate(written)


@cache
def validator_for(definition: str) -> Any:
    schema = {"$ref": f"#/$defs/{definition}", "$defs": definitions()}
    return jsonschema_rs.Draft202012Validator(schema, offline=True)
