import pytest
from msgspec import UNSET, Raw

from mesero.errors import InvalidParamsError
from mesero.jsonrpc import Request
from mesero.legacy.handshake import read_initialize_params
from mesero.legacy.requests import LevelParams, UriParams, metadata_of, read_params

CLIENT = read_initialize_params(
    b'{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"a","version":"1"}}'
)


def request(params=None):
    return Request(1, "some/method", UNSET if params is None else Raw(params))


def test_metadata_is_what_the_handshake_said_and_what_the_request_says():
    meta = b'{"_meta":{"progressToken":3,"traceparent":"00-ab","other":1}}'
    found = metadata_of(request(meta), "2025-06-18", CLIENT, "error")
    assert (found.protocol_version, found.log_level, found.progress_token) == ("2025-06-18", "error", 3)
    assert (found.traceparent, found.tracestate) == ("00-ab", UNSET)
    assert found.client_info.name == "a"
    assert found.client_capabilities.sampling is not UNSET


@pytest.mark.parametrize(
    "params", [None, b"{}", b'{"_meta":{}}', b'{"_meta":null}', b'{"_meta":{"progressToken":null}}']
)
def test_a_request_need_not_say_anything(params):
    found = metadata_of(request(params), "2024-11-05", None, "info")
    assert found.progress_token is UNSET
    assert found.client_info is UNSET


@pytest.mark.parametrize(
    "params", [b'{"_meta":1}', b'{"_meta":{"progressToken":[]}}', b'{"_meta":{"traceparent":1}}']
)
def test_metadata_that_does_not_fit_is_named(params):
    with pytest.raises(InvalidParamsError, match=r"some/method: invalid parameters: .*params\._meta"):
        metadata_of(request(params), "2024-11-05", None, "info")


def test_parameters_are_read_once_and_refused_by_name():
    assert read_params(request(b'{"uri":"a:b"}'), UriParams).uri == "a:b"
    assert read_params(request(b'{"level":"alert"}'), LevelParams).level == "alert"
    for kind in (UriParams, LevelParams):
        for params in (None, b"{}", b'{"uri":1,"level":1}'):
            with pytest.raises(InvalidParamsError, match="some/method"):
                read_params(request(params), kind)
