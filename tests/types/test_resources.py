import msgspec

from mesero import types


def test_a_resource_is_written_with_its_camel_case_names():
    resource = types.Resource("file:///a", "a", size=3, mime_type="text/plain")
    assert msgspec.json.decode(msgspec.json.encode(resource)) == {
        "uri": "file:///a",
        "name": "a",
        "size": 3,
        "mimeType": "text/plain",
    }


def test_a_template_is_known_by_its_uri_template():
    result = types.ListResourceTemplatesResult([types.ResourceTemplate("notes://{id}", "note")])
    written = msgspec.json.decode(msgspec.json.encode(result))
    assert written["resourceTemplates"] == [{"uriTemplate": "notes://{id}", "name": "note"}]


def test_text_and_binary_contents_stand_side_by_side():
    text = b'{"contents":[{"uri":"a:1","text":""},{"uri":"a:2","blob":""}]}'
    first, second = types.decode_result(types.ReadResourceResult, text).contents
    assert (first.is_text, second.is_blob) == (True, True)


def test_a_page_of_resources_carries_its_cache_hints():
    written = msgspec.json.decode(
        msgspec.json.encode(types.ListResourcesResult([], ttl_ms=5, cache_scope="public"))
    )
    assert (written["ttlMs"], written["cacheScope"]) == (5, "public")
