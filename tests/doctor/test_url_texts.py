from mesero.doctor.diagnoses import TEXTS
from mesero.doctor.url_texts import URL_TEXTS


def test_every_text_of_urls_is_in_the_table():
    assert URL_TEXTS.items() <= TEXTS.items()
    assert {code.partition("-")[0] for code in URL_TEXTS} == {
        *("NET", "TLS", "HTTP", "SESSION", "ORIGIN", "CORS", "AUTH"),
    }
