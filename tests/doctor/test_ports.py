import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.ports import find_listener, find_port


@pytest.mark.parametrize(
    ("line", "port"),
    [
        ("Error: listen EADDRINUSE: address already in use :::3000", 3000),
        ("Error: listen EADDRINUSE: address already in use 127.0.0.1:7890", 7890),
        (
            "[Errno 98] while attempting to bind on address ('127.0.0.1', 8000): address already in use",
            8000,
        ),
        ("Address already in use\nPort 5000 is in use", 5000),
        ("address already in use", None),
        ("listening at port 4000", None),
    ],
)
def test_the_port_in_a_message_is_found(line, port):
    assert find_port(["started", line, "bye"]) == port


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="only where /proc tells of sockets")  # noqa: PTH110 - a fixed path
def test_whoever_listens_is_found():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert find_listener(port) is None
        taken.listen()

        assert find_listener(port).pid == os.getpid()

    assert find_listener(port) is None


@given(st.lists(st.text() | st.from_regex(r"(EADDRINUSE|Address already in use):? ?(port |:)\d{1,9}")))
def test_no_message_is_too_odd_for_a_port(lines):
    port = find_port(lines)

    assert port is None or 0 < port < 65_536
