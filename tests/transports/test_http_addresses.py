import pytest
from yarl import URL

from mesero.errors import UsageError
from mesero.transports.http_addresses import check_url, find_proxy, has_same_origin, is_loopback, shown_url

PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "app.localhost",
        "127.0.0.1",
        "127.1.2.3",
        "::1",
        "::ffff:127.0.0.1",
    ],
)
def test_loopback_is_this_machine_by_name_or_address(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["example.com", "localhost.example.com", "10.0.0.1", "0.0.0.0", "fe80::1%eth0", "::2", "notlocalhost"],
)
def test_other_hosts_are_not_loopback(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "url",
    ["https://example.com/mcp", "http://localhost:8000/mcp", "http://[::1]:8000/mcp", "http://127.0.0.1"],
)
def test_https_and_plain_http_to_this_machine_are_accepted(url):
    assert check_url(url, allow_plain_http=False).host is not None


def test_plain_http_to_another_machine_is_refused_unless_allowed():
    with pytest.raises(UsageError, match=r"http://10\.0\.0\.7/mcp is plain HTTP.*allow_plain_http=True"):
        check_url("http://10.0.0.7/mcp", allow_plain_http=False)
    assert str(check_url("http://10.0.0.7/mcp", allow_plain_http=True)) == "http://10.0.0.7/mcp"


@pytest.mark.parametrize("url", ["ftp://example.com", "https://", "/mcp", "example.com/mcp", "http:///mcp"])
def test_what_is_no_http_url_is_refused(url):
    with pytest.raises(UsageError, match=r"no http\(s\) URL"):
        check_url(url, allow_plain_http=False)


def test_what_cannot_be_parsed_is_refused_without_repeating_it():
    with pytest.raises(UsageError, match="cannot be parsed") as caught:
        check_url("http://[secret", allow_plain_http=False)
    assert "secret" not in str(caught.value)


def test_credentials_in_a_url_are_refused_and_not_repeated():
    with pytest.raises(UsageError, match="credentials in it") as caught:
        check_url("https://me:geheim@example.com/mcp", allow_plain_http=False)
    assert "geheim" not in str(caught.value)


def test_the_fragment_is_dropped():
    assert str(check_url("https://example.com/mcp#top", allow_plain_http=False)) == "https://example.com/mcp"


def test_secrets_in_a_query_are_shown_as_digests_that_tell_them_apart():
    one, two = (
        shown_url(URL(f"https://example.com/mcp?apiKey={key}&region=eu")) for key in ("geheim", "anders")
    )
    assert "geheim" not in one
    assert one.endswith("&region=eu")
    assert one != two


def test_a_shown_url_has_no_password():
    assert shown_url(URL("http://me:geheim@proxy:3128")) == "http://proxy:3128"


def test_a_url_without_a_host_is_shown_without_its_query():
    assert shown_url(URL("/mcp?token=geheim")) == "/mcp"


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("https://a.example/else?x=1", True),
        ("https://a.example:443/", True),
        ("http://a.example/", False),
        ("https://a.example:444/", False),
        ("https://b.example/", False),
        ("https://name@a.example/mcp", False),
        ("https://name:word@a.example/mcp", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(other, same):
    assert has_same_origin(URL("https://a.example/mcp"), URL(other)) is same


def test_without_settings_there_is_no_proxy():
    assert find_proxy(URL("https://example.com/mcp")) is None


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://localhost/", "https://[::1]/", "http://x.localhost/"]
)
def test_loopback_never_goes_through_a_proxy(monkeypatch, url):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://proxy.example:3128")
    assert find_proxy(URL(url)) is None


def test_the_proxy_of_the_scheme_is_taken(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://me:pw@proxy.example:3128")
    assert find_proxy(URL("https://example.com/mcp")) == URL("http://me:pw@proxy.example:3128")
    assert find_proxy(URL("http://example.com/mcp")) is None


def test_all_proxy_is_for_both_schemes(monkeypatch):
    monkeypatch.setenv("all_proxy", "proxy.example:3128")
    assert find_proxy(URL("https://example.com/mcp")) == URL("http://proxy.example:3128")


def test_no_proxy_lists_hosts_that_need_none(monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("no_proxy", "example.com")
    assert find_proxy(URL("https://api.example.com/mcp")) is None


@pytest.mark.parametrize("proxy", ["socks5://me:geheim@proxy.example:1080", "http://[geheim"])
def test_a_proxy_of_another_kind_is_named_but_not_its_password(monkeypatch, proxy):
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(UsageError, match=r"proxy for example\.com that is unusable") as caught:
        find_proxy(URL("https://example.com/mcp"))
    assert "geheim" not in str(caught.value)
