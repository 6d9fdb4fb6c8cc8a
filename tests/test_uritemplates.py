"""URI templates: what matches, what is refused, and that expanding and matching undo each other."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.errors import UsageError
from mesero.uritemplates import MAX_URI_CHARS, UriTemplate, expand_template, is_template

MATCHES = [
    # level 1
    ("notes://{id}", "notes://7", {"id": "7"}),
    ("notes://{id}", "notes://a%20b%2Fc", {"id": "a b/c"}),
    ("notes://{id}", "notes://", None),
    ("notes://{id}", "notes://a/b", None),
    ("notes://{id}", "notes://a?b", None),
    ("notes://{id}", "notes://a#b", None),
    ("notes://{id}", "other://a", None),
    ("notes://{id}", "notes://%FF", None),
    ("notes://{user}/{id}.md", "notes://ana/a.b.md", {"user": "ana", "id": "a.b"}),
    ("notes://{id}/raw", "notes://a/raw", {"id": "a"}),
    ("notes://{id}/raw", "notes://a/raw/raw", None),
    ("{x}", "a,b", {"x": "a,b"}),
    ("notes://all", "notes://all", {}),
    ("notes://all", "notes://all/1", None),
    ("", "", {}),
    ("", "x", None),
    # level 2
    ("file:///{+path}", "file:///a/b%20c.txt", {"path": "a/b c.txt"}),
    ("file:///{+path}", "file:///a?b#c", {"path": "a?b#c"}),
    ("{+path}/{name}", "a/b/c", {"path": "a/b", "name": "c"}),
    ("{+path}#top", "a/b#top", {"path": "a/b"}),
    ("{+path}#top", "a#b#top", None),
    ("doc{#section}", "doc#a/b?c", {"section": "a/b?c"}),
    ("doc{#section}", "doc", None),
    # level 3
    ("{x,y}", "1,2", {"x": "1", "y": "2"}),
    ("{x,y}", "1%2C0,2", {"x": "1,0", "y": "2"}),
    ("{x,y}", "1,2,3", None),
    ("{+x,y}", "a/1,b/2", {"x": "a/1", "y": "b/2"}),
    ("p{#x,y}", "p#a,b", {"x": "a", "y": "b"}),
    ("host{.a,b}", "host.com.example", {"a": "com", "b": "example"}),
    ("m{/a,b}", "m/1/2", {"a": "1", "b": "2"}),
    ("m{/a,b}", "m/1", None),
    ("m{;x,y}", "m;x=1;y", {"x": "1", "y": ""}),
    ("m{;x}", "m;x=", {"x": ""}),
    ("m{;x}", "m;y=1", None),
    ("m{;x}", "m;x=1/2", None),
    ("m{;x}/end", "m;x=1/end", {"x": "1"}),
    ("m{;x}/{+y}", "m;x=1//a", {"x": "1", "y": "/a"}),
    # queries: any order, each optional, each at most once, none that the template does not name
    ("s{?q,limit}", "s?q=a%20b&limit=3", {"q": "a b", "limit": "3"}),
    ("s{?q,limit}", "s?limit=3&q=a", {"q": "a", "limit": "3"}),
    ("s{?q,limit}", "s?limit=3", {"limit": "3"}),
    ("s{?q,limit}", "s", {}),
    ("s{?q}", "s?q=", {"q": ""}),
    ("s{?q}", "s?q", {"q": ""}),
    ("s{?q}", "s?", None),
    ("s{?q}", "s?q=1&q=2", None),
    ("s{?q}", "s?q=1&other=2", None),
    ("s{?q}{&limit}", "s?limit=3&q=a", {"q": "a", "limit": "3"}),
    ("s?kind=note{&q}", "s?kind=note&q=a", {"q": "a"}),
    ("s?kind=note{&q}", "s?kind=note", {}),
    ("s?kind={kind}{&q}", "s?kind=note&q=a", {"kind": "note", "q": "a"}),
    ("s{?q}{#part}", "s?q=a#b", {"q": "a", "part": "b"}),
    ("s{?q}#top", "s#top", {}),
    ("s{?q}#top", "s?q=1#end", None),
    ("{+path}{?q}", "a/b?q=1", {"path": "a/b", "q": "1"}),
    ("{+path}{#part}", "a/b#c", {"path": "a/b", "part": "c"}),
    # the same variable twice
    ("{x}/{x}", "a/a", {"x": "a"}),
    ("{x}/{x}", "a/b", None),
    # a value never ends inside an encoded byte
    ("{x}2F{y}", "a%2Fb2Fc", {"x": "a/b", "y": "c"}),
    ("{x}é{y}", "aéb", {"x": "a", "y": "b"}),
]


@pytest.mark.parametrize(("template", "uri", "values"), MATCHES)
def test_a_uri_gives_the_values_that_made_it_or_none(template, uri, values):
    assert UriTemplate(template).match(uri) == values


REFUSED = [
    ("{/path*}", "modifier '*'"),
    ("{x:3}", "modifier ':3'"),
    ("{x", "brace"),
    ("x}", "brace"),
    ("{}", "no expression"),
    ("{x,}", "no expression"),
    ("{=x}", "no expression"),
    ("{x y}", "no expression"),
    ("{x:0}", "no expression"),
    ("{x}{y}", "nothing stands between {x} and {y}"),
    ("{;x}{y}", "nothing stands between {x} and {y}"),
    ("{?x}{?y}", "two queries"),
    ("{?x}/more", "follows the query"),
    ("{?x}{y}", "follows the query"),
]


@pytest.mark.parametrize(("template", "why"), REFUSED)
def test_a_template_that_would_make_matching_a_guess_is_refused_with_the_reason(template, why):
    with pytest.raises(UsageError) as caught:
        UriTemplate(template)

    assert why in str(caught.value)


def test_the_names_come_in_the_order_of_the_template_each_once():
    assert UriTemplate("{b}/{a}/{b}{;c}{?z,y}").names == ("b", "a", "c", "z", "y")


def test_a_template_shows_its_text():
    assert repr(UriTemplate("notes://{id}")) == "UriTemplate('notes://{id}')"


@pytest.mark.parametrize(("text", "yes"), [("a{x}", True), ("a}", True), ("notes://all", False)])
def test_only_text_with_braces_is_a_template(text, yes):
    assert is_template(text) is yes


def test_expansion_encodes_what_a_uri_may_not_have():
    assert UriTemplate("notes://{id}{?q}").expand(id="a b/c", q=3) == "notes://a%20b%2Fc?q=3"


def test_a_variable_without_a_value_is_left_out():
    assert UriTemplate("s{?q,limit}").expand(limit=None, q="a") == "s?q=a"


def test_a_variable_may_be_called_self():
    assert UriTemplate("{self}").expand(self="me") == "me"


def test_an_unknown_variable_is_refused_and_the_known_ones_named():
    with pytest.raises(UsageError, match=r"no variable 'uid'\. It has: id, q"):
        UriTemplate("{id}{?q}").expand(uid=1)
    with pytest.raises(UsageError, match="It has: none"):
        UriTemplate("plain").expand(uid=1)


def test_the_templates_of_others_expand_at_every_level():
    assert expand_template("{/path*}{?q:2}", {"path": ["a", "b"], "q": "xyz"}) == "/a/b?q=xy"


def test_a_uri_over_the_limit_matches_nothing():
    template = UriTemplate("{x}")

    assert template.match("a" * MAX_URI_CHARS) is not None
    assert template.match("a" * (MAX_URI_CHARS + 1)) is None


SLOW_FOR_REGULAR_EXPRESSIONS = [
    ("{a}-{b}-{c}-{d}-{e}-{f}!", "-"),
    ("{+a}/{+b}/{+c}/{+d}/{+e}!", "/"),
    ("{+a}x{+b}x{?q}#end", "x?"),
    ("{;a,b,c}!", ";a=;b="),
    ("s{?a,b}#end", "?a=1&"),
]


@pytest.mark.parametrize(("template", "piece"), SLOW_FOR_REGULAR_EXPRESSIONS)
def test_matching_takes_time_in_proportion_to_the_length(template, piece):
    parsed = UriTemplate(template)

    def seconds_for(length):
        uri = piece * (length // len(piece))
        started = time.process_time()
        assert parsed.match(uri) is None
        return time.process_time() - started

    seconds_for(1_000)
    # In proportion, 64 times the length takes 64 times as long; squared, it would be 4,096 times.
    assert seconds_for(64_000) < 500 * max(seconds_for(1_000), 0.000_2)


SAFE = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
SIMPLE = st.text("abcXYZ019-_~é% &=?#/", min_size=1, max_size=10)


@given(st.tuples(SAFE, SAFE, SAFE))
def test_matching_undoes_expanding_for_any_text(values):
    template = UriTemplate("notes://{user}/{id}{?q}")
    given_values = dict(zip(("user", "id", "q"), values, strict=True))

    assert template.match(template.expand(**given_values)) == given_values


ROUND_TRIPS = [
    "{a,b}",
    "x{/a,b}",
    "x{;a,b}",
    "x{?a,b}",
    "x?y=1{&a,b}",
    "x{#a}",
    "{a}{?b}",
    "{a}{;b}",
    "{/a}{#b}",
]


@pytest.mark.parametrize("template", ROUND_TRIPS)
@given(data=st.data())
def test_matching_undoes_every_operator(template, data):
    parsed = UriTemplate(template)
    reserved = "#" in template
    values = {
        name: data.draw(SIMPLE.filter(lambda text: not reserved or "%" not in text)) for name in parsed.names
    }

    assert parsed.match(parsed.expand(**values)) == values


@given(st.text("abx/{}?#,;.+&=%2F", max_size=20), st.text("abx/?#,;.&=%2F", max_size=30))
def test_any_text_is_a_template_or_refused_and_matching_never_raises(text, uri):
    try:
        template = UriTemplate(text)
    except UsageError:
        return
    values = template.match(uri)

    assert values is None or set(values) <= set(template.names)
