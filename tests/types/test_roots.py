import msgspec

from mesero import types


def test_the_answer_carries_no_result_type():
    answer = types.ListRootsResult([types.Root("file:///a", name="a")])
    assert msgspec.json.encode(answer) == b'{"roots":[{"uri":"file:///a","name":"a"}]}'


def test_the_question_has_metadata_only():
    assert msgspec.json.decode(b'{"_meta":{"k":1}}', type=types.ListRootsParams).meta == {"k": 1}
