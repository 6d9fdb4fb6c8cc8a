from mesero.server.bus import Change, MemoryBus


def test_everybody_hears_every_change_until_they_leave():
    bus = MemoryBus()
    first, second = [], []
    leave = bus.subscribe(first.append)
    bus.subscribe(second.append)
    bus.publish(Change("a"))
    leave()
    leave()
    bus.publish(Change("b", "notes://1"))
    assert first == [Change("a")]
    assert second == [Change("a"), Change("b", "notes://1")]


def test_the_same_listener_may_listen_twice():
    bus = MemoryBus()
    heard = []
    leave = bus.subscribe(heard.append)
    bus.subscribe(heard.append)
    leave()
    bus.publish(Change("a"))
    assert heard == [Change("a")]


def test_a_listener_may_leave_while_it_hears():
    bus = MemoryBus()
    heard = []

    def once(change):
        heard.append(change)
        leave()

    leave = bus.subscribe(once)
    bus.subscribe(heard.append)
    bus.publish(Change("a"))
    bus.publish(Change("a"))
    assert len(heard) == 3


def test_equal_changes_are_one():
    assert len({Change("a", "x", b"{}"), Change("a", "x"), Change("a", "y")}) == 2
