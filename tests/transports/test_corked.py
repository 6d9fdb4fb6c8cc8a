"""What is written within one turn of the loop leaves as one piece."""

import asyncio

from mesero.transports.corked import CorkedTransport


class Transport:
    def __init__(self):
        self.calls = []
        self.closing = False

    def write(self, data):
        self.calls.append(bytes(data) if len(data) < 100 else len(data))

    def close(self):
        self.closing = True
        self.calls.append("close")

    def abort(self):
        self.closing = True
        self.calls.append("abort")

    def is_closing(self):
        return self.closing

    def pause_reading(self):
        self.calls.append("pause")

    def resume_reading(self):
        self.calls.append("resume")

    def get_extra_info(self, name):
        return f"the {name}"


def corked():
    transport = Transport()
    return transport, CorkedTransport(transport, asyncio.get_running_loop())


async def test_head_and_body_leave_together_at_the_end_of_the_turn():
    transport, cork = corked()

    cork.write(b"head ")
    cork.write(b"body")
    assert transport.calls == []
    await asyncio.sleep(0)
    cork.write(b"next")
    await asyncio.sleep(0)

    assert transport.calls == [b"head body", b"next"]


async def test_a_large_piece_is_not_copied_and_stays_in_order():
    transport, cork = corked()

    cork.write(b"head ")
    cork.write(b"x" * 100_000)
    await asyncio.sleep(0)

    assert transport.calls == [b"head ", 100_000]


async def test_small_pieces_are_not_held_back_without_end():
    transport, cork = corked()

    for _ in range(100):
        cork.write(b"x" * 1000)

    assert transport.calls == [65_000, 1000]


async def test_closing_sends_first_and_aborting_does_not():
    transport, cork = corked()
    cork.write(b"a")
    cork.close()
    await asyncio.sleep(0)
    assert transport.calls == [b"a", "close"]

    transport, cork = corked()
    cork.write(b"a")
    cork.abort()
    await asyncio.sleep(0)
    assert transport.calls == ["abort"]


async def test_nothing_is_written_to_what_was_closed_meanwhile():
    transport, cork = corked()
    cork.write(b"a")
    transport.closing = True
    await asyncio.sleep(0)

    assert transport.calls == []
    assert cork.is_closing()


async def test_the_rest_is_the_real_ones_affair():
    transport, cork = corked()
    cork.pause_reading()
    cork.resume_reading()

    assert transport.calls == ["pause", "resume"]
    assert cork.get_extra_info("peername") == "the peername"
