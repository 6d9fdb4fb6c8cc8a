from mesero.doctor.checks.authorization import check_authorization, issuer_places_of, resource_places_of
from mesero.doctor.fetching import Fetched, Fetcher
from mesero.doctor.sheet import Sheet


def test_the_metadata_of_a_resource_is_looked_for_with_its_path_first():
    assert resource_places_of("https://h/mcp") == [
        "https://h/.well-known/oauth-protected-resource/mcp",
        "https://h/.well-known/oauth-protected-resource",
    ]
    assert len(resource_places_of("https://h/")) == 1


def test_an_issuer_with_a_path_has_three_places():
    assert issuer_places_of("https://a/t") == [
        "https://a/.well-known/oauth-authorization-server/t",
        "https://a/.well-known/openid-configuration/t",
        "https://a/t/.well-known/openid-configuration",
    ]
    assert len(issuer_places_of("https://a")) == 2


async def test_a_server_that_asks_for_nothing_is_passed_over():
    sheet = Sheet(["authorization"])

    async with Fetcher(timeout_s=1) as fetcher:
        await check_authorization(sheet, fetcher, Fetched(method="POST", url="http://h/", status=200), {})

    assert sheet.checks[0].status == "skipped"
