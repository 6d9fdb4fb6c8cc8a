import msgspec

from mesero.diagram.model import Drawing, Row


def test_what_is_usual_takes_no_room():
    row = Row(seq=1, t=0.5, link="1", kind="request")
    assert msgspec.json.encode(row) == b'{"seq":1,"t":0.5,"link":"1","kind":"request"}'
    assert msgspec.json.encode(Drawing()) == b"{}"
