import json
import sys

import pytest

from mesero.doctor import examine
from tests.broken.endpoints import honest, serving

DEMO = [sys.executable, "-m", "mesero.demo"]


async def test_a_sound_server_stands_odd_requests():
    report = await examine(DEMO, is_deep=True)

    assert report.diagnoses == ()
    assert next(each for each in report.checks if each.name == "deep").status == "ok"


SERVER = """
import sys
sys.path.insert(0, {folder!r})
from lines import answer, requests, write
for request in requests():
    {special}
    write(answer(request, era={era!r}))
"""
SPECIAL = [
    ("if isinstance(request['id'], str): continue", "old", "DEEP-1"),
    ("if request['method'].startswith('mesero/'): continue", "old", "DEEP-2"),
    ("pass", "now", "DEEP-3"),
]


@pytest.mark.parametrize(("special", "era", "code"), SPECIAL)
async def test_what_odd_requests_bring_to_light_is_named(special, era, code, tmp_path, request):
    script = tmp_path / "server.py"
    script.write_text(
        SERVER.format(folder=str(request.config.rootpath / "tests/broken"), special=special, era=era)
    )

    report = await examine([sys.executable, str(script)], timeout_s=4, is_deep=True)

    assert code in [each.code for each in report.diagnoses]


async def test_refusing_odd_requests_over_http_is_right():
    def respond(method, path, headers, body):
        message = json.loads(body) if body else {}
        if isinstance(message, list):
            return 400, {}, b"no batches"
        status, answer_headers, content = honest(method, path, headers, body, era="now")
        code = 0
        if headers.get("MCP-Protocol-Version") == "2099-01-01":
            code = -32022
        elif headers.get("Mcp-Method") != message.get("method"):
            code = -32020
        elif message.get("params") == {}:
            code = -32602
        elif b'"error"' in content:
            status = 404
        if code:
            error = {"code": code, "message": "no", "data": {"supported": ["2026-07-28"], "requested": "x"}}
            status, content = (
                400,
                json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode(),
            )
        return status, answer_headers, content

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", is_deep=True)

    assert report.diagnoses == ()


async def test_headers_that_contradict_the_body_must_be_refused():
    def respond(method, path, headers, body):
        return honest(method, path, headers, body, era="now")

    with serving(respond) as root:
        report = await examine(f"{root}/mcp", is_deep=True)

    assert "DEEP-5" in [each.code for each in report.diagnoses]


async def test_a_server_that_starts_slowly_is_not_blamed_for_the_time_that_many_starts_take(
    tmp_path, request
):
    script = tmp_path / "server.py"
    script.write_text(
        "import sys, time\n"
        f"sys.path.insert(0, {str(request.config.rootpath / 'tests/broken')!r})\n"
        "from calling import serve\n"
        "time.sleep(1.2)\n"
        "serve()\n"
    )

    report = await examine([sys.executable, str(script)], timeout_s=6, is_deep=True)

    assert report.diagnoses == ()
    deep = next(each for each in report.checks if each.name == "deep")
    assert "there was no time for the rest (--timeout SECONDS)" in deep.evidence
