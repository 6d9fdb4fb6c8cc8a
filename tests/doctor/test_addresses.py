import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesero.doctor.addresses import host_of, join_url, may_lead_to, reach_of, split_url


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        ("93.184.216.34", "public"),
        ("2606:2800:220:1::1", "public"),
        ("10.0.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("fd00::1", "private"),
        ("127.0.0.1", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "special"),
        ("169.254.169.254", "special"),
        ("fe80::1%eth0", "special"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::808:808", "public"),
        ("0.0.0.0", "special"),
        ("224.0.0.1", "special"),
    ],
)
def test_how_far_an_address_reaches(address, reach):
    assert reach_of(address) == reach


def test_a_name_is_no_address():
    with pytest.raises(ValueError, match="does not appear"):
        reach_of("localhost")


def test_no_server_leads_further_inwards():
    assert may_lead_to("public", "public")
    assert not may_lead_to("public", "private")
    assert not may_lead_to("private", "loopback")
    assert may_lead_to("loopback", "loopback")
    assert not any(may_lead_to(server, "special") for server in ("public", "private", "loopback", "special"))


@pytest.mark.parametrize("url", ["http://[", "http://h:99999/", "https://h:x/"])
def test_what_is_no_url_is_empty(url):
    assert split_url(url).hostname is None


def test_where_a_redirect_leads():
    assert join_url("https://h/a", "b") == "https://h/b"
    assert join_url("https://h/a", "") == ""
    assert join_url("https://h/a", "http://[") == ""
    assert join_url("https://h/a", "mailto:x@y") == ""


@pytest.mark.parametrize("host", ["\u2460\u2461\u2466.0.0.1", "127\u30020\u30020\u30021", "127.0.0.1"])
def test_other_digits_and_dots_become_plain_ones_on_the_way(host):
    assert host_of(f"https://{host}:1/x") == "127.0.0.1"


@given(st.text() | st.text().map("https://{}".format), st.text())
def test_no_text_is_too_odd_for_a_url(url, location):
    split_url(url)
    host_of(url)
    joined = join_url(url, location)
    assert joined == "" or split_url(joined).hostname
