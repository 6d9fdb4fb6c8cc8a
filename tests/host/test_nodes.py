from mesero.host.nodes import Document, Member, Node, Place, TextError, place_of, spliced


def node(text="x", **members):
    inner = tuple(Member(key, 0, 0, value) for key, value in members.items())
    return Node(text, 0, 1, inner)


def test_lines_and_columns_begin_at_one_and_a_byte_order_mark_has_no_column():
    assert place_of("ab\nc", 0) == Place(1, 1)
    assert place_of("ab\nc", 1) == Place(1, 2)
    assert place_of("ab\r\nc", 4) == Place(2, 1)
    assert place_of("\ufeffab", 1) == Place(1, 1)
    assert place_of("\ufeffab\nc", 4) == Place(2, 1)
    assert Document("a\nb", node()).place(2) == Place(2, 1)


def test_a_path_leads_to_a_node_and_nowhere_to_none():
    deep = node(a=node(b=node("found")))
    assert deep.find("a", "b").value == "found"
    assert deep.find("a", "c") is None
    assert deep.find("a", "c", "d") is None
    assert deep.find() is deep


def test_of_equal_members_the_last_one_counts_and_each_is_seen_with_the_one_before():
    first, second, third = (Member("a", at, at, node(str(at))) for at in range(3))
    whole = Node({}, 0, 1, (first, second, third))
    assert whole.find_member("a") is third
    assert list(whole.repeated()) == [(first, second), (second, third)]


def test_changes_are_made_together_and_those_at_one_place_in_order():
    assert spliced("0123", (2, 3, "c"), (0, 1, "a"), (4, 4, "x"), (4, 4, "y")) == "a1c3xy"
    assert spliced("0123") == "0123"


def test_an_error_has_a_place_and_a_fix():
    error = TextError("wrong", Place(2, 3), "write it right")
    assert (str(error), error.what, error.place, error.fix) == ("wrong", "wrong", (2, 3), "write it right")
