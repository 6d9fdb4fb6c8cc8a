from tests.diagram.recordings import PREFIX, Recording, stateless

QUESTION = {"method": "elicitation/create", "params": {}}


def test_rounds_and_subscriptions_are_groups():
    drawing = stateless().draw()
    listen, rounds = drawing.groups
    assert (listen.kind, listen.label) == ("subscription", "subscription: toolsListChanged")
    assert (rounds.kind, rounds.rounds, rounds.label) == ("rounds", 2, "tools/call book: in rounds")
    members = [[row.seq for row in drawing.rows if row.group == number] for number in (0, 1)]
    assert members == [[5, 6, 11], [7, 8, 9, 10]]


def test_a_group_ends_with_its_last_row():
    drawing = stateless().draw()
    for number, group in enumerate(drawing.groups):
        places = [index for index, row in enumerate(drawing.rows) if row.group == number]
        assert (group.first, group.last) == (places[0], places[-1])


def test_rounds_are_told_apart_by_their_state():
    made = Recording()
    for number, state in ((1, "a"), (2, "b")):
        made.ask(number, "tools/call", name="book")
        made.give(number, result_type="input_required", inputRequests={"q": QUESTION}, requestState=state)
    for number, state in ((3, "b"), (4, "a")):
        made.ask(number, "tools/call", name="book", requestState=state)
        made.give(number, content=[])
    by_id = {row.id: row.group for row in made.draw().rows if row.kind == "request"}
    assert by_id == {"1": 0, "2": 1, "3": 1, "4": 0}


def test_three_rounds_are_one_group():
    made = Recording()
    for number in (1, 2, 3):
        again = {"inputResponses": {}} if number > 1 else {}
        made.ask(number, "resources/read", uri="x://1", **again)
        made.give(number, result_type="input_required" if number < 3 else "complete", inputRequests={})
    assert [group.rounds for group in made.draw().groups] == [3]


def test_an_answer_to_nothing_begins_no_group():
    made = Recording()
    made.ask(1, "tools/call", name="book", inputResponses={"q": {}})
    made.give(1, content=[])
    made.give(9, result_type="input_required")
    assert made.draw().groups == ()


def test_a_subscription_without_a_valid_id_is_a_group_of_one():
    made = Recording()
    made.ask(None, "subscriptions/listen", notifications=5)
    made.tell("notifications/x", meta={f"{PREFIX}subscriptionId": []})
    (group,) = made.draw().groups
    assert (group.label, group.first) == ("subscription: nothing", group.last)


def test_progress_is_in_the_group_of_its_request():
    made = Recording()
    meta = {"progressToken": 1, f"{PREFIX}protocolVersion": "2026-07-28"}
    params = {"name": "book", "requestState": "s", "_meta": meta}
    made.ask(1, "tools/call", name="book")
    made.give(1, result_type="input_required", requestState="s")
    made.c2s({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
    made.tell("notifications/progress", progressToken=1, progress=1)
    drawing = made.draw()
    assert drawing.rows[-1].group == 0


def test_no_more_than_a_thousand_wait_for_their_next_round():
    made = Recording()
    for number in range(1002):
        made.ask(number, "tools/call", name="book")
        made.give(number, result_type="input_required", requestState=str(number))
    made.ask("last", "tools/call", name="book", requestState="1001")
    drawing = made.draw()
    assert len(drawing.groups) == 1002
    assert drawing.rows[-1].group == -1
